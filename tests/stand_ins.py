"""Stores and times for tests of what stands above the stores."""

from __future__ import annotations

from memoranda.drive import run_now
from memoranda.stores.base import Store
from memoranda.stores.ram import RamBackend


def fresh_store(user: str = "acme") -> Store:
    """An empty store in memory."""
    return run_now(RamBackend().for_user(user))
