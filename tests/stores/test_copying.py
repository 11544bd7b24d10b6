"""Copies: equal to the last version between all backends, resumable, never mixed with anything else."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path

import pytest

from memoranda.drive import run_now
from memoranda.errors import Corrupt, OtherContents, StoreExists, Unavailable, Unsupported
from memoranda.operations.copying.copying import Copied, copy_store
from memoranda.operations.copying.heads import copy_heads
from memoranda.operations.copying.stores import stores_of
from memoranda.stores.base import (
    Backend,
    Capabilities,
    Change,
    Context,
    Put,
    Store,
    StoreInfo,
    Version,
)
from memoranda.stores.bucket.backend import BucketBackend
from memoranda.stores.companions import PROPOSALS, label_of
from memoranda.stores.folder.backend import FolderBackend
from memoranda.stores.git.backend import GitBackend
from memoranda.stores.postgres.backend import PostgresBackend
from memoranda.stores.ram import RamBackend
from memoranda.stores.sealed.backend import SealedBackend
from memoranda.stores.sealed.keys import Keys, LocalKey
from memoranda.stores.sqlite import SqliteBackend
from memoranda.testing.faults import Call, FailingStore, WrappingBackend
from memoranda.testing.promises.steps import p, put, read, tree
from tests.stores.bucket_server import url_for as bucket_url
from tests.stores.histories import live_through, picture
from tests.stores.postgres_server import url_for

KEYS = Keys(LocalKey(bytes(range(32))))
AGENT = Context("agent", "create")


@pytest.fixture
def backends(tmp_path: Path) -> Iterator[dict[str, Callable[[], Backend]]]:
    opened: list[Backend] = []

    def make(kind: Callable[[], Backend]) -> Callable[[], Backend]:
        def opens() -> Backend:
            opened.append(kind())
            return opened[-1]

        return opens

    yield {
        "folder": make(lambda: FolderBackend(tmp_path / "folder")),
        "sqlite": make(lambda: SqliteBackend(tmp_path / "stores.db")),
        "postgres": make(lambda: PostgresBackend(url_for(tmp_path))),
        "ram": make(RamBackend),
        "sealed": make(lambda: SealedBackend(SqliteBackend(tmp_path / "sealed.db"), KEYS)),
        "sealed folder": make(lambda: SealedBackend(FolderBackend(tmp_path / "s"), KEYS)),
        "other folder": make(lambda: FolderBackend(tmp_path / "other")),
    }
    for backend in opened:
        run_now(backend.close())


def copied(source: Backend, target: Backend, user: str = "ada") -> Copied:
    info = run_now(source.find_user(user))
    assert info is not None
    return run_now(copy_store(source, info, target, "user_admin"))


def info_of(backend: Backend, user: str = "ada") -> StoreInfo:
    info = run_now(backend.find_user(user))
    assert info is not None
    return info


@pytest.mark.parametrize(
    "seed", [0, *(pytest.param(n, marks=pytest.mark.full) for n in range(1, 20))]
)
def test_a_history_goes_round_all_backends_and_comes_back_equal(
    backends: dict[str, Callable[[], Backend]], seed: int
) -> None:
    source = backends["folder"]()
    run_now(live_through(run_now(source.for_user("ada")), seed, 60))
    first = run_now(picture(run_now(source.for_user("ada"))))
    assert len(first["batches"]) > 30
    for name in ("sqlite", "postgres", "sealed", "ram", "sealed folder", "other folder"):
        target = backends[name]()
        done = copied(source, target)
        store = run_now(target.for_user("ada"))
        assert done.versions == sum(map(len, first["batches"]))
        assert done.before == 0
        assert run_now(picture(store)) == first
        assert run_now(store.verify()).problems == ()
        assert store.id == done.store_id
        source = target
    last = run_now(source.for_user("ada"))
    run_now(put(last, "/after", b"goes on"))
    assert run_now(read(last, "/after")) == b"goes on"


def test_names_metadata_archiving_and_holds_come_along(
    backends: dict[str, Callable[[], Backend]],
) -> None:
    source, target = backends["ram"](), backends["folder"]()
    made = run_now(
        source.create("notes", workspace="w2", description="of before", metadata={"k": "v"})
    )
    store = run_now(source.open(made.id, "w2"))
    run_now(put(store, "/d/a", b"1"))
    run_now(store.hold(p("/d"), "the law", Context("user_law", "hold")))
    run_now(store.touch((p("/d/a"),), 5))
    waiting = run_now(source.for_user(label_of(made), PROPOSALS))
    run_now(put(waiting, "/proposal", b"{}"))
    made = run_now(source.archive(made.id, "w2"))
    (info,) = run_now(stores_of(source))
    run_now(copy_store(source, info, target, "user_admin"))
    found = run_now(target.info(made.id, "w2"))
    assert found.archived_at_ns is not None
    assert found[:7] == made[:7]
    copied_too = run_now(target.for_user(label_of(made), PROPOSALS))
    assert run_now(tree(copied_too)) == {"/proposal": b"{}"}
    copy = run_now(target.open(made.id, "w2"))
    (hold,) = run_now(copy.holds())
    assert (hold.path, hold.reason, hold.actor) == (p("/d"), "the law", "user_law")
    assert run_now(copy.uses()) == {p("/d/a"): 5}
    entry = run_now(copy.audit(0, 1))[0]
    assert (entry.actor, entry.command) == ("user_admin", "copy")
    assert entry.details["from"] == made.id
    assert run_now(copy.verify_audit()).problems == ()
    assert run_now(stores_of(target, made.id, "w2")) == [found]


def test_a_copy_that_was_cut_off_goes_on_where_it_was(
    backends: dict[str, Callable[[], Backend]],
) -> None:
    source = backends["folder"]()
    run_now(live_through(run_now(source.for_user("ada")), 5, 40))
    first = run_now(picture(run_now(source.for_user("ada"))))
    target = backends["sqlite"]()
    for number in (1, 3, 7, 5):
        call = Call(number, "apply", done=number % 3 == 0)
        failing = WrappingBackend(target, partial(FailingStore, at=call))
        with pytest.raises(Unavailable):
            copied(source, failing)
    done = copied(source, target)
    assert 0 < done.before < done.versions
    assert run_now(picture(run_now(target.for_user("ada")))) == first
    again = copied(source, target)
    assert again.before == again.versions == done.versions


def test_what_is_written_and_redacted_later_comes_with_the_next_copy(
    backends: dict[str, Callable[[], Backend]],
) -> None:
    source, target = backends["ram"](), backends["postgres"]()
    store = run_now(source.for_user("ada"))
    run_now(live_through(store, 3, 20))
    copied(source, target)
    run_now(put(store, "/later", b"secret"))
    run_now(put(store, "/later", b"open"))
    copied(source, target)
    secret = run_now(store.versions()).versions[1]
    run_now(store.redact(secret.id, Context("user_privacy", "redact")))
    done = copied(source, target)
    assert done.before == done.versions
    assert run_now(picture(run_now(target.for_user("ada")))) == run_now(picture(store))


def test_nothing_is_mixed_into_a_store_that_holds_anything_else(
    backends: dict[str, Callable[[], Backend]],
) -> None:
    source, target = backends["ram"](), backends["sqlite"]()
    store = run_now(source.for_user("ada"))
    run_now(put(store, "/a", b"1"))
    theirs = run_now(target.for_user("ada"))
    run_now(put(theirs, "/b", b"2"))
    with pytest.raises(StoreExists):
        copied(source, target)
    assert run_now(tree(theirs)) == {"/b": b"2"}
    other = backends["folder"]()
    copied(source, other)
    run_now(put(run_now(other.for_user("ada")), "/c", b"3"))
    with pytest.raises(OtherContents):
        copied(source, other)
    assert run_now(tree(run_now(other.for_user("ada")))) == {"/a": b"1", "/c": b"3"}


def test_a_copy_that_differs_is_found(backends: dict[str, Callable[[], Backend]]) -> None:
    class Liar(FailingStore):
        async def apply(self, changes: Sequence[Change], context: Context) -> tuple[Version, ...]:
            changed = [
                Put(each.path, b"other", each.expect, each.keep_id)
                if isinstance(each, Put) and each.content == b"2"
                else each
                for each in changes
            ]
            return await self.inner.apply(changed, context)

    source, target = backends["ram"](), backends["sqlite"]()
    store = run_now(source.for_user("ada"))
    for content in (b"1", b"2", b"3"):
        run_now(put(store, "/a", content))
    never = Call(10**6, "apply")
    with pytest.raises(Corrupt, match="differs"):
        copied(source, WrappingBackend(target, lambda each: Liar(each, never)))


def test_what_a_backend_cannot_take_is_refused_before_anything_starts(
    backends: dict[str, Callable[[], Backend]],
) -> None:
    source, target = backends["ram"](), backends["sqlite"]()
    store = run_now(source.for_user("ada"))
    run_now(put(store, "/a", b"1"))
    plain = WrappingBackend(target, lambda each: each)
    _say_that_it_is_able(plain, Capabilities())
    with pytest.raises(Unsupported, match="heads"):
        copied(source, plain)
    run_now(store.hold(p("/"), "law", AGENT))
    _say_that_it_is_able(plain, Capabilities(takes_history=True))
    with pytest.raises(Unsupported, match="holds"):
        copied(source, plain)
    assert run_now(target.find_user("ada")) is None


def _say_that_it_is_able(backend: Backend, capabilities: Capabilities) -> None:
    backend.capabilities = capabilities  # type: ignore[misc] # pyright: ignore[reportAttributeAccessIssue]


def heads(
    source: Backend,
    target: Backend,
    info: StoreInfo,
    *,
    into_existing: bool = False,
    dry_run: bool = False,
) -> Copied:
    copying = copy_heads(
        source, info, target, "user_admin", into_existing=into_existing, dry_run=dry_run
    )
    return run_now(copying)


def test_heads_go_into_any_backend_and_go_on_where_they_were(
    backends: dict[str, Callable[[], Backend]],
) -> None:
    source, target = backends["folder"](), backends["sealed"]()
    store = run_now(source.for_user("ada"))
    run_now(live_through(store, 7, 30))
    run_now(store.apply([Put(p(f"/many/{n}"), b"%d" % n) for n in range(250)], AGENT))
    whole = run_now(tree(store))
    failing = WrappingBackend(target, lambda each: FailingStore(each, Call(2, "apply")))
    with pytest.raises(Unavailable):
        heads(source, failing, info_of(source))
    done = heads(source, target, info_of(source))
    assert (done.before, done.versions) == (100, len(whole))
    assert run_now(tree(run_now(target.for_user("ada")))) == whole


def test_heads_are_mixed_only_where_no_path_has_another_content(
    backends: dict[str, Callable[[], Backend]],
) -> None:
    source, target = backends["ram"](), backends["sqlite"]()
    made = run_now(source.create("notes", metadata={"k": "v"}))
    run_now(put(run_now(source.open(made.id)), "/a", b"1"))
    assert heads(source, target, made, dry_run=True).versions == 1
    assert run_now(target.list()).stores == ()
    heads(source, target, made)
    (info,) = run_now(target.list()).stores
    assert info.name == "notes"
    assert info.metadata["k"] == "v"
    copy: Store = run_now(target.open(info.id))
    run_now(put(copy, "/b", b"2"))
    with pytest.raises(OtherContents):
        heads(source, target, made)
    assert heads(source, target, made, into_existing=True).before == 1
    run_now(put(copy, "/a", b"other"))
    with pytest.raises(OtherContents):
        heads(source, target, made, into_existing=True)
    assert run_now(tree(copy)) == {"/a": b"other", "/b": b"2"}


def test_histories_go_through_buckets_and_git(
    backends: dict[str, Callable[[], Backend]], tmp_path: Path
) -> None:
    whole = backends["ram"]()
    run_now(live_through(run_now(whole.for_user("ada")), 11, 12))
    heads_there = run_now(tree(run_now(whole.for_user("ada"))))
    git, bucket = GitBackend(tmp_path / "git"), BucketBackend(bucket_url(tmp_path))
    for kind, source in (("sqlite", git), ("folder", bucket)):
        if source is git:  # it can't redact, and some of this history is redacted
            with pytest.raises(Unsupported):
                copied(whole, source)
            heads(whole, source, info_of(whole))
        else:
            copied(whole, source)
        store = run_now(source.for_user("ada"))
        assert run_now(tree(store)) == heads_there
        run_now(put(store, "/a-new", b"1"))
        run_now(put(store, "/a-new", b"2"))
        target = backends[kind]()
        copied(source, target)
        copy = run_now(target.for_user("ada"))
        assert run_now(picture(copy)) == run_now(picture(store))
        run_now(source.close())


def test_all_stores_of_all_workspaces_are_found(
    backends: dict[str, Callable[[], Backend]],
) -> None:
    source = backends["sqlite"]()
    run_now(put(run_now(source.for_user("ada")), "/a", b"1"))
    run_now(put(run_now(source.for_user("bob", "w2")), "/a", b"1"))
    assert [each.user for each in run_now(stores_of(source))] == ["ada", "bob"]
    assert [each.user for each in run_now(stores_of(source, workspace="w2"))] == ["bob"]
    postgres = backends["postgres"]()
    run_now(put(run_now(postgres.for_user("eve")), "/a", b"1"))
    assert [each.user for each in run_now(stores_of(postgres))] == ["eve"]
