"""Verify: the log against itself, every file of the tree against the log, what was set aside."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Final

from memoranda.digests import sha256
from memoranda.escape import escape_for_display
from memoranda.path import MemoryPath
from memoranda.stores.base import Problem, Report
from memoranda.stores.folder import meta
from memoranda.stores.folder.file_port import LISTING
from memoranda.stores.folder.found_names import is_litter, is_memory_name, path_of
from memoranda.stores.folder.home import RECOVERED
from memoranda.stores.folder.salvage import said_of_damage
from memoranda.stores.folder.survey import rows_of
from memoranda.stores.folder.tree import LARGEST_BYTES, Place, SeenDirectory
from memoranda.stores.log import bodies, check

if TYPE_CHECKING:
    from memoranda.errors import Corrupt
    from memoranda.stores.folder.opened import OpenStore
    from memoranda.stores.folder.survey import Row
    from memoranda.stores.log.store_log import StoreLog

_SAY_LAGGING: Final = Problem(
    "lagging",
    "A file does not show its newest version, because the disk refused the change.",
    "See that the folder can be written and has room; the next command tries again.",
)
_SAY_CHANGED: Final = Problem(
    "silent-change",
    "A file's text changed though its size and time did not: a fault of the disk, or a program that"
    " hides its writes.",
    "Restore the newest version of the memory: the history still holds it.",
)
_SAY_NOT_A_FILE: Final = Problem(
    "not-a-file",
    "Something that is neither a file nor a directory lies among the memories; it is not shown.",
    "Remove it, or put a file in its place.",
)
_SAY_NAME: Final = Problem(
    "name",
    "A file or directory has a name that no memory can have; it is not shown.",
    "Rename it.",
)
_SAY_TOO_LARGE: Final = Problem(
    "too-large",
    "A file is too large to be taken into the history.",
    "Move it out of the folder, or split it.",
)
_SAY_RECOVERED: Final = Problem(
    "recovered",
    "In the store's folder, beside the memories, lies what was set aside:",
    "Look through it; remove what nobody needs.",
)

MOST_NAMES: Final = 20
"""So many names are told of what was set aside."""

MENDED_BY_REPAIR: Final = frozenset(
    {"database", "chain", "orphan", "counter", "history", "version", "head", "content", "time"}
)
"""Problems of the log itself: its rows are no whole history any more, or can't be read."""

_REPAIR: Final = (
    "Copy the store's folder to a safe place, then run: memoranda verify --repair. That sets the"
    " database aside, takes over its history where it is whole, and goes on from the files as they"
    " lie. Or put the whole folder back from a backup."
)


def inspect(opened: OpenStore, log: StoreLog) -> Report:
    """The whole report. Reads everything; people's work was adopted before."""
    report = check.Check(log, lambda node: bodies.content(log, node.body)).run()
    problems, notes = _inspect_tree(opened)
    return report._replace(
        problems=(*map(_with_a_way_out, report.problems), *problems),
        notes=(*report.notes, *notes, *_set_aside(opened)),
    )


def report_of(damage: Corrupt) -> Report:
    """What there is to say of a store whose database can't be used."""
    report = check.unreadable(damage)
    return report._replace(problems=tuple(map(_with_a_way_out, report.problems)))


def _with_a_way_out(problem: Problem) -> Problem:
    if problem.code in MENDED_BY_REPAIR:
        return problem._replace(remedy=_REPAIR)
    return problem


def _set_aside(opened: OpenStore) -> list[Problem]:
    """What lies in ``recovered/``, by name, and what is known of it."""
    names = _names_in(opened, RECOVERED)
    known: list[list[Any]] = meta.get(opened.db, meta.DAMAGED) or []
    found = [said_of_damage(each) for each in known if os.path.basename(each[1]) in names]
    if names:
        shown = [escape_for_display(name) for name in names[:MOST_NAMES]]
        more = [f"and {len(names) - MOST_NAMES} more"] * (len(names) > MOST_NAMES)
        listed = ", ".join([*(f"{RECOVERED}/{name}" for name in shown), *more])
        found.append(_SAY_RECOVERED._replace(message=f"{_SAY_RECOVERED.message} {listed}."))
    return found


def _names_in(opened: OpenStore, name: str) -> list[str]:
    try:
        directory = opened.files.open(name, LISTING, opened.directory.number)
    except FileNotFoundError:
        return []
    try:
        return sorted(opened.files.names(directory))
    finally:
        opened.files.close(directory)


def _inspect_tree(opened: OpenStore) -> tuple[list[Problem], list[Problem]]:
    """Problems and notes."""
    rows = rows_of(opened.log)
    problems: list[Problem] = []
    notes: list[Problem] = []
    seen: set[Place] = set()
    for here in opened.tree.walk():
        notes += _strange(here)
        for name in here.files:
            place = (*here.place, name)
            seen.add(place)
            row = rows.get(place)
            if row is None:
                notes += _unknown(place, here.files[name].size)
            elif row.node not in opened.lag:
                problems += _compared(opened, place, row)
    problems += [
        _SAY_LAGGING._replace(path=MemoryPath.of(place))
        for place, row in sorted(rows.items())
        if place not in seen or row.node in opened.lag
    ]
    return problems, notes


def _strange(here: SeenDirectory) -> list[Problem]:
    above = MemoryPath.of(here.place)
    found = [_SAY_NOT_A_FILE._replace(path=above) for _ in here.others]
    names = [*here.files, *here.directories]
    found += [
        _SAY_NAME._replace(path=above)
        for name in names
        if not is_memory_name(name) and not is_litter(name)
    ]
    return found


def _unknown(place: Place, size: int) -> list[Problem]:
    path = path_of(place)
    if path is not None and size > LARGEST_BYTES:
        return [_SAY_TOO_LARGE._replace(path=path)]
    return []


def _compared(opened: OpenStore, place: Place, row: Row) -> list[Problem]:
    content = opened.tree.read(place)
    if content is None or content[1] != row.image:
        return []  # a person was here since
    if sha256(content[0]).digest() == row.sha:
        return []
    return [_SAY_CHANGED._replace(path=MemoryPath.of(place))]
