"""What people do in the tree is adopted, never lost and never overwritten unseen."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from memoranda.drive import run_now
from memoranda.errors import AlreadyExists, NotADirectory, NotFound
from memoranda.path import ROOT
from memoranda.stores.folder.external_edits import MOST_LOOKS
from memoranda.stores.folder.file_port import Files
from memoranda.testing.promises.steps import append, p, replace_all
from memoranda.text.splice import Splice
from tests.stores.folder_rig import FolderRig


@pytest.fixture
def rig(tmp_path: Path) -> FolderRig:
    rig = FolderRig(tmp_path)
    rig.put("/a.md", b"one\n")
    rig.put("/d/b.md", b"two\n")
    return rig


def save_by_rename(path: Path, content: bytes) -> None:
    """How careful editors save."""
    beside = path.with_name(f".{path.name}.tmp")
    beside.write_bytes(content)
    beside.rename(path)


class TestAnEditedFile:
    def test_is_adopted_before_the_agents_edit_which_then_sees_it(self, rig: FolderRig) -> None:
        (rig.memories / "a.md").write_bytes(b"one\nby hand\n")
        rig.edit("/a.md", append(b"by agent\n"))
        assert rig.read("/a.md") == b"one\nby hand\nby agent\n"
        assert rig.history("/a.md") == [
            ("agent", "created", "/a.md", b"one\n"),
            ("external", "modified", "/a.md", b"one\nby hand\n"),
            ("agent", "modified", "/a.md", b"one\nby hand\nby agent\n"),
        ]
        rig.check()

    def test_is_adopted_when_it_was_saved_by_a_rename(self, rig: FolderRig) -> None:
        save_by_rename(rig.memories / "d/b.md", b"by hand\n")
        rig.put("/d/b.md", b"by agent\n")
        assert rig.external() == [("modified", "/d/b.md", b"by hand\n")]
        rig.check()

    def test_is_seen_by_a_view_at_once_and_adopted_by_nobody(self, rig: FolderRig) -> None:
        (rig.memories / "a.md").write_bytes(b"by hand")
        assert rig.read("/a.md") == b"by hand"
        assert run_now(rig.store.outline(ROOT, 1000)).items[0][1] == 7
        assert run_now(rig.store.usage()).size_bytes == 8

    def test_with_the_same_text_makes_no_version(self, rig: FolderRig) -> None:
        save_by_rename(rig.memories / "a.md", b"one\n")
        os.utime(rig.memories / "d/b.md")
        rig.edit("/a.md", append(b"more\n"))
        rig.move("/d/b.md", "/c.md")
        assert rig.external() == []
        assert rig.clock.naps == []
        rig.check()

    def test_is_believed_only_when_two_looks_agree(self, rig: FolderRig) -> None:
        file = rig.memories / "a.md"
        file.write_bytes(b"")

        def go_on_saving() -> None:
            if len(rig.clock.naps) < 4:
                with file.open("ab") as open_file:
                    open_file.write(b"line\n")

        rig.clock.while_waiting = go_on_saving
        rig.edit("/a.md", append(b"by agent\n"))
        assert rig.external() == [("modified", "/a.md", b"line\n" * 3)]
        rig.check()

    def test_is_believed_after_ten_looks_however_it_changes(self, rig: FolderRig) -> None:
        file = rig.memories / "a.md"
        file.write_bytes(b"0")

        def go_on_for_ever() -> None:
            if len(rig.clock.naps) <= 10:
                file.write_bytes(b"%d" % len(rig.clock.naps))

        rig.clock.while_waiting = go_on_for_ever
        rig.edit("/a.md", append(b"!"))
        assert rig.read("/a.md").endswith(b"!")
        rig.check()

    def test_decides_what_the_agents_edit_finds(self, rig: FolderRig) -> None:
        (rig.memories / "a.md").write_bytes(b"something else\n")

        def only_one(old: bytes) -> Splice:
            if old != b"one\n":
                raise NotFound(p("/a.md"))
            return Splice(0, 0, b"x")

        with pytest.raises(NotFound):
            rig.edit("/a.md", only_one)
        assert rig.read("/a.md") == b"something else\n"
        assert rig.external() == [("modified", "/a.md", b"something else\n")]

    def test_goes_into_history_before_the_agent_deletes_it(self, rig: FolderRig) -> None:
        (rig.memories / "a.md").write_bytes(b"by hand")
        rig.remove("/a.md")
        assert rig.history("/a.md")[-2:] == [
            ("external", "modified", "/a.md", b"by hand"),
            ("agent", "deleted", "/a.md", None),
        ]
        rig.check()

    def test_moves_with_its_directory_and_is_adopted_there(self, rig: FolderRig) -> None:
        (rig.memories / "d/b.md").write_bytes(b"by hand")
        rig.move("/d", "/e")
        assert rig.tree() == {"/a.md": b"one\n", "/e/b.md": b"by hand"}
        assert rig.external() == [("modified", "/e/b.md", b"by hand")]
        rig.check()

    @pytest.mark.fault("BAD-09")
    def test_may_hold_any_bytes(self, rig: FolderRig) -> None:
        (rig.memories / "a.md").write_bytes(b"\xff\x00\xfe")
        rig.check()
        assert rig.external() == [("modified", "/a.md", b"\xff\x00\xfe")]


class TestANewFile:
    def test_is_adopted_by_whoever_lists_everything(self, rig: FolderRig) -> None:
        (rig.memories / "new").mkdir()
        (rig.memories / "new/c.md").write_bytes(b"by hand")
        assert rig.tree()["/new/c.md"] == b"by hand"
        assert rig.external() == [("created", "/new/c.md", b"by hand")]
        rig.check()

    def test_stands_in_the_way_of_a_create(self, rig: FolderRig) -> None:
        from memoranda.stores.base import Expect, Put

        (rig.memories / "new.md").write_bytes(b"by hand")
        with pytest.raises(AlreadyExists):
            rig.apply(Put(p("/new.md"), b"by agent", Expect.ABSENT))
        assert rig.read("/new.md") == b"by hand"
        rig.check()

    def test_is_kept_in_history_when_the_agent_replaces_it(self, rig: FolderRig) -> None:
        (rig.memories / "new.md").write_bytes(b"by hand")
        rig.put("/new.md", b"by agent")
        assert rig.history("/new.md") == [
            ("external", "created", "/new.md", b"by hand"),
            ("agent", "modified", "/new.md", b"by agent"),
        ]
        rig.check()

    def test_is_edited_by_the_agent_like_any_other(self, rig: FolderRig) -> None:
        (rig.memories / "new.md").write_bytes(b"by hand")
        rig.edit("/new.md", append(b" and agent"))
        assert rig.read("/new.md") == b"by hand and agent"
        rig.check()

    def test_where_a_directory_is_needed_is_no_directory(self, rig: FolderRig) -> None:
        (rig.memories / "new").write_bytes(b"by hand")
        with pytest.raises(NotADirectory):
            rig.put("/new/x.md", b"by agent")
        rig.check()

    def test_that_looks_like_litter_is_left_alone(self, rig: FolderRig) -> None:
        litter = [".a.md.swp", "a.md~", "#a.md#", "4913", ".DS_Store", "._a.md", "Thumbs.db"]
        for name in litter:
            (rig.memories / name).write_bytes(b"litter")
        (rig.memories / ".git").mkdir()
        (rig.memories / ".git/HEAD").write_bytes(b"ref")
        assert rig.tree() == {"/a.md": b"one\n", "/d/b.md": b"two\n"}
        assert rig.external() == []
        shown = [name for name, _ in run_now(rig.store.outline(ROOT, 1000)).items]
        assert shown == ["a.md", "d/", "d/b.md"]

    def test_of_a_litter_name_that_the_agent_names_is_adopted(self, rig: FolderRig) -> None:
        (rig.memories / "a.md~").write_bytes(b"backup")
        rig.edit("/a.md~", append(b"!"))
        assert rig.read("/a.md~") == b"backup!"
        shown = [name for name, _ in run_now(rig.store.outline(ROOT, 1000)).items]
        assert "a.md~" in shown
        rig.check()

    def test_whose_name_no_path_can_have_is_not_there(self, rig: FolderRig) -> None:
        for name in (" a", "a\\b", "e\u0301", "x\u200b", os.fsdecode(b"\xff")):
            (rig.memories / name).write_bytes(b"strange")
        assert rig.tree() == {"/a.md": b"one\n", "/d/b.md": b"two\n"}
        assert run_now(rig.store.outline(ROOT, 1000)).total == 3

    def test_that_is_deeper_than_a_path_may_be_is_not_there(self, rig: FolderRig) -> None:
        deep = rig.memories.joinpath(*["d"] * 20)
        deep.mkdir(parents=True)
        (deep / "x.md").write_bytes(b"deep")
        assert rig.tree() == {"/a.md": b"one\n", "/d/b.md": b"two\n"}


class TestARemovedFile:
    def test_is_removed_from_the_store_too(self, rig: FolderRig) -> None:
        (rig.memories / "a.md").unlink()
        with pytest.raises(NotFound):
            rig.edit("/a.md", append(b"x"))
        assert rig.external() == [("deleted", "/a.md", None)]
        rig.check()

    def test_that_comes_back_is_the_same_memory(self, rig: FolderRig) -> None:
        before = run_now(rig.store.stat(p("/a.md"))).memory_id
        (rig.memories / "a.md").unlink()
        assert "/a.md" not in rig.tree()
        (rig.memories / "a.md").write_bytes(b"back")
        assert rig.tree()["/a.md"] == b"back"
        assert run_now(rig.store.stat(p("/a.md"))).memory_id == before
        rig.check()

    def test_that_the_agent_deleted_comes_back_as_another(self, rig: FolderRig) -> None:
        before = run_now(rig.store.stat(p("/a.md"))).memory_id
        rig.remove("/a.md")
        (rig.memories / "a.md").write_bytes(b"back")
        assert run_now(rig.store.stat(p("/a.md"))).memory_id != before
        rig.check()

    def test_is_believed_missing_only_after_a_second_look(self, rig: FolderRig) -> None:
        file = rig.memories / "a.md"
        file.rename(rig.memories / "a.md~")

        def put_the_new_one_there() -> None:
            if not file.exists():
                file.write_bytes(b"saved")

        rig.clock.while_waiting = put_the_new_one_there
        rig.edit("/a.md", append(b"!"))
        assert rig.read("/a.md") == b"saved!"
        assert [each[0] for each in rig.external()] == ["modified"]

    def test_and_its_whole_directory_go(self, rig: FolderRig) -> None:
        shutil.rmtree(rig.memories / "d")
        with pytest.raises(NotFound):
            rig.remove("/d")
        assert rig.external() == [("deleted", "/d/b.md", None)]
        rig.check()

    def test_that_became_a_directory_is_one(self, rig: FolderRig) -> None:
        (rig.memories / "a.md").unlink()
        (rig.memories / "a.md").mkdir()
        (rig.memories / "a.md/inside.md").write_bytes(b"by hand")
        rig.edit("/a.md/inside.md", append(b"!"))
        assert rig.tree() == {"/a.md/inside.md": b"by hand!", "/d/b.md": b"two\n"}
        rig.check()

    def test_whose_directory_became_a_file_is_gone(self, rig: FolderRig) -> None:
        shutil.rmtree(rig.memories / "d")
        (rig.memories / "d").write_bytes(b"a file now")
        rig.edit("/d", append(b"!"))
        assert rig.tree() == {"/a.md": b"one\n", "/d": b"a file now!"}
        rig.check()


class TestAMovedFile:
    def test_keeps_its_id(self, rig: FolderRig) -> None:
        before = run_now(rig.store.stat(p("/a.md"))).memory_id
        (rig.memories / "a.md").rename(rig.memories / "d/moved.md")
        entry = run_now(rig.store.stat(p("/d/moved.md")))
        assert entry.memory_id == before
        assert rig.external() == [("modified", "/d/moved.md", b"one\n")]
        rig.check()

    def test_keeps_its_id_when_only_its_times_changed(self, rig: FolderRig) -> None:
        before = run_now(rig.store.stat(p("/a.md"))).memory_id
        (rig.memories / "a.md").rename(rig.memories / "z.md")
        os.utime(rig.memories / "z.md")
        assert run_now(rig.store.stat(p("/z.md"))).memory_id == before
        rig.check()

    def test_and_edited_is_another_memory(self, rig: FolderRig) -> None:
        (rig.memories / "a.md").rename(rig.memories / "z.md")
        (rig.memories / "z.md").write_bytes(b"0ne\n")
        assert rig.tree() == {"/d/b.md": b"two\n", "/z.md": b"0ne\n"}
        assert rig.external() == [("deleted", "/a.md", None), ("created", "/z.md", b"0ne\n")]
        rig.check()

    def test_below_its_own_old_name_is_told_in_two_events_or_one(self, rig: FolderRig) -> None:
        (rig.memories / "a.md").rename(rig.memories / "x")
        (rig.memories / "a.md").mkdir()
        (rig.memories / "x").rename(rig.memories / "a.md/x")
        assert rig.tree() == {"/a.md/x": b"one\n", "/d/b.md": b"two\n"}
        rig.check()

    def test_below_a_name_that_moved_as_well_is_not_lost(self, rig: FolderRig) -> None:
        rig.put("/x", b"x\n")
        rig.put("/y", b"y\n")
        (rig.memories / "x").rename(rig.memories / "z")
        (rig.memories / "x").mkdir()
        (rig.memories / "y").rename(rig.memories / "x/y")
        assert rig.tree() == {
            "/a.md": b"one\n",
            "/d/b.md": b"two\n",
            "/x/y": b"y\n",
            "/z": b"x\n",
        }
        rig.check()

    def test_with_its_directory_keeps_its_id(self, rig: FolderRig) -> None:
        before = run_now(rig.store.stat(p("/d/b.md"))).memory_id
        (rig.memories / "d").rename(rig.memories / "e")
        assert run_now(rig.store.stat(p("/e/b.md"))).memory_id == before
        rig.check()


class TestSomethingThatIsNoFile:
    @pytest.mark.parametrize("kind", ["link", "dangling", "fifo", "directory link"])
    def test_is_never_there_and_never_replaced(
        self, rig: FolderRig, kind: str, tmp_path: Path
    ) -> None:
        outside = tmp_path / "outside"
        outside.mkdir()
        (outside / "secret.md").write_bytes(b"secret")
        thing = rig.memories / "thing"
        if kind == "fifo":
            os.mkfifo(thing)
        else:
            targets = {"link": "secret.md", "dangling": "nothing", "directory link": ""}
            thing.symlink_to(outside / targets[kind])
        before = os.lstat(thing)
        for path in ("/thing", "/thing/secret.md"):
            with pytest.raises(NotFound):
                rig.read(path)
            with pytest.raises(NotFound):
                rig.put(path, b"x")
            with pytest.raises(NotFound):
                rig.edit(path, replace_all(b"x"))
            with pytest.raises(NotFound):
                rig.remove(path)
            with pytest.raises(NotFound):
                rig.move(path, "/elsewhere")
            with pytest.raises(NotFound):
                rig.move("/a.md", path)
        assert os.lstat(thing) == before
        assert [each.name for each in outside.iterdir()] == ["secret.md"]
        assert (outside / "secret.md").read_bytes() == b"secret"
        assert rig.tree() == {"/a.md": b"one\n", "/d/b.md": b"two\n"}
        assert len(run_now(rig.store.outline(ROOT, 1000)).items) == 3

    def test_in_the_place_of_a_memory_is_its_removal(self, rig: FolderRig) -> None:
        (rig.memories / "a.md").unlink()
        (rig.memories / "a.md").symlink_to("d/b.md")
        with pytest.raises(NotFound):
            rig.edit("/a.md", append(b"x"))
        assert rig.external() == [("deleted", "/a.md", None)]
        assert (rig.memories / "d/b.md").read_bytes() == b"two\n"

    def test_an_empty_directory_gives_way_to_a_file(self, rig: FolderRig) -> None:
        (rig.memories / "empty/inside").mkdir(parents=True)
        rig.put("/empty", b"a file")
        assert rig.on_disk()["/empty"] == b"a file"
        rig.check()

    def test_a_directory_of_litter_does_not(self, rig: FolderRig) -> None:
        (rig.memories / "full").mkdir()
        (rig.memories / "full/x~").write_bytes(b"litter")
        with pytest.raises(NotFound):
            rig.put("/full", b"a file")
        with pytest.raises(NotFound):
            rig.read("/full")


def test_a_file_too_large_to_adopt_is_not_there_for_changes(
    rig: FolderRig, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in ("heads", "tree"):
        monkeypatch.setattr(f"memoranda.stores.folder.{module}.LARGEST_BYTES", 10)
    (rig.memories / "large.md").write_bytes(b"x" * 11)
    with pytest.raises(NotFound):
        rig.put("/large.md", b"x")
    (rig.memories / "a.md").write_bytes(b"x" * 11)
    with pytest.raises(NotFound):
        rig.edit("/a.md", append(b"x"))
    assert rig.read("/a.md") == b"x" * 11
    assert rig.external() == []


def test_a_file_that_is_saved_again_and_again_is_adopted_all_the_same(rig: FolderRig) -> None:
    saves = iter(range(1000))

    def save() -> None:
        (rig.memories / "a.md").write_bytes(b"%d" % next(saves))

    save()
    rig.clock.while_waiting = save
    assert rig.tree().keys() == {"/a.md", "/d/b.md"}
    rig.clock.while_waiting = lambda: None
    assert rig.tree() == rig.on_disk()
    assert {path for _, path, _ in rig.external()} == {"/a.md"}
    rig.check()


class Restless(Files):
    """Somebody saves a file each time it has been read."""

    saves: Path | None = None

    def read(self, descriptor: int, n_bytes: int) -> bytes:
        data = os.read(descriptor, n_bytes)
        if self.saves is not None and data and data != b"quiet":
            self.saves.write_bytes(data + b".")
        return data


def test_a_file_that_never_is_what_was_just_read_is_adopted_as_it_was_read(
    tmp_path: Path,
) -> None:
    files = Restless()
    rig = FolderRig(tmp_path, files)
    rig.put("/a.md", b"one\n")
    path = rig.memories / "a.md"
    path.write_bytes(b"by hand")
    files.saves = path
    run_now(rig.store.list(ROOT))
    files.saves = None
    assert rig.external()[0][2] == b"by hand" + b"." * MOST_LOOKS
    assert rig.tree() == rig.on_disk()
    rig.check()


def test_files_that_move_to_where_others_move_away_from_end_where_they_lie(
    rig: FolderRig,
) -> None:
    for number in range(4):
        rig.put(f"/{number}.md", b"%d" % number)
    for old, new in ((0, 1), (3, 2)):
        # What was a file is a directory now, and holds another that moved.
        (rig.memories / f"{old}.md").rename(rig.memories / f"z{old}.md")
        (rig.memories / f"{old}.md").mkdir()
        (rig.memories / f"{new}.md").rename(rig.memories / f"{old}.md/in.md")
    assert rig.tree() == rig.on_disk()
    assert rig.read("/0.md/in.md") == b"1"
    assert rig.read("/3.md/in.md") == b"2"
    rig.check()


def test_a_file_of_which_nobody_knows_how_it_looked_is_compared_by_its_text(
    rig: FolderRig,
) -> None:
    rig.opened.db.execute("UPDATE node SET ino = NULL, mtime = NULL WHERE name = 'a.md'")
    rig.edit("/a.md", append(b"by agent\n"))
    assert rig.read("/a.md") == b"one\nby agent\n"
    assert rig.external() == []
    rig.check()


def test_a_move_that_the_log_can_not_follow_in_order_is_a_removal_and_a_new_file(
    rig: FolderRig,
) -> None:
    rig.put("/b.md", b"b")
    (rig.memories / "a.md").rename(rig.memories / "aside")
    (rig.memories / "a.md/deep").mkdir(parents=True)
    (rig.memories / "b.md").rename(rig.memories / "a.md/in.md")
    (rig.memories / "aside").rename(rig.memories / "a.md/deep/self.md")
    # Where b.md went lies, as far as the log knows by then, beneath a file.
    assert rig.tree() == rig.on_disk()
    assert rig.read("/a.md/in.md") == b"b"
    assert rig.read("/a.md/deep/self.md") == b"one\n"
    rig.check()
