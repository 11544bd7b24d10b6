"""A memory as programs read it: content and ids belong together."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from hashlib import sha256

import pytest

from memoranda.drive import run_now
from memoranda.errors import Conflict, IsADirectory, NotFound, NotText
from memoranda.operations.read_memory import read_memory
from memoranda.path import MemoryPath, parse_path
from memoranda.policies.read_only import RefuseWrites
from memoranda.stores.base import Change, Content, Context, Edit, Put, Store, Version, WrapperStore
from tests.stand_ins import fresh_store

A = parse_path("/memories/d/a.md")
WHO = Context(actor="reader", command="read")


def put(store: Store, content: bytes) -> Version:
    (version,) = run_now(store.apply([Put(A, content)], Context()))
    return version


def test_content_ids_hash_and_times_come_together() -> None:
    store = fresh_store()
    first, last = put(store, b"one"), put(store, "zwei ü".encode())
    read = run_now(read_memory(store, A, WHO))
    assert (read.path, read.content, read.text, read.size_bytes) == (
        A,
        "zwei ü".encode(),
        "zwei ü",
        7,
    )
    assert (read.memory_id, read.version_id) == (last.memory_id, last.id)
    assert read.sha256 == sha256("zwei ü".encode()).hexdigest() == last.sha256
    assert read.created_at.tzinfo is UTC
    epoch = datetime(1970, 1, 1, tzinfo=UTC)
    assert read.created_at == epoch + timedelta(microseconds=first.created_at_ns // 1000)
    assert read.updated_at == epoch + timedelta(microseconds=last.created_at_ns // 1000)


def test_what_is_no_text_has_none() -> None:
    store = fresh_store()
    put(store, b"\xff\x00")
    read = run_now(read_memory(store, A, WHO))
    assert read.content == b"\xff\x00"
    with pytest.raises(NotText):
        _ = read.text


def test_what_is_not_there_and_directories_are_refused() -> None:
    store = fresh_store()
    with pytest.raises(NotFound):
        run_now(read_memory(store, A, WHO))
    put(store, b"1")
    with pytest.raises(IsADirectory):
        run_now(read_memory(store, A.parent, WHO))


class BusyStore(WrapperStore):
    """Somebody writes after each look at the ids, a few times."""

    def __init__(self, inner: Store, times: int) -> None:
        super().__init__(inner)
        self.times = times

    async def read(self, path: MemoryPath, start: int = 0, length: int | None = None) -> Content:
        if self.times:
            self.times -= 1
            await self.inner.apply([Put(path, b"write %d" % self.times)], Context())
        return await self.inner.read(path, start, length)


@pytest.mark.parametrize("times", [1, 2, 3, 9])
def test_content_and_ids_are_of_one_version_whoever_writes(times: int) -> None:
    store = fresh_store()
    put(store, b"first")
    read = run_now(read_memory(BusyStore(store, times), A, WHO))
    assert run_now(store.version(read.version_id)).content == read.content
    assert sha256(read.content).hexdigest() == read.sha256


class EditedByHand(WrapperStore):
    """A person saved the file; the store notices when it is made to look, as a folder does."""

    saved: bytes | None = b"by hand"

    async def read(self, path: MemoryPath, start: int = 0, length: int | None = None) -> Content:
        if self.saved is None:
            return await self.inner.read(path, start, length)
        return Content(self.saved, len(self.saved), None)

    async def apply(self, changes: Sequence[Change], context: Context) -> tuple[Version, ...]:
        assert all(isinstance(change, Edit) for change in changes)
        if self.saved is not None:
            await self.inner.apply([Put(A, self.saved)], Context(actor="external"))
            self.saved = None
        return await self.inner.apply(changes, context)


def test_what_a_person_saved_becomes_a_version_and_nothing_else_is_written() -> None:
    inner = fresh_store()
    put(inner, b"before")
    read = run_now(read_memory(EditedByHand(inner), A, WHO))
    assert read.content == b"by hand"
    (newest, _) = run_now(inner.versions()).versions
    assert (newest.id, newest.actor) == (read.version_id, "external")


def test_a_reader_that_may_not_write_gets_the_last_version_instead() -> None:
    inner = fresh_store()
    version = put(inner, b"before")
    read = run_now(read_memory(RefuseWrites(EditedByHand(inner)), A, WHO))
    assert (read.content, read.version_id) == (b"before", version.id)


class RedactedMeanwhile(EditedByHand):
    async def version(self, version_id: str) -> Version:
        return (await self.inner.version(version_id))._replace(content=None)


def test_a_version_that_is_redacted_meanwhile_is_a_conflict() -> None:
    inner = fresh_store()
    put(inner, b"before")
    with pytest.raises(Conflict):
        run_now(read_memory(RefuseWrites(RedactedMeanwhile(inner)), A, WHO))
