"""Spans and metrics of commands, through the API of OpenTelemetry: a command layer.

By the conventions for generative AI: a command is the execution of the tool ``memory``. Nothing that
is remembered, no path, no user and no text of an answer is in them.
"""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter
from typing import TYPE_CHECKING, Final

from memoranda.command import Command, RefusedInput
from memoranda.errors import Misuse
from memoranda.policies.handler import Handler
from memoranda.reply import Failure, ToolResult

if TYPE_CHECKING:
    from memoranda.stores.base import Context

SCOPE: Final = "memoranda"
TOOL: Final = "memory"
SPAN: Final = f"execute_tool {TOOL}"
DURATION: Final = "memoranda.command.duration"
RESULT_SIZE: Final = "memoranda.command.result.size"

INVALID: Final = "invalid"
"""In place of a command's name: the input named none of the six."""

FAILED: Final = "failed"
"""The type of an error that nobody foresaw."""


class Observe:
    """A command layer: a span and two measurements a command, also of one that is refused.

    Attributes of both: ``gen_ai.operation.name``, ``gen_ai.tool.name``, ``memoranda.command`` and,
    where it failed, ``error.type`` (an error's code). Of spans also ``gen_ai.tool.type``,
    ``gen_ai.tool.call.id`` (the trace id) and the result's size in characters. Measured are
    ``memoranda.command.duration`` in seconds and ``memoranda.command.result.size`` in characters.

    Raises ``Misuse`` where the API of OpenTelemetry is not installed.
    """

    def __init__(self, inner: Handler, clock: Callable[[], float] = perf_counter) -> None:
        try:
            from opentelemetry import metrics, trace
        except ImportError as error:
            raise Misuse(
                "Policy: telemetry needs the extra: pip install 'memoranda[telemetry]'."
            ) from error
        self._inner = inner
        self._clock = clock
        self._tracer = trace.get_tracer(SCOPE)
        self._failed = trace.Status(trace.StatusCode.ERROR)
        meter = metrics.get_meter(SCOPE)
        self._duration = meter.create_histogram(
            DURATION, unit="s", description="How long commands of the memory tool take."
        )
        self._size = meter.create_histogram(
            RESULT_SIZE, unit="{character}", description="How large the answers are."
        )

    async def __call__(self, command: Command | RefusedInput, context: Context) -> ToolResult:
        attributes = {
            "gen_ai.operation.name": "execute_tool",
            "gen_ai.tool.name": TOOL,
            "memoranda.command": command.name or INVALID,
        }
        of_span = {**attributes, "gen_ai.tool.type": "function"}
        if context.trace_id is not None:
            of_span["gen_ai.tool.call.id"] = context.trace_id
        began = self._clock()
        # What is raised may hold anything, so the span keeps neither its text nor its stack.
        with self._tracer.start_as_current_span(
            SPAN, attributes=of_span, record_exception=False, set_status_on_exception=False
        ) as span:
            kind: str | None = FAILED
            try:
                result = await self._inner(command, context)
                kind = _error_type(result)
                size = _size(result)
                span.set_attribute(RESULT_SIZE, size)
                self._size.record(size, attributes)
                return result
            finally:
                if kind is not None:
                    attributes["error.type"] = kind
                    span.set_attribute("error.type", kind)
                    span.set_status(self._failed)
                self._duration.record(self._clock() - began, attributes)


def _error_type(result: ToolResult) -> str | None:
    if not result.is_error:
        return None
    error = result.error if isinstance(result, Failure) else None
    return FAILED if error is None else error.code


def _size(result: ToolResult) -> int:
    if isinstance(result.content, str):
        return len(result.content)
    return sum(len(str(block.get("text", ""))) for block in result.content)
