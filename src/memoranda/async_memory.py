"""``AsyncMemory``: one user's memory, for programs with an event loop. ``Memory`` is its twin."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Literal, Self

from memoranda.drive import AsyncDriver, run_here, run_in_thread, run_inline
from memoranda.opening import DEFAULT_ACTOR, core_of_store, open_core
from memoranda.path import ROOT_TEXT
from memoranda.stores.base import VersionFilter
from memoranda.tenant import DEFAULT_WORKSPACE

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Sequence
    from datetime import datetime

    from memoranda.core import Core
    from memoranda.operations.changed import Changed
    from memoranda.operations.export import Exported, Progress
    from memoranda.operations.import_folder import Imported, Layout
    from memoranda.operations.read_memory import StoredMemory
    from memoranda.operations.restore import Restored, RestorePreview
    from memoranda.operations.sweep import Swept
    from memoranda.policies.policy import Policy
    from memoranda.policies.proposal import Proposal
    from memoranda.reply import Block, ToolResult
    from memoranda.stores.base import (
        AuditEntry,
        AuditHead,
        AuditReport,
        Directory,
        Entry,
        Hit,
        Hold,
        Page,
        Problem,
        Removal,
        Report,
        Store,
        Usage,
        Version,
        VersionPage,
    )


class AsyncMemory:
    """One user's memory for asynchronous programs: what ``Memory`` does, awaited.

    Make one with ``open``. Over a store that blocks each call is one hop to a thread of the running
    loop's executor, so the loop is never held; over one that suspends it is awaited here. An object
    may be used from several event loops, in turn or at once, and keeps nothing of any.

    A call that is cancelled before it began did nothing. One that has begun is finished first and
    then raises ``CancelledError``; a time limit over it is late by as much. (Over a store that
    suspends the cancellation reaches the store, which says what that means.)
    """

    def __init__(self, core: Core, drive: AsyncDriver, end: Callable[[], None]) -> None:
        """Use ``open`` or ``of_store``."""
        self._core = core
        self._drive = drive
        self._end = end

    # ---- opening and closing

    @classmethod
    def open(
        cls,
        url: str,
        user: str | None = None,
        *,
        workspace: str = DEFAULT_WORKSPACE,
        store_id: str | None = None,
        policy: Policy | None = None,
        actor: str = DEFAULT_ACTOR,
        inline: bool = False,
    ) -> Self:
        """The memory of ``user`` at ``url``; arguments as for ``Memory.open``.

        Not a coroutine: the store is opened at the first use, or by ``async with``, so what is
        wrong with the storage is raised there. Bad names and URLs raise ``Misuse`` here. ``inline``
        runs a store that blocks on the event loop's own thread instead of hopping to another: less
        work, but all other tasks wait meanwhile, for a disk too.
        """
        core, shared = open_core(url, user, workspace, store_id, policy, actor, awaited=True)
        drive = _driver(suspends=shared.backend.suspends, inline=inline)
        return cls(core, drive, shared.end)

    @classmethod
    def of_store(
        cls,
        store: Store,
        *,
        policy: Policy | None = None,
        actor: str = DEFAULT_ACTOR,
        inline: bool = False,
    ) -> Self:
        """The memory in a store that you made yourself; closing the memory leaves it open."""
        core = core_of_store(store, policy, actor)
        return cls(core, _driver(suspends=store.suspends, inline=inline), _nothing)

    async def close(self) -> None:
        """``Memory.close``, awaited."""
        await self._drive(self._core.close())
        self._end()

    async def __aenter__(self) -> Self:
        await self._drive(self._core.store())
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    # ---- what Claude sends

    async def execute(self, command: object, *, trace_id: str | None = None) -> ToolResult:
        """``Memory.execute``, awaited."""
        return await self._drive(self._core.execute(command, trace_id))

    async def tool_result(self, block: object) -> Block:
        """``Memory.tool_result``, awaited."""
        return await self._drive(self._core.tool_result(block))

    # ---- reading

    async def read(self, path: str) -> StoredMemory:
        """``Memory.read``, awaited."""
        return await self._drive(self._core.programs.read(path))

    async def list(
        self,
        prefix: str = ROOT_TEXT,
        *,
        depth: Literal[0, 1] = 0,
        at: str | datetime | None = None,
    ) -> tuple[Entry | Directory, ...]:
        """``Memory.list``, awaited."""
        return await self._drive(self._core.programs.list(prefix, depth, at))

    async def page(
        self,
        prefix: str = ROOT_TEXT,
        *,
        depth: Literal[0, 1] = 0,
        after: str | None = None,
        limit: int = 100,
        at: str | datetime | None = None,
    ) -> Page:
        """``Memory.page``, awaited."""
        return await self._drive(self._core.programs.page(prefix, depth, after, limit, at))

    async def search(
        self, text: str, prefix: str = ROOT_TEXT, *, limit: int = 50
    ) -> tuple[Hit, ...]:
        """``Memory.search``, awaited."""
        return await self._drive(self._core.programs.search(text, prefix, limit))

    async def usage(self) -> Usage:
        """``Memory.usage``, awaited."""
        return await self._drive(self._core.programs.usage())

    # ---- writing

    async def write(
        self,
        path: str,
        content: str | bytes,
        *,
        if_version: str | None = None,
        if_sha256: str | None = None,
        if_absent: bool = False,
        notice: Callable[[Removal], None] | None = None,
    ) -> Version:
        """``Memory.write``, awaited."""
        return await self._drive(
            self._core.programs.write(path, content, if_version, if_sha256, if_absent, notice)
        )

    async def move(
        self, source: str, target: str, *, if_version: str | None = None
    ) -> tuple[Version, ...]:
        """``Memory.move``, awaited."""
        return await self._drive(self._core.programs.move(source, target, if_version))

    async def remove(self, path: str, *, if_version: str | None = None) -> tuple[Version, ...]:
        """``Memory.remove``, awaited."""
        return await self._drive(self._core.programs.remove(path, if_version))

    # ---- history

    async def history(
        self, path: str = ROOT_TEXT, *, limit: int | None = 100
    ) -> tuple[Version, ...]:
        """``Memory.history``, awaited."""
        return await self._drive(self._core.programs.history(path, limit))

    async def marks(self, versions: Sequence[Version]) -> dict[str, tuple[str, ...]]:
        """``Memory.marks``, awaited."""
        return await self._drive(self._core.programs.marks(versions))

    async def versions(
        self,
        where: VersionFilter = VersionFilter(),
        *,
        after: str | None = None,
        limit: int = 100,
    ) -> VersionPage:
        """``Memory.versions``, awaited."""
        return await self._drive(self._core.programs.versions(where, after, limit))

    async def changed(self, after: int | None = None, *, adopt: bool = True) -> Changed:
        """``Memory.changed``, awaited."""
        return await self._drive(self._core.programs.changed(after, adopt))

    async def version(self, version_id: str) -> Version:
        """``Memory.version``, awaited."""
        return await self._drive(self._core.programs.version(version_id))

    async def diff(self, a: str, b: str | None = None, *, context_lines: int = 3) -> str:
        """``Memory.diff``, awaited."""
        return await self._drive(self._core.programs.diff(a, b, context_lines))

    async def restore(self, path: str = ROOT_TEXT, *, to: str | datetime) -> Restored:
        """``Memory.restore``, awaited."""
        return await self._drive(self._core.programs.restore(path, to))

    async def preview_restore(self, path: str = ROOT_TEXT, *, to: str | datetime) -> RestorePreview:
        """What ``restore`` would do now, by path; changes nothing and reads no contents.

        Raises what ``restore`` raises before it changes anything.
        """
        return await self._drive(self._core.programs.preview_restore(path, to))

    async def undo(self, path: str = ROOT_TEXT) -> tuple[Version, ...]:
        """``Memory.undo``, awaited."""
        return await self._drive(self._core.programs.undo(path))

    async def redact(self, version_id: str) -> Version:
        """``Memory.redact``, awaited."""
        return await self._drive(self._core.programs.redact(version_id))

    # ---- upkeep

    async def export(
        self,
        directory: str | os.PathLike[str],
        *,
        prefix: str = ROOT_TEXT,
        replace: bool = False,
        progress: Progress | None = None,
    ) -> Exported:
        """``Memory.export``, awaited."""
        return await self._drive(self._core.programs.export(directory, prefix, replace, progress))

    async def import_(
        self,
        directory: str | os.PathLike[str],
        *,
        prefix: str = ROOT_TEXT,
        replace: bool = False,
        dry_run: bool = False,
        layout: Layout = "auto",
        progress: Progress | None = None,
    ) -> Imported:
        """``Memory.import_``, awaited."""
        return await self._drive(
            self._core.programs.import_(directory, prefix, replace, dry_run, layout, progress)
        )

    async def verify(self) -> Report:
        """``Memory.verify``, awaited."""
        return await self._drive(self._core.programs.verify())

    async def repair(self) -> Report:
        """``Memory.repair``, awaited."""
        return await self._drive(self._core.programs.repair())

    async def notices(self) -> tuple[Problem, ...]:
        """``Memory.notices``, awaited."""
        return await self._drive(self._core.programs.notices())

    async def sweep(self, *, dry_run: bool = False, progress: Progress | None = None) -> Swept:
        """``Memory.sweep``, awaited."""
        return await self._drive(self._core.programs.sweep(time.time_ns(), dry_run, progress))

    # ---- what waits for a person

    async def proposals(self) -> tuple[Proposal, ...]:
        """``Memory.proposals``, awaited."""
        return await self._drive(self._core.review.proposals())

    async def proposal(self, proposal_id: str) -> Proposal:
        """``Memory.proposal``, awaited."""
        return await self._drive(self._core.review.proposal(proposal_id))

    async def proposal_diff(self, proposal_id: str, *, context_lines: int = 3) -> str:
        """``Memory.proposal_diff``, awaited."""
        return await self._drive(self._core.review.diff(proposal_id, context_lines))

    async def approve(self, proposal_id: str) -> tuple[Version, ...]:
        """``Memory.approve``, awaited."""
        return await self._drive(self._core.review.approve(proposal_id))

    async def reject(self, proposal_id: str, *, reason: str = "") -> Proposal:
        """``Memory.reject``, awaited."""
        return await self._drive(self._core.review.reject(proposal_id, reason))

    async def expire_proposals(self, *, dry_run: bool = False) -> tuple[Proposal, ...]:
        """``Memory.expire_proposals``, awaited."""
        return await self._drive(self._core.review.expire(time.time_ns(), dry_run))

    # ---- holds, audit, erasure

    async def hold(self, path: str = ROOT_TEXT, *, reason: str = "") -> Hold:
        """``Memory.hold``, awaited."""
        return await self._drive(self._core.programs.hold(path, reason))

    async def holds(self) -> tuple[Hold, ...]:
        """``Memory.holds``, awaited."""
        return await self._drive(self._core.programs.holds())

    async def lift_hold(self, path: str = ROOT_TEXT) -> bool:
        """``Memory.lift_hold``, awaited."""
        return await self._drive(self._core.programs.lift(path))

    async def audit(self, *, after: int | None = None, limit: int = 100) -> tuple[AuditEntry, ...]:
        """``Memory.audit``, awaited."""
        return await self._drive(self._core.programs.audit(after, limit))

    async def verify_audit(self, *, anchors: Sequence[AuditHead] = ()) -> AuditReport:
        """``Memory.verify_audit``, awaited."""
        return await self._drive(self._core.programs.verify_audit(anchors))

    async def erase_path(self, path: str) -> int:
        """``Memory.erase_path``, awaited."""
        return await self._drive(self._core.programs.erase_path(path))

    async def erase(self, *, confirm: str) -> None:
        """``Memory.erase``, awaited."""
        await self._drive(self._core.erase(confirm))


def _nothing() -> None:
    """A store that was brought has nothing of ours beside it."""


def _driver(*, suspends: bool, inline: bool) -> AsyncDriver:
    if suspends:
        return run_here
    return run_inline if inline else run_in_thread
