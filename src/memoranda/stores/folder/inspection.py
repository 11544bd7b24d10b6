"""Verify, the folder's part: every file of the tree against the log, by its text."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from memoranda.digests import sha256
from memoranda.path import MemoryPath
from memoranda.stores.base import Problem
from memoranda.stores.folder.found_names import is_litter, is_memory_name, path_of
from memoranda.stores.folder.home import RECOVERED
from memoranda.stores.folder.survey import rows_of
from memoranda.stores.folder.tree import LARGEST_BYTES, Place, SeenDirectory

if TYPE_CHECKING:
    from memoranda.stores.folder.opened import OpenStore
    from memoranda.stores.folder.survey import Row

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
    "The directory 'recovered' beside the memories holds what was set aside.",
    "Look through it; remove what nobody needs.",
)


def inspect_tree(opened: OpenStore) -> tuple[list[Problem], list[Problem]]:
    """Problems and notes. Reads every file; people's work was adopted before."""
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
    if opened.inode_of(RECOVERED) is not None:
        notes.append(_SAY_RECOVERED)
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
