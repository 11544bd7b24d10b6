"""What is measured, behind one way to call it: a command goes in, text comes out."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

Command = dict[str, Any]


class Session(NamedTuple):
    """An open memory. ``run`` raises where the command was refused: no bench measures errors."""

    run: Callable[[Command], str]
    close: Callable[[], None]


def floor(base: Path, user: str = "default") -> Session:
    """Bare system calls."""
    from bench.floor import Floor

    opened = Floor(base / user)
    return Session(opened, opened.close)


def sdk(base: Path, user: str = "default") -> Session:
    """The official SDK's own tool, which keeps no history and syncs the file but not its name."""
    from anthropic.tools import BetaLocalFilesystemMemoryTool

    tool = BetaLocalFilesystemMemoryTool(base_path=str(base / user))

    def run(command: Command) -> str:
        said = tool.call(command)
        assert isinstance(said, str)
        return said

    return Session(run, lambda: None)


def ours(url: str, user: str) -> Session:
    from memoranda import Limits, Memory, Policy

    # The big files are over the default limits; what is measured is how they are handled.
    memory = Memory.open(url, user=user, policy=Policy(limits=Limits.unlimited()))

    def run(command: Command) -> str:
        result = memory.execute(command)
        if result.is_error:
            raise RuntimeError(f"{command['command']}: {result.content}")
        assert isinstance(result.content, str)
        return result.content

    return Session(run, memory.close)


def folder(base: Path, user: str = "default") -> Session:
    """Memoranda in a folder of plain files: durable, with history, audit and limits."""
    return ours(str(base), user)


def sqlite(base: Path, user: str = "default") -> Session:
    """Memoranda in one SQLite file."""
    base.mkdir(parents=True, exist_ok=True)
    return ours(f"sqlite:///{base}/memory.db", user)


Subject = Callable[..., Session]
SUBJECTS: dict[str, Subject] = {"floor": floor, "sdk": sdk, "folder": folder, "sqlite": sqlite}
