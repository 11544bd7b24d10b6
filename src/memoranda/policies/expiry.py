"""Expiry: which memories go by themselves, and noting when they were used."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Final

from memoranda.command import Command, RefusedInput, View
from memoranda.errors import MemorandaError, Misuse
from memoranda.light_dataclasses import dataclass
from memoranda.path import MemoryPath
from memoranda.policies.handler import Handler
from memoranda.reply import ToolResult
from memoranda.stores.base import Context, Store

DAY_NS: Final = 86_400 * 1_000_000_000
COARSE_NS: Final = 3_600 * 1_000_000_000
"""A memory that is viewed again and again is noted as used once an hour."""
_MOST_KNOWN: Final = 10_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Expiry:
    """Which memories a sweep removes: those at paths like ``path`` that nobody viewed or changed
    for ``unused_days``, or whose content is ``age_days`` old; whole days of 1 or more, at least
    one of them given.

    ``path`` is a pattern over the whole printed path (``/memories/tmp/*``): ``*`` stands for
    anything, slashes too, ``?`` for one character, ``[...]`` for one of some; case matters.

    Raises ``Misuse`` for values that can't be.
    """

    path: str = "/memories/*"
    unused_days: int | None = None
    age_days: int | None = None

    def __post_init__(self) -> None:
        if type(self.path) is not str or not self.path.startswith("/memories"):
            raise Misuse(f"Expiry: path is {self.path!r}; it has to begin with /memories.")
        for name in ("unused_days", "age_days"):
            value: object = getattr(self, name)
            if value is not None and (type(value) is not int or value < 1):
                raise Misuse(
                    f"Expiry: {name} is {value!r}; it has to be a whole number of 1 or more."
                )
        if self.unused_days is None and self.age_days is None:
            raise Misuse("Expiry: give unused_days, age_days or both.")

    def fits(self, path: MemoryPath) -> bool:
        """Whether the rule is about this path."""
        from fnmatch import fnmatchcase  # few policies have such a rule

        return fnmatchcase(path.text, self.path)

    def is_over(self, updated_ns: int, used_ns: int, now_ns: int) -> bool:
        """Whether the time of a memory is over that was changed and used then."""
        used_ns = max(used_ns, updated_ns)
        return (self.age_days is not None and now_ns - updated_ns > self.age_days * DAY_NS) or (
            self.unused_days is not None and now_ns - used_ns > self.unused_days * DAY_NS
        )


class Uses:
    """Tells a store, coarsely, which memories are used. Safe to use from many threads at once."""

    def __init__(
        self, store: Store, rules: Sequence[Expiry], clock: Callable[[], int] = time.time_ns
    ) -> None:
        self._store = store
        self._rules = [rule for rule in rules if rule.unused_days is not None]
        self._clock = clock
        self._known: dict[MemoryPath, int] = {}

    async def note(self, path: MemoryPath) -> None:
        """A memory was looked at. Never fails what it was looked at for."""
        now = self._clock()
        if now - self._known.get(path, -COARSE_NS) < COARSE_NS:
            return
        if not any(rule.fits(path) for rule in self._rules):
            return
        if len(self._known) >= _MOST_KNOWN:
            self._known.clear()
        self._known[path] = now
        try:
            await self._store.touch((path,), now)
        except MemorandaError:
            self._known.pop(path, None)


class NoteUse:
    """A command layer: notes what was viewed. Edits are known by their versions."""

    def __init__(self, inner: Handler, uses: Uses) -> None:
        self._inner = inner
        self._uses = uses

    async def __call__(self, command: Command | RefusedInput, context: Context) -> ToolResult:
        result = await self._inner(command, context)
        if type(command) is View and not result.is_error:
            await self._uses.note(command.path)
        return result
