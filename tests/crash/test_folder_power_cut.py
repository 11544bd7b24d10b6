"""After a power cut every acknowledged state comes back, whatever the disk forgot."""

from __future__ import annotations

import os
from pathlib import Path
from random import Random

import pytest

from memoranda.errors import MemorandaError
from memoranda.stores.base import Edit, Move, Put, Remove
from memoranda.testing.promises.steps import append, p
from tests.crash.power import LosableDisk, RecordingFiles
from tests.stores.folder_rig import FolderRig

NAMES = ("/a.md", "/b.md", "/d/a.md", "/d/c.md", "/d/e/f.md", "/g/h.md", "/d", "/g", "/d/e", "/x")


def live(rig: FolderRig, random: Random) -> None:
    """One command, any; refused ones are all right."""
    path, other = p(random.choice(NAMES)), p(random.choice(NAMES))
    text = b"%d\n" % random.getrandbits(64) * random.choice((0, 1, 3, 2000))
    changes = (
        [Put(path, text)],
        [Put(path, text)],
        [Edit(path, append(text))],
        [Edit(path, append(text))],
        [Move(path, other)],
        [Remove(path)],
        [Put(path, text), Move(path, other), Edit(other, append(b"batch\n"))],
    )
    try:
        rig.apply(*random.choice(changes))
    except MemorandaError:
        return


def lose_power(
    rig: FolderRig, disk: LosableDisk, random: Random, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The machine goes down and comes up again."""
    disk.files.disk = None
    disk.cut(random)
    boot = os.urandom(16)
    monkeypatch.setattr("memoranda.stores.folder.opening.boot_id", lambda: boot)
    rig.crash()


def prepared(tmp_path: Path, random: Random) -> tuple[FolderRig, LosableDisk]:
    """A store with something synced and something not."""
    files = RecordingFiles()
    rig = FolderRig(tmp_path, files)
    for _ in range(random.randrange(12)):
        live(rig, random)
    opened = rig.opened
    rig.put("/synced.md", b"synced\n")
    opened.sync_tree()
    disk = files.disk = LosableDisk(files, rig.directory, tmp_path / "morgue")
    rig.put("/marker.md", b"notes what is durable\n")
    for _ in range(random.randrange(1, 12)):
        rig.clock.seconds += random.choice((0, 0, 0, 3))
        live(rig, random)
    return rig, disk


def test_every_acknowledged_state_comes_back(
    tmp_path: Path, rounds: range, monkeypatch: pytest.MonkeyPatch
) -> None:
    for seed in rounds:
        random = Random(seed)
        rig, disk = prepared(tmp_path / str(seed), random)
        state, history = rig.tree(), rig.history()
        lose_power(rig, disk, random, monkeypatch)
        assert rig.tree() == state, seed
        assert rig.on_disk() == state, seed
        rig.clock.seconds += 10
        rig.put("/afterwards.md", b"it goes on\n")
        rig.clock.seconds += 10
        rig.check()
        assert rig.external() == [], seed
        assert rig.history()[: len(history)] == history, seed
        rig.close()


def test_what_people_saved_before_the_cut_is_not_lost(
    tmp_path: Path, rounds: range, monkeypatch: pytest.MonkeyPatch
) -> None:
    for seed in rounds:
        random = Random(seed)
        rig, disk = prepared(tmp_path / str(seed), random)
        state = rig.tree()
        saved: dict[str, bytes] = {}
        for path in random.sample(sorted(state), min(len(state), 2)):
            saved[path] = b"by hand %d\n" % random.getrandbits(64)
            file = rig.memories / path[1:]
            file.write_bytes(saved[path])
            os.utime(file, ns=(rig.clock.now_ns(), rig.clock.now_ns()))
        disk.sync()
        lose_power(rig, disk, random, monkeypatch)
        found = rig.tree()
        assert {path: found[path] for path in saved} == saved, seed
        assert found.keys() == state.keys(), seed
        rig.check()
        rig.close()
