"""What models send that is no command, tried through an adapter and compared with the memory."""

from __future__ import annotations

import json
from typing import Any

from memoranda.memory import Memory
from memoranda.testing.conformance.malformed import COMPLETE, FILE, NO_COMMANDS

NOT_FOR_ANY_FIELD: tuple[Any, ...] = (None, True, [], {}, -1.5, "\ud800")
WRONG_FIELDS: list[dict[str, Any]] = [
    {"command": command, **fields, name: value}
    for command, fields in COMPLETE.items()
    for name in fields
    for value in NOT_FOR_ANY_FIELD
]
EXTRA_FIELDS: list[dict[str, Any]] = [
    {"command": "view", "path": "/memories", "why": "because", "self": 1, "input": {}},
    {"command": "view", "path": "/memories", "view_range": None, "file_text": None},
    {"command": "view", "path": "/memories/../etc/passwd"},
    {"command": "view", "path": "/memories/../../etc/passwd", "path ": "/"},
    {"command": "str_replace", "path": "/memories/n.txt", "old_str": "b", "new_str": None},
]
OBJECTS: list[dict[str, Any]] = [
    *(raw for raw in NO_COMMANDS if type(raw) is dict and 5 not in raw),
    *WRONG_FIELDS,
    *EXTRA_FIELDS,
]
"""Objects as a model may send them in JSON."""

NO_JSON = ["", "{", "[]", "null", "7", '"view"', "{'command': 'view'}", "[" * 100_000, "\ud800"]
"""Texts that hold no JSON object."""


def as_the_memory_answers(inputs: list[Any]) -> list[tuple[Any, bool]]:
    """The answers of a memory of its own to these inputs, one after the other."""
    with Memory.open("memory:") as memory:
        memory.write(FILE, "a\nb\n")
        return [(result.content, result.is_error) for result in map(memory.execute, inputs)]


def through_json(raw: dict[str, Any]) -> dict[str, Any]:
    """An input as it arrives over JSON."""
    decoded: dict[str, Any] = json.loads(json.dumps(raw))
    return decoded
