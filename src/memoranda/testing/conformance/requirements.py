"""What a handler is asked for, sentence by sentence, and who asks for it."""

from __future__ import annotations

import json
from importlib.resources import files
from typing import Any, Final, Literal, NamedTuple, TypeAlias

Basis: TypeAlias = Literal["doc", "sdk", "ours"]

BASES: Final[dict[Basis, str]] = {
    "doc": "the published page of the memory tool",
    "sdk": "what Anthropic's own Python tool does where the page is silent",
    "ours": "Memoranda's decisions",
}


class Requirement(NamedTuple):
    """One behaviour: its stable id, what has to be, and who says so."""

    id: str
    basis: Basis
    text: str


def rows(name: str) -> list[dict[str, Any]]:
    """The rows of a JSON Lines file that ships beside the suite."""
    text = (files("memoranda.testing") / "cases" / name).read_text(encoding="utf-8")
    # Not splitlines: a case may hold a line separator that JSON leaves as it is.
    return [json.loads(line) for line in text.split("\n") if line]


def requirements() -> dict[str, Requirement]:
    """Every requirement by its id, in the order of the contract."""
    return {row["id"]: Requirement(**row) for row in rows("requirements.jsonl")}
