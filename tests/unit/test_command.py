"""How the input of a tool call becomes a command, and what an input that is none is told."""

from __future__ import annotations

from typing import Any

import pytest

from memoranda.command import (
    Command,
    Create,
    Delete,
    Insert,
    RefusedInput,
    Rename,
    StrReplace,
    View,
    parse,
)
from memoranda.errors import BadPath, MissingParameter, PathFault, UnknownCommand, WrongParameter
from memoranda.path import ROOT, parse_path

A = parse_path("/memories/a.md")
B = parse_path("/memories/b.md")

WHOLE: dict[str, dict[str, object]] = {
    "view": {"command": "view", "path": "/memories/a.md"},
    "create": {"command": "create", "path": "/memories/a.md", "file_text": "t"},
    "str_replace": {
        "command": "str_replace",
        "path": "/memories/a.md",
        "old_str": "o",
        "new_str": "n",
    },
    "insert": {
        "command": "insert",
        "path": "/memories/a.md",
        "insert_line": 2,
        "insert_text": "t",
    },
    "delete": {"command": "delete", "path": "/memories/a.md"},
    "rename": {
        "command": "rename",
        "old_path": "/memories/a.md",
        "new_path": "/memories/b.md",
    },
}

PARSED: dict[str, Command] = {
    "view": View(A),
    "create": Create(A, "t"),
    "str_replace": StrReplace(A, "o", "n"),
    "insert": Insert(A, 2, "t"),
    "delete": Delete(A),
    "rename": Rename(A, B),
}

REQUIRED = [
    ("view", "path"),
    ("create", "path"),
    ("create", "file_text"),
    ("str_replace", "path"),
    ("str_replace", "old_str"),
    ("insert", "path"),
    ("insert", "insert_line"),
    ("insert", "insert_text"),
    ("delete", "path"),
    ("rename", "old_path"),
    ("rename", "new_path"),
]

STRINGS = [*(pair for pair in REQUIRED if pair[1] != "insert_line"), ("str_replace", "new_str")]

PATHS = [pair for pair in REQUIRED if pair[1].endswith("path")]


def given(command: str, **changes: object) -> dict[str, object]:
    """The whole input of ``command`` with some fields changed."""
    return {**WHOLE[command], **changes}


def without(command: str, parameter: str) -> dict[str, object]:
    return {name: value for name, value in WHOLE[command].items() if name != parameter}


def refused(raw: object) -> RefusedInput:
    parsed = parse(raw)
    assert isinstance(parsed, RefusedInput)
    return parsed


def assert_missing(raw: object, command: str, parameter: str) -> None:
    parsed = refused(raw)
    assert type(parsed.error) is MissingParameter
    assert parsed.name == command
    assert (parsed.error.command, parsed.error.parameter) == (command, parameter)


def assert_wrong(raw: object, command: str, parameter: str, wanted: str) -> None:
    parsed = refused(raw)
    assert type(parsed.error) is WrongParameter
    assert parsed.name == command
    assert (parsed.error.command, parsed.error.parameter) == (command, parameter)
    assert parsed.error.wanted == wanted


# ---------------------------------------------------------------- well-formed inputs


@pytest.mark.parametrize("command", WHOLE)
def test_a_whole_input_is_its_command(command: str) -> None:
    assert parse(WHOLE[command]) == PARSED[command]
    assert PARSED[command].name == command


@pytest.mark.parametrize("command", WHOLE)
def test_extra_fields_are_ignored(command: str) -> None:
    extra = {"why": "\ud800", "view_type": [[["x"]]], "\udfff": 1, "": None}
    assert parse({**WHOLE[command], **extra}) == PARSED[command]


@pytest.mark.parametrize("command", WHOLE)
def test_the_input_is_left_as_it_was(command: str) -> None:
    raw = given(command)
    parse(raw)
    assert raw == WHOLE[command]


def test_a_replacement_left_out_deletes() -> None:
    assert parse(without("str_replace", "new_str")) == StrReplace(A, "o", "")
    assert parse(given("str_replace", new_str=None)) == StrReplace(A, "o", "")
    assert parse(given("str_replace", new_str="")) == StrReplace(A, "o", "")


def test_empty_texts_are_texts() -> None:
    assert parse(given("create", file_text="")) == Create(A, "")
    assert parse(given("str_replace", old_str="")) == StrReplace(A, "", "n")
    assert parse(given("insert", insert_text="")) == Insert(A, 2, "")


def test_texts_are_kept_as_they_are() -> None:
    text = "\ufeff a\r\n\te\u0301\x00\u2028\U0001f680 \n\n"
    assert parse(given("create", file_text=text)) == Create(A, text)


# ---------------------------------------------------------------- the command


@pytest.mark.parametrize("raw", [None, 5, "view", b"view", ["view"], (), {}, {"path": "/memories"}])
def test_an_input_without_a_command_misses_it(raw: object) -> None:
    assert_missing(raw, "", "command")


def test_a_command_that_is_null_is_missing() -> None:
    assert_missing({"command": None, "path": "/memories"}, "", "command")


@pytest.mark.parametrize(
    "command", ["", "undo_edit", "VIEW", "view ", "view\n", "\ud800", "x" * 999]
)
def test_an_unknown_command_is_told_as_it_came(command: str) -> None:
    parsed = refused({"command": command, "path": "/memories"})
    assert parsed.name == ""
    assert type(parsed.error) is UnknownCommand
    assert parsed.error.given == command


@pytest.mark.parametrize("command", [5, True, 1.5, ["view"], {"view": 1}, b"view"])
def test_a_command_that_is_no_string_is_unknown(command: object) -> None:
    parsed = refused({"command": command, "path": "/memories"})
    assert parsed.name == ""
    assert type(parsed.error) is UnknownCommand
    assert parsed.error.given is command


# ---------------------------------------------------------------- missing and wrong fields


@pytest.mark.parametrize(("command", "parameter"), REQUIRED)
def test_a_required_field_that_is_absent_or_null_is_missing(command: str, parameter: str) -> None:
    assert_missing(without(command, parameter), command, parameter)
    assert_missing(given(command, **{parameter: None}), command, parameter)


@pytest.mark.parametrize(("command", "parameter"), STRINGS)
@pytest.mark.parametrize("value", [5, 0, 1.5, True, False, [], ["x"], {}, {"a": 1}, b"x"])
def test_a_field_that_has_to_be_a_string_is_nothing_else(
    command: str, parameter: str, value: object
) -> None:
    assert_wrong(given(command, **{parameter: value}), command, parameter, "a string")


@pytest.mark.parametrize(("command", "parameter"), [pair for pair in STRINGS if pair not in PATHS])
@pytest.mark.parametrize("text", ["\ud800", "a\udfff", "\ud83d\ude00", "caf\u00e9 \udc80 x"])
def test_an_unpaired_surrogate_in_a_text_is_refused(
    command: str, parameter: str, text: str
) -> None:
    raw = given(command, **{parameter: text})
    assert_wrong(raw, command, parameter, "text without unpaired surrogates")
    error = refused(raw).error
    assert error.__suppress_context__, "the text must not hang on the error"


@pytest.mark.parametrize(("command", "parameter"), PATHS)
@pytest.mark.parametrize("path", ["/memories/\ud800", "/memories/../a", "/etc/passwd", ""])
def test_a_bad_path_is_refused_as_it_was_given(command: str, parameter: str, path: str) -> None:
    parsed = refused(given(command, **{parameter: path}))
    assert parsed.name == command
    assert type(parsed.error) is BadPath
    assert parsed.error.given == path


# ---------------------------------------------------------------- other names for a field


def test_insert_takes_new_str_where_insert_text_is_left_out() -> None:
    raw = without("insert", "insert_text")
    assert parse({**raw, "new_str": "x"}) == Insert(A, 2, "x")
    assert parse({**raw, "insert_text": None, "new_str": "x"}) == Insert(A, 2, "x")
    assert parse({**raw, "insert_text": "t", "new_str": "x"}) == Insert(A, 2, "t")
    assert parse({**raw, "insert_text": "", "new_str": "x"}) == Insert(A, 2, "")
    assert_missing({**raw, "new_str": None}, "insert", "insert_text")
    assert_wrong({**raw, "new_str": 5}, "insert", "insert_text", "a string")
    assert_wrong({**raw, "insert_text": 5, "new_str": "x"}, "insert", "insert_text", "a string")


def test_rename_takes_path_where_old_path_is_left_out() -> None:
    raw = without("rename", "old_path")
    assert parse({**raw, "path": "/memories/a.md"}) == Rename(A, B)
    assert parse({**raw, "old_path": None, "path": "/memories/a.md"}) == Rename(A, B)
    assert parse(given("rename", path="/memories/c.md")) == Rename(A, B)
    assert_missing({**raw, "path": None}, "rename", "old_path")
    assert_wrong({**raw, "path": 5}, "rename", "old_path", "a string")
    assert_wrong({**raw, "old_path": 5, "path": "/memories/a.md"}, "rename", "old_path", "a string")


def test_no_other_field_has_a_second_name() -> None:
    assert_missing({**without("create", "file_text"), "new_str": "x"}, "create", "file_text")
    assert_missing({**without("view", "path"), "old_path": "/memories"}, "view", "path")
    assert_missing({**without("rename", "new_path"), "path": "/memories/b"}, "rename", "new_path")


# ---------------------------------------------------------------- numbers


@pytest.mark.parametrize(
    ("line", "number"),
    [
        (0, 0),
        (7, 7),
        (-1, -1),
        (3.0, 3),
        (-1.0, -1),
        (-0.0, 0),
        (1e18, 10**18),
        ("0", 0),
        ("3", 3),
        ("007", 7),
        ("-1", -1),
        ("9" * 18, 10**18 - 1),
        ("-" + "9" * 18, 1 - 10**18),
        (2**1024 - 1, 2**1024 - 1),
        (1 - 2**1024, 1 - 2**1024),
        (1.7e308, int(1.7e308)),
    ],
)
def test_whole_numbers_are_read_in_the_forms_that_models_send(line: Any, number: int) -> None:
    parsed = parse(given("insert", insert_line=line))
    assert isinstance(parsed, Insert)
    assert type(parsed.insert_line) is int
    assert parsed.insert_line == number


@pytest.mark.parametrize(
    "line",
    [
        True,
        False,
        1.5,
        float("nan"),
        float("inf"),
        float("-inf"),
        "",
        " ",
        "x",
        "3.0",
        "1e3",
        "+3",
        " 3",
        "3 ",
        "3\n",
        "--1",
        "-",
        "0x3",
        "1_000",
        "\u0663",
        "\uff13",
        "\u00b2",
        "9" * 19,
        "0" * 19,
        "-" + "9" * 19,
        "\ud800",
        2**1024,
        -(2**1024),
        pytest.param(10**5000, id="too long to print"),
        3 + 0j,
        [],
        [3],
        {},
        b"3",
    ],
)
def test_what_is_no_whole_number_is_refused(line: object) -> None:
    assert_wrong(given("insert", insert_line=line), "insert", "insert_line", "an integer")


# ---------------------------------------------------------------- view_range


@pytest.mark.parametrize(
    ("lines", "pair"),
    [
        ([1, 5], (1, 5)),
        ((1, 5), (1, 5)),
        ([5, 1], (5, 1)),
        ([0, -1], (0, -1)),
        ([1, -2], (1, -2)),
        ([1.0, 5.0], (1, 5)),
        (["1", "-1"], (1, -1)),
        ([1, 10**300], (1, 10**300)),
        ("[1, 5]", (1, 5)),
        (" [1,-1]\n", (1, -1)),
        ('["1", 5.0]', (1, 5)),
        ("[1, 5e0]", (1, 5)),
        ("[1," + " " * 95 + "5]", (1, 5)),
    ],
)
def test_a_pair_of_lines_is_read_in_the_forms_that_models_send(
    lines: Any, pair: tuple[int, int]
) -> None:
    assert parse(given("view", view_range=lines)) == View(A, pair)


def test_a_range_that_is_null_is_left_out() -> None:
    assert parse(given("view", view_range=None)) == View(A, None)


@pytest.mark.parametrize(
    "lines",
    [
        [],
        [1],
        [1, 2, 3],
        [None, None],
        [1, None],
        [None, 1],
        [True, 5],
        [1, False],
        [1, 1.5],
        [1, "x"],
        ["x", 1],
        [[1, 2], 3],
        [1, float("nan")],
        [1, 2**1024],
        5,
        0,
        True,
        1.5,
        {},
        {"start": 1, "end": 2},
        {1, 2},
        b"[1, 2]",
        "",
        "1",
        "1,5",
        "1-5",
        "[1, 5",
        "(1, 5)",
        "[1]",
        "[1, 2, 3]",
        "[1, null]",
        "[true, 5]",
        "[1, 1.5]",
        "[1, NaN]",
        "[1, Infinity]",
        '"[1, 5]"',
        '{"start": 1, "end": 2}',
        "null",
        "[\ud800, 1]",
        "[1," + " " * 96 + "5]",
        "[" * 100_000,
        "[" * 100,
    ],
)
def test_what_is_no_pair_of_lines_is_refused(lines: object) -> None:
    wanted = "a list of two integers, [start, end]"
    assert_wrong(given("view", view_range=lines), "view", "view_range", wanted)


# ---------------------------------------------------------------- trailing slashes, the root


@pytest.mark.parametrize("command", ["create", "str_replace", "insert"])
def test_a_file_can_not_be_named_with_a_slash_at_its_end(command: str) -> None:
    parsed = refused(given(command, path="/memories/new/"))
    assert parsed.name == command
    assert type(parsed.error) is BadPath
    assert parsed.error.given == "/memories/new/"
    assert parsed.error.reason is PathFault.FILE_WITH_SLASH


@pytest.mark.parametrize("command", ["create", "str_replace", "insert"])
@pytest.mark.parametrize("path", ["/memories", "/memories/"])
def test_the_root_is_left_to_the_command(command: str, path: str) -> None:
    parsed = parse(given(command, path=path))
    assert isinstance(parsed, (Create, StrReplace, Insert))
    assert parsed.path == ROOT


def test_a_directory_may_be_named_with_a_slash_at_its_end() -> None:
    view = parse(given("view", path="/memories/d/"))
    assert isinstance(view, View)
    assert view.path.slash
    delete = parse(given("delete", path="/memories/d/"))
    assert isinstance(delete, Delete)
    assert delete.path.slash
    rename = parse(given("rename", old_path="/memories/d/", new_path="/memories/e/"))
    assert isinstance(rename, Rename)
    assert rename.old_path.slash
    assert rename.new_path.slash


def test_a_bad_path_with_a_slash_at_its_end_is_bad_before_all() -> None:
    error = refused(given("create", path="/memories/../")).error
    assert isinstance(error, BadPath)
    assert error.reason is None


# ---------------------------------------------------------------- hostile values


class LyingStr(str):
    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        raise RuntimeError

    def __hash__(self) -> int:
        return hash("view")

    def __str__(self) -> str:
        raise RuntimeError

    def isascii(self) -> bool:
        raise RuntimeError

    def encode(self, encoding: str = "utf-8", errors: str = "strict") -> bytes:
        raise RuntimeError


class LyingDict(dict[str, object]):
    def get(self, *_: object) -> Any:
        raise RuntimeError

    def __getitem__(self, key: str) -> object:
        raise RuntimeError

    def __iter__(self) -> Any:
        raise RuntimeError

    def keys(self) -> Any:
        raise RuntimeError

    def copy(self) -> Any:
        raise RuntimeError


def test_a_subclass_counts_for_what_it_holds() -> None:
    raw = LyingDict(
        command=LyingStr("create"), path=LyingStr("/memories/a.md"), file_text=LyingStr("\u00e9")
    )
    parsed = parse(raw)
    assert isinstance(parsed, Create)
    assert parsed.path == A
    assert type(parsed.file_text) is str
    assert parsed.file_text == "\u00e9"


def test_an_unknown_command_of_a_subclass_is_told_as_a_plain_string() -> None:
    error = refused({"command": LyingStr("undo")}).error
    assert isinstance(error, UnknownCommand)
    assert type(error.given) is str


def test_a_deeply_nested_input_is_read() -> None:
    deep: list[object] = []
    for _ in range(100_000):
        deep = [deep]
    assert parse(given("view", extra=deep)) == View(A)
    assert refused(given("view", path=deep)).name == "view"
    assert refused({"command": deep}).name == ""


def test_what_was_refused_before_stays_as_it_was_refused() -> None:
    refused = RefusedInput("view", MissingParameter("view", "path"))
    assert parse(refused) is refused
