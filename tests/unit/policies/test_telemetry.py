"""Spans and metrics of commands: by the conventions, and without anything that is remembered."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import pytest
from opentelemetry import metrics, trace
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import StatusCode

from memoranda import Limits, Memory, Misuse, Policy
from memoranda.command import Command, RefusedInput, View
from memoranda.drive import run_now
from memoranda.path import ROOT
from memoranda.policies import telemetry
from memoranda.policies.telemetry import Observe
from memoranda.reply import ToolResult
from memoranda.stores.base import Context
from tests.stand_ins import fresh_store

SECRET = "Zx81-never-in-a-span"
COMMON = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "memory"}


class Collected:
    """What went to the exporters."""

    def __init__(self) -> None:
        self.spans = InMemorySpanExporter()
        self.reader = InMemoryMetricReader()

    def points(self, name: str) -> list[tuple[dict[str, Any], int]]:
        """Attributes of each series of a histogram, and how many measurements it has."""
        data = self.reader.get_metrics_data()
        assert data is not None
        return [
            (dict(point.attributes or {}), point.count)  # type: ignore[union-attr] # pyright: ignore[reportAttributeAccessIssue, reportUnknownMemberType]
            for resource in data.resource_metrics
            for scope in resource.scope_metrics
            for metric in scope.metrics
            if metric.name == name
            for point in metric.data.data_points
        ]

    def finished(self) -> list[ReadableSpan]:
        return list(self.spans.get_finished_spans())


@pytest.fixture
def collected(monkeypatch: pytest.MonkeyPatch) -> Iterator[Collected]:
    """Exporters in memory; of this test only, since a process has its providers once."""
    found = Collected()
    tracers = TracerProvider()
    tracers.add_span_processor(SimpleSpanProcessor(found.spans))
    meters = MeterProvider([found.reader])
    monkeypatch.setattr(trace, "get_tracer", tracers.get_tracer)
    monkeypatch.setattr(metrics, "get_meter", meters.get_meter)
    yield found
    tracers.shutdown()
    meters.shutdown()


def observed(**more: Any) -> Memory:
    return Memory.of_store(fresh_store(), policy=Policy(telemetry=True, **more))


def test_a_command_is_a_span_of_a_tool(collected: Collected) -> None:
    said = observed().execute(
        {"command": "create", "path": "/memories/a.md", "file_text": "x"}, trace_id="toolu_1"
    )
    (span,) = collected.finished()
    assert span.name == "execute_tool memory"
    assert dict(span.attributes or {}) == {
        **COMMON,
        "gen_ai.tool.type": "function",
        "gen_ai.tool.call.id": "toolu_1",
        "memoranda.command": "create",
        "memoranda.command.result.size": len(said.content),
    }
    assert span.status.status_code is StatusCode.UNSET
    attributes = {**COMMON, "memoranda.command": "create"}
    assert collected.points(telemetry.DURATION) == [(attributes, 1)]
    assert collected.points(telemetry.RESULT_SIZE) == [(attributes, 1)]


@pytest.mark.parametrize(
    ("given", "command", "kind"),
    [
        ({"command": "view", "path": f"/memories/{SECRET}"}, "view", "not_found"),
        ({"command": "view", "path": f"/{SECRET}"}, "view", "bad_path"),
        ({"command": SECRET}, "invalid", "unknown_command"),
        (SECRET, "invalid", None),
    ],
)
def test_a_refused_command_has_its_code_and_nothing_of_what_was_sent(
    collected: Collected, given: object, command: str, kind: str | None
) -> None:
    observed().execute(given, trace_id="toolu_1")
    (span,) = collected.finished()
    attributes = dict(span.attributes or {})
    assert attributes["memoranda.command"] == command
    assert attributes["error.type"] == (kind or attributes["error.type"])
    assert (span.status.status_code, span.status.description) == (StatusCode.ERROR, None)
    assert collected.points(telemetry.DURATION)[0][0]["error.type"] == attributes["error.type"]
    assert SECRET not in span.to_json()


def test_nothing_that_is_remembered_and_nobody_is_named(collected: Collected) -> None:
    policy = Policy(telemetry=True)
    with Memory.open("memory:", f"user-{SECRET}", policy=policy, actor=SECRET) as memory:
        path = f"/memories/{SECRET}.md"
        for command in (
            {"command": "create", "path": path, "file_text": SECRET},
            {"command": "view", "path": path},
            {"command": "str_replace", "path": path, "old_str": SECRET, "new_str": "x"},
            {"command": "rename", "old_path": path, "new_path": f"{path}.old"},
            {"command": "delete", "path": f"{path}.old"},
        ):
            assert not memory.execute(command).is_error
    assert len(collected.finished()) == 5
    assert not any(SECRET in span.to_json() for span in collected.finished())
    data = collected.reader.get_metrics_data()
    assert data is not None
    assert SECRET not in data.to_json()


def test_a_picture_counts_the_characters_beside_it(collected: Collected) -> None:
    async def shown(command: Command | RefusedInput, context: Context) -> ToolResult:
        return ToolResult([{"type": "text", "text": "1234"}, {"type": "image"}])

    run_now(Observe(shown)(View(ROOT), Context()))
    (span,) = collected.finished()
    assert (span.attributes or {})["memoranda.command.result.size"] == 4


def test_a_bug_is_a_failed_span_without_its_text(collected: Collected) -> None:
    async def buggy(command: Command | RefusedInput, context: Context) -> ToolResult:
        raise RuntimeError(SECRET)

    with pytest.raises(RuntimeError):
        run_now(Observe(buggy)(View(ROOT), Context()))
    (span,) = collected.finished()
    assert ((span.attributes or {})["error.type"], span.events) == ("failed", ())
    assert SECRET not in span.to_json()


def test_the_span_is_current_while_the_command_runs(collected: Collected) -> None:
    seen: list[int] = []

    async def inside(command: Command | RefusedInput, context: Context) -> ToolResult:
        seen.append(trace.get_current_span().get_span_context().span_id)
        return ToolResult("x")

    run_now(Observe(inside)(View(ROOT), Context()))
    (span,) = collected.finished()
    assert seen == [span.get_span_context().span_id]  # type: ignore[union-attr] # pyright: ignore[reportOptionalMemberAccess]


def test_what_is_over_the_rate_is_measured_too(collected: Collected) -> None:
    memory = observed(limits=Limits(commands_per_minute=1))
    for _ in range(2):
        memory.execute({"command": "view", "path": "/memories"})
    kinds = [(span.attributes or {}).get("error.type") for span in collected.finished()]
    assert kinds == [None, "too_many_commands"]


def test_without_it_nothing_of_it_is_loaded() -> None:
    code = (
        "import sys, json; from memoranda import Memory; m = Memory.open('memory:');"
        "m.execute({'command': 'view', 'path': '/memories'});"
        "print(json.dumps([n for n in sys.modules if n.startswith('opentelemetry')]))"
    )
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True)
    assert json.loads(said.stdout) == []


def test_where_it_is_not_installed_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "opentelemetry", None)
    with pytest.raises(Misuse, match=r"memoranda\[telemetry\]"):
        observed().write("/memories/a", "x")


def test_it_is_on_or_off() -> None:
    with pytest.raises(Misuse, match="telemetry is 1"):
        Policy(telemetry=1)  # type: ignore[arg-type] # pyright: ignore[reportArgumentType]
