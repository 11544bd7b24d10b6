"""The recipe for a damaged file of the SQLite backend saves what it says."""

from __future__ import annotations

from pathlib import Path

import pytest

from memoranda import MemorandaError, Memory
from memoranda.stores.log.database import open_connection
from tests.docs.snippets import blocks
from tests.house.repository import DOCS

PAGE_BYTES = 4096


def recipe() -> str:
    (found,) = (
        each for each in blocks((DOCS / "formats/sqlite.md").read_text()) if each.info == "python"
    )
    return found.text


def leaves_of(path: Path, table: str) -> list[int]:
    """The pages at the end of a table's tree, in the order of its rows."""
    db = open_connection(str(path))
    try:
        rows = db.execute(
            "SELECT pageno FROM dbstat WHERE name = ? AND pagetype = 'leaf' ORDER BY path", (table,)
        ).fetchall()
    finally:
        db.close()
    return [row[0] for row in rows]


@pytest.mark.parametrize("at", ["the middle", "the end"])
def test_the_recipe_saves_what_lies_before_and_behind_the_damage(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, at: str
) -> None:
    monkeypatch.chdir(tmp_path)
    damaged = tmp_path / "damaged.db"
    with Memory.open(f"sqlite:///{damaged}", user="acme") as memory:
        for number in range(60):
            memory.write(f"/memories/{number:02}.md", f"{number}\n" * 400)
    leaves = leaves_of(damaged, "event")
    assert len(leaves) > 10
    page = leaves[len(leaves) // 2 if at == "the middle" else -1]
    with damaged.open("r+b") as file:
        file.seek((page - 1) * PAGE_BYTES)
        file.write(bytes(PAGE_BYTES))
    with Memory.open(f"sqlite:///{damaged}", user="acme") as memory:
        assert not memory.verify().ok
    exec(recipe(), {})
    with Memory.open(f"sqlite:///{tmp_path / 'rescued.db'}", user="acme") as memory:
        saved = 0
        for number in range(60):
            try:
                assert memory.read(f"/memories/{number:02}.md").text == f"{number}\n" * 400
            except MemorandaError:
                continue
            saved += 1
        assert saved >= 50
        assert not memory.verify().ok  # and says so


def test_the_recipe_copies_a_file_in_order_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with Memory.open(f"sqlite:///{tmp_path / 'damaged.db'}", user="acme") as memory:
        memory.write("/memories/a.md", "one\n")
        memory.write("/memories/a.md", "two\n" * 30_000)
    exec(recipe(), {})
    with Memory.open(f"sqlite:///{tmp_path / 'rescued.db'}", user="acme") as memory:
        assert memory.read("/memories/a.md").text == "two\n" * 30_000
        assert len(memory.history()) == 2
        assert memory.verify().ok
    db = open_connection("rescued.db")
    assert db.pragma("integrity_check") == "ok"
    db.close()
