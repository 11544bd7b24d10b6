"""Text that speaks to the agent as an instruction would is marked: a store layer."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any, Final

from memoranda.light_dataclasses import replace
from memoranda.path import MemoryPath
from memoranda.stores.audit import FLAGS
from memoranda.stores.base import Change, Context, Edit, Move, Put, Version, WrapperStore
from memoranda.text.splice import Splice

NEAR_BYTES: Final = 300
"""How much of the old text on either side of an edit is looked at with it: a phrase is shorter."""

_TELLING: Final = lazy_pattern(
    r"(?i)ignor|disreg|forget|prompt|instruc|system|olvid|oubli|vergiss|vtabe"
)
"""Most names hold none of these, and are looked at no further."""

_AS_WORDS: Final = str.maketrans("-_./", "    ")


class MarkInjection(WrapperStore):
    """A store layer: marks go into the audit entry of the change, in its own transaction.

    The entry's details name, by path, the marks of ``memoranda.detect.injection``. Contents and
    names of new places are looked at; of an edit what is new, with what stands near it. Nothing is
    changed or refused. The patterns are loaded with the first write.
    """

    async def apply(self, changes: Sequence[Change], context: Context) -> tuple[Version, ...]:
        marks = _Marks(context)
        looked_at = [_looked_at(change, place, marks) for place, change in enumerate(changes)]
        return await self.inner.apply(looked_at, replace(context, audit=marks.draft))


class _Marks:
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


def _looked_at(change: Change, place: int, marks: _Marks) -> Change:
    from memoranda.detect.injection import injection_marks

    if isinstance(change, Put):
        marks.set(place, change.path, (*name_marks(change.path), *injection_marks(change.content)))
    elif isinstance(change, Move):
        marks.set(place, change.target, name_marks(change.target))
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
            marks.set(place, judged.path, injection_marks(part) if splice.middle else ())
            return splice

        return replace(change, edit=edit)
    return change


@lru_cache(maxsize=2048)
def name_marks(path: MemoryPath) -> tuple[str, ...]:
    """The marks of a path, its words read as a sentence."""
    text = path.text
    if text.isascii() and not _TELLING.search(text):
        return ()
    from memoranda.detect.injection import injection_marks

    return injection_marks(text.translate(_AS_WORDS).encode())
