"""``memoranda serve``."""

from __future__ import annotations

from typing import Annotated

import typer

from memoranda.cli.shared.options import StoreUrl
from memoranda.cli.shared.output import note
from memoranda.errors import Misuse


def serve(
    host: Annotated[
        str | None, typer.Option("--host", metavar="HOST", help="Where to listen; else 127.0.0.1.")
    ] = None,
    port: Annotated[
        int | None, typer.Option("--port", metavar="PORT", help="Else 8080; 0 takes a free one.")
    ] = None,
    store: StoreUrl = None,
) -> None:
    """Serve memories over HTTP.

    The Memory Stores API, which the official SDKs speak, and an endpoint for tool_use blocks.
    Runs until it is interrupted; then requests in flight are done and nothing is lost. Who calls
    needs a key: memoranda keys create. More settings stand in memoranda.toml under [server].

    Example: memoranda serve --port 8080
    """
    from memoranda.cli.shared.place import DEFAULT_STORE
    from memoranda.config import load_settings

    try:
        from memoranda.server.run import serve as run
        from memoranda.server.settings import server_settings
    except ImportError as error:
        raise Misuse(
            f'The server needs the extra "server": pip install "memoranda[server]" ({error.name} '
            "is missing)."
        ) from None
    settings = load_settings()
    url = store or settings.store or DEFAULT_STORE
    run(
        url,
        settings,
        server_settings(settings.server, host=host, port=port),
        lambda address: note(f"Serving on {address}"),
    )
