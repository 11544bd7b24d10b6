"""The history of a store as a chain of commits, one for each batch, under a ref of its own.

Each commit has the whole state after its batch as its tree:

    events     what happened, one line of JSON each, in order of their numbers
    heads      a record for each memory (``heads.py``)
    memories   the memories themselves, as the branch that people see has them
    numbers    for each memory's number its path, or for one that is gone its record
    places     for each path the numbers of the memories that ever came there
    holds      what is held, as JSON

Its first parent is the batch before, its second one the commit of the branch; so one ref keeps
everything, and any moment of the past is a tree like the present. The message has the counters
and, beside the batch before, some of those at distances of powers of two: whichever batch is
wanted is a few steps away, however long the history is.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from memoranda.errors import Corrupt
from memoranda.stores.git.objects import FILE_MODE, TREE_MODE, Entry, Person
from memoranda.stores.planning import State
from memoranda.stores.sealing import Event

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from memoranda.stores.git.objects import Id, Objects

LOG_REF: Final = "refs/memoranda/log"
MAIN_REF: Final = "refs/heads/main"
FORMAT: Final = 1
COMMITTER: Final = Person("Memoranda", "memoranda@memoranda.invalid")

_EVENTS: Final = b"events"
_TREES: Final = (b"heads", b"memories", b"numbers", b"places")
_HOLDS: Final = b"holds"


class Skip(NamedTuple):
    """An earlier batch: its commit, and number and time of its last event."""

    commit: Id
    seq: int
    at: int


class Head(NamedTuple):
    """The state after a batch, as its commit tells it."""

    commit: Id
    store_id: str
    secret: bytes
    number: int
    """How many batches came before."""
    state: State
    versions: int
    history: int
    """The bytes that the history takes, as limits count them."""
    last_version: int
    """The newest event that is a version."""
    main: Id | None
    """The commit of the branch; None until there was a memory."""
    skips: Sequence[Skip]
    events: Id | None
    heads: Id | None
    memories: Id | None
    numbers: Id | None
    places: Id | None
    holds: Id | None

    @property
    def base(self) -> int:
        """Numbers within a store are counted from here (``log.ids``)."""
        return 0

    @property
    def seq_before(self) -> int:
        """The last event of the batch before."""
        return self.skips[0].seq if self.skips else 0


class Happened(NamedTuple):
    """An event with its memory's content and event before."""

    event: Event
    blob: Id | None
    before: int
    """0 for the first event of a memory."""


def write(objects: Objects, head: Head, parents: Sequence[Id]) -> Head:
    """The commit that tells this; ``head.commit`` is not looked at."""
    places = (head.heads, head.memories, head.numbers, head.places)
    entries = {
        name: Entry(TREE_MODE, tree)
        for name, tree in zip(_TREES, places, strict=True)
        if tree is not None
    }
    for name, blob in ((_EVENTS, head.events), (_HOLDS, head.holds)):
        if blob is not None:
            entries[name] = Entry(FILE_MODE, blob)
    state = head.state
    told = {
        "format": FORMAT, "store": head.store_id, "secret": head.secret.hex(),
        "number": head.number, "seq": state.seq, "at": state.at, "chain": state.chain.hex(),
        "files": state.files, "bytes": state.bytes, "versions": head.versions,
        "history": head.history, "last": head.last_version,
        "main": None if head.main is None else head.main.hex(),
        "skips": [(skip.commit.hex(), skip.seq, skip.at) for skip in head.skips],
    }  # fmt: skip
    message = f"Batch {head.number}\n\n{json.dumps(told)}\n"
    seconds = state.at // 1_000_000_000
    commit = objects.commit(objects.tree(entries), parents, COMMITTER, COMMITTER, seconds, message)
    return head._replace(commit=commit)


def read(objects: Objects, commit: Id) -> Head:
    """What a commit tells; raises ``Corrupt``."""
    found = objects.read_commit(commit)
    tree = objects.read_tree(found.tree)
    try:
        told: dict[str, Any] = json.loads(found.message.partition("\n\n")[2])
        known = told["format"]
        if known == FORMAT:
            return _head_of(commit, told, {name: entry.id for name, entry in tree.items()})
    except (KeyError, TypeError, ValueError) as error:
        raise Corrupt("A commit of the store's log can't be read.") from error
    raise Corrupt("The repository has a newer format; it needs a newer Memoranda.")


def _head_of(commit: Id, told: Mapping[str, Any], ids: Mapping[bytes, Id]) -> Head:
    heads, memories, numbers, places = (ids.get(name) for name in _TREES)
    return Head(
        commit=commit,
        store_id=told["store"],
        secret=bytes.fromhex(told["secret"]),
        number=told["number"],
        state=State(
            seq=told["seq"],
            at=told["at"],
            chain=bytes.fromhex(told["chain"]),
            files=told["files"],
            bytes=told["bytes"],
            archived=False,  # which the control repository knows
        ),
        versions=told["versions"],
        history=told["history"],
        last_version=told["last"],
        main=None if told["main"] is None else bytes.fromhex(told["main"]),
        skips=[Skip(bytes.fromhex(skip), seq, at) for skip, seq, at in told["skips"]],
        events=ids.get(_EVENTS),
        heads=heads,
        memories=memories,
        numbers=numbers,
        places=places,
        holds=ids.get(_HOLDS),
    )


def skips_after(objects: Objects, head: Head) -> list[Skip]:
    """The earlier batches that the one after ``head`` names: the one before it, and for each power
    of two that its number can be divided by, the one so far before it."""
    number = head.number + 1
    skips = [Skip(head.commit, head.state.seq, head.state.at)]
    distance = 2
    while number % distance == 0 and distance <= number:
        # The batch half as far away names the one that is as far from it.
        half = read(objects, skips[-1].commit)
        skips.append(half.skips[distance.bit_length() - 2])
        distance *= 2
    return skips


def with_event(objects: Objects, head: Head, seq: int) -> Head | None:
    """The batch that an event belongs to; None if there is none."""
    if not 0 < seq <= head.state.seq:
        return None
    while seq <= head.seq_before:
        far = [skip for skip in head.skips if skip.seq >= seq]
        head = read(objects, far[-1].commit)
    return head


def at_time(objects: Objects, head: Head, at_ns: int) -> Head | None:
    """The last batch whose changes are not after a time; None if there is none."""
    while head.state.at > at_ns:
        if not head.skips:
            return None
        far = [skip for skip in head.skips if skip.at > at_ns]
        head = read(objects, far[-1].commit if far else head.skips[0].commit)
    return head


def batches(objects: Objects, head: Head) -> Iterator[Head]:
    """This batch and all before it, newest first."""
    while True:
        yield head
        if not head.skips:
            return
        head = read(objects, head.skips[0].commit)


def lines_of(happened: Sequence[Happened]) -> bytes:
    """Events as they are stored."""
    return "".join(f"{json.dumps(_row(each))}\n" for each in happened).encode()


def _row(happened: Happened) -> list[Any]:
    event, blob, before = happened
    return [
        event.seq, event.batch, event.memory, event.op, event.path, event.at, event.actor,
        event.command, event.trace, event.size, None if event.sha is None else event.sha.hex(),
        event.audit, None if blob is None else blob.hex(), before,
    ]  # fmt: skip


def happened_in(objects: Objects, head: Head) -> list[Happened]:
    """The events of a batch, oldest first."""
    if head.events is None:
        return []
    return [_happened(line) for line in objects.read_blob(head.events).splitlines()]


def happened(objects: Objects, head: Head, seq: int) -> Happened | None:
    """One event of the history up to ``head``; None if there is no such event."""
    batch = with_event(objects, head, seq)
    if batch is None or batch.events is None:
        return None
    lines = objects.read_blob(batch.events).splitlines()
    return _happened(lines[seq - batch.seq_before - 1])


def _happened(line: bytes) -> Happened:
    try:
        (
            seq, batch, memory, op, path, at, actor, command, trace, size, sha, audit, blob, before,
        ) = json.loads(line)  # fmt: skip
        event = Event(
            seq, batch, memory, op, path, at, actor, command, trace, size,
            None if sha is None else bytes.fromhex(sha), None, audit,
        )  # fmt: skip
        return Happened(event, None if blob is None else bytes.fromhex(blob), before)
    except ValueError as error:
        raise Corrupt("An event of the history can't be read.") from error
