"""Where an adapter has its memory from: one it was given, or one it opens, again after a close."""

from __future__ import annotations

import logging
import os
import re
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final, Generic, TypeVar

from memoranda import reply
from memoranda.after_fork import renew
from memoranda.async_memory import AsyncMemory
from memoranda.errors import MemorandaError, Misuse
from memoranda.memory import Memory
from memoranda.opening import DEFAULT_USER
from memoranda.reply import ToolResult
from memoranda.tenant import check_tenant, directory_of_tenant

_SCHEME: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+:")
_SQLITE: Final = "sqlite:///"

_log = logging.getLogger("memoranda")

M = TypeVar("M", Memory, AsyncMemory)


class MemorySource(Generic[M]):
    """Where a tool has its memory from: one it was given, or one it opens, again after a close."""

    def __init__(
        self,
        kind: type[M],
        base_path: str | os.PathLike[str] | M,
        user: str | None,
        **settings: object,
    ) -> None:
        self.base_path: Path | None = None
        self.memory_root: Path | None = None
        self._lock = threading.Lock()  # guards the memory's coming and going
        renew(self)
        self._memory: M | None
        self._open: Callable[[], M] | None
        given: dict[str, Any] = {
            name: value for name, value in {"user": user, **settings}.items() if value is not None
        }
        if isinstance(base_path, kind):
            if given:
                raise Misuse(f"The memory that is given has its own {' and '.join(given)}.")
            self._open = None
            self._memory = base_path
            return
        # mypy doesn't see that it is no memory here.
        url = os.fspath(base_path)  # type: ignore[arg-type]
        # A program may change its directory before the memory is opened again.
        place = _absolute(url)
        self._open = lambda: kind.open(place, **given)
        self._memory = self._open()
        if _SCHEME.match(url) is None:
            tenant = check_tenant(DEFAULT_USER if user is None else user)
            self.base_path = Path(url)
            self.memory_root = self.base_path / "stores" / directory_of_tenant(tenant) / "memories"

    def after_fork_in_child(self) -> None:
        """See ``after_fork.Renewed``."""
        self._lock = threading.Lock()

    @property
    def memory(self) -> M:
        """The memory, opened anew where it was let go. Raises what opening it raises."""
        with self._lock:
            if self._memory is None:
                assert self._open is not None, "a memory that was given is never let go"
                self._memory = self._open()
            return self._memory

    def release(self) -> M | None:
        """The memory that is to be closed, if there is one."""
        with self._lock:
            if self._open is None:
                return None
            memory, self._memory = self._memory, None
            return memory


def _absolute(url: str) -> str:
    """``url`` with the path in it, if it has a relative one, made absolute."""
    prefix = url[: len(_SQLITE)] if url.lower().startswith(_SQLITE) else ""
    path = url.removeprefix(prefix)
    is_path = path and (prefix or _SCHEME.match(url) is None)
    return prefix + os.path.abspath(path) if is_path else url


def execute(
    source: MemorySource[Memory], command: object, trace_id: str | None = None
) -> ToolResult:
    """The answer to a command as the model sent it; raises nothing, also without a memory."""
    try:
        return source.memory.execute(command, trace_id=trace_id)
    except MemorandaError as error:
        return _unusable(error)


async def execute_async(
    source: MemorySource[AsyncMemory], command: object, trace_id: str | None = None
) -> ToolResult:
    """``execute``, awaited."""
    try:
        return await source.memory.execute(command, trace_id=trace_id)
    except MemorandaError as error:
        return _unusable(error)


def _unusable(error: MemorandaError) -> ToolResult:
    """The answer where the program closed the memory, or it can't be opened any more.

    Raised, an SDK would show the model the exception.
    """
    _log.error("The memory tool has no memory: %s", error)
    return reply.unavailable()
