"""The remote backend keeps the promises of the store contract that the Memory Stores API can keep,
against our own server, in both colours."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Iterator, Mapping
from hashlib import sha256
from pathlib import Path
from typing import ClassVar

import pytest

from memoranda import Memory
from memoranda.drive import run_now
from memoranda.errors import UnknownId
from memoranda.stores.base import Backend
from memoranda.testing.promises.steps import history, p, put, read, remove
from memoranda.testing.store_suite import StoreSuite
from tests.stores.remote_server import Remote, remote

# Why some promises are not for this backend: the records in docs/decisions.
_TEXT = "0312: the API holds text, so bytes that are none are refused"
_WHO = "0312: a version is the key's; the API takes no command and no trace"
_BATCH = "0311: the API changes one memory at a time, each at its own time, removals last"
_IDS = "0312: a memory that comes back gets a new id"


class TestRemoteStore(StoreSuite):
    exempt: ClassVar[Mapping[str, str]] = {
        "a_backend_that_cannot_redact_says_so": _WHO,
        "a_redacted_version_keeps_only_that_it_was": _WHO,
        "each_change_of_a_memory_is_a_version_newest_first": _WHO,
        "each_memory_of_a_removed_directory_has_its_deletion": _WHO,
        "versions_are_filtered_by_operation_actor_and_time": _WHO,
        "versions_of_one_batch_share_who_and_why": _WHO,
        "versions_of_one_batch_share_its_number_and_time": _BATCH,
        "a_batch_gives_one_version_for_each_changed_memory_in_order": _BATCH,
        "a_deleted_memory_comes_back_under_its_id_when_asked": _IDS,
        "a_memory_removed_with_its_directory_comes_back_under_its_id": _IDS,
        "a_store_is_made_with_what_is_said_of_it": "0312: the API's metadata has no empty keys",
        "a_megabyte_comes_back_and_is_read_in_parts": _TEXT,
        "an_edit_puts_its_splice_into_the_present_content": _TEXT,
        "an_edit_sees_the_content_that_is_there": _TEXT,
        "contents_come_back_to_the_byte": _TEXT,
        "everything_is_there_after_opening_anew": _TEXT,
        "hashes_and_sizes_are_those_of_the_content_then": _TEXT,
        "storage_holds_what_the_store_says": _TEXT,
        "verification_finds_nothing_wrong_in_a_used_store": _TEXT,
    }

    there: Remote

    @pytest.fixture(autouse=True)
    def server(self, tmp_path: Path) -> Iterator[None]:
        with remote(tmp_path) as self.there:
            yield

    async def open_backend(self, home: Path) -> Backend:
        return self.there.backend(suspends=self.suspends)

    def stored_bytes(self, home: Path) -> Iterable[bytes]:
        for path in sorted(self.there.folder.rglob("*")):
            if path.is_file():
                yield path.read_bytes()


class TestRemoteStoreThatSuspends(TestRemoteStore):
    suspends = True


QUICK = (
    "a_batch_whose_last_change_fails_leaves_nothing",
    "a_content_precondition_lets_only_that_content_through",
    "a_moved_directory_takes_all_levels_along_with_their_ids",
    "a_users_first_change_may_come_from_many_at_once",
    "an_archived_store_can_be_read_and_emptied_but_not_written",
    "an_erased_store_is_gone_from_everywhere",
    "an_erased_user_begins_anew",
    "each_change_sees_those_before_it",
    "every_state_is_listed_again_as_it_was",
    "pages_of_versions_make_the_same_whole",
    "redacted_bytes_are_gone_from_storage",
    "stores_are_listed_by_pages_newest_first",
    "the_same_user_of_two_workspaces_is_two",
    "two_memories_swap_places_in_one_batch",
    "versions_are_filtered_by_memory",
)
"""A server is started for each promise; all the others are proved in the full run."""


# Awaited, a store that blocks runs the same code in the same single step.
for name in [name for name in dir(TestRemoteStore) if name.endswith("__async")]:
    setattr(TestRemoteStore, name, None)

for suite, quick in ((TestRemoteStore, QUICK), (TestRemoteStoreThatSuspends, QUICK[:4])):
    for name in [name for name in dir(suite) if name.startswith("test_") and getattr(suite, name)]:
        if name.removeprefix("test_").rpartition("__")[0] not in quick:
            setattr(suite, name, pytest.mark.full(getattr(suite, name)))


TEXTS = (b"", "e\u0301 \U0001f600\r\n\ufeff\x00\u2028 end".encode(), b"line\n" * 20_000)


@pytest.mark.parametrize("suspends", [False, True])
def test_texts_come_back_to_the_byte_and_so_do_their_versions(
    tmp_path: Path, suspends: bool
) -> None:
    async def work() -> None:
        with remote(tmp_path) as there:
            backend = there.backend(suspends=suspends)
            store = await backend.for_user("acme")
            for text in TEXTS:
                await put(store, "/a.md", text)
                entry = await store.stat(p("/a.md"))
                assert await read(store, "/a.md") == text
                assert (entry.size_bytes, entry.sha256) == (len(text), sha256(text).hexdigest())
            found = await history(store, content=True)
            assert [version.content for version in reversed(found)] == list(TEXTS)
            assert all(version.actor.startswith("apikey_") for version in found)
            assert (await store.verify()).ok
            await backend.close()

    if suspends:
        asyncio.run(work())
    else:
        run_now(work())


def test_what_was_removed_comes_back_under_a_new_id(tmp_path: Path) -> None:
    with remote(tmp_path) as there:
        backend = there.backend()
        memory = run_now(backend.for_user("acme"))
        (made,) = run_now(put(memory, "/a.md", b"a"))
        run_now(remove(memory, "/a.md"))
        (back,) = run_now(put(memory, "/a.md", b"a", keep_id=made.memory_id))
        assert (back.operation, back.memory_id != made.memory_id) == ("created", True)
        with pytest.raises(UnknownId):
            run_now(put(memory, "/b.md", b"b", keep_id="mem_01neverwas"))
        run_now(backend.close())


def test_a_store_of_a_server_opened_by_its_address_is_undone_and_restored(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with remote(tmp_path) as there:
        monkeypatch.setenv("MEMORANDA_API_KEY", there.key)
        with Memory.open(there.address, user="acme") as memory:
            memory.write("/memories/a.md", "one")
            memory.write("/memories/d/b.md", "two")
            before = memory.history("/memories/d/b.md")[0].id
            memory.write("/memories/a.md", "changed")
            memory.remove("/memories/d")
            memory.undo("/memories/d")
            assert memory.read("/memories/d/b.md").text == "two"
            memory.restore("/memories", to=before)
            assert memory.read("/memories/a.md").text == "one"
        with Memory.open(there.address, user="other") as memory:
            assert memory.usage().files == 0


def test_a_store_that_people_gave_to_a_user_is_that_users(tmp_path: Path) -> None:
    with remote(tmp_path) as there:
        backend = there.backend()
        made = run_now(backend.create("By hand", metadata={"memoranda.user": "acme", "k": "v"}))
        assert (made.user, dict(made.metadata)) == ("acme", {"k": "v"})
        store = run_now(backend.for_user("acme"))
        assert store.id == made.id
        later = run_now(backend.create("By hand", metadata={"memoranda.user": "acme"}))
        another = there.backend()
        assert run_now(another.for_user("acme")).id == made.id != later.id
        for each in (backend, another):
            run_now(each.close())
