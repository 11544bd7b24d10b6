"""In which states a store is found when it is opened, and what becomes of each.

Each row of the failure table in ``docs/formats/folder.md`` that is not a crash or a collision.
"""

from __future__ import annotations

import errno
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from memoranda.drive import run_now
from memoranda.errors import Corrupt, Misuse, NotFound, Unavailable, UnknownId
from memoranda.stores.base import Put, VersionFilter
from memoranda.stores.folder.backend import FolderBackend
from memoranda.stores.folder.file_port import Files
from memoranda.stores.folder.heads import temporary_name
from memoranda.stores.log.database import open_connection
from memoranda.tenant import directory_of_store
from memoranda.testing.promises.steps import append, p
from tests.stores.folder_rig import AGENT, USER, FolderRig


@pytest.fixture
def rig(tmp_path: Path) -> FolderRig:
    rig = FolderRig(tmp_path / "here")
    rig.put("/a.md", b"one\n")
    rig.put("/d/b.md", b"two\n")
    rig.edit("/a.md", append(b"more\n"))
    return rig


STATE = {"/a.md": b"one\nmore\n", "/d/b.md": b"two\n"}


def copied(rig: FolderRig, to: Path, *, keeps_times: bool = True) -> FolderRig:
    """A copy of the folder as it lies there, opened."""
    copy = shutil.copy2 if keeps_times else shutil.copy
    shutil.copytree(rig.home, to, copy_function=copy)
    return FolderRig(to)


class TestACopy:
    @pytest.mark.parametrize("keeps_times", [True, False])
    @pytest.mark.fault("ROW-08")
    def test_of_a_closed_store_is_whole_and_makes_no_version(
        self, rig: FolderRig, tmp_path: Path, keeps_times: bool
    ) -> None:
        history = rig.history()
        rig.close()
        assert not (rig.directory / "history.db-wal").exists()
        there = copied(rig, tmp_path / "there", keeps_times=keeps_times)
        assert there.tree() == STATE
        assert there.history() == history
        there.edit("/a.md", append(b"there\n"))
        there.check()

    def test_of_an_open_store_is_whole_too(self, rig: FolderRig, tmp_path: Path) -> None:
        there = copied(rig, tmp_path / "there")
        assert there.tree() == STATE
        assert there.external() == []
        there.check()

    @pytest.mark.fault("ROW-09")
    def test_whose_tree_is_older_than_its_database_shows_the_log(
        self, rig: FolderRig, tmp_path: Path
    ) -> None:
        before = tmp_path / "before"
        shutil.copytree(rig.memories, before)
        rig.edit("/a.md", append(b"newer\n"))
        rig.move("/d/b.md", "/e/c.md")
        rig.put("/new.md", b"new\n")
        rig.remove("/new.md")
        rig.put("/f.md", b"six\n")
        rig.close()
        shutil.copytree(rig.home, tmp_path / "there")
        there = FolderRig(tmp_path / "there")
        shutil.rmtree(there.memories)
        shutil.copytree(before, there.memories)
        (there.memories / "new.md").write_bytes(b"new\n")
        assert there.tree() == {
            "/a.md": b"one\nmore\nnewer\n",
            "/e/c.md": b"two\n",
            "/f.md": b"six\n",
        }
        assert there.external() == []
        there.check()

    @pytest.mark.fault("ROW-09", "BAD-08")
    def test_whose_files_were_cut_shows_the_log(self, rig: FolderRig, tmp_path: Path) -> None:
        rig.close()
        shutil.copytree(rig.home, tmp_path / "there")
        there = FolderRig(tmp_path / "there")
        (there.memories / "a.md").write_bytes(b"one\n")
        (there.memories / "d/b.md").write_bytes(b"")
        assert there.tree() == STATE
        there.check()

    @pytest.mark.fault("ROW-10")
    def test_whose_database_is_older_than_its_tree_adopts_the_newer_text(
        self, rig: FolderRig, tmp_path: Path
    ) -> None:
        rig.close()
        shutil.copytree(rig.home, tmp_path / "there")
        rig.open()
        rig.edit("/a.md", append(b"newer\n"))
        rig.put("/c.md", b"three\n")
        there = FolderRig(tmp_path / "there")
        shutil.rmtree(there.memories)
        shutil.copytree(rig.memories, there.memories)
        assert there.tree() == {**STATE, "/a.md": b"one\nmore\nnewer\n", "/c.md": b"three\n"}
        assert there.external() == [
            ("modified", "/a.md", b"one\nmore\nnewer\n"),
            ("created", "/c.md", b"three\n"),
        ]
        there.check()

    @pytest.mark.fault("ROW-11")
    def test_in_which_an_old_text_lies_is_ambiguous_and_the_head_wins(
        self, rig: FolderRig, tmp_path: Path
    ) -> None:
        rig.close()
        shutil.copytree(rig.home, tmp_path / "there")
        there = FolderRig(tmp_path / "there")
        (there.memories / "a.md").write_bytes(b"one\n")
        assert there.read("/a.md") == b"one\nmore\n"
        assert b"one\n" in [each[3] for each in there.history("/a.md")]

    def test_is_noted_in_the_audit(self, rig: FolderRig, tmp_path: Path) -> None:
        rig.close()
        there = copied(rig, tmp_path / "there")
        there.opened.db.execute("SELECT 1")
        notes = there.opened.db.execute("SELECT audit FROM event WHERE command = 'open'").fetchall()
        assert len(notes) == 1
        assert '"found":"copy"' in notes[0][0]

    def test_of_one_users_store_for_another_is_a_store_of_its_own(self, rig: FolderRig) -> None:
        rig.close()
        shutil.copytree(rig.directory, rig.directory.with_name("bob"))
        backend = FolderBackend(rig.home / "memory")
        acme, bob = run_now(backend.for_user(USER)), run_now(backend.for_user("bob"))
        assert acme.id != bob.id
        assert run_now(bob.read(p("/d/b.md"))).data == b"two\n"
        infos = run_now(backend.list()).stores
        assert {(info.user, info.id) for info in infos} == {(USER, acme.id), ("bob", bob.id)}
        run_now(backend.close())

    def test_of_a_store_of_the_api_under_another_id_has_that_id(self, tmp_path: Path) -> None:
        backend = FolderBackend(tmp_path / "memory")
        info = run_now(backend.create("team", workspace="w"))
        store = run_now(backend.open(info.id, "w"))
        run_now(backend.close())
        stores = tmp_path / "memory/stores"
        (directory,) = stores.iterdir()
        other_id = "memstore_01abc"
        shutil.copytree(directory, stores / other_id)
        backend = FolderBackend(tmp_path / "memory")
        found = {each.id for each in run_now(backend.list("w")).stores}
        assert found == {store.id, other_id}
        run_now(backend.close())

    @pytest.mark.fault("ROW-08")
    def test_moved_back_and_forth_changes_nothing(self, rig: FolderRig, tmp_path: Path) -> None:
        rig.close()
        shutil.move(rig.home, tmp_path / "there")
        there = FolderRig(tmp_path / "there")
        assert there.tree() == STATE
        there.check()
        assert there.external() == []


class Meddling(Files):
    """A disk that refuses to exchange files while ``refuses``, or on which somebody acts before."""

    def __init__(self) -> None:
        self.refuses = False
        self.before_exchange: list[Callable[[], object]] = []

    def exchange(self, ours: str, our_directory: int, theirs: str, their_directory: int) -> None:
        if self.refuses:
            raise OSError(errno.EACCES, os.strerror(errno.EACCES))
        if self.before_exchange:
            self.before_exchange.pop(0)()
        super().exchange(ours, our_directory, theirs, their_directory)


class TestACopyThatHasToBeMended:
    """Its file ``a.md`` was cut short."""

    @pytest.fixture
    def files(self) -> Meddling:
        return Meddling()

    @pytest.fixture
    def there(self, rig: FolderRig, tmp_path: Path, files: Meddling) -> FolderRig:
        rig.close()
        shutil.copytree(rig.home, tmp_path / "there")
        there = FolderRig(tmp_path / "there", files)
        (there.memories / "a.md").write_bytes(b"one\n")
        return there

    def test_shows_the_log_while_the_disk_refuses(self, there: FolderRig, files: Meddling) -> None:
        files.refuses = True
        assert there.tree() == STATE
        assert there.on_disk() == {**STATE, "/a.md": b"one\n"}
        files.refuses = False
        there.clock.seconds += 10
        there.put("/c.md", b"three\n")
        assert there.on_disk() == {**STATE, "/c.md": b"three\n"}
        assert there.external() == []
        there.check()

    def test_loses_nothing_that_a_person_saves_meanwhile(
        self, there: FolderRig, files: Meddling
    ) -> None:
        def saving(content: bytes) -> Callable[[], object]:
            def save() -> None:
                (there.memories / "a.md.new").write_bytes(content)
                (there.memories / "a.md.new").rename(there.memories / "a.md")

            return save

        files.before_exchange = [saving(b"by hand\n"), saving(b"once more\n")]
        assert there.tree() == {**STATE, "/a.md": b"by hand\n"}
        there.clock.seconds += 10
        there.put("/c.md", b"three\n")
        assert {content for *_, content in there.external()} == {b"by hand\n", b"once more\n"}
        there.clock.seconds += 10
        there.put("/e.md", b"four\n")
        assert there.incoming() == []
        there.check()

    def test_leaves_a_file_alone_that_is_too_large_to_be_read(
        self, there: FolderRig, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("memoranda.stores.folder.tree.LARGEST_BYTES", 10)
        (there.memories / "a.md").write_bytes(b"larger than anybody can take in")
        assert there.read("/d/b.md") == b"two\n"
        assert (there.memories / "a.md").read_bytes() == b"larger than anybody can take in"
        assert there.external() == []


def test_what_people_left_beside_the_tree_survives_a_power_cut(rig: FolderRig) -> None:
    rig.remove("/d")
    (trash,) = (rig.directory / "trash").iterdir()
    rig.edit("/a.md", append(b"newest\n"))
    newest: int = rig.opened.db.execute("SELECT last FROM node WHERE name = 'a.md'").get
    rig.close()
    trash.mkdir(parents=True, exist_ok=True)
    (trash / "unknown.md").write_bytes(b"put there by hand")
    (trash / "deeper").mkdir()
    (trash / "deeper/more.md").write_bytes(b"this, too")
    (trash.parent / "strange").mkdir()
    (rig.directory / "incoming/strange").write_bytes(b"no file of ours")
    (rig.directory / "incoming" / temporary_name(newest)).write_bytes(b"no text of ours")
    lock = rig.directory / "lock"
    word = lock.read_bytes()
    lock.write_bytes(word[:8] + bytes(16) + word[24:])
    rig.open()
    assert rig.read("/a.md") == b"one\nmore\nnewest\n"
    for _ in range(3):
        rig.clock.seconds += 10
        rig.put("/c.md", b"%d" % rig.clock.seconds)
    texts = [content for *_, content in rig.external()]
    kept = [path.read_bytes() for path in (rig.directory / "recovered").rglob("*.md")]
    for text in (b"put there by hand", b"this, too", b"no text of ours"):
        assert text in [*texts, *kept]


class TestAnOldTextPutBackByAPerson:
    @pytest.mark.fault("ROW-12")
    def test_in_a_store_that_is_in_order_wins(self, rig: FolderRig) -> None:
        rig.close()
        (rig.memories / "a.md").write_bytes(b"one\n")
        rig.open()
        assert rig.tree()["/a.md"] == b"one\n"
        assert rig.external() == [("modified", "/a.md", b"one\n")]
        rig.check()


class TestAMissingDatabase:
    @pytest.mark.fault("ROW-13", "BAD-07")
    def test_means_the_tree_is_adopted_anew(self, rig: FolderRig) -> None:
        rig.close()
        (rig.directory / "history.db").unlink()
        rig.open()
        assert rig.tree() == STATE
        assert [each[:2] for each in rig.history()] == [("external", "created")] * 2
        assert run_now(rig.store.usage()).files == 2
        rig.check()

    def test_takes_its_left_over_log_with_it(self, rig: FolderRig) -> None:
        wal = (rig.directory / "history.db-wal").read_bytes()
        rig.close()
        (rig.directory / "history.db").unlink()
        (rig.directory / "history.db-wal").write_bytes(wal)
        (rig.directory / "history.db-shm").write_bytes(b"\0" * 32768)
        rig.open()
        assert rig.tree() == STATE
        rig.check()
        kept = os.listdir(rig.directory / "recovered")
        assert sorted(name.split("-", 1)[1] for name in kept) == [
            "history.db-shm",
            "history.db-wal",
        ]

    def test_in_a_directory_that_people_made_is_made(self, tmp_path: Path) -> None:
        rig = FolderRig(tmp_path)
        rig.memories.mkdir(parents=True)
        (rig.memories / "a.md").write_bytes(b"by hand\n")
        assert rig.tree() == {"/a.md": b"by hand\n"}
        rig.check()

    def test_in_an_empty_directory_is_no_store(self, tmp_path: Path) -> None:
        rig = FolderRig(tmp_path)
        rig.directory.mkdir(parents=True)
        assert rig.tree() == {}
        assert run_now(rig.backend.find_user(USER)) is None
        assert not (rig.directory / "history.db").exists()

    @pytest.mark.fault("ROW-14", "BAD-07")
    def test_while_it_is_open_is_written_again(self, rig: FolderRig) -> None:
        history = rig.history()
        for name in ("history.db", "history.db-wal", "history.db-shm"):
            (rig.directory / name).unlink()
        rig.edit("/a.md", append(b"after\n"))
        assert rig.history()[:-1] == history
        rig.crash()
        assert rig.read("/a.md") == b"one\nmore\nafter\n"
        assert rig.history()[:-1] == history
        rig.check()

    def test_while_two_have_it_open_is_written_again_once(
        self, rig: FolderRig, tmp_path: Path
    ) -> None:
        other = FolderRig(rig.home)
        assert other.tree() == STATE
        (rig.directory / "history.db").unlink()
        rig.edit("/a.md", append(b"first\n"))
        other.edit("/a.md", append(b"second\n"))
        assert rig.read("/a.md") == b"one\nmore\nfirst\nsecond\n"
        assert len(rig.history("/a.md")) == 4
        other.check()
        rig.check()

    def test_replaced_by_an_older_one_while_it_is_open_is_put_right(
        self, rig: FolderRig, tmp_path: Path
    ) -> None:
        rig.reopen()
        rig.tree()
        old = tmp_path / "old.db"
        shutil.copy(rig.directory / "history.db", old)
        rig.edit("/a.md", append(b"newer\n"))
        old.replace(rig.directory / "history.db")
        rig.edit("/a.md", append(b"newest\n"))
        assert rig.read("/a.md") == b"one\nmore\nnewer\nnewest\n"
        assert len(rig.history("/a.md")) == 4
        rig.check()


class TestADamagedDatabase:
    @pytest.mark.parametrize("damage", ["no database", "empty", "cut", "torn pages"])
    @pytest.mark.fault("ROW-15")
    def test_is_set_aside_and_the_tree_adopted(self, rig: FolderRig, damage: str) -> None:
        rig.close()
        database = rig.directory / "history.db"
        data = bytearray(database.read_bytes())
        if damage == "no database":
            data = bytearray(b"not a database\n" * 1000)
        elif damage == "empty":
            data = bytearray()
        elif damage == "cut":
            data = data[: len(data) // 2 // 4096 * 4096]
        else:
            for page in range(1, len(data) // 4096):
                data[page * 4096 : page * 4096 + 2000] = b"\xff" * 2000
        database.write_bytes(data)
        os.utime(database)
        replaced = database.with_name("replaced")
        replaced.write_bytes(data)
        replaced.rename(database)
        rig.open()
        assert rig.tree() == STATE
        rig.edit("/a.md", append(b"it goes on\n"))
        rig.check()
        assert any("history.db" in name for name in os.listdir(rig.directory / "recovered"))

    @pytest.mark.fault("ROW-15")
    def test_gives_back_what_makes_a_whole_history(self, rig: FolderRig) -> None:
        history = rig.history()
        rig.close()
        database = rig.directory / "history.db"
        # The first page of an index: every row is there, but nothing can be looked up.
        index = root_page_of(database, "node_here")
        data = bytearray(database.read_bytes())
        data[(index - 1) * 4096 : index * 4096] = b"\xff" * 4096
        replaced = database.with_name("replaced")
        replaced.write_bytes(data)
        replaced.rename(database)
        rig.open()
        assert rig.tree() == STATE
        assert rig.history() == history
        rig.check()

    def test_of_another_program_is_left_alone(self, rig: FolderRig) -> None:
        rig.close()
        database = rig.directory / "history.db"
        database.unlink()
        other = open_connection(str(database))
        other.execute("CREATE TABLE theirs(x)")
        other.close()
        rig.open()
        with pytest.raises(Corrupt):
            rig.put("/x.md", b"x")
        assert database.exists()

    @pytest.mark.fault("BAD-11")
    def test_of_another_format_is_left_alone(self, rig: FolderRig) -> None:
        rig.close()
        database = rig.directory / "history.db"
        newer = open_connection(str(database))
        newer.execute("PRAGMA user_version=99")
        newer.close()
        rig.open()
        with pytest.raises(Unavailable, match="format 99"):
            rig.put("/x.md", b"x")
        assert database.exists()


def root_page_of(database: Path, name: str) -> int:
    """The page at which a table or an index begins."""
    db = open_connection(str(database))
    page = db.execute("SELECT rootpage FROM sqlite_schema WHERE name = ?", (name,)).get
    db.close()
    assert isinstance(page, int)
    return page


class TestAReplacedPart:
    def test_the_lock_file_is_made_again(self, rig: FolderRig) -> None:
        (rig.directory / "lock").unlink()
        rig.edit("/a.md", append(b"x\n"))
        rig.check()

    @pytest.mark.parametrize("content", [b"", b"garbage", b"\xff" * 48])
    def test_a_damaged_lock_file_means_a_check(self, rig: FolderRig, content: bytes) -> None:
        (rig.directory / "lock").write_bytes(content)
        assert rig.read("/a.md") == STATE["/a.md"]
        rig.edit("/a.md", append(b"x\n"))
        assert rig.external() == []
        rig.check()

    def test_a_removed_tree_comes_back(self, rig: FolderRig) -> None:
        shutil.rmtree(rig.memories)
        rig.put("/c.md", b"three\n")
        assert rig.tree() == {**STATE, "/c.md": b"three\n"}
        rig.check()

    @pytest.mark.parametrize("time", range(5))
    def test_a_tree_that_was_removed_while_the_store_was_closed_comes_back(
        self, rig: FolderRig, time: int
    ) -> None:
        """Though the disk may give the new directory the number of the old one."""
        for _ in range(time):
            rig.reopen()
        rig.close()
        shutil.rmtree(rig.memories)
        rig.open()
        assert rig.read("/a.md") == b"one\nmore\n"
        assert rig.on_disk() == STATE
        assert rig.external() == []
        rig.check()

    def test_a_removed_store_is_a_new_one(self, rig: FolderRig) -> None:
        rig.close()
        shutil.rmtree(rig.directory)
        rig.open()
        assert rig.tree() == {}
        rig.put("/c.md", b"three\n")
        assert len(rig.history()) == 1

    def test_a_removed_store_is_noticed_by_whoever_has_it_open(self, rig: FolderRig) -> None:
        shutil.rmtree(rig.directory)
        with pytest.raises(NotFound):
            rig.read("/a.md")
        rig.put("/c.md", b"three\n")
        assert rig.on_disk() == {"/c.md": b"three\n"}
        rig.check()


def test_a_store_of_the_api_whose_directory_is_gone_is_unknown(tmp_path: Path) -> None:
    backend = FolderBackend(tmp_path)
    info = run_now(backend.create("notes"))
    store = run_now(backend.open(info.id))
    run_now(store.apply([Put(p("/a.md"), b"one\n")], AGENT))
    shutil.rmtree(tmp_path / "stores" / directory_of_store(info.id))
    with pytest.raises(UnknownId):
        run_now(store.apply([Put(p("/a.md"), b"two\n")], AGENT))


class TestClocks:
    @pytest.mark.fault("ROW-16")
    def test_that_go_back_change_nothing(self, rig: FolderRig) -> None:
        rig.clock.at_ns -= 10**18
        rig.edit("/a.md", append(b"earlier\n"))
        rig.crash()
        assert rig.read("/a.md") == b"one\nmore\nearlier\n"
        assert rig.external() == []
        times = [
            version.created_at_ns
            for version in reversed(run_now(rig.store.versions(VersionFilter())).versions)
        ]
        assert times == sorted(times)
        rig.check()


def test_a_folder_of_another_tool_is_never_opened_as_if_it_were_empty(tmp_path: Path) -> None:
    (tmp_path / "memories").mkdir()
    (tmp_path / "memories/notes.md").write_bytes(b"by the other tool\n")
    with pytest.raises(Misuse, match="memoranda import"):
        FolderBackend(tmp_path)
    (tmp_path / "stores").mkdir()
    FolderBackend(tmp_path)


def test_reading_goes_on_where_a_database_was_emptied_under_an_open_store(tmp_path: Path) -> None:
    rig = FolderRig(tmp_path)
    rig.put("/a.md", b"one\n")
    os.truncate(rig.directory / "history.db", 0)
    rig.put("/b.md", b"two\n")
    rig.reopen()

    assert rig.read("/a.md") == b"one\n"
    rig.put("/c.md", b"three\n")
    rig.reopen()
    assert rig.tree() == rig.on_disk()
    assert rig.tree() == {"/a.md": b"one\n", "/b.md": b"two\n", "/c.md": b"three\n"}
