from __future__ import annotations

from memoranda.text import line_limit


def test_a_file_has_too_many_lines_from_a_million_on() -> None:
    assert line_limit.MAX_LINES == 999_999
    assert not line_limit.passes(0)
    assert not line_limit.passes(999_999)
    assert line_limit.passes(1_000_000)


def test_no_file_below_a_million_bytes_can_have_them() -> None:
    assert not line_limit.may_pass(999_999)
    assert line_limit.may_pass(1_000_000)
