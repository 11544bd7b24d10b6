"""Lists of what has to be, and the tests that name what they show: how the two are held together.

A list has a marker of its own (``pytest.mark.<marker>("ID", ...)``, known to ``pyproject.toml``).
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

TESTS = Path(__file__).parent


def marks(tree: ast.AST, marker: str) -> Iterator[str]:
    """The arguments of every ``pytest.mark.<marker>(...)``."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and ast.unparse(node.func) == f"pytest.mark.{marker}":
            for argument in node.args:
                assert isinstance(argument, ast.Constant)
                assert isinstance(argument.value, str)
                yield argument.value


def marked(marker: str) -> dict[str, list[str]]:
    """Which test files show which entry of a list."""
    found: dict[str, list[str]] = {}
    for path in sorted(TESTS.rglob("test_*.py")):
        text = path.read_text()
        if f"mark.{marker}" in text:
            for entry in marks(ast.parse(text), marker):
                found.setdefault(entry, []).append(path.name)
    return found
