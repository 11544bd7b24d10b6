"""Buckets: requests whose answer gets lost, servers that lie, writers that race, processes that fork."""

from __future__ import annotations

import asyncio
import os
import random
import threading
from collections.abc import Awaitable, Callable, Generator, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import ClassVar, Literal, TypeVar

import pytest
from obstore.store import MemoryStore

from memoranda import Memory
from memoranda.drive import run_now
from memoranda.errors import MemorandaError, Misuse, Unavailable, UnknownId
from memoranda.path import parse_path
from memoranda.stores import patience
from memoranda.stores.base import Context, Edit, Expect, Put, Remove, Store
from memoranda.stores.bucket import control, writing
from memoranda.stores.bucket.address import parse
from memoranda.stores.bucket.backend import BucketBackend
from memoranda.stores.bucket.faults import Taken
from memoranda.stores.bucket.port import Got, Seen, Tag, Wish
from memoranda.stores.patience import Lost
from memoranda.testing.promises.steps import append, history, p, tree
from tests.stores.bucket_in_memory import MemorySyncPort
from tests.stores.bucket_server import BUCKET, everything, objects, server, url_for
from tests.stores.cutting_proxy import Direction, Proxy, tcp_proxy

T = TypeVar("T")
AGENT = Context(actor="agent", command="test")
When = Literal["before", "after"]


class FaultyPort(MemorySyncPort):
    """Loses the answer of one request, which was done ("after") or not ("before")."""

    suspends: ClassVar[bool] = False

    def __init__(self, objects: MemoryStore) -> None:
        super().__init__(objects)
        self.objects = objects
        self.requests = 0
        self.fault: tuple[int, When] | None = None
        self.log: list[str] = []

    def arm(self, number: int, when: When) -> None:
        """Lose the answer to the ``number``-th request from now, counted from 0."""
        self.fault = self.requests + number, when

    @property
    def was_hit(self) -> bool:
        return self.fault is None

    async def _asked(self, name: str, work: Callable[[], Awaitable[T]]) -> T:
        number, self.requests = self.requests, self.requests + 1
        self.log.append(name)
        if self.fault is not None and self.fault[0] == number:
            when, self.fault = self.fault[1], None
            if when == "after":
                await work()
            raise Lost("The answer got lost.")
        return await work()

    async def get(self, key: str, known: Tag | None = None) -> Got:
        return await self._asked(f"get {key}", lambda: MemorySyncPort.get(self, key, known))

    async def get_all(self, wishes: Sequence[Wish]) -> list[bytes]:
        return await self._asked("get_all", lambda: MemorySyncPort.get_all(self, wishes))

    async def put_all(self, objects: Mapping[str, bytes]) -> None:
        return await self._asked("put_all", lambda: MemorySyncPort.put_all(self, objects))

    async def put(self, key: str, data: bytes, known: Tag | None) -> Tag:
        return await self._asked(f"put {key}", lambda: MemorySyncPort.put(self, key, data, known))

    async def delete(self, keys: Sequence[str]) -> None:
        return await self._asked("delete", lambda: MemorySyncPort.delete(self, keys))

    async def keys(
        self, prefix: str, after: str | None = None, most: int | None = None
    ) -> list[Seen]:
        return await self._asked(
            f"list {prefix}", lambda: MemorySyncPort.keys(self, prefix, after, most)
        )

    async def pause(self, seconds: float) -> None:
        return


def faulty() -> tuple[FaultyPort, BucketBackend]:
    port = FaultyPort(MemoryStore())
    return port, BucketBackend("s3://nowhere", port=port)


def each_request(
    prepare: Callable[[BucketBackend], T], work: Callable[[BucketBackend, T], None]
) -> int:
    """Do ``work`` with each of its requests' answers lost in turn, before and after it was done; how many
    requests it has."""
    whens: tuple[When, ...] = ("before", "after")
    for number in range(200):
        for when in whens:
            port, backend = faulty()
            ready = prepare(backend)
            port.arm(number, when)
            work(backend, ready)
            was_hit = port.was_hit
            port.fault = None
            run_now(backend.close())
            if not was_hit:
                return number
    raise AssertionError("it has no end")


def opened(backend: BucketBackend) -> Store:
    return run_now(backend.for_user("acme"))


def written(backend: BucketBackend) -> Store:
    store = opened(backend)
    run_now(store.apply([Put(p("/first.md"), b"x")], AGENT))
    return store


def stored_in(backend: BucketBackend) -> MemoryStore:
    port = backend.ground.port
    assert isinstance(port, FaultyPort)
    return port.objects


def is_whole(backend: BucketBackend, n_versions: int) -> None:
    """What another process finds."""
    other = BucketBackend("s3://nowhere", port=MemorySyncPort(stored_in(backend)))
    store = run_now(other.for_user("acme"))
    assert len(run_now(history(store))) == n_versions
    assert run_now(store.verify()).problems == ()
    assert [one.user for one in run_now(other.list()).stores] == ["acme"]
    run_now(other.close())


def test_a_users_first_write_is_done_once_whichever_answer_gets_lost() -> None:
    def work(backend: BucketBackend, store: Store) -> None:
        (version,) = run_now(store.apply([Put(p("/a.md"), b"x", Expect.ABSENT)], AGENT))
        assert run_now(store.version(version.id)).content == b"x"
        is_whole(backend, 1)

    assert each_request(opened, work) > 8


def test_a_write_is_done_once_whichever_answer_gets_lost() -> None:
    def work(backend: BucketBackend, store: Store) -> None:
        (version,) = run_now(store.apply([Put(p("/a.md"), b"x", Expect.ABSENT)], AGENT))
        run_now(store.apply([Edit(p("/first.md"), append(b"y"))], AGENT))
        assert run_now(store.version(version.id)).content == b"x"
        assert run_now(tree(store)) == {"/a.md": b"x", "/first.md": b"xy"}
        is_whole(backend, 3)

    assert each_request(written, work) > 3


def test_so_is_one_that_writes_the_trees(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(writing, "MOST_TAIL", 1)
    test_a_write_is_done_once_whichever_answer_gets_lost()


def test_a_redaction_is_done_whichever_answer_gets_lost() -> None:
    secret = b"sk-Uq7Zr0X2-never-to-be-read-again"

    def prepare(backend: BucketBackend) -> tuple[Store, str]:
        store = written(backend)
        (version,) = run_now(store.apply([Put(p("/a.md"), secret)], AGENT))
        run_now(store.apply([Put(p("/a.md"), b"clean")], AGENT))
        return store, version.id

    def work(backend: BucketBackend, ready: tuple[Store, str]) -> None:
        store, version_id = ready
        for _ in range(2):  # a fault after the swap is the caller's to try again
            try:
                assert run_now(store.redact(version_id, AGENT)).redacted_by == "agent"
                break
            except Lost:
                continue
        client = stored_in(backend)
        keys = [one.key for one in run_now(MemorySyncPort(client).keys(""))]
        assert not [key for key in keys if secret in bytes(client.get(key).bytes())]
        assert run_now(tree(store)) == {"/a.md": b"clean", "/first.md": b"x"}
        is_whole(backend, 3)

    assert each_request(prepare, work) > 8


def test_an_erasure_that_was_cut_off_is_ended_by_the_next_one() -> None:
    def work(backend: BucketBackend, store: Store) -> None:
        try:
            run_now(backend.erase(store.id, AGENT))
        except UnknownId:
            pass  # it came to its end before its answer got lost
        client = stored_in(backend)
        left = {one.key.partition("/")[0] for one in run_now(MemorySyncPort(client).keys(""))}
        assert left == {"audit", "memoranda.json", "users"}
        assert run_now(backend.find_user("acme")) is None
        assert 1 <= len(run_now(control.erasures(MemorySyncPort(client)))) <= 2
        fresh = run_now(backend.for_user("acme"))
        run_now(fresh.apply([Put(p("/b.md"), b"new")], AGENT))
        assert run_now(tree(fresh)) == {"/b.md": b"new"}

    assert each_request(written, work) > 10


def test_an_erasure_that_was_killed_at_any_request_leaves_nothing_readable_and_can_be_ended() -> (
    None
):
    for number in range(60):
        port, backend = faulty()
        store = written(backend)
        port.arm(number, "before")
        try:
            with monkey_patience(0.0):
                run_now(backend.erase(store.id, AGENT))
        except Lost:
            pass
        was_hit = port.was_hit
        port.fault = None
        again = BucketBackend("s3://nowhere", port=MemorySyncPort(port.objects))
        try:
            run_now(again.erase(store.id, AGENT))
        except UnknownId:
            pass
        fresh = run_now(again.for_user("acme"))
        assert run_now(tree(fresh)) == {}
        run_now(fresh.apply([Put(p("/b.md"), b"new")], AGENT))
        assert run_now(tree(fresh)) == {"/b.md": b"new"}
        if not was_hit:
            return
    raise AssertionError("it has no end")


@contextmanager
def monkey_patience(seconds: float) -> Generator[None]:
    """Have nothing tried again."""
    before = patience.patiently.__defaults__
    patience.patiently.__defaults__ = (seconds,)
    try:
        yield
    finally:
        patience.patiently.__defaults__ = before


def test_under_random_faults_every_edit_that_many_make_counts_once() -> None:
    objects = MemoryStore()
    errors: list[BaseException] = []
    writers, turns = 4, 12

    class Unlucky(FaultyPort):
        async def _asked(self, name: str, work: Callable[[], Awaitable[T]]) -> T:
            if chance.random() < 0.12:
                if chance.random() < 0.5:
                    await work()
                raise Lost("The answer got lost.")
            return await work()

    chance = random.Random(4)

    def write(number: int) -> None:
        try:
            backend = BucketBackend("s3://nowhere", port=Unlucky(objects))
            store = run_now(backend.for_user("acme"))
            for turn in range(turns):
                line = b"%d.%d\n" % (number, turn)
                changes = [Put(p(f"/{number}.{turn}.md"), b"x", Expect.ABSENT)]
                run_now(store.apply(changes, AGENT))
                while True:
                    try:
                        run_now(store.apply([Edit(p("/all.md"), append(line))], AGENT))
                        break
                    except MemorandaError as error:
                        if "all.md" not in str(error):
                            raise
                        run_now(store.apply([Put(p("/all.md"), b"")], AGENT))
        except BaseException as error:  # noqa: BLE001 - told to the test, which raises it
            errors.append(error)

    first = BucketBackend("s3://nowhere", port=MemorySyncPort(objects))
    run_now(run_now(first.for_user("acme")).apply([Put(p("/all.md"), b"")], AGENT))
    with ThreadPoolExecutor(writers) as pool:
        list(pool.map(write, range(writers)))
    assert not errors, errors
    store = run_now(first.for_user("acme"))
    lines = run_now(store.read(p("/all.md"))).data.splitlines()
    assert sorted(lines) == sorted(b"%d.%d" % (w, t) for w in range(writers) for t in range(turns))
    assert len(run_now(history(store, limit=1000))) == 1 + 2 * writers * turns
    assert run_now(store.verify()).problems == ()


# ---------------------------------------------------------------- over the wire


@pytest.fixture
def proxy() -> Iterator[tuple[Proxy, str]]:
    made, port = tcp_proxy(int(server().endpoint.rpartition(":")[2]))
    yield made, f"http://127.0.0.1:{port}"
    made.close()


def cut_writes(url: str, cutter: Proxy, direction: Direction, step: int, most: int) -> None:
    backend = BucketBackend(url)
    store = run_now(backend.for_user("acme"))
    run_now(store.apply([Put(p("/first.md"), b"x")], AGENT))
    count = 1
    for n_bytes in range(0, most, step):
        path = p(f"/{direction}/{n_bytes}.md")
        cutter.arm(direction, n_bytes)
        versions = run_now(store.apply([Put(path, b"%d" % n_bytes, Expect.ABSENT)], AGENT))
        was_whole = cutter.disarm()
        count += 1
        assert [one.operation for one in versions] == ["created"]
        assert run_now(store.version(versions[0].id)).content == b"%d" % n_bytes
        if was_whole:
            break
    assert cutter.cuts > 3
    assert len(run_now(history(store, limit=1000))) == count
    assert run_now(store.verify()).problems == ()
    run_now(backend.close())


@pytest.mark.parametrize(("direction", "step"), [("to_server", 331), ("to_client", 47)])
def test_a_write_is_done_once_wherever_its_connection_breaks(
    tmp_path: Path, proxy: tuple[Proxy, str], direction: Direction, step: int
) -> None:
    cutter, endpoint = proxy
    url = url_for(tmp_path).replace(server().endpoint, endpoint)
    cut_writes(url, cutter, direction, step, 20_000)


@pytest.mark.full
@pytest.mark.parametrize("direction", ["to_server", "to_client"])
def test_a_write_is_done_once_at_every_few_bytes(
    tmp_path: Path, proxy: tuple[Proxy, str], direction: Direction
) -> None:
    cutter, endpoint = proxy
    cut_writes(url_for(tmp_path).replace(server().endpoint, endpoint), cutter, direction, 3, 20_000)


def test_a_server_that_is_away_is_unavailable_and_told_without_its_address(
    tmp_path: Path, proxy: tuple[Proxy, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    cutter, endpoint = proxy
    url = url_for(tmp_path).replace(server().endpoint, endpoint)
    monkeypatch.setattr(patience.patiently, "__defaults__", (0.1,))
    monkeypatch.setattr("memoranda.stores.bucket.swapping.PATIENCE_SECONDS", 0.1)
    backend = BucketBackend(url)
    store = run_now(backend.for_user("acme"))
    run_now(store.apply([Put(p("/a.md"), b"x")], AGENT))
    cutter.take_down()
    for ask in (store.read(p("/a.md")), store.apply([Put(p("/b.md"), b"x")], AGENT)):
        with pytest.raises(Unavailable) as caught:
            run_now(ask)
        assert "127.0.0.1" not in str(caught.value)
        assert "test" not in str(caught.value)
    cutter.bring_up()
    run_now(store.apply([Put(p("/b.md"), b"y")], AGENT))
    assert run_now(tree(store)) == {"/a.md": b"x", "/b.md": b"y"}
    run_now(backend.close())


# ---------------------------------------------------------------- servers and clients that can't be used


class LyingPort(MemorySyncPort):
    """Takes every condition and keeps none, as many servers do."""

    def __init__(self, objects: MemoryStore, *, lies_about: str) -> None:
        super().__init__(objects)
        self._lies_about = lies_about

    async def put(self, key: str, data: bytes, known: Tag | None) -> Tag:
        try:
            return await super().put(key, data, known)
        except Taken:
            if (known is None) != (self._lies_about == "creation"):
                raise
            await self.put_all({key: data})
            return (await self.get(key)).tag


@pytest.mark.parametrize("lies_about", ["creation", "replacement"])
def test_nothing_is_written_to_a_server_that_ignores_conditions(lies_about: str) -> None:
    objects = MemoryStore()
    backend = BucketBackend("s3://nowhere", port=LyingPort(objects, lies_about=lies_about))
    store = run_now(backend.for_user("acme"))
    assert run_now(tree(store)) == {}
    for ask in (store.apply([Put(p("/a.md"), b"x")], AGENT), backend.create("notes")):
        with pytest.raises(Unavailable, match="ignores conditional writes"):
            run_now(ask)
    assert run_now(MemorySyncPort(objects).keys("")) == []


def test_a_bucket_that_is_not_there_is_told_before_anything_is_believed(tmp_path: Path) -> None:
    url = url_for(tmp_path).replace(f"s3://{BUCKET}/", "s3://no-such-bucket/")
    backend = BucketBackend(url)
    with pytest.raises(Unavailable, match="no such bucket"):
        run_now(backend.for_user("acme"))
    run_now(backend.close())


def test_wrong_credentials_are_told_and_not_repeated(tmp_path: Path) -> None:
    url = url_for(tmp_path).replace("secret_access_key=testsecret", "secret_access_key=wrong-one")
    backend = BucketBackend(url)
    with pytest.raises(Unavailable, match="refuses these credentials") as caught:
        run_now(backend.for_user("acme"))
    assert "wrong-one" not in str(caught.value) + repr(backend) + repr(parse(url))
    run_now(backend.close())


@pytest.mark.parametrize(
    "url",
    [
        "s3://",
        "s3:///prefix",
        "s3://bucket/../x",
        "s3://bucket/a//b",
        "s3://bucket/a b",
        "s3://bucket/x#y",
        "s3://user:hush-Qx7@bucket/x",
        "s3://bucket/x?hush-Qx7",
        "s3://bucket/x?secrt=hush-Qx7",
        "az://container/x?hush=hush-Qx7",
    ],
)
def test_a_url_that_names_no_bucket_is_misuse_and_not_repeated(url: str) -> None:
    with pytest.raises(Misuse) as caught:
        run_now(BucketBackend(url).for_user("acme"))
    assert "hush-Qx7" not in str(caught.value)


def test_a_forked_child_is_told_instead_of_waiting_for_ever(tmp_path: Path) -> None:
    memory = Memory.open(url_for(tmp_path), user="acme")
    memory.write("/memories/a.md", "x")
    child = os.fork()
    if child == 0:
        try:
            memory.read("/memories/a.md")
        except Misuse:
            os._exit(7)
        except BaseException:  # noqa: BLE001 - any other end is the wrong one
            os._exit(1)
        os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
    assert memory.read("/memories/a.md").content == b"x"
    memory.close()


def test_a_cancelled_write_was_done_or_not_and_the_next_one_goes_on(tmp_path: Path) -> None:
    async def play() -> None:
        backend = BucketBackend(url_for(tmp_path), suspends=True)
        store = await backend.for_user("acme")
        await store.apply([Put(p("/a.md"), b"")], AGENT)
        chance = random.Random(3)
        done = 0
        for _ in range(25):
            task = asyncio.ensure_future(store.apply([Edit(p("/a.md"), append(b"x"))], AGENT))
            await asyncio.sleep(chance.random() * 0.006)
            task.cancel()
            try:
                await task
                done += 1
            except asyncio.CancelledError:
                pass
        await store.apply([Edit(p("/a.md"), append(b"!"))], AGENT)
        data = (await store.read(p("/a.md"))).data
        assert data.endswith(b"!")
        assert done <= data.count(b"x") <= 25
        assert (await store.verify()).problems == ()
        await backend.close()

    asyncio.run(play())


def test_nothing_that_was_written_under_a_race_is_left_over_but_what_a_collection_finds(
    tmp_path: Path,
) -> None:
    url = url_for(tmp_path)
    gate = threading.Barrier(4)

    def write(number: int) -> None:
        backend = BucketBackend(url)
        store = run_now(backend.for_user("acme"))
        gate.wait(30)
        for turn in range(5):
            run_now(store.apply([Put(p(f"/{number}/{turn}.md"), b"%d" % turn)], AGENT))
        run_now(backend.close())

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(write, range(4)))
    backend = BucketBackend(url)
    store = run_now(backend.for_user("acme"))
    assert len(run_now(tree(store))) == 20
    assert run_now(store.verify()).problems == ()
    assert run_now(store.repair()).problems == ()
    run_now(store.apply([Remove(parse_path("/memories/0"))], AGENT))
    assert len(run_now(tree(store))) == 15
    assert objects(url) and everything(url)
    run_now(backend.close())
