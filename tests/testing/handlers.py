"""Handlers for testing the conformance suite: ours, and some that are wrong in one way each."""

from __future__ import annotations

import asyncio
import re
import time
from pathlib import Path
from typing import Any, cast

from memoranda.adapters.anthropic import MemoryTool
from memoranda.async_memory import AsyncMemory
from memoranda.command import parse
from memoranda.drive import run_now
from memoranda.path import parse_path
from memoranda.policies.limits import Limits
from memoranda.policies.policy import Policy
from memoranda.reply import ToolResult
from memoranda.stores.base import Ceiling, Context, Put
from memoranda.stores.ram import RamBackend
from memoranda.testing.conformance.trial import Handler
from memoranda.testing.tool_suite import SdkTool
from memoranda.tool import Tool


def fields(raw: Any) -> dict[str, Any]:
    """The fields of an input; none where it is no object."""
    return cast("dict[str, Any]", raw) if isinstance(raw, dict) else {}


class Ours:
    """Memoranda's tool over a store in memory."""

    def __init__(self, base_dir: str) -> None:
        self.base_dir = base_dir
        self.store = run_now(RamBackend().for_user("acme"))
        self.tool = Tool(self.store)
        self.closed = False

    def __call__(self, raw: Any) -> ToolResult:
        return run_now(self.tool.run(parse(raw), Context()))

    def plant(self, path: str, content: bytes) -> None:
        run_now(self.store.apply([Put(parse_path(path), content)], Context()))

    def close(self) -> None:
        self.closed = True
        run_now(self.store.close())


class Limited(Ours):
    """Ours with a limit on the size of files, as our policies have one."""

    def __call__(self, raw: Any) -> ToolResult:
        context = Context(ceiling=Ceiling(file_bytes=262_144))
        return run_now(self.tool.run(parse(raw), context))


ROOMY = Policy(limits=Limits(file_bytes=None, store_bytes=None, files=None))
"""No limit on what is stored; on what is shown there is."""


class AsyncOnDisk:
    """Memoranda's asynchronous memory in a folder, each command on an event loop of its own."""

    def __init__(self, base_dir: str) -> None:
        self.memory = AsyncMemory.open(self.url(base_dir), policy=ROOMY)

    def url(self, base_dir: str) -> str:
        return base_dir

    def __call__(self, raw: Any) -> ToolResult:
        return asyncio.run(self.memory.execute(raw))

    def plant(self, path: str, content: bytes) -> None:
        asyncio.run(self.memory.write(path, content))

    def close(self) -> None:
        asyncio.run(self.memory.close())


class AsyncInRam(AsyncOnDisk):
    """The same in RAM."""

    def url(self, base_dir: str) -> str:
        return "memory:"


class SdkOnDisk(SdkTool):
    """Memoranda's tool for the SDK, called as the SDK's tool runner calls it."""

    def __init__(self, base_dir: str) -> None:
        self.tool = MemoryTool(self.url(base_dir), policy=ROOMY)
        super().__init__(self.tool.call, Path(base_dir))

    def url(self, base_dir: str) -> str:
        return base_dir

    def plant(self, path: str, content: bytes) -> None:
        self.tool.memory.write(path, content)

    def close(self) -> None:
        self.tool.close()


class SdkInRam(SdkOnDisk):
    """The same in RAM."""

    def url(self, base_dir: str) -> str:
        return "memory:"


class Altered(Ours):
    """Ours, with every answer altered by ``alter``."""

    def alter(self, raw: Any, answer: ToolResult) -> tuple[Any, bool]:
        raise NotImplementedError

    def __call__(self, raw: Any) -> Any:
        return self.alter(raw, super().__call__(raw))


class Raises(Ours):
    """A handler that raises what it should answer."""

    def __call__(self, raw: Any) -> Any:
        answer = super().__call__(raw)
        if answer.is_error:
            raise ValueError(answer.content)
        return answer


class ShowsTheHost(Altered):
    """A handler that tells where it keeps its files, and which exception it met."""

    def alter(self, raw: Any, answer: ToolResult) -> tuple[Any, bool]:
        if answer.is_error:
            return f"{answer.content} FileNotFoundError in {self.base_dir}", True
        return answer


class Leaks(Ours):
    """A handler that follows a path out of its directory, to read and to write."""

    def __call__(self, raw: Any) -> Any:
        path = fields(raw).get("path")
        if isinstance(path, str) and "/../outside/" in path:
            file = Path(self.base_dir).parent / "outside" / "secret.txt"
            if raw["command"] == "create":
                file.with_name("added.txt").write_text("x")
                file.write_text("changed")
            return file.read_text(), raw["command"] == "view"
        return super().__call__(raw)


class AnswersBlocks(Altered):
    """A handler whose texts come as content blocks: right, only shaped otherwise."""

    def alter(self, raw: Any, answer: ToolResult) -> tuple[Any, bool]:
        if isinstance(answer.content, str):
            return [{"type": "text", "text": answer.content}], answer.is_error
        return tuple(answer.content), answer.is_error


class NumbersFromZero(Altered):
    """A handler that counts lines from 0."""

    def alter(self, raw: Any, answer: ToolResult) -> tuple[Any, bool]:
        if not isinstance(answer.content, str):
            return answer
        return re.sub(
            r"(?m)^( *)(\d+)\t", lambda m: f"{int(m[2]) - 1:>6}\t", answer.content
        ), answer.is_error


class LosesUpdates(Ours):
    """A handler that edits what it read a moment ago, and writes over what came between."""

    def __call__(self, raw: Any) -> Any:
        if fields(raw).get("command") != "str_replace":
            return super().__call__(raw)
        path = parse_path(raw["path"])
        old = run_now(self.store.read(path)).data.decode()
        time.sleep(0.002)
        new = old.replace(raw["old_str"], raw["new_str"])
        run_now(self.store.apply([Put(path, new.encode())], Context()))
        return "The memory file has been edited.", False


class RefusesEdits(Ours):
    """A handler that edits nothing."""

    def __call__(self, raw: Any) -> Any:
        if fields(raw).get("command") == "str_replace":
            return "No replacement was performed.", True
        return super().__call__(raw)


def silent(base_dir: str) -> Handler:
    """A handler that agrees with everything and does nothing."""
    return lambda raw: ("", False)


def stubborn(base_dir: str) -> Handler:
    """A handler that refuses everything without a word."""
    return lambda raw: (None, True)


def strange(base_dir: str) -> Handler:
    """A handler whose answers are no text, no blocks, and much too long."""
    return lambda raw: ({"content": "x" * 100_000}, False)


class Noisy:
    """A handler that answers whatever it is sent, as it came, with a picture."""

    def __init__(self, base_dir: str) -> None:
        self.block = {"type": "image", "source": {"media_type": "image/png", "data": "eA=="}}

    def __call__(self, raw: Any) -> tuple[Any, bool]:
        return [str(raw), 5, self.block], False

    def plant(self, path: str, content: bytes) -> None:
        return


class Pictures(Noisy):
    """A handler that answers with a picture and not a word."""

    def __call__(self, raw: Any) -> tuple[Any, bool]:
        return [self.block], False
