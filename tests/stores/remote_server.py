"""A Memoranda server on loopback for the tests of remote stores, over a folder of the test's own."""

from __future__ import annotations

import os
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Final, NamedTuple

import pytest

from memoranda.config import Settings, load_settings
from memoranda.server.settings import ServerSettings
from memoranda.stores.remote.address import KEY_VARIABLE, parse
from memoranda.stores.remote.backend import RemoteBackend
from tests.harness.handlers import REMOTE_VARIABLE
from tests.server.live import make_key, serving

WIDE: Final = ServerSettings(content_bytes=16_000_000, body_bytes=64_000_000)
"""The suite writes contents that the API's own limit refuses."""


class Remote(NamedTuple):
    """A server that runs: where it listens, the key for it, where its stores lie."""

    address: str
    key: str
    folder: Path

    def backend(self, *, suspends: bool = False, address: str | None = None) -> RemoteBackend:
        """A new backend of it."""
        where = parse(address or self.address)
        return RemoteBackend(where, self.key, suspends=suspends, settle_seconds=0.01)


@contextmanager
def remote(
    home: Path, server: ServerSettings = WIDE, rules: Settings | None = None
) -> Generator[Remote]:
    """A server over ``home``, without limits of its own unless they are said."""
    folder = home / "served"
    with serving(os.fspath(folder), server, rules or no_rules()) as live:
        yield Remote(live.address, make_key(live.url).credential, folder)


@contextmanager
def announced(home: Path) -> Generator[Remote]:
    """The same, and processes that are started meanwhile find it (``tests.harness.handlers``)."""
    with remote(home) as there, pytest.MonkeyPatch.context() as patch:
        patch.setenv(REMOTE_VARIABLE, there.address)
        patch.setenv(KEY_VARIABLE, there.key)
        yield there


def no_rules() -> Settings:
    """Settings under which the server stores what it is sent."""
    none = {"FILE_BYTES": "none", "STORE_BYTES": "none", "FILES": "none"}
    return load_settings(environ={f"MEMORANDA_LIMITS_{name}": text for name, text in none.items()})
