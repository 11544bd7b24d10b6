"""``memoranda report``."""

from __future__ import annotations

import stat
from pathlib import Path

from tests.cli.command_line import create, done, json_of, refused


def test_a_page_about_one_memory_is_made_for_its_owner_alone() -> None:
    create("/memories/a.md")
    assert done("report") == "memoranda-report.html: open it in a browser.\n"
    file = Path("memoranda-report.html")
    assert "<title>The memory of default</title>" in file.read_text()
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


def test_a_file_that_is_there_is_replaced_only_by_force() -> None:
    create("/memories/a.md")
    Path("page.html").write_text("mine")
    _, said = refused("report", "-o", "page.html")
    assert "page.html is there already" in said
    assert Path("page.html").read_text() == "mine"
    assert json_of("report", "-o", "page.html", "--force")["memories"] == 1
    assert Path("page.html").read_text().startswith("<!doctype html>")


def test_every_memory_is_in_the_page_about_all_under_its_own_limits() -> None:
    create("/memories/a.md", "x", "--user", "ada")
    create("/memories/a.md", "x", "--user", "bob")
    Path("memoranda.toml").write_text('[[rules]]\nuser = "bob"\nlimits.files = 7\n')
    shown = done("report", "--all", "-o", "-")
    assert "<title>Memories</title>" in shown
    assert ">ada</h2>" in shown
    assert "files, of 7<" in shown
    assert "files, of 2,000<" in shown


def test_a_place_that_cannot_be_written_is_said() -> None:
    create("/memories/a.md")
    _, said = refused("report", "-o", "no/such/folder/page.html")
    assert "can't be written: No such file or directory." in said
