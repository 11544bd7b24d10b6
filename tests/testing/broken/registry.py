"""Stores that break one promise each, and which promise has to notice.

A suite that passes these is no suite. Each entry is made from the honest store of dicts by
spoiling one small method; ``test_broken_stores`` wants the named promise to fail.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, TypeVar

from memoranda.stores.base import Backend
from memoranda.testing.faults import WrappingBackend
from tests.testing.dict_store import Batch, DictBackend, DictStore, Disk

Spoiled = TypeVar("Spoiled", bound=Callable[[Disk], WrappingBackend])


class Broken(NamedTuple):
    """A spoiled backend and the promise that has to fail on it."""

    backend: Callable[[Disk], Backend]
    noticed_by: str


BROKEN: dict[str, Broken] = {}


def store(noticed_by: str) -> Callable[[type[DictStore]], type[DictStore]]:
    """Register a spoiled store under its class name."""

    def register(spoiled: type[DictStore]) -> type[DictStore]:
        backend = type(spoiled.__name__ + "Backend", (DictBackend,), {"store_class": spoiled})
        BROKEN[spoiled.__name__] = Broken(backend, noticed_by)
        return spoiled

    return register


def batch(noticed_by: str) -> Callable[[type[Batch]], type[Batch]]:
    """Register a spoiled batch under its class name."""

    def register(spoiled: type[Batch]) -> type[Batch]:
        store(noticed_by)(type(spoiled.__name__, (DictStore,), {"batch_class": spoiled}))
        return spoiled

    return register


def backend(noticed_by: str) -> Callable[[type[DictBackend]], type[DictBackend]]:
    """Register a spoiled backend under its class name."""

    def register(spoiled: type[DictBackend]) -> type[DictBackend]:
        BROKEN[spoiled.__name__] = Broken(spoiled, noticed_by)
        return spoiled

    return register


def any_backend(noticed_by: str) -> Callable[[Spoiled], Spoiled]:
    """Register a spoiled backend that is not made of dicts, but like one: with a disk."""

    def register(spoiled: Spoiled) -> Spoiled:
        BROKEN[spoiled.__name__] = Broken(spoiled, noticed_by)
        return spoiled

    return register
