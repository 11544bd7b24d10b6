"""``memoranda proposals``: writes that wait for a person."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

import typer

from memoranda.cli.shared.confirm import confirm
from memoranda.cli.shared.json_shapes import content_shape, versions_shape
from memoranda.cli.shared.options import AsJson, DryRun, StoreUrl, UserName, Yes
from memoranda.cli.shared.output import counted, note, print_json, say, show, table
from memoranda.cli.shared.place import find_place
from memoranda.cli.shared.version_lines import print_changes
from memoranda.cli.shared.when import json_time, shown_time, time_of_ns
from memoranda.text.size import format_size

if TYPE_CHECKING:
    from collections.abc import Sequence

    from memoranda.policies.proposal import Proposal, ProposedChange

ProposalId: TypeAlias = Annotated[
    str, typer.Argument(metavar="PROPOSAL", help="A proposal's id: prop_...")
]


def proposals_list(store: StoreUrl = None, user: UserName = None, as_json: AsJson = False) -> None:
    """List the writes that wait.

    Each line: since when, whether it can be approved, who, with which command, its id, where.

    Example: memoranda proposals list
    """
    with find_place(store, user, quiet=as_json).open() as memory:
        proposals = memory.proposals()
    if as_json:
        print_json({"proposals": [_shape(proposal) for proposal in proposals]})
    elif proposals:
        _print(proposals)
    else:
        note("Nothing waits.")


def proposals_show(
    proposal_id: ProposalId,
    store: StoreUrl = None,
    user: UserName = None,
    as_json: AsJson = False,
) -> None:
    """Show what a proposal would change.

    As a diff against what it was made from; also of one that can't be approved any more.

    Example: memoranda proposals show prop_0199c1f3a2b45d0c7e8f9a1b2c3d
    """
    with find_place(store, user, quiet=as_json).open() as memory:
        proposal = memory.proposal(proposal_id)
        changes = memory.proposal_diff(proposal_id)
    if as_json:
        contents = [{**_change(one), **content_shape(one.content)} for one in proposal.changes]
        print_json({**_shape(proposal), "changes": contents, "diff": changes})
        return
    _print([proposal])
    for path, marks in proposal.flags.items():
        note(f"Marked: {path}: {', '.join(marks)}")
    show(changes)


def proposals_approve(
    proposal_id: ProposalId,
    yes: Yes = False,
    store: StoreUrl = None,
    user: UserName = None,
    as_json: AsJson = False,
) -> None:
    """Do what a proposal says.

    Shows it and asks first. History has it as yours, the audit says who proposed it.

    Example: memoranda proposals approve prop_0199c1f3a2b45d0c7e8f9a1b2c3d
    """
    with find_place(store, user, quiet=as_json).open() as memory:
        if not yes:
            show(memory.proposal_diff(proposal_id))
        confirm(f"Approve {proposal_id}?", yes=yes)
        versions = memory.approve(proposal_id)
    if as_json:
        print_json({"id": proposal_id, **versions_shape(versions)})
        return
    say("Approved:")
    print_changes(versions)


def proposals_reject(
    proposal_id: ProposalId,
    reason: Annotated[str, typer.Option("--reason", help="Why; it is kept in the audit.")] = "",
    yes: Yes = False,
    store: StoreUrl = None,
    user: UserName = None,
    as_json: AsJson = False,
) -> None:
    """Take a proposal away.

    For good: its text does not stay.

    Example: memoranda proposals reject prop_0199c1f3a2b45d0c7e8f9a1b2c3d --reason "wrong customer"
    """
    with find_place(store, user, quiet=as_json).open() as memory:
        confirm(f"Reject {proposal_id} for good?", yes=yes)
        proposal = memory.reject(proposal_id, reason=reason)
    if as_json:
        print_json(_shape(proposal))
    else:
        say(f"Rejected: {proposal.path}")


def proposals_expire(
    dry_run: DryRun = False,
    store: StoreUrl = None,
    user: UserName = None,
    as_json: AsJson = False,
) -> None:
    """Take away the proposals whose time is over.

    Nobody decided about them for as long as [[approval]] in memoranda.toml says. What a hold covers
    stays.

    Example: memoranda proposals expire --dry-run
    """
    with find_place(store, user, quiet=as_json).open() as memory:
        proposals = memory.expire_proposals(dry_run=dry_run)
    if as_json:
        print_json({"dry_run": dry_run, "proposals": [_shape(one) for one in proposals]})
        return
    for proposal in proposals:
        say(f"  {proposal.id}  {proposal.path}")
    them = counted(len(proposals), "proposal", "proposals")
    say(f"Would remove {them}." if dry_run else f"Removed {them}.")


def _print(proposals: Sequence[Proposal]) -> None:
    table(
        [
            [
                shown_time(time_of_ns(one.at_ns)),
                one.state,
                one.actor,
                one.command or "-",
                one.id,
                _size(one),
                str(one.path) + (" (marked)" if one.flags else ""),
            ]
            for one in proposals
        ]
    )


def _size(proposal: Proposal) -> str:
    sizes = [one.size_bytes for one in proposal.changes if one.size_bytes is not None]
    return format_size(sum(sizes)) if sizes else "-"


def _shape(proposal: Proposal) -> dict[str, Any]:
    return {
        "id": proposal.id,
        "path": str(proposal.path),
        "state": proposal.state,
        "actor": proposal.actor,
        "command": proposal.command,
        "trace_id": proposal.trace_id,
        "at": json_time(time_of_ns(proposal.at_ns)),
        "expires_at": json_time(time_of_ns(proposal.expires_ns)),
        "flags": {path: list(marks) for path, marks in proposal.flags.items()},
        "changes": [_change(change) for change in proposal.changes],
    }


def _change(change: ProposedChange) -> dict[str, Any]:
    return {
        "operation": change.operation,
        "path": str(change.path),
        "target": None if change.target is None else str(change.target),
        "made_from": change.base,
        "size_bytes": change.size_bytes,
        "sha256": change.sha256,
    }
