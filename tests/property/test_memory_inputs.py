"""Whatever a model sends: an answer, never an exception, and no change where it is refused."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from memoranda import Limits, Memory, Policy
from memoranda.reply import ToolResult
from tests.stand_ins import fresh_store

BELOW = ["", "/", "/a", "/d", "/d/b", "/d/", "/a/x", "/new", "/../etc/passwd", "/ü"]
PATHS = [*[f"/memories{rest}" for rest in BELOW], "/etc", ""]

text = st.one_of(
    st.sampled_from(["", "x", "\n", "one\n", "one", "two\r\n", "\ud800", "\x00", "a" * 300]),
    st.text(max_size=20),
)
number = st.one_of(
    st.integers(-3, 9), st.integers(), st.floats(), st.booleans(), st.sampled_from(["1", "-1", "x"])
)
json_like = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), text),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(text, inner, max_size=3)),
    max_leaves=8,
)
path = st.one_of(st.sampled_from(PATHS), text)
names = st.sampled_from(["view", "create", "str_replace", "insert", "delete", "rename"])
nearly_a_command = st.fixed_dictionaries(
    {"command": st.one_of(names, json_like)},
    optional={
        "path": st.one_of(path, json_like),
        "old_path": st.one_of(path, json_like),
        "new_path": st.one_of(path, json_like),
        "file_text": st.one_of(text, json_like),
        "old_str": st.one_of(text, json_like),
        "new_str": st.one_of(text, json_like),
        "insert_text": st.one_of(text, json_like),
        "insert_line": st.one_of(number, json_like),
        "view_range": st.one_of(st.lists(number, max_size=3), json_like),
    },
)
sent = st.one_of(nearly_a_command, nearly_a_command, json_like)


def filled(policy: Policy | None = None) -> Memory:
    memory = Memory.open("memory:", policy=policy)
    fill(memory)
    return memory


def fill(memory: Memory) -> None:
    for name, content in (("a", "one\ntwo\n"), ("d/b", b"\xff"), ("d/c", "x")):
        memory.write(f"/memories/{name}", content)


def picture(memory: Memory) -> object:
    """All that a command could change; the audit, which notes refusals, takes room in the history."""
    usage = memory.usage()
    return memory.list(), memory.history(limit=None), usage._replace(history_bytes=0)


def check(result: ToolResult) -> None:
    assert type(result.is_error) is bool
    assert result.content, "an answer says something"
    json.dumps(result.content).encode("ascii")
    str(result.content).encode()  # no lone surrogate comes back


@settings(max_examples=150, deadline=None)
@given(st.lists(sent, min_size=1, max_size=6))
def test_any_input_is_answered_and_changes_nothing_when_it_is_refused(inputs: list[Any]) -> None:
    with filled(Policy(limits=Limits(files=4, store_bytes=400, file_bytes=299))) as memory:
        for one in inputs:
            before = picture(memory)
            result = memory.execute(one)
            check(result)
            if result.is_error:
                assert picture(memory) == before
        assert memory.verify().ok


@settings(max_examples=50, deadline=None)
@given(sent)
def test_a_read_only_memory_never_changes(given_input: Any) -> None:
    store = fresh_store()
    writer = Memory.of_store(store)
    fill(writer)
    before = picture(writer)
    check(Memory.of_store(store, policy=Policy(read_only=True)).execute(given_input))
    assert picture(writer) == before


@settings(max_examples=50, deadline=None)
@given(st.fixed_dictionaries({"id": text.filter(bool)}, optional={"input": sent}))
def test_any_block_with_an_id_is_answered_under_it(block: dict[str, Any]) -> None:
    with filled() as memory:
        answer = memory.tool_result(block)
        assert answer["tool_use_id"] == block["id"]
        check(ToolResult(answer["content"], answer["is_error"]))
