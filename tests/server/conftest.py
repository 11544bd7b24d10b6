"""One server a backend for all tests of a process; each test has a workspace of its own."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from itertools import count

import pytest

from memoranda.server.settings import ServerSettings
from tests.server.live import BACKENDS, Api, Live, new_home, serving, url_of

_numbers = count(1)


@pytest.fixture(scope="session", params=BACKENDS)
def live(request: pytest.FixtureRequest) -> Iterator[Live]:
    """A server over each kind of backend."""
    yield from _live(request.param)


@pytest.fixture(scope="session")
def one_live() -> Iterator[Live]:
    """A server over a folder, for what is the same over every backend."""
    yield from _live("folder")


def _live(backend: str) -> Iterator[Live]:
    home = new_home()
    try:
        # All the tests come from one address.
        many = ServerSettings(sign_ins_per_minute=100_000)
        with serving(url_of(backend, home), many) as running:
            yield running
    finally:
        shutil.rmtree(home, ignore_errors=True)


@pytest.fixture
def api(live: Live) -> Iterator[Api]:
    """A client in a workspace that no other test has."""
    yield from _api(live)


@pytest.fixture
def one_api(one_live: Live) -> Iterator[Api]:
    """The same, over a folder."""
    yield from _api(one_live)


def _api(live: Live) -> Iterator[Api]:
    made = Api(live, f"w{next(_numbers)}")
    yield made
    made.close()
