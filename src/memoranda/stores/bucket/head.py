"""The head of a store: the one object that changes, swapped by conditional put.

It names the roots of the store's trees and holds what was written since they were: the newest events
and what became of the memories. So most writes put a content and a head, and only every so often the
pages of the trees; and a reader who has the head and the pages knows everything.
"""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any, Final

from memoranda.errors import Corrupt, Unavailable
from memoranda.light_dataclasses import dataclass, replace
from memoranda.path import MemoryPath
from memoranda.stores.bucket.kept import kept_of, row_of
from memoranda.stores.bucket.tree import Root
from memoranda.stores.holds import Hold
from memoranda.stores.planning import EMPTY, Item, State

if TYPE_CHECKING:
    from collections.abc import Mapping

    from memoranda.stores.bucket.kept import Kept
    from memoranda.stores.bucket.tree import Row

FORMAT: Final = 1
MOST_TAIL: Final = 32
"""Events in a head; with more, all of it goes into the trees."""
MOST_BYTES: Final = 24 * 1024
"""Bytes of a head, which every reader fetches after a write."""

PATHS: Final = "paths"
"""Store path -> the live memory there (``path_row``)."""
MEMORIES: Final = "memories"
"""Memory's number -> its path or None, when it was made, its newest event, when it was used."""
EVENTS: Final = "events"
"""Number of an event -> the event (``kept.py``)."""
VERSIONS: Final = "versions"
"""``version_key`` -> when that version was made: a memory's versions side by side."""
EVER: Final = "ever"
"""``ever_key`` -> nothing: which memories were ever at a path."""
TREES: Final = (PATHS, MEMORIES, EVENTS, VERSIONS, EVER)

NUMBER_BITS: Final = 40


@dataclass(frozen=True, slots=True)
class Head:
    """A store at one moment. ``turn`` grows by one with each swap; ``attempt`` is of one swap only.

    ``versions`` and ``history`` count versions and the bytes of the history, ``horizon`` is the first
    moment that retention keeps whole, ``thinned`` the event up to which it has looked. Objects that
    were put for a turn before ``swept`` and that no head names may be removed by anybody;
    ``swept_at`` is when that was done last, ``dropped`` how many events went since. ``blanks`` are
    places of contents that redaction has still to overwrite.
    """

    turn: int
    attempt: str
    secret: bytes
    state: State
    versions: int
    history: int
    horizon: int
    thinned: int
    swept: int
    swept_at: int
    dropped: int
    roots: Mapping[str, Root]
    tail: tuple[Kept, ...]
    paths: Mapping[str, tuple[int | None, Row | None]]
    """Paths whose memory changed since the trees were written: the size of the one that the tree has
    there, and what is there now."""
    memories: Mapping[int, Row]
    ever: tuple[str, ...]
    holds: tuple[Hold, ...]
    blanks: tuple[tuple[str, int], ...]
    is_erased: bool

    @property
    def base(self) -> int:
        """Numbers within a store are counted from here (``log.ids``)."""
        return 0

    @property
    def is_folded(self) -> bool:
        """Whether all of it is in the trees."""
        return not (self.tail or self.paths or self.memories or self.ever)


def new_head(now_ns: int) -> Head:
    """The head of a store that nothing was written to."""
    return Head(
        turn=1, attempt=new_attempt(), secret=os.urandom(32), state=EMPTY, versions=0, history=0,
        horizon=0, thinned=0, swept=0, swept_at=now_ns, dropped=0, roots={}, tail=(), paths={},
        memories={}, ever=(), holds=(), blanks=(), is_erased=False,
    )  # fmt: skip


def erased(head: Head) -> Head:
    """The head of a store that is being erased: nothing of it is left to read."""
    return replace(
        new_head(0), turn=head.turn + 1, swept=head.turn + 1, secret=bytes(32), is_erased=True
    )


def new_attempt() -> str:
    """A name that no other swap has."""
    return os.urandom(12).hex()


# ---------------------------------------------------------------- rows


def path_row(item: Item) -> Row:
    """A live memory as a row; its size first, which the tree adds up."""
    return [
        item.size, item.id, item.created, item.updated, item.head, item.sha.hex(), item.body,
        item.place,
    ]  # fmt: skip


def item_of(path: MemoryPath, row: Row) -> Item:
    """The live memory that a row is; raises ``Corrupt``."""
    try:
        size, number, created, updated, head, sha, body, place = row
        return Item(
            number, path, created, updated, head, size, bytes.fromhex(sha), body, None, place=place
        )
    except (ValueError, TypeError) as error:
        raise Corrupt("A memory's row can't be read.") from error


def version_key(memory: int, seq: int) -> int:
    """The key of a version; those of a memory lie side by side, in their order."""
    return (memory << NUMBER_BITS) + seq


def ever_key(path: str, memory: int) -> str:
    """The key of a memory that was at a path, which is sorted as the paths are."""
    return f"{path}\0{memory:010x}"


# ---------------------------------------------------------------- the object


def encode(head: Head) -> bytes:
    """The head as it is stored."""
    state = head.state
    said: dict[str, Any] = {
        "format": FORMAT, "turn": head.turn, "attempt": head.attempt,
        "secret": head.secret.hex(), "state": [
            state.seq, state.at, state.chain.hex(), state.files, state.bytes, state.archived,
        ],
        "versions": head.versions, "history": head.history, "horizon": head.horizon,
        "thinned": head.thinned, "swept": head.swept, "swept_at": head.swept_at,
        "dropped": head.dropped, "roots": head.roots,
        "tail": [[kept.event.seq, row_of(kept)] for kept in head.tail],
        "paths": head.paths, "memories": list(head.memories.items()), "ever": head.ever,
        "holds": [[h.path.segments, h.reason, h.actor, h.at_ns] for h in head.holds],
        "blanks": head.blanks, "erased": head.is_erased,
    }  # fmt: skip
    return json.dumps(said, separators=(",", ":")).encode()


def decode(data: bytes) -> Head:
    """A stored head. Raises ``Corrupt``, and ``Unavailable`` for one of a later format."""
    try:
        said = json.loads(data)
        if said["format"] > FORMAT:
            raise Unavailable(
                "The store was written by a newer Memoranda; install that version to use it."
            )
        seq, at, chain, files, total, is_archived = said["state"]
        return Head(
            turn=said["turn"], attempt=said["attempt"], secret=bytes.fromhex(said["secret"]),
            state=State(seq, at, bytes.fromhex(chain), files, total, is_archived),
            versions=said["versions"], history=said["history"], horizon=said["horizon"],
            thinned=said["thinned"], swept=said["swept"], swept_at=said["swept_at"],
            dropped=said["dropped"],
            roots={name: Root(*root) for name, root in said["roots"].items()},
            tail=tuple(kept_of(number, row) for number, row in said["tail"]),
            paths={path: (size, row) for path, (size, row) in said["paths"].items()},
            memories=dict(said["memories"]), ever=tuple(said["ever"]),
            holds=tuple(
                Hold(MemoryPath.of(tuple(names)), *rest) for names, *rest in said["holds"]
            ),
            blanks=tuple((place, size) for place, size in said["blanks"]),
            is_erased=said["erased"],
        )  # fmt: skip
    except (ValueError, TypeError, LookupError, AttributeError) as error:
        raise Corrupt("The head of the store can't be read.") from error
