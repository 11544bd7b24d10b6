"""Random operations on each backend agree with a plain dict, however they are strung together."""

from __future__ import annotations

import pytest
from hypothesis import settings

from memoranda.testing.model import USUAL, run_machine
from memoranda.testing.store_suite import StoreSuite
from tests.stores.test_folder import TestFolderStore as FolderSuite
from tests.stores.test_git import TestGitStore as GitSuite
from tests.stores.test_postgres import TestPostgresStore as PostgresSuite
from tests.stores.test_postgres import TestPostgresStoreThatSuspends as SuspendingPostgresSuite
from tests.stores.test_ram import TestRamStore as RamSuite
from tests.stores.test_sqlite import TestSqliteStore as SqliteSuite

SUITES = [RamSuite, SqliteSuite, GitSuite, PostgresSuite]
FEW = settings(USUAL, max_examples=USUAL.max_examples // 5)
"""Where each step is a round trip, or several files."""
LONG = settings(USUAL, max_examples=500, stateful_step_count=60)


@pytest.mark.parametrize("suite", SUITES)
def test_random_operations_agree_with_a_plain_dict(suite: type[StoreSuite]) -> None:
    run_machine(suite, FEW if suite in {GitSuite, PostgresSuite} else USUAL)


@pytest.mark.full
@pytest.mark.parametrize("suite", [*SUITES, FolderSuite, SuspendingPostgresSuite])
def test_many_random_operations_agree_with_a_plain_dict(suite: type[StoreSuite]) -> None:
    run_machine(suite, LONG)
