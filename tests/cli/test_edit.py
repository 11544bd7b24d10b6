"""``memoranda edit``."""

from __future__ import annotations

import re
import stat
import sys
from pathlib import Path

import pytest

from memoranda import Memory
from tests.cli.command_line import create, done, json_of, refused, run
from tests.house.repository import SOURCE

APPEND = "sh -c 'echo more >> $0'"


def text(path: str = "/memories/a.md") -> str:
    return done("view", path, "--raw")


def test_what_is_saved_becomes_a_version(monkeypatch: pytest.MonkeyPatch) -> None:
    create("/memories/a.md", "one\n")
    monkeypatch.setenv("VISUAL", APPEND)
    assert done("edit", "/memories/a.md").startswith("modified  /memories/a.md  memver_")
    assert text() == "one\nmore\n"


def test_a_memory_that_is_not_there_is_made(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("VISUAL", raising=False)
    monkeypatch.setenv("EDITOR", APPEND)
    assert done("edit", "/memories/new.md").startswith("created")
    assert text("/memories/new.md") == "more\n"


def test_without_a_change_there_is_no_version() -> None:
    create("/memories/a.md", "one\n")
    result = run("edit", "/memories/a.md", "--editor", "true")
    assert (result.exit_code, result.stdout, result.stderr) == (0, "", "Nothing was changed.\n")
    assert len(json_of("history")["versions"]) == 1


@pytest.mark.parametrize("other", ["write", "remove"])
def test_what_somebody_did_meanwhile_is_not_overwritten_and_the_text_is_kept(
    other: str, tmp_path: Path
) -> None:
    create("/memories/a.md", "one\n")
    editor = tmp_path / "editor"
    deed = (
        "memory.write('/memories/a.md', 'theirs')"
        if other == "write"
        else "memory.remove('/memories/a.md')"
    )
    editor.write_text(
        f"import sys\nsys.path.insert(0, {str(SOURCE)!r})\nfrom memoranda import Memory\n"
        f"with Memory.open('memory') as memory:\n    {deed}\n"
        "open(sys.argv[1], 'w').write('mine')\n"
    )
    code, said = refused("edit", "/memories/a.md", "--editor", f"{sys.executable} {editor}")
    assert "Somebody changed this memory while you edited it" in said
    assert code == 4
    (kept,) = re.findall(r"Your text is kept in (\S+)\.\n", said)
    assert Path(kept).read_text() == "mine"
    assert stat.S_IMODE(Path(kept).stat().st_mode) == 0o600
    Path(kept).unlink()
    with Memory.open("memory") as memory:
        paths = [str(one.path) for one in memory.list()]
    assert paths == (["/memories/a.md"] if other == "write" else [])


def test_a_text_that_a_limit_refuses_is_kept() -> None:
    Path("memoranda.toml").write_text("[limits]\nfile_bytes = 10\n")
    _, said = refused("edit", "/memories/a.md", "--editor", "sh -c 'echo 0123456789abc > $0'")
    (kept,) = re.findall(r"Your text is kept in (\S+)\.\n", said)
    assert Path(kept).read_text() == "0123456789abc\n"
    Path(kept).unlink()


@pytest.mark.parametrize(
    ("editor", "why"),
    [
        ("false", "ended with 1"),
        ("no-such-editor-here", "can't be run"),
        ("'", "can't be run"),
        ("sh -c 'rm $0'", "left no file"),
    ],
)
def test_an_editor_that_fails_changes_nothing(editor: str, why: str) -> None:
    create("/memories/a.md", "one\n")
    _, said = refused("edit", "/memories/a.md", "--editor", editor)
    assert why in said
    assert text() == "one\n"


def test_the_file_is_private_and_named_as_the_memory(tmp_path: Path) -> None:
    create("/memories/a.md", "one\n")
    log = tmp_path / "log"
    done_or_not = run(
        "edit",
        "/memories/a.md",
        "--editor",
        f"sh -c 'stat -c %a $(dirname $0) > {log}; echo $0 >> {log}'",
    )
    assert done_or_not.exit_code == 0
    mode, name = log.read_text().split()
    assert mode == "700"
    assert name.endswith("/a.md")
    assert not Path(name).exists()
