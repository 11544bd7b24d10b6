"""Many stores, each a bare repository in one directory."""

from __future__ import annotations

import os
import shutil
import time
from typing import TYPE_CHECKING, ClassVar, Final
from weakref import WeakSet, WeakValueDictionary

from memoranda.errors import Corrupt, Held, Misuse, StoreExists, Unavailable, UnknownId
from memoranda.stores import forks
from memoranda.stores.base import Backend, Capabilities, StoreInfo, StorePage
from memoranda.stores.companions import erase_proposals
from memoranda.stores.git import batch, log, pack, refs
from memoranda.stores.git.control import Control, updated
from memoranda.stores.git.log import LOG_REF, Head
from memoranda.stores.git.place import Place
from memoranda.stores.git.repository import Repository, libgit2, make
from memoranda.stores.git.store import CAPABILITIES, GitStore
from memoranda.stores.log.ids import new_store_id
from memoranda.stores.log.records import Records, warn_of_loss
from memoranda.stores.planning import EMPTY
from memoranda.tenant import (
    DEFAULT_WORKSPACE,
    Tenant,
    check_tenant,
    directory_of_store,
    directory_of_tenant,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from memoranda.stores.base import Context, Origin
    from memoranda.stores.log.records import Taken

STORES: Final = "stores"
ERASED: Final = ".erased-"
_MAKING: Final = ".making-"
"""No store's directory begins with a dot."""


class GitBackend(Backend):
    """Stores in bare repositories below the directory ``home``, ``<home>/stores/<user>.git``.

    Safe to use from many threads and processes of one machine. ``clock`` gives nanoseconds since
    1970. Everything that was ever written stays in the repositories: there is no retention.
    """

    capabilities: ClassVar[Capabilities] = CAPABILITIES

    def __init__(self, home: str | os.PathLike[str], *, clock: Callable[[], int] = time.time_ns):
        libgit2()
        self._home = os.path.abspath(home)
        self._stores = os.path.join(self._home, STORES)
        self.now = clock
        self.is_closed = False
        self._control = Control(self._home)
        self._places: WeakValueDictionary[tuple[str, str], Place] = WeakValueDictionary()
        self._waiting: set[Place] = set()
        self._opened: WeakSet[Place] = WeakSet()
        forks.watch(self)

    # ---- stores

    async def for_user(self, user: str, workspace: str = DEFAULT_WORKSPACE) -> GitStore:
        tenant = check_tenant(user, workspace)
        self._check_open()
        key = (tenant.workspace, tenant.user)
        place = self._places.get(key)
        info = self._control.reading().of_user(tenant.user, tenant.workspace)
        if place is not None and place.writer is not None and (info is None or info.id != place.id):
            self._places.pop(key, None)  # it was erased
            place = None
        if place is None:
            place = self._places.setdefault(key, Place(new_store_id(self.now()), *key))
        if info is not None and place.writer is None:
            self._bind(place, info)
        return GitStore(self, place)

    async def open(self, store_id: str, workspace: str = DEFAULT_WORKSPACE) -> GitStore:
        info = await self.info(store_id, workspace)
        place = Place(info.id, info.workspace, None)
        place = self._places.setdefault((workspace, store_id), place)
        if place.writer is None:
            self._bind(place, info)
        return GitStore(self, place)

    async def create(
        self,
        name: str,
        *,
        workspace: str = DEFAULT_WORKSPACE,
        description: str = "",
        metadata: Mapping[str, str] | None = None,
    ) -> StoreInfo:
        now = self.now()
        info = StoreInfo.new(now, name, workspace, description, metadata)
        self._check_open()
        with self._control.changing() as change:
            change.put(info)
            self._make(info)
        return info

    async def take_up(self, info: StoreInfo, origin: Origin) -> GitStore:
        self._check_open()
        info = info._replace(archived_at_ns=None)
        with self._control.changing() as change:
            known = change.state
            if known.has(info.id) or (
                info.user is not None and known.of_user(info.user, info.workspace) is not None
            ):
                raise StoreExists
            change.put(info)
            self._make(info, origin)
        return await self.open(info.id, info.workspace)

    async def workspaces(self) -> tuple[str, ...]:
        self._check_open()
        return self._control.reading().workspaces()

    async def find_user(self, user: str, workspace: str = DEFAULT_WORKSPACE) -> StoreInfo | None:
        tenant = check_tenant(user, workspace)
        self._check_open()
        return self._control.reading().of_user(tenant.user, tenant.workspace)

    async def info(self, store_id: str, workspace: str = DEFAULT_WORKSPACE) -> StoreInfo:
        self._check_open()
        return self._control.reading().get(store_id, workspace)

    async def list(
        self,
        workspace: str = DEFAULT_WORKSPACE,
        *,
        after: str | None = None,
        limit: int = 100,
        include_archived: bool = True,
    ) -> StorePage:
        self._check_open()
        return self._control.reading().page(
            workspace, after, limit, include_archived=include_archived
        )

    async def update(
        self,
        store_id: str,
        workspace: str = DEFAULT_WORKSPACE,
        *,
        name: str | None = None,
        description: str | None = None,
        metadata: Mapping[str, str] | None = None,
    ) -> StoreInfo:
        before = await self.info(store_id, workspace)
        with self._control.changing() as change:
            before = change.state.get(store_id, workspace)
            after = updated(
                before, self.now(), name=name, description=description, metadata=metadata
            )
            if after != before:
                change.put(after)
        return after

    async def archive(self, store_id: str, workspace: str = DEFAULT_WORKSPACE) -> StoreInfo:
        place = (await self.open(store_id, workspace)).place
        assert place.writer is not None  # it is open
        # Whoever writes asks whether it is archived while holding the same turn.
        with place.writer.alone(), self._control.changing() as change:
            info = change.state.get(store_id, workspace)
            if info.archived_at_ns is None:
                now = max(self.now(), info.updated_at_ns)
                info = info._replace(archived_at_ns=now, updated_at_ns=now)
                change.put(info)
        return info

    async def erase(
        self, store_id: str, context: Context, workspace: str = DEFAULT_WORKSPACE
    ) -> None:
        store = await self.open(store_id, workspace)
        place = store.place
        assert place.writer is not None  # it is open
        with place.writer.alone(), self._control.changing() as change:
            info = change.state.get(store_id, workspace)
            if store.held(place.writer.head()):
                raise Held
            self._bury(info)
            change.remove(info)
            change.audit(store_id, context, self.now())
        place.writer.close()
        self._clear(ERASED)
        await erase_proposals(self, info, context)

    async def close(self) -> None:
        if self.is_closed:
            return
        try:
            for place in tuple(self._waiting):
                try:
                    self.flush(place)
                except (Unavailable, Corrupt):  # changes are written: only entries of views wait
                    warn_of_loss()
        finally:
            self.is_closed = True
            for place in tuple(self._opened):
                if place.writer is not None:
                    place.writer.close()
            self._control.close()

    # ---- what its stores use

    def ensure(self, place: Place) -> None:
        """Make the user's store if nobody has made it; afterwards it has a writer."""
        self._check_open()
        if place.writer is not None:
            return
        if place.user is None:
            raise UnknownId("store")
        with self._control.changing() as change:
            info = change.state.of_user(place.user, place.workspace)
            if info is None:
                now = self.now()
                info = StoreInfo(
                    place.id, place.workspace, place.user, place.user,
                    created_at_ns=now, updated_at_ns=now,
                )  # fmt: skip
                change.put(info)
                self._make(info)
        self._bind(place, info)

    def look_for(self, place: Place) -> None:
        """See whether somebody else has made a user's store since."""
        if place.writer is None and place.user is not None:
            info = self._control.reading().of_user(place.user, place.workspace)
            if info is not None:
                self._bind(place, info)

    def note_waiting(self, place: Place) -> None:
        """Records may wait at a place: they are written at the close, if not before."""
        if place.records.are_waiting:
            self._waiting.add(place)

    def flush_if_due(self, place: Place) -> None:
        """Write records that have waited long enough."""
        if place.writer is not None and place.records.are_due(self.now()):
            self.flush(place)

    def flush(self, place: Place) -> None:
        """Write what waits for a store; a store that was never made has nothing to keep."""
        self._waiting.discard(place)
        if place.writer is None:
            place.records.take()
        elif place.records.are_waiting:
            try:
                place.writer.commit(place.job((), None))
            except UnknownId:
                place.records.take()  # it was erased: nobody can have them
            finally:
                self.note_waiting(place)

    # ---- repositories

    def _check_open(self) -> None:
        if self.is_closed:
            raise Misuse("The backend is closed.")

    def _bind(self, place: Place, info: StoreInfo) -> None:
        def is_archived() -> bool:
            known = self._control.reading().get(info.id, info.workspace)
            return known.archived_at_ns is not None

        place.bind(info.id, Repository(self._path(info)), self.now, is_archived)
        self._opened.add(place)

    def _path(self, info: StoreInfo) -> str:
        if info.user is None:
            name = directory_of_store(info.id)
        else:
            name = directory_of_tenant(Tenant(info.user, info.workspace))
        return os.path.join(self._stores, f"{name}.git")

    def _make(self, info: StoreInfo, origin: Origin | None = None) -> None:
        """The repository of a store that is known from now on, with its first, empty state."""
        path = self._path(info)
        making = os.path.join(self._stores, _MAKING + info.id)
        os.makedirs(self._stores, mode=0o700, exist_ok=True)
        self._clear(ERASED, _MAKING)
        self._check_free(path)
        make(making)
        repository = Repository(making)
        objects = repository.objects()
        secret = os.urandom(32) if origin is None else origin.id_key
        state = EMPTY if origin is None else EMPTY._replace(seq=origin.above)
        first = Head(
            b"", info.id, secret, 0, state, 0, 0, 0, None, (), None, None, None, None, None, None
        )
        first = log.write(objects, first, ())
        if origin is not None:
            taken: Taken = ([(origin.context, info.created_at_ns)], {})
            first, _ = batch.run(objects, first, (), None, taken, info.created_at_ns)
        repository.save(objects.new)
        refs.LockedRef(making, LOG_REF, first.commit).swap()
        repository.forget()
        os.rename(making, path)
        pack.sync_directory(self._stores)
        pack.sync_directory(self._home)

    def _bury(self, info: StoreInfo) -> None:
        """Take a repository away; nothing is left of it once ``_clear`` has come by."""
        buried = os.path.join(self._stores, f"{ERASED}{info.id}-{os.urandom(4).hex()}")
        os.rename(self._path(info), buried)
        pack.sync_directory(self._stores)

    def _check_free(self, path: str) -> None:
        """Remove a repository of somebody who died before it was known; it never held anything."""
        if not os.path.lexists(path):
            return
        repository = Repository(path)
        commit = repository.log()
        if (
            commit is not None
            and repository.main() is None
            and not log.read(repository.objects(), commit).number
        ):
            shutil.rmtree(path)
            return
        raise Corrupt("A repository lies where this store's would be made; nobody knows its store.")

    def _clear(self, *prefixes: str) -> None:
        """Remove what erasing began to remove, and (``_MAKING``, only while the control repository
        is locked) what was never finished."""
        for name in os.listdir(self._stores):
            if name.startswith(prefixes):
                shutil.rmtree(os.path.join(self._stores, name), ignore_errors=True)

    # ---- forks

    def before_fork(self, seconds: float) -> bool:
        """See ``forks.Watched``: nothing here has to come to rest."""
        del seconds
        return True

    def after_fork_in_parent(self) -> None:
        """Nothing was held."""

    def after_fork_in_child(self, *, is_quiet: bool) -> None:
        """What waits is the parent's to write; writers see by themselves that they are copies."""
        del is_quiet
        for place in tuple(self._places.values()):
            place.records = Records()
        self._waiting.clear()
