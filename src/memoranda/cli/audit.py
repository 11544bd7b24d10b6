"""``memoranda audit``: what was done and refused, and whether somebody meddled with the record."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from memoranda.cli.shared.anchors import add_anchor, read_anchors
from memoranda.cli.shared.json_shapes import entry_shape
from memoranda.cli.shared.options import AsJson, StoreUrl, UserName
from memoranda.cli.shared.output import counted, note, print_json, print_json_line, say, table
from memoranda.cli.shared.place import find_place
from memoranda.cli.shared.progress import progress
from memoranda.cli.shared.when import shown_time
from memoranda.errors import Corrupt
from memoranda.text.size import format_size

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from memoranda.memory import Memory
    from memoranda.stores.base import AuditEntry

_PAGE: Final = 1000
_SECONDS: Final = 1.0


def audit(
    limit: Annotated[
        int, typer.Option("--limit", "-n", min=1, help="At most so many entries, the newest.")
    ] = 50,
    all_of_them: Annotated[bool, typer.Option("--all", help="All entries.")] = False,
    follow: Annotated[
        bool, typer.Option("--follow", "-f", help="Go on with what is done from now on.")
    ] = False,
    verify: Annotated[
        bool, typer.Option("--verify", help="Check that none is missing, changed or moved.")
    ] = False,
    anchor: Annotated[
        str | None,
        typer.Option(
            "--anchor",
            metavar="FILE",
            help="Check against the heads in this file, then add the present one.",
        ),
    ] = None,
    store: StoreUrl = None,
    user: UserName = None,
    as_json: AsJson = False,
) -> None:
    """Show or check the audit.

    Who did what, where, with which outcome; views and refusals too, contents never. Oldest first.
    Each line: when, by whom, command, outcome, marks of text that instructs the agent, size, path.
    With --json one JSON value a line. --verify and --anchor end with 8 if anything is wrong.

    Example: memoranda audit --user ada --verify --anchor /mnt/elsewhere/anchors
    """
    with find_place(store, user, quiet=as_json).open() as memory:
        if verify or anchor is not None:
            _verify(memory, anchor, as_json=as_json)
            return
        show = _show_lines if as_json else _show_table
        after = _show_all(memory, show) if all_of_them else _show_newest(memory, limit, show)
        if follow:
            keep_following(memory, after, show)


def _show_newest(memory: Memory, limit: int, show: Callable[[Sequence[AuditEntry]], None]) -> int:
    entries = memory.audit(limit=limit)
    show(entries)
    return entries[-1].seq if entries else 0


def _show_all(memory: Memory, show: Callable[[Sequence[AuditEntry]], None]) -> int:
    after = 0
    for entries in _pages(memory, after):
        show(entries)
        after = entries[-1].seq
    return after


def _pages(memory: Memory, after: int) -> Iterator[Sequence[AuditEntry]]:
    while entries := memory.audit(after=after, limit=_PAGE):
        yield entries
        after = entries[-1].seq


def keep_following(
    memory: Memory,
    after: int,
    show: Callable[[Sequence[AuditEntry]], None],
    pause: Callable[[float], object] = time.sleep,
) -> None:
    """Show what comes after entry ``after`` until somebody interrupts."""
    try:
        while True:
            for entries in _pages(memory, after):
                show(entries)
                after = entries[-1].seq
            pause(_SECONDS)
    except KeyboardInterrupt:
        pass


def _show_lines(entries: Sequence[AuditEntry]) -> None:
    for entry in entries:
        print_json_line(entry_shape(entry))


def _show_table(entries: Sequence[AuditEntry]) -> None:
    if entries:
        table([_cells(entry) for entry in entries])
    else:
        note("There are no entries yet.")


def _cells(entry: AuditEntry) -> list[str]:
    from memoranda.stores.audit import FLAGS

    where = "(blanked)" if entry.path is None and entry.is_blanked else entry.path or ""
    if entry.before is not None:
        where = f"{entry.before} -> {where}"
    size = "-" if entry.size_bytes is None else format_size(entry.size_bytes)
    marks = sorted({mark for each in entry.details.get(FLAGS, {}).values() for mark in each})
    return [
        shown_time(entry.at),
        entry.actor,
        entry.command or "-",
        entry.outcome,
        ",".join(marks) or "-",
        size,
        where,
    ]


def _verify(memory: Memory, anchor: str | None, *, as_json: bool) -> None:
    anchors = [] if anchor is None else read_anchors(anchor)
    with progress("Checking"):
        report = memory.verify_audit(anchors=anchors)
    mine = sum(each.store_id == report.head.store_id for each in anchors)
    if anchor is not None and report.ok and report.head.seq:
        add_anchor(anchor, report.head)
    if as_json:
        shape: dict[str, Any] = {
            "ok": report.ok,
            "entries": report.entries,
            "anchors": mine,
            "head": {
                "store": report.head.store_id,
                "seq": report.head.seq,
                "chain": report.head.chain,
            },
            "problems": [
                {"code": each.code, "message": each.message, "remedy": each.remedy}
                for each in report.problems
            ],
        }
        print_json(shape)
    else:
        checked = f"Checked {counted(report.entries, 'entry', 'entries')}"
        if anchor is not None:
            checked += f" and {counted(mine, 'anchor', 'anchors')}"
        say(f"{checked}: all is well." if report.ok else f"{checked}. Something is wrong:")
        for each in report.problems:
            say(f"  {each.code}  {each.message}")
            say(f"    {each.remedy}")
    if not report.ok:
        raise typer.Exit(Corrupt.exit_code)
