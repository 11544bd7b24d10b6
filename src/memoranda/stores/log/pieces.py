"""Large contents in pieces, so that a part of one is read without the rest."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from memoranda.stores.log.text import Slice

PIECE_BYTES: Final = 65536
"""Contents up to this size stay in their row: one access reads them."""


def pieces_of(parts: Sequence[Slice], first: int = 0) -> Iterator[tuple[int, bytes]]:
    """The content that ``parts`` make up, cut every ``PIECE_BYTES``, numbered, from piece
    ``first`` on; copies a piece at a time and none before the first."""
    number, room = 0, PIECE_BYTES
    held: list[Slice] = []
    for part in parts:
        view = memoryview(part)
        while len(view) >= room:
            if number >= first:
                yield number, b"".join((*held, view[:room]))
            view = view[room:]
            number, room, held = number + 1, PIECE_BYTES, []
        if len(view):
            held.append(view)
            room -= len(view)
    if held and number >= first:
        yield number, b"".join(held)


def number_of_pieces(size: int) -> int:
    """How many pieces ``pieces_of`` makes of ``size`` bytes."""
    return -(-size // PIECE_BYTES)
