"""Memoranda as the harness wants it: a factory of a folder gives a callable.

``factory(base)`` returns ``handle(input) -> (content, is_error)`` with ``close()`` and
``verify() -> (ok, message)``. The harness forks and kills; each factory call opens its own memory.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Any

from memoranda import AsyncMemory, Memory
from memoranda.stores.base import Report
from tests.stores.bucket_server import bucket_url
from tests.stores.postgres_server import postgres_url

Answer = tuple[Any, bool]

REMOTE_VARIABLE = "MEMORANDA_TESTS_REMOTE"
"""Where the memory server is that the tests run."""


class Handler:
    """A memory opened for the harness."""

    def __init__(self, url: str, user: str | None = None) -> None:
        self.memory = Memory.open(url, user=user)

    def __call__(self, command: dict[str, Any]) -> Answer:
        return self.memory.execute(command)

    def verify(self) -> tuple[bool, str]:
        return verdict(self.memory.verify())

    def close(self) -> None:
        self.memory.close()


class AsyncHandler:
    """The same through the asynchronous facade, in an event loop of its own for each command."""

    def __init__(self, url: str, user: str | None = None) -> None:
        self.memory = AsyncMemory.open(url, user=user)

    def __call__(self, command: dict[str, Any]) -> Answer:
        return asyncio.run(self.memory.execute(command))

    def verify(self) -> tuple[bool, str]:
        return verdict(asyncio.run(self.memory.verify()))

    def close(self) -> None:
        asyncio.run(self.memory.close())


class SdkHandler:
    """The same through the SDK's ``call``, with errors as its tool runner reports them."""

    def __init__(self, url: str) -> None:
        from memoranda.adapters.anthropic import MemoryTool

        self.tool = MemoryTool(url)

    def __call__(self, command: dict[str, Any]) -> Answer:
        from anthropic.lib.tools import ToolError

        try:
            return self.tool.call(command), False
        except ToolError as refused:
            return refused.content, True

    def close(self) -> None:
        self.tool.close()


def verdict(report: Report) -> tuple[bool, str]:
    return report.ok, "; ".join(f"{p.code}: {p.message}" for p in report.problems)


def in_folder(base: str) -> str:
    return os.path.join(base, "store")


def in_sqlite(base: str) -> str:
    Path(base).mkdir(parents=True, exist_ok=True)
    return f"sqlite:///{base}/memory.db"


def in_git(base: str) -> str:
    return f"git://{base}/repositories"


def in_ram(base: str) -> str:
    return "memory:"


def in_postgres(base: str) -> tuple[str, str]:
    """The database that the process which started this one has, and a user for the folder."""
    return postgres_url(), "h" + sha256(base.encode()).hexdigest()


def in_bucket(base: str) -> tuple[str, str]:
    """The same on the object store of the process which started this one."""
    return bucket_url(), "h" + sha256(base.encode()).hexdigest()


def on_server(base: str) -> tuple[str, str]:
    """The same at the memory server of the process which started this one; its key is in the
    environment."""
    return os.environ[REMOTE_VARIABLE], "h" + sha256(base.encode()).hexdigest()


def folder(base: str) -> Handler:
    return Handler(in_folder(base))


def sqlite(base: str) -> Handler:
    return Handler(in_sqlite(base))


def git(base: str) -> Handler:
    return Handler(in_git(base))


def ram(base: str) -> Handler:
    return Handler(in_ram(base))


def postgres(base: str) -> Handler:
    return Handler(*in_postgres(base))


def bucket(base: str) -> Handler:
    return Handler(*in_bucket(base))


def remote(base: str) -> Handler:
    return Handler(*on_server(base))


def remote_async(base: str) -> AsyncHandler:
    return AsyncHandler(*on_server(base))


def folder_async(base: str) -> AsyncHandler:
    return AsyncHandler(in_folder(base))


def sqlite_async(base: str) -> AsyncHandler:
    return AsyncHandler(in_sqlite(base))


def postgres_async(base: str) -> AsyncHandler:
    return AsyncHandler(*in_postgres(base))


def bucket_async(base: str) -> AsyncHandler:
    return AsyncHandler(*in_bucket(base))


def ram_async(base: str) -> AsyncHandler:
    return AsyncHandler(in_ram(base))


def sdk_folder(base: str) -> SdkHandler:
    return SdkHandler(in_folder(base))


FACTORIES: dict[str, Callable[[str], Callable[[dict[str, Any]], Answer]]] = {
    "ram": ram,
    "ram_async": ram_async,
    "sqlite": sqlite,
    "sqlite_async": sqlite_async,
    "postgres": postgres,
    "postgres_async": postgres_async,
    "bucket": bucket,
    "bucket_async": bucket_async,
    "git": git,
    "remote": remote,
    "remote_async": remote_async,
    "folder": folder,
    "folder_async": folder_async,
    "sdk_folder": sdk_folder,
}
