"""From what a change brings to the marks in the audit entry of its batch."""

from __future__ import annotations

from functools import lru_cache
from typing import Any, Final

from memoranda.detect.injection import injection_marks, may_tell
from memoranda.light_dataclasses import replace
from memoranda.path import MemoryPath
from memoranda.stores.audit import FLAGS
from memoranda.stores.base import Change, Context, Edit, Move, Put
from memoranda.text.splice import Splice

NEAR_BYTES: Final = 300
"""How much of the old text on either side of an edit is looked at with it: a phrase is shorter."""

_AS_WORDS: Final = str.maketrans("-_./", "    ")


class Marks:
    """The marks of a batch, and the draft of the audit entry, which has them once there are any.

    A store reads the draft after the batch's edits have run (``Context.audit``).
    """

    def __init__(self, context: Context) -> None:
        self.draft: dict[str, Any] = dict(context.audit)
        self._found: dict[int, tuple[str, tuple[str, ...]]] = {}

    def set(self, place: int, path: MemoryPath, marks: tuple[str, ...]) -> None:
        """The marks of one change, in place of those of an earlier run of it."""
        if not marks and place not in self._found:
            return
        self._found[place] = path.text, marks
        flags: dict[str, list[str]] = {}
        for text, found in self._found.values():
            if found:
                flags[text] = list(dict.fromkeys((*flags.get(text, ()), *found)))
        if flags:
            self.draft[FLAGS] = flags
        else:
            self.draft.pop(FLAGS, None)

    def look_at(self, change: Change, place: int) -> Change:
        """The change, whose marks are set: now, or of an edit once it has run."""
        if isinstance(change, Put):
            self.set(
                place,
                change.path,
                (*name_marks(change.path.text), *injection_marks(change.content)),
            )
        elif isinstance(change, Move):
            self.set(place, change.target, name_marks(change.target.text))
        elif isinstance(change, Edit):
            judged = change

            def edit(old: bytes) -> Splice:
                splice = judged.edit(old)
                part = b"".join(
                    (
                        old[max(splice.start - NEAR_BYTES, 0) : splice.start],
                        splice.middle,
                        old[splice.end : splice.end + NEAR_BYTES],
                    )
                )
                self.set(place, judged.path, injection_marks(part) if splice.middle else ())
                return splice

            return replace(change, edit=edit)
        return change


@lru_cache(maxsize=2048)
def name_marks(text: str) -> tuple[str, ...]:
    """The marks of a path's text, its words read as a sentence."""
    if text.isascii() and not may_tell(text):
        return ()
    return injection_marks(text.translate(_AS_WORDS).encode())
