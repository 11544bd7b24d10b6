"""The program ``memoranda``: which commands there are, and what holds for all of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Final

import typer

from memoranda.cli.audit import audit
from memoranda.cli.backup import backup
from memoranda.cli.chat import chat
from memoranda.cli.conformance import conformance
from memoranda.cli.consolidate import consolidate
from memoranda.cli.copy import copy
from memoranda.cli.create import create
from memoranda.cli.delete import delete
from memoranda.cli.demo import demo
from memoranda.cli.diff import diff
from memoranda.cli.doctor import doctor
from memoranda.cli.edit import edit
from memoranda.cli.erase import erase
from memoranda.cli.export import export
from memoranda.cli.history import history
from memoranda.cli.hold import hold_add, hold_lift, hold_list
from memoranda.cli.import_folder import import_folder
from memoranda.cli.init import init
from memoranda.cli.insert import insert
from memoranda.cli.keys import keys_create, keys_list, keys_revoke, keys_rotate
from memoranda.cli.mcp import mcp
from memoranda.cli.policy_show import policy_show
from memoranda.cli.proposals import (
    proposals_approve,
    proposals_expire,
    proposals_list,
    proposals_reject,
    proposals_show,
)
from memoranda.cli.redact import redact
from memoranda.cli.redaction_report import redaction_report
from memoranda.cli.rename import rename
from memoranda.cli.replace import replace
from memoranda.cli.report import report
from memoranda.cli.restore import restore
from memoranda.cli.restore_backup import restore_backup
from memoranda.cli.rotate_key import rotate_key
from memoranda.cli.search import search
from memoranda.cli.serve import serve
from memoranda.cli.shared.edge import DEBUG_WANTED, Edge
from memoranda.cli.shared.options import StoreUrl, UserName
from memoranda.cli.shared.output import say
from memoranda.cli.show import show_version
from memoranda.cli.status import status
from memoranda.cli.sweep import sweep
from memoranda.cli.undo import undo
from memoranda.cli.usage import usage
from memoranda.cli.users import users
from memoranda.cli.verify import verify
from memoranda.cli.view import view

COMMANDS: Final[dict[str, Callable[..., None]]] = {
    "demo": demo,
    "chat": chat,
    "mcp": mcp,
    "view": view,
    "create": create,
    "replace": replace,
    "insert": insert,
    "delete": delete,
    "rename": rename,
    "edit": edit,
    "search": search,
    "history": history,
    "show": show_version,
    "diff": diff,
    "undo": undo,
    "restore": restore,
    "usage": usage,
    "users": users,
    "init": init,
    "status": status,
    "consolidate": consolidate,
    "report": report,
    "export": export,
    "import": import_folder,
    "copy": copy,
    "backup": backup,
    "restore-backup": restore_backup,
    "verify": verify,
    "doctor": doctor,
    "audit": audit,
    "sweep": sweep,
    "redact": redact,
    "erase": erase,
    "rotate-key": rotate_key,
    "serve": serve,
    "conformance": conformance,
    "redaction-report": redaction_report,
}
"""The commands in the order of the help: first what is used first."""

GROUPS: Final[dict[str, tuple[str, dict[str, Callable[..., None]]]]] = {
    "hold": (
        "Keep paths from expiry, retention and erasure.",
        {"add": hold_add, "list": hold_list, "lift": hold_lift},
    ),
    "proposals": (
        "Writes that wait for a person.",
        {
            "list": proposals_list,
            "show": proposals_show,
            "approve": proposals_approve,
            "reject": proposals_reject,
            "expire": proposals_expire,
        },
    ),
    "keys": (
        "Who may call the server.",
        {
            "create": keys_create,
            "list": keys_list,
            "revoke": keys_revoke,
            "rotate": keys_rotate,
        },
    ),
    "policy": ("The rules that hold for a memory.", {"show": policy_show}),
}
"""Commands of two words: the first one's help, and what follows it."""

# Plain help: rich takes longer to import than all the rest, and its boxes are noise in a pipe.
app = typer.Typer(
    name="memoranda",
    cls=Edge,
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
for name, function in COMMANDS.items():
    app.command(name)(function)
for name, (help_text, commands) in GROUPS.items():
    group = typer.Typer(no_args_is_help=True, rich_markup_mode=None, help=help_text)
    for second, function in commands.items():
        group.command(second)(function)
    app.add_typer(group, name=name)


def _print_version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import PackageNotFoundError, version

        try:
            say(f"memoranda {version('memoranda')}")
        except PackageNotFoundError:
            say("memoranda, run from its source")
        raise typer.Exit


@app.callback()
def memoranda(
    context: typer.Context,
    store: StoreUrl = None,
    user: UserName = None,
    debug: Annotated[
        bool, typer.Option("--debug", help="Show tracebacks and what the library logs.")
    ] = False,
    version: Annotated[
        bool,
        typer.Option(
            "--version", help="Print the version.", is_eager=True, callback=_print_version
        ),
    ] = False,
) -> None:
    """Memoranda keeps an AI agent's memory: exact, safe, durable.

    --store and --user may stand before or after the command.

    Example: memoranda demo
    """
    context.meta[DEBUG_WANTED] = debug
    _set_up_logging(debug)
    both = {"store": store, "user": user}
    given = {option: value for option, value in both.items() if value is not None}
    context.default_map = {
        **dict.fromkeys(COMMANDS, given),
        **{name: dict.fromkeys(commands, given) for name, (_, commands) in GROUPS.items()},
    }


def _set_up_logging(debug: bool) -> None:
    import logging

    if debug:
        logging.basicConfig(level=logging.DEBUG)
    else:
        # What fails is told as an error; without a handler Python prints the log line as well.
        logging.getLogger("memoranda").addHandler(logging.NullHandler())


def main() -> None:
    """Run the command line; never returns."""
    app()
