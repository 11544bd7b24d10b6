"""Random work on one store of the RAM backend, with everything the log promises checked after
each step: the counters anew, the hash chain, every body, a tree of files that follows the log, and
a plain dict. Time passes, history is let go, versions are redacted."""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from memoranda.drive import run_now
from memoranda.errors import NotRedactable, Refused
from memoranda.path import MemoryPath
from memoranda.stores.base import (
    Change,
    Context,
    Edit,
    Entry,
    Move,
    Put,
    Remove,
    Retention,
    Version,
    VersionFilter,
)
from memoranda.stores.log import bodies
from memoranda.stores.log.replay import TreeStep, tree_events
from memoranda.stores.log.retention import DAY_NS
from memoranda.stores.ram import RamBackend
from memoranda.text.splice import Splice

START_NS = 1_700_000_000 * 10**9

NAMES = st.sampled_from(["a", "b", "c.md", ".h", "node_modules"])
PATHS = st.lists(NAMES, min_size=1, max_size=3).map(lambda names: MemoryPath.of(tuple(names)))
CONTENTS = st.one_of(st.binary(max_size=40), st.just(b"line\n" * 60), st.just(70_000).map(bytes))


def splice_at(part: float, middle: bytes) -> Callable[[bytes], Splice]:
    """An edit that replaces a few bytes somewhere."""

    def edit(old: bytes) -> Splice:
        start = int(part * len(old))
        return Splice(start, min(len(old), start + 3), middle)

    return edit


class FollowingTree:
    """A tree of files as a dict that does what ``tree_events`` says, and nothing else."""

    def __init__(self) -> None:
        self.files: dict[tuple[str, ...], bytes] = {}

    def follow(self, step: TreeStep, content: Callable[[int], bytes]) -> None:
        """Do one step."""
        source = None if step.source is None else step.source.names
        target = None if step.target is None else step.target.names
        moved: dict[tuple[str, ...], bytes] = {}
        if source is not None and source != target:
            for path in [path for path in self.files if path[: len(source)] == source]:
                moved[path[len(source) :]] = self.files.pop(path)
        if target is not None:
            assert not (moved and self._is_taken(target)), "a move would overwrite"
            self.files |= {target + rest: data for rest, data in moved.items()}
            if step.write:
                assert step.content_seq is not None
                self.files[target] = content(step.content_seq)
                assert step.size == len(self.files[target])

    def _is_taken(self, target: tuple[str, ...]) -> bool:
        return any(path[: len(target)] == target for path in self.files)


class LogMachine(RuleBasedStateMachine):
    """See above. Subclasses choose the retention."""

    retention: ClassVar[Retention] = Retention(keep_days=0)

    def __init__(self) -> None:
        super().__init__()
        self.now = START_NS
        self.backend = RamBackend(clock=lambda: self.now, retention=self.retention)
        self.store = run_now(self.backend.for_user("u"))
        self.tree = FollowingTree()
        self.followed = 0
        self.redacted: dict[str, Version] = {}

    def teardown(self) -> None:
        """Let go."""
        run_now(self.backend.close())

    @initialize(paths=st.lists(PATHS, min_size=3, max_size=8))
    def begin(self, paths: list[MemoryPath]) -> None:
        """Something to work on."""
        for path in paths:
            self._apply([Put(path, b"begin\n")])

    @rule(data=st.data(), many=st.booleans())
    def change(self, data: st.DataObject, many: bool) -> None:
        """One change, or a batch that may be refused because of one of its changes."""
        self._apply(
            [self._draw_change(data) for _ in range(data.draw(st.integers(1, 1 + 2 * many)))]
        )

    @precondition(lambda self: self.tree.files)
    @rule(data=st.data(), times=st.integers(1, 40))
    def edit_often(self, data: st.DataObject, times: int) -> None:
        """One file, many small edits: deltas, whole bodies, stretches."""
        path = self._draw_file(data)
        for number in range(times):
            self._apply([Edit(path, splice_at(number / times, b"%d" % number))])

    def _draw_file(self, data: st.DataObject) -> MemoryPath:
        return MemoryPath.of(data.draw(st.sampled_from(sorted(self.tree.files))))

    def _draw_place(self, data: st.DataObject) -> MemoryPath:
        """A file or a directory that is there, or anything."""
        if not self.tree.files or data.draw(st.integers(0, 7)) == 0:
            return data.draw(PATHS)
        segments = self._draw_file(data).segments
        return MemoryPath.of(segments[: data.draw(st.integers(1, len(segments)))])

    def _draw_change(self, data: st.DataObject) -> Change:
        kind = data.draw(st.sampled_from(["put", "edit", "edit", "move", "move", "remove"]))
        if kind == "put" or not self.tree.files:
            return Put(data.draw(PATHS), data.draw(CONTENTS))
        if kind == "edit":
            edit = splice_at(data.draw(st.floats(0, 1)), data.draw(st.binary(max_size=6)))
            return Edit(self._draw_file(data), edit)
        if kind == "move":
            return Move(self._draw_place(data), data.draw(PATHS))
        return Remove(self._draw_place(data))

    def _apply(self, changes: list[Change]) -> None:
        try:
            run_now(self.store.apply(changes, Context()))
        except Refused:
            return
        self._follow()

    @rule(hours=st.integers(0, 24 * 12))
    def time_passes(self, hours: int) -> None:
        """Up to twelve days."""
        self.now += hours * DAY_NS // 24

    @rule(path=PATHS)
    def use(self, path: MemoryPath) -> None:
        """What leaves no version."""
        run_now(self.store.record(Context(command="view", audit={"path": str(path)})))
        run_now(self.store.touch([path], self.now))

    @precondition(lambda self: self._versions())
    @rule(data=st.data())
    def redact(self, data: st.DataObject) -> None:
        """Any version but a head."""
        before = self._versions()
        version = data.draw(st.sampled_from(before))
        heads = {entry.version_id for entry in run_now(self.store.list(MemoryPath.of(()))).entries
                 if isinstance(entry, Entry)}  # fmt: skip
        try:
            left = run_now(self.store.redact(version.id, Context(actor="officer")))
        except NotRedactable:
            assert version.id in heads
            return
        assert version.id not in heads
        assert left.redacted_at_ns is not None
        assert (left.path, left.content, left.sha256) == (None, None, None)
        after = {one.id: one for one in self._versions()}
        for one in before:
            if one.id != version.id:
                assert after.get(one.id) == one, (version, one, after.get(one.id))

    @rule(data=st.data())
    def revive(self, data: st.DataObject) -> None:
        """A memory that was removed comes back."""
        gone = [one for one in self._versions() if one.operation == "deleted"]
        if gone:
            memory_id = data.draw(st.sampled_from(gone)).memory_id
            self._apply([Put(data.draw(PATHS), b"back", keep_id=memory_id)])

    def _versions(self) -> list[Version]:
        return list(run_now(self.store.versions(limit=10**6, content=True)).versions)

    def _follow(self) -> None:
        with self.store._reading() as log:  # pyright: ignore[reportPrivateUsage]
            if log is not None:
                for step in tree_events(log, max(self.followed, log.base)):
                    self.tree.follow(step, lambda seq: bodies.content(log, seq))
                self.followed = log.last_seq()

    @invariant()
    def everything_hangs_together(self) -> None:
        """Counters, chain, bodies, heads."""
        problems = run_now(self.store.verify()).problems
        assert not problems, problems

    @invariant()
    def the_tree_is_the_log(self) -> None:
        """Whoever follows the log has what the store has."""
        entries = run_now(self.store.list(MemoryPath.of(()), limit=10**6)).entries
        contents = {one.path.segments: run_now(self.store.read(one.path)).data for one in entries}
        assert self.tree.files == contents

    @invariant()
    def histories_agree(self) -> None:
        """The history of the store is that of its memories together."""
        whole = self._versions()
        apart: list[Version] = []
        for memory_id in {version.memory_id for version in whole}:
            where = VersionFilter(memory_id=memory_id)
            apart += run_now(self.store.versions(where, limit=10**6, content=True)).versions
        apart.sort(key=lambda one: one.id, reverse=True)
        assert apart == whole, set(apart) ^ set(whole)
        for version in whole[:3]:
            assert run_now(self.store.version(version.id)) == version
