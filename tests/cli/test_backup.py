"""``memoranda backup`` and ``memoranda restore-backup``."""

from __future__ import annotations

import stat
import subprocess
from pathlib import Path

import pytest

from tests.cli.command_line import PROGRAM, as_program, create, done, environment, refused, run

THERE = ("--store", "./there")


def test_a_backup_is_private_and_comes_back() -> None:
    create("/memories/a.md", "one", "--user", "ada")
    assert done("backup", "b.backup") == "Backed up 1 store, 1 version.\n"
    assert stat.S_IMODE(Path("b.backup").stat().st_mode) == 0o600
    assert done("restore-backup", "b.backup", "--dry-run") == "The backup is whole: 1 version.\n"
    assert done("restore-backup", "b.backup", *THERE) == (
        "Restored and compared 1 store, 1 version.\n"
    )
    assert done("view", "/memories/a.md", "--raw", "--user", "ada", *THERE) == "one"
    assert refused("restore-backup", "b.backup", *THERE)[0] == 4
    assert refused("backup", "b.backup")[0] == 2
    assert refused("restore-backup", "none.backup", *THERE)[0] == 2


def test_a_damaged_backup_restores_nothing() -> None:
    create("/memories/a.md", "one", "--user", "ada")
    done("backup", "b.backup")
    data = bytearray(Path("b.backup").read_bytes())
    data[-40] ^= 1
    Path("b.backup").write_bytes(data)
    code, said = refused("restore-backup", "b.backup", *THERE)
    assert code == 8
    assert "memoranda verify" not in said, "no store is concerned"
    assert "Is it the right folder" in run("backup", "none.backup", *THERE).stderr
    assert not Path("there").exists()


def test_an_encrypted_backup_opens_with_its_identity_only() -> None:
    pyrage = pytest.importorskip("pyrage")
    create("/memories/a.md", "one secret", "--user", "ada")
    for name in ("key", "other"):
        Path(name).write_text(f"# made today\n{pyrage.x25519.Identity.generate()}\n")
    recipient = str(
        pyrage.x25519.Identity.from_str(Path("key").read_text().split()[-1]).to_public()
    )
    done("backup", "b.age", "--age-recipient", recipient)
    assert b"secret" not in Path("b.age").read_bytes()
    assert refused("restore-backup", "b.age", *THERE)[0] == 8
    assert refused("restore-backup", "b.age", "--age-identity", "other", *THERE)[0] == 8
    assert refused("restore-backup", "b.age", "--age-identity", "none", *THERE)[0] == 9
    assert refused("backup", "c.age", "--age-recipient", "age1nothing")[0] == 9
    assert not Path("c.age").exists()
    cut = Path("b.age").read_bytes()[:-5]
    Path("cut.age").write_bytes(cut)
    assert refused("restore-backup", "cut.age", "--age-identity", "key", *THERE)[0] == 8
    done("restore-backup", "b.age", "--age-identity", "key", *THERE)
    assert done("view", "/memories/a.md", "--raw", "--user", "ada", *THERE) == "one secret"


def test_a_backup_goes_through_a_pipe() -> None:
    create("/memories/a.md", "one", "--user", "ada")
    made = as_program("backup", "-")
    assert made.stderr == b"Backed up 1 store, 1 version.\n"
    back = as_program("restore-backup", "-", *THERE, stdin=made.stdout)
    assert back.stdout == b"Restored and compared 1 store, 1 version.\n"


def test_a_backup_that_is_killed_is_no_backup_or_a_whole_one() -> None:
    for number in range(3):
        create(f"/memories/{number}.md", "x" * 100_000, "--user", "ada")
    program = subprocess.Popen([*PROGRAM, "backup", "b.backup"], env=environment())
    while program.poll() is None and not Path("b.backup").exists():
        pass
    program.kill()
    program.wait()
    back = run("restore-backup", "b.backup", *THERE)
    if back.exit_code:
        assert back.exit_code == 8
        assert program.returncode, "it said that it was done"
        assert not Path("there").exists()
    else:  # the kill came when all was written
        for number in range(3):
            text = done("view", f"/memories/{number}.md", "--raw", "--user", "ada", *THERE)
            assert text == "x" * 100_000
