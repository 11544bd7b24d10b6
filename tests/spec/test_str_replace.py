"""The command str_replace."""

from __future__ import annotations

import pytest

from memoranda.reply import ToolResult
from tests.spec.handler import Handler, Settings, done, failed

FILE = "/memories/n.txt"


def replaced(*lines: str) -> ToolResult:
    return done(
        "The memory file has been edited. "
        "Here is the snippet showing the change (with line numbers):\n" + "\n".join(lines)
    )


def replace(ask: Handler, old_str: str, new_str: str) -> ToolResult:
    return ask("str_replace", path=FILE, old_str=old_str, new_str=new_str)


@pytest.mark.spec("REPLACE-01", "REPLACE-02")
@pytest.mark.parametrize("end", ["", "\n"])
def test_a_replacement_shows_two_lines_on_either_side(ask: Handler, end: str) -> None:
    ask.make(FILE, "1\n2\n3\n4\n5\n6\n7" + end)
    assert replace(ask, "4", "four") == replaced(
        "     2\t2", "     3\t3", "     4\tfour", "     5\t5", "     6\t6"
    )
    assert replace(ask, "1", "one") == replaced("     1\tone", "     2\t2", "     3\t3")
    assert replace(ask, "2", "two") == replaced(
        "     1\tone", "     2\ttwo", "     3\t3", "     4\tfour"
    )
    assert replace(ask, "7", "seven") == replaced("     5\t5", "     6\t6", "     7\tseven")
    assert ask.kept(FILE) == f"one\ntwo\n3\nfour\n5\n6\nseven{end}".encode()


@pytest.mark.spec("REPLACE-02")
@pytest.mark.parametrize(
    ("old", "old_str", "new_str", "lines"),
    [
        ("a\nb\nc\nd\n", "b\nc", "x\ny\nz", ["1\ta", "2\tx", "3\ty", "4\tz", "5\td"]),
        ("a\nb\nc\nd\n", "b\n", "B\n", ["1\ta", "2\tB", "3\tc", "4\td"]),
        ("a\nb\nc\nd\n", "b\n", "", ["1\ta", "2\tc", "3\td"]),
        ("a\nb\nc\nd\n", "a\nb\n", "", ["1\tc", "2\td"]),
        ("a\nb\nc\nd\n", "b\nc\n", "b", ["1\ta", "2\tbd"]),
        ("a\nb\nc\n", "c\n", "", ["1\ta", "2\tb"]),
        ("a\nb\nc", "c", "", ["1\ta", "2\tb"]),
        ("a\nb\nc", "\nc", "", ["1\ta", "2\tb"]),
        ("a\nb c\nd\n", "b", "x\n", ["1\ta", "2\tx", "3\t c", "4\td"]),
        ("abc", "b", "", ["1\tac"]),
        ("abc", "abc", "", ["1\t"]),
        ("a\n", "a\n", "", ["1\t"]),
        ("a\n", "a", "", ["1\t"]),
        ("\n\n\n\nx\n", "x", "y", ["3\t", "4\t", "5\ty"]),
        ("x\n\n\n\n", "x", "y", ["1\ty", "2\t", "3\t"]),
    ],
)
def test_the_snippet_holds_the_changed_lines(
    ask: Handler, old: str, old_str: str, new_str: str, lines: list[str]
) -> None:
    ask.make(FILE, old)
    assert replace(ask, old_str, new_str) == replaced(*(f"     {line}" for line in lines))
    assert ask.kept(FILE) == old.replace(old_str, new_str).encode()


@pytest.mark.spec("REPLACE-02")
def test_the_snippet_of_a_crlf_file_counts_its_lines(ask: Handler) -> None:
    ask.make(FILE, "a\r\nb\r\nc\r\n")
    assert replace(ask, "b", "x\ny") == replaced(
        "     1\ta\r", "     2\tx\r", "     3\ty\r", "     4\tc\r"
    )


@pytest.mark.spec("REPLACE-03")
def test_changed_lines_over_the_cap_are_cut_like_a_view(ask_with: Settings) -> None:
    ask = ask_with(view_chars=6)
    ask.make(FILE, "a\nb\nc\nd\n")
    assert replace(ask, "b\nc", "1\n2\n3\n4\n5") == replaced(
        "     2\t1",
        "     3\t2",
        "     4\t3",
        "",
        "[Truncated: lines 2-4 of 7 shown. Continue with view_range [5, 7].]",
    )


@pytest.mark.spec("REPLACE-03")
@pytest.mark.parametrize(
    ("new_str", "total"), [("x" * 9, 13), ("x\u00e9" * 8, 20), ("x" * 11 + "\nb", 13)]
)
def test_a_changed_line_over_the_cap_shows_its_beginning(
    ask_with: Settings, new_str: str, total: int
) -> None:
    ask = ask_with(view_chars=10)
    ask.make(FILE, "before\n\u00e9-OLD-\u00e9\nbehind\n")
    line = f"\u00e9-{new_str}-\u00e9".split("\n")[0]
    assert len(line) == total
    notes = [f"[Line 2 truncated: 10 of {total} characters shown.]"]
    if "\n" in new_str:
        notes.append("[Truncated: lines 2-2 of 4 shown. Continue with view_range [3, 4].]")
    assert replace(ask, "OLD", new_str) == replaced(f"     2\t{line[:10]}", "", *notes)


@pytest.mark.spec("REPLACE-03")
def test_the_default_cap_holds_for_the_snippet_too(ask: Handler) -> None:
    ask.make(FILE, "a\nb\nc\n")
    assert replace(ask, "b", "123456789\n" * 2000 + "b") == replaced(
        *(f"{number:6}\t123456789" for number in range(2, 1602)),
        "",
        "[Truncated: lines 2-1601 of 2003 shown. Continue with view_range [1602, 2003].]",
    )


@pytest.mark.spec("REPLACE-04")
def test_context_lines_are_cut_to_200_characters(ask: Handler) -> None:
    long, fits = "\u00e9" * 201, "\U0001f600" * 200
    ask.make(FILE, f"{long}\n{fits}\nold\n{fits}\n{long}")
    changed = "x" * 300
    assert replace(ask, "old", changed) == replaced(
        f"     1\t{long[:200]}",
        f"     2\t{fits}",
        f"     3\t{changed}",
        f"     4\t{fits}",
        f"     5\t{long[:200]}",
    )


@pytest.mark.spec("REPLACE-05")
@pytest.mark.parametrize(
    ("cap", "lines"),
    [
        (12, ["1\taa", "2\tb", "3\tX", "4\tc", "5\tdd"]),
        (11, ["1\taa", "2\tb", "3\tX", "4\tc"]),
        (9, ["1\taa", "2\tb", "3\tX", "4\tc"]),
        (8, ["2\tb", "3\tX", "4\tc"]),
        (6, ["2\tb", "3\tX", "4\tc"]),
        (5, ["2\tb", "3\tX"]),
        (4, ["2\tb", "3\tX"]),
        (3, ["3\tX"]),
        (2, ["3\tX"]),
        (1, ["3\tX"]),
    ],
)
def test_outer_context_lines_are_dropped_first(
    ask_with: Settings, cap: int, lines: list[str]
) -> None:
    ask = ask_with(view_chars=cap)
    ask.put(FILE, b"aa\nb\nold\nc\ndd\n")
    assert replace(ask, "old", "X") == replaced(*(f"     {line}" for line in lines))


@pytest.mark.spec("REPLACE-05")
def test_a_dropped_line_leaves_no_gap(ask_with: Settings) -> None:
    ask = ask_with(view_chars=8)
    ask.make(FILE, "a\nlong before\nold\nlong behind\nd\n")
    assert replace(ask, "old", "X") == replaced("     3\tX")


@pytest.mark.spec("REPLACE-06")
@pytest.mark.parametrize("fields", [{}, {"new_str": None}, {"new_str": ""}])
def test_a_left_out_new_str_deletes(ask: Handler, fields: dict[str, object]) -> None:
    ask.make(FILE, "keep this, drop that")
    answer = ask("str_replace", path=FILE, old_str=", drop that", **fields)
    assert answer == replaced("     1\tkeep this")
    assert ask.kept(FILE) == b"keep this"


@pytest.mark.spec("REPLACE-07")
@pytest.mark.parametrize("path", ["/memories/none", "/memories/n.txt/below", "/memories/x/y"])
@pytest.mark.parametrize("old_str", ["a", ""])
def test_a_missing_file_is_said_to_be_missing(ask: Handler, path: str, old_str: str) -> None:
    ask.make(FILE, "a")
    assert ask("str_replace", path=path, old_str=old_str, new_str="b") == failed(
        f"Error: The path {path} does not exist. Please provide a valid path."
    )


@pytest.mark.spec("REPLACE-08")
def test_a_directory_counts_as_a_missing_file(ask: Handler) -> None:
    ask.make("/memories/d/x", "a")
    for path in ("/memories/d", "/memories"):
        assert ask("str_replace", path=path, old_str="a", new_str="b") == failed(
            f"Error: The path {path} does not exist. Please provide a valid path."
        )
    assert ask("str_replace", path="/memories/", old_str="a", new_str="b") == failed(
        "Error: The path /memories does not exist. Please provide a valid path."
    )


@pytest.mark.spec("REPLACE-09")
@pytest.mark.parametrize("old_str", ["zzz", " ", "A", "a\nc", "a\\nb", "`", "b\n\n"])
def test_a_text_that_is_not_there_is_shown(ask: Handler, old_str: str) -> None:
    ask.make(FILE, "a\nb\nc\n")
    assert replace(ask, old_str, "y") == failed(
        f"No replacement was performed, old_str `{old_str}` did not appear verbatim in {FILE}."
    )
    assert ask.kept(FILE) == b"a\nb\nc\n"


@pytest.mark.spec("REPLACE-10", "REPLACE-12")
@pytest.mark.parametrize(
    ("text", "old_str", "lines"),
    [
        ("x and x", "x", "1"),
        ("x\ny\nx\nx x\n", "x", "1, 3, 4"),
        ("a\nb\nx\na\nb", "a\nb", "1, 4"),
        ("\n\n", "\n", "1, 2"),
        ("q\nx\n" * 12, "x", "2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24"),
    ],
)
def test_a_text_that_is_there_more_than_once_names_its_lines(
    ask: Handler, text: str, old_str: str, lines: str
) -> None:
    ask.make(FILE, text)
    assert replace(ask, old_str, "z") == failed(
        f"No replacement was performed. Multiple occurrences of old_str `{old_str}` "
        f"in lines: {lines}. Please ensure it is unique"
    )
    assert ask.kept(FILE) == text.encode()


@pytest.mark.spec("REPLACE-11", "REPLACE-12")
@pytest.mark.parametrize(
    ("text", "old_str", "lines"),
    [("aaa", "aa", "1"), ("b\na\nb\na\nb\n", "b\na\nb", "1, 3"), ("\n\n\n", "\n\n", "1, 2")],
)
def test_places_that_overlap_are_several(ask: Handler, text: str, old_str: str, lines: str) -> None:
    ask.make(FILE, text)
    assert replace(ask, old_str, "z") == failed(
        f"No replacement was performed. Multiple occurrences of old_str `{old_str}` "
        f"in lines: {lines}. Please ensure it is unique"
    )


@pytest.mark.spec("REPLACE-13")
@pytest.mark.parametrize("text", ["", "a"])
@pytest.mark.parametrize("new_str", ["", "b"])
def test_an_empty_old_str_is_refused(ask: Handler, text: str, new_str: str) -> None:
    ask.make(FILE, text)
    assert replace(ask, "", new_str) == failed(
        "No replacement was performed, old_str must not be empty."
    )
    assert ask.kept(FILE) == text.encode()


@pytest.mark.spec("REPLACE-14")
def test_equal_strings_succeed(ask: Handler) -> None:
    ask.make(FILE, "a\nb\nc")
    assert replace(ask, "b", "b") == replaced("     1\ta", "     2\tb", "     3\tc")
    assert ask.kept(FILE) == b"a\nb\nc"


@pytest.mark.spec("REPLACE-15")
def test_equal_strings_are_looked_for_first(ask: Handler) -> None:
    ask.make(FILE, "a\na\n")
    assert replace(ask, "b", "b") == failed(
        f"No replacement was performed, old_str `b` did not appear verbatim in {FILE}."
    )
    assert replace(ask, "a", "a") == failed(
        "No replacement was performed. Multiple occurrences of old_str `a` "
        "in lines: 1, 2. Please ensure it is unique"
    )


@pytest.mark.spec("REPLACE-16")
@pytest.mark.parametrize(
    ("text", "old_str", "new_str", "new"),
    [
        ("abc\na.c", "a.c", "hit", "abc\nhit"),
        ("x (y)* z", "(y)*", r"\1 $1 $& \g<0> %s {0}", r"x \1 $1 $& \g<0> %s {0} z"),
        ("a\tb", "\tb", "\tc    d", "a\tc    d"),
        ("a\\nb", "\\n", "\\t", "a\\tb"),
        ("^$[", "^$[", "]", "]"),
    ],
)
def test_both_strings_are_literal(
    ask: Handler, text: str, old_str: str, new_str: str, new: str
) -> None:
    ask.make(FILE, text)
    assert not replace(ask, old_str, new_str).is_error
    assert ask.kept(FILE) == new.encode()


@pytest.mark.spec("REPLACE-17")
@pytest.mark.parametrize("content", [b"a\xff", b"a" + b"b\n" * 99_999 + b"\xc3", b"\xff\xfea\0"])
@pytest.mark.parametrize("old_str", ["a", "not there", ""])
def test_bytes_that_are_no_text_are_not_edited(ask: Handler, content: bytes, old_str: str) -> None:
    ask.put(FILE, content)
    assert replace(ask, old_str, "x") == failed(
        f"Error: The file {FILE} is not UTF-8 text and cannot be edited."
    )
    assert ask.kept(FILE) == content


@pytest.mark.spec("REPLACE-11", "REPLACE-12")
def test_of_very_many_lines_the_first_thousand_are_named(ask: Handler) -> None:
    ask.make(FILE, "x\n" * 1000)
    lines = ", ".join(map(str, range(1, 1001)))
    beginning = (
        f"No replacement was performed. Multiple occurrences of old_str `x` in lines: {lines}"
    )
    assert replace(ask, "x", "z") == failed(f"{beginning}. Please ensure it is unique")
    ask.make("/memories/more.txt", "x\n" * 1001)
    assert ask("str_replace", path="/memories/more.txt", old_str="x", new_str="z") == failed(
        f"{beginning}, and more. Please ensure it is unique"
    )
