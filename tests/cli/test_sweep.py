"""``memoranda sweep`` and ``memoranda hold``."""

from __future__ import annotations

from pathlib import Path

from memoranda.stores.log.database import open_connection
from tests.cli.command_line import create, done, json_of, refused, run

RULES = "[[expiry]]\npath = '/memories/tmp/*'\nage_days = 5\n"


def grow_old(days: int) -> None:
    """Have everything happen so many days ago, for good."""
    db = open_connection("memory/stores/default/history.db")
    db.execute("UPDATE node SET updated = updated - ?", (days * 86_400 * 10**9,))
    db.close()


def test_a_sweep_removes_what_its_rules_are_about() -> None:
    Path("memoranda.toml").write_text(RULES)
    create("/memories/tmp/a.md", "x")
    create("/memories/b.md", "x")
    grow_old(6)
    assert done("sweep", "--dry-run") == "  /memories/tmp/a.md\nWould remove 1 memory.\n"
    done("hold", "add", "/memories/tmp", "--reason", "case 12")
    kept = run("sweep")
    assert kept.stdout == "Removed 0 memories.\n"
    assert "A hold keeps 1 memory" in kept.stderr
    assert "case 12" in done("hold", "list")
    assert refused("erase", "--yes")[0] == 6
    assert done("hold", "lift", "/memories/tmp") == "Lifted: /memories/tmp\n"
    assert done("hold", "lift", "/memories/tmp") == "Nothing held /memories/tmp.\n"
    assert "Nothing is held." in run("hold", "list").stderr
    assert json_of("sweep")["removed"] == ["/memories/tmp/a.md"]


def test_a_clock_that_jumped_is_told() -> None:
    Path("memoranda.toml").write_text(RULES)
    create("/memories/tmp/a.md", "x")
    db = open_connection("memory/stores/default/history.db")
    db.execute("UPDATE event SET at = at - ?", (40 * 86_400 * 10**9,))
    db.close()
    result = run("sweep")
    assert (result.exit_code, result.stdout) == (0, "")
    assert "the clock may be wrong" in result.stderr


def test_a_rule_that_can_not_be_is_told_with_its_place() -> None:
    for text, says in (
        ("[[expiry]]\nage_days = 0\n", "memoranda.toml, [[expiry]]: Expiry: age_days is 0"),
        ("[[expiry]]\nage_day = 5\n", "Did you mean age_days?"),
        ("expiry = 5\n", "it has to be an array of tables"),
        ("expiry = [5]\n", "it has to be an array of tables"),
    ):
        Path("memoranda.toml").write_text(text)
        code, message = refused("sweep")
        assert code == 9
        assert says in message
