"""Whether a text holds one of many words, in about the time of a few looks for one letter.

A search for a word that is not there costs 1.4 us for 2 KB, so two dozen of them cost more than the
rest of a look. Words that share a letter are looked for together: one pattern begins with the
letter, which the engine skips to faster than a search for a word goes, and looks at each for the
words around it.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_FREQUENT: Final = b" etaoinsrhld"
"""What every prose is full of, most frequent first; a pattern that begins so stops too often."""


_CAPITALS: Final = b"TAISWCBPHFMDRELNOGUVYJKQXZ"
"""Capital letters, those first that most words begin with."""

_MOST_SIGNS: Final = 100
"""With more of them a search for the whole word is faster."""


class Words:
    """Some words, in lower case and not empty, ready to be looked for in lower-case texts."""

    def __init__(self, words: Iterable[bytes]) -> None:
        self._searches = [
            (sign[0], re.compile(_around(sign, group)).search) for sign, group in _grouped(words)
        ]

    def are_in(self, text: bytes) -> bool:
        """Whether the text holds at least one of them."""
        for sign, search in self._searches:  # noqa: SIM110 - a generator costs as much as a search
            # The sign alone first: a short text has few of them, and no prose has the rarest. As a
            # number: bytes in bytes raise and catch an error before they look (0.2 us).
            if sign in text and search(text) is not None:
                return True
        return False


class RareSign:
    """A word that is looked for by its sign that texts have least: a search for a single sign runs
    fifty times as fast as one for a word, as long as there are few of them."""

    __slots__ = ("_before", "_sign", "_word")

    def __init__(self, word: bytes) -> None:
        self._word = word
        self._before = max(range(len(word)), key=lambda at: _CAPITALS.find(word[at : at + 1]))
        self._sign = word[self._before]

    def is_in(self, text: bytes) -> bool:
        """Whether the text holds the word."""
        word, before, sign = self._word, self._before, self._sign
        at = text.find(sign, before)
        for _ in range(_MOST_SIGNS):
            if at < 0:
                return False
            if text.startswith(word, at - before):
                return True
            at = text.find(sign, at + 1)
        return at >= 0 and text.find(word, at - before) >= 0


def _grouped(words: Iterable[bytes]) -> Iterator[tuple[bytes, list[bytes]]]:
    """All the words, each with others that hold the same sign, in as few groups as may be."""
    left: list[bytes] = list(dict.fromkeys(words))
    while left:
        signs = sorted({sign for word in left for sign in word})
        holders = {bytes([sign]): [word for word in left if sign in word] for sign in signs}
        sign = max(holders, key=lambda sign: _worth(sign, len(holders[sign])))
        yield sign, holders[sign]
        left = [word for word in left if sign not in word]


def _worth(sign: bytes, words: int) -> tuple[int, int]:
    place = _FREQUENT.find(sign)
    return (words, 0) if place < 0 else (0, place)


def _around(sign: bytes, words: Iterable[bytes]) -> bytes:
    """A pattern that begins with ``sign`` and finds any of the words, each of which holds it."""
    ways: list[bytes] = []
    for word in words:
        rest = re.escape(word.partition(sign)[2])
        # What stands before the sign is looked at last: what comes after it seldom fits.
        ways.append(rest if word.startswith(sign) else rest + b"(?<=%s)" % re.escape(word))
    return re.escape(sign) + b"(?:%s)" % b"|".join(ways)
