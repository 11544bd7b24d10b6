"""What a command of Claude's came to, told a second time from the history: its answer got lost."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from memoranda import reply
from memoranda.command import Create, Delete, Insert, Rename, StrReplace
from memoranda.edits import replacement
from memoranda.errors import Refused
from memoranda.reply import ToolResult
from memoranda.stores.base import VersionFilter
from memoranda.text.splice import Splice

if TYPE_CHECKING:
    from memoranda.stores.base import Store, Version

Changing: TypeAlias = Create | StrReplace | Insert | Delete | Rename

CHANGING = (Create, StrReplace, Insert, Delete, Rename)


async def find_done(store: Store, trace_id: str, since_ns: int) -> Version | None:
    """The newest version with this trace id, not older than ``since_ns``. Reads the versions since,
    without contents."""
    after: str | None = None
    while True:
        page = await store.versions(VersionFilter(from_ns=since_ns), after=after)
        for version in page.versions:
            if version.trace_id == trace_id:
                return version
        if page.after is None:
            return None
        after = page.after


async def told_again(store: Store, command: Changing, done: Version, cap_chars: int) -> ToolResult:
    """The answer to ``command``, which made the version ``done``.

    As it was the first time, but without a note on secrets that were taken out, and without the
    snippet where the text of then is gone.
    """
    match command:
        case Create():
            return ToolResult(reply.created(command.path))
        case Insert():
            return ToolResult(reply.inserted(command.path))
        case Delete():
            return ToolResult(reply.deleted(command.path))
        case Rename():
            return ToolResult(reply.renamed(command.old_path, command.new_path))
        case StrReplace():
            return ToolResult(await _replaced(store, command, done, cap_chars))


async def _replaced(store: Store, command: StrReplace, done: Version, cap_chars: int) -> str:
    from memoranda.text.snippet import snippet

    new = (await store.version(done.id)).content
    old = await _before(store, done)
    if old is None or new is None:
        return reply.inserted(command.path)
    try:
        change = replacement(command, old)
    except Refused:
        change = _difference(old, new)
    if old[: change.start] + change.middle + old[change.end :] != new:
        change = _difference(old, new)  # a layer took something out
    return reply.replaced(snippet(old, change, cap_chars))


async def _before(store: Store, done: Version) -> bytes | None:
    """The content that a version replaced."""
    where = VersionFilter(memory_id=done.memory_id, to_ns=done.created_at_ns)
    page = await store.versions(where, limit=100)
    for version in page.versions:
        if version.seq < done.seq and not version.late:
            return (await store.version(version.id)).content
    return None


def _difference(old: bytes, new: bytes) -> Splice:
    """The smallest splice that makes one of the other."""
    shorter = min(len(old), len(new))
    start = 0
    while start < shorter and old[start] == new[start]:
        start += 1
    end = 0
    while end < shorter - start and old[-1 - end] == new[-1 - end]:
        end += 1
    return Splice(start, len(old) - end, new[start : len(new) - end])
