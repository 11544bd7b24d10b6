"""What a batch asks of a store: changes with their preconditions, and the context they are done in."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import Enum
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from memoranda.light_dataclasses import dataclass
from memoranda.light_named_tuples import NamedTuple
from memoranda.path import MemoryPath

if TYPE_CHECKING:
    from memoranda.text.splice import Splice

EditFunction: TypeAlias = "Callable[[bytes], Splice]"


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
    revives the deleted memory with that id (``mem_...``) instead of making a new one; in a batch
    with ``Context.at_ns`` also one that another store made and this one never had.
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


# ---------------------------------------------------------------- the context


_NO_AUDIT: Final[Mapping[str, Any]] = {}


class Ceiling(NamedTuple):
    """How much a store may hold after a batch, checked by the store inside its transaction.

    A batch that adds bytes and ends above ``total_bytes`` raises ``MemoryFull``; one that adds
    memories and ends above ``files`` raises ``TooManyFiles``; an edited or put file that grows
    and ends above ``file_bytes`` raises ``FileTooLarge``. None lifts a limit.

    Of each file ``beside_bytes`` don't count, neither for a limit nor in the errors: what a layer
    adds to every content.
    """

    total_bytes: int | None = None
    files: int | None = None
    file_bytes: int | None = None
    beside_bytes: int = 0


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


class Removal(NamedTuple):
    """Secrets that a layer took out of what one change stores.

    ``whats`` says what each one was ("a GitHub token"), in the order of the text, and holds none of
    it. ``change`` is what is done to the old content in place of an ``Edit`` 's own splice; None
    for a ``Put``.
    """

    path: MemoryPath
    whats: tuple[str, ...]
    change: Splice | None = None


@dataclass(frozen=True, slots=True)
class Context:
    """Who does a batch and why; it becomes part of each version and audit entry.

    ``actor`` is a short name (``agent``, ``external``, ``expiry``) or an API id (``apikey_...``,
    ``user_...``, ``sesn_...``, ``svac_...``). ``command`` names the command or program action.
    ``audit`` is the draft of the audit entry: small, content-free, JSON-able; a store reads it once
    the batch's edits have run, since a layer may learn from them what to note. ``retention`` says
    how much history stays from this batch on; None leaves it to the backend. ``notice`` is told by
    a layer, once the batch is stored (or waits), what it took out; stores leave it alone. ``approval`` says why
    a batch need not wait for a person: the id of the proposal that it carries out, or the name of a
    rule that people set; programs' and agents' own writes have none.

    ``at_ns`` tells that the batch is taken out of another store's history (capability
    ``takes_history``, a store that ``Backend.take_up`` made): its versions get that time, in ns
    since 1970, or that of the newest entry where that is later.

    ``wants_ids`` False tells that nobody will look at the ids of the versions that come back: a
    store may leave them empty, since to compute them costs more than to look at a file.
    """

    actor: str = "agent"
    command: str = ""
    trace_id: str | None = None
    ceiling: Ceiling = Ceiling()
    audit: Mapping[str, Any] = _NO_AUDIT
    retention: Retention | None = None
    notice: Callable[[Removal], None] | None = None
    approval: str | None = None
    at_ns: int | None = None
    wants_ids: bool = True
