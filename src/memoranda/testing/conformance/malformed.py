"""Inputs that are no commands: each is an error, raises nothing, changes nothing."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from memoranda.testing.conformance.trial import Grounds

FILE: Final = "/memories/n.txt"

COMPLETE: Final[dict[str, dict[str, Any]]] = {
    "view": {"path": FILE},
    "create": {"path": "/memories/new.txt", "file_text": "x"},
    "str_replace": {"path": FILE, "old_str": "a", "new_str": "b"},
    "insert": {"path": FILE, "insert_line": 0, "insert_text": "x"},
    "delete": {"path": FILE},
    "rename": {"old_path": FILE, "new_path": "/memories/new.txt"},
}
"""Each command with fields that make it work."""

NOT_FOR_ANY_FIELD: Final[tuple[Any, ...]] = (
    5,
    -1.5,
    float("nan"),
    float("inf"),
    10**400,
    True,
    [],
    ["/memories/n.txt"],
    {},
    {"path": FILE},
    "\ud800",
)
"""Values that no text field may hold."""

NOT_A_LINE: Final[tuple[Any, ...]] = (
    None,
    True,
    1.5,
    float("nan"),
    float("inf"),
    -(10**400),
    10**400,
    "one",
    "",
    "0x1",
    "1_0",
    "\u0661",
    [],
    {},
)
"""Values that no line number may have."""

NO_COMMANDS: Final[tuple[Any, ...]] = (
    None,
    [],
    "view",
    5,
    True,
    [["command", "view"]],
    {},
    {"command": None},
    {"command": 5},
    {"command": ["view"]},
    {"command": {"view": 1}},
    {"command": "VIEW", "path": FILE},
    {"command": "view "},
    {"command": "__class__", "path": FILE},
    {"command": "execute", "path": FILE},
    {"command": "clear_all_memory"},
    {"command": "x" * 100_000},
    {"command": "\ud800"},
    {5: "view"},
)
"""Inputs that name none of the six commands."""


def run_malformed(grounds: Grounds) -> None:
    """Send everything that is no command to one handler, which has to stay as it is."""
    with grounds.trial("an input that is no command") as ground:
        findings = ground.findings
        ground.create(FILE, "a\nb\n")
        before = ground.tree()
        inputs = [(raw, "INPUT-18") for raw in NO_COMMANDS]
        inputs += [(raw, "INPUT-06") for raw in _wrong_fields()]
        for raw, because in inputs:
            answer = ground.send(raw)
            findings.note(because, raw, "an error", answer, answer.is_error)
            after = ground.tree()
            if not findings.note("INPUT-07", raw, "nothing to change", after, after == before):
                before = after
        nothing_left = ground.view(FILE)
        findings.note(
            "INPUT-07", "view", "the file", nothing_left, "     1\ta" in nothing_left.text
        )


def _wrong_fields() -> Iterator[dict[str, Any]]:
    for command, fields in COMPLETE.items():
        for name in fields:
            values = NOT_A_LINE if name == "insert_line" else NOT_FOR_ANY_FIELD
            for value in values:
                yield {"command": command, **fields, name: value}
