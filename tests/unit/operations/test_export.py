"""Export: a plain tree of files, of one moment, and nothing outside it is touched."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path

import pytest

from memoranda.drive import run_now
from memoranda.errors import BadFolder, Unavailable
from memoranda.operations.export import Exported, Progress, export
from memoranda.operations.host_folder import HostFolder
from memoranda.path import ROOT, MemoryPath, parse_path
from memoranda.stores.base import Capabilities, Context, Put, Remove, Store, Version, WrapperStore
from tests.stand_ins import fresh_store


def p(text: str) -> MemoryPath:
    return parse_path(f"/memories{text}")


def filled() -> Store:
    store = fresh_store()
    contents = {"/a.md": b"1\r\n", "/d/e/b.md": b"\xff", "/d/.hidden": b"", "/d/ü.md": b"22"}
    run_now(store.apply([Put(p(path), content) for path, content in contents.items()], Context()))
    return store


def tree(folder: Path) -> dict[str, bytes]:
    return {
        str(file.relative_to(folder)): file.read_bytes()
        for file in folder.rglob("*")
        if file.is_file()
    }


ALL = {"a.md": b"1\r\n", "d/e/b.md": b"\xff", "d/.hidden": b"", "d/ü.md": b"22"}


def run(
    store: Store,
    folder: Path,
    prefix: MemoryPath = ROOT,
    *,
    replace: bool = False,
    progress: Progress | None = None,
) -> Exported:
    return run_now(export(store, prefix, folder, replace=replace, progress=progress))


def test_every_memory_is_a_file_byte_for_byte_and_only_its_owners(tmp_path: Path) -> None:
    folder = tmp_path / "new" / "folder"
    assert run(filled(), folder) == Exported(files=4, size_bytes=6)
    assert tree(folder) == ALL
    for file in folder.rglob("*"):
        mode = stat.S_IMODE(file.stat().st_mode)
        assert mode == (0o700 if file.is_dir() else 0o600)


def test_a_part_keeps_its_place_in_the_tree(tmp_path: Path) -> None:
    run(filled(), tmp_path / "dir", p("/d/e"))
    assert tree(tmp_path / "dir") == {"d/e/b.md": b"\xff"}
    run(filled(), tmp_path / "file", p("/a.md"))
    assert tree(tmp_path / "file") == {"a.md": b"1\r\n"}
    assert run(filled(), tmp_path / "nothing", p("/none")) == Exported(0, 0)
    assert tree(tmp_path / "nothing") == {}


def test_the_caller_is_told_how_far_it_is(tmp_path: Path) -> None:
    told: list[tuple[int, int]] = []
    run(filled(), tmp_path, progress=lambda done, total: told.append((done, total)))
    assert told == [(1, 4), (2, 4), (3, 4), (4, 4)]


def test_a_folder_that_is_not_empty_is_refused_and_left_as_it_is(tmp_path: Path) -> None:
    (tmp_path / "mine").write_text("keep")
    with pytest.raises(BadFolder, match="isn't empty"):
        run(filled(), tmp_path)
    assert tree(tmp_path) == {"mine": b"keep"}


def test_told_to_replace_it_replaces_files_of_the_same_name_and_leaves_others(
    tmp_path: Path,
) -> None:
    (tmp_path / "d").mkdir()
    (tmp_path / "d" / "ü.md").write_text("older and longer")
    (tmp_path / "mine").write_text("keep")
    run(filled(), tmp_path, replace=True)
    assert tree(tmp_path) == ALL | {"mine": b"keep"}


def test_links_in_the_folder_are_not_followed(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "target").write_text("untouched")
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "a.md").symlink_to(outside / "target")
    run(filled(), folder, p("/a.md"), replace=True)
    assert not (folder / "a.md").is_symlink()
    (folder / "d").symlink_to(outside, target_is_directory=True)
    with pytest.raises(BadFolder, match="link"):
        run(filled(), folder, replace=True)
    assert tree(outside) == {"target": b"untouched"}


def test_a_folder_reached_through_a_link_is_fine(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real", target_is_directory=True)
    run(filled(), tmp_path / "link")
    assert tree(tmp_path / "real") == ALL


def test_what_is_in_the_way_is_named_without_a_path_of_the_host(tmp_path: Path) -> None:
    (tmp_path / "a.md").mkdir()
    with pytest.raises(BadFolder) as refused:
        run(filled(), tmp_path, replace=True)
    assert str(tmp_path) not in str(refused.value)
    (tmp_path / "file").write_text("")
    with pytest.raises(BadFolder):
        run(filled(), tmp_path / "file")


def test_a_folder_that_may_not_be_used_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise PermissionError(errno.EACCES, "Permission denied", str(tmp_path))

    monkeypatch.setattr(os, "makedirs", refuse)
    with pytest.raises(BadFolder, match="may not be used"):
        run(filled(), tmp_path / "new")


def test_a_full_disk_is_unavailable(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device", str(tmp_path))

    monkeypatch.setattr(HostFolder, "write", fail)
    with pytest.raises(Unavailable) as failed:
        run(filled(), tmp_path)
    assert str(failed.value) == "The folder can't be used now: No space left on device."


class Moving(WrapperStore):
    """Somebody writes while the export reads."""

    moved = False

    async def version(self, version_id: str) -> Version:
        if not self.moved:
            self.moved = True
            changed, new = Put(p("/d/ü.md"), b"later"), Put(p("/new"), b"later")
            await self.inner.apply([changed, Remove(p("/d/e")), new], Context())
        return await self.inner.version(version_id)


def test_all_files_are_of_one_moment_whoever_writes_meanwhile(tmp_path: Path) -> None:
    run(Moving(filled()), tmp_path)
    assert tree(tmp_path) == ALL


def test_without_a_past_it_takes_what_is_there(tmp_path: Path) -> None:
    store = WrapperStore(filled())
    store.capabilities = Capabilities(time_travel=False)  # type: ignore[misc] # pyright: ignore[reportAttributeAccessIssue]
    run(store, tmp_path)
    assert tree(tmp_path) == ALL


class RedactedMeanwhile(WrapperStore):
    async def version(self, version_id: str) -> Version:
        version = await self.inner.version(version_id)
        return version._replace(content=None) if version.path == p("/a.md") else version


def test_what_is_redacted_meanwhile_is_left_out(tmp_path: Path) -> None:
    assert run(RedactedMeanwhile(filled()), tmp_path) == Exported(files=3, size_bytes=3)
    assert "a.md" not in tree(tmp_path)
