"""Opening a memory: everything that is said is checked before any storage is touched."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from memoranda import AsyncMemory, Memory, Policy
from memoranda.drive import run_now
from memoranda.errors import Misuse, TooManyFiles, UnknownId
from memoranda.path import parse_path
from memoranda.stores.base import Backend, Context, Put
from memoranda.stores.ram import RamBackend
from tests.stand_ins import fresh_store

BAD_USERS = [
    "",
    ".",
    "..",
    "a/b",
    "a\\b",
    "a%2fb",
    "a b",
    "a\n",
    "ü",
    "-a",
    "memstore_1",
    "x" * 129,
]


@pytest.mark.parametrize("facade", [Memory, AsyncMemory])
@pytest.mark.parametrize("user", [*BAD_USERS, 7, b"acme"])
def test_a_bad_user_is_refused_before_storage_is_touched(
    facade: Any, user: Any, tmp_path: Path
) -> None:
    with pytest.raises(Misuse, match="name of a user"):
        facade.open(f"sqlite:///{tmp_path}/memory.db", user=user)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("facade", [Memory, AsyncMemory])
@pytest.mark.parametrize(
    ("said", "complaint"),
    [
        ({"workspace": "a/b"}, "name of a workspace"),
        ({"workspace": "a/b", "store_id": "memstore_1"}, "name of a workspace"),
        ({"store_id": "acme"}, "no id of a store"),
        ({"store_id": "memstore_1", "user": "acme"}, "not by both"),
        ({"policy": {"read_only": True}}, "Policy object"),
        ({"actor": ""}, "name of an actor"),
        ({"actor": "a\nb"}, "name of an actor"),
        ({"actor": None}, "name of an actor"),
    ],
)
def test_what_cannot_be_is_refused_before_storage_is_touched(
    facade: Any, said: dict[str, Any], complaint: str, tmp_path: Path
) -> None:
    with pytest.raises(Misuse, match=complaint):
        facade.open(f"sqlite:///{tmp_path}/memory.db", **said)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("facade", [Memory, AsyncMemory])
@pytest.mark.parametrize("said", [{"policy": 7}, {"actor": " "}])
def test_a_store_that_was_brought_is_checked_alike(facade: Any, said: dict[str, Any]) -> None:
    with pytest.raises(Misuse):
        facade.of_store(fresh_store(), **said)


@pytest.mark.parametrize("facade", [Memory, AsyncMemory])
def test_a_backend_is_no_store(facade: Any) -> None:
    with pytest.raises(Misuse, match="for each user"):
        facade.of_store(RamBackend())


def test_without_a_user_it_is_the_user_default() -> None:
    with (
        Memory.open("memory:default-user") as one,
        Memory.open("memory:default-user", user="default") as same,
    ):
        one.write("/memories/a", "1")
        assert same.read("/memories/a").text == "1"


def test_users_and_workspaces_have_memories_of_their_own() -> None:
    url = "memory:users"
    with (
        Memory.open(url, "acme") as acme,
        Memory.open(url, "acme2") as acme2,
        Memory.open(url, "acme", workspace="other") as other,
    ):
        acme.write("/memories/a", "1")
        assert acme2.list() == ()
        assert other.list() == ()


def test_a_store_of_the_api_is_opened_by_its_id_and_may_hold_more_files() -> None:
    backend = RamBackend("api-stores")
    info = run_now(backend.create("notes"))
    full = [Put(parse_path(f"/memories/{number}"), b"") for number in range(2_000)]
    run_now(run_now(backend.open(info.id)).apply(full, Context()))
    with Memory.open("memory:api-stores", store_id=info.id) as memory:
        memory.write("/memories/one-more", "1")
    with (
        Memory.open("memory:api-stores", store_id=info.id, policy=Policy()) as memory,
        pytest.raises(TooManyFiles),
    ):
        memory.write("/memories/and-another", "2")


@pytest.mark.parametrize("workspace", ["default", "other"])
def test_a_store_that_is_not_there_is_unknown_and_its_backend_is_given_back(
    workspace: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Watched(RamBackend):
        closed = False

        async def close(self) -> None:
            self.closed = True

    backend = Watched()
    info = run_now(backend.create("notes", workspace="third"))

    def open_it(url: str) -> Backend:
        return backend

    monkeypatch.setattr("memoranda.opening.open_backend", open_it)
    with pytest.raises(UnknownId):
        Memory.open("test://api", store_id=info.id, workspace=workspace)
    assert backend.closed


@pytest.mark.parametrize("url", ["memory", "sqlite:///memory.db"])
def test_a_relative_place_stays_where_it_was_when_it_was_named(
    url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "then").mkdir()
    (tmp_path / "now").mkdir()
    monkeypatch.chdir(tmp_path / "then")
    with Memory.open(url) as memory:
        monkeypatch.chdir(tmp_path / "now")
        memory.write("/memories/a", "1")
    assert list((tmp_path / "now").iterdir()) == []
    assert list((tmp_path / "then").iterdir())
