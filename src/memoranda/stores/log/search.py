"""Finding text: memories that hold every word, ignoring case."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memoranda.stores.base import Hit

if TYPE_CHECKING:
    from collections.abc import Iterator

    from memoranda.path import MemoryPath

LINE_CHARS = 200


def words_of(query: str) -> list[str]:
    """The words of a query, folded: what stands between blanks, or as a whole in double quotes."""
    words: list[str] = []
    for index, part in enumerate(query.split('"')):
        words += [part] if index % 2 and part.strip() else part.split()
    return [word.casefold() for word in words]


def hits(
    words: list[str], contents: Iterator[tuple[MemoryPath, bytes]], limit: int
) -> tuple[Hit, ...]:
    """The first ``limit`` memories that hold all words, with the lines that hold one of them.

    Contents are taken one by one and no further than needed. Bytes that are not UTF-8 match
    nothing.
    """
    found: list[Hit] = []
    if words and limit > 0:
        for path, data in contents:
            folded = data.decode("utf-8", "replace").casefold()
            if all(word in folded for word in words):
                found.append(Hit(path, tuple(_lines(data, words))))
                if len(found) == limit:
                    break
    return tuple(found)


def _lines(data: bytes, words: list[str]) -> Iterator[tuple[int, str]]:
    for number, line in enumerate(data.decode("utf-8", "replace").split("\n"), 1):
        folded = line.casefold()
        if any(word in folded for word in words):
            yield number, line.removesuffix("\r")[:LINE_CHARS]
