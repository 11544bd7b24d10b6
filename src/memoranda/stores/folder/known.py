"""Which texts and images of a file are the log's own."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Final, NamedTuple

from memoranda.digests import sha256
from memoranda.stores.folder.tree import Seen

if TYPE_CHECKING:
    from memoranda.stores.log.store_log import StoreLog

_LAST: Final = "SELECT last FROM node WHERE id = ?"
_EVENT: Final = "SELECT prev, size, sha, ino, mtime, late FROM event WHERE seq = ?"


class Past(NamedTuple):
    """One content that a file had, with the image that was written for it (a move has none)."""

    seq: int
    sha: bytes
    size: int
    image: Seen | None


def past_of(log: StoreLog, node: int) -> Iterator[Past]:
    """The contents of a file as far as history is kept, newest first; late ones are not its."""
    row = log.db.execute(_LAST, (node,)).fetchone()
    return contents_from(log, row[0] if row else 0)


def contents_from(log: StoreLog, seq: int) -> Iterator[Past]:
    """The same from one of the node's events on."""
    while seq:
        row = log.db.execute(_EVENT, (seq,)).fetchone()
        if row is None:
            return
        prev, size, sha, ino, mtime, late = row
        if sha is not None and size is not None and not late:
            yield Past(seq, sha, size, None if ino is None else Seen(ino, mtime, size))
        seq = prev or 0


def recent_of(log: StoreLog, node: int, applied: int) -> list[Past]:
    """What the tree can show of a file while it follows the log from ``applied`` on."""
    recent: list[Past] = []
    for past in past_of(log, node):
        recent.append(past)
        if past.seq <= applied and past.image is not None:
            break
    return recent


def is_any_of(pasts: Iterable[Past], seen: Seen, data: bytes) -> bool:
    """Whether a file, by its image or by its text, is one of these; asks for no more than needed."""
    digest: bytes | None = None
    for past in pasts:
        if past.image == seen:
            return True
        if past.size == len(data):
            digest = digest or sha256(data).digest()
            if past.sha == digest:
                return True
    return False


def is_one_of(pasts: list[Past], seen: Seen, data: bytes | None) -> bool:
    """Whether an image, or a text, is one of these."""
    if data is None:
        return any(past.image == seen for past in pasts)
    digest = sha256(data).digest()
    return any(past.sha == digest for past in pasts)
