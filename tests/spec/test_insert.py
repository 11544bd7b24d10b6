"""The command insert."""

from __future__ import annotations

import pytest

from tests.spec.handler import Handler, done, failed

FILE = "/memories/n.txt"


@pytest.mark.spec("INSERT-01", "INSERT-02")
@pytest.mark.parametrize(
    ("line", "new"),
    [(0, b"x\na\nb\nc\n"), (1, b"a\nx\nb\nc\n"), (2, b"a\nb\nx\nc\n"), (3, b"a\nb\nc\nx\n")],
)
def test_the_text_goes_after_the_line(ask: Handler, line: int, new: bytes) -> None:
    ask.make(FILE, "a\nb\nc\n")
    assert ask("insert", path=FILE, insert_line=line, insert_text="x\n") == done(
        f"The file {FILE} has been edited."
    )
    assert ask.kept(FILE) == new


CASES = [
    # the final LF of the text is optional
    ("a\nb\n", 1, "x", "a\nx\nb\n", "INSERT-03"),
    ("a\nb\n", 1, "x\ny\n", "a\nx\ny\nb\n", "INSERT-03"),
    ("a\nb\n", 1, "x\ny", "a\nx\ny\nb\n", "INSERT-03"),
    # further ones are blank lines
    ("a\nb\n", 1, "x\n\n", "a\nx\n\nb\n", "INSERT-04"),
    ("a\nb\n", 1, "\n", "a\n\nb\n", "INSERT-04"),
    ("a\nb\n", 1, "\n\n", "a\n\n\nb\n", "INSERT-04"),
    ("a\nb\n", 1, "\nx", "a\n\nx\nb\n", "INSERT-04"),
    ("a\nb\n", 2, "x\n\n", "a\nb\nx\n\n", "INSERT-04"),
    # an empty text is a blank line
    ("a\nb\n", 1, "", "a\n\nb\n", "INSERT-05"),
    ("a\nb\n", 0, "", "\na\nb\n", "INSERT-05"),
    ("a\nb\n", 2, "", "a\nb\n\n", "INSERT-05"),
    ("a\nb", 2, "", "a\nb\n\n", "INSERT-05"),
    ("", 0, "", "\n", "INSERT-05"),
    # nothing is glued together
    ("a\nb", 2, "x\n", "a\nb\nx\n", "INSERT-06"),
    ("a\nb", 2, "x", "a\nb\nx", "INSERT-06"),
    ("a", 1, "\nx", "a\n\nx", "INSERT-06"),
    # in the middle the end stays
    ("a\nb", 0, "x\n", "x\na\nb", "INSERT-07"),
    ("a\nb", 1, "x", "a\nx\nb", "INSERT-07"),
    ("a\nb\n", 0, "x", "x\na\nb\n", "INSERT-07"),
    ("a", 0, "", "\na", "INSERT-07"),
    # at the end the file ends as the text does, or as before
    ("a\nb", 2, "x\ny\n", "a\nb\nx\ny\n", "INSERT-08"),
    ("", 0, "x\n", "x\n", "INSERT-08"),
    ("", 0, "\n", "\n", "INSERT-08"),
    ("a\nb\n", 2, "x\n", "a\nb\nx\n", "INSERT-08"),
    ("a\nb\n", 2, "x", "a\nb\nx\n", "INSERT-09"),
    ("a\nb", 2, "x\ny", "a\nb\nx\ny", "INSERT-09"),
    ("", 0, "x", "x", "INSERT-09"),
    ("\n", 1, "x", "\nx\n", "INSERT-09"),
]


@pytest.mark.spec(
    "INSERT-03", "INSERT-04", "INSERT-05", "INSERT-06", "INSERT-07", "INSERT-08", "INSERT-09"
)
@pytest.mark.parametrize(("old", "line", "text", "new", "requirement"), CASES)
def test_no_line_is_glued_and_the_end_stays_what_it_was(
    ask: Handler, old: str, line: int, text: str, new: str, requirement: str
) -> None:
    ask.make(FILE, old)
    assert ask("insert", path=FILE, insert_line=line, insert_text=text) == done(
        f"The file {FILE} has been edited."
    )
    assert ask.kept(FILE) == new.encode(), requirement


@pytest.mark.spec("INSERT-02")
@pytest.mark.parametrize("line", [0, 1, 700, 701, 65_535, 65_536, 99_999, 100_000])
def test_every_line_of_a_long_file_is_found(ask: Handler, line: int) -> None:
    lines = [f"line {number}" for number in range(1, 100_001)]
    ask.make(FILE, "\n".join(lines) + "\n")
    assert not ask("insert", path=FILE, insert_line=line, insert_text="new").is_error
    assert ask.kept(FILE).decode().split("\n") == [*lines[:line], "new", *lines[line:], ""]


@pytest.mark.spec("INSERT-10")
@pytest.mark.parametrize("path", ["/memories/none", "/memories/n.txt/below", "/memories/x/y"])
@pytest.mark.parametrize("line", [0, -1])
def test_a_missing_file_is_said_to_be_missing(ask: Handler, path: str, line: int) -> None:
    ask.make(FILE, "a")
    assert ask("insert", path=path, insert_line=line, insert_text="x") == failed(
        f"Error: The path {path} does not exist"
    )


@pytest.mark.spec("INSERT-11")
def test_a_directory_counts_as_a_missing_file(ask: Handler) -> None:
    ask.make("/memories/d/x", "a")
    for path, said in (
        ("/memories/d", "/memories/d"),
        ("/memories", "/memories"),
        ("/memories/", "/memories"),
    ):
        assert ask("insert", path=path, insert_line=0, insert_text="x") == failed(
            f"Error: The path {said} does not exist"
        )


@pytest.mark.spec("INSERT-12")
@pytest.mark.parametrize(
    ("text", "n_lines"), [("", 0), ("a", 1), ("a\n", 1), ("a\nb", 2), ("a\nb\n", 2), ("\n\n\n", 3)]
)
@pytest.mark.parametrize("line", [-1, -(10**18), "past", 10**18])
def test_a_line_out_of_range_is_refused(
    ask: Handler, text: str, n_lines: int, line: int | str
) -> None:
    ask.make(FILE, text)
    given = n_lines + 1 if line == "past" else line
    assert ask("insert", path=FILE, insert_line=given, insert_text="x") == failed(
        f"Error: Invalid `insert_line` parameter: {given}. "
        f"It should be within the range of lines of the file: [0, {n_lines}]"
    )
    assert ask.kept(FILE) == text.encode()


@pytest.mark.spec("INSERT-13")
@pytest.mark.parametrize("line", [0, 1, 99])
def test_bytes_that_are_no_text_are_not_edited(ask: Handler, line: int) -> None:
    ask.put(FILE, b"a\nb\xff")
    assert ask("insert", path=FILE, insert_line=line, insert_text="x") == failed(
        f"Error: The file {FILE} is not UTF-8 text and cannot be edited."
    )
    assert ask.kept(FILE) == b"a\nb\xff"
