"""Whatever a program passes to a method: an answer or one of our errors, and no change if refused."""

from __future__ import annotations

import asyncio
import inspect
import math
import sys
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memoranda import AsyncMemory, Memory, Policy
from memoranda.errors import MemorandaError, Misuse
from memoranda.path import ROOT, parse_path
from memoranda.stores.base import VersionFilter
from memoranda.stores.ram import RamBackend
from tests.property.test_memory_inputs import PATHS, fill

NEVER = {"close", "execute", "tool_result", "open", "of_store"}
METHODS = sorted(
    name
    for name, _ in inspect.getmembers(Memory, inspect.isfunction)
    if not name.startswith("_") and name not in NEVER
)
ODD: list[Any] = [
    None, True, False, 0, 1, -1, 3, 2**31, 2**63, 2**70, -(2**70), 1.5, math.nan, math.inf,
    "", "x", "\0", "\ud800", "a\nb", "x" * 5000, '"', "mem_01", "memver_01" + "0" * 24,
    b"", b"x", [], ["x"], {}, {"a": 1}, (), object(), Ellipsis, int, sys.maxsize, Path("folder"),
    datetime(2020, 1, 1), datetime(2020, 1, 1, tzinfo=UTC),  # noqa: DTZ001 - without a zone on purpose
    datetime.max.replace(tzinfo=timezone(-timedelta(hours=23))),
    datetime.min.replace(tzinfo=timezone(timedelta(hours=23))),
    ROOT, parse_path("/memories/a"),
]  # fmt: skip


class Fickle(str):
    """A text that is none."""

    __slots__ = ()

    def encode(self, encoding: str = "", errors: str = "") -> bytes:
        raise ZeroDivisionError


class Quarrelsome:
    """Says no to everything that it is asked."""

    def __eq__(self, other: object) -> bool:
        raise ZeroDivisionError

    __hash__ = None  # type: ignore[assignment] # pyright: ignore[reportAssignmentType]

    def __bool__(self) -> bool:
        raise ZeroDivisionError


odd = st.one_of(
    st.sampled_from([*ODD, *PATHS]),
    st.builds(Fickle, st.sampled_from(["x", "/memories/a"])),
    st.builds(Quarrelsome),
    st.integers(),
    st.floats(),
    st.binary(max_size=9),
)
filters = st.builds(VersionFilter, odd, odd, odd, odd, odd, odd)


def known_ids(memory: Memory) -> dict[str, list[Any]]:
    """What a program would pass, by parameter: so that the rest of the call is reached."""
    versions = [one.id for one in memory.history()]
    paths = ["/memories/a", "/memories/d", "/memories", "/memories/new"]
    return {
        "path": paths,
        "prefix": paths,
        "source": paths,
        "target": [*paths, "/memories/d/new"],
        "content": ["new", b"new", "one\ntwo\n"],
        "version_id": versions,
        "a": versions,
        "b": [*versions, None],
        "to": [*versions, datetime.now(UTC)],
        "at": [*versions, None],
        "where": [VersionFilter(), VersionFilter(operation="created")],
        "text": ["one", '"one'],
        "layout": ["auto", "plain"],
        "confirm": ["default"],
        "proposal_id": ["prop_" + "0" * 28],
        "versions": [memory.history()],
    }


def is_safe(value: object) -> bool:
    """Whether a value names no place of the host outside of the test's folder."""
    return not isinstance(value, str) or not value.startswith("/")


odd_folders = odd.filter(is_safe)


def picture(memory: Memory) -> object:
    """All that a refusal leaves as it is: it only adds to the audit."""
    return memory.list(), memory.history(limit=None), memory.usage()[:3]


@st.composite
def call(draw: st.DrawFn) -> tuple[str, dict[str, Any], dict[str, Any]]:
    """A method, odd values for some of its parameters, and a choice for the others."""
    name = draw(st.sampled_from(METHODS))
    signature = inspect.signature(getattr(Memory, name))
    parameters = [key for key in signature.parameters if key != "self"]
    wrong = draw(st.sets(st.sampled_from(parameters))) if parameters else set[str]()
    special = {"where": filters | odd, "directory": odd_folders}
    values = {key: draw(special.get(key, odd)) for key in sorted(wrong)}
    chosen = {
        key: draw(st.integers(0, 9))
        for key in parameters
        if key not in wrong
        and (signature.parameters[key].default is inspect.Parameter.empty or draw(st.booleans()))
    }
    return name, values, chosen


def arguments(memory: Memory, values: dict[str, Any], chosen: dict[str, Any]) -> dict[str, Any]:
    """The odd values, and good ones for the rest."""
    good = known_ids(memory)
    found = {key: good[key][index % len(good[key])] for key, index in chosen.items() if key in good}
    if "directory" in chosen:
        found["directory"] = "folder"
    return {**found, **values}


@pytest.fixture
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Relative paths lead nowhere else."""
    monkeypatch.chdir(tmp_path)


@pytest.mark.usefixtures("elsewhere")
@settings(
    max_examples=400,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(call())
def test_a_method_answers_or_raises_one_of_our_errors_and_then_nothing_changed(
    made: tuple[str, dict[str, Any], dict[str, Any]],
) -> None:
    name, values, chosen = made
    with Memory.open("memory:") as memory:
        fill(memory)
        before = picture(memory)
        keywords = arguments(memory, values, chosen)
        try:
            getattr(memory, name)(**keywords)
        except MemorandaError as error:
            str(error).encode()
            assert picture(memory) == before
        assert memory.verify().ok


WRONG: list[tuple[str, dict[str, Any]]] = [
    ("version", {"version_id": None}),
    ("version", {"version_id": 3}),
    ("page", {"limit": "3"}),
    ("page", {"limit": -1}),
    ("page", {"limit": True}),
    ("page", {"after": 3}),
    ("page", {"depth": 2}),
    ("page", {"at": 3}),
    ("list", {"prefix": 3}),
    ("list", {"depth": True}),
    ("search", {"text": b"x"}),
    ("search", {"text": "x", "limit": None}),
    ("history", {"limit": 1.5}),
    ("versions", {"where": None}),
    ("versions", {"where": VersionFilter(from_ns="x")}),  # type: ignore[arg-type] # pyright: ignore[reportArgumentType]
    ("versions", {"where": VersionFilter(path="/memories/a")}),  # type: ignore[arg-type] # pyright: ignore[reportArgumentType]
    ("versions", {"where": VersionFilter(operation="made")}),  # type: ignore[arg-type] # pyright: ignore[reportArgumentType]
    ("write", {"path": "/memories/a", "content": None}),
    ("write", {"path": "/memories/a", "content": "x", "if_version": 3}),
    ("write", {"path": "/memories/a", "content": "x", "if_sha256": b"x"}),
    ("write", {"path": "/memories/a", "content": "x", "if_absent": "no"}),
    ("move", {"source": "/memories/a", "target": None}),
    ("remove", {"path": "/memories/a", "if_version": 3}),
    ("diff", {"a": None}),
    ("diff", {"a": "x", "b": 3}),
    ("diff", {"a": "x", "context_lines": -1}),
    ("restore", {"to": None}),
    ("redact", {"version_id": None}),
    ("export", {"directory": None}),
    ("export", {"directory": b"x"}),
    ("export", {"directory": "a\0b"}),
    ("export", {"directory": "folder", "replace": 1}),
    ("export", {"directory": "folder", "progress": 3}),
    ("import_", {"directory": None}),
    ("import_", {"directory": "folder", "layout": "other"}),
    ("import_", {"directory": "folder", "dry_run": "no"}),
    ("erase", {"confirm": None}),
    ("audit", {"after": "x"}),
    ("verify_audit", {"anchors": None}),
    ("verify_audit", {"anchors": [3]}),
]  # fmt: skip


@pytest.mark.usefixtures("elsewhere")
@pytest.mark.parametrize(("name", "keywords"), WRONG)
def test_a_wrong_argument_is_a_misuse_of_both_facades(name: str, keywords: dict[str, Any]) -> None:
    with Memory.open("memory:") as memory, pytest.raises(Misuse):
        getattr(memory, name)(**keywords)

    async def ask() -> None:
        async with AsyncMemory.open("memory:") as other:
            with pytest.raises(Misuse):
                await getattr(other, name)(**keywords)

    asyncio.run(ask())


@pytest.mark.parametrize("limit", [2**31, 2**63, 2**70])
def test_a_limit_beyond_all_numbers_means_all(limit: int) -> None:
    with Memory.open("memory:") as memory:
        fill(memory)
        assert len(memory.page(limit=limit).entries) == 3
        assert len(memory.versions(limit=limit).versions) == 3
        assert len(memory.history(limit=limit)) == 3
        assert len(memory.search("one", limit=limit)) == 1


OPENINGS: list[dict[str, Any]] = [
    {"url": value} for value in (None, 3, b"x", "", "a\0b", "\ud800", "sqlite:///a\0b", Path("x"))
] + [
    {"url": "memory:", key: value}
    for key in ("user", "workspace", "store_id", "policy", "actor")
    for value in (3, b"x", "", "\ud800", "a\0b", object(), True, "x" * 500)
]  # fmt: skip


@pytest.mark.usefixtures("elsewhere")
@pytest.mark.parametrize("keywords", OPENINGS)
@pytest.mark.parametrize("facade", [Memory, AsyncMemory])
def test_a_wrong_opening_is_a_misuse_before_anything_is_touched(
    keywords: dict[str, Any], facade: Any
) -> None:
    with pytest.raises(Misuse):
        facade.open(**keywords)
    assert list(Path().iterdir()) == []


@pytest.mark.parametrize("store", [None, 3, "memory:", RamBackend()])
@pytest.mark.parametrize("facade", [Memory, AsyncMemory])
def test_what_is_no_store_is_a_misuse(store: Any, facade: Any) -> None:
    with pytest.raises(Misuse):
        facade.of_store(store)


@pytest.mark.parametrize("trace_id", [3, b"x", "\ud800", "x" * 5000, object(), Quarrelsome()])
def test_no_trace_id_keeps_a_command_from_being_done_or_refused(trace_id: Any) -> None:
    command = {"command": "create", "path": "/memories/a", "file_text": "x"}
    with Memory.open("memory:", policy=Policy()) as memory:
        if isinstance(trace_id, str):
            assert not memory.execute(command, trace_id=trace_id).is_error
        else:
            with pytest.raises(Misuse):
                memory.execute(command, trace_id=trace_id)
            assert memory.usage().files == 0
