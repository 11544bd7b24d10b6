"""``memoranda show``: one version with its content."""

from __future__ import annotations

from typing import Annotated

import typer

from memoranda.cli.shared.json_shapes import content_shape, version_shape
from memoranda.cli.shared.options import AsJson, StoreUrl, UserName
from memoranda.cli.shared.output import print_json, say, show, table
from memoranda.cli.shared.place import find_place
from memoranda.cli.shared.when import shown_time, time_of_ns
from memoranda.errors import ContentGone


def show_version(
    version_id: Annotated[
        str, typer.Argument(metavar="VERSION", help="A version's id: memver_...")
    ],
    raw: Annotated[bool, typer.Option("--raw", help="The exact content and nothing else.")] = False,
    store: StoreUrl = None,
    user: UserName = None,
    as_json: AsJson = False,
) -> None:
    """Show a version and its content.

    Example: memoranda show memver_0123456789abcdefghijklmn
    """
    with find_place(store, user, quiet=as_json).open() as memory:
        version = memory.version(version_id)
    content = version.content
    if as_json:
        print_json({**version_shape(version), **content_shape(content)})
        return
    if raw:
        if content is None and version.redacted_at_ns is not None:
            raise ContentGone
        show(content or b"")
        return
    rows = [
        ["version", version.id],
        ["memory", version.memory_id],
        ["path", "(redacted)" if version.path is None else str(version.path)],
        ["what", f"{version.operation}, by {version.command or 'hand'}"],
        ["who", version.actor],
        ["when", shown_time(version.created_at)],
    ]
    if version.redacted_at_ns is not None:
        when = shown_time(time_of_ns(version.redacted_at_ns))
        rows.append(["redacted", f"{when} by {version.redacted_by}"])
    table(rows)
    if content is not None:
        say()
        show(content if content.endswith(b"\n") else content + b"\n")
