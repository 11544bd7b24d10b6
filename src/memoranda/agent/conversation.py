"""A transcript that the Messages API takes at any moment: every call is answered once, in order."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, cast

from memoranda import reply
from memoranda.errors import Misuse
from memoranda.reply import ToolResult
from memoranda.tool_block import tool_result

if TYPE_CHECKING:
    from memoranda.agent.outcome import Block


class Conversation:
    """The messages of a conversation and the calls in it that nobody has answered yet.

    No I/O. ``messages`` may be those of an earlier conversation, as dicts or objects of the SDK.
    """

    def __init__(self, messages: Iterable[object] = ()) -> None:
        self._messages: list[Block] = []
        self._calls: dict[
            str, Block
        ] = {}  # of the last reply, in its order, until all are answered
        self._results: dict[str, Block] = {}
        for message in messages:
            fields = _fields(message)
            if fields.get("role") not in {"user", "assistant"} or not fields.get("content"):
                raise Misuse("A message has a role, user or assistant, and a content.")
            self._messages.append(fields)
        if self._messages and self._messages[-1]["role"] == "assistant":
            self._note_calls(self._messages[-1]["content"])

    @property
    def messages(self) -> list[Block]:
        """The messages as a request takes them. While calls are open the last one is the reply that
        made them; ``interrupt`` ends that."""
        return list(self._messages)

    @property
    def open_calls(self) -> tuple[Block, ...]:
        """The ``tool_use`` blocks of the last reply that are not answered, in their order."""
        return tuple(call for key, call in self._calls.items() if key not in self._results)

    @property
    def is_users_turn(self) -> bool:
        """Whether there is nothing that Claude could go on from."""
        return not self._messages

    def ask(self, content: str | Iterable[object]) -> None:
        """Add what the user says: a text or content blocks.

        Calls that are open are answered as interrupted, in the same message.
        """
        blocks = [{"type": "text", "text": content}] if isinstance(content, str) else None
        blocks = [_fields(block) for block in content] if blocks is None else blocks
        if not blocks or blocks == [{"type": "text", "text": ""}]:
            raise Misuse("What the user says can't be empty.")
        self.interrupt()
        if self._messages and self._messages[-1]["role"] == "user":
            last = self._messages[-1]
            before = last["content"]
            if isinstance(before, str):
                before = [{"type": "text", "text": before}]
            self._messages[-1] = {**last, "content": [*before, *blocks]}
        else:
            self._messages.append({"role": "user", "content": blocks})

    def add_reply(self, message: object, *, is_final: bool = True) -> None:
        """Add a reply of Claude's, an object of the SDK or a dict.

        Of one that is not final (it paused) the calls are left to the server. Empty texts, which
        the API says but doesn't take, are left out.
        """
        content = [_sendable(_fields(block)) for block in _content(message)]
        content = [block for block in content if block.get("text") != ""]
        if not content:
            return
        self._messages.append({"role": "assistant", "content": content})
        if is_final:
            self._note_calls(content)

    def answer(self, result: Mapping[str, Any]) -> None:
        """Answer an open call with a ``tool_result`` block.

        Once the last one is answered, all go into one message. Raises ``Misuse`` for a call that
        isn't open.
        """
        key = result.get("tool_use_id")
        if key not in self._calls or key in self._results:
            raise Misuse("This tool_result answers no call that is open.")
        self._results[key] = dict(result)
        if len(self._results) == len(self._calls):
            content = [self._results[call] for call in self._calls]
            self._messages.append({"role": "user", "content": content})
            self._calls, self._results = {}, {}

    def answer_open(self, said: ToolResult) -> None:
        """Answer all calls that are open with the same words."""
        for call in self.open_calls:
            self.answer(tool_result(call["id"], said))

    def interrupt(self) -> None:
        """Answer calls that are still open as interrupted, so that the transcript can be sent."""
        self.answer_open(reply.call_interrupted())

    def _note_calls(self, content: object) -> None:
        blocks = cast("list[Block]", content) if isinstance(content, list) else []
        self._calls = {block["id"]: block for block in blocks if block.get("type") == "tool_use"}
        self._results = {}


def _content(message: object) -> list[object]:
    if isinstance(message, Mapping):
        content: object = cast("Mapping[str, object]", message)["content"]
    else:
        content = cast("Any", message).content
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    return list(cast("Iterable[object]", content))


def _fields(given: object) -> Block:
    """A message or a block as a dict, whether it is one or an object of the SDK."""
    fields: Mapping[str, Any]
    if isinstance(given, Mapping):
        fields = cast("Mapping[str, Any]", given)
    else:
        fields = cast("Any", given).to_dict()
    made = dict(fields)
    content = made.get("content")
    if "role" in made and not isinstance(content, str | None):
        made["content"] = [_fields(block) for block in content]
    return made


def _sendable(block: Block) -> Block:
    """A block of a reply as the API takes it back."""
    block.pop("parsed_output", None)  # the SDK's own
    if block.get("type") == "tool_use" and not isinstance(block.get("input"), dict):
        block["input"] = {}  # it was cut off
    return block
