"""The commands that are struck, on a store that has something in it."""

from __future__ import annotations

from collections.abc import Callable

from memoranda.stores.base import Edit, Move, Put, Remove
from memoranda.testing.promises.steps import append, p
from tests.stores.folder_rig import FolderRig

LARGE = b"a line of some length\n" * 20_000


def prepare(rig: FolderRig) -> None:
    """What every command begins with."""
    rig.apply(
        Put(p("/a.md"), b"one\n"),
        Put(p("/large.md"), LARGE),
        Put(p("/d/b.md"), b"two\n"),
        Put(p("/d/e/c.md"), b"three\n"),
        Put(p("/f/d.md"), b"four\n"),
    )
    rig.edit("/a.md", append(b"more\n"))


COMMANDS: dict[str, Callable[[FolderRig], object]] = {
    "create": lambda rig: rig.put("/n/new.md", b"new\n"),
    "replace": lambda rig: rig.put("/a.md", b"other\n"),
    "edit": lambda rig: rig.edit("/d/b.md", append(b"more\n")),
    "edit a large one": lambda rig: rig.edit("/large.md", append(b"more\n")),
    "delete": lambda rig: rig.remove("/f/d.md"),
    "delete a directory": lambda rig: rig.remove("/d"),
    "move": lambda rig: rig.move("/a.md", "/g/z.md"),
    "move a directory": lambda rig: rig.move("/d", "/h/d"),
    "batch": lambda rig: rig.apply(
        Put(p("/new.md"), b"new\n"),
        Edit(p("/a.md"), append(b"batch\n")),
        Move(p("/d"), p("/moved")),
        Edit(p("/moved/b.md"), append(b"batch\n")),
        Remove(p("/f/d.md")),
    ),
}
