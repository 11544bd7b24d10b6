"""What has expired goes from every store of a server, with an entry in the audit."""

from __future__ import annotations

import asyncio
import shutil
import time
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest

from memoranda import Memory
from memoranda.config import Settings, load_settings
from memoranda.core import Core
from memoranda.errors import Unavailable
from memoranda.server import sweeping
from memoranda.server.hosted import Hosted
from memoranda.server.keys import KIND, Keys
from memoranda.server.settings import ServerSettings
from memoranda.server.sweeping import sweep_every_store
from memoranda.stores.base import StoreInfo
from tests.server.live import Api, new_home, serving

RULES = """
[[expiry]]
path = "/memories/tmp/*"
age_days = 7
"""
OLD_NS = 8 * 86_400 * 10**9


@pytest.fixture
def home() -> Iterator[Path]:
    made = new_home()
    yield made
    shutil.rmtree(made, ignore_errors=True)


def rules(home: Path) -> Settings:
    file = home / "memoranda.toml"
    file.write_text(RULES)
    return load_settings(home, environ={})


def fill(url: str, user: str, workspace: str = "default") -> None:
    with Memory.open(url, user, workspace=workspace) as memory:
        memory.write("/memories/tmp/draft.md", "x")
        memory.write("/memories/kept.md", "x")


def left(url: str, user: str, workspace: str = "default") -> list[str]:
    with Memory.open(url, user, workspace=workspace) as memory:
        return [str(entry.path) for entry in memory.list()]


def sweep(url: str, settings: Settings) -> int:
    async def go() -> int:
        hosted = Hosted(url, settings)
        try:
            return await sweep_every_store(hosted, Keys(hosted.records(KIND)))
        finally:
            await hosted.close()

    return asyncio.run(go())


def test_every_store_of_every_workspace_is_swept_once_its_time_is_over(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    url, settings = str(home / "memory"), rules(home)
    fill(url, "ada")
    fill(url, "bob", "acme")
    assert sweep(url, settings) == 0
    later = time.time_ns() + OLD_NS
    monkeypatch.setattr(sweeping, "time", SimpleNamespace(time_ns=lambda: later))
    assert sweep(url, settings) == 2
    assert sweep(url, settings) == 0
    for user, workspace in (("ada", "default"), ("bob", "acme")):
        assert left(url, user, workspace) == ["/memories/kept.md"]
    with Memory.open(url, "ada") as memory:
        done = [entry for entry in memory.audit() if entry.operation == "deleted"]
        assert [(entry.actor, entry.command) for entry in done] == [("expiry", "sweep")]
        memory.undo()
    assert left(url, "ada") == ["/memories/kept.md", "/memories/tmp/draft.md"]


def test_without_rules_nothing_is_even_opened(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    url = str(home / "memory")
    fill(url, "ada")

    def refuse(*_: object) -> None:
        raise AssertionError

    monkeypatch.setattr(Hosted, "upkeep", refuse)
    assert sweep(url, load_settings(environ={})) == 0


def test_a_store_that_cant_be_swept_keeps_no_other_from_it(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    url, settings = str(home / "memory"), rules(home)
    for user in ("ada", "bob", "eve"):
        fill(url, user)
    found = Hosted.upkeep

    def upkeep(hosted: Hosted, info: StoreInfo) -> Core:
        if info.user == "bob":
            raise Unavailable("bob's disk")
        return found(hosted, info)

    monkeypatch.setattr(Hosted, "upkeep", upkeep)
    later = time.time_ns() + OLD_NS
    monkeypatch.setattr(sweeping, "time", SimpleNamespace(time_ns=lambda: later))
    assert sweep(url, settings) == 2


def test_a_running_server_sweeps_where_the_settings_say_so(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    url, settings = str(home / "memory"), rules(home)
    fill(url, "ada")
    later = time.time_ns() + OLD_NS
    monkeypatch.setattr(sweeping, "_MINUTE_SECONDS", 0.05)
    monkeypatch.setattr(sweeping, "time", SimpleNamespace(time_ns=lambda: later))
    with serving(url, ServerSettings(sweep_minutes=1), settings) as live:
        api = Api(live, "default")
        (store,) = api.every("/v1/memory_stores")
        until = time.monotonic() + 20
        while len(api.every(f"/v1/memory_stores/{store['id']}/memories")) > 1:
            assert time.monotonic() < until
        api.close()
    assert left(url, "ada") == ["/memories/kept.md"]
