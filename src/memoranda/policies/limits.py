"""How much a memory may hold, show and do; and the store layer that has it checked."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from memoranda.errors import Misuse
from memoranda.light_dataclasses import dataclass, field_names, replace
from memoranda.stores.base import Ceiling, Change, Context, Store, Version, WrapperStore

KIB: Final = 1024
MIB: Final = 1024 * KIB

API_STORE_FILES: Final = 10_000
"""How many files a store that was made through the API may hold by default."""

NEVER_LIFTED: Final = frozenset({"image_bytes"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Limits of one memory; None lifts one. All are whole numbers of 1 or more.

    Sizes are those of the result: a change that would end above ``file_bytes`` (one file),
    ``store_bytes`` (all present contents) or ``files`` (how many) is refused whole, inside the
    store's transaction, and Claude is told what to do. What lies above a limit already stays
    readable and may shrink. History doesn't count.

    ``view_chars`` is how many characters of a file, or of a listing's lines, one view shows; the
    rest is paged. ``image_bytes`` is the largest image block, in bytes of its base64, which is what
    the Messages API counts; it can't be lifted because the API refuses larger ones.
    ``commands_per_minute`` bounds one ``Memory`` object's commands, refused ones too.

    Raises ``Misuse`` for values that can't be.
    """

    file_bytes: int | None = 256 * KIB
    store_bytes: int | None = 10 * MIB
    files: int | None = 2_000
    view_chars: int | None = 16_000
    image_bytes: int = 5 * MIB
    commands_per_minute: int | None = None

    def __post_init__(self) -> None:
        for name in field_names(self):
            value: object = getattr(self, name)
            if value is None and name not in NEVER_LIFTED:
                continue
            if type(value) is not int or value < 1:
                lifted = "" if name in NEVER_LIFTED else ", or None to lift the limit"
                raise Misuse(
                    f"Limits: {name} is {value!r}; "
                    f"it has to be a whole number of 1 or more{lifted}."
                )

    @classmethod
    def unlimited(cls) -> Limits:
        """No limits: a file, a view and a memory may get as large as the disk and Claude bear."""
        return cls(file_bytes=None, store_bytes=None, files=None, view_chars=None)

    @property
    def ceiling(self) -> Ceiling:
        """The part that the store checks inside its transactions."""
        return Ceiling(self.store_bytes, self.files, self.file_bytes)


class LimitSize(WrapperStore):
    """A store layer: every batch carries the limits, and the store below refuses what passes them.

    Nothing is checked here: only inside the store's transaction is the result known. Where a batch
    brings limits of its own, the stricter ones hold.
    """

    def __init__(self, inner: Store, ceiling: Ceiling) -> None:
        super().__init__(inner)
        self._ceiling = ceiling

    async def apply(self, changes: Sequence[Change], context: Context) -> tuple[Version, ...]:
        ceiling = self._ceiling
        if context.ceiling != Ceiling():
            given = context.ceiling
            ceiling = Ceiling(
                _stricter(ceiling.total_bytes, given.total_bytes),
                _stricter(ceiling.files, given.files),
                _stricter(ceiling.file_bytes, given.file_bytes),
                given.beside_bytes,
            )
        return await self.inner.apply(changes, replace(context, ceiling=ceiling))


def _stricter(one: int | None, other: int | None) -> int | None:
    return min((limit for limit in (one, other) if limit is not None), default=None)
