"""Trees of trees: looking something up, and a new one that differs in some places."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, TypeAlias

from memoranda.stores.git.objects import TREE_MODE, Entry

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from memoranda.stores.git.objects import Id, Objects, Tree

Names: TypeAlias = "tuple[bytes, ...]"

NOTHING: Final[Tree] = {}


def find(objects: Objects, root: Id | None, names: Names) -> Entry | None:
    """What lies at a place; None if there is nothing, or a file where a directory would have to be."""
    entry = None if root is None else Entry(TREE_MODE, root)
    for name in names:
        if entry is None or not entry.is_tree:
            return None
        entry = objects.read_tree(entry.id).get(name)
    return entry


def grouped(changes: Mapping[Names, Entry | None]) -> dict[bytes, dict[Names, Entry | None]]:
    """Changes by the first of their names, without it."""
    groups: dict[bytes, dict[Names, Entry | None]] = {}
    for names, change in changes.items():
        groups.setdefault(names[0], {})[names[1:]] = change
    return groups


def graft(objects: Objects, root: Id | None, changes: Mapping[Names, Entry | None]) -> Id | None:
    """The tree that has these entries at these places, or none (None); what else was there stays.

    A directory that nothing is left in goes, so the answer may be None. An entry takes the place
    of what was there.
    """
    entries = {} if root is None else dict(objects.read_tree(root))
    for name, group in grouped(changes).items():
        was = entries.pop(name, None)
        file = was if was is not None and not was.is_tree else None
        below = was.id if was is not None and was.is_tree else None
        if () in group:
            file = group.pop(())
        if group:
            below = graft(objects, below, group)
            file = None if below is not None else file
        if file is not None:
            entries[name] = file
        elif below is not None:
            entries[name] = Entry(TREE_MODE, below)
    return objects.tree(entries) if entries else None


def files(objects: Objects, root: Id | None, names: Names = ()) -> Iterator[tuple[Names, Entry]]:
    """Everything beneath a tree that is no directory, in order."""
    if root is None:
        return
    for name, entry in objects.read_tree(root).items():
        if entry.is_tree:
            yield from files(objects, entry.id, (*names, name))
        else:
            yield (*names, name), entry


def differences(
    objects: Objects, before: Id | None, after: Id | None, names: Names = ()
) -> Iterator[tuple[Names, Entry | None, Entry | None]]:
    """Files (whatever is no directory) that are not the same in two trees, with both entries."""
    if before == after:
        return
    old = NOTHING if before is None else objects.read_tree(before)
    new = NOTHING if after is None else objects.read_tree(after)
    for name in sorted({**old, **new}):
        was, now = old.get(name), new.get(name)
        if was == now:
            continue
        place = (*names, name)
        was_tree = was.id if was is not None and was.is_tree else None
        now_tree = now.id if now is not None and now.is_tree else None
        yield from differences(objects, was_tree, now_tree, place)
        was_file = None if was_tree is not None else was
        now_file = None if now_tree is not None else now
        if was_file != now_file:
            yield place, was_file, now_file


def place_of_number(number: int) -> Names:
    """Where a tree by numbers keeps one: no directory has more than 256 entries."""
    digits = f"{number:x}"
    digits = "0" * (len(digits) % 2) + digits
    pairs = [digits[at : at + 2].encode() for at in range(0, len(digits), 2)]
    return (b"%d" % len(pairs), *pairs)
