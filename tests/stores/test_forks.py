"""Forks beside other threads."""

from __future__ import annotations

from collections.abc import Iterator
from weakref import WeakSet

from memoranda.stores.forks import all_of


class Thing:
    pass


class Growing(WeakSet[Thing]):
    """A weak set to which another thread adds one amid the first look at it."""

    looks = 0
    late = Thing()

    def __iter__(self) -> Iterator[Thing]:
        self.looks += 1
        for thing in super().__iter__():
            if self.looks == 1:
                self.add(self.late)
            yield thing


def test_what_another_thread_adds_meanwhile_is_found_too() -> None:
    things = [Thing() for _ in range(3)]
    growing = Growing(things)
    assert set(all_of(growing)) == {*things, growing.late}
    assert growing.looks == 2
