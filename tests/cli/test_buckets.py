"""A bucket's URL works wherever a store is named."""

from __future__ import annotations

from pathlib import Path

from tests.cli.command_line import create, done
from tests.stores.bucket_server import url_for


def test_commands_take_a_buckets_url_and_a_copy_there_and_back_keeps_the_history(
    tmp_path: Path,
) -> None:
    url = url_for(tmp_path)
    create("/memories/a.md", "one", "--user", "ada")
    done("--user", "ada", "replace", "/memories/a.md", "one", "two")
    assert done("copy", "./memory", url) == "Copied and compared 1 store, 2 versions.\n"
    there = ("--store", url, "--user", "ada")
    assert done(*there, "view", "/memories/a.md", "--raw") == "two"
    done(*there, "delete", "/memories/a.md", "--yes")
    assert "all is well" in done(*there, "verify")
    assert [line.split()[2] for line in done(*there, "history").splitlines()] == [
        "deleted", "modified", "created",
    ]  # fmt: skip
    assert done("copy", url, "./back") == "Copied and compared 1 store, 3 versions.\n"
    assert "ada" in done("--store", "./back", "users")
