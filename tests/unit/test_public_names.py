"""What ``import memoranda`` gives, and what it costs."""

from __future__ import annotations

import inspect
import subprocess
import sys
from typing import Any

import pytest

import memoranda
from memoranda.async_memory import AsyncMemory
from memoranda.memory import Memory
from tests.house.repository import SOURCE


@pytest.mark.parametrize("name", memoranda.__all__)
def test_every_public_name_is_there(name: str) -> None:
    assert getattr(memoranda, name) is not None
    assert name in dir(memoranda)


def test_other_names_are_not() -> None:
    with pytest.raises(AttributeError, match="no attribute 'Nothing'"):
        assert memoranda.Nothing  # type: ignore[attr-defined] # pyright: ignore[reportAttributeAccessIssue, reportUnknownMemberType]


def test_importing_it_loads_nothing_of_it() -> None:
    code = (
        f"import sys; sys.path.insert(0, {str(SOURCE)!r}); import memoranda;"
        "print(*sorted(name for name in sys.modules if name.startswith('memoranda')))"
    )
    done = subprocess.run(
        [sys.executable, "-I", "-c", code], capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == ["memoranda"]


def test_the_errors_are_there_without_a_second_import() -> None:
    code = (
        f"import sys; sys.path.insert(0, {str(SOURCE)!r}); import memoranda;"
        "assert set(memoranda.__all__) <= set(dir(memoranda));"
        "assert issubclass(memoranda.errors.NotFound, memoranda.Refused)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def methods(facade: type) -> dict[str, Any]:
    return {
        name: member
        for name, member in vars(facade).items()
        if not name.startswith("_") and inspect.isfunction(member)
    }


def test_both_facades_have_the_same_methods_with_the_same_arguments() -> None:
    ours, theirs = methods(Memory), methods(AsyncMemory)
    assert list(ours) == list(theirs)
    for name, method in ours.items():
        assert inspect.signature(method) == inspect.signature(theirs[name]), name
        assert inspect.iscoroutinefunction(theirs[name]), name


@pytest.mark.parametrize("name", ["open", "of_store"])
def test_both_facades_are_made_alike(name: str) -> None:
    ours = dict(inspect.signature(getattr(Memory, name)).parameters)
    theirs = dict(inspect.signature(getattr(AsyncMemory, name)).parameters)
    assert theirs.pop("inline").default is False
    assert ours == theirs
