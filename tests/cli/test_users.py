"""``memoranda users``."""

from __future__ import annotations

from memoranda.drive import run_now
from memoranda.stores.folder.backend import FolderBackend
from tests.cli.command_line import create, done, json_of, run
from tests.cli.test_usage import store_of_nobody


def test_users_are_listed_newest_first() -> None:
    create("/memories/a.md", "x", "--user", "ada")
    create("/memories/a.md", "x", "--user", "bob")
    lines = [line.split() for line in done("users").splitlines()]
    assert [line[0] for line in lines] == ["bob", "ada"]
    assert all(line[3].startswith("memstore_") for line in lines)


def test_sizes_are_shown_if_asked_for() -> None:
    create("/memories/a.md", "12345", "--user", "ada")
    assert done("users", "--sizes").split()[-2:] == ["1", "5B"]
    assert json_of("users", "--sizes")["stores"][0]["size_bytes"] == 5


def test_stores_without_a_user_have_a_name() -> None:
    store_id = store_of_nobody()
    assert done("users", "--sizes").split() == [
        "-", *done("users").split()[1:3], store_id, "0", "0B", "team", "notes",
    ]  # fmt: skip


def test_archived_stores_are_marked() -> None:
    store_id = store_of_nobody()
    create("/memories/a.md", "x", "--user", "ada")
    backend = FolderBackend("memory")
    run_now(backend.archive(store_id))
    run_now(backend.close())
    lines = done("users").splitlines()
    assert "archived" not in lines[0]
    assert lines[1].endswith("  team notes (archived)")
    assert [one["archived_at"] is None for one in json_of("users")["stores"]] == [True, False]


def test_more_users_than_a_page_holds_are_all_listed() -> None:
    backend = FolderBackend("memory")
    for number in range(101):
        run_now(backend.create(f"store {number}"))
    run_now(backend.close())
    assert len(json_of("users")["stores"]) == 101


def test_a_store_without_memories_says_so_and_is_not_made() -> None:
    result = run("users", "--store", "./elsewhere")
    assert (result.exit_code, result.stdout) == (0, "")
    assert result.stderr == "There are no memories in this store yet.\n"
    assert json_of("users", "--store", "./elsewhere") == {"stores": []}
