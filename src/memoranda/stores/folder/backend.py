"""The folder backend: one directory a store, readable as it lies there.

<root>/stores/<user or store id, escaped>/memories/...
<root>/control.db        what is known of the stores
"""

from __future__ import annotations

import atexit
import os
from contextlib import suppress
from threading import Lock
from typing import TYPE_CHECKING, ClassVar, Final
from weakref import WeakSet, WeakValueDictionary

from memoranda.errors import Corrupt, Held, Misuse, StoreExists, UnknownId
from memoranda.stores import control
from memoranda.stores.base import Capabilities, Context, StoreInfo, StorePage
from memoranda.stores.controlled import ControlledBackend
from memoranda.stores.folder.clock import CLOCK, Clock
from memoranda.stores.folder.descriptor import Descriptor
from memoranda.stores.folder.faults import as_unavailable
from memoranda.stores.folder.file_port import FILES, LISTING, Files
from memoranda.stores.folder.home import ERASED, MEMORIES, STORES, Home, Whose
from memoranda.stores.folder.place import Place, close_together, open_places
from memoranda.stores.folder.store import FolderStore
from memoranda.stores.forks import all_of
from memoranda.tenant import (
    DEFAULT_WORKSPACE,
    check_tenant,
    directory_of_store,
    directory_of_tenant,
    is_hashed,
    store_of_directory,
    tenant_of_directory,
)

if TYPE_CHECKING:
    from collections.abc import Iterator
    from contextlib import AbstractContextManager

    from memoranda.stores.base import Origin
    from memoranda.stores.folder.index import Index
    from memoranda.stores.log.connection import Connection


class FolderBackend(ControlledBackend):
    """Stores in the folder at ``root``, which is made, private to its owner, at the first change.

    Safe to use from many threads and processes of one machine. ``files``, ``clock`` and ``vfs`` (of
    SQLite) are for tests.
    """

    capabilities: ClassVar[Capabilities] = Capabilities(
        external_edits=True, audits=True, takes_history=True
    )

    def __init__(
        self,
        root: str | os.PathLike[str],
        *,
        files: Files = FILES,
        clock: Clock = CLOCK,
        vfs: str | None = None,
    ) -> None:
        self.root = os.path.abspath(root)
        self.clock = clock
        self.is_closed = False
        self._files = files
        self._vfs = vfs
        self._made_index: Index | None = None
        self._begin()
        self._refuse_foreign()
        _backends.add(self)

    def _begin(self) -> None:
        self._lock = Lock()  # guards all three
        self._stores: Descriptor | None = None
        self._places: WeakValueDictionary[str, Place] = WeakValueDictionary()

    @property
    def _index(self) -> Index:
        # No view of a user's store needs it.
        from memoranda.stores.folder.index import Index

        with self._lock:
            if self._made_index is None:
                self._made_index = Index(self.root, self._vfs)
            return self._made_index

    def _refuse_foreign(self) -> None:
        """A folder of the official SDK's own tool holds memories, but none of ours."""
        here = os.path.join(self.root, MEMORIES)
        if os.path.isdir(here) and not os.path.isdir(os.path.join(self.root, STORES)):
            raise Misuse(
                "This folder holds memories of another memory tool (a directory 'memories' and no "
                "'stores'). Take them over with: memoranda import"
            )

    # ---- stores

    async def for_user(self, user: str, workspace: str = DEFAULT_WORKSPACE) -> FolderStore:
        tenant = check_tenant(user, workspace)
        self._check_open()
        whose = Whose(tenant.workspace, tenant.user, tenant.user)
        return FolderStore(self, self._place(directory_of_tenant(tenant), whose))

    async def open(self, store_id: str, workspace: str = DEFAULT_WORKSPACE) -> FolderStore:
        return FolderStore(self, self._place_of(await self.info(store_id, workspace)))

    def _make(self, info: StoreInfo) -> None:
        self._check_open()
        self._place_of(info).open(self.clock, make=True)
        with self.changing() as db:
            control.remove(db, info.id)  # who lists stores may have come upon the directory
            control.add(db, info)

    async def take_up(self, info: StoreInfo, origin: Origin) -> FolderStore:
        from memoranda.stores.folder.opening import TakenUp

        self._check_open()
        info = info._replace(archived_at_ns=None)
        self._compare_index()
        with self._index.reading() as db:
            if db is not None and control.is_taken(db, info):
                raise StoreExists
        if self._is_there(directory_of(info)):
            raise StoreExists
        self._place_of(info).take_up(info.id, TakenUp(origin, info.created_at_ns))
        with self.changing() as db:
            control.remove(db, info.id)  # who lists stores may have come upon the directory
            control.add(db, info)
        return await self.open(info.id, info.workspace)

    async def workspaces(self) -> tuple[str, ...]:
        self._check_open()
        self._compare_index()
        with self._index.reading() as db:
            return () if db is None else control.workspaces(db)

    async def find_user(self, user: str, workspace: str = DEFAULT_WORKSPACE) -> StoreInfo | None:
        tenant = check_tenant(user, workspace)
        self._check_open()
        directory = directory_of_tenant(tenant)
        if not self._is_there(directory):
            return None
        with self._index.reading() as db:
            info = None if db is None else control.of_user(db, tenant.user, tenant.workspace)
        return info or self._take_up(directory)

    async def info(self, store_id: str, workspace: str = DEFAULT_WORKSPACE) -> StoreInfo:
        self._check_open()
        info = self._known(store_id, workspace)
        if info is None:
            self._compare_index()
            info = self._known(store_id, workspace)
        if info is None or not self._is_there(directory_of(info)):
            raise UnknownId("store")
        return info

    def _known(self, store_id: str, workspace: str) -> StoreInfo | None:
        with self._index.reading() as db:
            try:
                return None if db is None else control.get(db, store_id, workspace)
            except UnknownId:
                return None

    async def list(
        self,
        workspace: str = DEFAULT_WORKSPACE,
        *,
        after: str | None = None,
        limit: int = 100,
        include_archived: bool = True,
    ) -> StorePage:
        self._check_open()
        if after is None:
            self._compare_index()
        with self._index.reading() as db:
            if db is None:
                return StorePage((), None)
            return control.page(db, workspace, after, limit, include_archived=include_archived)

    async def archive(self, store_id: str, workspace: str = DEFAULT_WORKSPACE) -> StoreInfo:
        info = await self.info(store_id, workspace)
        if info.archived_at_ns is None:
            # The store itself has to know: its writers never look into the index.
            FolderStore(self, self._place_of(info)).archive()
        with self.changing() as db:
            return control.archive(db, store_id, workspace, self.clock.now_ns())

    async def erase(
        self, store_id: str, context: Context, workspace: str = DEFAULT_WORKSPACE
    ) -> None:
        from memoranda.stores.companions import erase_proposals
        from memoranda.stores.folder.erasing import erase_directory

        info = await self.info(store_id, workspace)
        directory = directory_of(info)
        place = self._place_of(info)
        with suppress(Corrupt):  # what is damaged can be erased: nobody can tell what was held
            if await FolderStore(self, place).holds():
                raise Held
        stores = self._stores_directory(make=False)
        try:
            if stores is not None:
                erase_directory(self._files, stores.number, directory, place, self.clock)
        except OSError as error:
            raise as_unavailable(error) from error
        with self._lock:
            self._places.pop(directory, None)
        with self.changing() as db:
            control.remove(db, store_id)
            control.audit(db, store_id, context, self.clock.now_ns())
        await erase_proposals(self, info, context)

    async def close(self) -> None:
        if not self.is_closed:
            for place in list(self._places.values()):
                place.open_for_records()
            self.is_closed = True
            with self._lock:
                places, self._stores = list(self._places.values()), None
            close_together(places)
            if self._made_index is not None:
                self._made_index.close()

    def _check_open(self) -> None:
        if self.is_closed:
            raise Misuse("The backend is closed.")

    # ---- places

    def _place(self, directory: str, whose: Whose, store_id: str | None = None) -> Place:
        with self._lock:
            place = self._places.get(directory)
            if place is None:
                place = Place(self, directory, whose, store_id)
                self._places[directory] = place
            return place

    def _place_of(self, info: StoreInfo) -> Place:
        whose = Whose(info.workspace, info.user, info.name)
        return self._place(directory_of(info), whose, info.id)

    def home(self, directory: str, *, make: bool) -> Home | None:
        """Where a store's directory is, or will be; None if there is none and none is made."""
        stores = self._stores_directory(make=make)
        if stores is None:
            return None
        path = os.path.join(self.root, STORES)
        return Home(self._files, self.clock, stores, path, directory, self._vfs)

    def made(self, place: Place, created_at_ns: int) -> None:
        """A user's store was made: put it into the index."""
        whose = place.whose
        if whose.user is not None:
            with self._index.writing(durable=False) as db:
                self._add(db, place.id, whose, created_at_ns)

    def _stores_directory(self, *, make: bool) -> Descriptor | None:
        with self._lock:
            try:
                if self._stores is not None and not self._files.fstat(self._stores.number).st_nlink:
                    self._stores = None  # somebody removed the folder
                if self._stores is None:
                    try:
                        self._stores = self._open_stores(make=make)
                    except FileNotFoundError:
                        return None
                    # Another process sweeps as well, or nothing can be removed here: next time.
                    with suppress(OSError):
                        self._sweep(self._stores.number)
            except OSError as error:
                raise as_unavailable(error) from error
            return self._stores

    def _sweep(self, stores: int) -> None:
        if any(name.startswith(ERASED) for name in self._files.names(stores)):
            from memoranda.stores.folder.erasing import sweep_erased

            sweep_erased(self._files, stores)

    def _open_stores(self, *, make: bool) -> Descriptor:
        if not make:
            path = os.path.join(self.root, STORES)
            return Descriptor(self._files.open(path, LISTING))
        from memoranda.stores.folder.layout import open_or_make_directory

        if not os.path.isdir(self.root):
            os.makedirs(self.root, mode=0o700, exist_ok=True)
            os.chmod(self.root, 0o700)
        root = Descriptor(self._files.open(self.root, os.O_RDONLY | os.O_DIRECTORY))
        made = open_or_make_directory(self._files, STORES, root.number, LISTING)
        self._files.fsync(root.number)
        return Descriptor(made)

    def _is_there(self, directory: str) -> bool:
        stores = self._stores_directory(make=False)
        if stores is None:
            return False
        try:
            self._files.stat(directory, stores.number)
        except FileNotFoundError:
            return False
        except OSError as error:
            raise as_unavailable(error) from error
        return True

    # ---- the index

    def _now_ns(self) -> int:
        return self.clock.now_ns()

    def changing(self) -> AbstractContextManager[Connection]:
        self._check_open()
        self._stores_directory(make=True)  # and so the root, which the database lies in
        return self._index.writing(durable=True)

    def looking(self) -> AbstractContextManager[Connection | None]:
        self._check_open()
        return self._index.reading()

    def _compare_index(self) -> None:
        """Put stores into the index that it lacks, take out those whose directory is gone."""
        # The index first: a store that is made meanwhile is then new and not gone.
        with self._index.reading() as db:
            known = {} if db is None else {directory_of(each): each for each in _all(db)}
        stores = self._stores_directory(make=False)
        try:
            found: set[str] = set() if stores is None else set(self._files.names(stores.number))
        except OSError as error:
            raise as_unavailable(error) from error
        for directory in sorted(found - known.keys()):
            self._take_up(directory)
        gone = [info for directory, info in known.items() if directory not in found]
        if gone:
            with self._index.writing(durable=False) as db:
                for info in gone:
                    control.remove(db, info.id)

    def _take_up(self, directory: str) -> StoreInfo | None:
        """Look into a store that the index lacks, and put it in."""
        from memoranda.stores.folder import meta

        whose = whose_is(directory)
        if whose is None:
            return None
        writer = self._place(directory, whose).open(self.clock)
        if writer is None:
            return None
        with writer.group.alone():
            opened = writer.opened
            workspace, user, name = meta.get(opened.db, meta.WHOSE)
            created = opened.db.execute("SELECT created FROM store").get
            store_id = opened.log.id
        with self._index.writing(durable=False) as db:
            self._add(db, store_id, Whose(workspace, user, name), created)
            return control.get(db, store_id, workspace)

    @staticmethod
    def _add(db: Connection, store_id: str, whose: Whose, created_at_ns: int) -> None:
        rows = db.execute(
            "SELECT id FROM control WHERE id = ?1 OR (workspace = ?2 AND user = ?3)",
            (store_id, whose.workspace, whose.user),
        )
        known: list[str] = [row[0] for row in rows]
        if known == [store_id]:
            return
        for stale in known:
            control.remove(db, stale)
        control.add(
            db,
            StoreInfo(
                id=store_id,
                workspace=whose.workspace,
                name=whose.name,
                user=whose.user,
                created_at_ns=created_at_ns,
                updated_at_ns=created_at_ns,
            ),
        )

    # ---- fork

    def before_fork(self) -> None:
        """Close the index, and let nobody use it until the fork is over."""
        self._lock.acquire()  # nobody makes one meanwhile
        if self._made_index is not None:
            self._made_index.before_fork()

    def after_fork(self, *, in_child: bool) -> None:
        """Go on: in the child with locks that none of the parent's threads held."""
        if in_child:
            places = list(self._places.values())
            self._begin()
            for place in places:
                place.after_fork()
                self._places[place.directory] = place
        else:
            self._lock.release()
        if self._made_index is not None:
            self._made_index.after_fork(in_child=in_child)


def directory_of(info: StoreInfo) -> str:
    """The directory of a store."""
    if info.user is None:
        return directory_of_store(info.id)
    return directory_of_tenant(check_tenant(info.user, info.workspace))


def whose_is(directory: str) -> Whose | None:
    """Whose store a directory is by its name; None if it is nobody's."""
    tenant = tenant_of_directory(directory)
    if tenant is not None:
        return Whose(tenant.workspace, tenant.user, tenant.user)
    store_id = store_of_directory(directory)
    if store_id is not None or is_hashed(directory):
        return Whose(DEFAULT_WORKSPACE, None, "")
    return None


def _all(db: Connection) -> Iterator[StoreInfo]:
    for store_id, workspace, user in db.execute("SELECT id, workspace, user FROM control"):
        yield StoreInfo(store_id, workspace, "", user)


_backends: Final[WeakSet[FolderBackend]] = WeakSet()


def _before_fork() -> None:
    open_places.before_fork()
    for backend in all_of(_backends):
        backend.before_fork()


def _after_fork_in_parent() -> None:
    for backend in all_of(_backends):
        backend.after_fork(in_child=False)
    open_places.after_fork_in_parent()


def _after_fork_in_child() -> None:
    open_places.after_fork_in_child()
    for backend in list(_backends):
        backend.after_fork(in_child=True)


os.register_at_fork(
    before=_before_fork,
    after_in_parent=_after_fork_in_parent,
    after_in_child=_after_fork_in_child,
)
atexit.register(open_places.close_all)
