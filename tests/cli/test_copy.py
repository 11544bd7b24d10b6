"""``memoranda copy``."""

from __future__ import annotations

import json
import subprocess
import time
from pathlib import Path

import pytest

from memoranda import Memory
from tests.cli.command_line import (
    PROGRAM,
    as_program,
    at_terminal,
    create,
    done,
    environment,
    json_of,
    refused,
    run,
)

ROUNDS = 2


def test_a_memory_goes_with_its_history_and_is_used_on_there() -> None:
    create("/memories/a.md", "one", "--user", "ada")
    done("--user", "ada", "replace", "/memories/a.md", "one", "two")
    said = done("copy", "./memory", "sqlite:///there.db", "--user", "ada")
    assert said == "Copied and compared 1 store, 2 versions.\n"
    there = ("--store", "sqlite:///there.db", "--user", "ada")
    assert done(*there, "view", "/memories/a.md", "--raw") == "two"
    ours, theirs = json_of("--user", "ada", "history"), json_of(*there, "history")
    for each in (*ours["versions"], *theirs["versions"]):
        del each["id"], each["batch"]
    assert ours == theirs
    again = json_of("copy", "./memory", "sqlite:///there.db", "--user", "ada")
    (store,) = again["stores"]
    assert (store["user"], store["versions"], store["before"]) == ("ada", 2, 2)


def test_all_memories_go_or_those_of_a_workspace() -> None:
    for user, workspace in (("ada", "default"), ("bob", "w2")):
        with Memory.open("./memory", user=user, workspace=workspace) as memory:
            memory.write("/memories/a.md", b"1")
    assert done("copy", "./memory", "./w2", "--workspace", "w2") == (
        "Copied and compared 1 store, 1 version.\n"
    )
    assert done("copy", "./memory", "./all", "--dry-run") == "Would copy 2 stores, 2 versions.\n"
    assert not Path("all").exists()
    assert done("copy", "./memory", "./all") == "Copied and compared 2 stores, 2 versions.\n"
    with Memory.open("./all", user="bob", workspace="w2") as memory:
        assert memory.read("/memories/a.md").content == b"1"


def test_heads_alone_may_go_beside_other_memories() -> None:
    create("/memories/a.md", "one", "--user", "ada")
    create("/memories/b.md", "mine", "--user", "ada", "--store", "./there")
    heads = ("copy", "./memory", "./there", "--heads-only")
    code, message = refused(*heads)
    assert code == 4
    assert "other contents" in message
    assert done(*heads, "--into-existing") == "Copied and compared 1 store, 1 memory.\n"
    assert done("--store", "./there", "--user", "ada", "view", "/memories/a.md", "--raw") == "one"


def test_a_history_is_never_mixed_with_another_one() -> None:
    create("/memories/a.md", "one", "--user", "ada")
    create("/memories/b.md", "mine", "--user", "ada", "--store", "./there")
    assert refused("copy", "./memory", "./there")[0] == 4
    result = run("copy", "./memory", "./there", "--into-existing")
    assert result.exit_code == 2
    assert "--heads-only" in result.stderr
    assert refused("copy", "./memory", "./memory/")[0] == 9


def test_what_is_not_there_cannot_be_copied() -> None:
    code, said = refused("copy", "./memory", "./there", "--user", "nobody")
    assert code == 3
    assert "This user has no memory here.\nmemoranda users" in said
    result = run("copy", "./memory", "./there")
    assert (result.exit_code, result.stdout) == (0, "Copied and compared 0 stores, 0 versions.\n")
    assert "Is it the right folder" in result.stderr


def test_at_a_terminal_a_bar_shows_how_far_the_copy_is() -> None:
    create("/memories/a.md", "one", "--user", "ada")
    seen = at_terminal("copy", "./memory", "./there")
    assert seen.exit_code == 0
    assert "Copying" in seen.screen
    assert seen.screen.endswith("Copied and compared 1 store, 1 version.\n")


@pytest.mark.parametrize(
    "target", ["sqlite:///there.db", pytest.param("./there", marks=pytest.mark.full)]
)
def test_a_copy_that_is_killed_again_and_again_ends_equal(target: str) -> None:
    with Memory.open("./memory", user="ada") as memory:
        for number in range(160):
            memory.write(f"/memories/d{number % 7}/{number % 31}.md", b"%d\n" % number * 40)
    log = Path("there.db-wal" if target.startswith("sqlite") else "there/stores/ada/history.db-wal")
    command = ("copy", "./memory", target, "--user", "ada")
    n_killed = 0
    for _ in range(ROUNDS):
        program = subprocess.Popen([*PROGRAM, *command], env=environment())
        begin = _size(log)
        while program.poll() is None and _size(log) <= begin + 400_000:
            time.sleep(0.001)
        program.kill()
        n_killed += program.wait() != 0
    last = as_program(*command)
    assert last.returncode == 0, last.stderr
    assert n_killed
    assert b"ada: went on after " in last.stdout
    assert b"of 160 versions." in last.stdout
    with Memory.open("./memory", user="ada") as ours, Memory.open(target, user="ada") as theirs:
        assert [_key(each) for each in ours.history()] == [_key(each) for each in theirs.history()]
        assert theirs.verify().ok


def _size(file: Path) -> int:
    try:
        return file.stat().st_size
    except FileNotFoundError:
        return 0


def _key(version: object) -> str:
    fields = ("memory_id", "operation", "path", "actor", "created_at_ns", "sha256", "command")
    return json.dumps([str(getattr(version, name)) for name in fields])
