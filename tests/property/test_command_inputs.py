"""Any input at all is a command or a refusal, and what was said is what is done."""

from __future__ import annotations

import dataclasses

from hypothesis import given
from hypothesis import strategies as st

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
from memoranda.errors import Refused
from memoranda.path import MemoryPath

COMMANDS = ["view", "create", "str_replace", "insert", "delete", "rename"]

FIELDS = [
    "path",
    "old_path",
    "new_path",
    "file_text",
    "old_str",
    "new_str",
    "insert_line",
    "insert_text",
    "view_range",
]

scalars = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.integers(min_value=10**300, max_value=10**330),
    st.floats(),
    st.text(st.characters()),
    st.binary(),
    st.sampled_from(["/memories", "/memories/a.md", "/memories/a/", "3", "-1", "[1, 2]", "\ud800"]),
)

values = st.recursive(
    scalars,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.tuples(inner, inner),
        st.dictionaries(st.text(st.characters()), inner, max_size=3),
    ),
    max_leaves=6,
)


def with_command(command: object, fields: dict[str, object]) -> dict[str, object]:
    return {"command": command, **fields}


inputs = st.builds(
    with_command,
    st.one_of(st.sampled_from(COMMANDS), values),
    st.dictionaries(st.one_of(st.sampled_from(FIELDS), st.text(st.characters())), values),
)

texts = st.text(st.characters(exclude_categories=["Cs"]))


def check(parsed: Command) -> None:
    """What later layers rely on, whatever came in."""
    for name in (field.name for field in dataclasses.fields(parsed)):
        value = getattr(parsed, name)
        if name.endswith("path"):
            assert type(value) is MemoryPath
        elif name == "view_range":
            assert value is None or [type(number) for number in value] == [int, int]
            str(value)
        elif name == "insert_line":
            assert type(value) is int
            str(value)
        else:
            assert type(value) is str
            value.encode()


@given(st.one_of(values, inputs))
def test_any_input_is_a_command_or_a_refusal(raw: object) -> None:
    parsed = parse(raw)
    if isinstance(parsed, RefusedInput):
        assert isinstance(parsed.error, Refused)
        assert parsed.name == "" or parsed.name in COMMANDS
        str(parsed.error)
    else:
        check(parsed)


@given(st.sampled_from(COMMANDS), values, values, values)
def test_a_command_with_odd_fields_is_a_command_or_a_refusal(
    command: str, path: object, text: object, number: object
) -> None:
    raw = {
        "command": command,
        "path": path,
        "old_path": path,
        "new_path": path,
        "file_text": text,
        "old_str": text,
        "new_str": text,
        "insert_text": text,
        "insert_line": number,
        "view_range": number,
    }
    parsed = parse(raw)
    if isinstance(parsed, RefusedInput):
        assert parsed.name == command
    else:
        assert parsed.name == command
        check(parsed)


@given(texts, texts, st.integers(-(10**18), 10**18), st.sampled_from([int, float, str]))
def test_what_was_said_is_what_is_done(one: str, two: str, number: int, form: type) -> None:
    if form is float:
        number = int(float(number))
    if form is str and abs(number) >= 10**18:
        number //= 10
    line = form(number)
    path = MemoryPath.of(("a.md",))
    a = {"path": "/memories/a.md"}
    assert parse({"command": "create", **a, "file_text": one}) == Create(path, one)
    assert parse({"command": "str_replace", **a, "old_str": one, "new_str": two}) == StrReplace(
        path, one, two
    )
    assert parse({"command": "insert", **a, "insert_line": line, "insert_text": one}) == Insert(
        path, number, one
    )
    assert parse({"command": "view", **a, "view_range": [line, -1]}) == View(path, (number, -1))
    assert parse({"command": "delete", **a}) == Delete(path)
    assert parse({"command": "rename", "old_path": "/memories/b", "new_path": a["path"]}) == Rename(
        MemoryPath.of(("b",)), path
    )
