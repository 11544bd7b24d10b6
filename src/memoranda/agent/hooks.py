"""What an application may look at while the loop runs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

from memoranda.agent.outcome import Block


def _nothing(*_: object) -> None:
    return None


Hook: TypeAlias = Callable[..., None]


@dataclass(frozen=True, slots=True)
class Hooks:
    """Functions that the loop calls; each returns nothing, and what one raises ends the run.

    They run between the steps of the loop, in its thread or event loop: keep them short. The
    transcript stays one that can be sent, whatever they raise.
    """

    on_request: Callable[[dict[str, Any]], None] = _nothing
    """Gets the parameters of a request before it is sent; a change to them is sent too."""
    on_text: Callable[[str], None] = _nothing
    """Gets each piece of text as it arrives, where the agent streams."""
    on_restart: Callable[[], None] = _nothing
    """A stream broke off and is asked for again: what ``on_text`` got of this reply is void."""
    on_message: Callable[[Any], None] = _nothing
    """Gets each whole reply, an object of the SDK."""
    on_call: Callable[[Block], None] = _nothing
    """Gets a ``tool_use`` block before it is done."""
    on_result: Callable[[Block, Block], None] = _nothing
    """Gets a ``tool_use`` block and the ``tool_result`` that answers it."""
