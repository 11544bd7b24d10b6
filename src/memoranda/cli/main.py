"""The program ``memoranda``: which commands there are."""

from __future__ import annotations

import typer

from memoranda.cli.demo import demo

app = typer.Typer(name="memoranda", no_args_is_help=True, add_completion=True)
app.command()(demo)


@app.callback()
def memoranda() -> None:
    """Memoranda keeps an AI agent's memory: exact, safe, durable."""


def main() -> None:
    """Run the command line; never returns."""
    app()
