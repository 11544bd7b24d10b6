"""The checks that the Messages API makes before a model sees anything, with answers that say why."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, cast

from memoranda.testing.messages_blocks import check_blocks
from memoranda.testing.messages_failures import Block, refuse
from memoranda.testing.messages_script import blocks_of

THREADS_BETA: Final = "message-threads-2026-08-12"
INLINE_TOOLS_BETA: Final = "inline-tools-2026-09-15"

_FIELDS: Final = frozenset(
    (
        *("billing_policy", "cache_control", "compaction", "container", "context_management"),
        *("diagnostics", "fallback_credit_token", "fallbacks", "inference_geo", "max_tokens"),
        *("mcp_servers", "messages", "metadata", "model", "output_config", "output_format"),
        *("service_tier", "speed", "stop_sequences", "stream", "system", "temperature"),
        *("thinking", "thread", "tool_choice", "tools", "top_k", "top_p"),
    )
)

_MEMORY_FIELDS: Final = frozenset(
    (
        *("type", "name", "allowed_callers", "cache_control"),
        *("defer_loading", "input_examples", "strict"),
    )
)
_CALLERS: Final = re.compile(r"direct|code_execution_\d{8}")
_TOOL_NAME: Final = re.compile(r"[a-zA-Z0-9_-]{1,128}")


def check_fields(body: Block, betas: Sequence[str]) -> None:
    """Every field of a request but the conversation; raises ``RefusedRequest``."""
    for name in body:
        if name not in _FIELDS or (name == "thread" and THREADS_BETA not in betas):
            raise refuse(name, "Extra inputs are not permitted.")
    for name in ("model", "max_tokens", "messages"):
        if body.get(name) is None:
            raise refuse(name, "Field required.")
    if not isinstance(body["model"], str) or not body["model"]:
        raise refuse("model", "Input should be a non-empty string.")
    if type(body["max_tokens"]) is not int or body["max_tokens"] < 0:
        raise refuse("max_tokens", "Input should be an integer of 0 or more.")
    if not isinstance(body["messages"], list):
        raise refuse("messages", "Input should be a list.")
    if not isinstance(body.get("stream", False), bool):
        raise refuse("stream", "Input should be true or false.")
    _check_thread(body.get("thread"))
    if body.get("system") is not None and not isinstance(body["system"], str):
        check_blocks(body["system"], "system", {"text"})


def check_tools(tools: Any, tool_choice: Any) -> None:
    """The tools that a model may use, by name each once, and the choice among them."""
    if not isinstance(tools, list):
        raise refuse("tools", "Input should be a list.")
    names: set[str] = set()
    for index, tool in enumerate(cast("list[object]", tools)):
        where = f"tools.{index}"
        if not isinstance(tool, dict):
            raise refuse(where, "Input should be an object.")
        name = _check_tool(cast("Block", tool), where)
        if name is not None and name in names:
            raise refuse("tools", "Tool names must be unique.")
        names.add(name or "")
    if isinstance(tool_choice, dict):
        wanted = cast("Block", tool_choice).get("name")
        if wanted is not None and wanted not in names:
            raise refuse("tool_choice.name", "No tool has this name.")


def check_conversation(
    conversation: Sequence[Block],
    start: int,
    betas: Sequence[str],
    is_paused: Callable[[Block], bool],
    *,
    alternate_roles: bool,
) -> None:
    """A whole conversation, of which the messages from ``start`` on are new; raises
    ``RefusedRequest``, naming messages by their place in this request.

    ``is_paused`` tells the replies that stopped for ``pause_turn``: one may stand last, and another
    reply may follow it.
    """
    turns: list[tuple[str, str, list[Block]]] = []
    before: Any = None
    for index, message in enumerate(conversation):
        where = f"messages.{index - start}"
        role = _check_message(message, where, betas)
        if role == "system":
            continue
        if not turns and role != "user":
            raise refuse(where, "The first message must be the user's.")
        if turns and turns[-1][0] == role:
            paused = role == "assistant" and is_paused(before)
            if alternate_roles and not paused:
                raise refuse(where, f"Roles must alternate, but two {role} messages meet here.")
            turns[-1] = (role, turns[-1][1], [*turns[-1][2], *blocks_of(message)])
        else:
            turns.append((role, where, blocks_of(message)))
        before = message
    if not turns:
        raise refuse("messages", "At least one message is required.")
    if turns[-1][0] == "assistant" and not is_paused(before):
        raise refuse("messages", "The conversation must end with a user message.")
    _check_pairs(turns)


def _check_message(message: Any, where: str, betas: Sequence[str]) -> str:
    if not isinstance(message, dict):
        raise refuse(where, "Input should be an object.")
    fields = cast("Mapping[str, Any]", message)
    role = fields.get("role")
    roles = ("user", "assistant", "system") if INLINE_TOOLS_BETA in betas else ("user", "assistant")
    if role not in roles:
        raise refuse(f"{where}.role", f"Input should be one of {', '.join(roles)}.")
    role = str(role)
    for name in fields:
        if name not in ("role", "content"):
            raise refuse(f"{where}.{name}", "Extra inputs are not permitted.")
    content = fields.get("content")
    if isinstance(content, str):
        if not content:
            raise refuse(f"{where}.content", "The text must not be empty.")
    else:
        check_blocks(content, f"{where}.content", _KINDS[role])
    return role


_KINDS: Final[Mapping[str, set[str] | None]] = {
    "user": {"text", "image", "document", "search_result", "tool_result", "container_upload"},
    "assistant": None,
    "system": {"text", "tool_addition", "tool_removal"},
}


def _check_pairs(turns: Sequence[tuple[str, str, list[Block]]]) -> None:
    """Each call of a tool is answered once, first thing in the very next user turn."""
    calls: dict[str, None] = {}
    seen: set[str] = set()
    for role, where, blocks in turns:
        if role == "assistant":
            calls = {block["id"]: None for block in blocks if block["type"] == "tool_use"}
            if seen & calls.keys() or len(calls) < sum(b["type"] == "tool_use" for b in blocks):
                raise refuse(where, "The ids of `tool_use` blocks must be unique.")
            seen |= calls.keys()
            continue
        answers = [block["tool_use_id"] for block in blocks if block["type"] == "tool_result"]
        for answer in answers:
            if answer not in calls:
                raise refuse(
                    where,
                    f"The `tool_result` for {answer!r} answers no `tool_use` block of the message"
                    " before.",
                )
        if len(set(answers)) < len(answers):
            raise refuse(where, "A `tool_use` block must have one `tool_result` only.")
        missing = [call for call in calls if call not in answers]
        if missing:
            raise refuse(
                where,
                f"`tool_use` blocks without a `tool_result` in the next message: "
                f"{', '.join(missing)}.",
            )
        if any(block["type"] != "tool_result" for block in blocks[: len(answers)]):
            raise refuse(where, "`tool_result` blocks must come first in a message.")
        calls = {}


def _check_thread(thread: Any) -> None:
    if thread is None:
        return
    match thread:
        case {"type": "create"} if len(cast("Block", thread)) == 1:
            return
        case {"type": "continue", "previous_message_id": str()} if len(cast("Block", thread)) == 2:
            return
        case _:
            raise refuse(
                "thread",
                'Input should be {"type": "create"} or'
                ' {"type": "continue", "previous_message_id": "msg_..."}.',
            )


def _check_tool(tool: Block, where: str) -> str | None:
    kind = tool.get("type", "custom")
    if not isinstance(kind, str):
        raise refuse(f"{where}.type", "Input should be a string.")
    name = tool.get("name")
    if (name is None and kind.endswith("_toolset")) or re.search(r"_toolset_\d{8}$", kind):
        return None
    if not isinstance(name, str) or not _TOOL_NAME.fullmatch(name):
        raise refuse(f"{where}.name", "Input should be 1 to 128 letters, digits, '_' or '-'.")
    if kind == "custom":
        schema = tool.get("input_schema")
        if not isinstance(schema, dict) or cast("Block", schema).get("type") != "object":
            raise refuse(f"{where}.input_schema", "Input should be a JSON schema of an object.")
    elif kind.startswith("memory_"):
        _check_memory_tool(tool, kind, where)
    return name


def _check_memory_tool(tool: Block, kind: str, where: str) -> None:
    if kind != "memory_20250818":
        raise refuse(f"{where}.type", "Input should be 'memory_20250818'.")
    if tool["name"] != "memory":
        raise refuse(f"{where}.name", "Input should be 'memory'.")
    for field in tool:
        if field not in _MEMORY_FIELDS:
            raise refuse(f"{where}.{field}", "Extra inputs are not permitted.")
    for field in ("defer_loading", "strict"):
        if not isinstance(tool.get(field, False), bool):
            raise refuse(f"{where}.{field}", "Input should be true or false.")
    match tool.get("cache_control"):
        case None | {"type": "ephemeral"}:
            pass
        case _:
            raise refuse(f"{where}.cache_control", 'Input should be {"type": "ephemeral", ...}.')
    callers = tool.get("allowed_callers", [])
    if not isinstance(callers, list) or not all(
        isinstance(caller, str) and _CALLERS.fullmatch(caller)
        for caller in cast("list[object]", callers)
    ):
        raise refuse(f"{where}.allowed_callers", "Input should be a list of callers.")
    examples = tool.get("input_examples", [])
    if not isinstance(examples, list) or not all(
        isinstance(example, dict) for example in cast("list[object]", examples)
    ):
        raise refuse(f"{where}.input_examples", "Input should be a list of objects.")
