"""What the commands that speak with Claude share: the client, and what is said when it fails."""

from __future__ import annotations

import os
from typing import Annotated, Any, Final, TypeAlias

import typer

from memoranda.errors import Misuse

DEFAULT_MODEL: Final = "claude-sonnet-5-5"

Model: TypeAlias = Annotated[str, typer.Option("--model", metavar="NAME", help="Which Claude.")]
ApiUrl: TypeAlias = Annotated[
    str | None,
    typer.Option("--base-url", metavar="URL", help="A gateway to ask instead of the API."),
]


def anthropic_client(base_url: str | None) -> Any:
    """A client for the key of the environment; raises ``Misuse`` where there is none."""
    if not os.environ.get("ANTHROPIC_API_KEY"):
        raise Misuse(
            "There is no key: set ANTHROPIC_API_KEY to one of your Anthropic account, then try"
            " again. memoranda demo shows a conversation without one."
        )
    try:
        from anthropic import Anthropic
    except ImportError as error:
        raise Misuse("This needs the Anthropic SDK: install memoranda[anthropic].") from error
    return Anthropic(base_url=base_url)


def api_errors() -> type[Exception]:
    """The class of all errors of the SDK."""
    from anthropic import AnthropicError

    return AnthropicError


def why_it_failed(error: Exception) -> str:
    """What went wrong with the API, and what can be done about it."""
    from anthropic import (
        APIConnectionError,
        APIStatusError,
        AuthenticationError,
        NotFoundError,
        PermissionDeniedError,
        RateLimitError,
    )

    if isinstance(error, AuthenticationError):
        return "The key was refused: look at ANTHROPIC_API_KEY."
    if isinstance(error, PermissionDeniedError):
        return "The key may not do this."
    if isinstance(error, RateLimitError):
        return "Too many requests for this key just now; wait a little."
    if isinstance(error, NotFoundError):
        return "The API knows no such model: see --model."
    if isinstance(error, APIConnectionError):
        return "The API can't be reached: look at the network, or at --base-url."
    if isinstance(error, APIStatusError):
        return f"The API failed with status {error.status_code}."
    return "The API's answer can't be used."
