"""Remote stores: answers that get lost, writers that race, servers that are away, odd or hostile."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import pytest

from memoranda import Memory
from memoranda.drive import run_now
from memoranda.errors import (
    AlreadyExists,
    Conflict,
    MemorandaError,
    NotText,
    ReadOnly,
    RefusedByServer,
    Unavailable,
    Unsupported,
)
from memoranda.stores import patience
from memoranda.stores.base import Change, Context, Edit, Expect, Move, Put, Remove, Store, Version
from memoranda.stores.patience import Lost
from memoranda.stores.remote.address import parse
from memoranda.stores.remote.backend import RemoteBackend
from memoranda.stores.remote.sync_port import SyncPort
from memoranda.testing.promises.steps import append, history, p, tree
from tests.stores.cutting_proxy import Direction, Proxy, tcp_proxy
from tests.stores.remote_server import Remote, remote

if TYPE_CHECKING:
    from anthropic.resources.beta.memory_stores import MemoryStores

T = TypeVar("T")
AGENT = Context(actor="agent", command="test")


@pytest.fixture
def there(tmp_path: Path) -> Iterator[Remote]:
    with remote(tmp_path) as running:
        yield running


@pytest.fixture
def no_patience(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(patience.patiently, "__defaults__", (0.1,))


def apply(store: Store, *changes: Change) -> tuple[Version, ...]:
    return run_now(store.apply(changes, AGENT))


def contents(store: Store) -> dict[str, bytes]:
    return run_now(tree(store))


class FaultyPort(SyncPort):
    """Loses answers: of the requests whose number is armed, after they were done or before. ``between``
    is run right after a lost one, as another writer would."""

    def __init__(self, there: Remote) -> None:
        super().__init__(parse(there.address), there.key)
        self.requests = 0
        self.lost: dict[int, bool] = {}
        self.between: Callable[[], object] = tuple

    async def ask(self, request: Callable[[MemoryStores], T]) -> T:
        number, self.requests = self.requests, self.requests + 1
        if number not in self.lost:
            return await super().ask(request)
        if self.lost.pop(number):
            await super().ask(request)
        self.between()
        raise Lost("The answer got lost.")

    async def pause(self, seconds: float) -> None:
        return


def faulty(there: Remote) -> tuple[FaultyPort, RemoteBackend]:
    port = FaultyPort(there)
    backend = there.backend()
    backend.port = port
    return port, backend


WRITES: dict[str, tuple[Any, dict[str, bytes]]] = {
    "create": (Put(p("/new.md"), b"n", Expect.ABSENT), {"/a.md": b"a", "/new.md": b"n"}),
    "put": (Put(p("/a.md"), b"other"), {"/a.md": b"other"}),
    "edit": (Edit(p("/a.md"), append(b"!")), {"/a.md": b"a!"}),
    "move": (Move(p("/a.md"), p("/d/b.md")), {"/d/b.md": b"a"}),
    "remove": (Remove(p("/a.md")), {}),
}


@pytest.mark.parametrize("done", [True, False], ids=["after", "before"])
@pytest.mark.parametrize("kind", WRITES)
def test_a_write_whose_answer_is_lost_is_done_once_and_said_so(
    there: Remote, kind: str, done: bool
) -> None:
    change, wanted = WRITES[kind]
    # What it takes undisturbed, so that each of its requests is hit in turn.
    port, backend = faulty(there)
    store = run_now(backend.for_user("calm"))
    apply(store, Put(p("/a.md"), b"a"))
    begun = port.requests
    apply(store, change)
    n_requests = port.requests - begun
    for number in range(n_requests):
        store = run_now(backend.for_user(f"lost{number}"))
        apply(store, Put(p("/a.md"), b"a"))
        port.lost = {port.requests + number: done}
        versions = apply(store, change)
        assert not port.lost, "it was hit"
        assert len(versions) == 1
        assert contents(store) == wanted
        assert len(run_now(history(store))) == 2
    run_now(backend.close())


@pytest.mark.parametrize("lost", [1, 2, 3])
def test_a_users_first_write_makes_one_store_whatever_gets_lost(there: Remote, lost: int) -> None:
    port, backend = faulty(there)
    store = run_now(backend.for_user("acme"))
    port.lost = {port.requests + lost: True}
    apply(store, Put(p("/a.md"), b"a"))
    assert not port.lost
    assert contents(store) == {"/a.md": b"a"}
    assert len(run_now(backend.list()).stores) == 1
    run_now(backend.close())


def test_an_edit_that_was_done_is_not_done_again_when_others_wrote_since(there: Remote) -> None:
    port, backend = faulty(there)
    other = there.backend()
    mine = run_now(backend.for_user("acme"))
    apply(mine, Put(p("/a.md"), b"a"))
    theirs = run_now(other.for_user("acme"))
    for number, between in enumerate(
        (
            lambda: apply(theirs, Edit(p("/a.md"), append(b"?"))),
            lambda: apply(theirs, Move(p("/a.md"), p("/b.md"))),
            lambda: apply(theirs, Remove(p("/b.md"))),
        )
    ):
        path = p("/b.md") if number == 2 else p("/a.md")

        port.between = between
        # A listing and the content are looked at first; the write is the third request.
        port.lost = {port.requests + 2: True}
        (version,) = apply(mine, Edit(path, append(b"!")))
        assert not port.lost
        assert run_now(mine.version(version.id)).content == (b"a!", b"a!?!", b"a!?!!")[number]
        now = contents(mine)
        assert now == ({"/a.md": b"a!?"}, {"/b.md": b"a!?!"}, {})[number]
    run_now(backend.close())
    run_now(other.close())


def test_a_write_that_was_not_done_is_a_race_like_any_other(there: Remote) -> None:
    port, backend = faulty(there)
    other = there.backend()
    mine = run_now(backend.for_user("acme"))
    apply(mine, Put(p("/a.md"), b"a"))
    theirs = run_now(other.for_user("acme"))
    port.between = lambda: apply(theirs, Edit(p("/a.md"), append(b"?")))
    port.lost = {port.requests + 2: False}
    apply(mine, Edit(p("/a.md"), append(b"!")))
    assert contents(mine) == {"/a.md": b"a?!"}
    assert len(run_now(history(mine))) == 3
    run_now(backend.close())
    run_now(other.close())


def test_two_who_write_the_same_at_once_have_both_written(there: Remote) -> None:
    """The API answers an update that finds its own result as done; ours says whose it was."""
    port, backend = faulty(there)
    other = there.backend()
    mine = run_now(backend.for_user("acme"))
    apply(mine, Put(p("/a.md"), b"a"))
    theirs = run_now(other.for_user("acme"))
    asked = port.ask
    begun = port.requests

    async def ask(request: Callable[[MemoryStores], T]) -> T:
        if port.requests == begun + 2:
            apply(theirs, Edit(p("/a.md"), append(b"!")))
        return await asked(request)

    port.ask = ask  # type: ignore[method-assign]
    apply(mine, Edit(p("/a.md"), append(b"!")))
    assert contents(mine) == {"/a.md": b"a!!"}
    run_now(backend.close())
    run_now(other.close())


# ---------------------------------------------------------------- batches


def in_the_way(
    there: Remote, port: FaultyPort, after: int, interfere: Callable[[], object]
) -> None:
    """Have another writer come before the request that is so many from now."""
    asked, at = port.ask, port.requests + after

    async def ask(request: Callable[[MemoryStores], T]) -> T:
        if port.requests == at:
            interfere()
        return await asked(request)

    port.ask = ask  # type: ignore[method-assign]


def test_a_batch_that_meets_another_writer_is_taken_back_and_done_anew(there: Remote) -> None:
    port, backend = faulty(there)
    other = there.backend()
    mine = run_now(backend.for_user("acme"))
    apply(mine, *(Put(p(f"/d/{name}.md"), name.encode()) for name in "abc"))
    theirs = run_now(other.for_user("acme"))
    # One listing, then three moves: the third meets a newer content.
    in_the_way(there, port, 3, lambda: apply(theirs, Edit(p("/d/c.md"), append(b"?"))))
    apply(mine, Move(p("/d"), p("/e")))
    assert contents(mine) == {"/e/a.md": b"a", "/e/b.md": b"b", "/e/c.md": b"c?"}
    paths = [str(one.path) for one in run_now(history(mine))]
    assert paths.count("/memories/d/a.md") == 2, "it was back at its place in between"
    run_now(backend.close())
    run_now(other.close())


def test_a_batch_whose_later_step_is_refused_leaves_things_as_they_were(there: Remote) -> None:
    port, backend = faulty(there)
    store = run_now(backend.for_user("acme"))
    apply(store, *(Put(p(f"/{name}.md"), name.encode()) for name in "abc"))
    before = contents(store)

    async def refuse(request: Callable[[MemoryStores], T]) -> T:
        if port.requests == at:
            port.requests += 1
            raise Unavailable("The server has had enough.")
        return await asked(request)

    asked, at = port.ask, port.requests + 3
    port.ask = refuse  # type: ignore[method-assign]
    with pytest.raises(Unavailable, match="had enough"):
        apply(
            store,
            Put(p("/a.md"), b"new"),
            Move(p("/b.md"), p("/d/b.md")),
            Put(p("/d/new.md"), b"x"),
            Remove(p("/c.md")),
        )
    assert contents(store) == before
    run_now(backend.close())


def test_a_batch_that_can_not_be_taken_back_says_that_it_was_done_in_part(
    there: Remote, no_patience: None
) -> None:
    port, backend = faulty(there)
    store = run_now(backend.for_user("acme"))
    apply(store, Put(p("/d/a.md"), b"a"), Put(p("/d/b.md"), b"b"))

    async def die(request: Callable[[MemoryStores], T]) -> T:
        if port.requests >= at:
            raise Lost("Gone.")
        return await asked(request)

    asked, at = port.ask, port.requests + 2
    port.ask = die  # type: ignore[method-assign]
    with pytest.raises(Unavailable, match="in part"):
        apply(store, Move(p("/d"), p("/e")))
    run_now(backend.close())
    again = there.backend()
    assert contents(run_now(again.for_user("acme"))) == {"/e/a.md": b"a", "/d/b.md": b"b"}
    run_now(again.close())


def test_a_directory_is_removed_on_when_others_write_in_it(there: Remote) -> None:
    port, backend = faulty(there)
    other = there.backend()
    mine = run_now(backend.for_user("acme"))
    apply(mine, *(Put(p(f"/d/{name}.md"), name.encode()) for name in "abc"))
    theirs = run_now(other.for_user("acme"))
    in_the_way(there, port, 2, lambda: apply(theirs, Edit(p("/d/b.md"), append(b"?"))))
    apply(mine, Remove(p("/d")))
    assert contents(mine) == {}
    run_now(backend.close())
    run_now(other.close())


def test_what_the_api_can_not_do_is_refused_before_anything_is_written(there: Remote) -> None:
    backend = there.backend()
    store = run_now(backend.for_user("acme"))
    with pytest.raises(NotText):
        apply(store, Put(p("/a.md"), b"a"), Put(p("/b.bin"), b"\xff"))
    assert run_now(backend.find_user("acme")) is None
    for asked in (store.uses(), store.holds(), store.audit(None, 1), store.search("a", p("/"))):
        with pytest.raises(Unsupported):
            run_now(asked)
    assert not backend.capabilities.searches
    assert not backend.capabilities.audits
    assert not backend.capabilities.takes_history
    run_now(backend.close())


# ---------------------------------------------------------------- the network


@pytest.fixture
def proxy(there: Remote) -> Iterator[tuple[Proxy, str]]:
    made, port = tcp_proxy(int(there.address.rpartition(":")[2]))
    yield made, f"http://127.0.0.1:{port}"
    made.close()


def cut_writes(there: Remote, cutter: Proxy, address: str, direction: Direction, step: int) -> None:
    backend = there.backend(address=address)
    store = run_now(backend.for_user("acme"))
    apply(store, Put(p("/log.md"), b""))
    wanted = b""
    number = 0
    for number, n_bytes in enumerate(range(0, 100_000, step)):
        cutter.arm(direction, n_bytes)
        line = b"%d\n" % number
        assert len(apply(store, Edit(p("/log.md"), append(line)))) == 1
        was_whole = cutter.disarm()
        wanted += line
        if was_whole:
            break
    assert cutter.cuts > 3
    assert contents(store) == {"/log.md": wanted}
    assert len(run_now(history(store, limit=1000))) == number + 2
    assert run_now(store.verify()).ok
    run_now(backend.close())


@pytest.mark.parametrize(("direction", "step"), [("to_server", 401), ("to_client", 263)])
def test_an_edit_is_done_once_wherever_its_connection_breaks(
    there: Remote, proxy: tuple[Proxy, str], direction: Direction, step: int
) -> None:
    cut_writes(there, *proxy, direction, step)


@pytest.mark.full
@pytest.mark.parametrize("direction", ["to_server", "to_client"])
def test_an_edit_is_done_once_at_every_few_bytes(
    there: Remote, proxy: tuple[Proxy, str], direction: Direction
) -> None:
    cut_writes(there, *proxy, direction, 7)


def test_a_server_that_is_away_is_unavailable_told_without_its_address_and_found_again(
    there: Remote, proxy: tuple[Proxy, str], no_patience: None
) -> None:
    cutter, address = proxy
    backend = there.backend(address=address)
    store = run_now(backend.for_user("acme"))
    apply(store, Put(p("/a.md"), b"a"))
    cutter.take_down()
    asked: tuple[Callable[[], object], ...] = (
        lambda: run_now(store.read(p("/a.md"))),
        lambda: apply(store, Remove(p("/a.md"))),
    )
    for ask in asked:
        with pytest.raises(Unavailable) as away:
            ask()
        assert "127.0.0.1" not in str(away.value)
        assert there.key not in str(away.value)
    cutter.bring_up()
    assert contents(store) == {"/a.md": b"a"}
    run_now(backend.close())


# ---------------------------------------------------------------- odd servers


class Odd:
    """A server that answers everything with what it is told; it notes what it was asked."""

    def __init__(self) -> None:
        odd = self
        self.answers: list[tuple[int, dict[str, str], bytes]] = []
        self.asked: list[tuple[str, dict[str, str]]] = []

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                odd.asked.append((self.path, {k.lower(): v for k, v in self.headers.items()}))
                status, headers, body = odd.answers.pop(0) if odd.answers else odd.last
                self.send_response(status)
                for name, value in {"content-type": "application/json", **headers}.items():
                    self.send_header(name, value)
                self.send_header("content-length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            do_POST = do_GET  # noqa: N815 - and this one

            def log_message(self, format: str, *args: Any) -> None:
                return

        self.last: tuple[int, dict[str, str], bytes] = (200, {}, b'{"data":[],"next_page":null}')
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.address = f"http://127.0.0.1:{self.server.server_port}"
        self.thread = threading.Thread(target=self.server.serve_forever, args=(0.01,))
        self.thread.start()

    def close(self) -> None:
        self.server.shutdown()
        self.thread.join()
        self.server.server_close()


@pytest.fixture
def odd() -> Iterator[Odd]:
    made = Odd()
    yield made
    made.close()


def odd_backend(odd: Odd) -> RemoteBackend:
    return RemoteBackend(parse(odd.address), "mk_secret", settle_seconds=0)


ERROR = b'{"type":"error","error":{"type":"x","message":"call the operator at mk_secret"}}'


def test_a_busy_server_is_asked_again_when_it_says(odd: Odd) -> None:
    odd.answers = [(429, {"retry-after": "0"}, ERROR), (529, {}, ERROR), (503, {}, b"<html>")]
    backend = odd_backend(odd)
    assert run_now(backend.find_user("acme")) is None
    assert len(odd.asked) == 4
    run_now(backend.close())


def test_a_server_that_wants_more_time_than_there_is_is_not_waited_for(odd: Odd) -> None:
    odd.last = 429, {"retry-after": "3600"}, ERROR
    backend = odd_backend(odd)
    with pytest.raises(Unavailable):
        run_now(backend.find_user("acme"))
    assert len(odd.asked) == 1
    run_now(backend.close())


@pytest.mark.parametrize(
    "answer",
    [
        (401, {}, ERROR),
        (402, {}, ERROR),
        (404, {}, ERROR),
        (418, {}, b""),
        (500, {}, ERROR),
        (200, {}, b"<html>"),
        (200, {"content-type": "text/html"}, b"<html>"),
        (200, {}, b""),
        (200, {}, b"[1]"),
        (200, {}, b'{"data":[{"id":1}],"next_page":null}'),
        (200, {}, b'{"data":7,"next_page":null}'),
        (200, {}, b'{"data":[],"next_page":"again"}'),
    ],
    ids=lambda answer: f"{answer[0]}-{answer[2][:24].decode()}",
)
def test_whatever_a_server_answers_is_an_error_of_ours_without_its_words(
    odd: Odd, no_patience: None, answer: tuple[int, dict[str, str], bytes]
) -> None:
    odd.last = answer
    backend = odd_backend(odd)
    with pytest.raises(MemorandaError) as told:
        run_now(backend.find_user("acme"))
    assert "operator" not in str(told.value)
    assert "mk_secret" not in str(told.value)
    run_now(backend.close())


def test_a_redirection_takes_the_key_nowhere(odd: Odd) -> None:
    elsewhere = Odd()
    odd.last = 307, {"location": f"{elsewhere.address}/v1/memory_stores"}, b""
    backend = odd_backend(odd)
    with pytest.raises(Unavailable):
        run_now(backend.find_user("acme"))
    assert elsewhere.asked == []
    run_now(backend.close())
    elsewhere.close()


def test_no_key_of_the_environment_is_sent_to_another_host(
    odd: Odd, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-ant-hosted")
    monkeypatch.setenv("ANTHROPIC_AUTH_TOKEN", "token-hosted")
    monkeypatch.setenv("MEMORANDA_API_KEY", "mk_own")
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    with Memory.open(odd.address, user="acme") as memory:
        assert not memory.execute({"command": "view", "path": "/memories"}).is_error
    assert odd.asked
    for _, headers in odd.asked:
        assert "hosted" not in str(headers)
        assert headers["authorization"] == "Bearer mk_own"


# ---------------------------------------------------------------- the server's rules


def test_a_key_that_only_reads_finds_everything_read_only(there: Remote) -> None:
    from tests.server.live import make_key

    backend = there.backend()
    apply(run_now(backend.for_user("acme")), Put(p("/a.md"), b"a"))
    reading = there._replace(key=make_key(str(there.folder), role="read").credential).backend()
    store = run_now(reading.for_user("acme"))
    assert contents(store) == {"/a.md": b"a"}
    for change in (Put(p("/a.md"), b"b"), Put(p("/b.md"), b"b"), Remove(p("/a.md"))):
        with pytest.raises(ReadOnly):
            apply(store, change)
    for each in (backend, reading):
        run_now(each.close())


def test_a_rule_of_the_server_is_a_refusal_that_says_only_that(tmp_path: Path) -> None:
    from memoranda.config import load_settings

    rules = load_settings(environ={"MEMORANDA_LIMITS_FILES": "1"})
    with remote(tmp_path, rules=rules) as there:
        backend = there.backend()
        store = run_now(backend.for_user("acme"))
        apply(store, Put(p("/a.md"), b"a"))
        with pytest.raises(RefusedByServer):
            apply(store, Put(p("/b.md"), b"b"))
        assert contents(store) == {"/a.md": b"a"}
        run_now(backend.close())


def at_once(stores: Sequence[Store], path: str) -> list[object]:
    """What each of them gets that make one file at the same moment."""
    gate = threading.Barrier(len(stores))

    def make(store: Store) -> object:
        gate.wait(30)
        try:
            return apply(store, Put(p(path), store.id.encode(), Expect.ABSENT))
        except (AlreadyExists, Conflict) as error:
            return error

    with ThreadPoolExecutor(len(stores)) as pool:
        return list(pool.map(make, stores))


def test_clients_of_two_processes_that_make_one_file_are_told_apart(there: Remote) -> None:
    first, second = there.backend(), there.backend()
    stores = [run_now(each.for_user("acme")) for each in (first, second)]
    apply(stores[0], Put(p("/x"), b""))
    for number in range(5):
        outcomes = at_once(stores, f"/{number}")
        assert len([one for one in outcomes if not isinstance(one, MemorandaError)]) == 1, outcomes
    for each in (first, second):
        run_now(each.close())


def test_one_suspending_backend_serves_several_loops_in_turn(there: Remote) -> None:
    backend = there.backend(suspends=True)

    async def write(number: int) -> None:
        store = await backend.for_user("acme")
        await store.apply([Put(p(f"/{number}.md"), b"x")], AGENT)

    for number in range(3):
        asyncio.run(write(number))

    async def look() -> dict[str, bytes]:
        try:
            return await tree(await backend.for_user("acme"))
        finally:
            await backend.close()

    assert len(asyncio.run(look())) == 3
