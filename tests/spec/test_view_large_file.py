"""Views of files that are read in parts say what views of whole files say."""

from __future__ import annotations

import pytest

from tests.spec.handler import Handler, Settings, content_of, failed

FILE = "/memories/n.txt"
SMALL = "/memories/small.txt"
MEGABYTE = 1_000_000


def line(number: int) -> str:
    return f"line {number} \u00e9 " + "x" * (number % 97)


LINES = [line(number) for number in range(1, 60_001)]
LARGE = "".join(f"{one}\n" for one in LINES).encode()


@pytest.fixture
def large(ask: Handler) -> Handler:
    assert len(LARGE) > 3 * MEGABYTE
    ask.put(FILE, LARGE)
    return ask


@pytest.mark.spec("VIEW-08", "VIEW-09", "VIEW-11")
@pytest.mark.parametrize(
    ("start", "end", "first", "last"),
    [
        (1, 3, 1, 3),
        (0, 1, 1, 1),
        (30_000, 30_050, 30_000, 30_050),
        (59_990, -1, 59_990, 60_000),
        (59_999, 70_000, 59_999, 60_000),
        (60_000, 60_000, 60_000, 60_000),
    ],
)
def test_a_range_of_a_large_file_shows_its_lines(
    large: Handler, start: int, end: int, first: int, last: int
) -> None:
    expected = content_of(
        FILE, *(f"{number:6}\t{line(number)}" for number in range(first, last + 1))
    )
    assert large("view", path=FILE, view_range=[start, end]) == expected
    assert large("view", path=FILE, view_range=[start, end]) == expected


@pytest.mark.spec("VIEW-08")
def test_every_line_of_a_large_file_is_found(large: Handler) -> None:
    for number in range(1, 60_001, 313):
        assert large("view", path=FILE, view_range=[number, number]) == content_of(
            FILE, f"{number:6}\t{line(number)}"
        )


@pytest.mark.spec("VIEW-16", "VIEW-20", "VIEW-21")
@pytest.mark.parametrize("first", [1, 41_234])
def test_a_large_file_is_cut_like_any_other(large: Handler, first: int) -> None:
    shown: list[str] = []
    used = 0
    for one in LINES[first - 1 :]:
        used += len(one) + 1
        if used > 16_000:
            break
        shown.append(one)
    last = first + len(shown) - 1
    view_range = None if first == 1 else [first, -1]
    assert large("view", path=FILE, view_range=view_range) == content_of(
        FILE,
        *(f"{number:6}\t{one}" for number, one in enumerate(shown, first)),
        "",
        f"[Truncated: lines {first}-{last} of 60000 shown. "
        f"Continue with view_range [{last + 1}, 60000].]",
    )


@pytest.mark.spec("VIEW-12", "VIEW-13", "VIEW-14")
@pytest.mark.parametrize(("start", "end"), [(60_001, -1), (2, 1), (1, -2)])
def test_a_range_of_no_lines_of_a_large_file_is_refused(
    large: Handler, start: int, end: int
) -> None:
    refusal = failed(
        f"Error: Invalid `view_range` parameter: [{start}, {end}]. "
        "It should be within the range of lines of the file: [1, 60000]"
    )
    assert large("view", path=FILE, view_range=[start, end]) == refusal
    assert large("view", path=FILE, view_range=[start, end]) == refusal


@pytest.mark.spec("VIEW-22", "VIEW-23")
@pytest.mark.parametrize("letter", ["x", "\u00e9", "\u65e5", "\U0001f600"])
@pytest.mark.parametrize("before", ["", "first\n"])
@pytest.mark.parametrize("behind", ["", "\n", "\nlast"])
def test_an_endless_line_is_counted_and_shown_in_part(
    ask: Handler, letter: str, before: str, behind: str
) -> None:
    total = 1_200_000
    ask.put(FILE, f"{before}{letter * total}{behind}".encode())
    number = 2 if before else 1
    assert ask("view", path=FILE, view_range=[number, number]) == content_of(
        FILE,
        f"     {number}\t{letter * 16_000}",
        "",
        f"[Line {number} truncated: 16000 of {total} characters shown.]",
    )


@pytest.mark.spec("VIEW-24", "VIEW-25")
def test_only_the_shown_bytes_of_a_large_file_have_to_be_text(ask: Handler) -> None:
    ask.put(FILE, b"first\n" + b"\xff\n" * 500_000 + b"last\n")
    assert ask("view", path=FILE, view_range=[1, 1]) == content_of(FILE, "     1\tfirst")
    assert ask("view", path=FILE, view_range=[500_002, -1]) == content_of(FILE, "500002\tlast")
    assert ask("view", path=FILE, view_range=[1, 2]) == failed(
        f"Error: The file {FILE} is not UTF-8 text and cannot be shown."
    )


@pytest.mark.spec("VIEW-08")
def test_a_changed_large_file_is_seen_at_once(large: Handler) -> None:
    assert large("view", path=FILE, view_range=[2, 2]) == content_of(FILE, f"     2\t{line(2)}")
    assert not large("insert", path=FILE, insert_line=0, insert_text="new").is_error
    assert large("view", path=FILE, view_range=[1, 2]) == content_of(
        FILE, "     1\tnew", f"     2\t{line(1)}"
    )
    assert not large("rename", old_path=FILE, new_path=SMALL).is_error
    assert large("view", path=FILE, view_range=[1, 2]).is_error
    large.make(FILE, "small now\n")
    assert large("view", path=FILE) == content_of(FILE, "     1\tsmall now")


@pytest.mark.spec("VIEW-16", "VIEW-22")
@pytest.mark.parametrize("size_bytes", [262_143, 262_144, 262_145, 999_999, 1_000_000, 1_000_001])
@pytest.mark.parametrize("last", [b"", b"\n"])
def test_the_size_of_a_file_changes_nothing_about_its_lines(
    ask: Handler, size_bytes: int, last: bytes
) -> None:
    content = (b"123456789\n" * 100_001)[: size_bytes - 1] + (last or b"x")
    ask.put(FILE, content)
    lines = content.decode().removesuffix("\n").split("\n")
    n_lines = len(lines)
    assert ask("view", path=FILE, view_range=[n_lines - 1, n_lines]) == content_of(
        FILE, f"{n_lines - 1:6}\t{lines[-2]}", f"{n_lines:6}\t{lines[-1]}"
    )


@pytest.mark.spec("VIEW-18")
def test_a_cap_larger_than_the_file_shows_all_of_it(ask_with: Settings) -> None:
    ask = ask_with(view_chars=2**62)
    ask.put(FILE, LARGE)
    assert ask("view", path=FILE) == content_of(
        FILE, *(f"{number:6}\t{one}" for number, one in enumerate(LINES, 1))
    )
