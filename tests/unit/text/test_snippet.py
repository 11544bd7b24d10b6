from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoranda.text.excerpt import CutLine, Excerpt, LeftOut
from memoranda.text.snippet import CONTEXT_LINE_CHARS, CONTEXT_LINES, snippet
from memoranda.text.splice import Splice
from tests.unit.text.naive import changes, lines_of, splice_of


def changed_lines(lines: list[str], start: int, end: int) -> range:
    """The places in ``lines`` that hold a character from ``start`` to ``end``, or the one that
    holds ``start`` where that is none."""
    ends = [sum(map(len, lines[: place + 1])) for place in range(len(lines))]
    begins = [0, *ends][: len(lines)]
    end = max(end, start + 1)
    held = [
        place
        for place, (begin, line_end) in enumerate(zip(begins, ends, strict=True))
        if begin < end and start < line_end
    ]
    if not held and lines and not lines[-1].endswith("\n"):
        # Taken off the end of the last line: that one has changed.
        held = [len(lines) - 1]
    return range(held[0], held[-1] + 1) if held else range(len(lines), len(lines))


def naive(old: str, start: int, end: int, middle: str, cap: int) -> Excerpt:
    new = old[:start] + middle + old[end:]
    lines = lines_of(new)
    changed = changed_lines(lines, start, start + len(middle))
    first = changed.start + 1
    text = "".join(lines[place] for place in changed)
    if text and len(lines[changed[0]].removesuffix("\n")) > cap:
        line = lines[changed[0]].removesuffix("\n")
        left_out = LeftOut(first + 1, len(lines)) if len(changed) > 1 else None
        return Excerpt(line[:cap], first, CutLine(first, cap, len(line)), left_out)
    shown = [lines[place] for place in changed[:1]]
    while len(shown) < len(changed):
        following = lines[changed[len(shown)]]
        if len("".join(shown)) + len(following) > cap:
            return Excerpt("".join(shown), first, None, LeftOut(first + len(shown), len(lines)))
        shown.append(following)

    def context(line: str) -> str:
        return line.removesuffix("\n")[:200] + "\n"

    room = cap - len(text)
    before: list[str] = []
    behind: list[str] = []
    # Nearest first; a side ends with the first line that doesn't fit.
    sides = [
        (before, [context(line) for line in lines[: changed.start][::-1][:2]]),
        (behind, [context(line) for line in lines[changed.stop :][:2]]),
    ]
    for distance in range(2):
        for kept, candidates in sides:
            if len(kept) == distance and len(candidates) > distance:
                line = candidates[distance]
                if len(line) <= room:
                    kept.append(line)
                    room -= len(line)
    return Excerpt("".join((*before[::-1], text, *behind)), first - len(before))


@given(changes(), st.integers(1, 40) | st.just(16_000))
def test_a_snippet_is_what_the_whole_new_text_would_give(
    change: tuple[str, int, int, str], cap: int
) -> None:
    assert snippet(change[0].encode(), splice_of(*change), cap) == naive(*change, cap)


def test_the_context_is_two_lines_of_200_characters() -> None:
    assert CONTEXT_LINES == 2
    assert CONTEXT_LINE_CHARS == 200


@pytest.mark.parametrize("letter", ["x", "\u00e9", "\u65e5", "\U0001f600"])
@pytest.mark.parametrize("length", [199, 200, 201, 5000])
@pytest.mark.parametrize("final", ["", "\n"])
def test_long_context_lines_are_cut(letter: str, length: int, final: str) -> None:
    line = letter * length
    old = f"{line}\n{line}\nold\n{line}\n{line}{final}"
    start = old.index("old")
    change = (old, start, start + 3, "new")
    assert snippet(old.encode(), splice_of(*change), 16_000) == naive(*change, 16_000)


@pytest.mark.parametrize("letter", ["x", "\u00e9", "\U0001f600"])
@pytest.mark.parametrize("where", [0, 1, 50, 99, 100])
@pytest.mark.parametrize("middle", ["", "\n", "new", "n\nw", "new\n", "n" * 200, "\n" * 60])
@pytest.mark.parametrize("cap", [1, 10, 60, 101])
@pytest.mark.parametrize("before", ["", "\n", "a\nbc\n"])
def test_a_change_in_a_long_line(
    letter: str, where: int, middle: str, cap: int, before: str
) -> None:
    old = f"{before}{letter * 100}\nb\n"
    start = len(before) + where
    change = (old, start, min(start + 3, len(old)), middle)
    assert snippet(old.encode(), splice_of(*change), cap) == naive(*change, cap)


@pytest.mark.parametrize("old", ["\nab", "\n", "", "\n\n"])
def test_a_long_line_before_an_empty_one(old: str) -> None:
    change = (old, 0, 0, "x" * 9)
    assert snippet(old.encode(), splice_of(*change), 5) == naive(*change, 5)


def test_far_away_text_is_not_looked_at() -> None:
    """The bytes that no snippet could show are not decoded: they could be anything."""
    old = b"\xff\n" * 9 + b"a\nb\nold\nc\nd\n" + b"\xff\n" * 9
    start = old.index(b"old")
    shown = snippet(old, Splice(start, start + 3, b"new"), 16_000)
    assert shown == Excerpt("a\nb\nnew\nc\nd\n", 10)
