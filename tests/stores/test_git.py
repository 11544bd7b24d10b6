"""The git backend keeps every promise of the store contract."""

from __future__ import annotations

from collections.abc import Generator
from pathlib import Path

import pytest

from memoranda.stores.base import Backend
from memoranda.stores.git.backend import GitBackend
from memoranda.testing.store_suite import StoreSuite
from tests.stores.git_rig import in_memory


class TestGitStore(StoreSuite):
    @pytest.fixture
    def tmp_path(self) -> Generator[Path]:
        """In memory where the host can: a write here costs six syncs."""
        with in_memory() as home:
            yield home

    async def open_backend(self, home: Path) -> Backend:
        return GitBackend(home)
