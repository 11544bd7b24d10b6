"""Two backends at once: where from and where to."""

from __future__ import annotations

from collections.abc import Coroutine, Generator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from memoranda.errors import Misuse

if TYPE_CHECKING:
    from memoranda.shared_backends import SharedBackend

T = TypeVar("T")


class BothEnds(NamedTuple):
    """Two backends that are open."""

    source: SharedBackend
    target: SharedBackend

    def drive(self, coroutine: Coroutine[Any, Any, T]) -> T:
        """Finish a coroutine that uses both: on a loop if one of them needs it."""
        end = self.source if self.source.backend.suspends else self.target
        return end.drive(coroutine)


@contextmanager
def both_ends(source: str, target: str) -> Generator[BothEnds]:
    """The backends at two URLs, given back at the end; raises ``Misuse`` if it is one place."""
    from memoranda.shared_backends import acquire, release
    from memoranda.stores.open import open_backend

    opened = [acquire(source, open_backend)]
    try:
        opened.append(acquire(target, open_backend))
        if opened[0] is opened[1]:
            raise Misuse("Both are the same place; say another one.")
        yield BothEnds(*opened)
    finally:
        for shared in reversed(opened):
            shared.drive(release(shared))
            shared.end()
