"""``memoranda redact``."""

from __future__ import annotations

from tests.cli.command_line import at_terminal, create, done, json_of, refused, version_ids

FILE = "/memories/a.md"


def an_old_version() -> str:
    create(FILE, "secret")
    done("create", FILE, "clean", "--overwrite")
    return version_ids()[1]


def test_a_version_is_blanked_only_if_somebody_confirms_it() -> None:
    old = an_old_version()
    code, message = refused("redact", old)
    assert code == 10
    assert message.startswith(f"Error: Blank {old} of /memories/a.md for good? Nobody is here")
    assert done("show", old, "--raw") == "secret"
    assert at_terminal("redact", old, typed="y\n").exit_code == 0
    assert "(redacted)" in done("show", old)


def test_a_redacted_version_can_be_redacted_again() -> None:
    old = an_old_version()
    assert done("redact", old, "--yes").startswith("Blanked:\n20")
    assert json_of("redact", old, "--yes")["path"] is None


def test_a_dry_run_shows_the_version_and_leaves_it() -> None:
    old = an_old_version()
    assert done("redact", old, "--dry-run").startswith("Would blank:\n20")
    assert json_of("redact", old, "--dry-run")["dry_run"] is True
    assert done("show", old, "--raw") == "secret"


def test_the_present_version_is_refused() -> None:
    an_old_version()
    code, message = refused("redact", version_ids()[0], "--yes")
    assert code == 2
    assert "Write a newer version or delete the memory first." in message
