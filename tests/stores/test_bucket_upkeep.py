"""Buckets: what a read and a write cost, how old history goes, and what a collection removes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pytest
from obstore.store import MemoryStore

from memoranda.drive import run_now
from memoranda.errors import Corrupt, UnknownId
from memoranda.stores.base import (
    AuditReport,
    Context,
    Edit,
    Moment,
    Put,
    Remove,
    Retention,
    Store,
    VersionFilter,
)
from memoranda.stores.bucket import collecting, head, redaction, writing
from memoranda.stores.bucket.backend import BucketBackend
from memoranda.stores.bucket.cache import Cache
from memoranda.stores.bucket.port import Got, Tag, Wish
from memoranda.stores.bucket.store import BucketStore
from memoranda.stores.log.retention import DAY_NS
from memoranda.testing.promises.steps import append, history, p, tree
from tests.stores.bucket_in_memory import MemorySyncPort

AGENT = Context(actor="agent", command="test")


class CountingPort(MemorySyncPort):
    """Counts round trips and bytes; calls that go out at once are one round trip."""

    def __init__(self, objects: MemoryStore) -> None:
        super().__init__(objects)
        self.objects = objects
        self.trips: list[str] = []
        self.bytes = 0

    async def get(self, key: str, known: Tag | None = None) -> Got:
        self.trips.append("get")
        got = await super().get(key, known)
        self.bytes += len(got.data)
        return got

    async def get_all(self, wishes: Sequence[Wish]) -> list[bytes]:
        if wishes:
            self.trips.append("get_all")
        found = await super().get_all(wishes)
        self.bytes += sum(map(len, found))
        return found

    async def put_all(self, objects: Mapping[str, bytes]) -> None:
        if objects:
            self.trips.append("put_all")
        self.bytes += sum(map(len, objects.values()))
        await super().put_all(objects)

    async def put(self, key: str, data: bytes, known: Tag | None) -> Tag:
        self.trips.append("put")
        self.bytes += len(data)
        return await super().put(key, data, known)

    def of(self, work: object) -> list[str]:
        self.trips.clear()
        self.bytes = 0
        run_now(work)  # type: ignore[arg-type] # pyright: ignore[reportArgumentType]
        return list(self.trips)


class Clock:
    """A clock that is set."""

    def __init__(self) -> None:
        self.now = 1_700_000_000 * 10**9

    def __call__(self) -> int:
        self.now += 1_000
        return self.now


def opened(
    objects: MemoryStore | None = None, keeps: Retention | None = None
) -> tuple[CountingPort, BucketBackend, BucketStore, Clock]:
    port, clock = CountingPort(objects or MemoryStore()), Clock()
    backend = BucketBackend("s3://nowhere", port=port, clock=clock, retention=keeps or Retention())
    return port, backend, run_now(backend.for_user("acme")), clock


def put(store: Store, path: str, content: bytes) -> str:
    return run_now(store.apply([Put(p(path), content)], AGENT))[0].id


def keys(port: CountingPort, part: str = "") -> set[str]:
    return {one.key for one in run_now(MemorySyncPort(port.objects).keys("")) if part in one.key}


# ---------------------------------------------------------------- cost


def test_a_view_is_one_round_trip_while_nobody_wrote() -> None:
    port, _, store, _ = opened()
    put(store, "/a.md", b"x" * 2000)
    assert port.of(store.read(p("/a.md"))) == ["get"]
    assert port.bytes == 0
    other = opened(port.objects)[2]
    put(other, "/b.md", b"y")
    assert port.of(store.read(p("/a.md"))) == ["get"]
    assert port.bytes > 0
    assert port.of(store.read(p("/a.md"))) == ["get"]
    assert port.bytes == 0
    assert port.of(store.read(p("/b.md"))) == ["get", "get_all"]


def test_a_write_is_two_round_trips_and_three_where_others_write() -> None:
    port, _, store, _ = opened()
    put(store, "/a.md", b"x")
    for turn in range(100):
        assert port.of(store.apply([Edit(p("/a.md"), append(b"y"))], AGENT)) in (
            ["put_all", "put"],
            # Every 64th looks at old history as well.
            ["put_all", "put", "get"],
            ["put_all", "put", "get", "get_all", "put"],
            ["put_all", "put", "get", "put"],
        ), turn
    other = opened(port.objects)[2]
    put(other, "/b.md", b"y")
    run_now(store.read(p("/b.md")))
    assert port.of(store.apply([Put(p("/c.md"), b"y")], AGENT)) == ["get", "put_all", "put"]


def test_a_lost_race_is_planned_again_and_nothing_is_lost() -> None:
    port, _, store, _ = opened()
    put(store, "/a.md", b"")
    other = opened(port.objects)[2]
    put(other, "/a.md", b"theirs ")
    assert port.of(store.apply([Edit(p("/a.md"), append(b"ours"))], AGENT)) == [
        "put_all", "put", "get", "get_all", "put_all", "put",
    ]  # fmt: skip
    assert run_now(store.read(p("/a.md"))).data == b"theirs ours"


def cost_of_a_write(n_files: int, n_versions: int) -> tuple[float, float, float]:
    """Bytes a write, bytes that opening takes, requests that opening takes."""
    objects = MemoryStore()
    port, _, store, _ = opened(objects, Retention(keep_days=0))
    files = [Put(p(f"/d{number // 100}/{number}.md"), b"x" * 100) for number in range(n_files)]
    run_now(store.apply(files, AGENT))
    for number in range(n_versions):
        put(store, f"/d{number % 20}/{number * 7 % n_files}.md", b"%d" % number)
    port.bytes = 0
    for number in range(64):
        put(store, f"/d0/{number * 7 % 100}.md", b"new %d" % number)
    written = port.bytes / 64
    port, _, store, _ = opened(objects)
    trips = port.of(store.read(p("/d0/0.md")))
    return written, port.bytes, len(trips)


def test_neither_history_nor_files_make_reads_and_writes_dearer() -> None:
    few_bytes, few_opening, few_trips = cost_of_a_write(100, 20)
    many_bytes, many_opening, many_trips = cost_of_a_write(2000, 400)
    assert many_bytes < 3 * few_bytes
    assert many_opening < 60_000
    assert many_trips <= few_trips + 1
    assert few_opening < 60_000


def test_the_cache_stays_within_its_bytes_and_forgets_the_least_used() -> None:
    cache = Cache(100)
    for number in range(20):
        cache.put(str(number), number, 10)
        cache.get("0")
    assert cache.bytes == 100
    assert cache.get("0") == 0
    assert cache.get("1") is None
    assert cache.get("19") == 19
    cache.put("too large", 1, 50)
    assert cache.get("too large") is None


# ---------------------------------------------------------------- retention


def audit_of(store: Store) -> AuditReport:
    return run_now(store.verify_audit())


def test_old_versions_go_the_newest_stay_and_the_audit_says_so() -> None:
    _, _, store, clock = opened(keeps=Retention(keep_days=30, keep_newest=5))
    anchor_at_once = put(store, "/a.md", b"first")
    for number in range(100):
        put(store, "/a.md", b"%d" % number)
    put(store, "/gone.md", b"gone")
    run_now(store.apply([Remove(p("/gone.md"))], AGENT))
    clock.now += 20 * DAY_NS
    put(store, "/b.md", b"between")
    anchor = audit_of(store).head
    clock.now += 20 * DAY_NS
    for number in range(200):
        put(store, "/c.md", b"%d" % number)
    left = run_now(store.versions(VersionFilter(path=p("/a.md")), limit=1000)).versions
    assert [run_now(store.version(one.id)).content for one in left] == [
        b"99", b"98", b"97", b"96", b"95",
    ]  # fmt: skip
    assert run_now(store.versions(VersionFilter(path=p("/gone.md")))).versions == ()
    with pytest.raises(UnknownId):
        run_now(store.version(anchor_at_once))
    with pytest.raises(UnknownId):
        run_now(store.list(p("/"), at=Moment(3)))
    assert run_now(store.verify()).problems == ()
    report = run_now(store.verify_audit([anchor]))
    assert report.problems == ()
    commands = [entry.command for entry in run_now(store.audit(0, 1000))]
    assert "retention" in commands
    assert set(run_now(tree(store))) == {"/a.md", "/b.md", "/c.md"}


def test_a_budget_drops_what_is_younger_too() -> None:
    _, _, store, _ = opened(keeps=Retention(keep_newest=3, budget_bytes=20_000))
    for number in range(300):
        put(store, "/a.md", b"%d" % number * 50)
    assert run_now(store.usage()).history_bytes < 60_000
    assert len(run_now(history(store, limit=1000))) < 150
    assert run_now(store.verify()).problems == ()
    assert audit_of(store).problems == ()


# ---------------------------------------------------------------- collection


def test_a_collection_removes_pages_and_contents_that_nothing_names() -> None:
    port, backend, store, clock = opened(keeps=Retention(keep_days=1, keep_newest=1))
    for number in range(200):
        put(store, f"/{number % 30}.md", b"%d" % number)
    clock.now += 3 * DAY_NS
    put(store, "/x.md", b"")
    clock.now += 3 * DAY_NS
    for number in range(300):
        put(store, "/y.md", b"%d" % number)
    before = keys(port)
    state = run_now(tree(store))
    place = store.place
    assert run_now(collecting.collect(backend.ground, place, 0, packs=True)) == 0  # all are young
    gone = run_now(collecting.collect(backend.ground, place, 2**62, packs=True))
    assert gone > 200
    assert len(keys(port)) == len(before) - gone
    fresh = opened(port.objects)[2]
    assert run_now(tree(fresh)) == state
    assert run_now(fresh.verify()).problems == ()
    kept = run_now(history(fresh, limit=1000, content=True))
    assert all(version.content is not None for version in kept if version.operation != "deleted")


def test_a_writer_that_slept_over_a_collection_loses_the_race_and_nothing_else() -> None:
    port, backend, store, _ = opened()
    put(store, "/a.md", b"")
    sleeper_port, _, sleeper, _ = opened(port.objects)
    run_now(sleeper.read(p("/a.md")))
    put_all = sleeper_port.put_all

    async def then_sleep(objects: Mapping[str, bytes]) -> None:
        await put_all(objects)
        sleeper_port.put_all = put_all  # type: ignore[method-assign]
        # Between its contents and its head somebody collects, with no grace at all.
        assert await collecting.collect(backend.ground, store.place, 2**62) >= 1

    sleeper_port.put_all = then_sleep  # type: ignore[method-assign]
    run_now(sleeper.apply([Edit(p("/a.md"), append(b"late"))], AGENT))
    assert run_now(store.read(p("/a.md"))).data == b"late"
    assert run_now(store.verify()).problems == ()


def test_a_reader_whose_pages_go_begins_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(writing, "MOST_TAIL", 0)
    port, backend, store, _ = opened()
    for number in range(30):
        put(store, f"/{number}.md", b"%d" % number)
    reader_port, _, reader, _ = opened(port.objects)
    get = reader_port.get

    async def then_collect(key: str, known: Tag | None = None) -> Got:
        try:
            return await get(key, known)
        finally:
            reader_port.get = get  # type: ignore[method-assign]
            await store.apply([Put(p("/5.md"), b"new")], AGENT)
            await collecting.collect(backend.ground, store.place, 2**62)

    reader_port.get = then_collect  # type: ignore[method-assign]
    assert run_now(reader.read(p("/5.md"))).data == b"new"


def test_a_page_or_content_that_is_gone_or_changed_is_damage_and_is_named() -> None:
    port, _, store, _ = opened()
    for number in range(60):
        put(store, f"/{number}.md", b"%d" % number)
    pages = sorted(keys(port, "/n/"))
    packs = sorted(keys(port, "/c/"))
    port.objects.put(packs[3], b"other bytes that nobody wrote")
    found = run_now(opened(port.objects)[2].verify())
    assert {problem.code for problem in found.problems} == {"version"}
    for page in pages:
        port.objects.put(page, b"{}")
    fresh = opened(port.objects)[2]
    with pytest.raises(Corrupt):
        run_now(fresh.read(p("/3.md")))
    assert {problem.code for problem in run_now(fresh.verify()).problems} == {"object"}
    port.objects.delete(pages)
    fresh = opened(port.objects)[2]
    with pytest.raises(Corrupt):
        run_now(fresh.read(p("/3.md")))
    assert {problem.code for problem in run_now(fresh.verify()).problems} == {"object"}


def test_what_a_killed_redaction_left_is_ended_by_a_repair(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    secret = b"sk-Uq7Zr0X2-never-to-be-read-again"
    port, _, store, _ = opened()
    version = put(store, "/a.md", secret)
    put(store, "/a.md", b"clean")

    async def killed(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(redaction, "finish", killed)
        with pytest.raises(KeyboardInterrupt):
            run_now(store.redact(version, AGENT))
    assert any(secret in bytes(port.objects.get(key).bytes()) for key in keys(port))
    fresh = opened(port.objects)[2]
    assert run_now(fresh.version(version)).content is None
    assert run_now(fresh.repair()).problems == ()
    assert not any(secret in bytes(port.objects.get(key).bytes()) for key in keys(port))
    assert run_now(fresh.version(version)).redacted_by == "agent"


def test_redacting_one_of_a_batch_leaves_the_others_of_its_pack() -> None:
    port, _, store, _ = opened()
    secret = b"sk-Uq7Zr0X2-never-to-be-read-again"
    batch = [Put(p("/a.md"), b"before"), Put(p("/b.md"), secret), Put(p("/c.md"), b"after")]
    _, version, _ = run_now(store.apply(batch, AGENT))
    put(store, "/b.md", b"clean")
    run_now(store.redact(version.id, AGENT))
    fresh = opened(port.objects)[2]
    assert run_now(tree(fresh)) == {"/a.md": b"before", "/b.md": b"clean", "/c.md": b"after"}
    assert not any(secret in bytes(port.objects.get(key).bytes()) for key in keys(port))
    assert run_now(fresh.verify()).problems == ()
    assert audit_of(fresh).problems == ()


def test_a_head_of_a_later_format_is_refused_and_says_why() -> None:
    port, _, store, _ = opened()
    put(store, "/a.md", b"x")
    (key,) = keys(port, "/head")
    data = bytes(port.objects.get(key).bytes())
    port.objects.put(key, data.replace(b'"format":1', b'"format":2'))
    with pytest.raises(Exception, match="newer Memoranda"):
        run_now(opened(port.objects)[2].read(p("/a.md")))
    port.objects.put(key, b"not json")
    with pytest.raises(Corrupt):
        run_now(opened(port.objects)[2].read(p("/a.md")))
    assert head.FORMAT == 1
