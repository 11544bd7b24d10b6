"""The trees of a bucket, at a size at which each promise goes through several levels of them.

A head that holds one event and pages of four keys make a store of ten memories as deep as one of a
hundred thousand. On an object store in this process, which is as strict as a server and quicker.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import pytest

from memoranda.drive import run_now
from memoranda.stores.base import Backend
from memoranda.stores.bucket import tree, writing
from memoranda.stores.bucket.backend import BucketBackend
from memoranda.stores.bucket.sync_port import listed
from memoranda.stores.bucket.tree import Node, Root
from memoranda.testing.model import run_machine
from memoranda.testing.store_suite import StoreSuite
from tests.stores.bucket_in_memory import MemoryAsyncPort, MemorySyncPort, store_for


@pytest.fixture(autouse=True)
def deep(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tree, "MOST", 4)
    monkeypatch.setattr(writing, "MOST_TAIL", 1)


def stored(home: Path) -> list[bytes]:
    client = store_for(home)
    keys = [meta["path"] for page in listed(client) for meta in page]
    return [bytes(client.get(key).bytes()) for key in keys]


# The machine below goes through these trees each time; the promises one by one take half a minute.
@pytest.mark.full
class TestDeepBucketStore(StoreSuite):
    async def open_backend(self, home: Path) -> Backend:
        return BucketBackend("s3://nowhere", port=MemorySyncPort(store_for(home)))

    def stored_bytes(self, home: Path) -> Iterable[bytes]:
        return stored(home)


# Awaited, a store that blocks runs the same code in the same single step.
for name in [name for name in dir(TestDeepBucketStore) if name.endswith("__async")]:
    setattr(TestDeepBucketStore, name, None)


class DeepSuspendingSuite(StoreSuite):
    suspends = True

    async def open_backend(self, home: Path) -> Backend:
        return BucketBackend("s3://nowhere", suspends=True, port=MemoryAsyncPort(store_for(home)))


@pytest.mark.parametrize("suite", [TestDeepBucketStore, DeepSuspendingSuite])
def test_the_state_machine_finds_nothing(suite: type[StoreSuite]) -> None:
    run_machine(suite)


class Shelf:
    """Pages in a dict."""

    def __init__(self) -> None:
        self.nodes: dict[str, Node] = {}
        self.reads = 0

    async def load(self, names: Sequence[str]) -> list[Node]:
        self.reads += len(names)
        return [Node.decode(self.nodes[name].encode()) for name in names]

    def make(self, node: Node) -> str:
        name = str(len(self.nodes))
        self.nodes[name] = node
        return name


def test_a_tree_is_what_a_dict_is_whatever_is_done_to_it() -> None:
    chance = random.Random(8)
    shelf, root, truth = Shelf(), None, dict[int, list[Any]]()
    for _ in range(120):
        changes: dict[int, list[Any] | None] = {}
        for _ in range(chance.choice([1, 1, 3, 40])):
            key = chance.randrange(400)
            changes[key] = None if chance.random() < 0.45 else [chance.randrange(99), "x"]
        root = run_now(tree.update(shelf, root, changes))
        for key, row in changes.items():
            if row is None:
                truth.pop(key, None)
            else:
                truth[key] = row
        check(shelf, root, truth, chance)


def check(
    shelf: Shelf, root: Root | None, truth: dict[int, list[Any]], chance: random.Random
) -> None:
    low, high = sorted((chance.randrange(400), chance.randrange(400)))
    inside = [(key, truth[key]) for key in sorted(truth) if low <= key < high]
    assert run_now(tree.span(shelf, root, low, high)) == inside
    limit = chance.randrange(1, 20)
    assert run_now(tree.some(shelf, root, low, high, limit)) == inside[:limit]
    newest = run_now(tree.some(shelf, root, low, high, limit, newest_first=True))
    assert newest == inside[::-1][:limit]
    weight = sum(row[0] for _, row in inside)
    assert run_now(tree.measure(shelf, root, low, high)) == (len(inside), weight)
    wanted = chance.sample(range(400), 20)
    assert run_now(tree.get_many(shelf, root, wanted)) == {
        key: truth[key] for key in wanted if key in truth
    }
    assert (root is None) == (not truth)
    assert root is None or root.rows == len(truth)


def test_all_names_of_a_tree_are_found_without_its_leaves() -> None:
    shelf = Shelf()
    root = run_now(tree.update(shelf, None, {number: [0] for number in range(100)}))
    names: set[str] = set()

    def walk(name: str) -> None:
        names.add(name)
        if shelf.nodes[name].height:
            for child in shelf.nodes[name].values:
                walk(child.name)

    assert root is not None
    walk(root.name)
    shelf.reads = 0
    assert run_now(tree.names_of(shelf, root)) == names
    leaves = sum(1 for name in names if not shelf.nodes[name].height)
    assert shelf.reads == len(names) - leaves
