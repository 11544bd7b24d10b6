"""``memoranda copy``: stores from one backend into another, with their history."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from memoranda.cli.shared.both_ends import both_ends
from memoranda.cli.shared.options import AsJson, DryRun, UserOrAll, Workspace
from memoranda.cli.shared.output import NO_STORES, counted, note, print_json, say
from memoranda.cli.shared.place import acting
from memoranda.cli.shared.progress import progress

if TYPE_CHECKING:
    from collections.abc import Callable

    from memoranda.cli.shared.both_ends import BothEnds
    from memoranda.operations.copying.copying import Copied
    from memoranda.stores.base import StoreInfo


def copy(
    source: Annotated[str, typer.Argument(metavar="FROM", help="Where from: a folder or a URL.")],
    target: Annotated[str, typer.Argument(metavar="TO", help="Where to: a folder or a URL.")],
    heads_only: Annotated[
        bool, typer.Option("--heads-only", help="Only what is there now, without the history.")
    ] = False,
    into_existing: Annotated[
        bool,
        typer.Option(
            "--into-existing",
            help="With --heads-only: beside other memories, where no path is taken by another content.",
        ),
    ] = False,
    workspace: Workspace = None,
    dry_run: DryRun = False,
    user: UserOrAll = None,
    as_json: AsJson = False,
) -> None:
    """Copy memories, history and all, into another store.

    One user's (--user, also the id of a store), or all there are. Interrupted at any moment, the same command goes on where it was;
    later it brings what is new. In the end every version and every memory is compared by its hash. Never mixes into a store that holds anything else.

    Example: memoranda copy ./memory sqlite:///memory.db
    """
    from memoranda.operations.copying.stores import stores_of

    if into_existing and not heads_only:
        raise typer.BadParameter(
            "--into-existing goes with --heads-only: a history can't be mixed."
        )
    with both_ends(source, target) as ends:
        infos = ends.drive(stores_of(ends.source.backend, user, workspace))
        if not infos:
            note(NO_STORES)
        work = _work(ends, heads_only=heads_only, into_existing=into_existing, dry_run=dry_run)
        with progress("Copying") as tell:
            copies: list[Copied] = []
            for number, info in enumerate(infos, 1):
                copies.append(work(info, tell if len(infos) == 1 else None))
                if tell is not None and len(infos) > 1:
                    tell(number, len(infos))
    what = ("memory", "memories") if heads_only else ("version", "versions")
    if as_json:
        print_json({"dry_run": dry_run, "stores": [each._asdict() for each in copies]})
    else:
        _say(copies, what, dry_run=dry_run)


def _work(
    ends: BothEnds, *, heads_only: bool, into_existing: bool, dry_run: bool
) -> Callable[[StoreInfo, Callable[[int, int], None] | None], Copied]:
    from memoranda.operations.copying.copying import copy_store
    from memoranda.operations.copying.heads import copy_heads

    source, target, actor = ends.source.backend, ends.target.backend, acting()

    def work(info: StoreInfo, tell: Callable[[int, int], None] | None) -> Copied:
        if heads_only:
            return ends.drive(
                copy_heads(
                    source,
                    info,
                    target,
                    actor,
                    into_existing=into_existing,
                    dry_run=dry_run,
                    progress=tell,
                )
            )
        return ends.drive(copy_store(source, info, target, actor, dry_run=dry_run, progress=tell))

    return work


def _say(copies: list[Copied], what: tuple[str, str], *, dry_run: bool) -> None:
    for each in copies:
        if 0 < each.before < each.versions:
            verb = "would go on" if dry_run else "went on"
            name = each.user or each.store_id
            say(f"{name}: {verb} after {each.before:,} of {counted(each.versions, *what)}.")
        if each.left_out:
            say(
                f"{each.user or each.store_id}: left out "
                f"{counted(each.left_out, 'late version', 'late versions')}, which never was a head."
            )
    verb = "Would copy" if dry_run else "Copied and compared"
    total = sum(each.versions for each in copies)
    say(f"{verb} {counted(len(copies), 'store', 'stores')}, {counted(total, *what)}.")
