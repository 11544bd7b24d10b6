"""``memoranda policy show``."""

from __future__ import annotations

from pathlib import Path

from tests.cli.command_line import done, json_of, refused


def test_each_value_is_shown_with_its_origin() -> None:
    Path("memoranda.toml").write_text(
        '[limits]\nfiles = 50\n[[rules]]\nuser = "trial-*"\n[rules.limits]\nfiles = 5\n'
    )
    rows = {
        line.split()[0]: line.split(maxsplit=2)[1:] for line in done("policy", "show").splitlines()
    }
    assert rows["limits.files"] == ["50", "memoranda.toml, [limits]"]
    assert rows["limits.file_bytes"] == ["262,144", "built in"]
    assert rows["limits.commands_per_minute"] == ["none", "built in"]
    assert rows["policy.read_only"] == ["false", "built in"]
    shown = json_of("--user", "trial-1", "policy", "show")
    assert shown["user"] == "trial-1"
    assert shown["settings"]["limits.files"] == {
        "value": 5,
        "origin": "memoranda.toml, [[rules]] number 1, [limits]",
    }


def test_a_setting_that_can_not_be_is_told() -> None:
    Path("memoranda.toml").write_text("[limits]\nfile = 5\n")
    code, message = refused("policy", "show")
    assert code == 9
    assert "Did you mean files?" in message


def test_the_url_of_a_mount_is_shown_without_what_may_be_secret_in_it() -> None:
    Path("memoranda.toml").write_text(
        "[[mounts]]\npath = '/memories/team'\nuser = 'team'\nurl = 'postgresql://u:pass@h/d'\n"
    )
    assert "pass" not in done("policy", "show")
    (mount,) = json_of("policy", "show")["settings"]["policy.mounts"]["value"]
    assert (mount["url"], mount["user"], "policy" in mount) == ("postgresql:...", "team", False)
