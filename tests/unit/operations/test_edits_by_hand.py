"""Files that people edited: programs see what they did before they go back or carry it away."""

from __future__ import annotations

from collections.abc import Generator
from pathlib import Path

import pytest

from memoranda import Memory


@pytest.fixture
def memory(tmp_path: Path) -> Generator[Memory]:
    with Memory.open(str(tmp_path / "memory"), user="acme") as opened:
        opened.write("/memories/a.md", "by the agent\n")
        yield opened


@pytest.fixture
def by_hand(memory: Memory, tmp_path: Path) -> Path:
    """The folder in which a person changed one file and made another."""
    files = tmp_path / "memory" / "stores" / "acme" / "memories"
    (files / "a.md").write_text("by hand\n")
    (files / "new.md").write_text("made by hand\n")
    return files


def test_a_read_gives_what_the_person_saved_as_a_version_of_its_own(
    memory: Memory, by_hand: Path
) -> None:
    read = memory.read("/memories/a.md")
    assert read.text == "by hand\n"
    assert memory.history("/memories/a.md")[0].actor == "external"
    assert memory.history("/memories/a.md")[0].id == read.version_id


def test_an_export_holds_what_the_person_did(memory: Memory, by_hand: Path, tmp_path: Path) -> None:
    memory.export(tmp_path / "out")
    assert (tmp_path / "out" / "a.md").read_text() == "by hand\n"
    assert (tmp_path / "out" / "new.md").read_text() == "made by hand\n"


def test_a_restore_takes_back_what_the_person_did_and_history_keeps_it(
    memory: Memory, by_hand: Path
) -> None:
    (made,) = memory.history()
    memory.restore(to=made.id)
    assert [path.name for path in by_hand.iterdir()] == ["a.md"]
    assert (by_hand / "a.md").read_text() == "by the agent\n"
    memory.undo()
    assert (by_hand / "a.md").read_text() == "by hand\n"
    assert (by_hand / "new.md").read_text() == "made by hand\n"


def test_an_undo_takes_back_what_the_person_did_last(memory: Memory, by_hand: Path) -> None:
    memory.undo("/memories/a.md")
    assert memory.read("/memories/a.md").text == "by the agent\n"
