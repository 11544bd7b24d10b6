"""The contract holds over every store, in both colours; so each test of it runs in each world."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest

from memoranda.drive import run_now
from memoranda.stores.base import Backend, Store
from memoranda.stores.folder.backend import FolderBackend
from memoranda.stores.ram import RamBackend
from memoranda.stores.sqlite import SqliteBackend
from tests.spec.handler import Colour, Handler, Settings

BACKENDS: dict[str, Callable[[Path], Backend]] = {
    "ram": lambda home: RamBackend(),
    "sqlite": lambda home: SqliteBackend(home / "memory.db"),
    "folder": lambda home: FolderBackend(home / "memory"),
}


# The async twin shares all that is below the driver, so it need not meet every store.
WORLDS: dict[str, tuple[str, Colour]] = {
    "ram": ("ram", "sync"),
    "sqlite": ("sqlite", "sync"),
    "folder": ("folder", "sync"),
    "folder-async": ("folder", "async"),
}


@pytest.fixture
def home() -> Iterator[Path]:
    """A new directory, in memory where the host can: nothing here is about what survives."""
    shared_memory = Path("/dev/shm")
    place = shared_memory if os.access(shared_memory, os.W_OK) else None
    with TemporaryDirectory(dir=place) as directory:
        yield Path(directory)


@pytest.fixture(params=BACKENDS)
def store(request: pytest.FixtureRequest, home: Path) -> Iterator[Store]:
    """An empty store of each kind."""
    backend = BACKENDS[request.param](home)
    yield run_now(backend.for_user("acme"))
    run_now(backend.close())


@pytest.fixture(params=WORLDS)
def ask_with(request: pytest.FixtureRequest, home: Path) -> Iterator[Settings]:
    """Commands over the same store, of each kind, with any settings."""
    kind, colour = WORLDS[request.param]
    backend = BACKENDS[kind](home)
    store = run_now(backend.for_user("acme"))
    made: list[Handler] = []

    def make(**settings: Any) -> Handler:
        made.append(Handler(store, colour, **settings))
        return made[-1]

    yield make
    for handler in made:
        handler.close()
    run_now(backend.close())


@pytest.fixture
def ask(ask_with: Settings) -> Handler:
    """Commands over an empty store, with default settings."""
    return ask_with()
