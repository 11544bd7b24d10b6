"""The list of requirements and the tests agree: nothing untested, nothing unknown."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

from tests.spec.requirements import REQUIREMENTS

TESTS = Path(__file__).parents[1]


def marks(tree: ast.AST) -> Iterator[str]:
    """The arguments of every ``pytest.mark.spec(...)``."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "pytest.mark.spec":
            for argument in node.args:
                assert isinstance(argument, ast.Constant)
                assert isinstance(argument.value, str)
                yield argument.value


def marked() -> dict[str, list[str]]:
    """Which test files show which requirement."""
    found: dict[str, list[str]] = {}
    for path in sorted(TESTS.rglob("test_*.py")):
        for requirement in marks(ast.parse(path.read_text())):
            found.setdefault(requirement, []).append(path.name)
    return found


def test_every_requirement_has_a_test() -> None:
    shown = marked()
    assert [f"{one.id}: {one.text}" for one in REQUIREMENTS if one.id not in shown] == []


def test_every_mark_names_a_requirement() -> None:
    known = {one.id for one in REQUIREMENTS}
    assert {name: files for name, files in marked().items() if name not in known} == {}


def test_no_id_is_given_twice() -> None:
    ids = [one.id for one in REQUIREMENTS]
    assert len(ids) == len(set(ids))
