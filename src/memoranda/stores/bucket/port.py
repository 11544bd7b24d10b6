"""How objects are reached: one port, which blocks or suspends."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from typing import ClassVar, Final, NamedTuple, Protocol, TypeAlias

Tag: TypeAlias = Mapping[str, str]
"""Which writing of an object it is: its ``e_tag``, its ``version``, or both, as the server says."""

Span: TypeAlias = tuple[int, int]
"""Some bytes of an object: from, and up to without."""

AT_ONCE: Final = 16
"""Requests of one call that are under way at the same time."""


class Got(NamedTuple):
    """An object's bytes, and which writing of it they are."""

    data: bytes
    tag: Tag


class Wish(NamedTuple):
    """An object to be read, or some bytes of it."""

    key: str
    span: Span | None = None


class Seen(NamedTuple):
    """An object in a listing; ``changed_ns`` is the server's time of its last writing."""

    key: str
    changed_ns: int


class Port(Protocol):
    """The objects of one bucket below one prefix. Safe to use from many threads or tasks.

    Whatever a call raises has been translated (``faults.py``): ``Lost`` where the answer did not
    come, ``Again`` and ``Unavailable`` where nothing was done.
    """

    suspends: ClassVar[bool]

    async def get(self, key: str, known: Tag | None = None) -> Got:
        """An object. Raises ``Missing``, and ``Same`` if it is still the ``known`` one."""
        ...

    async def get_all(self, wishes: Sequence[Wish]) -> list[bytes]:
        """Objects, all at once, in the order of the wishes; raises ``Missing``."""
        ...

    async def put_all(self, objects: Mapping[str, bytes]) -> None:
        """Write objects, all at once, whatever is there; some may be written though it fails."""
        ...

    async def put(self, key: str, data: bytes, known: Tag | None) -> Tag:
        """Write an object that has to be the ``known`` one still, or (None) not to be there; raises
        ``Taken``."""
        ...

    async def delete(self, keys: Sequence[str]) -> None:
        """Remove objects; those that are not there are passed over."""
        ...

    async def keys(
        self, prefix: str, after: str | None = None, most: int | None = None
    ) -> list[Seen]:
        """The objects below a prefix (a whole number of segments), in order, at most so many, those
        after a key."""
        ...

    def turn(self, name: str) -> AbstractAsyncContextManager[None]:
        """One caller of this process (and of one event loop) after the other, for each name. Spares
        them races that one of them must lose; nothing depends on it."""
        ...

    async def pause(self, seconds: float) -> None:
        """Wait."""
        ...

    async def close(self) -> None:
        """Let go of threads."""
        ...


def tag_of(result: Mapping[str, object]) -> Tag:
    """The tag in what the client gives: only what the server said; it takes no None back."""
    return {
        name: str(value) for name in ("e_tag", "version") if (value := result.get(name)) is not None
    }


def chunks(keys: Iterable[str], size: int) -> list[list[str]]:
    """Keys by so many."""
    every = list(keys)
    return [every[start : start + size] for start in range(0, len(every), size)]
