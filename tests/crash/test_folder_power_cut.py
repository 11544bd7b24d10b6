"""After a power cut every acknowledged state comes back, whatever the disk forgot."""

from __future__ import annotations

import os
from itertools import product
from pathlib import Path
from random import Random

import pytest

from memoranda.errors import MemorandaError
from memoranda.stores.base import Edit, Move, Put, Remove
from memoranda.testing.promises.steps import append, p
from tests.crash.folder_commands import COMMANDS, prepare
from tests.crash.power import TEARS, LosableDisk, RecordingFiles
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
    come_up(rig, monkeypatch)


def come_up(rig: FolderRig, monkeypatch: pytest.MonkeyPatch) -> None:
    """The machine starts again."""
    boot = os.urandom(16)
    for module in ("opening", "open_tree"):
        monkeypatch.setattr(f"memoranda.stores.folder.{module}.boot_id", lambda: boot)
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


@pytest.mark.fault("ROW-03")
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
        rig.bury()


def acknowledged(home: Path, name: str) -> tuple[FolderRig, LosableDisk]:
    """A store in which all is synced but what one command did, and another before it."""
    files = RecordingFiles()
    rig = FolderRig(home, files)
    prepare(rig)
    rig.opened.sync_tree()
    disk = files.disk = LosableDisk(files, rig.directory, home / "morgue")
    rig.put("/marker.md", b"notes what is durable\n")
    COMMANDS[name](rig)
    return rig, disk


@pytest.mark.parametrize("name", COMMANDS)
@pytest.mark.fault("ROW-03")
def test_any_subset_of_what_any_command_changed_may_be_lost(
    tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    """All subsets in the full run (of at most 2,000), a few in the short one, each with the new
    files whole, empty, half written or zeros."""
    rig, disk = acknowledged(tmp_path / "undisturbed", name)
    everything = list(product(range(1 << disk.changes), ("whole", *TEARS[:3])))
    rig.close()
    most = 2000 if request.config.getoption("--full") else 8
    cuts = Random(name).sample(everything, min(most, len(everything)))
    for number, (subset, kind) in enumerate(cuts):
        rig, disk = acknowledged(tmp_path / str(number), name)
        state, history = rig.tree(), rig.history()
        disk.files.disk = None
        disk.cut_to({bit for bit in range(disk.changes) if subset >> bit & 1}, kind)
        come_up(rig, monkeypatch)
        assert {path: rig.read(path) for path in state} == state, (bin(subset), kind)
        assert rig.tree() == rig.on_disk() == state, (bin(subset), kind)
        rig.clock.seconds += 10
        rig.put("/afterwards.md", b"it goes on\n")
        rig.check()
        assert rig.external() == [], (bin(subset), kind)
        assert rig.history()[: len(history)] == history
        rig.bury()


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
        rig.bury()
