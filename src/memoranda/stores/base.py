"""The store contract: what every backend promises and every layer passes on.

A *store* is one owner's tree of memories plus its whole history. A *backend* holds many stores.
Stores know paths, bytes, versions and actors; they know nothing of Claude's commands or texts.

Every method is ``async``. A store whose class says ``suspends = False`` never truly suspends, so
a synchronous caller can finish it in one step (``memoranda.drive``).

What all stores agree on: a directory exists while a memory lies beneath it; the root always
exists; contents are kept byte for byte; listings are ordered by the code points of the printed
path, a directory's with its trailing slash.

Errors that every method may raise besides those it names: ``Unavailable`` (storage can't answer
now), ``Corrupt`` (a check failed), ``Misuse`` (the store is closed).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Mapping, Sequence
from enum import Enum
from typing import TYPE_CHECKING, Any, ClassVar, Final, Literal, NamedTuple, TypeAlias

from memoranda.light_dataclasses import dataclass
from memoranda.path import MemoryPath
from memoranda.text.splice import Splice

if TYPE_CHECKING:
    from datetime import datetime

Operation: TypeAlias = Literal["created", "modified", "deleted"]
EditFunction: TypeAlias = Callable[[bytes], Splice]


# ---------------------------------------------------------------- preconditions


class Expect(Enum):
    """Preconditions that need no value."""

    ANY = "any"
    """No precondition: make the memory or replace its content."""

    ABSENT = "absent"
    """Nothing may live at the path; else ``AlreadyExists`` (or ``IsADirectory``)."""


@dataclass(frozen=True, slots=True)
class IfVersion:
    """The memory's head has to be this version (``memver_...``); else ``Conflict``."""

    version_id: str


@dataclass(frozen=True, slots=True)
class IfContent:
    """The memory's content has to have this SHA-256 (64 lower-case hex); else ``Conflict``."""

    sha256: str


Precondition: TypeAlias = Expect | IfVersion | IfContent
"""A memory that is missing fails ``IfVersion`` and ``IfContent`` with ``NotFound``."""


# ---------------------------------------------------------------- changes


@dataclass(frozen=True, slots=True)
class Put:
    """Make the memory at ``path``, or give it ``content``; parents are made.

    Equal content is a no-op and makes no version. A put at a directory raises ``IsADirectory``,
    at the root ``RootRefused``, below a file ``NotADirectory`` naming that file. ``keep_id``
    revives the deleted memory with that id (``mem_...``) instead of making a new one.
    """

    path: MemoryPath
    content: bytes
    expect: Precondition = Expect.ANY
    keep_id: str | None = None


@dataclass(frozen=True, slots=True)
class Edit:
    """Change the content of the memory at ``path`` by a pure function of its present content.

    ``edit`` runs inside the store's transaction where the store has one, otherwise between a
    read and a conditional write; it may run several times, and only the last run counts. What it
    raises (a ``Refused``) leaves ``apply`` unchanged and nothing is stored. A missing path raises
    ``NotFound``, a directory ``IsADirectory``.
    """

    path: MemoryPath
    edit: EditFunction
    expect: Precondition = Expect.ANY


@dataclass(frozen=True, slots=True)
class Remove:
    """Delete the memory at ``path``, or the directory with all beneath it.

    A missing path raises ``NotFound``, the root ``RootRefused``. ``IfVersion`` and ``IfContent``
    on a directory raise ``IsADirectory``.
    """

    path: MemoryPath
    expect: Precondition = Expect.ANY


@dataclass(frozen=True, slots=True)
class Move:
    """Give the memory or directory at ``source`` the new path ``target``; parents are made.

    Ids stay. Never overwrites: a taken target raises ``AlreadyExists`` (also ``source`` itself and
    the root). A missing source raises ``NotFound``, the root as source ``RootRefused``, a directory
    into itself ``MoveIntoItself``, a parent that is a file ``NotADirectory``, a path beneath that
    would get too long ``MovedNameTooLong``. Memory ``/a`` to ``/a/b`` is allowed.
    """

    source: MemoryPath
    target: MemoryPath
    expect: Precondition = Expect.ANY


Change: TypeAlias = Put | Edit | Remove | Move


_NO_AUDIT: Final[Mapping[str, Any]] = {}


class Ceiling(NamedTuple):
    """How much a store may hold after a batch, checked by the store inside its transaction.

    A batch that adds bytes and ends above ``total_bytes`` raises ``MemoryFull``; one that adds
    memories and ends above ``files`` raises ``TooManyFiles``; an edited or put file that grows
    and ends above ``file_bytes`` raises ``FileTooLarge``. None lifts a limit.
    """

    total_bytes: int | None = None
    files: int | None = None
    file_bytes: int | None = None


@dataclass(frozen=True, slots=True)
class Retention:
    """How much history stays.

    Everything younger than ``keep_days`` (0: for ever), always the head and the ``keep_newest``
    versions of a live memory, and, where ``budget_bytes`` is given, no more than fits: the oldest
    goes first, also if it is younger.
    """

    keep_days: int = 30
    keep_newest: int = 10
    budget_bytes: int | None = None


@dataclass(frozen=True, slots=True)
class Context:
    """Who does a batch and why; it becomes part of each version and audit entry.

    ``actor`` is a short name (``agent``, ``external``, ``expiry``) or an API id (``apikey_...``,
    ``user_...``, ``sesn_...``, ``svac_...``). ``command`` names the command or program action.
    ``audit`` is the draft of the audit entry: small, content-free, JSON-able. ``retention`` says
    how much history stays from this batch on; None leaves it to the backend.
    """

    actor: str = "agent"
    command: str = ""
    trace_id: str | None = None
    ceiling: Ceiling = Ceiling()
    audit: Mapping[str, Any] = _NO_AUDIT
    retention: Retention | None = None


# ---------------------------------------------------------------- what comes back


class Content(NamedTuple):
    """Bytes that were read.

    ``data`` is what was asked for, ``size_bytes`` the size of the whole file. Equal ``stamp`` s
    of one path mean equal content: a cheap key for caches, not an id to keep.
    """

    data: bytes
    size_bytes: int
    stamp: Hashable


class Version(NamedTuple):
    """One immutable version of one memory.

    ``path`` is the path at that write, None when redacted. ``sha256`` and ``size_bytes`` are None
    on ``deleted`` and when redacted. ``content`` is None unless asked for (and on ``deleted`` and
    when redacted). Times are nanoseconds since 1970 in UTC and never go back within a store.
    ``seq`` orders the versions of a store.
    """

    id: str
    memory_id: str
    operation: Operation
    path: MemoryPath | None
    actor: str
    command: str
    created_at_ns: int
    seq: int
    size_bytes: int | None
    sha256: str | None
    trace_id: str | None = None
    redacted_at_ns: int | None = None
    redacted_by: str | None = None
    content: bytes | None = None
    late: bool = False
    """Text that a person saved into a file that was already replaced: in history, never head."""
    batch: int = 0
    """Versions of one ``apply`` share this number and ``created_at_ns``, and no other version has
    the number: it is the ``seq`` of the first event."""

    @property
    def created_at(self) -> datetime:
        """``created_at_ns`` as an aware datetime (microseconds)."""
        from datetime import UTC, datetime

        return datetime.fromtimestamp(self.created_at_ns / 1e9, tz=UTC)


class Entry(NamedTuple):
    """A live memory, without its content."""

    path: MemoryPath
    memory_id: str
    version_id: str
    size_bytes: int
    sha256: str
    created_at_ns: int
    updated_at_ns: int


class Directory(NamedTuple):
    """A directory in a listing; ``size_bytes`` sums what lies beneath, at any depth."""

    path: MemoryPath
    size_bytes: int


class Listed(NamedTuple):
    """One line of an outline: a file or a directory, with its size in bytes."""

    path: MemoryPath
    size_bytes: int
    is_directory: bool


class Outline(NamedTuple):
    """The visible items up to two levels below a directory, as far as asked for.

    ``size_bytes`` is that of the directory itself, ``total`` how many items there are in all.
    """

    size_bytes: int
    items: tuple[Listed, ...]
    total: int


class Page(NamedTuple):
    """A page of a listing; ``after`` continues it, None on the last page."""

    entries: tuple[Entry | Directory, ...]
    after: str | None


class VersionPage(NamedTuple):
    """A page of versions, newest first; ``after`` continues it, None on the last page."""

    versions: tuple[Version, ...]
    after: str | None


class Hit(NamedTuple):
    """A search result: where, which 1-based lines, and their text (each cut to 200 characters)."""

    path: MemoryPath
    lines: tuple[tuple[int, str], ...]


class Usage(NamedTuple):
    """What a store holds now; ``history_bytes`` is what its history takes on storage."""

    files: int
    size_bytes: int
    versions: int
    history_bytes: int


class Problem(NamedTuple):
    """Something ``verify`` found: a stable ``code``, what it is, what to do, and where."""

    code: str
    message: str
    remedy: str
    path: MemoryPath | None = None


class Report(NamedTuple):
    """The outcome of ``verify``: ``ok`` means no problem; ``notes`` are harmless findings."""

    problems: tuple[Problem, ...]
    notes: tuple[Problem, ...]
    files: int
    versions: int

    @property
    def ok(self) -> bool:
        """Whether nothing is wrong."""
        return not self.problems


@dataclass(frozen=True, slots=True)
class VersionFilter:
    """Which versions to list; all given fields have to hold. Times are inclusive, in ns."""

    memory_id: str | None = None
    path: MemoryPath | None = None
    """Versions of every memory that was ever at this path, or beneath it."""
    operation: Operation | None = None
    actor: str | None = None
    from_ns: int | None = None
    to_ns: int | None = None


class Moment(NamedTuple):
    """A point in a store's history: the state right after version ``seq``."""

    seq: int


class Capabilities(NamedTuple):
    """What a backend can do; a missing one is refused before anything starts."""

    durable: bool = True
    redacts: bool = True
    searches: bool = True
    time_travel: bool = True
    shared_by_processes: bool = True
    shared_by_machines: bool = False
    external_edits: bool = False


LISTING_CHUNK: Final = 1000


# ---------------------------------------------------------------- the store


class Store(ABC):
    """One owner's memories and their history. Safe to use from many threads at once."""

    suspends: ClassVar[bool] = False
    capabilities: ClassVar[Capabilities] = Capabilities()

    @property
    @abstractmethod
    def id(self) -> str:
        """The store's id, ``memstore_...``."""

    # ---- reading

    @abstractmethod
    async def read(self, path: MemoryPath, start: int = 0, length: int | None = None) -> Content:
        """The bytes of a memory from byte ``start`` (0-based), at most ``length`` of them.

        One cheap access; takes no lock that a writer holds during an fsync. Raises ``NotFound``
        and ``IsADirectory``; a path below a file is ``NotFound``.
        """

    @abstractmethod
    async def stat(self, path: MemoryPath) -> Entry:
        """Ids, hash, size and times of a live memory. Raises ``NotFound``, ``IsADirectory``."""

    @abstractmethod
    async def locate(self, memory_id: str) -> Entry:
        """The live memory with this id; raises ``UnknownId``."""

    @abstractmethod
    async def outline(self, directory: MemoryPath, path_chars: int) -> Outline:
        """What two levels below ``directory`` a view shows, in listing order.

        Names that start with ``.`` and ``node_modules`` are left out with all below them, and
        out of the sizes. Stops once the printed paths add up to ``path_chars`` characters, so
        that the cost is that of what is shown; nothing is read or walked for sizes and total.
        Raises ``NotFound`` (also for a file). The root always exists.
        """

    @abstractmethod
    async def list(
        self,
        prefix: MemoryPath,
        *,
        depth: Literal[0, 1] = 0,
        after: str | None = None,
        limit: int = LISTING_CHUNK,
        at: Moment | None = None,
    ) -> Page:
        """Memories beneath ``prefix``: all of them (depth 0) or its direct children, with deeper
        ones rolled up into ``Directory`` entries (depth 1).

        Everything is listed, hidden names too. ``after`` is the ``Page.after`` of the page before:
        the printed store path of its last entry, a directory's with its slash; the entry need not
        exist any more. ``at`` lists the state of that moment instead of the present one.
        A prefix with nothing beneath gives an empty page.
        """

    @abstractmethod
    async def search(self, query: str, prefix: MemoryPath, *, limit: int = 50) -> tuple[Hit, ...]:
        """Memories beneath ``prefix`` whose text holds every word of ``query`` (a quoted part is
        one word), ignoring case; at most ``limit``, ordered by path. Raises ``Unsupported``."""

    @abstractmethod
    async def usage(self) -> Usage:
        """How much the store holds, from counters; nothing is walked."""

    # ---- writing

    @abstractmethod
    async def apply(self, changes: Sequence[Change], context: Context) -> tuple[Version, ...]:
        """Do a batch: all of it or nothing, data and history together, durable on return.

        Changes are done in order, each sees those before it. Returns one version per changed
        memory, in order, without contents (a directory's move or removal returns one per memory
        beneath only where that costs nothing; the count is not promised). A no-op makes none.

        Raises what the changes name, and what ``context.ceiling`` names; then nothing changed.
        ``Unavailable`` after a lost connection may leave the outcome unknown; everywhere else it
        means that nothing changed.
        """

    @abstractmethod
    async def record(self, context: Context) -> None:
        """Keep an audit entry of something that changed nothing (a view, a refusal).

        Buffered: written with the next change, after a second, or at ``close``.
        """

    @abstractmethod
    async def touch(self, paths: Sequence[MemoryPath], at_ns: int) -> None:
        """Note that memories were used; coarse, buffered, makes no version. Missing ones are
        passed over."""

    # ---- history

    @abstractmethod
    async def versions(
        self,
        where: VersionFilter = VersionFilter(),
        *,
        after: str | None = None,
        limit: int = 100,
        content: bool = False,
    ) -> VersionPage:
        """Versions, newest first, deleted memories' too."""

    @abstractmethod
    async def version(self, version_id: str) -> Version:
        """One version with its content; raises ``UnknownId``."""

    @abstractmethod
    async def moment(self, at_ns: int) -> Moment:
        """The last moment not after a time (ns since 1970, UTC).

        Where people edit the files (``external_edits``), what they did becomes versions first.
        """

    @abstractmethod
    async def redact(self, version_id: str, context: Context) -> Version:
        """Blank a version's content, path, size and hash for good; the bytes are gone from disk.

        Redacting again changes nothing. The head of a live memory raises ``NotRedactable``;
        ``UnknownId`` and ``Unsupported`` as they say.
        """

    # ---- upkeep

    @abstractmethod
    async def verify(self) -> Report:
        """Check everything against everything: hashes, counters, chain, files. Reads it all."""

    @abstractmethod
    async def close(self) -> None:
        """Write what is buffered and let go; a second call does nothing."""


class WrapperStore(Store):
    """A store around another one; a layer overrides what it changes and inherits the rest."""

    def __init__(self, inner: Store) -> None:
        self.inner = inner
        # A wrapper suspends as its inner store does, so these differ from one object to the next.
        self.suspends = inner.suspends  # type: ignore[misc] # pyright: ignore[reportAttributeAccessIssue]
        self.capabilities = inner.capabilities  # type: ignore[misc] # pyright: ignore[reportAttributeAccessIssue]

    @property
    def id(self) -> str:
        return self.inner.id

    async def read(self, path: MemoryPath, start: int = 0, length: int | None = None) -> Content:
        return await self.inner.read(path, start, length)

    async def stat(self, path: MemoryPath) -> Entry:
        return await self.inner.stat(path)

    async def locate(self, memory_id: str) -> Entry:
        return await self.inner.locate(memory_id)

    async def outline(self, directory: MemoryPath, path_chars: int) -> Outline:
        return await self.inner.outline(directory, path_chars)

    async def list(
        self,
        prefix: MemoryPath,
        *,
        depth: Literal[0, 1] = 0,
        after: str | None = None,
        limit: int = LISTING_CHUNK,
        at: Moment | None = None,
    ) -> Page:
        return await self.inner.list(prefix, depth=depth, after=after, limit=limit, at=at)

    async def search(self, query: str, prefix: MemoryPath, *, limit: int = 50) -> tuple[Hit, ...]:
        return await self.inner.search(query, prefix, limit=limit)

    async def usage(self) -> Usage:
        return await self.inner.usage()

    async def apply(self, changes: Sequence[Change], context: Context) -> tuple[Version, ...]:
        return await self.inner.apply(changes, context)

    async def record(self, context: Context) -> None:
        await self.inner.record(context)

    async def touch(self, paths: Sequence[MemoryPath], at_ns: int) -> None:
        await self.inner.touch(paths, at_ns)

    async def versions(
        self,
        where: VersionFilter = VersionFilter(),
        *,
        after: str | None = None,
        limit: int = 100,
        content: bool = False,
    ) -> VersionPage:
        return await self.inner.versions(where, after=after, limit=limit, content=content)

    async def version(self, version_id: str) -> Version:
        return await self.inner.version(version_id)

    async def moment(self, at_ns: int) -> Moment:
        return await self.inner.moment(at_ns)

    async def redact(self, version_id: str, context: Context) -> Version:
        return await self.inner.redact(version_id, context)

    async def verify(self) -> Report:
        return await self.inner.verify()

    async def close(self) -> None:
        await self.inner.close()


# ---------------------------------------------------------------- the backend


class StoreInfo(NamedTuple):
    """What a backend knows of a store. ``user`` is None for stores made through the API."""

    id: str
    workspace: str
    name: str
    user: str | None
    description: str = ""
    metadata: Mapping[str, str] = {}
    created_at_ns: int = 0
    updated_at_ns: int = 0
    archived_at_ns: int | None = None


class StorePage(NamedTuple):
    """A page of stores, newest first; ``after`` continues it, None on the last page."""

    stores: tuple[StoreInfo, ...]
    after: str | None


class Backend(ABC):
    """Holds many stores. Safe to use from many threads and, where it says so, processes."""

    suspends: ClassVar[bool] = False
    capabilities: ClassVar[Capabilities] = Capabilities()

    @abstractmethod
    async def for_user(self, user: str, workspace: str = "default") -> Store:
        """The store that belongs to ``user``; made, durable and empty, at its first change.

        ``user`` follows the tenant rule (``memoranda.tenant``); anything else is ``Misuse``
        before any storage is touched.
        """

    @abstractmethod
    async def open(self, store_id: str, workspace: str = "default") -> Store:
        """An existing store; raises ``UnknownId`` also for a store of another workspace."""

    @abstractmethod
    async def create(
        self,
        name: str,
        *,
        workspace: str = "default",
        description: str = "",
        metadata: Mapping[str, str] | None = None,
    ) -> StoreInfo:
        """Make a store without a user; durable on return."""

    @abstractmethod
    async def find_user(self, user: str, workspace: str = "default") -> StoreInfo | None:
        """What is known of a user's store, or None; makes nothing."""

    @abstractmethod
    async def info(self, store_id: str, workspace: str = "default") -> StoreInfo:
        """What is known of a store; raises ``UnknownId``."""

    @abstractmethod
    async def list(
        self,
        workspace: str = "default",
        *,
        after: str | None = None,
        limit: int = 100,
        include_archived: bool = True,
    ) -> StorePage:
        """The stores of a workspace, newest first (then by id), with and without user."""

    @abstractmethod
    async def update(
        self,
        store_id: str,
        workspace: str = "default",
        *,
        name: str | None = None,
        description: str | None = None,
        metadata: Mapping[str, str] | None = None,
    ) -> StoreInfo:
        """Change what is given; ``metadata`` replaces the whole. No change leaves the time."""

    @abstractmethod
    async def archive(self, store_id: str, workspace: str = "default") -> StoreInfo:
        """Archive for good: the store stays readable, can delete and redact, writes raise
        ``ReadOnly``. Again: no change."""

    @abstractmethod
    async def erase(self, store_id: str, context: Context, workspace: str = "default") -> None:
        """Remove a store, memories, history and all, so that nothing stays readable; the
        backend's own audit notes that it happened. Raises ``UnknownId``."""

    @abstractmethod
    async def close(self) -> None:
        """Close every open store."""
