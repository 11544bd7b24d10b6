"""What the audit says about entries that went, or went blank: kept in entries of its own.

An entry that retention drops leaves its place in the hash chain to the next one; an entry that is
redacted keeps its digest in place of its values. Both would also be ways to hide something. So an
entry that is chained like any other says what was dropped, and what redaction left of an entry; a
gap or a blank that no such entry speaks of is a finding (``chain.py``).
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final, cast

from memoranda.errors import Corrupt

if TYPE_CHECKING:
    from collections.abc import Mapping

DROPPED: Final = "dropped"
"""Key of a draft: pairs of numbers. Between the two, which were kept then, every entry went."""
BLANKED: Final = "blanked"
"""Key of a draft: by number, the keyed digest of what redaction left of the entry."""


class Gone:
    """What entries say about others, gathered. Numbers are those of the store, from 1."""

    def __init__(self) -> None:
        self.dropped: list[tuple[int, int]] = []
        self.blanked: dict[int, str] = {}

    def __bool__(self) -> bool:
        return bool(self.dropped or self.blanked)

    def read(self, draft_text: str | None) -> None:
        """Take in what an entry says; nothing if it is about something else."""
        draft = draft_of(draft_text)
        if DROPPED not in draft and BLANKED not in draft:
            return
        try:
            self.dropped += [(int(a), int(b)) for a, b in draft.get(DROPPED, ())]
            self.blanked |= {int(n): str(said) for n, said in draft.get(BLANKED, {}).items()}
        except (AttributeError, TypeError, ValueError) as error:
            raise Corrupt("An entry of the audit can't be read.") from error

    def between(self) -> list[tuple[int, int]]:
        """The gaps, joined where they overlap, in order. Gaps that only touch stay apart: between
        them an entry was kept."""
        joined: list[tuple[int, int]] = []
        for start, end in sorted(self.dropped):
            if joined and start < joined[-1][1]:
                joined[-1] = joined[-1][0], max(end, joined[-1][1])
            else:
                joined.append((start, end))
        return joined

    def draft(self, left: Mapping[int, str]) -> dict[str, Any]:
        """All of it as a draft; blanks only of entries that are there still and of which ``left``
        has the same. Of one that was blanked once more since, a newer entry says so, and what is
        said later counts."""
        said: dict[str, Any] = {DROPPED: self.between()}
        blanked = {str(n): rest for n, rest in self.blanked.items() if left.get(n) == rest}
        return {**said, BLANKED: blanked} if blanked else said


def draft_of(text: str | None) -> dict[str, Any]:
    """A draft as it was before it was written; empty where there is none. Raises ``Corrupt``."""
    if text is None:
        return {}
    try:
        draft = json.loads(text)
    except (TypeError, ValueError) as error:
        raise Corrupt("An entry of the audit can't be read.") from error
    if not isinstance(draft, dict):
        raise Corrupt("An entry of the audit can't be read.")
    return cast("dict[str, Any]", draft)
