"""The pages about the command line say what the program does."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path
from typing import Any

import pytest

from memoranda.cli.main import COMMANDS, GROUPS
from tests.cli.command_line import create, done, json_of, run, version_ids
from tests.cli.reference import PAGE, page
from tests.house.repository import ROOT

SHAPES = ROOT / "docs" / "reference" / "cli-json.md"


def test_the_reference_is_current() -> None:
    assert PAGE.read_text(encoding="utf-8") == page(), "run: python -m tests.cli.reference"


def documented() -> dict[str, set[str]]:
    """The fields that the page names, by command line."""
    rows = re.findall(r"^\| `([^`]+)` \| (.+?) \|", SHAPES.read_text(encoding="utf-8"), re.M)
    return {command: set(re.findall(r"`([a-z0-9_]+)`", fields)) for command, fields in rows}


def version_fields() -> set[str]:
    return documented()["a version"]


@pytest.fixture
def old_version(monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv("MEMORANDA_SEALED_KEY", "11" * 32)
    create("/memories/a.md", "old\n")
    done("create", "/memories/a.md", "new\n", "--overwrite")
    Path("folder").mkdir()
    Path("handlers_of_the_page.py").write_text(
        'def none(_):\n    return lambda raw: ("no", True)\n'
    )
    return version_ids()[1]


def proposals() -> dict[str, Any]:
    """What the commands about writes that wait print."""
    Path("memoranda.toml").write_text("[[approval]]\npath = '/memories/rules/*'\n")
    for name in "ab":
        run("create", f"/memories/rules/{name}", "x")
    listed = json_of("proposals", "list")
    first, second = (each["id"] for each in listed["proposals"])
    return {
        "proposals list": listed,
        "proposals show": json_of("proposals", "show", first),
        "proposals approve": json_of("proposals", "approve", first, "--yes"),
        "proposals reject": json_of("proposals", "reject", second, "--yes"),
        "proposals expire": json_of("proposals", "expire"),
    }


def printed(old_version: str) -> dict[str, Any]:
    """What each command line of the page prints."""
    key = json_of("keys", "create")
    handler = ["handlers_of_the_page:none", "--section", "malformed"]
    return {
        "view": json_of("view"),
        "view --raw": json_of("view", "/memories/a.md", "--raw"),
        "create": json_of("create", "/memories/b.md", "x"),
        "replace": json_of("replace", "/memories/a.md", "new", "newer"),
        "insert": json_of("insert", "/memories/a.md", "0", "x"),
        "rename": json_of("rename", "/memories/b.md", "/memories/c.md"),
        "delete --dry-run": json_of("delete", "/memories/c.md", "--dry-run"),
        "delete": json_of("delete", "/memories/c.md"),
        "edit": json_of("edit", "/memories/edited.md", "--editor", "sh -c 'echo x > $0'"),
        "doctor": json_of("doctor"),
        "report": json_of("report"),
        "search": json_of("search", "newer"),
        "init": json_of("init"),
        "init --template": json_of("init", "--template", "research", "--user", "other"),
        "status": json_of("status"),
        "history": json_of("history"),
        "show": json_of("show", old_version),
        "diff": json_of("diff", old_version),
        "undo": json_of("undo"),
        "restore --dry-run": json_of("restore", "/memories/a.md", "--to", "1h", "--dry-run"),
        "restore": json_of("restore", "/memories/a.md", "--to", old_version),
        "usage": json_of("usage"),
        "users": json_of("users"),
        "export": json_of("export", "backup"),
        "import": json_of("import", "folder"),
        "copy": json_of("copy", "memory", "there"),
        "backup": json_of("backup", "memory.backup"),
        "restore-backup": json_of("restore-backup", "memory.backup", "--dry-run"),
        "verify": json_of("verify"),
        "audit": json.loads(done("audit", "--json", "-n", "1")),
        "audit --verify": json_of("audit", "--verify"),
        "policy show": json_of("policy", "show"),
        "sweep": json_of("sweep"),
        "hold add": json_of("hold", "add", "/memories/a.md"),
        "hold list": json_of("hold", "list"),
        "hold lift": json_of("hold", "lift", "/memories/a.md"),
        **proposals(),
        "keys create": key,
        "keys list": json_of("keys", "list"),
        "keys rotate": json_of("keys", "rotate", key["id"]),
        "keys revoke": json_of("keys", "revoke", key["id"], "--yes"),
        "redact": json_of("redact", old_version, "--yes"),
        "erase --path": json_of("erase", "--path", "/memories/a.md", "--yes"),
        "erase": json_of("erase", "--yes"),
        "rotate-key": json_of("rotate-key", "--store", "sealed:./sealed"),
        "conformance": json.loads(run("conformance", *handler, "--json").stdout),
        "redaction-report": json_of("redaction-report"),
        "an error": json.loads(run("view", "/memories/none", "--json").stderr),
    }


def test_json_has_the_fields_that_are_documented_and_no_others(old_version: str) -> None:
    pages = documented()
    shapes = printed(old_version)
    assert {name.split()[0] for name in shapes} >= set(COMMANDS) - {
        "demo",
        "chat",
        "consolidate",
        "mcp",
        "serve",
    }
    assert set(shapes) >= {f"{one} {two}" for one, (_, all_of) in GROUPS.items() for two in all_of}
    assert pages.keys() - shapes.keys() == {
        "consolidate",  # its own test holds it to the page: it needs an API
        "a version",
        "an entry",
        "a store",
        "a key",
        "a hit",
        "a problem",
        "a change",
        "a proposal",
    }
    for name, shape in shapes.items():
        fields = pages[name] | (version_fields() if "a version" in _row(name) else set[str]())
        fields |= pages["a proposal"] if "a proposal" in _row(name) else set[str]()
        fields |= pages["a key"] if "those of a key" in _row(name) else set[str]()
        fields |= pages["an entry"] if "an entry" in _row(name) else set[str]()
        assert set(shape) == fields, name


def _row(name: str) -> str:
    row = re.search(
        rf"^\| `{re.escape(name)}` \| (.+?) \|", SHAPES.read_text(encoding="utf-8"), re.M
    )
    assert row is not None
    return row.group(1)


def test_json_inside_has_the_fields_that_are_documented(old_version: str) -> None:
    pages = documented()
    assert set(json_of("history")["versions"][0]) == pages["a version"]
    assert set(json_of("users", "--sizes")["stores"][0]) == pages["a store"]
    assert set(json_of("keys", "create")) == {"id", "key"}
    assert set(json_of("keys", "list")["keys"][0]) == pages["a key"]
    assert set(json_of("search", "new")["hits"][0]) == pages["a hit"]
    change = json_of("restore", "/memories/a.md", "--to", old_version, "--dry-run")["changes"][0]
    assert set(change) == pages["a change"]


def test_the_session_in_the_guide_goes_as_it_says() -> None:
    guide = (ROOT / "docs" / "guide" / "command-line.md").read_text(encoding="utf-8")
    (session,) = re.findall(r"^```text\n(.*?)^```", guide, re.M | re.S)
    steps = re.findall(r"^\$ memoranda (.*)\n((?:[^$].*\n)*)", session, re.M)
    assert len(steps) == 4
    for typed, shown in steps:
        assert done(*shlex.split(typed)) == shown
