"""The feature checklist and the progress log of a coding agent, as a program reads them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, Literal, NamedTuple, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Iterator

State: TypeAlias = Literal["open", "done", "verified"]

_LINE: Final = re.compile(r"[-*] \[(?P<mark>[ xX])\] +(?P<text>\S.*)")
_EVIDENCE: Final = re.compile(r"\(verified: *(?P<how>\S.*?) *\) *$")
_HEADING: Final = re.compile(r"##? ")


class Feature(NamedTuple):
    """A line of the checklist: ``done`` but not ``verified`` has no word on how it was checked."""

    text: str
    state: State
    evidence: str | None


def features(checklist: str) -> tuple[Feature, ...]:
    """The features of a checklist, in its order.

    Lines that begin with ``- [ ]`` or ``- [x]``; indented ones are examples or details.
    """
    return tuple(_features(checklist))


def _features(checklist: str) -> Iterator[Feature]:
    for line in checklist.splitlines():
        found = _LINE.fullmatch(line.rstrip())
        if found is None:
            continue
        text = found["text"]
        if found["mark"] == " ":
            yield Feature(text, "open", None)
            continue
        evidence = _EVIDENCE.search(text)
        if evidence is None:
            yield Feature(text, "done", None)
        else:
            yield Feature(text[: evidence.start()].rstrip(), "verified", evidence["how"])


def newest_entry(log: str) -> str:
    """The newest entry of a progress log: what stands beneath its first second-level heading,
    with it; empty where there is none."""
    lines: list[str] = []
    for line in log.splitlines():
        is_entry = line.startswith("## ")
        if lines and _HEADING.match(line):
            break
        if lines or is_entry:
            lines.append(line.rstrip())
    return "\n".join(lines).strip()
