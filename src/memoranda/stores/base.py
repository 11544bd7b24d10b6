"""The store contract: what every backend promises and every layer passes on.

A *store* is one owner's tree of memories plus its whole history. A *backend* holds many stores.
Stores know paths, bytes, versions and actors; they know nothing of Claude's commands or texts.

Every method is ``async``. A store whose class says ``suspends = False`` never truly suspends, so
a synchronous caller can finish it in one step (``memoranda.drive``).

What all stores agree on: a directory exists while a memory lies beneath it; the root always
exists; contents are kept byte for byte; listings are ordered by the code points of the printed
path, a directory's with its trailing slash.

The data that goes in and out lies in rooms of its own and can be imported from here as well:
``changes`` (what a batch asks), ``entries`` (what lives now), ``versions`` (history), ``reports``
(sizes and checks), ``audit``, ``store_info`` (what is known of a store without opening it).

Errors that every method may raise besides those it names: ``Unavailable`` (storage can't answer
now), ``Corrupt`` (a check failed), ``Misuse`` (the store is closed).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, ClassVar, Final, Literal

from memoranda.errors import Unsupported
from memoranda.path import MemoryPath
from memoranda.stores.audit import AuditEntry, AuditHead, AuditReport
from memoranda.stores.changes import (
    Ceiling,
    Change,
    Context,
    Edit,
    EditFunction,
    Expect,
    IfContent,
    IfVersion,
    Move,
    Precondition,
    Put,
    Removal,
    Remove,
    Retention,
)
from memoranda.stores.entries import (
    BESIDE_PATH_CHARS,
    Content,
    Directory,
    Entry,
    Hit,
    Listed,
    Outline,
    Page,
)
from memoranda.stores.holds import Hold
from memoranda.stores.origin import Origin
from memoranda.stores.reports import Problem, Report, Usage
from memoranda.stores.store_info import Capabilities, StoreInfo, StorePage
from memoranda.stores.versions import (
    Moment,
    Operation,
    Version,
    VersionFilter,
    VersionPage,
)

if TYPE_CHECKING:
    from memoranda.stores.records import Records

__all__ = [
    "BESIDE_PATH_CHARS",
    "LISTING_CHUNK",
    "Backend",
    "Store",
    "WrapperStore",
    "Ceiling",
    "Change",
    "Context",
    "Edit",
    "EditFunction",
    "Expect",
    "IfContent",
    "IfVersion",
    "Move",
    "Precondition",
    "Put",
    "Removal",
    "Remove",
    "Retention",
    "Content",
    "Directory",
    "Entry",
    "Hit",
    "Listed",
    "Outline",
    "Page",
    "Moment",
    "Operation",
    "Version",
    "VersionFilter",
    "VersionPage",
    "AuditEntry",
    "AuditHead",
    "AuditReport",
    "Hold",
    "Origin",
    "Problem",
    "Report",
    "Usage",
    "Capabilities",
    "StoreInfo",
    "StorePage",
]

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
    async def outline(self, directory: MemoryPath, line_chars: int) -> Outline:
        """What two levels below ``directory`` a view shows, in listing order.

        Names that start with ``.`` and ``node_modules`` are left out with all below them, and
        out of the sizes. Stops once the printed paths and ``BESIDE_PATH_CHARS`` more for each add
        up to ``line_chars`` characters, so that the cost is that of what is shown; sizes and total
        come from counters, or from looking at so little more that it is not felt.
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

    async def flush(self) -> None:
        """Write now what ``record`` and ``touch`` left waiting; durable on return.

        Raises ``Unsupported`` where there is no audit.
        """
        raise Unsupported("an audit")

    async def audit(self, after: int | None, limit: int) -> tuple[AuditEntry, ...]:
        """Entries of the audit, oldest first: the newest ``limit`` for None, else those after entry
        number ``after`` (0: from the beginning), up to ``limit`` of them and what was written
        together with the last one.

        What this store has recorded so far is among them. Raises ``Unsupported``.
        """
        raise Unsupported("an audit")

    async def verify_audit(self, anchors: Sequence[AuditHead] = ()) -> AuditReport:
        """Check that no entry of the audit is missing, changed or in another order.

        ``anchors`` are heads of audits that were kept in a second place, other stores' too: only
        they tell that the end was cut off or written anew. Reads all entries. Raises ``Unsupported``.
        """
        raise Unsupported("an audit")

    async def uses(self) -> Mapping[MemoryPath, int]:
        """When live memories were last used, as far as ``touch`` was told (ns since 1970, UTC).
        Raises ``Unsupported``."""
        raise Unsupported("expiry")

    async def holds(self) -> tuple[Hold, ...]:
        """What is held, in the order of the paths. Raises ``Unsupported``."""
        raise Unsupported("holds")

    async def hold(self, path: MemoryPath, reason: str, context: Context) -> Hold:
        """Hold a path (the root: the whole store): retention drops nothing of what lies there or
        last lay there, and the store can't be erased. Held already: the reason changes.

        Raises ``UnknownId`` for a store that nobody has made yet, ``Unsupported``.
        """
        raise Unsupported("holds")

    async def lift(self, path: MemoryPath, context: Context) -> bool:
        """Lift the hold of exactly this path; whether there was one. Raises ``Unsupported``."""
        raise Unsupported("holds")

    async def forget(self, path: MemoryPath, context: Context) -> int:
        """Blank a path, and all beneath it, in the audit's entries of what changed nothing, so that
        the chain still holds; of how many. Raises ``Unsupported``."""
        raise Unsupported("erasing a path")

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

    async def id_key(self) -> bytes:
        """The secret that the ids of this store's memories are computed with, for
        ``Backend.take_up``: whoever has it can tell ids of this store. 32 bytes; never shown.

        Raises ``UnknownId`` for a store that nobody has made yet, ``Unsupported`` where ids are
        made otherwise.
        """
        raise Unsupported("handing its ids on to another store")

    # ---- upkeep

    @abstractmethod
    async def verify(self) -> Report:
        """Check everything against everything: hashes, counters, chain, files. Reads it all.

        Damage is reported, never raised; ``Unavailable`` where the disk can't be read now.
        """

    async def repair(self) -> Report:
        """Mend the damage that ``verify`` finds, as far as this backend can; then verify. What can't
        be mended is set aside, not removed, and named in the report."""
        return await self.verify()

    async def notices(self) -> tuple[Problem, ...]:
        """What was found damaged and set aside when the store was opened here; mostly nothing."""
        return ()

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

    async def outline(self, directory: MemoryPath, line_chars: int) -> Outline:
        return await self.inner.outline(directory, line_chars)

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

    async def flush(self) -> None:
        await self.inner.flush()

    async def audit(self, after: int | None, limit: int) -> tuple[AuditEntry, ...]:
        return await self.inner.audit(after, limit)

    async def verify_audit(self, anchors: Sequence[AuditHead] = ()) -> AuditReport:
        return await self.inner.verify_audit(anchors)

    async def uses(self) -> Mapping[MemoryPath, int]:
        return await self.inner.uses()

    async def holds(self) -> tuple[Hold, ...]:
        return await self.inner.holds()

    async def hold(self, path: MemoryPath, reason: str, context: Context) -> Hold:
        return await self.inner.hold(path, reason, context)

    async def lift(self, path: MemoryPath, context: Context) -> bool:
        return await self.inner.lift(path, context)

    async def forget(self, path: MemoryPath, context: Context) -> int:
        return await self.inner.forget(path, context)

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

    async def id_key(self) -> bytes:
        return await self.inner.id_key()

    async def verify(self) -> Report:
        return await self.inner.verify()

    async def repair(self) -> Report:
        return await self.inner.repair()

    async def notices(self) -> tuple[Problem, ...]:
        return await self.inner.notices()

    async def close(self) -> None:
        await self.inner.close()


# ---------------------------------------------------------------- the backend


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
        backend's own audit notes that it happened. Raises ``UnknownId``.

        What waits for a person goes along: end with ``companions.erase_proposals``.
        """

    async def take_up(self, info: StoreInfo, origin: Origin) -> Store:
        """A new store that another one's history is to come into: with its id, workspace, user,
        names and times (not archived yet), and the key of its ids, so that memories keep theirs.

        The history then comes by ``Store.apply`` with ``Context.at_ns``, batch after batch, and makes
        versions with the actors and times of the other store, and with ids of its own.

        A store with this id, or of this user, raises ``StoreExists``; nothing is changed then.
        Durable on return. Raises ``Unsupported`` (capability ``takes_history``).
        """
        raise Unsupported("taking over a history")

    async def workspaces(self) -> tuple[str, ...]:
        """The workspaces that have stores, sorted. Raises ``Unsupported`` where they are kept apart
        so well that nobody may see all."""
        raise Unsupported("listing the workspaces")

    def records(self, kind: str) -> Records:
        """The backend's records of one kind (1 to 32 of ``a-z``): what belongs to no store.

        Without a place of its own for them a backend keeps them in a store that no user has.
        """
        from memoranda.stores.records import RecordsInStore

        return RecordsInStore(self, kind)

    @abstractmethod
    async def close(self) -> None:
        """Close every open store."""
