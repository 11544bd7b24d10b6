"""``memoranda restore``: a memory, a directory or all as it was."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from memoranda.cli.shared.confirm import confirm
from memoranda.cli.shared.json_shapes import versions_shape
from memoranda.cli.shared.options import AsJson, DryRun, PathOrAll, StoreUrl, UserName, Yes
from memoranda.cli.shared.output import note, print_json, say, table
from memoranda.cli.shared.place import find_place
from memoranda.cli.shared.version_lines import print_changes
from memoranda.cli.shared.when import parse_when, shown_time
from memoranda.errors import ContentGone
from memoranda.path import ROOT_TEXT, parse_path

if TYPE_CHECKING:
    from memoranda.memory import Memory
    from memoranda.path import MemoryPath
    from memoranda.stores.base import Entry, Version

REMOVE: Final = "remove"
BRING_BACK: Final = "bring back"
MOVE_BACK: Final = "move back"
CHANGE: Final = "change"


def restore(
    to: Annotated[
        str,
        typer.Option(
            "--to",
            metavar="VERSION|TIME",
            help="A version's id; 2026-12-31T18:00; or how long ago: 10m, 2h, 3d.",
        ),
    ],
    path: PathOrAll = ROOT_TEXT,
    dry_run: DryRun = False,
    yes: Yes = False,
    store: StoreUrl = None,
    user: UserName = None,
    as_json: AsJson = False,
) -> None:
    """Bring back an earlier state, of all or of a path.

    What came since is removed, what was removed comes back; history only grows, so memoranda undo
    takes a restore back. Asks before all is restored.

    Example: memoranda restore /memories/notes.md --to 1h
    """
    where, when = parse_path(path), parse_when(to)
    with find_place(store, user, quiet=as_json).open() as memory:
        if dry_run:
            _say_what_would_change(_difference(memory, where, when), as_json)
            return
        if where.is_root:
            moment = shown_time(when) if isinstance(when, datetime) else when
            confirm(f"Make the whole memory what it was at {moment}?", yes=yes)
        done = memory.restore(path, to=when)
    if as_json:
        kept = [str(each) for each in done.kept]
        print_json({**versions_shape(done.versions), "kept": kept})
        return
    if done.versions:
        say("Restored:")
        print_changes(done.versions)
    else:
        note("All is as it was then: nothing was changed.")
    for each in done.kept:
        note(f"{each} stays as it is: what it held then was redacted.")


def _difference(
    memory: Memory, where: MemoryPath, when: str | datetime
) -> list[tuple[str, MemoryPath]]:
    """What a restore would do, and to which path."""
    if isinstance(when, str) and not where.is_root:
        version = memory.version(when)
        now = _entries(memory, where)
        if version.path == where or version.memory_id in now:
            return _to_version(version, now)
    return _to_moment(_entries(memory, where), _entries(memory, where, when))


def _to_version(version: Version, now: dict[str, Entry]) -> list[tuple[str, MemoryPath]]:
    """Only the content of one memory comes back."""
    if version.operation == "deleted":
        return [(REMOVE, entry.path) for entry in now.values()]
    if version.content is None:
        raise ContentGone
    if not now and version.path is not None:
        return [(BRING_BACK, version.path)]
    return [(CHANGE, entry.path) for entry in now.values() if entry.sha256 != version.sha256]


def _to_moment(now: dict[str, Entry], then: dict[str, Entry]) -> list[tuple[str, MemoryPath]]:
    changes = [(REMOVE, now[gone].path) for gone in now.keys() - then.keys()]
    for memory_id, entry in then.items():
        present = now.get(memory_id)
        if present is None:
            changes.append((BRING_BACK, entry.path))
        elif present.path != entry.path:
            changes.append((MOVE_BACK, entry.path))
        elif present.sha256 != entry.sha256:
            changes.append((CHANGE, entry.path))
    return sorted(changes, key=lambda change: str(change[1]))


def _entries(
    memory: Memory, where: MemoryPath, at: str | datetime | None = None
) -> dict[str, Entry]:
    """The memory at a path, or all beneath it, by id."""
    from memoranda.stores.base import Entry

    return {
        entry.memory_id: entry
        for entry in memory.list(ROOT_TEXT, at=at)
        if isinstance(entry, Entry) and (entry.path == where or entry.path.is_below(where))
    }


def _say_what_would_change(changes: list[tuple[str, MemoryPath]], as_json: bool) -> None:
    if as_json:
        shapes: list[dict[str, Any]] = [
            {"change": change, "path": str(path)} for change, path in changes
        ]
        print_json({"dry_run": True, "changes": shapes})
    elif changes:
        say("Would:")
        table([[f"  {change}", str(path)] for change, path in changes])
    else:
        note("All is as it was then: nothing would change.")
