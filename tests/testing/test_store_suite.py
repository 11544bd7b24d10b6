"""The suite itself: an honest store passes it, whole and with every capability taken away."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar
from unittest import SkipTest

import pytest

from memoranda.drive import run_now
from memoranda.errors import Unsupported
from memoranda.path import MemoryPath
from memoranda.stores.base import Backend, Capabilities, Context, Hit, Version
from memoranda.testing.faults import WrappingBackend
from memoranda.testing.promises.rig import Rig
from memoranda.testing.store_suite import StoreSuite, promises, prove
from tests.testing.dict_store import DictBackend, DictStore, Disk, everything


class DictSuite(StoreSuite):
    """The suite on dicts; each home has a disk of its own."""

    backend_class: ClassVar[type[Any]] = DictBackend

    @cached_property
    def disks(self) -> dict[Path, Disk]:
        """Gone with the test: those of a whole run would take hundreds of megabytes."""
        return {}

    def disk(self, home: Path) -> Disk:
        return self.disks.setdefault(home, Disk())

    async def open_backend(self, home: Path) -> Backend:
        backend: Backend = self.backend_class(self.disk(home))
        return backend

    def stored_files(self, home: Path, store_id: str, user: str) -> Mapping[str, bytes] | None:
        live = self.disk(home).shelves[store_id].state.live
        return {path.store_path: one.content for path, one in live.items()}

    def stored_bytes(self, home: Path) -> Iterable[bytes]:
        return [everything(self.disk(home))]


class TestDictStore(DictSuite):
    """An honest store keeps every promise."""


LITTLE = Capabilities(
    durable=False, redacts=False, searches=False, time_travel=False, shared_by_processes=False
)


class LittleStore(DictStore):
    """A store that can do no more than it has to, and says so."""

    capabilities = LITTLE

    async def search(self, query: str, prefix: MemoryPath, *, limit: int = 50) -> tuple[Hit, ...]:
        raise Unsupported("search")

    async def redact(self, version_id: str, context: Context) -> Version:
        raise Unsupported("redaction")


class LittleBackend(DictBackend):
    capabilities = LITTLE
    store_class = LittleStore

    async def close(self) -> None:
        await super().close()
        self.disk.shelves.clear()


class TestALittleStore(DictSuite):
    """A store need not be able to do everything, as long as it says so."""

    backend_class = LittleBackend

    def stored_files(self, home: Path, store_id: str, user: str) -> Mapping[str, bytes] | None:
        return StoreSuite.stored_files(self, home, store_id, user)


class Small(DictSuite):
    """A suite of two promises, to be run by hand."""

    async def promise_of_ours(self, rig: Rig) -> None:
        assert rig.home.name == "home"

    async def promise_that_is_broken(self, rig: Rig) -> None:
        raise AssertionError


def test_promises_can_be_proved_without_pytest(tmp_path: Path) -> None:
    homes = (tmp_path / str(number) / "home" for number in itertools.count())
    outcomes = prove(Small, homes)
    failed = {
        name
        for name, outcome in outcomes.items()
        if outcome is not None and not isinstance(outcome, SkipTest)  # it says what it can't do
    }
    assert failed == {"test_that_is_broken__sync", "test_that_is_broken__async"}
    assert len(outcomes) == 2 * len(promises(Small))
    assert outcomes["test_of_ours__sync"] is None


def test_an_exempt_promise_is_left_out_with_its_reason(tmp_path: Path) -> None:
    class Exempt(Small):
        exempt: ClassVar[Mapping[str, str]] = {"that_is_broken": "decision 7"}

    with pytest.raises(SkipTest, match="exempt: decision 7"):
        getattr(Exempt(), "test_that_is_broken__sync")(tmp_path)  # noqa: B009 - it is made


def test_an_exemption_of_nothing_is_an_error() -> None:
    with pytest.raises(TypeError, match="no promise: nonsense"):
        type("Wrong", (Small,), {"exempt": {"nonsense": "no decision"}})


def test_a_suite_has_to_say_how_its_backend_is_opened(tmp_path: Path) -> None:
    with pytest.raises(NotImplementedError):
        run_now(StoreSuite().open_backend(tmp_path))


def test_a_suite_has_to_say_that_its_backend_suspends(tmp_path: Path) -> None:
    class Silent(Small):
        async def open_backend(self, home: Path) -> Backend:
            return WrappingBackend(await super().open_backend(home), lambda one: one, suspends=True)

    outcome = dict(prove(Silent, itertools.repeat(tmp_path / "home")))["test_of_ours__async"]
    assert "say in the suite that the backend suspends" in str(outcome)


def test_stored_bytes_are_those_of_all_files_unless_said(tmp_path: Path) -> None:
    tmp_path.joinpath("d").mkdir()
    tmp_path.joinpath("d/a").write_bytes(b"below")
    tmp_path.joinpath("b").write_bytes(b"here")
    tmp_path.joinpath("link").symlink_to(tmp_path / "b")
    assert list(StoreSuite().stored_bytes(tmp_path)) == [b"here", b"below"]
