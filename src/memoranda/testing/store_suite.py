"""The store suite: a subclass of a few lines proves a backend or a layer.

    class TestMyBackend(StoreSuite):
        async def open_backend(self, home: Path) -> Backend:
            return await MyBackend.open(home)

pytest then runs every promise of the contract against it, in both colours: driven in one step as
a synchronous caller drives it, and awaited on an event loop. Nothing here needs pytest; other
runners call ``prove``.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Final
from unittest import SkipTest

from memoranda.drive import run_now
from memoranda.testing.promises.backends import BackendPromises
from memoranda.testing.promises.batches import BatchPromises
from memoranda.testing.promises.ceilings import CeilingPromises
from memoranda.testing.promises.changes import ChangePromises
from memoranda.testing.promises.contents import ContentPromises
from memoranda.testing.promises.edits import EditPromises
from memoranda.testing.promises.histories import HistoryPromises
from memoranda.testing.promises.lifetime import LifetimePromises
from memoranda.testing.promises.listing import ListingPromises
from memoranda.testing.promises.moments import MomentPromises
from memoranda.testing.promises.moves import MovePromises
from memoranda.testing.promises.outlines import OutlinePromises
from memoranda.testing.promises.reading import ReadingPromises
from memoranda.testing.promises.redaction import RedactionPromises
from memoranda.testing.promises.rig import Rig
from memoranda.testing.promises.searching import SearchPromises
from memoranda.testing.promises.versions import VersionPromises

if TYPE_CHECKING:
    from memoranda.stores.base import Backend, Store

PREFIX: Final = "promise_"


class StoreSuite(
    ReadingPromises,
    OutlinePromises,
    ListingPromises,
    SearchPromises,
    ChangePromises,
    MovePromises,
    BatchPromises,
    EditPromises,
    CeilingPromises,
    VersionPromises,
    MomentPromises,
    RedactionPromises,
    ContentPromises,
    LifetimePromises,
    HistoryPromises,
    BackendPromises,
):
    """Every promise of ``memoranda.stores.base`` as a test; subclass it and name it ``Test...``.

    Each run of a promise gets a fresh, empty ``home`` directory of its own. A promise about a
    capability that the backend says it lacks is skipped.
    """

    suspends: ClassVar[bool] = False
    """Has to be what the backend says. A backend that suspends is proved on the event loop only."""

    exempt: ClassVar[Mapping[str, str]] = {}
    """Promises that are knowingly broken, each with where the decision is recorded."""

    async def open_backend(self, home: Path) -> Backend:
        """The backend whose data lie in ``home``; called again to open the same data anew."""
        raise NotImplementedError

    def wrap(self, store: Store) -> Store:
        """What to prove instead of ``store``: a layer around it. The store itself unless said."""
        return store

    def stored_files(self, home: Path, store_id: str, user: str) -> Mapping[str, bytes] | None:
        """Behind the store's back: each memory's store path and content as storage holds them.

        None where nobody can look. Reads the storage by its own means, never through the store.
        """
        return None

    def stored_bytes(self, home: Path) -> Iterable[bytes]:
        """Behind the store's back: all bytes on storage, to look for what has to be gone.

        Every file under ``home`` unless said.
        """
        for path in sorted(home.rglob("*")):
            if path.is_file() and not path.is_symlink():
                yield path.read_bytes()

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        unknown = set(cls.exempt) - {name.removeprefix(PREFIX) for name in promises(cls)}
        if unknown:
            raise TypeError(f"exempt names no promise: {', '.join(sorted(unknown))}")
        for name in promises(cls):
            sentence = name.removeprefix(PREFIX)
            # A class below one that blocks inherits tests that a store that suspends can't pass.
            in_one_step = None if cls.suspends else _test(name, sentence, "sync")
            setattr(cls, f"test_{sentence}__sync", in_one_step)
            setattr(cls, f"test_{sentence}__async", _test(name, sentence, "async"))


def promises(suite: type[StoreSuite]) -> list[str]:
    """The names of the promise methods of a suite."""
    return sorted(name for name in dir(suite) if name.startswith(PREFIX))


def prove(suite: type[StoreSuite], homes: Iterator[Path]) -> dict[str, BaseException | None]:
    """Run every test of ``suite`` without pytest, each in the next of ``homes``.

    Gives each test's name with what it raised: None where the promise holds, ``SkipTest`` where
    it was left out.
    """
    outcomes: dict[str, BaseException | None] = {}
    tests = [name for name in dir(suite) if name.startswith("test_") and getattr(suite, name)]
    for name in sorted(tests):
        try:
            getattr(suite(), name)(next(homes))
        except Exception as error:  # noqa: BLE001 - a runner reports whatever a test raises
            outcomes[name] = error
        else:
            outcomes[name] = None
    return outcomes


def _test(name: str, sentence: str, colour: str) -> Callable[[StoreSuite, Path], None]:
    def test(self: StoreSuite, tmp_path: Path) -> None:
        if sentence in self.exempt:
            raise SkipTest(f"exempt: {self.exempt[sentence]}")
        promise = _kept(self, name, tmp_path)
        if colour == "sync":
            run_now(promise)
        else:
            asyncio.run(promise)

    test.__name__ = f"test_{sentence}__{colour}"
    return test


async def _kept(suite: StoreSuite, name: str, home: Path) -> None:
    rig = await Rig.opened(suite, home)
    try:
        assert rig.backend.suspends == suite.suspends, "say in the suite that the backend suspends"
        await getattr(suite, name)(rig)
    finally:
        await rig.close()
