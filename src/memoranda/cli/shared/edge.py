"""The outermost edge: every error becomes a message that helps and an exit code."""

from __future__ import annotations

import json
import sys
from typing import Any, Final, NoReturn

import typer
from typer.core import TyperGroup
from typer.exceptions import TyperException

from memoranda.cli.shared.advice import advice_for, said_by
from memoranda.cli.shared.options import JSON_WANTED
from memoranda.cli.shared.output import harmless, note
from memoranda.errors import MemorandaError

DEBUG_WANTED: Final = "memoranda.debug"
"""Where a context's ``meta`` notes that tracebacks are wanted."""

UNEXPECTED: Final = 1
"""The exit code of what nobody foresaw."""


class Edge(TyperGroup):
    """The group of all commands. What they raise ends here; no traceback gets out unasked."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Read what stands before the command."""
        try:
            return super().parse_args(ctx, args)
        except TyperException as error:
            _mend(error)
            raise

    def invoke(self, ctx: Any) -> Any:
        """Run the command that was asked for."""
        try:
            return super().invoke(ctx)
        except MemorandaError as error:
            _end(ctx, error, error.code, said_by(error), advice_for(error), error.exit_code)
        except TyperException as error:
            _mend(error)
            raise
        except (typer.Exit, typer.Abort, BrokenPipeError):
            raise
        # The outermost edge: a person gets a sentence, and the traceback only when asked for.
        except Exception as error:  # noqa: BLE001
            _end(
                ctx,
                error,
                MemorandaError.code,
                "Something unexpected happened; this is a bug of Memoranda, or of the machine.",
                "memoranda --debug COMMAND shows where. Please report it.",
                UNEXPECTED,
            )


def _mend(error: TyperException) -> None:
    """Make what is said about a command line harmless, and more helpful."""
    # Names of files end up in these, by a wildcard for example.
    error.message = harmless(error.message)
    if error.message.startswith("No such option"):
        error.message += " (A text that begins with a dash comes after --.)"


def _end(
    ctx: typer.Context, error: Exception, code: str, message: str, advice: str, exit_code: int
) -> NoReturn:
    if ctx.meta.get(DEBUG_WANTED):
        import traceback

        traceback.print_exception(error)
    if ctx.meta.get(JSON_WANTED):
        shape = {"error": {"code": code, "message": message, "advice": advice}}
        sys.stderr.write(f"{json.dumps(shape, indent=2)}\n")
    else:
        note(f"Error: {message}")
        if advice:
            note(advice)
    raise typer.Exit(exit_code)
