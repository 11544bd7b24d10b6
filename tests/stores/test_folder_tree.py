"""The tree of a store's files by itself: what a disk may answer and what others may do meanwhile."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from memoranda.stores.folder import tree as tree_module
from memoranda.stores.folder.file_port import FILES, LISTING, Files
from memoranda.stores.folder.follow import move_entries
from memoranda.stores.folder.tree import Tree, read_whole


class Faulty(Files):
    """A disk that fails, or somebody who is faster, at one operation: ``at[operation]`` is called
    with the name first."""

    def __init__(self) -> None:
        self.at: dict[str, Callable[[str], object]] = {}

    def _do(self, operation: str, name: str) -> None:
        self.at.get(operation, str)(name)

    def open_beneath(self, root: int, path: str, flags: int) -> int:
        self._do("open_beneath", path)
        return super().open_beneath(root, path, flags)

    def open(self, name: str, flags: int, directory: int | None = None) -> int:
        self._do("open", name)
        return super().open(name, flags, directory)

    def stat(self, name: str, directory: int) -> os.stat_result:
        self._do("stat", name)
        return super().stat(name, directory)

    def make_directory(self, name: str, directory: int) -> int:
        self._do("make_directory", name)
        return super().make_directory(name, directory)

    def remove_directory(self, name: str, directory: int) -> None:
        self._do("remove_directory", name)
        super().remove_directory(name, directory)

    def move(self, old: str, old_directory: int, new: str, new_directory: int) -> None:
        self._do("move", old)
        super().move(old, old_directory, new, new_directory)

    @contextmanager
    def entries(self, directory: int) -> Generator[Iterator[os.DirEntry[str]]]:
        with os.scandir(directory) as found:
            entries = list(found)
        self._do("entries", "")
        yield iter(entries)


def failing(number: int, only: str | None = None) -> Callable[[str], object]:
    """An operation that fails, for one name or for all."""

    def fail(name: str) -> None:
        if only is None or name == only:
            raise OSError(number, os.strerror(number))

    return fail


@pytest.fixture
def files() -> Faulty:
    return Faulty()


@pytest.fixture
def tree(tmp_path: Path, files: Faulty) -> Iterator[Tree]:
    (tmp_path / "d/e").mkdir(parents=True)
    (tmp_path / "d/e/a.md").write_text("text")
    (tmp_path / "top.md").write_text("top")
    root = os.open(tmp_path, os.O_RDONLY | os.O_DIRECTORY)
    yield Tree(files, root)
    os.close(root)


def descriptors() -> int:
    """How many this process has open."""
    return len(os.listdir("/proc/self/fd"))


LOOKS: list[tuple[str, Callable[[Tree], object]]] = [
    ("stat", lambda tree: tree.look(("top.md",))),
    ("open_beneath", lambda tree: tree.look(("d", "e"))),
    ("stat", lambda tree: tree.is_free(("new.md",))),
    ("remove_directory", lambda tree: tree.prune(("d", "x"))),
    ("remove_directory", lambda tree: tree.remove_empty(("d", "x"))),
    ("open", lambda tree: list(tree.walk())),
    ("make_directory", lambda tree: tree.made_parent(("d", "new", "newer", "a.md"))),
    ("open", lambda tree: tree.made_parent(("new", "a.md"))),
]


@pytest.mark.parametrize(("operation", "look"), LOOKS)
def test_a_disk_that_fails_is_not_taken_for_an_empty_one(
    tree: Tree, files: Faulty, tmp_path: Path, operation: str, look: Callable[[Tree], object]
) -> None:
    (tmp_path / "d/x").mkdir()
    before = descriptors()
    files.at[operation] = failing(errno.EIO)
    with pytest.raises(OSError, match=os.strerror(errno.EIO)):
        look(tree)
    assert descriptors() == before


def test_nothing_is_read_where_nothing_is_or_what_is_there_is_too_large(
    tree: Tree, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert tree.read(("d", "none.md")) is None
    assert tree.read(("d",)) is None
    monkeypatch.setattr(tree_module, "LARGEST_BYTES", 3)
    assert tree.read(("d", "e", "a.md")) is None
    found = tree.read(("top.md",))
    assert found is not None
    assert found[0] == b"top"


def test_directories_are_removed_only_while_they_are_empty(
    tree: Tree, files: Faulty, tmp_path: Path
) -> None:
    assert not tree.remove_empty(("none",))
    assert not tree.remove_empty(("d",))
    tree.prune(("d", "none"))
    (tmp_path / "d/e/a.md").unlink()
    files.at["remove_directory"] = lambda name: (tmp_path / "d/e/late.md").write_text("late")
    assert not tree.remove_empty(("d",))
    tree.prune(("d", "e"))
    assert (tmp_path / "d/e/late.md").read_text() == "late"
    (tmp_path / "d/e/late.md").unlink()
    files.at.clear()
    assert tree.remove_empty(("d",))
    assert not (tmp_path / "d").exists()


def test_what_goes_while_it_is_listed_is_left_out(
    tree: Tree, files: Faulty, tmp_path: Path
) -> None:
    (tmp_path / "d/gone").mkdir()
    (tmp_path / "d/link").symlink_to("/")

    def vanish(name: str) -> None:
        if name == "gone":
            (tmp_path / "d/gone").rmdir()

    files.at["open"] = vanish
    assert [here.place for here in tree.walk()] == [(), ("d",), ("d", "e")]
    assert list(tree.walk(("none",))) == []
    assert list(tree.each_file(("none",))) == []
    assert {place for place, _ in tree.each_file()} == {("top.md",), ("d", "e", "a.md")}
    files.at["entries"] = lambda _: (tmp_path / "top.md").unlink(missing_ok=True)
    assert {place for place, _ in tree.each_file()} == {("d", "e", "a.md")}
    (tmp_path / "top.md").write_text("top")
    assert next(here.files for here in tree.walk()) == {}


def test_another_file_system_in_the_tree_is_not_walked_into(
    tmp_path: Path, tree: Tree, monkeypatch: pytest.MonkeyPatch
) -> None:
    fstat, inode = os.fstat, (tmp_path / "d/e").stat().st_ino

    def mounted(descriptor: int) -> os.stat_result:
        found = fstat(descriptor)
        if found.st_ino != inode:
            return found
        values = list(found)
        values[2] += 1  # st_dev
        return os.stat_result(values)

    monkeypatch.setattr(Faulty, "fstat", staticmethod(mounted), raising=False)
    assert [here.place for here in tree.walk()] == [(), ("d",)]


def test_a_file_that_grows_while_it_is_read_is_read_to_its_end(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"x" * 100)
    descriptor = os.open(tmp_path / "a", os.O_RDONLY)
    assert read_whole(FILES, descriptor, 10) == b"x" * 100
    os.close(descriptor)


# ---------------------------------------------------------------- entry by entry


def test_entries_move_one_by_one_where_a_directory_cannot_and_what_is_taken_stays(
    tree: Tree, files: Faulty, tmp_path: Path
) -> None:
    (tmp_path / "d/e/taken.md").write_text("ours")
    (tmp_path / "d/f").mkdir()
    (tmp_path / "d/f/b.md").write_text("more")
    (tmp_path / "new/e").mkdir(parents=True)
    (tmp_path / "new/e/taken.md").write_text("theirs")
    files.at["move"] = failing(errno.EXDEV, "f")
    move_entries(files, "d", tree.root, "new", tree.root)
    assert {place: tree.read(place) and (tmp_path / Path(*place)).read_text() for place, _ in
            tree.each_file()} == {
        ("top.md",): "top",
        ("new", "e", "a.md"): "text",
        ("new", "e", "taken.md"): "theirs",
        ("new", "f", "b.md"): "more",
        ("d", "e", "taken.md"): "ours",
    }  # fmt: skip
    assert not (tmp_path / "d/f").exists()


def test_a_disk_that_fails_ends_the_move_and_leaves_no_descriptor(
    tree: Tree, files: Faulty, tmp_path: Path
) -> None:
    before = descriptors()
    files.at["move"] = failing(errno.EIO)
    with pytest.raises(OSError, match=os.strerror(errno.EIO)):
        move_entries(files, "d", tree.root, "new", tree.root)
    assert (tmp_path / "d/e/a.md").exists()
    assert descriptors() == before


def test_the_listing_of_a_directory_has_a_position_of_its_own(tree: Tree) -> None:
    one, other = tree.list_directory(()), tree.list_directory(())
    assert one is not None
    assert other is not None
    assert sorted(FILES.names(one)) == sorted(FILES.names(other)) == ["d", "top.md"]
    beneath = FILES.open("d", LISTING, one)
    assert FILES.names(beneath) == ["e"]
    for descriptor in (one, other, beneath):
        os.close(descriptor)
