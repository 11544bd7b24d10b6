"""What sealing is for: nothing in the clear on storage, and no change that goes unnoticed."""

from __future__ import annotations

import json
import sys
from base64 import b64encode
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path

import pytest

from memoranda import Memory
from memoranda.drive import run_now
from memoranda.errors import (
    Conflict,
    Corrupt,
    Held,
    Misuse,
    NotFound,
    Unavailable,
    UnknownId,
    Unsupported,
)
from memoranda.path import ROOT, MemoryPath
from memoranda.stores.base import (
    Backend,
    Change,
    Content,
    Context,
    Edit,
    Entry,
    IfContent,
    Move,
    Put,
    Remove,
    Store,
    Version,
    VersionFilter,
    VersionPage,
    WrapperStore,
)
from memoranda.stores.companions import label_of_user
from memoranda.stores.folder.backend import FolderBackend
from memoranda.stores.log.database import open_connection
from memoranda.stores.ram import RamBackend
from memoranda.stores.sealed import store as sealed_store
from memoranda.stores.sealed.backend import SealedBackend
from memoranda.stores.sealed.envelope import OVERHEAD_BYTES
from memoranda.stores.sealed.keys import (
    Keys,
    LocalKey,
    former_of_environment,
    key_of_environment,
    parse_key,
)
from memoranda.stores.sealed.recent import Recent
from memoranda.stores.sealed.ring import PATH, WORKSPACE, Loaded, RingKeeper
from memoranda.stores.sealed.store import SealedStore
from memoranda.stores.sqlite import SqliteBackend
from memoranda.testing.faults import Call, FailingStore
from memoranda.testing.promises.changes import sha256
from memoranda.testing.promises.steps import append, p

KEY = bytes(range(32))
AGENT = Context(actor="agent", command="test")
THIEF = Context(actor="thief", command="test")
TEXT = b"Zq7-the-plain-text-that-nobody-may-find-Wx3 "


def keys(*former: LocalKey) -> Keys:
    return Keys(LocalKey(KEY), former)


class Sealed:
    """A sealed store, and what lies below it."""

    def __init__(self, inner: Backend) -> None:
        self.below = inner
        self.backend = SealedBackend(inner, keys())
        self.store = run_now(self.backend.for_user("acme"))

    @property
    def inner(self) -> Store:
        return run_now(self.below.for_user("acme"))

    def put(self, path: str, content: bytes, keep_id: str | None = None) -> str:
        change = Put(p(path), content, keep_id=keep_id)
        (version,) = run_now(self.store.apply([change], AGENT))
        return version.memory_id

    def edit(self, path: str, text: bytes) -> None:
        run_now(self.store.apply([Edit(p(path), append(text))], AGENT))

    def do(self, *changes: Put | Edit | Move | Remove) -> None:
        run_now(self.store.apply(changes, AGENT))

    def read(self, path: str, store: Store | None = None) -> bytes:
        return run_now((store or self.store).read(p(path))).data

    def sealed(self, path: str) -> bytes:
        return run_now(self.inner.read(p(path))).data

    def forge(self, path: str, sealed: bytes) -> None:
        """Put other bytes below, with metadata that fit."""
        run_now(self.inner.apply([Put(p(path), sealed)], THIEF))

    def anew(self) -> Store:
        """The store as another process opens it, that remembers nothing."""
        return run_now(self.backend.for_user("acme"))

    def is_noticed(self, path: str) -> bool:
        for store in (self.store, self.anew()):
            with pytest.raises(Corrupt, match=f"/memories{path} can't be opened: "):
                self.read(path, store)
            report = run_now(store.verify())
            assert [one.path for one in report.problems] == [p(path)]
        return True


@pytest.fixture
def sealed() -> Sealed:
    return Sealed(RamBackend())


# ---------------------------------------------------------------- nothing in the clear


@pytest.mark.parametrize("kind", ["folder", "sqlite"])
def test_no_storage_holds_plain_text(tmp_path: Path, kind: str) -> None:
    makers: dict[str, Callable[[], Backend]] = {
        "folder": lambda: FolderBackend(tmp_path / "memory"),
        "sqlite": lambda: SqliteBackend(tmp_path / "memory.db"),
    }
    sealed = Sealed(makers[kind]())
    sealed.put("/a.md", TEXT)
    sealed.edit("/a.md", b"more " + TEXT)
    sealed.do(Move(p("/a.md"), p("/d/b.md")))
    sealed.put("/big.md", TEXT * 5000)
    run_now(sealed.store.search("plain", ROOT))
    hidden = [TEXT[:16], KEY, sha256(TEXT).encode(), bytes.fromhex(sha256(TEXT))]
    for closed in (False, True):
        if closed:
            run_now(sealed.backend.close())
        for file in tmp_path.rglob("*"):
            if file.is_file():
                found = file.read_bytes()
                assert not [one for one in hidden if one in found], (file.name, closed)


def test_equal_texts_are_sealed_differently(sealed: Sealed) -> None:
    sealed.put("/a.md", TEXT)
    sealed.put("/b.md", TEXT)
    assert sealed.sealed("/a.md")[4:] != sealed.sealed("/b.md")[4:]
    assert len(sealed.sealed("/a.md")) == len(TEXT) + OVERHEAD_BYTES


# ---------------------------------------------------------------- nothing changes unnoticed


def test_a_change_of_any_bit_is_noticed(sealed: Sealed) -> None:
    sealed.put("/a.md", b"x")
    good = sealed.sealed("/a.md")
    for number in range(8 * len(good)):
        bad = bytearray(good)
        bad[number // 8] ^= 1 << number % 8
        sealed.forge("/a.md", bytes(bad))
        with pytest.raises(Corrupt, match=r"/memories/a\.md can't be opened: "):
            sealed.read("/a.md")


def test_a_content_that_is_cut_off_or_longer_is_noticed(sealed: Sealed) -> None:
    sealed.put("/a.md", TEXT)
    good = sealed.sealed("/a.md")
    for bad in (b"", good[:4], good[:80], good[:132], good[:-1], good + b"\0"):
        sealed.forge("/a.md", bad)
        with pytest.raises(Corrupt):
            sealed.read("/a.md")
    sealed.forge("/a.md", good[:-1])
    assert sealed.is_noticed("/a.md")


@pytest.mark.parametrize("edited", [False, True])
def test_swapped_contents_are_noticed(sealed: Sealed, edited: bool) -> None:
    for path in ("/a.md", "/b.md"):
        sealed.put(path, path.encode())
        if edited:
            sealed.edit(path, b"!")
    one, other = sealed.sealed("/a.md"), sealed.sealed("/b.md")
    sealed.forge("/a.md", other)
    assert sealed.is_noticed("/a.md")
    sealed.forge("/a.md", one)
    sealed.forge("/b.md", one)
    with pytest.raises(Corrupt, match="another memory"):
        sealed.read("/b.md", sealed.anew())


def test_a_content_of_another_memory_is_not_edited(sealed: Sealed) -> None:
    for path in ("/a.md", "/b.md"):
        sealed.put(path, path.encode())
        sealed.edit(path, b"!")
    sealed.forge("/a.md", sealed.sealed("/b.md"))
    with pytest.raises(Corrupt, match="another memory"):
        sealed.edit("/a.md", b"?")
    (head,) = run_now(sealed.inner.versions(VersionFilter(path=p("/a.md")), limit=1)).versions
    with pytest.raises(Corrupt, match="another memory"):
        run_now(sealed.store.version(head.id))


def test_an_unedited_content_in_the_place_of_a_moved_one_is_noticed(sealed: Sealed) -> None:
    sealed.put("/a.md", b"a")
    sealed.put("/b.md", b"b")
    sealed.do(Move(p("/a.md"), p("/c.md")))
    assert sealed.read("/c.md", sealed.anew()) == b"a"
    sealed.forge("/c.md", sealed.sealed("/b.md"))
    assert sealed.is_noticed("/c.md")


def test_a_content_of_another_store_is_noticed(sealed: Sealed) -> None:
    other = run_now(sealed.backend.for_user("other"))
    run_now(other.apply([Put(p("/a.md"), b"theirs")], AGENT))
    theirs = run_now(run_now(sealed.below.for_user("other")).read(p("/a.md"))).data
    sealed.put("/a.md", b"ours")
    sealed.forge("/a.md", theirs)
    assert sealed.is_noticed("/a.md")


def test_an_older_content_that_is_put_back_is_noticed(sealed: Sealed) -> None:
    sealed.put("/a.md", b"one")
    first = sealed.sealed("/a.md")
    sealed.edit("/a.md", b" two")
    assert sealed.read("/a.md", sealed.anew()) == b"one two"
    sealed.forge("/a.md", first)
    assert sealed.is_noticed("/a.md")


def test_bytes_that_are_exchanged_in_the_database_alone_are_noticed(tmp_path: Path) -> None:
    sealed = Sealed(SqliteBackend(tmp_path / "memory.db"))
    sealed.put("/a.md", b"one")
    first = sealed.sealed("/a.md")
    sealed.put("/a.md", b"two")
    second = sealed.sealed("/a.md")
    run_now(sealed.backend.close())
    with closing(open_connection(str(tmp_path / "memory.db"))) as db:
        for column in ("event SET body = ?1 WHERE body", "head SET data = ?1 WHERE data"):
            db.execute(f"UPDATE {column} = ?2", (first, second))
    sealed = Sealed(SqliteBackend(tmp_path / "memory.db"))
    with pytest.raises(Corrupt, match="not what its history says"):
        sealed.read("/a.md")


def test_what_a_person_saves_or_puts_back_in_a_folder_is_noticed_and_can_be_replaced(
    tmp_path: Path,
) -> None:
    sealed = Sealed(FolderBackend(tmp_path / "memory"))
    sealed.put("/a.md", b"one")
    file = tmp_path / "memory/stores/acme/memories/a.md"
    first = file.read_bytes()
    sealed.edit("/a.md", b" two")
    second = file.read_bytes()
    file.write_bytes(first)
    with pytest.raises(Corrupt, match="older content"):
        sealed.read("/a.md", sealed.anew())
    file.write_bytes(b"typed by hand")
    with pytest.raises(Corrupt, match="it is not sealed"):
        sealed.read("/a.md")
    with pytest.raises(Corrupt, match="it is not sealed"):
        sealed.edit("/a.md", b"?")
    with pytest.raises(Corrupt, match="it is not sealed"):
        sealed.do(Put(p("/a.md"), b"x", IfContent(sha256(b"typed by hand"))))
    with pytest.raises(Corrupt, match="it is not sealed"):
        sealed.do(Remove(p("/a.md"), IfContent(sha256(b"typed by hand"))))
    listed = run_now(sealed.store.list(ROOT)).entries
    assert [(one.path, one.size_bytes) for one in listed] == [(p("/a.md"), 0)]
    assert run_now(sealed.store.search("hand", ROOT)) == ()
    seen = run_now(sealed.store.versions(content=True)).versions
    assert [one.content for one in seen][-2:] == [b"one two", b"one"]
    by_hand = next(one for one in seen if one.actor == "external" and one.content is None)
    with pytest.raises(Corrupt, match="The version can't be opened: it is not sealed"):
        run_now(sealed.store.version(by_hand.id))
    sealed.put("/a.md", b"three")
    assert sealed.read("/a.md", sealed.anew()) == b"three"
    report = run_now(sealed.store.verify())
    assert report.ok
    assert {one.code for one in report.notes} >= {"unsealable_version"}
    assert second != first


# ---------------------------------------------------------------- keys


def test_a_wrong_key_is_named_and_changes_nothing(tmp_path: Path) -> None:
    sealed = Sealed(SqliteBackend(tmp_path / "memory.db"))
    sealed.put("/a.md", TEXT)
    run_now(sealed.backend.close())
    before = (tmp_path / "memory.db").read_bytes()
    wrong = SealedBackend(SqliteBackend(tmp_path / "memory.db"), Keys(LocalKey(bytes(32))))
    with pytest.raises(Misuse, match="sealed with another key"):
        run_now(wrong.for_user("acme"))
    run_now(wrong.close())
    assert (tmp_path / "memory.db").read_bytes() == before
    both = Keys(LocalKey(bytes(32)), [LocalKey(KEY)])
    again = run_now(SealedBackend(SqliteBackend(tmp_path / "memory.db"), both).for_user("acme"))
    assert run_now(again.read(p("/a.md"))).data == TEXT


def companion_of(sealed: Sealed, user: str = "acme") -> Store:
    return run_now(sealed.below.for_user(label_of_user(user, "default"), WORKSPACE))


def test_keys_of_another_store_do_not_fit(sealed: Sealed) -> None:
    sealed.put("/a.md", b"ours")
    ring = run_now(companion_of(sealed).read(PATH)).data
    run_now(companion_of(sealed, "other").apply([Put(PATH, ring)], THIEF))
    with pytest.raises(Misuse, match="belongs to another store"):
        run_now(sealed.backend.for_user("other"))


def test_damaged_keys_are_corrupt(sealed: Sealed) -> None:
    sealed.put("/a.md", b"x")
    good = run_now(companion_of(sealed).read(PATH)).data
    ring = json.loads(good)
    newer = json.dumps({**ring, "format": 2}).encode()
    for bad in (b"", b"[]", b"{}", b"\xff", good.replace(b'"wrapped": "', b'"wrapped": "*'), newer):
        run_now(companion_of(sealed).apply([Put(PATH, bad)], THIEF))
        with pytest.raises(Corrupt, match="keys"):
            sealed.anew()


def test_contents_whose_keys_are_gone_are_shown_as_damaged(sealed: Sealed) -> None:
    sealed.put("/a.md", b"x")
    run_now(companion_of(sealed).apply([Remove(PATH)], THIEF))
    later = sealed.anew()
    with pytest.raises(Corrupt, match="keys of this store are gone"):
        sealed.read("/a.md", later)
    (entry,) = run_now(later.list(ROOT)).entries
    assert isinstance(entry, Entry)
    assert entry.sha256 != sha256(b"x")
    with pytest.raises(UnknownId):
        sealed.put("/b.md", b"not with keys that are gone")


def test_erasing_a_store_destroys_its_keys_unless_a_hold_forbids_it(sealed: Sealed) -> None:
    sealed.put("/a.md", b"x")
    run_now(sealed.store.hold(ROOT, "a case", AGENT))
    with pytest.raises(Held):
        run_now(sealed.backend.erase(sealed.store.id, AGENT))
    assert sealed.read("/a.md", sealed.anew()) == b"x"
    run_now(sealed.store.lift(ROOT, AGENT))
    run_now(sealed.backend.erase(sealed.store.id, AGENT))
    assert run_now(sealed.below.list(WORKSPACE)).stores == ()
    made = run_now(sealed.backend.create("never written"))
    run_now(sealed.backend.erase(made.id, AGENT))


def test_the_workspace_of_the_keys_is_nobodys(sealed: Sealed) -> None:
    for call in (
        sealed.backend.for_user("u", WORKSPACE),
        sealed.backend.open("memstore_1", WORKSPACE),
        sealed.backend.create("n", workspace=WORKSPACE),
        sealed.backend.erase("memstore_1", AGENT, WORKSPACE),
    ):
        with pytest.raises(Misuse, match="keys of sealed stores"):
            run_now(call)


def test_two_who_make_the_keys_at_once_have_the_same(sealed: Sealed) -> None:
    label = label_of_user("acme", "default")
    keepers = [RingKeeper(companion_of(sealed), label, keys()) for _ in range(2)]
    one, other = [run_now(keeper.make()).ring for keeper in keepers]
    assert (one.binding, one.current) == (other.binding, other.current)


@pytest.mark.parametrize(
    "text", [b64encode(KEY).decode(), KEY.hex(), f" {b64encode(KEY).decode()}\n"]
)
def test_a_key_is_spelled_as_base64_or_hex(text: str, tmp_path: Path) -> None:
    (tmp_path / "key").write_text(text)
    wanted = LocalKey(KEY).id
    assert parse_key(text).id == wanted
    assert key_of_environment({"MEMORANDA_SEALED_KEY": text}).id == wanted
    assert key_of_environment({"MEMORANDA_SEALED_KEY_FILE": str(tmp_path / "key")}).id == wanted


@pytest.mark.parametrize("text", ["", "short", "x" * 64, "*" * 44, KEY[:31].hex(), KEY.hex() * 2])
def test_what_is_no_key_is_refused_without_being_repeated(text: str) -> None:
    with pytest.raises(Misuse, match="32 random bytes") as caught:
        parse_key(text)
    assert not text or text not in str(caught.value)


def test_a_key_that_is_not_to_be_had_is_misuse(tmp_path: Path) -> None:
    (tmp_path / "bad").write_bytes(b"\xff\xfe")
    text = KEY.hex()
    for environ in (
        {},
        {"MEMORANDA_SEALED_KEY": text, "MEMORANDA_SEALED_KEY_FILE": "key"},
        {"MEMORANDA_SEALED_KEY_FILE": str(tmp_path / "none")},
        {"MEMORANDA_SEALED_KEY_FILE": str(tmp_path / "bad")},
    ):
        with pytest.raises(Misuse, match="MEMORANDA_SEALED_KEY_FILE") as caught:
            key_of_environment(environ)
        assert text not in str(caught.value)
        assert str(tmp_path) not in str(caught.value)


def test_a_key_is_not_shown() -> None:
    key = LocalKey(KEY)
    assert repr(key) == f"LocalKey({key.id})"
    assert KEY.hex() not in key.id
    with pytest.raises(Misuse):
        LocalKey(b"short")


NEW = LocalKey(bytes(reversed(KEY)))


def test_a_new_key_wraps_the_keys_of_all_stores_and_the_old_wrappings_are_gone(
    tmp_path: Path,
) -> None:
    sealed = Sealed(SqliteBackend(tmp_path / "memory.db"))
    for number in range(102):
        store = run_now(sealed.backend.for_user(f"user{number}"))
        run_now(store.apply([Put(p("/a.md"), TEXT)], AGENT))
    old = json.loads(run_now(companion_of(sealed, "user7").read(PATH)).data)
    both = SealedBackend(sealed.below, Keys(NEW, [LocalKey(KEY)]))
    assert run_now(both.rewrap_keys()) == 102
    assert run_now(both.rewrap_keys()) == 0
    run_now(both.close())
    gone = old["binding"]["wrapped"].encode()
    assert not [file for file in tmp_path.iterdir() if gone in file.read_bytes()]
    alone = SealedBackend(SqliteBackend(tmp_path / "memory.db"), Keys(NEW))
    for number in (0, 7, 101):
        assert sealed.read("/a.md", run_now(alone.for_user(f"user{number}"))) == TEXT


@pytest.mark.parametrize("call", ["apply", "redact"])
@pytest.mark.parametrize("done", [False, True])
def test_a_rewrapping_that_was_cut_off_can_be_repeated(
    sealed: Sealed, call: str, done: bool
) -> None:
    sealed.put("/a.md", TEXT)
    label = label_of_user("acme", "default")
    both = Keys(NEW, [LocalKey(KEY)])
    failing = FailingStore(companion_of(sealed), Call(1, call, done=done))
    with pytest.raises(Unavailable):
        run_now(RingKeeper(failing, label, both).rewrap())
    assert sealed.read("/a.md", run_now(SealedBackend(sealed.below, both).for_user("acme"))) == TEXT
    run_now(SealedBackend(sealed.below, both).rewrap_keys())
    left = run_now(companion_of(sealed).versions()).versions
    assert [one.redacted_at_ns is None for one in left] == [True, False]
    alone = SealedBackend(sealed.below, Keys(NEW))
    assert sealed.read("/a.md", run_now(alone.for_user("acme"))) == TEXT


def test_a_new_data_key_seals_what_comes_and_what_was_there_stays_readable(
    sealed: Sealed,
) -> None:
    sealed.put("/a.md", TEXT)
    open_elsewhere = run_now(SealedBackend(sealed.below, Keys(LocalKey(KEY))).for_user("acme"))
    assert sealed.read("/a.md", open_elsewhere) == TEXT
    before = json.loads(run_now(companion_of(sealed).read(PATH)).data)
    assert run_now(sealed.backend.rewrap_keys(data_keys=True)) == 1
    after = json.loads(run_now(companion_of(sealed).read(PATH)).data)
    assert set(before["keys"]) < set(after["keys"])
    assert after["current"] not in before["keys"]
    sealed.put("/b.md", TEXT)
    below = run_now(sealed.below.for_user("acme"))
    assert run_now(below.read(p("/b.md"))).data[4:12].hex() == after["current"]
    assert run_now(below.read(p("/a.md"))).data[4:12].hex() == before["current"]
    for path in ("/a.md", "/b.md"):
        assert sealed.read(path, open_elsewhere) == TEXT
    run_now(open_elsewhere.apply([Put(p("/b.md"), b"2"), Put(p("/a.md"), b"2")], AGENT))
    assert sealed.read("/a.md") == b"2"
    assert run_now(sealed.backend.for_user("acme")) is not None


@pytest.mark.parametrize("done", [False, True])
def test_a_new_data_key_that_was_cut_off_loses_nothing(sealed: Sealed, done: bool) -> None:
    sealed.put("/a.md", TEXT)
    failing = FailingStore(companion_of(sealed), Call(1, "apply", done=done))
    keeper = RingKeeper(failing, label_of_user("acme", "default"), Keys(LocalKey(KEY)))
    with pytest.raises(Unavailable):
        run_now(keeper.rewrap(new_data_key=True))
    fresh = SealedBackend(sealed.below, Keys(LocalKey(KEY)))
    assert sealed.read("/a.md", run_now(fresh.for_user("acme"))) == TEXT
    assert run_now(fresh.rewrap_keys(data_keys=True)) == 1
    assert sealed.read("/a.md", run_now(fresh.for_user("acme"))) == TEXT


def test_keys_of_a_store_that_is_gone_are_erased_and_no_others(sealed: Sealed) -> None:
    sealed.put("/a.md", TEXT)
    gone = run_now(sealed.backend.for_user("gone"))
    run_now(gone.apply([Put(p("/a.md"), TEXT)], AGENT))
    info = run_now(sealed.below.find_user("gone"))
    assert info is not None
    run_now(
        sealed.below.erase(info.id, AGENT)
    )  # and the process is killed before it erases the keys
    assert run_now(sealed.backend.erase_orphans(AGENT, 0)) == 0
    assert run_now(sealed.backend.erase_orphans(AGENT, 2**62)) == 1
    assert run_now(sealed.backend.erase_orphans(AGENT, 2**62)) == 0
    assert sealed.read("/a.md", run_now(sealed.backend.for_user("acme"))) == TEXT


def test_a_former_key_is_read_as_the_present_one_is(tmp_path: Path) -> None:
    assert former_of_environment({}) == ()
    (key,) = former_of_environment({"MEMORANDA_SEALED_FORMER_KEY": KEY.hex()})
    assert key.id == LocalKey(KEY).id
    file = tmp_path / "key"
    file.write_text(KEY.hex())
    (key,) = former_of_environment({"MEMORANDA_SEALED_FORMER_KEY_FILE": str(file)})
    assert key.id == LocalKey(KEY).id
    with pytest.raises(Misuse, match="FORMER"):
        former_of_environment({"MEMORANDA_SEALED_FORMER_KEY": "short"})


def test_two_who_rewrap_at_once_do_it_once(sealed: Sealed) -> None:
    sealed.put("/a.md", TEXT)
    amid = Amid(companion_of(sealed))
    both = Keys(NEW, [LocalKey(KEY)])
    amid.before["apply"] = [lambda: run_now(SealedBackend(sealed.below, both).rewrap_keys())]
    with pytest.raises(Conflict):
        run_now(RingKeeper(amid, label_of_user("acme", "default"), both).rewrap())
    assert run_now(SealedBackend(sealed.below, both).rewrap_keys()) == 0


def test_keys_that_are_damaged_or_gone_are_not_rewrapped(sealed: Sealed) -> None:
    sealed.put("/a.md", b"x")
    run_now(companion_of(sealed).apply([Put(PATH, b"{}")], THIEF))
    both = SealedBackend(sealed.below, Keys(NEW, [LocalKey(KEY)]))
    with pytest.raises(Corrupt):
        run_now(both.rewrap_keys())
    run_now(companion_of(sealed).apply([Remove(PATH)], THIEF))
    assert run_now(both.rewrap_keys()) == 0


def test_without_the_library_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "cryptography.hazmat.primitives.ciphers.aead", None)
    with pytest.raises(Misuse, match=r"memoranda\[sealed\]"):
        LocalKey(KEY).wrap(KEY, b"")


# ---------------------------------------------------------------- opening by URL


def test_a_url_with_sealed_before_it_is_sealed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = f"sealed:{tmp_path / 'memory'}"
    with pytest.raises(Misuse, match="MEMORANDA_SEALED_KEY"):
        Memory.open(url, user="acme")
    monkeypatch.setenv("MEMORANDA_SEALED_KEY", KEY.hex())
    with Memory.open(url, user="acme") as memory:
        memory.write("/memories/a.md", "by a program")
        memory.execute({"command": "str_replace", "path": "/memories/a.md",
                        "old_str": "a program", "new_str": "Claude"})  # fmt: skip
        assert memory.read("/memories/a.md").text == "by Claude"
        assert [hit.path for hit in memory.search("claude")] == [p("/a.md")]
        memory.undo()
        assert memory.read("/memories/a.md").text == "by a program"
        memory.export(tmp_path / "out")
        assert memory.verify().ok
    assert (tmp_path / "out/a.md").read_bytes() == b"by a program"
    stored = (tmp_path / "memory/stores/acme/memories/a.md").read_bytes()
    assert b"program" not in stored


def test_sealed_ram_is_private_as_ram_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEMORANDA_SEALED_KEY", KEY.hex())
    with Memory.open("sealed:memory:") as one, Memory.open("sealed:memory:") as other:
        one.write("/memories/a.md", "x")
        assert other.list("/memories") == ()


# ---------------------------------------------------------------- amid others' work


class Amid(WrapperStore):
    """A store in which others do something right before certain calls."""

    def __init__(self, inner: Store) -> None:
        super().__init__(inner)
        self.before: dict[str, list[Callable[[], object]]] = {}

    def others(self, call: str) -> None:
        for work in self.before.pop(call, [])[:1]:
            work()

    async def read(self, path: MemoryPath, start: int = 0, length: int | None = None) -> Content:
        self.others("read")
        return await self.inner.read(path, start, length)

    async def stat(self, path: MemoryPath) -> Entry:
        self.others("stat")
        return await self.inner.stat(path)

    async def apply(self, changes: Sequence[Change], context: Context) -> tuple[Version, ...]:
        self.others("apply")
        return await self.inner.apply(changes, context)

    async def versions(
        self,
        where: VersionFilter = VersionFilter(),
        *,
        after: str | None = None,
        limit: int = 100,
        content: bool = False,
    ) -> VersionPage:
        self.others("versions")
        return await self.inner.versions(where, after=after, limit=limit, content=content)


class Crowd(Sealed):
    """A sealed store with others at work below it."""

    def __init__(self) -> None:
        super().__init__(RamBackend())
        self.amid = Amid(self.inner)
        keeper = RingKeeper(companion_of(self), label_of_user("acme", "default"), keys())
        self.other = self.store
        self.store = SealedStore(self.amid, keeper)

    def amidst(self, call: str, *changes: Put | Edit | Move | Remove) -> None:
        self.amid.before[call] = [lambda: run_now(self.other.apply(changes, AGENT))]


@pytest.fixture
def crowd() -> Crowd:
    return Crowd()


def test_a_memory_that_is_made_meanwhile_is_replaced(crowd: Crowd) -> None:
    crowd.amidst("apply", Put(p("/a.md"), b"theirs"))
    crowd.put("/a.md", b"ours")
    assert crowd.read("/a.md", crowd.anew()) == b"ours"


def test_a_memory_that_goes_meanwhile_is_made(crowd: Crowd) -> None:
    crowd.put("/a.md", b"old")
    crowd.amidst("apply", Remove(p("/a.md")))
    crowd.put("/a.md", b"new")
    assert crowd.read("/a.md", crowd.anew()) == b"new"


def test_a_memory_that_is_another_one_meanwhile_keeps_its_own_binding(crowd: Crowd) -> None:
    crowd.put("/a.md", b"old")
    crowd.amidst("apply", Remove(p("/a.md")), Put(p("/a.md"), b"new"))
    crowd.edit("/a.md", b"!")
    assert crowd.read("/a.md", crowd.anew()) == b"new!"
    crowd.edit("/a.md", b"!")
    assert crowd.read("/a.md", crowd.anew()) == b"new!!"


def test_a_content_that_changes_while_it_is_checked_is_read_again(crowd: Crowd) -> None:
    crowd.put("/a.md", b"one")
    crowd.amidst("stat", Put(p("/a.md"), b"two"))
    assert crowd.read("/a.md") == b"two"


def test_a_content_that_is_replaced_and_read_while_it_is_checked_is_read_again(
    crowd: Crowd,
) -> None:
    run_now(crowd.other.apply([Put(p("/a.md"), b"one")], AGENT))

    def change_and_read() -> None:
        run_now(crowd.other.apply([Put(p("/a.md"), b"two")], AGENT))
        assert crowd.read("/a.md") == b"two"

    crowd.amid.before["versions"] = [change_and_read]
    assert crowd.read("/a.md") == b"two"


def test_a_content_that_never_stays_is_unavailable(
    crowd: Crowd, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sealed_store, "LOOKS", 1)
    crowd.put("/a.md", b"one")
    crowd.amidst("stat", Put(p("/a.md"), b"two"))
    with pytest.raises(Unavailable, match="changed each time"):
        crowd.read("/a.md")


def test_a_batch_that_never_fits_is_a_conflict(
    crowd: Crowd, monkeypatch: pytest.MonkeyPatch
) -> None:
    crowd.put("/a.md", b"x")
    monkeypatch.setattr(sealed_store, "TRIES", 1)
    crowd.amidst("apply", Remove(p("/a.md")))
    with pytest.raises(Conflict):
        crowd.put("/a.md", b"y")


# ---------------------------------------------------------------- the corners


def test_a_batch_knows_where_its_memories_come_from_and_go(sealed: Sealed) -> None:
    sealed.put("/a.md", b"a")
    sealed.put("/b.md", b"b")
    sealed.do(
        Put(p("/new.md"), b"new"),
        Move(p("/new.md"), p("/d/new.md")),
        Edit(p("/d/new.md"), append(b"!")),
        Move(p("/a.md"), p("/d/a.md")),
        Put(p("/d/a.md"), b"other"),
        Remove(p("/b.md")),
        Put(p("/b.md"), b"again"),
        Put(p("/a.md"), b"free"),
        Move(p("/d"), p("/e")),
    )
    later = sealed.anew()
    wanted = {"/e/new.md": b"new!", "/e/a.md": b"other", "/b.md": b"again", "/a.md": b"free"}
    assert {path: sealed.read(path, later) for path in wanted} == wanted
    assert run_now(later.verify()).ok


def test_contents_can_be_preconditions_of_removals_and_moves(sealed: Sealed) -> None:
    sealed.put("/a.md", b"a")
    for change in (
        Remove(p("/a.md"), IfContent(sha256(b"b"))),
        Move(p("/a.md"), p("/b.md"), IfContent(sha256(b"b"))),
    ):
        with pytest.raises(Conflict):
            sealed.do(change)
    sealed.do(Move(p("/a.md"), p("/b.md"), IfContent(sha256(b"a"))))
    sealed.do(Remove(p("/b.md"), IfContent(sha256(b"a"))))
    assert run_now(sealed.store.usage())[:2] == (0, 0)


def test_a_revived_memory_is_newer_than_all_that_it_was(sealed: Sealed) -> None:
    memory_id = sealed.put("/a.md", b"one")
    sealed.do(Remove(p("/a.md")))
    sealed.put("/b.md", b"two", keep_id=memory_id)
    assert sealed.put("/b.md", b"three", keep_id=memory_id) == memory_id
    assert sealed.read("/b.md", sealed.anew()) == b"three"
    with pytest.raises(UnknownId):
        sealed.put("/c.md", b"x", keep_id="mem_0")


def test_a_moved_content_whose_making_is_no_longer_known_is_taken_as_its_own(
    sealed: Sealed,
) -> None:
    sealed.put("/a.md", b"a")
    (made,) = run_now(sealed.store.versions()).versions
    sealed.do(Move(p("/a.md"), p("/b.md")))
    sealed.do(Move(p("/b.md"), p("/c.md")))
    run_now(sealed.store.redact(made.id, AGENT))
    assert sealed.read("/c.md", sealed.anew()) == b"a"


def test_a_search_opens_no_more_than_its_bound(
    sealed: Sealed, monkeypatch: pytest.MonkeyPatch
) -> None:
    sealed.put("/a.md", b"a needle")
    assert len(run_now(sealed.store.search("needle", ROOT))) == 1
    monkeypatch.setattr(sealed_store, "SEARCHED_BYTES", 100)
    with pytest.raises(Unsupported, match="search in more than 100 bytes"):
        run_now(sealed.store.search("needle", ROOT))


def test_what_is_remembered_has_an_end() -> None:
    recent: Recent[int, str] = Recent(2)
    for number in range(3):
        recent.put(number, "x")
    assert [recent.get(number) for number in range(3)] == [None, None, "x"]


def test_a_repair_tells_what_can_not_be_opened(sealed: Sealed) -> None:
    sealed.put("/a.md", b"a")
    sealed.forge("/a.md", b"plain")
    assert [one.code for one in run_now(sealed.store.repair()).problems] == ["unsealable"]


def test_a_memory_that_goes_during_a_verification_is_no_problem(crowd: Crowd) -> None:
    crowd.put("/a.md", b"a")
    crowd.amidst("read", Remove(p("/a.md")))
    assert run_now(crowd.store.verify()).ok


def test_keys_that_vanish_while_they_are_made_are_corrupt(sealed: Sealed) -> None:
    class Forgetful(WrapperStore):
        async def read(
            self, path: MemoryPath, start: int = 0, length: int | None = None
        ) -> Content:
            raise NotFound(path)

    keeper = RingKeeper(Forgetful(companion_of(sealed)), "label", keys())
    with pytest.raises(Corrupt, match="vanished"):
        run_now(keeper.make())


def test_a_long_history_of_moves_is_followed_to_its_beginning(sealed: Sealed) -> None:
    sealed.put("/0.md", b"a")
    for number in range(110):
        sealed.do(Move(p(f"/{number}.md"), p(f"/{number + 1}.md")))
    assert sealed.read("/110.md", sealed.anew()) == b"a"


def test_a_moved_content_whose_history_is_thinned_is_taken_as_its_own(sealed: Sealed) -> None:
    class Thinned(WrapperStore):
        async def versions(
            self,
            where: VersionFilter = VersionFilter(),
            *,
            after: str | None = None,
            limit: int = 100,
            content: bool = False,
        ) -> VersionPage:
            page = await self.inner.versions(where, after=after, limit=limit, content=content)
            kept = [one for one in page.versions if one.operation != "created"]
            return VersionPage(tuple(kept), page.after)

    sealed.put("/a.md", b"a")
    sealed.do(Move(p("/a.md"), p("/b.md")))
    keeper = RingKeeper(companion_of(sealed), label_of_user("acme", "default"), keys())
    assert sealed.read("/b.md", SealedStore(Thinned(sealed.inner), keeper)) == b"a"


def test_many_memories_are_outlined_whole(sealed: Sealed) -> None:
    sealed.do(*(Put(p(f"/d/{number:04}.md"), b"xy") for number in range(1100)))
    outline = run_now(sealed.store.outline(ROOT, 100))
    assert (outline.size_bytes, outline.total) == (2200, 1101)
    assert outline.items[:2] == (("d/", 2200), ("d/0000.md", 2))


def test_keys_that_another_thread_made_meanwhile_are_not_forgotten(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    load = RingKeeper.load

    async def loaded_and_then_made(keeper: RingKeeper, known: Loaded | None) -> Loaded | None:
        found = await load(keeper, known)
        monkeypatch.undo()
        await store.apply([Put(p("/a.md"), b"one")], AGENT)
        return found

    store = run_now(SealedBackend(RamBackend(), Keys(LocalKey(KEY))).for_user("acme"))
    assert isinstance(store, SealedStore)
    monkeypatch.setattr(RingKeeper, "load", loaded_and_then_made)
    assert run_now(store.load()) is None
    monkeypatch.setattr(RingKeeper, "load", None)  # what was made is known, and not asked for again
    assert run_now(store.read(p("/a.md"))).data == b"one"
