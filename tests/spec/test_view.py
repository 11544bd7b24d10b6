"""What a view of a text file shows."""

from __future__ import annotations

import pytest

from tests.spec.handler import Handler, Settings, content_of, failed

FILE = "/memories/n.txt"


@pytest.mark.spec("VIEW-01", "VIEW-02", "VIEW-03", "VIEW-04")
def test_a_view_numbers_every_line(ask: Handler) -> None:
    ask.make(FILE, "Hello World\nThis is line two\n\n\tfour\n")
    assert ask("view", path=FILE).content == (
        "Here's the content of /memories/n.txt with line numbers:\n"
        "     1\tHello World\n"
        "     2\tThis is line two\n"
        "     3\t\n"
        "     4\t\tfour"
    )


@pytest.mark.spec("VIEW-02")
@pytest.mark.parametrize("first", [9, 99, 511, 512, 999, 1024, 9_999, 20_479, 20_480, 99_999])
def test_numbers_are_right_in_every_width(ask: Handler, first: int) -> None:
    ask.put(FILE, b"x\n" * 100_001)
    assert ask("view", path=FILE, view_range=[first, first + 2]) == content_of(
        FILE, *(f"{number:6}\tx" for number in range(first, first + 3))
    )


@pytest.mark.spec("VIEW-05")
def test_a_file_of_no_lines_shows_one_empty_line(ask: Handler) -> None:
    ask.make(FILE, "")
    assert ask("view", path=FILE) == content_of(FILE, "     1\t")


@pytest.mark.spec("VIEW-06", "VIEW-07")
@pytest.mark.parametrize("last", [b"", b"x"])
@pytest.mark.parametrize("view_range", [None, [1, 2], [5, 3], [2_000_000, -1]])
def test_more_than_999_999_lines_are_refused(
    ask: Handler, last: bytes, view_range: list[int] | None
) -> None:
    ask.put(FILE, b"\n" * 1_000_000 + last)
    refusal = failed(f"File {FILE} exceeds maximum line limit of 999,999 lines.")
    assert ask("view", path=FILE, view_range=view_range) == refusal
    assert ask("view", path=FILE, view_range=view_range) == refusal


@pytest.mark.spec("VIEW-06", "VIEW-07")
@pytest.mark.parametrize("content", [b"\n" * 999_999, b"a\n" * 999_998 + b"b"])
def test_exactly_999_999_lines_may_be_viewed(ask: Handler, content: bytes) -> None:
    ask.put(FILE, content)
    last = content[-1:].decode().strip("\n")
    assert ask("view", path=FILE, view_range=[999_999, -1]) == content_of(FILE, f"999999\t{last}")
    assert not ask("view", path=FILE).is_error


RANGES = [
    ([1, 4], "abcd"),
    ([2, 3], "bc"),
    ([4, 4], "d"),
    ([1, 1], "a"),
    ([3, -1], "cd"),
    ([4, -1], "d"),
    ([0, 2], "ab"),
    ([-5, 2], "ab"),
    ([-2, -1], "abcd"),
    ([3, 5], "cd"),
    ([3, 10**18], "cd"),
    ([-(10**18), 10**18], "abcd"),
]


@pytest.mark.spec("VIEW-08", "VIEW-09", "VIEW-10", "VIEW-11")
@pytest.mark.parametrize(("view_range", "letters"), RANGES)
@pytest.mark.parametrize("end", ["", "\n"])
def test_a_range_shows_its_lines(
    ask: Handler, view_range: list[int], letters: str, end: str
) -> None:
    ask.make(FILE, "a\nb\nc\nd" + end)
    lines = [f"     {'abcd'.index(letter) + 1}\t{letter}" for letter in letters]
    assert ask("view", path=FILE, view_range=view_range) == content_of(FILE, *lines)


@pytest.mark.spec("VIEW-12", "VIEW-13", "VIEW-14")
@pytest.mark.parametrize(
    ("start", "end"),
    [(5, 5), (5, -1), (10, 20), (1, -2), (3, -5), (3, 2), (2, 0), (1, 0), (0, 0), (-3, 0)],
)
@pytest.mark.parametrize("last", ["", "\n"])
def test_a_range_of_no_lines_is_refused(ask: Handler, start: int, end: int, last: str) -> None:
    ask.make(FILE, "a\nb\nc\nd" + last)
    assert ask("view", path=FILE, view_range=[start, end]) == failed(
        f"Error: Invalid `view_range` parameter: [{start}, {end}]. "
        "It should be within the range of lines of the file: [1, 4]"
    )


@pytest.mark.spec("VIEW-15")
def test_a_file_of_no_lines_counts_as_one_empty_line(ask: Handler) -> None:
    ask.make(FILE, "")
    for view_range in ([1, 1], [1, -1], [0, 9]):
        assert ask("view", path=FILE, view_range=view_range) == content_of(FILE, "     1\t")
    assert ask("view", path=FILE, view_range=[2, 3]) == failed(
        "Error: Invalid `view_range` parameter: [2, 3]. "
        "It should be within the range of lines of the file: [1, 1]"
    )


def numbered(first: int, lines: list[str]) -> list[str]:
    return [f"{number:6}\t{line}" for number, line in enumerate(lines, first)]


@pytest.mark.spec("VIEW-16", "VIEW-17", "VIEW-19", "VIEW-20")
def test_a_long_file_is_cut_at_16_000_characters(ask: Handler) -> None:
    ask.make(FILE, "123456789\n" * 2000)
    assert ask("view", path=FILE) == content_of(
        FILE,
        *numbered(1, ["123456789"] * 1600),
        "",
        "[Truncated: lines 1-1600 of 2000 shown. Continue with view_range [1601, 2000].]",
    )


@pytest.mark.spec("VIEW-16")
def test_a_file_of_exactly_16_000_characters_is_shown_whole(ask: Handler) -> None:
    ask.make(FILE, "123456789\n" * 1600)
    assert ask("view", path=FILE) == content_of(FILE, *numbered(1, ["123456789"] * 1600))


@pytest.mark.spec("VIEW-16", "VIEW-19", "VIEW-20")
@pytest.mark.parametrize(
    ("last", "fits"), [("123456789", True), ("123456789\n", True), ("1234567890\n", False)]
)
def test_the_cap_counts_the_last_lf_too(ask: Handler, last: str, fits: bool) -> None:
    ask.make(FILE, "123456789\n" * 1599 + last)
    lines = numbered(1, ["123456789"] * 1599)
    if fits:
        assert ask("view", path=FILE) == content_of(FILE, *lines, "  1600\t123456789")
    else:
        assert ask("view", path=FILE) == content_of(
            FILE,
            *lines,
            "",
            "[Truncated: lines 1-1599 of 1600 shown. Continue with view_range [1600, 1600].]",
        )


@pytest.mark.spec("VIEW-16", "VIEW-23")
@pytest.mark.parametrize("letter", ["\u00e9", "\u65e5", "\U0001f600"])
def test_the_cap_counts_characters_not_bytes(ask: Handler, letter: str) -> None:
    ask.make(FILE, f"{letter * 9}\n" * 2000)
    assert ask("view", path=FILE) == content_of(
        FILE,
        *numbered(1, [letter * 9] * 1600),
        "",
        "[Truncated: lines 1-1600 of 2000 shown. Continue with view_range [1601, 2000].]",
    )


@pytest.mark.spec("VIEW-18", "VIEW-19", "VIEW-20")
def test_the_cap_is_a_setting(ask_with: Settings) -> None:
    ask = ask_with(view_chars=6)
    ask.make(FILE, "a\nb\n\u00e9\nd\n")
    assert ask("view", path=FILE) == content_of(
        FILE,
        *numbered(1, ["a", "b", "\u00e9"]),
        "",
        "[Truncated: lines 1-3 of 4 shown. Continue with view_range [4, 4].]",
    )
    assert ask_with(view_chars=8)("view", path=FILE) == content_of(
        FILE, *numbered(1, ["a", "b", "\u00e9", "d"])
    )


@pytest.mark.spec("VIEW-20", "VIEW-21")
def test_a_range_is_cut_the_same_way(ask: Handler) -> None:
    ask.make(FILE, "123456789\n" * 5000)
    assert ask("view", path=FILE, view_range=[2001, 4000]) == content_of(
        FILE,
        *numbered(2001, ["123456789"] * 1600),
        "",
        "[Truncated: lines 2001-3600 of 5000 shown. Continue with view_range [3601, 5000].]",
    )
    assert ask("view", path=FILE, view_range=[2001, 3600]) == content_of(
        FILE, *numbered(2001, ["123456789"] * 1600)
    )


@pytest.mark.spec("VIEW-22", "VIEW-23")
@pytest.mark.parametrize("letter", ["x", "\u00e9", "\u65e5", "\U0001f600"])
@pytest.mark.parametrize("end", ["", "\n"])
def test_a_line_longer_than_the_cap_shows_its_beginning(
    ask: Handler, letter: str, end: str
) -> None:
    ask.make(FILE, letter * 16_001 + end)
    assert ask("view", path=FILE) == content_of(
        FILE,
        f"     1\t{letter * 16_000}",
        "",
        "[Line 1 truncated: 16000 of 16001 characters shown.]",
    )


@pytest.mark.spec("VIEW-22")
@pytest.mark.parametrize("end", ["", "\n"])
def test_a_line_of_exactly_the_cap_is_shown_whole(ask: Handler, end: str) -> None:
    ask.make(FILE, "x" * 16_000 + end)
    assert ask("view", path=FILE) == content_of(FILE, f"     1\t{'x' * 16_000}")


@pytest.mark.spec("VIEW-20", "VIEW-22")
def test_a_long_line_among_others_says_how_to_go_on(ask: Handler) -> None:
    ask.make(FILE, f"a\n{'x' * 20_000}\nb\n")
    assert ask("view", path=FILE) == content_of(
        FILE,
        "     1\ta",
        "",
        "[Truncated: lines 1-1 of 3 shown. Continue with view_range [2, 3].]",
    )
    assert ask("view", path=FILE, view_range=[2, 3]) == content_of(
        FILE,
        f"     2\t{'x' * 16_000}",
        "",
        "[Line 2 truncated: 16000 of 20000 characters shown.]",
        "[Truncated: lines 2-2 of 3 shown. Continue with view_range [3, 3].]",
    )
    assert ask("view", path=FILE, view_range=[2, 2]) == content_of(
        FILE,
        f"     2\t{'x' * 16_000}",
        "",
        "[Line 2 truncated: 16000 of 20000 characters shown.]",
    )


@pytest.mark.spec("VIEW-20", "VIEW-22")
def test_a_line_of_exactly_the_cap_among_others_is_shown_whole(ask: Handler) -> None:
    ask.make(FILE, f"{'x' * 16_000}\nb\n")
    assert ask("view", path=FILE) == content_of(
        FILE,
        f"     1\t{'x' * 16_000}",
        "",
        "[Truncated: lines 1-1 of 2 shown. Continue with view_range [2, 2].]",
    )


@pytest.mark.spec("VIEW-24")
@pytest.mark.parametrize(
    "content",
    [b"\xff", b"a\xc3", b"ok\n\xed\xa0\x80\n", b"\xc0\xae", b"\xfe\xff\0a", b"a\n\xf4\x90\x80\x80"],
    ids=repr,
)
@pytest.mark.parametrize("padding", [0, 15_000])
@pytest.mark.fault("BAD-09")
def test_bytes_that_are_no_text_are_not_shown(ask: Handler, content: bytes, padding: int) -> None:
    ask.put(FILE, b"x\n" * (padding // 2) + content + b"\n" * padding)
    assert ask("view", path=FILE) == failed(
        f"Error: The file {FILE} is not UTF-8 text and cannot be shown."
    )


@pytest.mark.spec("VIEW-25")
def test_only_the_bytes_that_are_shown_have_to_be_text(ask: Handler) -> None:
    ask.put(FILE, b"a\n\xff\nc\xc3\xa9\n")
    assert ask("view", path=FILE, view_range=[1, 1]) == content_of(FILE, "     1\ta")
    assert ask("view", path=FILE, view_range=[3, 3]) == content_of(FILE, "     3\tc\u00e9")
    assert ask("view", path=FILE, view_range=[1, 2]) == failed(
        f"Error: The file {FILE} is not UTF-8 text and cannot be shown."
    )
    ask.put(FILE, b"123456789\n" * 1600 + b"\xff")
    assert ask("view", path=FILE) == content_of(
        FILE,
        *numbered(1, ["123456789"] * 1600),
        "",
        "[Truncated: lines 1-1600 of 1601 shown. Continue with view_range [1601, 1601].]",
    )
    ask.put(FILE, b"x" * 16_000 + b"\xff")
    assert ask("view", path=FILE) == content_of(
        FILE,
        f"     1\t{'x' * 16_000}",
        "",
        "[Line 1 truncated: 16000 of 16001 characters shown.]",
    )


@pytest.mark.spec("VIEW-26", "INPUT-18")
@pytest.mark.parametrize("path", [FILE, "/memories/d/none", "/memories/a/b"])
def test_a_missing_path_is_said_to_be_missing(ask: Handler, path: str) -> None:
    ask.make("/memories/a", "a file")
    ask.make("/memories/d/x", "")
    text = f"The path {path} does not exist. Please provide a valid path."
    assert ask("view", path=path) == failed(text)
    assert ask("view", path=path, view_range=[1, 2]) == failed(text)
