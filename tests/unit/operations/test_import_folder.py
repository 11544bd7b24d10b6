"""Import: files become memories, and whatever does not is reported."""

from __future__ import annotations

import os
import socket
import stat
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from memoranda.drive import run_now
from memoranda.errors import BadFolder
from memoranda.operations.host_folder import HostFolder, Kind
from memoranda.operations.import_folder import Imported, NotImported, import_folder
from memoranda.operations.listing import memories_at
from memoranda.path import ROOT, MemoryPath, parse_path
from memoranda.policies.limits import LimitSize
from memoranda.stores.base import Ceiling, Change, Context, Put, Store, Version, WrapperStore
from tests.stand_ins import fresh_store

WHO = Context(actor="user_1", command="import")


def p(text: str) -> MemoryPath:
    return parse_path(f"/memories{text}")


def run(store: Store, folder: Path, prefix: MemoryPath = ROOT, **options: Any) -> Imported:
    return run_now(import_folder(store, prefix, folder, WHO, **options))


def contents(store: Store) -> dict[str, bytes]:
    entries = run_now(memories_at(store, ROOT)).values()
    return {entry.path.store_path: run_now(store.read(entry.path)).data for entry in entries}


def fill(folder: Path, files: dict[str, bytes]) -> None:
    for name, content in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)


FILES = {"a.md": b"1\r\n", "d/e/b.md": b"\xff", "d/.hidden": b"", "z.md": b"22"}
AS_MEMORIES = {f"/{name}": content for name, content in FILES.items()}


def test_every_file_is_a_memory_byte_for_byte(tmp_path: Path) -> None:
    fill(tmp_path, FILES)
    store = fresh_store()
    done = run(store, tmp_path)
    assert contents(store) == AS_MEMORIES
    assert done.refused == ()
    assert done.unchanged == ()
    assert set(done.written) == {p(name) for name in AS_MEMORIES}
    newest = run_now(store.versions(limit=1)).versions[0]
    assert (newest.actor, newest.command) == ("user_1", "import")


def test_files_go_below_the_prefix(tmp_path: Path) -> None:
    fill(tmp_path, {"a.md": b"1", "d/b.md": b"2"})
    store = fresh_store()
    run(store, tmp_path, p("/old/notes"))
    assert contents(store) == {"/old/notes/a.md": b"1", "/old/notes/d/b.md": b"2"}


def test_the_folder_of_the_sdks_tool_is_known_by_its_memories(tmp_path: Path) -> None:
    fill(tmp_path, {"memories/a.md": b"1", "main.py": b"no memory"})
    store = fresh_store()
    run(store, tmp_path)
    assert contents(store) == {"/a.md": b"1"}


def test_told_that_it_is_plain_a_folder_is_taken_as_it_is(tmp_path: Path) -> None:
    fill(tmp_path, {"memories/a.md": b"1", "b.md": b"2", "stores/c": b"3"})
    store = fresh_store()
    run(store, tmp_path, layout="plain")
    assert contents(store) == {"/memories/a.md": b"1", "/b.md": b"2", "/stores/c": b"3"}


def test_a_file_called_memories_is_a_memory(tmp_path: Path) -> None:
    fill(tmp_path, {"memories": b"1"})
    store = fresh_store()
    run(store, tmp_path)
    assert contents(store) == {"/memories": b"1"}


def test_a_store_of_ours_is_not_taken_for_memories(tmp_path: Path) -> None:
    fill(tmp_path, {"stores/acme/history.db": b""})
    with pytest.raises(BadFolder, match="open it instead"):
        run(fresh_store(), tmp_path)


def test_a_folder_that_is_not_there_is_refused_without_its_path(tmp_path: Path) -> None:
    with pytest.raises(BadFolder) as refused:
        run(fresh_store(), tmp_path / "none")
    assert str(refused.value) == "There is no such folder."
    fill(tmp_path, {"file": b""})
    with pytest.raises(BadFolder):
        run(fresh_store(), tmp_path / "file")


# ---------------------------------------------------------------- what stays outside


def test_names_that_the_policy_refuses_are_reported_with_the_reason(tmp_path: Path) -> None:
    fill(tmp_path, {" a.md": b"1", "ok.md": b"2", ".git/config": b"3", "d/a%2fb": b"4"})
    (tmp_path / os.fsdecode(b"bad\xff")).write_bytes(b"5")
    store = fresh_store()
    done = run(store, tmp_path)
    assert contents(store) == {"/ok.md": b"2"}
    assert done.refused == (
        NotImported(" a.md", "A name can't begin with a space."),
        NotImported(".git/", "A name can't be .git or another spelling of it."),
        NotImported("bad\\udcff", "A name can't hold control characters or invisible ones."),
        NotImported("d/a%2fb", "Memory paths start with /memories and stay inside it."),
    )


def test_names_are_made_harmless_before_they_are_shown(tmp_path: Path) -> None:
    fill(tmp_path, {"a\nb\u202e.md": b"1"})
    (refused,) = run(fresh_store(), tmp_path).refused
    assert refused.name == "a\\nb\\u202e.md"


def test_too_deep_folders_are_reported_once(tmp_path: Path) -> None:
    deep = tmp_path.joinpath(*["d"] * 21)
    fill(deep, {"a.md": b"1", "b.md": b"2"})
    (refused,) = run(fresh_store(), tmp_path).refused
    assert refused.name == "d/" * 21
    assert "20 names deep" in refused.reason


def test_links_devices_and_pipes_are_neither_followed_nor_opened(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    fill(outside, {"secret": b"no"})
    folder = tmp_path / "folder"
    fill(folder, {"a.md": b"1"})
    (folder / "dir_link").symlink_to(outside, target_is_directory=True)
    (folder / "link").symlink_to(outside / "secret")
    (folder / "loop").symlink_to(folder / "loop")
    os.mkfifo(folder / "pipe")
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(os.path.relpath(folder / "socket"))
    store = fresh_store()
    done = run(store, folder)
    assert contents(store) == {"/a.md": b"1"}
    assert [one.name for one in done.refused] == ["dir_link", "link", "loop", "pipe", "socket"]
    assert {one.reason for one in done.refused} == {"It is a link or a device, not a file."}


def test_names_that_are_one_for_us_are_not_mixed_up(tmp_path: Path) -> None:
    fill(tmp_path, {"e\u0301.md": b"decomposed", "\u00e9.md": b"composed"})
    store = fresh_store()
    done = run(store, tmp_path)
    assert len(contents(store)) == 1
    (refused,) = done.refused
    assert "accents" in refused.reason


def test_a_decomposed_name_becomes_the_memory_of_the_composed_one(tmp_path: Path) -> None:
    fill(tmp_path, {"e\u0301.md": b"1"})
    store = fresh_store()
    run(store, tmp_path)
    assert contents(store) == {"/\u00e9.md": b"1"}


def test_a_file_that_turns_into_something_else_is_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    os.mkfifo(tmp_path / "pipe")

    def always_file(*_: object) -> Kind:
        return Kind.FILE

    monkeypatch.setattr(HostFolder, "kind", always_file)
    assert run(fresh_store(), tmp_path).refused == (
        NotImported("pipe", "It is a link or a device, not a file."),
    )
    assert stat.S_ISFIFO((tmp_path / "pipe").stat().st_mode)


# ---------------------------------------------------------------- what is there already


def test_a_memory_of_the_same_content_is_left_and_of_another_one_reported(tmp_path: Path) -> None:
    fill(tmp_path, {"a.md": b"same", "b.md": b"other", "c": b"a directory lives here"})
    store = fresh_store()
    present = [Put(p("/a.md"), b"same"), Put(p("/b.md"), b"mine"), Put(p("/c/x"), b"")]
    run_now(store.apply(present, Context()))
    done = run(store, tmp_path)
    assert done.written == ()
    assert done.unchanged == (p("/a.md"),)
    assert done.refused == (
        NotImported("b.md", "A memory with another content is there already."),
        NotImported("c", "/memories/c is a directory."),
    )
    assert contents(store) == {"/a.md": b"same", "/b.md": b"mine", "/c/x": b""}


def test_told_to_replace_it_replaces(tmp_path: Path) -> None:
    fill(tmp_path, {"a.md": b"same", "b.md": b"other"})
    store = fresh_store()
    run_now(store.apply([Put(p("/a.md"), b"same"), Put(p("/b.md"), b"mine")], Context()))
    done = run(store, tmp_path, replace=True)
    assert (done.written, done.unchanged) == ((p("/b.md"),), (p("/a.md"),))
    assert contents(store) == {"/a.md": b"same", "/b.md": b"other"}


def test_a_dry_run_says_what_would_be_done_and_does_nothing(tmp_path: Path) -> None:
    fill(tmp_path, FILES)
    store = fresh_store()
    planned = run(store, tmp_path, dry_run=True)
    assert contents(store) == {}
    assert run(store, tmp_path) == planned
    again = run(store, tmp_path, dry_run=True)
    assert (again.written, set(again.unchanged)) == ((), set(planned.written))


# ---------------------------------------------------------------- batches and limits


class CountingBatches(WrapperStore):
    """Notes how large each batch is."""

    def __init__(self, inner: Store) -> None:
        super().__init__(inner)
        self.sizes: list[int] = []

    async def apply(self, changes: Sequence[Change], context: Context) -> tuple[Version, ...]:
        self.sizes.append(len(changes))
        return await self.inner.apply(changes, context)


def test_many_files_go_in_several_batches(tmp_path: Path) -> None:
    fill(tmp_path, {f"{number:03}.md": b"x" for number in range(450)})
    store = CountingBatches(fresh_store())
    told: list[tuple[int, int]] = []

    def tell(done: int, total: int) -> None:
        told.append((done, total))

    run(store, tmp_path, progress=tell)
    assert store.sizes == [200, 200, 50]
    assert told == [(number, 450) for number in range(1, 451)]


def test_large_files_make_batches_of_few(tmp_path: Path) -> None:
    fill(tmp_path, {f"{number}.md": bytes(3 * 1024 * 1024) for number in range(3)})
    store = CountingBatches(fresh_store())
    run(store, tmp_path)
    assert store.sizes == [2, 1]


def test_a_file_that_a_limit_refuses_does_not_keep_the_others_out(tmp_path: Path) -> None:
    fill(tmp_path, {f"{number}.md": b"x" * number for number in range(8)})
    store = fresh_store()
    done = run(LimitSize(store, Ceiling(file_bytes=5)), tmp_path)
    assert len(contents(store)) == 6
    assert done.refused == (
        NotImported("6.md", "/memories/6.md would be 6 bytes, over the limit of 5."),
        NotImported("7.md", "/memories/7.md would be 7 bytes, over the limit of 5."),
    )


def test_a_file_over_the_limit_is_not_even_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(tmp_path, {"large.md": b"123456"})

    def unread(*_: object) -> bytes:
        raise AssertionError("the file was read")

    monkeypatch.setattr(HostFolder, "read", unread)
    assert run(fresh_store(), tmp_path, file_bytes=5).refused == (
        NotImported("large.md", "/memories/large.md would be 6 bytes, over the limit of 5."),
    )


def test_a_full_memory_takes_what_fits_and_reports_the_rest(tmp_path: Path) -> None:
    fill(tmp_path, {f"{number}.md": b"123" for number in range(5)})
    store = fresh_store()
    done = run(LimitSize(store, Ceiling(files=3)), tmp_path)
    assert len(contents(store)) == len(done.written) == 3
    assert [one.reason for one in done.refused] == ["The memory holds 3 files, its limit."] * 2
