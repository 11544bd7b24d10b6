"""``memoranda mcp``: the memory for a client of the Model Context Protocol, on standard input and
output."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from memoranda.cli.shared.options import StoreUrl, UserName
from memoranda.cli.shared.place import find_place
from memoranda.errors import Misuse

if TYPE_CHECKING:
    from memoranda.cli.shared.place import Place
    from memoranda.protocol import CommandName


def mcp(
    store: StoreUrl = None,
    user: UserName = None,
    only_view: Annotated[
        bool, typer.Option("--only-view", help="Offer the command view, and no other.")
    ] = False,
) -> None:
    """Serve a memory to an MCP client.

    The client, for example an editor, starts it and talks to it over standard input and output.
    It offers a tool with the six commands, every memory as a resource, and a prompt. It ends when
    the client goes.

    Example: memoranda mcp --store ./memory --user acme-corp
    """
    import asyncio

    from memoranda.opening import DEFAULT_ACTOR

    # What comes from the client's model is an agent's doing, whoever started the program.
    place = find_place(store, user, quiet=True)._replace(actor=DEFAULT_ACTOR)
    asyncio.run(_serve(place, ("view",) if only_view else None))


async def _serve(place: Place, commands: tuple[CommandName, ...] | None) -> None:
    try:
        from memoranda.adapters.mcp import memory_server, serve_stdio
    except ImportError as error:
        raise Misuse(str(error)) from error
    from memoranda.async_memory import AsyncMemory
    from memoranda.protocol import COMMANDS

    async with AsyncMemory.open(
        place.url,
        None if place.is_store else place.user,
        store_id=place.user if place.is_store else None,
        workspace=place.workspace,
        policy=place.policy,
        actor=place.actor,
    ) as memory:
        await serve_stdio(memory_server(memory, commands=commands or COMMANDS))
