"""Garbage in a database is an error of ours or repaired, whatever it is and wherever it lies."""

from __future__ import annotations

import shutil
from pathlib import Path
from random import Random

import pytest

from memoranda.drive import run_now
from memoranda.errors import MemorandaError
from memoranda.testing.promises.steps import append
from tests.stores.folder_rig import FolderRig


def spoil(database: Path, random: Random) -> None:
    """Overwrite some bytes of a file."""
    data = bytearray(database.read_bytes())
    for _ in range(random.choice((1, 1, 3, 10))):
        at = random.randrange(len(data))
        length = min(random.choice((1, 8, 200, 4096)), len(data) - at)
        noise = random.random() < 0.5
        data[at : at + length] = random.randbytes(length) if noise else bytes(length)
    with database.open("r+b") as file:
        file.write(data)


def live(rig: FolderRig) -> list[str]:
    """Commands of every kind; what their errors say."""
    said: list[str] = []
    for do in (
        lambda: rig.put("/new.md", b"new\n"),
        lambda: rig.edit("/d0/f0.md", append(b"more\n")),
        lambda: rig.move("/e", "/f"),
        lambda: rig.remove("/d3"),
        rig.history,
        rig.tree,
    ):
        try:
            do()
        except MemorandaError as error:
            said.append(str(error))
    return said


@pytest.mark.parametrize("state", ["copied", "closed", "open"])
def test_garbage_is_an_error_of_ours_or_repaired(
    tmp_path: Path, state: str, rounds: range, capfd: pytest.CaptureFixture[str]
) -> None:
    origin = FolderRig(tmp_path / "origin")
    for number in range(30):
        origin.put(f"/d{number % 4}/f{number}.md", b"%d\n" % number * 50)
    for number in range(40):
        origin.edit("/d0/f0.md", append(b"%d\n" % number))
    origin.remove("/d1")
    origin.move("/d2", "/e")
    origin.close()
    said: list[str] = []
    for seed in rounds:
        rig = FolderRig(shutil.copytree(origin.home, tmp_path / str(seed)))
        if state != "copied":
            assert rig.read("/e/f2.md") == b"2\n" * 50
        if state == "closed":
            rig.reopen()
        spoil(rig.directory / "history.db", Random(seed))
        said += live(rig)
        run_now(rig.store.verify())  # tells, and raises nothing
        rig.reopen()
        said += live(rig)
        assert run_now(rig.store.repair()).ok, seed
        assert rig.tree() == rig.on_disk(), seed
        rig.close()
        shutil.rmtree(rig.home)
    assert str(tmp_path) not in "".join((*said, *capfd.readouterr()))
