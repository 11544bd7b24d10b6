"""What Claude says in the demo. Each turn is computed from what it truly received.

It begins each session knowing nothing, looks at its memory, and quotes what it reads there: a demo
whose memory lost something can't end well.
"""

from __future__ import annotations

import re
from typing import Any, Final

from memoranda.testing.messages_failures import Block
from memoranda.testing.messages_script import Received, Said, blocks_of, text, use_memory

ROOT: Final = "/memories"
NOTES: Final = "/memories/project.md"

FIRST_QUESTION: Final = "Hi, I'm Ada. We ship on Fridays. Please keep your answers short."
SECOND_QUESTION: Final = "When do we ship?"

FORGOTTEN: Final = "I don't know: my notes are gone."
"""What Claude says where the second session finds nothing of the first."""

REFUSED: Final = "My memory refused that: "
"""What Claude says before an answer that it can do nothing about."""

_NEW_NOTES: Final = """\
# Ada's project

- We ship on Fridays.
- Ada likes short answers.

Sessions so far: 1
"""
_COUNT: Final = re.compile(r"Sessions so far: (\d{1,9})")


def first_session(received: Received) -> Said:
    """Claude is told something worth keeping, and keeps it."""
    call = _last_call(received)
    if _has_no_notes(received, call):
        return [
            text("Nothing there yet. I'll note what Ada told me."),
            use_memory("create", path=NOTES, file_text=_NEW_NOTES),
        ]
    return _go_on(received, call) or f"Noted, Ada. It's in {NOTES}."


def second_session(received: Received) -> Said:
    """Claude is asked what only its memory can tell."""
    call = _last_call(received)
    if _has_no_notes(received, call):
        return FORGOTTEN
    return _go_on(received, call) or _answer(received)


def _go_on(received: Received, call: Block | None) -> Said | None:
    """What both sessions do: look, read, count the session. None once that is done."""
    if call is None:
        return [text("Let me look at my memory first."), use_memory("view", path=ROOT)]
    if received.result.is_error:
        return REFUSED + received.result.text
    if call == {"command": "view", "path": ROOT}:
        return use_memory("view", path=NOTES)
    if call == {"command": "view", "path": NOTES}:
        return _count(_notes(received))
    return None


def _count(notes: list[str]) -> Block:
    counted = _COUNT.search("\n".join(notes))
    if counted is None:
        # A person may have taken the line out.
        return use_memory(
            "insert", path=NOTES, insert_line=len(notes), insert_text="Sessions so far: 1\n"
        )
    more = f"Sessions so far: {int(counted.group(1)) + 1}"
    return use_memory("str_replace", path=NOTES, old_str=counted.group(), new_str=more)


def _answer(received: Received) -> str:
    known = [line for line in _notes(received) if "ship" in line.casefold()]
    if not known:
        return "My notes don't say."
    return f"My notes say: {known[0].lstrip('-* ')}"


def _has_no_notes(received: Received, call: Block | None) -> bool:
    """Whether the answer that came last says that there are no notes."""
    if call == {"command": "view", "path": ROOT} and not received.result.is_error:
        lines = received.result.text.split("\n")
        return not any(line.endswith(f"\t{NOTES}") for line in lines)
    # They may go between two looks.
    missing = call == {"command": "view", "path": NOTES} and received.result.is_error
    return missing and "does not exist" in received.result.text


def _notes(received: Received) -> list[str]:
    """The lines of the notes as the memory showed them in this session."""
    lines: list[str] = []
    call: Any = None
    for message in received.conversation:
        for block in blocks_of(message):
            if block["type"] == "tool_use":
                call = block["input"]
            elif block["type"] == "tool_result" and call == {"command": "view", "path": NOTES}:
                numbered = str(block["content"]).split("\n")[1:]
                lines = [line.partition("\t")[2] for line in numbered]
    return lines


def _last_call(received: Received) -> Block | None:
    """The input of the call that was answered last, None at the start of a session."""
    calls = [
        block["input"]
        for message in received.conversation
        for block in blocks_of(message)
        if block["type"] == "tool_use"
    ]
    return calls[-1] if calls else None
