"""What Claude may send, and how tolerantly it is read."""

from __future__ import annotations

import pytest

from tests.spec.handler import Handler, content_of, done, failed

FILE = "/memories/n.txt"


@pytest.mark.spec("INPUT-01")
def test_a_command_is_an_object_with_a_command_and_its_fields(ask: Handler) -> None:
    answer = ask.send({"command": "create", "path": FILE, "file_text": "x"})
    assert answer == done(f"File created successfully at: {FILE}")


@pytest.mark.spec("INPUT-02")
def test_unknown_fields_are_ignored(ask: Handler) -> None:
    answer = ask("create", path=FILE, file_text="x", encoding="latin-1", overwrite=True)
    assert answer == done(f"File created successfully at: {FILE}")
    assert ask.kept(FILE) == b"x"


@pytest.mark.spec("INPUT-03", "INPUT-18")
@pytest.mark.parametrize("command", ["undo_edit", "", "View", "view ", "str-replace"])
def test_an_unknown_command_is_named(ask: Handler, command: str) -> None:
    answer = ask(command, path=FILE)
    assert answer == failed(f"Error: unknown command {command}")


@pytest.mark.spec("INPUT-04")
def test_an_unknown_command_is_escaped_and_cut(ask: Handler) -> None:
    answer = ask("view\n\x1b[2J\u202e" + "x" * 10_000)
    shown = r"view\n\u001b[2J\u202e"
    assert answer == failed("Error: unknown command " + shown + "x" * (256 - len(shown)))


@pytest.mark.spec("INPUT-03", "INPUT-19")
@pytest.mark.parametrize("command", [5, True, 1.5, ["view"], {"view": 1}])
def test_a_command_that_is_no_string_is_an_unknown_one(ask: Handler, command: object) -> None:
    answer = ask.send({"command": command, "path": "/memories"})
    assert answer == failed("Error: unknown command (not a string)")


@pytest.mark.spec("INPUT-05", "INPUT-19")
@pytest.mark.parametrize("raw", [None, {}, [], "view", 5, {"path": "/memories"}, {"command": None}])
def test_an_input_without_a_command_is_told_the_commands(ask: Handler, raw: object) -> None:
    assert ask.send(raw) == failed(
        "Error: Missing required parameter `command`: "
        "one of view, create, str_replace, insert, delete, rename"
    )


REQUIRED: list[tuple[str, str, dict[str, object]]] = [
    ("view", "path", {}),
    ("create", "path", {"file_text": "x"}),
    ("create", "file_text", {"path": FILE}),
    ("str_replace", "path", {"old_str": "a", "new_str": "b"}),
    ("str_replace", "old_str", {"path": FILE, "new_str": "b"}),
    ("insert", "path", {"insert_line": 0, "insert_text": "x"}),
    ("insert", "insert_line", {"path": FILE, "insert_text": "x"}),
    ("insert", "insert_text", {"path": FILE, "insert_line": 0}),
    ("delete", "path", {}),
    ("rename", "old_path", {"new_path": "/memories/b"}),
    ("rename", "new_path", {"old_path": FILE}),
]


@pytest.mark.spec("INPUT-05", "INPUT-07")
@pytest.mark.parametrize(("command", "field", "others"), REQUIRED)
@pytest.mark.parametrize("null", [True, False])
@pytest.mark.fault("BAD-01")
def test_a_missing_field_is_named_and_nothing_changes(
    ask: Handler, command: str, field: str, others: dict[str, object], null: bool
) -> None:
    given = {**others, field: None} if null else others
    answer = ask(command, **given)
    assert answer == failed(f"Error: Missing required parameter `{field}` for command `{command}`")
    assert ask.listed() == []


WRONG: list[tuple[str, str, dict[str, object], str]] = [
    ("view", "path", {}, "a string"),
    ("view", "view_range", {"path": FILE}, "a list of two integers, [start, end]"),
    ("create", "path", {"file_text": "x"}, "a string"),
    ("create", "file_text", {"path": FILE}, "a string"),
    ("str_replace", "path", {"old_str": "a", "new_str": "b"}, "a string"),
    ("str_replace", "old_str", {"path": FILE, "new_str": "b"}, "a string"),
    ("str_replace", "new_str", {"path": FILE, "old_str": "a"}, "a string"),
    ("insert", "path", {"insert_line": 0, "insert_text": "x"}, "a string"),
    ("insert", "insert_line", {"path": FILE, "insert_text": "x"}, "an integer"),
    ("insert", "insert_text", {"path": FILE, "insert_line": 0}, "a string"),
    ("delete", "path", {}, "a string"),
    ("rename", "old_path", {"new_path": "/memories/b"}, "a string"),
    ("rename", "new_path", {"old_path": FILE}, "a string"),
]


@pytest.mark.spec("INPUT-06", "INPUT-07", "INPUT-10", "INPUT-19")
@pytest.mark.parametrize(("command", "field", "others", "wanted"), WRONG)
@pytest.mark.parametrize("value", [True, 1.5, {"a": 1}, [[]]])
@pytest.mark.fault("BAD-01")
def test_a_field_of_the_wrong_type_is_named_and_nothing_changes(
    ask: Handler, command: str, field: str, others: dict[str, object], wanted: str, value: object
) -> None:
    answer = ask(command, **others, **{field: value})
    assert answer == failed(
        f"Error: Invalid parameter `{field}` for command `{command}`: it has to be {wanted}"
    )
    assert ask.listed() == []


@pytest.mark.spec("INPUT-07")
def test_the_corrected_command_works(ask: Handler) -> None:
    assert ask("create", path=FILE).is_error
    assert ask("create", path=FILE, file_text="x") == done(f"File created successfully at: {FILE}")


@pytest.mark.spec("INPUT-08", "INPUT-09", "INPUT-11")
@pytest.mark.parametrize(
    "view_range", [[2, 3], [2.0, 3.0], ["2", "3"], "[2, 3]", '["2", 3.0]', (2, 3)]
)
def test_line_numbers_are_read_in_every_form(ask: Handler, view_range: object) -> None:
    ask.make(FILE, "a\nb\nc\nd\n")
    assert ask("view", path=FILE, view_range=view_range) == content_of(
        FILE, "     2\tb", "     3\tc"
    )


@pytest.mark.spec("INPUT-08", "INPUT-09")
@pytest.mark.parametrize("line", [1, 1.0, "1", "01", "0" * 17 + "1"])
def test_a_line_to_insert_after_is_read_in_every_form(ask: Handler, line: object) -> None:
    ask.make(FILE, "a\nb\n")
    assert ask("insert", path=FILE, insert_line=line, insert_text="x\n") == done(
        f"The file {FILE} has been edited."
    )
    assert ask.kept(FILE) == b"a\nx\nb\n"


@pytest.mark.spec("INPUT-06", "INPUT-09", "INPUT-10")
@pytest.mark.parametrize(
    "line", [True, False, 1.5, "1.0", "one", "", " 1", "0" * 18 + "1", "٣", float("nan"), [1]]
)
def test_what_is_no_line_number_is_refused(ask: Handler, line: object) -> None:
    ask.make(FILE, "a\nb\n")
    assert ask("insert", path=FILE, insert_line=line, insert_text="x\n") == failed(
        "Error: Invalid parameter `insert_line` for command `insert`: it has to be an integer"
    )
    assert ask.kept(FILE) == b"a\nb\n"


@pytest.mark.spec("INPUT-06", "INPUT-10", "INPUT-11")
@pytest.mark.parametrize(
    "view_range",
    [[2], [], [1, 2, 3], [True, 2], [1, None], "2", "1, 2", "[1, 2", "[[1, 2]]", 3, {"start": 1}],
)
def test_a_range_that_is_no_pair_is_refused(ask: Handler, view_range: object) -> None:
    ask.make(FILE, "a\nb\n")
    assert ask("view", path=FILE, view_range=view_range) == failed(
        "Error: Invalid parameter `view_range` for command `view`: "
        "it has to be a list of two integers, [start, end]"
    )


@pytest.mark.spec("INPUT-12")
def test_null_for_an_optional_field_counts_as_left_out(ask: Handler) -> None:
    ask.make(FILE, "keep, drop")
    assert ask("view", path=FILE, view_range=None) == content_of(FILE, "     1\tkeep, drop")
    assert not ask("str_replace", path=FILE, old_str=", drop", new_str=None).is_error
    assert ask.kept(FILE) == b"keep"


@pytest.mark.spec("INPUT-13")
def test_insert_takes_new_str_for_its_text(ask: Handler) -> None:
    ask.make(FILE, "a\n")
    assert not ask("insert", path=FILE, insert_line=1, new_str="b\n").is_error
    assert not ask("insert", path=FILE, insert_line=2, insert_text=None, new_str="c\n").is_error
    assert ask.kept(FILE) == b"a\nb\nc\n"


@pytest.mark.spec("INPUT-14")
def test_rename_takes_path_for_its_source(ask: Handler) -> None:
    ask.make(FILE, "a")
    assert ask("rename", path=FILE, new_path="/memories/b") == done(
        f"Successfully renamed {FILE} to /memories/b"
    )


@pytest.mark.spec("INPUT-15")
def test_the_proper_name_of_a_field_wins_over_the_tolerated_one(ask: Handler) -> None:
    ask.make(FILE, "a\n")
    assert not ask("insert", path=FILE, insert_line=1, insert_text="b\n", new_str="c\n").is_error
    assert ask.kept(FILE) == b"a\nb\n"
    ask.make("/memories/other", "o")
    assert not ask(
        "rename", old_path=FILE, path="/memories/other", new_path="/memories/new"
    ).is_error
    assert ask.listed() == ["/memories/new", "/memories/other"]


@pytest.mark.spec("INPUT-15")
def test_a_tolerated_name_is_no_escape_from_a_wrong_value(ask: Handler) -> None:
    ask.make(FILE, "a\n")
    assert ask("insert", path=FILE, insert_line=0, insert_text=5, new_str="c") == failed(
        "Error: Invalid parameter `insert_text` for command `insert`: it has to be a string"
    )


SURROGATE: list[tuple[str, str, dict[str, object]]] = [
    ("create", "file_text", {"path": "/memories/new"}),
    ("str_replace", "old_str", {"path": FILE, "new_str": "b"}),
    ("str_replace", "new_str", {"path": FILE, "old_str": "a"}),
    ("insert", "insert_text", {"path": FILE, "insert_line": 0}),
]


@pytest.mark.spec("INPUT-16")
@pytest.mark.parametrize(("command", "field", "others"), SURROGATE)
def test_an_unpaired_surrogate_is_refused_and_nothing_changes(
    ask: Handler, command: str, field: str, others: dict[str, object]
) -> None:
    ask.make(FILE, "a")
    answer = ask(command, **others, **{field: "a\ud800"})
    assert answer == failed(
        f"Error: Invalid parameter `{field}` for command `{command}`: "
        "it has to be text without unpaired surrogates"
    )
    assert ask.kept(FILE) == b"a"
    assert ask.listed() == [FILE]


@pytest.mark.spec("INPUT-17")
def test_a_nul_in_content_is_kept(ask: Handler) -> None:
    ask.make(FILE, "a\0b\n")
    assert ask("view", path=FILE) == content_of(FILE, "     1\ta\0b")
    assert not ask("str_replace", path=FILE, old_str="\0", new_str="\0\0").is_error
    assert not ask("insert", path=FILE, insert_line=1, insert_text="\0").is_error
    assert ask.kept(FILE) == b"a\0\0b\n\0\n"


NUMBERS = [10**400, -(10**400), float("inf"), float("-inf"), float("nan"), 2**63, -1, "9" * 18]


@pytest.mark.spec("INPUT-18", "INPUT-19")
@pytest.mark.parametrize("number", NUMBERS, ids=lambda number: str(number)[:9])
def test_no_number_makes_a_command_raise(ask: Handler, number: object) -> None:
    ask.make(FILE, "a\n")
    assert ask("insert", path=FILE, insert_line=number, insert_text="x").is_error
    ask("view", path=FILE, view_range=[number, number])
    ask("view", path=FILE, view_range=[1, number])
    ask("view", path=FILE, view_range=[number, -1])
    assert ask.kept(FILE) == b"a\n"


HOSTILE = ["\0", "\ud800", "\u202e", "../" * 99, "%00", "'; DROP TABLE x", "a" * 5000, "\n" * 300]


@pytest.mark.spec("INPUT-19", "INPUT-20")
@pytest.mark.parametrize("text", HOSTILE, ids=ascii)
@pytest.mark.parametrize("command", ["view", "create", "str_replace", "insert", "delete", "rename"])
def test_no_text_anywhere_makes_a_command_raise_or_tell(
    ask: Handler, command: str, text: str
) -> None:
    ask.make(FILE, "a\n")
    for fields in (
        {"path": text, "old_path": text, "new_path": text, "insert_line": 0},
        {"path": FILE, "new_path": text, "insert_line": 0},
        {"path": FILE, "new_path": "/memories/x", "insert_line": text, "view_range": text},
    ):
        answer = ask(command, **fields, file_text=text, old_str=text, new_str=text)
        said = str(answer.content)
        assert not any(
            word in said for word in ("Traceback", "Error(", "object at", "SQL ", "/tmp")
        )
