"""Every module, and every public name in it, says what it is."""

from __future__ import annotations

import ast
import importlib
import inspect
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from tests.house.repository import SOURCE, modules


def module_name(path: Path) -> str:
    parts = path.relative_to(SOURCE).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def importable() -> list[str]:
    """Every shipped module; ``__main__`` runs when it is imported."""
    names = [module_name(path) for path in modules()]
    return [name for name in names if not name.endswith("__main__")]


def public(module: ModuleType) -> Iterator[tuple[str, Any]]:
    """Public classes and functions made in ``module``, and the public members of the classes.

    A promise of the store suite is a test: its name is its sentence.
    """
    for name, thing in vars(module).items():
        made_here = getattr(thing, "__module__", None) == module.__name__
        if name.startswith("_") or not made_here:
            continue
        if inspect.isclass(thing):
            yield name, thing
            for member, raw in vars(thing).items():
                value = getattr(raw, "__func__", raw)  # class and static methods
                is_code = inspect.isfunction(value) or isinstance(value, property)
                if not member.startswith(("_", "promise_")) and is_code:
                    yield f"{name}.{member}", getattr(thing, member)
        elif inspect.isfunction(thing):
            yield name, thing


@pytest.mark.parametrize("path", modules(), ids=module_name)
def test_every_module_says_what_it_is(path: Path) -> None:
    assert ast.get_docstring(ast.parse(path.read_text()))


@pytest.mark.parametrize("name", importable())
def test_every_public_name_says_what_it_gives(name: str) -> None:
    # getdoc looks at the base classes too: a store need not repeat the contract's words.
    silent = [
        where
        for where, thing in public(importlib.import_module(name))
        if not inspect.getdoc(thing) or inspect.getdoc(thing) == inspect.getdoc(object)
    ]
    assert silent == []
