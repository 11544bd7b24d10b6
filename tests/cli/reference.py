"""Writes ``docs/reference/cli.md`` from the command line itself: ``python -m tests.cli.reference``."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from typer.testing import CliRunner

from memoranda.cli.main import COMMANDS, GROUPS, app
from memoranda.cli.shared.confirm import NotConfirmed
from memoranda.errors import MemorandaError
from tests.house.repository import ROOT

PAGE: Path = ROOT / "docs" / "reference" / "cli.md"

INTRODUCTION = """\
# The command line

Made from the program by `python -m tests.cli.reference`; a test sees that it is current. The guide is
[the command line](../guide/command-line.md); what `--json` prints is in [JSON of the command
line](cli-json.md).
"""


def page() -> str:
    """The whole page."""
    parts = [INTRODUCTION, _exit_codes(), "## memoranda\n", _help([])]
    for name in COMMANDS:
        parts += [f"## {name}\n", _help([name])]
    for name, (_, commands) in GROUPS.items():
        for second in commands:
            parts += [f"## {name} {second}\n", _help([name, second])]
    return "\n".join(parts)


def _help(arguments: list[str]) -> str:
    result = CliRunner().invoke(
        app, [*arguments, "--help"], prog_name="memoranda", env={"COLUMNS": "80"}
    )
    return f"```text\n{result.stdout}```\n"


def _exit_codes() -> str:
    kinds: dict[int, list[str]] = {}
    every: list[type[MemorandaError]] = [*_subclasses(MemorandaError), NotConfirmed]
    for kind in every:
        codes = kinds.setdefault(kind.exit_code, [])
        if kind.code not in codes:
            codes.append(kind.code)
    rows = [
        f"| {code} | {WHEN[code]} | {', '.join(f'`{each}`' for each in sorted(kinds[code]))} |"
        for code in sorted(kinds)
    ]
    return "\n".join(
        [
            "## Exit codes\n",
            "| code | when | `code` in JSON |",
            "|---|---|---|",
            "| 0 | it was done | |",
            f"| 1 | {WHEN[1]} | `error` |",
            *rows,
            "| 130 | it was interrupted | |",
            "",
        ]
    )


WHEN = {
    1: "nobody foresaw it; or who read the output went away; or `conformance` found a broken "
    "requirement",
    2: "it was refused as it was asked for; or the command line can't be understood; or `import` "
    "left something outside",
    3: "what it is about is not there",
    4: "something is in the way: a memory, or another writer's change",
    5: "a limit is reached",
    6: "it is read-only",
    7: "the storage can't be used now",
    8: "stored data is damaged; or `verify` found something wrong",
    9: "a setting, a URL or a name can't be",
    10: "it was not confirmed",
}
"""What each exit code means; one that an error has and this has not fails the test."""


def _subclasses(kind: type[MemorandaError]) -> Iterator[type[MemorandaError]]:
    for each in kind.__subclasses__():
        if each.__module__ == MemorandaError.__module__:
            yield each
            yield from _subclasses(each)


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
