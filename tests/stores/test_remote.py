"""The remote backend keeps the promises of the store contract that the Memory Stores API can keep,
against our own server, in both colours."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import ClassVar

import pytest

from memoranda.stores.base import Backend
from memoranda.testing.store_suite import StoreSuite
from tests.stores.remote_server import Remote, remote

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


# Awaited, a store that blocks runs the same code in the same single step.
for name in [name for name in dir(TestRemoteStore) if name.endswith("__async")]:
    setattr(TestRemoteStore, name, None)
