"""What programs and people do with a memory, written once and through every layer.

Paths come as ``str``, as people write them, and are parsed here; after this line they are checked.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Final, Literal, get_args

from memoranda import arguments
from memoranda.digests import sha256
from memoranda.errors import (
    AwaitsApproval,
    BadPath,
    Conflict,
    IsADirectory,
    Misuse,
    NotFound,
    PathFault,
    UnknownId,
    Unsupported,
    WrongParameter,
)
from memoranda.light_dataclasses import replace
from memoranda.noted import noted
from memoranda.operations.changed import Changed, changed_since
from memoranda.operations.diff import diff
from memoranda.operations.export import Exported, Progress, export
from memoranda.operations.import_folder import Imported, Layout, import_folder
from memoranda.operations.listing import list_all, newest_versions
from memoranda.operations.marks import marks_of
from memoranda.operations.moments import moment_of
from memoranda.operations.read_memory import StoredMemory, read_memory
from memoranda.operations.restore import Restored, RestorePreview, preview_restore, restore
from memoranda.operations.undo import undo
from memoranda.path import MemoryPath, parse_path
from memoranda.retry import apply_with_retry
from memoranda.stores.base import (
    AuditEntry,
    AuditHead,
    AuditReport,
    Change,
    Directory,
    Entry,
    Expect,
    Hit,
    Hold,
    IfContent,
    IfVersion,
    Moment,
    Move,
    Operation,
    Page,
    Precondition,
    Problem,
    Put,
    Removal,
    Remove,
    Report,
    Usage,
    Version,
    VersionFilter,
    VersionPage,
)

if TYPE_CHECKING:
    from memoranda.core import Core
    from memoranda.operations.sweep import Swept

_LOOKS: Final = 3
"""How often an unchanged memory is looked at that others change meanwhile."""


class Programs:
    """The programs' side of a memory; ``Memory`` says what each method promises."""

    def __init__(self, core: Core) -> None:
        self.core = core

    # ---- reading

    @noted("read", reads=True)
    async def read(self, path: str) -> StoredMemory:
        """The memory at a path."""
        where = _file_path(path)
        memory = await read_memory(await self.core.store(), where, self.core.context("read"))
        await self.core.used(where)
        return memory

    @noted("list", reads=True)
    async def list(
        self, prefix: str, depth: Literal[0, 1], at: str | datetime | None
    ) -> tuple[Entry | Directory, ...]:
        """A whole listing."""
        where = parse_path(prefix)
        levels: Literal[0, 1] = arguments.choice("depth", depth, (0, 1))
        store = await self.core.store()
        return tuple(await list_all(store, where, depth=levels, at=await self._moment(at)))

    @noted("list", reads=True)
    async def page(
        self,
        prefix: str,
        depth: Literal[0, 1],
        after: str | None,
        limit: int,
        at: str | datetime | None,
    ) -> Page:
        """A page of a listing."""
        where = parse_path(prefix)
        levels: Literal[0, 1] = arguments.choice("depth", depth, (0, 1))
        start = arguments.optional_text("after", after)
        most = arguments.count("limit", limit)
        store = await self.core.store()
        moment = await self._moment(at)
        return await store.list(where, depth=levels, after=start, limit=most, at=moment)

    @noted("search", reads=True, about=1)
    async def search(self, text: str, prefix: str, limit: int) -> tuple[Hit, ...]:
        """Where a text stands."""
        where = parse_path(prefix)
        words = arguments.text("text", text)
        most = arguments.count("limit", limit)
        store = await self.core.store()
        if not store.capabilities.searches:
            raise Unsupported("search")
        return await store.search(words, where, limit=most)

    async def usage(self) -> Usage:
        """How much there is."""
        return await (await self.core.store()).usage()

    # ---- writing

    @noted("write")
    async def write(
        self,
        path: str,
        content: str | bytes,
        if_version: str | None,
        if_sha256: str | None,
        if_absent: bool,
        notice: Callable[[Removal], None] | None = None,
    ) -> Version:
        """Put a content at a path; the version that holds it, or what a layer made of it."""
        where = _file_path(path)
        data = _encoded(content)
        expect = _expectation(if_version, if_sha256, absent=if_absent)
        tell = arguments.optional_callable("notice", notice) or _nothing
        for _ in range(_LOOKS):
            removed: list[Removal] = []
            try:
                versions = await self._apply("write", Put(where, data, expect), removed.append)
            except AwaitsApproval:  # it is kept, too, and what was taken out is not in it
                _tell(tell, removed)
                raise
            if versions:
                _tell(tell, removed)
                return versions[0]
            head = await self._head(where)
            if head is not None and (removed or head.sha256 == sha256(data).hexdigest()):
                _tell(tell, removed)
                return head._replace(content=None)
        raise Conflict("Other writers were faster each time.")

    async def _head(self, path: MemoryPath) -> Version | None:
        """The version that a memory is at; None if it went while it was looked for."""
        store = await self.core.store()
        try:
            return await store.version((await store.stat(path)).version_id)
        except (NotFound, IsADirectory, UnknownId):
            return None

    @noted("move")
    async def move(self, source: str, target: str, if_version: str | None) -> tuple[Version, ...]:
        """Give something another path."""
        change = Move(parse_path(source), parse_path(target), _expectation(if_version))
        return await self._apply("move", change)

    @noted("remove")
    async def remove(self, path: str, if_version: str | None) -> tuple[Version, ...]:
        """Remove something."""
        return await self._apply("remove", Remove(parse_path(path), _expectation(if_version)))

    async def _apply(
        self, command: str, change: Change, notice: Callable[[Removal], None] | None = None
    ) -> tuple[Version, ...]:
        store = await self.core.store()
        context = self.core.context(command)
        if notice is not None:
            context = replace(context, notice=notice)
        if change.expect in (Expect.ANY, Expect.ABSENT):
            # A conflict says no more than that another writer was there first.
            return await apply_with_retry(store, (change,), context, self.core.pause)
        return await store.apply((change,), context)

    # ---- history

    @noted("history", reads=True)
    async def history(self, path: str, limit: int | None) -> tuple[Version, ...]:
        """The newest versions at a path or beneath it."""
        where = VersionFilter(path=parse_path(path))
        most = None if limit is None else arguments.count("limit", limit)
        return tuple(await newest_versions(await self.core.store(), where, most))

    @noted("history", reads=True)
    async def versions(self, where: VersionFilter, after: str | None, limit: int) -> VersionPage:
        """A page of versions."""
        _check_filter(where)
        start = arguments.optional_text("after", after)
        most = arguments.count("limit", limit)
        return await (await self.core.store()).versions(where, after=start, limit=most)

    async def changed(self, after: int | None, adopt: bool) -> Changed:
        """What changed since; no read of contents, so nothing is noted."""
        start = None if after is None else arguments.count("after", after)
        also_files = arguments.flag("adopt", adopt)
        return await changed_since(await self.core.store(), start, adopt=also_files)

    async def erase_path(self, path: str) -> int:
        """Erase what is and ever was at a path."""
        from memoranda.operations.erase_path import erase_path

        where = parse_path(path)
        if where.is_root:
            raise Misuse("All of a memory is erased by erase(confirm=...).")
        store = await self.core.own_store(where)
        # A person does it, so it does not wait for one.
        context = replace(self.core.context("erase"), approval="erase")
        count = await erase_path(store, where, context)
        await self.core.review.drop(where, context)
        return count

    async def marks(self, versions: Sequence[Version]) -> dict[str, tuple[str, ...]]:
        """Which of some versions hold text that instructs the agent."""
        given = arguments.several("versions", versions, Version)
        return await marks_of(await self.core.own_store(), given)

    @noted("version", reads=True)
    async def version(self, version_id: str) -> Version:
        """One version with its content."""
        wanted = arguments.text("version_id", version_id)
        return await (await self.core.store()).version(wanted)

    @noted("diff", reads=True)
    async def diff(self, a: str, b: str | None, context_lines: int) -> str:
        """What differs between two versions."""
        old, new = arguments.text("a", a), arguments.optional_text("b", b)
        lines = arguments.count("context_lines", context_lines)
        return await diff(await self.core.store(), old, new, context_lines=lines)

    @noted("restore")
    async def restore(self, path: str, to: str | datetime) -> Restored:
        """Make a path what it was."""
        where = parse_path(path)
        then = _point("to", to)
        store = await self.core.own_store(where)
        return await restore(store, where, then, self.core.context("restore"), self.core.pause)

    @noted("restore", reads=True)
    async def preview_restore(self, path: str, to: str | datetime) -> RestorePreview:
        """What a restore would do."""
        where = parse_path(path)
        then = _point("to", to)
        return await preview_restore(await self.core.own_store(where), where, then)

    @noted("undo")
    async def undo(self, path: str) -> tuple[Version, ...]:
        """Take back the last batch."""
        where = parse_path(path)
        return await undo(await self.core.own_store(where), where, self.core.context("undo"))

    @noted("redact")
    async def redact(self, version_id: str) -> Version:
        """Blank a version."""
        wanted = arguments.text("version_id", version_id)
        store = await self.core.store()
        if not store.capabilities.redacts:
            raise Unsupported("redaction")
        return await store.redact(wanted, self.core.context("redact"))

    async def _moment(self, at: str | datetime | None) -> Moment | None:
        return None if at is None else await moment_of(await self.core.store(), _point("at", at))

    # ---- upkeep

    @noted("export", reads=True, about=1)
    async def export(
        self,
        directory: str | os.PathLike[str],
        prefix: str,
        replace: bool,
        progress: Progress | None,
    ) -> Exported:
        """Write a plain tree of files."""
        where = parse_path(prefix)
        folder = arguments.folder("directory", directory)
        replaces = arguments.flag("replace", replace)
        tell = arguments.optional_callable("progress", progress)
        store = await self.core.own_store(where)
        return await export(store, where, folder, replace=replaces, progress=tell)

    @noted("import", about=1)
    async def import_(
        self,
        directory: str | os.PathLike[str],
        prefix: str,
        replace: bool,
        dry_run: bool,
        layout: Layout,
        progress: Progress | None,
    ) -> Imported:
        """Take in a plain tree of files."""
        where = parse_path(prefix)
        folder = arguments.folder("directory", directory)
        replaces = arguments.flag("replace", replace)
        only_looks = arguments.flag("dry_run", dry_run)
        kind: Layout = arguments.choice("layout", layout, get_args(Layout))
        tell = arguments.optional_callable("progress", progress)
        return await import_folder(
            await self.core.store(),
            where,
            folder,
            self.core.context("import"),
            file_bytes=self.core.policy.limits.file_bytes,
            replace=replaces,
            dry_run=only_looks,
            layout=kind,
            progress=tell,
        )

    async def sweep(self, now_ns: int, dry_run: bool, progress: Progress | None) -> Swept:
        """Remove what has expired."""
        from memoranda.operations.sweep import sweep

        only_says = arguments.flag("dry_run", dry_run)
        store = await self.core.own_store()
        rules = self.core.policy.expiry
        return await sweep(store, rules, now_ns, dry_run=only_says, progress=progress)

    async def holds(self) -> tuple[Hold, ...]:
        """What is held."""
        return await (await self.core.store()).holds()

    @noted("hold")
    async def hold(self, path: str, reason: str) -> Hold:
        """Hold a path."""
        where, why = parse_path(path), arguments.text("reason", reason)
        return await (await self.core.store()).hold(where, why, self.core.context("hold"))

    @noted("lift")
    async def lift(self, path: str) -> bool:
        """Lift a hold."""
        where = parse_path(path)
        return await (await self.core.store()).lift(where, self.core.context("lift"))

    async def audit(self, after: int | None, limit: int) -> tuple[AuditEntry, ...]:
        """Entries of the audit."""
        start = None if after is None else arguments.count("after", after)
        most = arguments.count("limit", limit)
        return await (await self.core.store()).audit(start, most)

    async def verify_audit(self, anchors: Sequence[AuditHead]) -> AuditReport:
        """Check the audit."""
        heads = arguments.several("anchors", anchors, AuditHead)
        return await (await self.core.store()).verify_audit(heads)

    async def verify(self) -> Report:
        """Check everything."""
        return await (await self.core.store()).verify()

    async def repair(self) -> Report:
        """Mend what can be mended, then check everything."""
        return await (await self.core.store()).repair()

    async def notices(self) -> tuple[Problem, ...]:
        """What was found damaged when the store was opened."""
        return await (await self.core.store()).notices()


def _tell(notice: Callable[[Removal], None], removed: Sequence[Removal]) -> None:
    for removal in removed:
        notice(removal)


def _nothing(removal: Removal) -> None:
    """Nobody wants to know."""


def _file_path(given: str) -> MemoryPath:
    path = parse_path(given)
    if path.slash and not path.is_root:
        raise BadPath(given, PathFault.FILE_WITH_SLASH)
    return path


def _point(name: str, value: object) -> str | datetime:
    """A point of the history: a version's id or a time."""
    return value if isinstance(value, datetime) else arguments.text(name, value)


def _check_filter(where: object) -> None:
    """Raise ``Misuse`` for what is no filter of versions."""
    given = arguments.instance("where", where, VersionFilter)
    arguments.optional_text("memory_id", given.memory_id)
    arguments.optional_text("actor", given.actor)
    if given.path is not None:
        arguments.instance("path", given.path, MemoryPath)
    if given.operation is not None:
        arguments.choice("operation", given.operation, get_args(Operation))
    for name, time in (("from_ns", given.from_ns), ("to_ns", given.to_ns)):
        if time is not None and type(time) is not int:
            raise Misuse(f"{name} has to be an int, nanoseconds since 1970.")


def _encoded(content: str | bytes) -> bytes:
    if type(content) is bytes:
        return content
    if type(content) is not str:
        raise Misuse("The content of a memory is str or bytes.")
    if not arguments.is_utf8(content):
        raise WrongParameter("write", "content", "text without unpaired surrogates")
    return content.encode()


def _expectation(
    version_id: str | None, sha256: str | None = None, *, absent: bool = False
) -> Precondition:
    given: Sequence[Precondition] = [
        *([] if version_id is None else [IfVersion(arguments.text("if_version", version_id))]),
        *([] if sha256 is None else [IfContent(arguments.text("if_sha256", sha256))]),
        *([Expect.ABSENT] if arguments.flag("if_absent", absent) else []),
    ]
    if len(given) > 1:
        raise Misuse("A change has one precondition: if_version, if_sha256 or if_absent.")
    return given[0] if given else Expect.ANY
