from __future__ import annotations

from memoranda.text.excerpt import CutLine, Excerpt, LeftOut, excerpt
from memoranda.text.view_cap import Cut


def test_what_is_shown_whole_has_no_notes() -> None:
    assert excerpt(Cut("a\nb\n", 2, True), 4, 5, 9, 0) == Excerpt("a\nb\n", 4, None, None)


def test_lines_left_out_are_named_by_the_first_of_them() -> None:
    cut = Cut("a\nb\n", 2, False)
    assert excerpt(cut, 4, 6, 9, 0) == Excerpt("a\nb\n", 4, None, LeftOut(6, 9))
    assert excerpt(cut, 4, 5, 9, 0) == Excerpt("a\nb\n", 4, None, None)


def test_a_line_shown_in_part_has_its_own_note() -> None:
    cut = Cut("abc", 1, False, True)
    assert excerpt(cut, 4, 4, 9, 7) == Excerpt("abc", 4, CutLine(4, 3, 7), None)
    assert excerpt(cut, 4, 5, 9, 7) == Excerpt("abc", 4, CutLine(4, 3, 7), LeftOut(5, 9))
