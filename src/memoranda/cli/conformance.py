"""``memoranda conformance``: what any handler of Claude's memory tool keeps of the contract."""

from __future__ import annotations

from typing import Annotated

import typer

from memoranda.cli.shared.options import AsJson
from memoranda.cli.shared.output import note, print_json, show

BROKEN = 1
"""The exit code where a requirement is broken."""


def conformance(
    factory: Annotated[
        str,
        typer.Argument(
            metavar="MODULE:FACTORY",
            help="What makes a handler: it is called with an empty folder and gives a callable "
            "that takes the tool's input and gives (content, is_error).",
        ),
    ],
    sections: Annotated[
        list[str] | None,
        typer.Option("--section", metavar="NAME", help="Only this part; may be given repeatedly."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Test any handler of the memory tool.

    Every requirement of the tool's contract is tried. Ends with 1 if a requirement is broken. The handler is sent hostile paths: run one that you
    don't trust in a container.

    Example: memoranda conformance memoranda.testing.tool_suite:anthropic_sdk
    """
    from memoranda.testing.tool_suite import find_factory, run_conformance

    report = run_conformance(
        find_factory(factory),
        name=factory,
        sections=sections,
        on_section=lambda section: note(f"Trying {section} ..."),
    )
    if as_json:
        print_json(report.as_json())
    else:
        show(report.render())
    if not report.ok:
        raise typer.Exit(BROKEN)
