"""What goes wrong between here and the server, in our words.

No text of the server's travels on: it is a stranger's, and an agent may read ours.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping
from contextlib import contextmanager
from typing import Any, Final, TypeVar, cast

from anthropic import (
    AnthropicError,
    APIConnectionError,
    APIStatusError,
)

from memoranda.errors import Unavailable
from memoranda.stores.patience import Again, Lost

T = TypeVar("T")

_NEVER_SENT: Final = frozenset({"ConnectError", "ConnectTimeout", "PoolTimeout"})
"""What the SDK's HTTP client, whichever it is, calls a connection that never came about."""

_UNREADABLE: Final = "The memory server's answer can't be read."


class Declined(Unavailable):
    """The server understood a request and did not do it: nothing changed.

    What is not turned into an error of the contract shows as storage that can't answer.
    """

    def __init__(self, status: int, kind: str, path: str, memory_id: str) -> None:
        super().__init__(f"The memory server declined the request (status {status}).")
        self.status = status
        self.kind = kind
        self.conflicting_path = path
        self.conflicting_id = memory_id


class Refusing(Unavailable):
    """The server accepts no request of ours: the key is wrong, or what it is for is not paid."""


@contextmanager
def translated() -> Generator[None]:
    """Around a request: ``Lost`` where it may have been done, ``Again`` where it was not and may be
    sent again, ``Declined``, ``Refusing``."""
    try:
        yield
    except APIStatusError as error:
        raise _of_status(error) from error
    except APIConnectionError as error:
        if type(error.__cause__).__name__ in _NEVER_SENT:
            raise Again("The memory server can't be reached.") from error
        raise Lost("The connection to the memory server broke, or it took too long.") from error
    except (AnthropicError, AttributeError, TypeError, ValueError) as error:
        # The SDK takes an answer apart that is of another kind than it thinks.
        raise Lost(_UNREADABLE) from error


def unreadable() -> Lost:
    """An answer that is none."""
    return Lost(_UNREADABLE)


def items_of(data: list[T] | None) -> list[T]:
    """What a page holds: the SDK passes on whatever the server said. Raises ``Lost`` for no list."""
    if data is not None and type(data) is not list:
        raise unreadable()
    return data or []


def _of_status(error: APIStatusError) -> Unavailable:
    status = error.status_code
    if status == 429:
        return Again("The memory server has had too many requests.", _retry_after(error))
    if status == 408 or status >= 500:
        return Lost("The memory server can't answer now.")
    if status == 401:
        return Refusing("The memory server does not know this key.")
    if status == 402:
        return Refusing("The memory server's account can't be used.")
    if status < 400:  # a redirection, which is not followed: the key would go along
        return Refusing("The memory server is somewhere else.")
    body = _mapping(_mapping(error.body).get("error"))
    return Declined(
        status,
        str(body.get("type", "")),
        str(body.get("conflicting_path", "")),
        str(body.get("conflicting_memory_id", "")),
    )


def _retry_after(error: APIStatusError) -> float:
    try:
        return max(0.0, float(error.response.headers.get("retry-after", "0")))
    except ValueError:
        return 0.0


def _mapping(value: object) -> Mapping[str, Any]:
    return cast("Mapping[str, Any]", value) if isinstance(value, dict) else {}
