"""Rules for some backends, stores or users; where two say something, the stricter one holds."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fnmatch import fnmatchcase
from typing import Any, NamedTuple

from memoranda.policies.fields import STRICTER


class Setting(NamedTuple):
    """A value that somebody set, and where."""

    value: Any
    origin: str


class Where(NamedTuple):
    """Which memory it is about: the backend's URL, and the user's name or the store's id."""

    backend: str
    user: str | None = None
    store: str | None = None


class Rule(NamedTuple):
    """What holds where all of the given patterns (``*``, ``?``, ``[...]``; case matters) fit."""

    values: Mapping[str, Setting]
    backend: str | None = None
    user: str | None = None
    store: str | None = None

    def fits(self, where: Where) -> bool:
        """Whether the rule is about this memory. A rule by user is never about a store of none."""
        return all(
            pattern is None or (name is not None and fnmatchcase(name, pattern))
            for pattern, name in (
                (self.backend, where.backend),
                (self.user, where.user),
                (self.store, where.store),
            )
        )


def strictest(layers: Iterable[Mapping[str, Setting]]) -> dict[str, Setting]:
    """What holds where all of these hold. What nobody set is not there."""
    held: dict[str, Setting] = {}
    for layer in layers:
        for key, setting in layer.items():
            held[key] = _stricter(key, held[key], setting) if key in held else setting
    return held


def _stricter(key: str, one: Setting, other: Setting) -> Setting:
    value = STRICTER[key](one.value, other.value)
    for setting in (one, other):
        if setting.value == value:
            return setting
    return Setting(value, f"{one.origin}; {other.origin}")
