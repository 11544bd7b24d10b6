"""kill -9 amid a write: what was acknowledged is there, and git finds nothing wrong."""

from __future__ import annotations

import os
import random
import signal
import warnings
from pathlib import Path
from threading import Event

import pytest

from memoranda.drive import run_now
from memoranda.stores.base import Change, Context, Edit, Put
from memoranda.stores.git import pack
from memoranda.stores.git.backend import GitBackend
from memoranda.testing.promises.steps import append, p, put, read
from tests.stores.git_rig import check, git, in_memory

AGENT = Context(actor="agent", command="test")
LONGEST_LIFE_SECONDS = 0.08


def test_git_looks_at_no_pack_that_is_not_whole_yet(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def die(source: str, target: str) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("os.rename", die)
    with pytest.raises(KeyboardInterrupt):
        pack.write(str(tmp_path), {b"\1" * 20: (3, b"text")})
    assert len(list(tmp_path.iterdir())) == 2
    assert not [*tmp_path.glob("*.pack"), *tmp_path.glob("*.idx")]


def strike(home: Path, rounds: int, seed: str) -> None:
    """Write in a process of its own, kill it, look; each time on what the one before left."""
    chance = random.Random(seed)
    backend = GitBackend(home)
    run_now(put(run_now(backend.for_user("acme")), "/all.md", b""))
    run_now(backend.close())
    bare = home / "stores" / "acme.git"
    said = 0
    for number in range(rounds):
        said += _lived(home, number, chance.uniform(0.0, LONGEST_LIFE_SECONDS))
        check(bare)
        backend = GitBackend(home)
        store = run_now(backend.for_user("acme"))
        lines = run_now(read(store, "/all.md")).splitlines()
        assert lines == sorted(set(lines))
        assert len(lines) >= said, "an acknowledged write is gone"
        said = len(lines)
        run_now(put(store, "/after.md", b"%d" % number))
        assert run_now(store.verify()).problems == ()
        assert not list(bare.rglob("*.lock"))
        assert git(bare, "show", "main:all.md").splitlines() == [line.decode() for line in lines]
        run_now(backend.close())


def _lived(home: Path, number: int, seconds: float) -> int:
    """How many writes a process acknowledged before it was killed."""
    out, into = os.pipe()
    with warnings.catch_warnings():
        # The test runner's threads are none that hold anything of ours.
        warnings.simplefilter("ignore", DeprecationWarning)
        child = os.fork()
    if child == 0:
        try:
            _live(home, number, into)
        finally:
            os._exit(1)
    os.close(into)
    try:
        assert os.read(out, 1) == b"."
        Event().wait(seconds)
    finally:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
    done = 0
    while more := os.read(out, 65536):
        done += len(more)
    os.close(out)
    return 1 + done


def _live(home: Path, number: int, into: int) -> None:
    store = run_now(GitBackend(home).for_user("acme"))
    turn = 0
    while True:
        line = b"%04d.%06d\n" % (number, turn)
        changes: list[Change] = [
            Edit(p("/all.md"), append(line)),
            Put(p(f"/d/{turn % 5}.md"), line),
        ]
        run_now(store.apply(changes, AGENT))
        os.write(into, b".")
        turn += 1


def test_a_killed_writer_loses_nothing_acknowledged_and_leaves_a_sound_repository() -> None:
    with in_memory() as home:
        strike(home, 20, "suite")


@pytest.mark.full
def test_two_hundred_kills_lose_nothing_acknowledged(tmp_path: Path) -> None:
    strike(tmp_path, 200, "full")
