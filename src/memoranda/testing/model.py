"""The state machine: random operations on a store, compared with a plain dict after each.

    def test_my_backend_agrees_with_the_oracle() -> None:
        run_machine(TestMyBackend)         # a StoreSuite says how to open the backend

Needs hypothesis. The oracle knows paths as text and contents as bytes; it shares no code with any
store.
"""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any, ClassVar, TypeVar

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from memoranda.drive import run_now
from memoranda.errors import MemorandaError
from memoranda.stores.base import Change, Edit, Expect, Moment, Move, Put, Remove, VersionFilter
from memoranda.testing.oracle import Attempt, Oracle, PlainChange
from memoranda.testing.promises.rig import Rig
from memoranda.testing.promises.steps import (
    AGENT,
    append,
    history,
    memories,
    p,
    replace_all,
    tree,
)
from memoranda.testing.store_suite import StoreSuite

T = TypeVar("T")

# Few names, so that they meet: as files and directories, hidden ones, and in tricky order.
NAMES = st.sampled_from(["a", "b", "a.md", "A", ".h", "\u00fc"])
PATHS = st.lists(NAMES, min_size=1, max_size=3).map(lambda names: "/" + "/".join(names))
ANYWHERE = st.one_of(PATHS, PATHS, PATHS, st.just("/"))
CONTENTS = st.one_of(
    st.binary(max_size=8), st.sampled_from([b"", b"one\n", b"two\r\n", b"\xff" * 64])
)
CHANGES: st.SearchStrategy[PlainChange] = st.one_of(
    st.tuples(st.just("put"), ANYWHERE, CONTENTS),
    st.tuples(st.just("make"), ANYWHERE, CONTENTS),
    st.tuples(st.just("append"), PATHS, CONTENTS),
    st.tuples(st.just("rewrite"), PATHS, CONTENTS),
    st.tuples(st.just("remove"), ANYWHERE, st.just(b"")),
    st.tuples(st.just("move"), st.tuples(ANYWHERE, ANYWHERE), st.just(b"")),
)

USUAL = settings(max_examples=20, stateful_step_count=25, deadline=None)
"""About 500 steps; enough for every pull request, more at night."""


def as_change(plain: PlainChange) -> Change:
    """The oracle's change as the store wants it."""
    kind, where, content = plain
    if isinstance(where, tuple):
        return Move(p(where[0]), p(where[1]))
    path = p(where)
    makers: dict[str, Callable[[], Change]] = {
        "put": lambda: Put(path, content),
        "make": lambda: Put(path, content, Expect.ABSENT),
        "append": lambda: Edit(path, append(content)),
        "rewrite": lambda: Edit(path, replace_all(content)),
        "remove": lambda: Remove(path),
    }
    return makers[kind]()


class StoreMachine(RuleBasedStateMachine):
    """Random changes, batches, revivals and openings; everything compared after each."""

    suite: ClassVar[type[StoreSuite]]
    """How the backend is opened and the store is wrapped."""

    def __init__(self) -> None:
        super().__init__()
        subject = self.suite()
        self.loop = asyncio.Runner() if subject.suspends else None
        self.home = tempfile.TemporaryDirectory(prefix="memoranda-model-")
        self.rig = self.run(Rig.opened(subject, Path(self.home.name)))
        self.oracle = Oracle()

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """Bring a coroutine to its end, in the colour of the backend."""
        return self.loop.run(work) if self.loop else run_now(work)

    def teardown(self) -> None:
        """Check the store as a whole, let go of it, and of its home."""
        try:
            if self.rig.backend.capabilities.time_travel:
                self.run(self.check_all_that_was())
            assert self.run(self.rig.store.verify()).problems == ()
        finally:
            self.run(self.rig.close())
            if self.loop:
                self.loop.close()
            self.home.cleanup()

    # ---- what happens

    @initialize(paths=st.lists(PATHS, min_size=4, max_size=12))
    def begin(self, paths: list[str]) -> None:
        """A tree to begin with, so that even a short run has something to move and to remove."""
        self.grow(paths)

    @rule(paths=st.lists(PATHS, min_size=2, max_size=6))
    def grow(self, paths: list[str]) -> None:
        """A batch of new memories, wherever there is room."""
        room: list[PlainChange] = []
        for path in paths:
            change: PlainChange = ("make", path, path.encode())
            if not self.oracle.attempt([*room, change]).objections:
                room.append(change)
        self.apply(room)

    @rule(change=CHANGES)
    def change(self, change: PlainChange) -> None:
        """One change."""
        self.apply([change])

    @rule(changes=st.lists(CHANGES, min_size=2, max_size=6))
    def batch(self, changes: list[PlainChange]) -> None:
        """Several changes, all or none."""
        self.apply(changes)

    @precondition(lambda self: self.oracle.files)
    @rule(data=st.data(), to=PATHS)
    def move_what_is_there(self, data: st.DataObject, to: str) -> None:
        """A move that has something to move: a file, or a directory above one."""
        self.apply([("move", (self.draw_place(data), to), b"")])

    @precondition(lambda self: self.oracle.files)
    @rule(data=st.data())
    def remove_what_is_there(self, data: st.DataObject) -> None:
        """The removal of a file, or of a directory above one."""
        self.apply([("remove", self.draw_place(data), b"")])

    @precondition(lambda self: self.oracle.dead())
    @rule(data=st.data(), path=PATHS, content=CONTENTS)
    def revive(self, data: st.DataObject, path: str, content: bytes) -> None:
        """A deleted memory comes back under its id, where there is room for it."""
        token = data.draw(st.sampled_from(self.oracle.dead()))
        put = Put(p(path), content, Expect.ABSENT, self.oracle.ids[token])
        self.agree([put], self.oracle.attempt_revival(token, path, content))

    @precondition(lambda self: self.rig.backend.capabilities.durable)
    @rule()
    def reopen(self) -> None:
        """Close everything and open it again."""
        self.run(self.rig.reopen())

    @precondition(lambda self: self.rig.backend.capabilities.time_travel)
    @rule()
    def look_back(self) -> None:
        """Every state that was is still there to be listed."""
        self.run(self.check_all_that_was())

    def draw_place(self, data: st.DataObject) -> str:
        """The path of a file or of a directory that is there."""
        path = data.draw(st.sampled_from(sorted(self.oracle.files)))
        names = path[1:].split("/")
        return "/" + "/".join(names[: data.draw(st.integers(1, len(names)))])

    def apply(self, plain: list[PlainChange]) -> None:
        """Do a batch on both sides."""
        self.agree([as_change(change) for change in plain], self.oracle.attempt(plain))

    def agree(self, changes: list[Change], attempt: Attempt) -> None:
        """Do a batch: the store has to refuse what the oracle does, and why, and to do the rest."""
        try:
            versions = self.run(self.rig.store.apply(changes, AGENT))
        except MemorandaError as error:
            if type(error).__name__ not in attempt.objections:
                raise
            return
        assert not attempt.objections, f"done in spite of {attempt.objections}"
        self.oracle.accept(attempt)
        if versions:
            self.run(self.catch_up())

    # ---- what has to hold

    async def catch_up(self) -> None:
        """Take over the ids that the store gave, and note the state with its moment."""
        store = self.rig.store
        self.oracle.learn({one.path.store_path: one.memory_id for one in await memories(store)})
        newest = (await store.versions(limit=1)).versions[0]
        self.oracle.note(newest.seq, newest.created_at_ns)

    @invariant()
    def contents_are_those_of_the_dict(self) -> None:
        """Paths, contents, ids and counters."""
        wanted = self.oracle.contents()
        assert self.run(tree(self.rig.store)) == wanted
        listed = self.run(memories(self.rig.store))
        assert [one.path.store_path for one in listed] == sorted(wanted)
        assert {one.path.store_path: one.memory_id for one in listed} == self.oracle.ids_by_path()
        usage = self.run(self.rig.store.usage())
        assert usage[:2] == (len(wanted), sum(map(len, wanted.values())))

    @invariant()
    def outlines_are_those_of_the_dict(self) -> None:
        """What a view of the root shows, with its sizes."""
        found = self.run(self.rig.store.outline(p("/"), 10**6))
        lines = [(f"/{name}", size_bytes) for name, size_bytes in found.items]
        assert (found.size_bytes, lines) == self.oracle.outline()
        assert found.total == len(lines)

    @invariant()
    def histories_are_as_long_as_they_have_to_be(self) -> None:
        """Each memory has its versions, from its making to its end."""
        dead = self.oracle.dead()
        for token, memory_id in self.oracle.ids.items():
            found = self.run(history(self.rig.store, VersionFilter(memory_id=memory_id)))
            assert self.oracle.fewest[token] <= len(found) <= self.oracle.most[token]
            assert found[-1].operation == "created"
            assert (found[0].operation == "deleted") == (token in dead)

    async def check_all_that_was(self) -> None:
        """Each noted state, by its moment and by its time."""
        store = self.rig.store
        for seq, at_ns, contents, ids in self.oracle.past:
            assert (await store.moment(at_ns)).seq >= seq
            listed = await memories(store, at=Moment(seq))
            assert {one.path.store_path: one.memory_id for one in listed} == ids
            assert contents == {
                one.path.store_path: (await store.version(one.version_id)).content for one in listed
            }


def run_machine(suite: type[StoreSuite], how: settings = USUAL) -> None:
    """Run the machine on the backend of ``suite``; raises what the first bad run ended with.

    ``how`` are hypothesis' settings: how many runs, how many steps each.
    """
    machine = type(f"Machine{suite.__name__}", (StoreMachine,), {"suite": suite})
    run_state_machine_as_test(machine, settings=how)
