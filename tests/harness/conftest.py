"""A memory server for the harness's handlers of remote stores."""

from __future__ import annotations

import shutil
from collections.abc import Iterator

import pytest

from tests.server.live import new_home
from tests.stores.remote_server import announced


@pytest.fixture(scope="session")
def memory_server() -> Iterator[None]:
    """Up while the tests are that ask for it; processes which they start find it."""
    home = new_home()
    with announced(home):
        yield
    shutil.rmtree(home, ignore_errors=True)
