"""``memoranda usage``."""

from __future__ import annotations

from pathlib import Path

from memoranda.drive import run_now
from memoranda.stores.folder.backend import FolderBackend
from tests.cli.command_line import create, done, json_of


def store_of_nobody() -> str:
    """The id of a store that was made without a user, as the API makes them."""
    backend = FolderBackend("memory")
    info = run_now(backend.create("team notes"))
    run_now(backend.close())
    return info.id


def test_usage_and_limits_are_shown() -> None:
    create("/memories/a.md", "12345")
    lines = [line.split() for line in done("usage").splitlines()]
    assert lines[:3] == [
        ["memories", "1", "of", "2,000"],
        ["size", "5B", "of", "10.0M"],
        ["versions", "1"],
    ]
    assert lines[3][0] == "history"


def test_limits_that_are_lifted_are_none() -> None:
    create("/memories/a.md")
    Path("memoranda.toml").write_text('[limits]\nfiles = "none"\nstore_bytes = "none"\n')
    assert done("usage").count("no limit") == 2
    assert json_of("usage")["limits"] == {"files": None, "store_bytes": None}


def test_a_store_without_a_user_is_named_by_its_id_and_has_its_own_limit() -> None:
    store_id = store_of_nobody()
    create("/memories/a.md", "x", "--user", store_id)
    assert json_of("usage", "--user", store_id)["limits"]["files"] == 10_000
    Path("memoranda.toml").write_text("[limits]\nfiles = 5\n")
    assert json_of("usage", "--user", store_id)["limits"]["files"] == 5


def test_json_holds_the_counters() -> None:
    create("/memories/a.md", "12345")
    shape = json_of("usage")
    assert (shape["files"], shape["size_bytes"], shape["versions"]) == (1, 5, 1)
