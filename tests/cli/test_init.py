"""``memoranda init``."""

from __future__ import annotations

from tests.cli.command_line import create, done, json_of, refused


def test_the_templates_are_listed() -> None:
    assert [line.split()[0] for line in done("init").splitlines()[:4]] == [
        "coding-agent",
        "support",
        "assistant",
        "research",
    ]
    assert json_of("init")["templates"][0]["name"] == "coding-agent"


def test_a_memory_begins_with_a_layout_and_says_what_to_tell_the_agent() -> None:
    create("/memories/progress.md", "mine")
    shown = done("init", "--template", "coding-agent")
    assert "written  /memories/features.md" in shown
    assert "kept     /memories/progress.md" in shown
    assert "Put this into the system prompt" in shown
    assert "- /memories/start-up.md says" in shown
    again = json_of("init", "--template", "coding-agent")
    assert (again["written"], len(again["kept"])) == ([], 3)


def test_an_unknown_template_is_refused() -> None:
    _, said = refused("init", "--template", "other")
    assert "there are coding-agent" in said
