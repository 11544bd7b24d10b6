"""The whole contract, through the ``call`` of our tools as the SDK's runners use it."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from anthropic.lib.tools import ToolError

from memoranda.adapters.anthropic import AsyncMemoryTool, MemoryTool
from memoranda.policies.limits import Limits
from memoranda.policies.policy import Policy
from memoranda.testing.tool_suite import run_conformance

# Files of a million lines and pictures of 5 MB are tried.
UNLIMITED = Policy(limits=Limits(file_bytes=None, store_bytes=None))


class Handler:
    """``MemoryTool.call`` as a handler: what the SDK's runners make of it."""

    def __init__(self, url: str) -> None:
        self.tool = MemoryTool(url, policy=UNLIMITED)

    def __call__(self, raw: Any) -> tuple[Any, bool]:
        try:
            return self.tool.call(raw), False
        except ToolError as error:
            return error.content, True

    def plant(self, path: str, content: bytes) -> None:
        self.tool.memory.write(path, content)

    def close(self) -> None:
        self.tool.close()


class AsyncHandler:
    """``AsyncMemoryTool.call`` as a handler, each call on an event loop of its own."""

    def __init__(self, url: str) -> None:
        self.tool = AsyncMemoryTool(url, policy=UNLIMITED)

    def __call__(self, raw: Any) -> tuple[Any, bool]:
        try:
            return asyncio.run(self.tool.call(raw)), False
        except ToolError as error:
            return error.content, True

    def plant(self, path: str, content: bytes) -> None:
        asyncio.run(self.tool.memory.write(path, content))

    def close(self) -> None:
        asyncio.run(self.tool.close())


FOLDER, SQLITE, RAM = "{}", "sqlite:///{}/memory.db", "memory:"


@pytest.mark.parametrize(
    ("kind", "pattern"),
    [
        (Handler, RAM),
        (AsyncHandler, RAM),
        # A minute each, most of it durable writes.
        pytest.param(Handler, SQLITE, marks=pytest.mark.full),
        pytest.param(AsyncHandler, SQLITE, marks=pytest.mark.full),
        pytest.param(Handler, FOLDER, marks=pytest.mark.full),
        pytest.param(AsyncHandler, FOLDER, marks=pytest.mark.full),
    ],
)
def test_our_tools_keep_every_requirement(kind: Any, pattern: str) -> None:
    def factory(base_dir: str) -> Any:
        return kind(pattern.format(base_dir))

    report = run_conformance(factory, name=kind.__name__)
    assert report.ok, report.render()
    assert [one.requirement.id for one in report.outcomes if one.verdict == "not tried"] == []
