"""``memoranda redaction-report``."""

from __future__ import annotations

from tests.cli.command_line import json_of, run


def test_the_figures_reach_their_goals() -> None:
    figures = json_of("redaction-report")
    assert figures["recall"] >= 0.95
    assert figures["precision"] >= 0.98
    assert figures["credentials"]["of"] >= 40 * 5
    assert figures["look_alikes"]["texts"] >= 80 * 5
    assert figures["documentation"]["characters"] > 0


def test_people_get_a_table_and_what_was_missed() -> None:
    result = run("redaction-report")
    assert result.exit_code == 0
    lines = [line.split("  ")[0] for line in result.stdout.splitlines()]
    assert lines[0] == "credentials, known formats"
    assert lines[-2:] == ["recall", "precision"]
    assert "Missed: " in result.stderr
