"""``memoranda diff``."""

from __future__ import annotations

from tests.cli.command_line import at_terminal, create, done, json_of, refused, run, version_ids

FILE = "/memories/a.md"


def two_versions(old: str = "one\ntwo\n", new: str = "one\n2\n") -> tuple[str, str]:
    create(FILE, old)
    done("create", FILE, new, "--overwrite")
    newer, older = version_ids()
    return older, newer


def test_two_versions_are_compared() -> None:
    older, newer = two_versions()
    assert done("diff", older, newer) == (
        f"--- {FILE}\t{older}\n+++ {FILE}\t{newer}\n@@ -1,2 +1,2 @@\n one\n-two\n+2\n"
    )


def test_a_version_is_compared_with_what_is_there_now() -> None:
    older, newer = two_versions()
    assert done("diff", older) == done("diff", older, newer)


def test_a_memory_is_compared_with_the_version_before() -> None:
    older, newer = two_versions()
    assert done("diff", FILE) == done("diff", older, newer)
    assert "\n one\n" not in done("diff", FILE, "--context", "0")


def test_equal_versions_and_single_ones_have_no_difference() -> None:
    create(FILE)
    result = run("diff", FILE)
    assert (result.exit_code, result.stdout) == (0, "")
    assert result.stderr == "This memory has one version: nothing to compare with.\n"
    (only,) = version_ids()
    assert run("diff", only, only).stderr == "There is no difference.\n"
    assert json_of("diff", only, only) == {"diff": ""}
    assert json_of("diff", FILE) == {"diff": ""}


def test_a_memory_and_a_version_are_not_compared() -> None:
    older, _ = two_versions()
    code, message = refused("diff", FILE, older)
    assert code == 2
    assert "Two versions are compared, or one memory; not a mixture." in message


def test_what_differs_cannot_command_a_terminal() -> None:
    older, _ = two_versions(new="one\n\x1b[2J\n")
    assert "+\x1b[2J" in done("diff", older)
    seen = at_terminal("diff", older)
    assert "\x1b" not in seen.screen
    assert r"+\u001b[2J" in seen.screen
