"""``memoranda doctor``."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from tests.cli.command_line import create, done, json_of, run


def checks() -> dict[str, Any]:
    return {check["name"]: check for check in json_of("doctor")["checks"]}


def test_a_machine_where_all_is_well() -> None:
    create("/memories/a.md")
    Path("memory").chmod(0o700)
    found = checks()
    assert {check["state"] for check in found.values()} == {"ok"}
    assert "anthropic" in found["extras"]["seen"]
    assert found["memory"]["seen"].startswith("1 memory, 5B")
    assert found["folder"]["seen"] == "private (mode 0700)"
    assert "credentials: mask" in done("doctor")


def test_a_folder_that_is_not_there_yet_stays_away() -> None:
    assert checks()["folder"]["state"] == "note"
    assert not Path("memory").exists()


def test_a_folder_that_others_may_look_into_is_noted_with_a_remedy() -> None:
    create("/memories/a.md")
    Path("memory").chmod(0o755)
    shown = done("doctor")
    assert "others may look in (mode 0755)" in shown
    assert "folder: What Memoranda makes in it is private" in shown


def test_a_storage_that_does_not_answer_is_wrong() -> None:
    Path("memory").write_text("a file")
    result = run("doctor")
    assert result.exit_code == 1
    assert "wrong  storage" in result.stdout


def test_a_clock_that_stands_before_the_newest_version_is_wrong(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    import time

    create("/memories/a.md")
    now = time.time()
    monkeypatch.setattr("memoranda.cli.doctor.time.time", lambda: now - 3600)
    result = run("doctor")
    assert result.exit_code == 1
    assert "Set this machine's clock" in result.stdout


def test_a_disk_that_is_nearly_full_and_a_foreign_owner_are_wrong(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    create("/memories/a.md")
    monkeypatch.setattr("memoranda.cli.doctor._LITTLE_DISK_BYTES", 2**60)
    monkeypatch.setattr("memoranda.cli.doctor.os.geteuid", lambda: os.getuid() + 1)
    result = run("doctor")
    assert "Make room" in result.stdout
    assert "belongs to another account" in result.stdout


@pytest.mark.parametrize(
    ("url", "folder"),
    [("sqlite:///memory.db", True), ("memory:x", False), ("sealed:memory:x", False)],
)
def test_only_local_storage_has_a_folder(
    url: str, folder: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MEMORANDA_SEALED_KEY", "00" * 32)
    monkeypatch.setenv("MEMORANDA_STORE", url)
    assert ("folder" in checks()) == folder
