"""``memoranda verify``: everything checked against everything."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

import typer

from memoranda.cli.shared.options import AsJson, StoreUrl, UserName
from memoranda.cli.shared.output import counted, print_json, say
from memoranda.cli.shared.place import find_place
from memoranda.cli.shared.progress import progress
from memoranda.errors import Corrupt

if TYPE_CHECKING:
    from memoranda.stores.base import Problem


Repair: TypeAlias = Annotated[
    bool,
    typer.Option(
        "--repair",
        help="Mend what can be mended: set a damaged database aside, keep what is whole.",
    ),
]


def verify(
    store: StoreUrl = None, user: UserName = None, repair: Repair = False, as_json: AsJson = False
) -> None:
    """Check everything that is kept.

    Files, history, hashes and counters, against each other; reads them all.
    Ends with 8 if anything is wrong, and says what to do about it.

    Example: memoranda verify --user ada
    """
    with find_place(store, user, quiet=as_json).open() as memory, progress("Checking"):
        report = memory.repair() if repair else memory.verify()
    if as_json:
        print_json(
            {
                "ok": report.ok,
                "files": report.files,
                "versions": report.versions,
                "problems": [_shape(problem) for problem in report.problems],
                "notes": [_shape(problem) for problem in report.notes],
            }
        )
    else:
        memories = counted(report.files, "memory", "memories")
        checked = f"Checked {memories} and {counted(report.versions, 'version', 'versions')}"
        say(f"{checked}: all is well." if report.ok else f"{checked}. Something is wrong:")
        _say(report.problems)
        if report.notes:
            say("Harmless, but worth knowing:")
            _say(report.notes)
    if not report.ok:
        raise typer.Exit(Corrupt.exit_code)


def _say(problems: Sequence[Problem]) -> None:
    for problem in problems:
        where = "" if problem.path is None else f"{problem.path}: "
        say(f"  {problem.code}  {where}{problem.message}")
        say(f"    {problem.remedy}")


def _shape(problem: Problem) -> dict[str, Any]:
    path = None if problem.path is None else str(problem.path)
    return {**problem._asdict(), "path": path}
