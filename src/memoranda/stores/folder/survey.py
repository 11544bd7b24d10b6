"""The whole of a store, as the log has it and as the tree shows it, side by side."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from memoranda.stores.folder.tree import Place, Seen, Tree

if TYPE_CHECKING:
    from memoranda.stores.log.store_log import StoreLog


class Row(NamedTuple):
    """A live file as the log has it; ``image`` is None where nobody knows it."""

    node: int
    size: int
    sha: bytes
    body: int
    image: Seen | None


class Differences(NamedTuple):
    """Where tree and log are not the same: files whose image differs, that are not in the tree,
    that are not in the log."""

    changed: dict[Place, Seen]
    missing: frozenset[Place]
    extra: dict[Place, Seen]

    @property
    def any(self) -> bool:
        """Whether there is a difference at all."""
        return bool(self.changed or self.missing or self.extra)


_LIVE: Final = (
    "SELECT id, parent, name, files, size, sha, body, ino, mtime FROM node"
    " WHERE gone IS NULL AND id > ? AND id < ?"
)


def rows_of(log: StoreLog) -> dict[Place, Row]:
    """Every live file of the log by its place."""
    files: dict[int, list[tuple[str, Row]]] = {}
    directories: dict[int, list[tuple[str, int]]] = {}
    for node, parent, name, count, size, sha, body, ino, mtime in log.db.execute(
        _LIVE, (log.base, log.end)
    ):
        if count is not None:
            directories.setdefault(parent, []).append((name[:-1], node))
        else:
            image = None if ino is None else Seen(ino, mtime, size)
            files.setdefault(parent, []).append((name, Row(node, size, sha, body, image)))
    rows: dict[Place, Row] = {}
    above: list[tuple[Place, int]] = [((), log.base)]
    while above:
        place, directory = above.pop()
        for name, row in files.get(directory, ()):
            rows[*place, name] = row
        for name, node in directories.get(directory, ()):
            above.append(((*place, name), node))
    return rows


def files_of(tree: Tree) -> dict[Place, Seen]:
    """Every regular file of the tree by its place; names that no path may have, too."""
    return {(*here.place, name): seen for here in tree.walk() for name, seen in here.files.items()}


def compare(rows: dict[Place, Row], files: dict[Place, Seen]) -> Differences:
    """Where the two differ, by images only."""
    changed = {
        place: seen for place, seen in files.items() if place in rows and rows[place].image != seen
    }
    missing = frozenset(place for place in rows if place not in files)
    extra = {place: seen for place, seen in files.items() if place not in rows}
    return Differences(changed, missing, extra)
