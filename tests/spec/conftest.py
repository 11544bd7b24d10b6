"""The contract holds over every store, so each test of it runs over each."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from memoranda.drive import run_now
from memoranda.stores.base import Store
from tests.spec.handler import Handler, Settings
from tests.testing.dict_store import DictBackend, Disk


def dict_store() -> Store:
    return run_now(DictBackend(Disk()).for_user("acme"))


STORES: dict[str, Callable[[], Store]] = {"dict": dict_store}


@pytest.fixture(params=STORES)
def store(request: pytest.FixtureRequest) -> Store:
    return STORES[request.param]()


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
