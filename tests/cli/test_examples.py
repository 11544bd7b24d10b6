"""The example in every command's help can be typed as it stands."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from memoranda.cli.main import COMMANDS
from tests.cli.command_line import create, done, run, version_ids

# Their examples take their time and are run by tests of their own.
ELSEWHERE = {"demo", "chat", "conformance", "consolidate", "mcp", "serve"}


@pytest.fixture
def old_version() -> str:
    """A memory as the examples know it; the id of a version that isn't the present one."""
    create("/memories/notes.md", "We ship.\n")
    done("create", "/memories/notes.md", "We ship on Fridays.\n", "--overwrite")
    create("/memories/old/a.md")
    Path("old-memory/memories").mkdir(parents=True)
    Path("old-memory/memories/b.md").write_text("b")
    return version_ids("/memories/notes.md")[1]


def prepare(command: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """What an example takes for granted besides."""
    if command == "create":
        done("delete", "/memories/notes.md")
    elif command == "edit":
        monkeypatch.setenv("VISUAL", "sh -c 'echo more >> $0'")
    elif command == "rotate-key":
        monkeypatch.setenv("MEMORANDA_SEALED_KEY", "00" * 32)
        monkeypatch.setenv("MEMORANDA_STORE", "sealed:./sealed")
        create("/memories/a.md")
    elif command == "restore-backup":
        (file,) = re.findall(r"Example: memoranda restore-backup (\S+)", done(command, "--help"))
        done("backup", file)
        monkeypatch.setenv("MEMORANDA_STORE", "./elsewhere")


@pytest.mark.parametrize("command", [name for name in COMMANDS if name not in ELSEWHERE])
def test_the_example_works(command: str, old_version: str, monkeypatch: pytest.MonkeyPatch) -> None:
    prepare(command, monkeypatch)
    found = re.search(r"^  Example: memoranda (.+)$", done(command, "--help"), re.M)
    assert found is not None
    typed = [
        old_version if word.startswith("memver_") else word for word in shlex.split(found.group(1))
    ]
    result = run(*typed)
    assert result.exit_code == 0, result.output
    assert "Error" not in result.output
