"""What the tests of the contract talk to: a memory that answers commands, and a look inside."""

from __future__ import annotations

import asyncio
from typing import Literal, Protocol, TypeAlias

from memoranda.async_memory import AsyncMemory
from memoranda.drive import run_now
from memoranda.memory import Memory
from memoranda.path import parse_path
from memoranda.policies.limits import Limits
from memoranda.policies.policy import OnExists, Policy
from memoranda.reply import ToolResult
from memoranda.stores.base import Context, Put, Store

Colour: TypeAlias = Literal["sync", "async"]


def done(text: str) -> ToolResult:
    """The answer to a command that was done."""
    return ToolResult(text, False)


def failed(text: str) -> ToolResult:
    """The answer to a command that was refused."""
    return ToolResult(text, True)


def content_of(path: str, *lines: str) -> ToolResult:
    """The answer to a view of a file whose numbered lines are given."""
    return done(f"Here's the content of {path} with line numbers:\n" + "\n".join(lines))


def listing_of(path: str, *lines: str) -> ToolResult:
    """The answer to a view of a directory."""
    return done(
        f"Here're the files and directories up to 2 levels deep in {path}, "
        "excluding hidden items and node_modules:\n" + "\n".join(lines)
    )


class Settings(Protocol):
    """Makes a handler over the same store with settings; what is not given has its default."""

    def __call__(
        self,
        *,
        on_exists: OnExists = ...,
        view_chars: int | None = ...,
        image_bytes: int = ...,
        file_bytes: int | None = ...,
        store_bytes: int | None = ...,
        files: int | None = ...,
    ) -> Handler: ...


class Handler:
    """Commands over one store, by a ``Memory`` or its async twin, and the store's own bytes.

    What the store may hold has no limit unless one is given, so that large files can be made.
    """

    def __init__(
        self,
        store: Store,
        colour: Colour,
        *,
        on_exists: OnExists = "error",
        view_chars: int | None = 16_000,
        image_bytes: int = 5 * 1024 * 1024,
        file_bytes: int | None = None,
        store_bytes: int | None = None,
        files: int | None = None,
    ) -> None:
        self.store = store
        self._colour = colour
        limits = Limits(
            file_bytes=file_bytes,
            store_bytes=store_bytes,
            files=files,
            view_chars=view_chars,
            image_bytes=image_bytes,
        )
        policy = Policy(limits=limits, on_exists=on_exists)
        self._memory = Memory.of_store(store, policy=policy)
        self._async_memory = AsyncMemory.of_store(store, policy=policy)

    def send(self, raw: object) -> ToolResult:
        """The answer to any input."""
        if self._colour == "async":
            return asyncio.run(self._async_memory.execute(raw))
        return self._memory.execute(raw)

    def __call__(self, command: str, /, **fields: object) -> ToolResult:
        return self.send({"command": command, **fields})

    def close(self) -> None:
        """Close the memories; the store stays open."""
        self._memory.close()
        asyncio.run(self._async_memory.close())

    def make(self, path: str, text: str) -> None:
        """A file made by the command for it."""
        assert self("create", path=path, file_text=text).is_error is False

    def put(self, path: str, content: bytes) -> None:
        """A file of any bytes, as an import or a person would bring it in."""
        run_now(self.store.apply([Put(parse_path(path), content)], Context(actor="external")))

    def kept(self, path: str) -> bytes:
        """What the store holds at a path."""
        return run_now(self.store.read(parse_path(path))).data

    def listed(self, path: str = "/memories") -> list[str]:
        """The paths of a listing, without the directory itself."""
        content = self("view", path=path).content
        assert isinstance(content, str)
        return [line.partition("\t")[2] for line in content.split("\n")[2:]]
