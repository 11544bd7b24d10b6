"""Asking the rules: what a text holds, in about the time that a few searches take.

Most texts hold nothing. One look at the text tells which rules can find anything at all: the words
that every finding of a rule has in it. Most tokens are long runs of letters and digits, which prose
has none of; their words are looked for in those runs only. What is left runs its pattern on the
lines with its word.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cache
from typing import Final, NamedTuple

from memoranda.detect.rules.rule import Rule
from memoranda.detect.rules.table import RULES
from memoranda.detect.words import RareSign, Words
from memoranda.lazy_pattern import lazy_pattern

RUN_BYTES: Final = 16
"""How long a run of letters and digits has to be to be looked at as a token."""

_RUN_SIGNS: Final = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_.-%"
_AS_RUN: Final = bytes(97 if byte in _RUN_SIGNS else 32 for byte in range(256))
_RUNS_ONLY: Final = bytes(byte if byte in _RUN_SIGNS else 32 for byte in range(256))
_A_RUN: Final = b"a" * RUN_BYTES


class Hit(NamedTuple):
    """Bytes ``start`` to ``end`` (exclusive) of a text, and the rule that found them."""

    start: int
    end: int
    rule: Rule


class _Asked:
    """A rule with its pattern, which is compiled when it is first needed."""

    __slots__ = ("literals", "pattern", "rule")

    def __init__(self, rule: Rule) -> None:
        self.rule = rule
        self.literals = tuple(literal.encode() for literal in rule.literals)
        self.pattern = lazy_pattern(rule.pattern)

    def hits(self, data: bytes, start: int, end: int) -> Iterator[Hit]:
        """What the rule finds between two places; a pattern sees what stands before them."""
        check = self.rule.check
        for match in self.pattern.finditer(data, start, end):
            begin, stop = match.span(match.lastgroup or 0)
            if check is None or check(data[begin:stop]):
                yield Hit(begin, stop, self.rule)


class Scanner:
    """The rules of some kinds, ready to be asked. Pure and safe to use from many threads."""

    def __init__(self, kinds: Iterable[str], rules: Iterable[Rule] = RULES) -> None:
        wanted = frozenset(kinds)
        asked = [_Asked(rule) for rule in rules if rule.kind in wanted]
        self._everywhere = [each for each in asked if not each.literals]
        blocks = [each for each in asked if each.rule.scope == "block"]
        self._blocks = [(RareSign(each.literals[0]), each) for each in blocks]
        assert all(len(each.literals) == 1 for each in blocks), "a block begins in one way"
        in_runs = [each for each in asked if each.rule.scope == "run"]
        in_lines = [each for each in asked if each.rule.scope == "line" and each.literals]
        self._in_runs = _by_literal(in_runs)
        self._in_lines = _by_literal(in_lines)
        self._words = Words(literal for literal in self._in_lines if literal.isascii())
        self._foreign = [literal for literal in self._in_lines if not literal.isascii()]

    def find(self, data: bytes) -> list[Hit]:
        """Everything that the rules find, sorted by where it begins; hits may overlap.

        Lines are judged by themselves, apart from blocks: ``spans_lines`` tells whether there may
        be one. 2 KB of prose take about 15 microseconds, 256 KB about 2 ms.
        """
        hits: list[Hit] = []
        lower = data.lower()
        if self._words.are_in(lower) or (not lower.isascii() and self._holds_foreign(lower)):
            for literal, rules in self._in_lines.items():
                for begin, end in _lines_with(literal, lower):
                    for asked in rules:
                        hits += asked.hits(data, begin, end)
        if self._in_runs and data.translate(_AS_RUN).find(_A_RUN) >= 0:
            hits += self._find_in_runs(data, lower)
        for asked in self._everywhere:
            hits += asked.hits(data, 0, len(data))
        for opening, asked in self._blocks:
            if opening.is_in(data):
                hits += asked.hits(data, 0, len(data))
        if hits:
            hits.sort(key=_place)
        return hits

    def _holds_foreign(self, lower: bytes) -> bool:
        return any(literal in lower for literal in self._foreign)

    def _find_in_runs(self, data: bytes, lower: bytes) -> Iterator[Hit]:
        runs = [run for run in lower.translate(_RUNS_ONLY).split() if len(run) >= RUN_BYTES]
        joined = b" ".join(runs)
        for literal, rules in self._in_runs.items():
            if literal in joined:
                for begin, end in _lines_of(runs, literal, lower):
                    for asked in rules:
                        yield from asked.hits(data, begin, end)

    def spans_lines(self, data: bytes) -> bool:
        """Whether something may begin in one line and end in another."""
        for opening, _ in self._blocks:  # noqa: SIM110 - a generator costs as much as a search
            if opening.is_in(data):
                return True
        return False


def _place(hit: Hit) -> tuple[int, int]:
    return hit.start, _ORDER[hit.rule.id]


_ORDER: Final = {rule.id: place for place, rule in enumerate(RULES)}


def _by_literal(rules: Iterable[_Asked]) -> dict[bytes, list[_Asked]]:
    found: dict[bytes, list[_Asked]] = {}
    for asked in rules:
        for literal in asked.literals:
            found.setdefault(literal, []).append(asked)
    return found


def _lines_with(literal: bytes, text: bytes) -> Iterator[tuple[int, int]]:
    """Where the lines that hold ``literal`` begin and end."""
    at = text.find(literal)
    while at >= 0:
        begin, end = _line_around(text, at)
        yield begin, end
        at = text.find(literal, end)


def _lines_of(runs: Iterable[bytes], literal: bytes, text: bytes) -> Iterator[tuple[int, int]]:
    """Where the lines begin and end that hold a run with ``literal``; ``runs`` are all, in order."""
    at = end = 0
    for run in runs:
        at = text.find(run, at)
        if literal in run and at >= end:
            begin, end = _line_around(text, at)
            yield begin, end
        at += len(run)


def _line_around(text: bytes, at: int) -> tuple[int, int]:
    end = text.find(b"\n", at)
    return text.rfind(b"\n", 0, at) + 1, len(text) if end < 0 else end


@cache
def scanner_for(kinds: tuple[str, ...]) -> Scanner:
    """The scanner of some kinds; stores with the same policy share one."""
    return Scanner(kinds)
