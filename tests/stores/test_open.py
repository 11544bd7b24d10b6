"""URLs and the backends that they name."""

from __future__ import annotations

from importlib.metadata import EntryPoint, EntryPoints
from pathlib import Path

import pytest

from memoranda.drive import run_now
from memoranda.errors import Misuse
from memoranda.path import MemoryPath
from memoranda.stores.base import Backend, Context, Put
from memoranda.stores.folder.backend import FolderBackend
from memoranda.stores.open import open_backend
from memoranda.stores.ram import RamBackend
from memoranda.stores.sqlite import SqliteBackend


def made_by(url: str, monkeypatch: pytest.MonkeyPatch, home: Path) -> list[str]:
    """What a first change makes in the current directory."""
    monkeypatch.chdir(home)
    backend = open_backend(url)
    store = run_now(backend.for_user("acme"))
    run_now(store.apply([Put(MemoryPath.of(("a",)), b"x")], Context()))
    found = sorted(path.name for path in home.iterdir())
    run_now(backend.close())
    return found


@pytest.mark.parametrize("url", ["./memory", "memory", "{home}/memory", "file://{home}/memory"])
def test_a_path_is_a_folder(url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert made_by(url.format(home=tmp_path), monkeypatch, tmp_path) == ["memory"]


@pytest.mark.parametrize(
    "url", ["file://localhost{home}/a%20b", "file:{home}/a%20b", "FILE://{home}/a%20b"]
)
def test_a_file_url_is_decoded(url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert made_by(url.format(home=tmp_path), monkeypatch, tmp_path) == ["a b"]


@pytest.mark.parametrize("url", ["sqlite:///f.db", "sqlite:///{home}/f.db"])
def test_a_sqlite_url_is_one_file(
    url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "f.db" in made_by(url.format(home=tmp_path), monkeypatch, tmp_path)


def test_each_url_has_its_own_kind_of_backend(tmp_path: Path) -> None:
    for url, kind in (
        (f"{tmp_path}/m", FolderBackend),
        (f"sqlite:///{tmp_path}/f.db", SqliteBackend),
        ("memory:", RamBackend),
        ("memory:shared", RamBackend),
    ):
        assert type(open_backend(url)) is kind


def test_ram_is_private_unless_it_has_a_name() -> None:
    def begin(backend: Backend, user: str) -> None:
        store = run_now(backend.for_user(user))
        run_now(store.apply([Put(MemoryPath.of(("a",)), b"x")], Context()))

    begin(open_backend("memory:"), "acme")
    assert run_now(open_backend("memory:").find_user("acme")) is None
    begin(open_backend("memory:team"), "acme")
    assert run_now(open_backend("memory:team").find_user("acme")) is not None
    assert run_now(open_backend("memory:other").find_user("acme")) is None


@pytest.mark.parametrize(
    "url", ["", "file://host/x", "file:", "file://", "sqlite:f.db", "sqlite://f.db", "sqlite:///"]
)
def test_a_malformed_url_is_misuse(url: str) -> None:
    with pytest.raises(Misuse):
        open_backend(url)


def test_an_unknown_scheme_is_misuse_and_its_url_is_not_repeated() -> None:
    with pytest.raises(Misuse) as caught:
        open_backend("mysql://root:hunter2@example.invalid/x")
    assert "mysql" in str(caught.value)
    assert "hunter2" not in str(caught.value)


def test_other_packages_add_schemes_by_entry_points(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []
    entry = EntryPoint("test-scheme", "tests.stores.test_open:outside", "memoranda.backends")

    def entry_points(*, group: str, name: str) -> EntryPoints:
        asked.append(group)
        return EntryPoints([entry]).select(name=name)

    monkeypatch.setattr("importlib.metadata.entry_points", entry_points)
    backend = open_backend("Test-Scheme://anything")
    assert isinstance(backend, RamBackend)
    assert asked == ["memoranda.backends"]


def outside(url: str) -> Backend:
    """What the entry point names."""
    assert url == "Test-Scheme://anything"
    return RamBackend()
