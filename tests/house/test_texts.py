"""What Claude reads is written in reply.py and nowhere else."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from tests.house.repository import SOURCE, modules

# From each fixed text of the contract, a part that nothing else has a reason to say.
FRAGMENTS = (
    "Here're the files and directories",
    "excluding hidden items and node_modules",
    "Here's the content of",
    "with line numbers:",
    "exceeds maximum line limit",
    "Please provide a valid path",
    "Listing truncated:",
    "[Truncated: lines",
    "Continue with view_range",
    "Invalid `view_range` parameter",
    "is not UTF-8 text and cannot",
    "File created successfully at",
    "The memory file has been edited",
    "Here is the snippet showing the change",
    "No replacement was performed",
    "did not appear verbatim",
    "Please ensure it is unique",
    "has been edited.",
    "Invalid `insert_line` parameter",
    "Successfully deleted",
    "Successfully renamed",
    "directory itself",
    "Error: The destination",
    "unknown command",
    "Missing required parameter",
    "Split it or shorten it",
    "Delete or shorten files",
    "Merge or delete files",
    "Too many memory commands",
    "Saved for review",
    "already wait for review",
    "shows another memory and",
    "kept in different memories. Create",
    "The memory is unavailable right now",
)

REPLY = SOURCE / "memoranda" / "reply.py"
# The test kit holds a handler to the contract's texts, so it has to spell them out.
KIT = SOURCE / "memoranda" / "testing"


def strings(path: Path) -> list[str]:
    """The string constants of a module that are not docstrings."""
    tree = ast.parse(path.read_text())
    docstrings = {
        id(node.body[0].value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef)
        and node.body
        and isinstance(node.body[0], ast.Expr)
    }
    return [
        node.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant)
        and isinstance(node.value, str)
        and id(node) not in docstrings
    ]


def others() -> list[Path]:
    return [path for path in modules() if path != REPLY and not path.is_relative_to(KIT)]


@pytest.mark.parametrize("path", others(), ids=lambda path: str(path.relative_to(SOURCE)))
def test_no_other_module_holds_a_text_that_claude_reads(path: Path) -> None:
    said = [text for text in strings(path) if any(part in text for part in FRAGMENTS)]
    assert said == []


def test_each_fragment_is_a_part_of_some_text_in_reply() -> None:
    said = "\n".join(strings(REPLY))
    assert [part for part in FRAGMENTS if part not in said] == []
