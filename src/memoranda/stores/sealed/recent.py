"""What was found lately, so that it isn't looked for again."""

from __future__ import annotations

from typing import Generic, TypeVar

K = TypeVar("K")
V = TypeVar("V")


class Recent(Generic[K, V]):
    """Up to so many things; forgets all of them when there is no room. Each call is one step of a
    dict, so threads may share it."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._found: dict[K, V] = {}

    def get(self, key: K) -> V | None:
        """What is known for a key."""
        return self._found.get(key)

    def put(self, key: K, value: V) -> None:
        """Remember a thing."""
        if len(self._found) >= self._most:
            self._found.clear()
        self._found[key] = value
