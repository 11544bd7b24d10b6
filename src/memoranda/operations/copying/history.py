"""A store's history batch by batch: from a time on, or from its end back; in pages.

Late versions, which never were heads, are left out: no change brings one in.
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Final

from memoranda.stores.base import VersionFilter

if TYPE_CHECKING:
    from collections.abc import Callable

    from memoranda.stores.base import Store, Version

_PAGE: Final = 500


class Batches:
    """Versions on their way, given batch by batch."""

    def __init__(self) -> None:
        self._waiting: deque[Version] = deque()

    async def next(self) -> list[Version]:
        """The next batch, its versions in the order in which they come; empty at the end."""
        while not self._has_whole_batch() and await self._load():
            pass
        batch: list[Version] = []
        while self._waiting and (not batch or self._waiting[0].batch == batch[0].batch):
            batch.append(self._waiting.popleft())
        return batch

    def _has_whole_batch(self) -> bool:
        waiting = self._waiting
        return bool(waiting) and waiting[0].batch != waiting[-1].batch

    async def _load(self) -> bool:
        """Have more wait; False at the end."""
        raise NotImplementedError


class Backward(Batches):
    """The batches of a history from its end back, without contents."""

    def __init__(self, store: Store) -> None:
        super().__init__()
        self._store = store
        self._after: str | None = None
        self._ended = False
        self.n_late = 0
        """How many late versions were left out so far."""

    async def _load(self) -> bool:
        if self._ended:
            return False
        page = await self._store.versions(after=self._after, limit=_PAGE)
        heads = [each for each in page.versions if not each.late]
        self.n_late += len(page.versions) - len(heads)
        self._waiting.extend(heads)
        self._after = page.after
        self._ended = page.after is None
        return True


class Forward(Batches):
    """The batches of a history from a time on (ns since 1970, inclusive), oldest first; versions for
    which ``wanted`` says so, asked in order, have their contents.

    Ends where the history ended when the first one was asked for. Holds the contents of a page or of
    one batch, and a text for each page of the history.
    """

    def __init__(
        self, store: Store, from_ns: int | None, wanted: Callable[[Version], bool]
    ) -> None:
        super().__init__()
        self.total = 0
        """How many versions there are, once the first batch was asked for."""
        self._store = store
        self._where = VersionFilter(from_ns=from_ns)
        self._wanted = wanted
        self._pages: list[tuple[str | None, Version]] | None = None

    async def next(self) -> list[Version]:
        # Asked batch by batch: what one needs depends on what the ones before it brought.
        batch = await super().next()
        return [await self._filled(each) if self._wanted(each) else each for each in batch]

    async def _filled(self, version: Version) -> Version:
        if version.content is not None:
            return version
        return version._replace(content=(await self._store.version(version.id)).content)

    async def _load(self) -> bool:
        if self._pages is None:
            self._pages = await self._find_pages()
        if not self._pages:
            return False
        after, newest = self._pages.pop()
        if after is None:
            self._waiting.append(newest)
        else:
            page = await self._store.versions(self._where, after=after, limit=_PAGE)
            self._waiting.extend(each for each in reversed(page.versions) if not each.late)
        return True

    async def _find_pages(self) -> list[tuple[str | None, Version]]:
        """After which version each page begins, newest first. The newest version stands alone, so
        that nothing that comes meanwhile moves a page."""
        newest = await self._newest()
        if newest is None:
            return []
        pages: list[tuple[str | None, Version]] = [(None, newest)]
        self.total = 1
        after: str | None = newest.id
        while after is not None:
            page = await self._store.versions(self._where, after=after, limit=_PAGE)
            if page.versions:
                pages.append((after, newest))
                self.total += len(page.versions)
            after = page.after
        return pages

    async def _newest(self) -> Version | None:
        after: str | None = None
        while True:
            page = await self._store.versions(self._where, after=after, limit=1)
            for version in page.versions:
                if not version.late:
                    return version
            after = page.after
            if after is None:
                return None
