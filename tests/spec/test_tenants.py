"""Whose memory it is: which ids there are, and that nobody reaches another's."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from pathlib import Path

import pytest

from memoranda.errors import Misuse
from memoranda.memory import Memory
from memoranda.tenant import Tenant, tenant_of_directory
from tests.spec.handler import content_of, failed, listing_of

LONG = "X" * 128

GOOD = ["acme", "acme2", "Acme", "ACME", "a", "7", "a.b", "a_b", "a@b.c", "a:b+c|d-e", LONG]
BAD = [
    "",
    ".",
    "..",
    "-x",
    ".x",
    "_x",
    "@x",
    "a/b",
    "a\\b",
    "a%2fb",
    "a b",
    "a\n",
    "a\0",
    "caf\u00e9",
    "\uff41cme",
    "a" * 129,
    "memstore_01",
]

URLS: list[Callable[[Path], str]] = [
    lambda home: str(home / "memory"),
    lambda home: f"sqlite:///{home / 'memory.db'}",
    lambda home: f"memory:{home}",
]


@pytest.fixture(params=URLS, ids=["folder", "sqlite", "ram"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    make: Callable[[Path], str] = request.param
    return make(tmp_path)


@pytest.mark.spec("TENANT-01", "TENANT-02", "TENANT-08")
def test_every_good_id_has_a_memory_of_its_own(url: str) -> None:
    for user in GOOD:
        with Memory.open(url, user=user) as memory:
            assert memory.execute({"command": "view", "path": "/memories"}) == listing_of(
                "/memories", "0B\t/memories"
            )
            memory.execute({"command": "create", "path": "/memories/who", "file_text": user})
    for user in GOOD:
        with Memory.open(url, user=user) as memory:
            assert memory.execute({"command": "view", "path": "/memories/who"}) == content_of(
                "/memories/who", f"     1\t{user}"
            )


@pytest.mark.spec("TENANT-01", "TENANT-03", "TENANT-04")
@pytest.mark.parametrize("user", BAD, ids=ascii)
def test_a_bad_id_is_refused_before_anything_is_touched(
    url: str, user: str, tmp_path: Path
) -> None:
    with pytest.raises(Misuse):
        Memory.open(url, user=user)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.spec("TENANT-05", "TENANT-06", "TENANT-07")
def test_a_users_directory_is_its_own_and_can_be_read(tmp_path: Path) -> None:
    for user in GOOD:
        with Memory.open(str(tmp_path), user=user) as memory:
            memory.execute({"command": "create", "path": "/memories/a", "file_text": ""})
    stores = sorted(path.name for path in (tmp_path / "stores").iterdir())
    assert len(stores) == len({name.lower() for name in stores}) == len(GOOD)
    assert {"acme", "acme2", "=41cme", "a.b", "a=40b.c", "a=3ab=2bc=7cd-e"} <= set(stores)
    readable = {tenant_of_directory(name) for name in stores}
    assert readable == {Tenant(user) for user in GOOD if user != LONG} | {None}
    assert all(len(name) <= 200 for name in stores)
    assert len([name for name in stores if name.startswith("h=")]) == 1


@pytest.mark.spec("TENANT-08")
def test_no_user_reaches_anothers_files(url: str) -> None:
    users = ["acme", "acme2", "Acme"]
    for user in users:
        with Memory.open(url, user=user) as memory:
            memory.execute(
                {"command": "create", "path": f"/memories/{user}-only", "file_text": "x"}
            )
    for user, other in itertools.permutations(users, 2):
        with Memory.open(url, user=user) as memory:
            assert memory.execute({"command": "view", "path": "/memories"}) == listing_of(
                "/memories", "1B\t/memories", f"1B\t/memories/{user}-only"
            )
            for path in (f"/memories/{other}-only", f"/memories/../{other}/memories/{other}-only"):
                for command in ("view", "delete"):
                    assert memory.execute({"command": command, "path": path}).is_error
            assert memory.search("x") == memory.search("x", f"/memories/{user}-only")


@pytest.mark.spec("TENANT-09")
def test_the_input_has_no_say_in_whose_memory_it_is(url: str) -> None:
    with Memory.open(url, user="other") as memory:
        memory.execute({"command": "create", "path": "/memories/a", "file_text": "theirs"})
    with Memory.open(url, user="acme") as memory:
        for field in ("user", "tenant", "store", "store_id", "workspace", "actor"):
            view = {"command": "view", "path": "/memories/a", field: "other"}
            assert memory.execute(view) == failed(
                "The path /memories/a does not exist. Please provide a valid path."
            )
