"""Layouts for a memory, with what the agent that uses one is to be told.

A template is a folder: ``summary.txt`` (a line for people), ``guidance.md`` (for the system prompt),
``files/`` (what a memory begins with), and, where work goes over many sessions, ``initializer.md``,
``opening.md`` and ``closing.md``. Their texts are data that an application sends; what Claude reads
of the memory tool itself is in ``reply.py``.
"""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Final

from memoranda.errors import Misuse
from memoranda.light_dataclasses import dataclass

if TYPE_CHECKING:
    from collections.abc import Mapping

NAMES: Final = ("coding-agent", "support", "assistant", "research")


@dataclass(frozen=True, slots=True)
class Template:
    """A layout: ``files`` are texts by their path beneath ``/memories``.

    ``initializer``, ``opening`` and ``closing`` are the prompts of the first session, of each later
    one's beginning, and of a session's end, with ``{task}`` and ``{number}`` in them; None where the
    template has no sessions.
    """

    name: str
    summary: str
    guidance: str
    files: Mapping[str, str]
    initializer: str | None
    opening: str | None
    closing: str | None


@cache
def template(name: str) -> Template:
    """The template with a name; raises ``Misuse`` for an unknown one."""
    if name not in NAMES:
        raise Misuse(f"There is no template {name!r}; there are {', '.join(NAMES)}.")
    folder = files("memoranda.agent.templates") / name

    def text(part: str) -> str | None:
        file = folder / part
        return file.read_text(encoding="utf-8") if file.is_file() else None

    return Template(
        name,
        (text("summary.txt") or "").strip(),
        text("guidance.md") or "",
        {
            file.name: file.read_text(encoding="utf-8")
            for file in sorted((folder / "files").iterdir(), key=lambda file: file.name)
        },
        text("initializer.md"),
        text("opening.md"),
        text("closing.md"),
    )
