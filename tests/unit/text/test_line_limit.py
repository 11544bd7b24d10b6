from __future__ import annotations

from memoranda.text import line_limit


def test_a_file_has_too_many_lines_from_a_million_on() -> None:
    assert line_limit.MAX_LINES == 999_999
    assert not line_limit.passes(0)
    assert not line_limit.passes(999_999)
    assert line_limit.passes(1_000_000)
