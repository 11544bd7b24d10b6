"""Content is bytes that are kept; lines end at LF; the CRLF rule."""

from __future__ import annotations

import pytest

from tests.spec.handler import Handler, content_of, failed

FILE = "/memories/n.txt"

TEXTS = [
    "\ufeffbom first\n",
    "a\rb\nc\r",
    "a\r\nb\r\n",
    "a\r\nb\nc\r",
    "\ttabs\tand  blanks  \n \t\n",
    "\n\n\n",
    "no final newline",
    "U+2028\u2028 NEL\x85 VT\v FF\f FS\x1c",
    "\U0001f468\u200d\U0001f469 e\u0301 \u00e9",
]


@pytest.mark.spec("TEXT-01")
@pytest.mark.parametrize("text", TEXTS, ids=ascii)
def test_content_is_kept_byte_for_byte(ask: Handler, text: str) -> None:
    ask.make(FILE, text)
    assert ask.kept(FILE) == text.encode()


@pytest.mark.spec("TEXT-01")
@pytest.mark.parametrize("text", TEXTS, ids=ascii)
def test_an_edit_leaves_the_rest_as_it_is(ask: Handler, text: str) -> None:
    ask.make(FILE, f"{text}MARK{text}")
    assert not ask("str_replace", path=FILE, old_str="MARK", new_str="-").is_error
    assert ask.kept(FILE) == f"{text}-{text}".encode()


@pytest.mark.spec("TEXT-02")
def test_no_unicode_form_is_changed_or_taken_for_another(ask: Handler) -> None:
    ask.make(FILE, "e\u0301 \u00e9 \ufb01 \u212b")
    assert ask("view", path=FILE) == content_of(FILE, "     1\te\u0301 \u00e9 \ufb01 \u212b")
    assert not ask("str_replace", path=FILE, old_str="\u00e9", new_str="x").is_error
    assert ask.kept(FILE) == "e\u0301 x \ufb01 \u212b".encode()


@pytest.mark.spec("TEXT-03")
@pytest.mark.parametrize(
    "other", ["\f", "\v", "\x1c", "\x1d", "\x1e", "\x85", "\u2028", "\u2029", "\r"], ids=ascii
)
def test_only_lf_ends_a_line_in_every_command(ask: Handler, other: str) -> None:
    ask.make(FILE, f"a{other}b\nc\n")
    assert ask("view", path=FILE) == content_of(FILE, f"     1\ta{other}b", "     2\tc")
    assert ask("insert", path=FILE, insert_line=3, insert_text="x") == failed(
        "Error: Invalid `insert_line` parameter: 3. "
        "It should be within the range of lines of the file: [0, 2]"
    )
    assert not ask("insert", path=FILE, insert_line=1, insert_text=f"x{other}y").is_error
    assert ask.kept(FILE) == f"a{other}b\nx{other}y\nc\n".encode()
    assert ask("str_replace", path=FILE, old_str="c\n", new_str="C\n").content == (
        "The memory file has been edited. "
        "Here is the snippet showing the change (with line numbers):\n"
        f"     1\ta{other}b\n     2\tx{other}y\n     3\tC"
    )


@pytest.mark.spec("TEXT-04")
@pytest.mark.parametrize("text", ["a\nb", "a\nb\n"])
def test_a_final_lf_begins_no_line(ask: Handler, text: str) -> None:
    ask.make(FILE, text)
    assert ask("view", path=FILE) == content_of(FILE, "     1\ta", "     2\tb")
    assert ask("view", path=FILE, view_range=[3, 3]).is_error
    assert ask("insert", path=FILE, insert_line=3, insert_text="x").is_error


@pytest.mark.spec("TEXT-05")
def test_the_empty_text_has_no_line(ask: Handler) -> None:
    ask.make(FILE, "")
    assert ask("insert", path=FILE, insert_line=1, insert_text="x") == failed(
        "Error: Invalid `insert_line` parameter: 1. "
        "It should be within the range of lines of the file: [0, 0]"
    )


@pytest.mark.spec("TEXT-06")
@pytest.mark.parametrize(
    ("old", "line", "text", "new"),
    [
        ("a\r\nb\r\n", 0, "x\ny\n", "x\r\ny\r\na\r\nb\r\n"),
        ("a\r\nb\r\n", 1, "x", "a\r\nx\r\nb\r\n"),
        ("a\r\nb\r\n", 1, "x\r\n", "a\r\nx\r\nb\r\n"),
        ("a\r\nb\r\n", 2, "x\n\n", "a\r\nb\r\nx\r\n\r\n"),
        ("a\r\nb", 2, "x\n", "a\r\nb\r\nx\r\n"),
        ("a\r\nb", 2, "x", "a\r\nb\r\nx"),
        ("a\r\n", 1, "", "a\r\n\r\n"),
        ("\r\n", 0, "x\r\ny\nz", "x\r\ny\r\nz\r\n\r\n"),
        ("a\r\n", 1, "x\ry", "a\r\nx\ry\r\n"),
    ],
)
def test_a_crlf_file_keeps_crlf_when_text_is_inserted(
    ask: Handler, old: str, line: int, text: str, new: str
) -> None:
    ask.make(FILE, old)
    assert not ask("insert", path=FILE, insert_line=line, insert_text=text).is_error
    assert ask.kept(FILE) == new.encode()


@pytest.mark.spec("TEXT-07", "TEXT-08")
@pytest.mark.parametrize(
    ("old", "old_str", "new_str", "new"),
    [
        ("a\r\nb\r\n", "b", "x\ny", "a\r\nx\r\ny\r\n"),
        ("a\r\nb\r\n", "a\nb", "x", "x\r\n"),
        ("a\r\nb\r\n", "a\nb\n", "x\ny\nz\n", "x\r\ny\r\nz\r\n"),
        ("a\r\nb\r\n", "a\r\nb", "x\r\ny", "x\r\ny\r\n"),
        ("a\r\nb\r\n", "\nb", " and", "a and\r\n"),
        ("a\r\nb\r\n", "a\n", "", "b\r\n"),
        ("k\r\n\ta\r\n\tb\r\nz\r\n", "\ta\n\tb", "Z", "k\r\nZ\r\nz\r\n"),
        ("a\r\nb", "b", "x\n", "a\r\nx\r\n"),
    ],
)
def test_a_crlf_file_matches_lf_and_keeps_crlf_when_text_is_replaced(
    ask: Handler, old: str, old_str: str, new_str: str, new: str
) -> None:
    ask.make(FILE, old)
    assert not ask("str_replace", path=FILE, old_str=old_str, new_str=new_str).is_error
    assert ask.kept(FILE) == new.encode()


@pytest.mark.spec("TEXT-09")
@pytest.mark.parametrize(
    ("old", "old_str", "new_str", "new"),
    [
        ("a\r\nb\nc\r\n", "b", "x\ny", "a\r\nx\ny\nc\r\n"),
        ("a\nb\r\n", "a", "x\n", "x\n\nb\r\n"),
        ("\na\r\nb", "b", "x\ny", "\na\r\nx\ny"),
        ("a\nb\n", "a\n", "x\r\n", "x\r\nb\n"),
        ("a", "a", "x\ny", "x\ny"),
        ("a\rb", "a", "x\n", "x\n\rb"),
    ],
)
def test_any_other_file_takes_replaced_text_byte_for_byte(
    ask: Handler, old: str, old_str: str, new_str: str, new: str
) -> None:
    ask.make(FILE, old)
    assert not ask("str_replace", path=FILE, old_str=old_str, new_str=new_str).is_error
    assert ask.kept(FILE) == new.encode()


@pytest.mark.spec("TEXT-09")
def test_a_file_of_both_kinds_does_not_match_lf_for_crlf(ask: Handler) -> None:
    ask.make(FILE, "a\r\nb\nc\n")
    assert ask("str_replace", path=FILE, old_str="a\nb", new_str="x") == failed(
        f"No replacement was performed, old_str `a\nb` did not appear verbatim in {FILE}."
    )


@pytest.mark.spec("TEXT-09")
@pytest.mark.parametrize(
    ("old", "line", "text", "new"),
    [
        ("a\r\nb\n", 1, "x\n", "a\r\nx\nb\n"),
        ("a\nb\n", 1, "x\r\ny", "a\nx\r\ny\nb\n"),
        ("a\nb\n", 2, "x\r\n", "a\nb\nx\r\n"),
        ("a\r", 1, "x", "a\r\nx"),
        ("", 0, "x\r\n", "x\r\n"),
    ],
)
def test_any_other_file_takes_inserted_text_byte_for_byte(
    ask: Handler, old: str, line: int, text: str, new: str
) -> None:
    ask.make(FILE, old)
    assert not ask("insert", path=FILE, insert_line=line, insert_text=text).is_error
    assert ask.kept(FILE) == new.encode()
