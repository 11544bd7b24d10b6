"""kill -9 of a whole server under load, again and again: what was acknowledged is there afterwards."""

from __future__ import annotations

import threading
from typing import Protocol

from memoranda.drive import run_now
from memoranda.errors import Unavailable
from memoranda.stores.base import Context, Edit, Put, Store
from memoranda.testing.promises.steps import append, p

AGENT = Context(actor="agent", command="test")
WRITERS = 3


class Killable(Protocol):
    """A server of the tests' own."""

    def start(self) -> None: ...

    def kill(self) -> None: ...


class Writer(threading.Thread):
    """Appends to its own file and to one that all share; knows what was acknowledged."""

    def __init__(self, store: Store, number: int) -> None:
        super().__init__(daemon=True)
        self._store = store
        self._number = number
        self.done = 0
        self.failure: BaseException | None = None
        self.is_to_stop = threading.Event()

    def run(self) -> None:
        try:
            while not self.is_to_stop.is_set():
                line = b"%d.%d" % (self._number, self.done)
                edit = append(line + b"\n")
                changes = [Edit(p("/all.md"), edit), Edit(p(f"/{self._number}.md"), edit)]
                try:
                    run_now(self._store.apply(changes, AGENT))
                    self.done += 1
                except Unavailable:
                    # Away for longer than a call waits: whether it was done is to be seen.
                    self.done += line in self._own_lines()
        except BaseException as error:  # noqa: BLE001 - told to the test, which raises it
            self.failure = error

    def _own_lines(self) -> list[bytes]:
        while True:
            try:
                return run_now(self._store.read(p(f"/{self._number}.md"))).data.splitlines()
            except Unavailable:
                continue


def strike(server: Killable, store: Store, rounds: int) -> None:
    """Kill the server under load, bring it back, and look at everything that was acknowledged."""
    files = ["/all.md", *(f"/{number}.md" for number in range(WRITERS))]
    run_now(store.apply([Put(p(path), b"") for path in files], AGENT))
    writers = [Writer(store, number) for number in range(WRITERS)]
    for writer in writers:
        writer.start()
    for _ in range(rounds):
        before = [writer.done for writer in writers]
        while any(w.done < n + 3 for w, n in zip(writers, before, strict=True) if not w.failure):
            threading.Event().wait(0.002)
        server.kill()
        server.start()
    for writer in writers:
        writer.is_to_stop.set()
    for writer in writers:
        writer.join(60)
        assert writer.failure is None, writer.failure
    lines = run_now(store.read(p("/all.md"))).data.splitlines()
    for number, writer in enumerate(writers):
        own = [b"%d.%d" % (number, turn) for turn in range(writer.done)]
        assert run_now(store.read(p(f"/{number}.md"))).data.splitlines() == own
        assert [line for line in lines if line.startswith(b"%d." % number)] == own
    assert run_now(store.verify()).problems == ()
