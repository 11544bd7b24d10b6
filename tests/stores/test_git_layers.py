"""Layers over git stores keep every promise; what is sealed is sealed in the repository, too."""

from __future__ import annotations

from collections.abc import Generator
from pathlib import Path

import pytest

from memoranda.drive import run_now
from memoranda.policies.desk import ProposalDesk
from memoranda.policies.stack import around_store
from memoranda.stores.base import Backend, Store
from memoranda.stores.git.backend import GitBackend
from memoranda.stores.sealed.backend import SealedBackend
from memoranda.testing.promises.steps import put, read
from memoranda.testing.store_suite import StoreSuite
from tests.stand_ins import fresh_store
from tests.stores.git_rig import check, git, in_memory
from tests.stores.test_sealed_suite import KEYS
from tests.stores.test_wrappers import AUDITED


class InMemory(StoreSuite):
    @pytest.fixture
    def tmp_path(self) -> Generator[Path]:
        with in_memory() as home:
            yield home


@pytest.mark.full
class TestSealedGit(InMemory):
    async def open_backend(self, home: Path) -> Backend:
        return SealedBackend(GitBackend(home), KEYS)


@pytest.mark.full
class TestTheWholeStackOverGit(InMemory):
    async def open_backend(self, home: Path) -> Backend:
        return GitBackend(home)

    def wrap(self, store: Store) -> Store:
        return around_store(store, AUDITED, ProposalDesk(fresh_store("desk")))


def test_what_is_sealed_is_sealed_in_the_repository() -> None:
    with in_memory() as home:
        backend = SealedBackend(GitBackend(home), KEYS)
        store = run_now(backend.for_user("acme"))
        run_now(put(store, "/a.md", b"the secret"))
        assert run_now(read(store, "/a.md")) == b"the secret"
        assert run_now(store.verify()).problems == ()
        bare = home / "stores" / "acme.git"
        assert "the secret" not in git(bare, "cat-file", "blob", "main:a.md")
        check(bare)
        run_now(backend.close())
