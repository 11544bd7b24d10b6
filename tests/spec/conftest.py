"""The contract holds over every store, so each test of it runs over each."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from memoranda.drive import run_now
from memoranda.stores.base import Backend, Store
from memoranda.stores.ram import RamBackend
from tests.spec.handler import Handler, Settings
from tests.testing.dict_store import DictBackend, Disk

BACKENDS: dict[str, Callable[[Path], Backend]] = {
    "dict": lambda home: DictBackend(Disk()),
    "ram": lambda home: RamBackend(),
}


@pytest.fixture(params=BACKENDS)
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    """An empty store of each kind."""
    backend = BACKENDS[request.param](tmp_path)
    yield run_now(backend.for_user("acme"))
    run_now(backend.close())


@pytest.fixture
def ask(store: Store) -> Handler:
    """Commands over an empty store, with default settings."""
    return Handler(store)


@pytest.fixture
def ask_with(store: Store) -> Settings:
    """Commands over the same store with other settings."""

    def make(**settings: Any) -> Handler:
        return Handler(store, **settings)

    return make
