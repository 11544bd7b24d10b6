"""Message threads of the scripted API: what the server keeps under the id of each reply."""

from __future__ import annotations

import threading
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from memoranda.testing.messages_failures import (
    Block,
    RefusedRequest,
    invalid_request,
    not_found,
    refuse,
)

CREATE_ONLY_FIELDS = ("system", "tools")
"""The server takes these from the thread and refuses them when a request continues one."""


@dataclass(slots=True)
class Turn:
    """One request's place in a thread.

    ``history`` is what the server already holds, ``fields`` the system prompt and the tools that
    the thread was created with. ``kept`` is whether the reply is to be kept.
    """

    kept: bool
    history: tuple[Block, ...] = ()
    fields: dict[str, Any] = field(default_factory=dict[str, Any])
    reply: tuple[str, tuple[Block, ...]] | None = None

    def keep(self, message_id: str, conversation: tuple[Block, ...]) -> None:
        """Keep ``conversation``, which ends with the reply ``message_id``, once the turn ends."""
        self.reply = (message_id, conversation)


class Threads:
    """Conversations by the id of their last reply; each reply is continued at most once."""

    def __init__(self) -> None:
        # Guards all three; never held while a turn is made.
        self._lock = threading.Lock()
        self._kept: dict[str, tuple[tuple[Block, ...], dict[str, Any]]] = {}
        self._continued: set[str] = set()
        self._in_flight: set[str] = set()

    @contextmanager
    def turn(self, body: Block) -> Generator[Turn]:
        """The place of a request with this body, claimed until the turn ends.

        What was given to ``Turn.keep`` is kept then, unless the turn failed. Raises
        ``RefusedRequest`` as the API would: for an unknown id, one that was continued before, one
        that another request is just continuing, and for fields that a continued thread has already.
        """
        thread = body.get("thread")
        if thread is None:
            yield Turn(kept=False)
        elif thread["type"] == "create":
            turn = Turn(kept=True, fields={name: body.get(name) for name in CREATE_ONLY_FIELDS})
            yield turn
            self._keep(turn)
        else:
            previous = thread["previous_message_id"]
            turn = self._claim(previous, body)
            try:
                yield turn
                self._keep(turn, continues=previous)
            finally:
                with self._lock:
                    self._in_flight.discard(previous)

    def _claim(self, previous: str, body: Block) -> Turn:
        for name in CREATE_ONLY_FIELDS:
            if body.get(name) is not None:
                raise refuse(name, "A thread keeps the one that it was created with.")
        with self._lock:
            if previous not in self._kept:
                raise RefusedRequest(
                    not_found(
                        "thread.previous_message_id: no thread is kept under this id.",
                        {"error_code": "thread_not_found"},
                    )
                )
            if previous in self._continued:
                raise _conflict("thread_already_continued", "was continued before")
            if previous in self._in_flight:
                raise _conflict("thread_continue_in_flight", "is being continued")
            self._in_flight.add(previous)
            history, fields = self._kept[previous]
            return Turn(kept=True, history=history, fields=fields)

    def _keep(self, turn: Turn, continues: str | None = None) -> None:
        if turn.reply is None:
            return
        message_id, conversation = turn.reply
        with self._lock:
            self._kept[message_id] = (conversation, turn.fields)
            if continues is not None:
                self._continued.add(continues)


def _conflict(code: str, what: str) -> RefusedRequest:
    return RefusedRequest(
        invalid_request(f"thread.previous_message_id: this reply {what}.", {"error_code": code})
    )
