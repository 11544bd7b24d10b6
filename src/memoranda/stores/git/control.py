"""What belongs to no store: names, users, archiving, and the backend's own audit.

A repository of its own with one ref. Its tree has

    stores/<end of the id>/<id>                   what is known of a store, as JSON
    users/<digest>                                the id of a user's store
    order/<workspace>/<time in three parts>.<id>  nothing: stores in the order in which they came
    audit/<number>                                what was done to a store as a whole, as JSON

Each change is a commit without a parent: what is erased is in no commit before it, and goes from the
disk at once. A change costs some hundred entries however many stores there are; erasing one costs
as much as there is.
"""

from __future__ import annotations

import json
import os
from contextlib import contextmanager
from threading import Lock
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from memoranda.digests import sha256
from memoranda.errors import Corrupt, MemorandaError, Misuse, Unavailable, UnknownId
from memoranda.stores.base import StoreInfo, StorePage
from memoranda.stores.git import pack, refs, trees
from memoranda.stores.git.log import COMMITTER, FORMAT
from memoranda.stores.git.objects import FILE_MODE, TREE_MODE, Entry
from memoranda.stores.git.repository import Repository, make
from memoranda.stores.turnstile import Turnstile

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator, Mapping

    from memoranda.stores.base import Context
    from memoranda.stores.git.objects import Id, Objects
    from memoranda.stores.git.trees import Names

CONTROL: Final = "control.git"
REF: Final = "refs/memoranda/control"
_TURNS: Final = "control"
_MAKING: Final = ".making-control"
_TIME_PARTS: Final = (6, 9, 16)


class Control:
    """The control repository below a directory, which may not be there yet."""

    def __init__(self, home: str) -> None:
        self.home = home
        self.path = os.path.join(home, CONTROL)
        self._repository = Repository(self.path)
        self._lock = Lock()  # guards the turnstile, and is held for as long as it is
        self._pid = os.getpid()
        self._turnstile: Turnstile | None = None

    def reading(self) -> State:
        """What is known now."""
        objects = self._repository.objects()
        commit = refs.read(self.path, REF) if os.path.isdir(self.path) else None
        return _read(objects, commit)

    @contextmanager
    def changing(self) -> Generator[Change]:
        """A change of it, all or nothing, durable once the context is left without an error."""
        if os.getpid() != self._pid:
            self._after_fork()
        with self._lock:
            turnstile = self._opened()
            turnstile.enter()
            try:
                self._make()
                objects = self._repository.objects()
                change = Change(_read(objects, refs.read(self.path, REF)))
                yield change
                self._write(change)
            except OSError as error:
                raise Unavailable("The control repository can't be written.") from error
            finally:
                turnstile.leave()

    def close(self) -> None:
        """Let go of the lock files and of what libgit2 has open."""
        with self._lock:
            if self._turnstile is not None:
                self._turnstile.close()
                self._turnstile = None
        self._repository.forget()

    def _after_fork(self) -> None:
        self._pid = os.getpid()
        self._lock = Lock()
        if self._turnstile is not None:
            self._turnstile.close()
            self._turnstile = None
        self._repository.forget()

    def _opened(self) -> Turnstile:
        if self._turnstile is None:
            try:
                os.makedirs(self.home, mode=0o700, exist_ok=True)
                self._turnstile = Turnstile(os.path.join(self.home, _TURNS))
            except OSError as error:
                raise Unavailable("The stores' directory can't be made or opened.") from error
        return self._turnstile

    def _make(self) -> None:
        if os.path.isdir(self.path):
            return
        making = os.path.join(self.home, _MAKING)
        _remove(making)
        make(making)
        os.rename(making, self.path)
        pack.sync_directory(self.home)

    def _write(self, change: Change) -> None:
        commit = change.commit()
        if commit is None:
            return
        repository, objects = self._repository, change.objects
        repository.save(objects.new)
        refs.break_lock(self.path, REF)
        refs.LockedRef(self.path, REF, commit).swap()
        if change.is_scrubbed:
            repository.keep_only(_reachable(objects, commit))
            return
        try:
            repository.tidy()
        except (OSError, MemorandaError):
            return  # it is written; there are more packs than there might be


class State(NamedTuple):
    """One state of it."""

    objects: Objects
    root: Id | None
    audits: int

    def get(self, store_id: str, workspace: str) -> StoreInfo:
        """What is known of a store; raises ``UnknownId``, also for one of another workspace."""
        data = self._blob(_store_place(store_id))
        if data is not None:
            info = _info(data)
            if (info.id, info.workspace) == (store_id, workspace):
                return info
        raise UnknownId("store")

    def workspaces(self) -> tuple[str, ...]:
        """Those that have stores, sorted."""
        root = trees.find(self.objects, self.root, (b"order",))
        if root is None:
            return ()
        found: list[str] = []
        for workspace in self.objects.read_tree(root.id).values():
            names, _ = next(trees.files(self.objects, workspace.id))
            store_id = names[-1].decode().partition(".")[2]
            found.append(_info(self._blob(_store_place(store_id)) or b"").workspace)
        return tuple(sorted(found))

    def has(self, store_id: str) -> bool:
        """Whether there is a store with this id, in whatever workspace."""
        return self._blob(_store_place(store_id)) is not None

    def of_user(self, user: str, workspace: str) -> StoreInfo | None:
        """What is known of a user's store."""
        data = self._blob(_user_place(user, workspace))
        return None if data is None else self.get(data.decode(), workspace)

    def page(
        self, workspace: str, after: str | None, limit: int, *, include_archived: bool
    ) -> StorePage:
        """The stores of a workspace, newest first, then by id downwards."""
        found: list[StoreInfo] = []
        for store_id in self._newest_first(workspace, _position(after)):
            info = self.get(store_id, workspace)
            if include_archived or info.archived_at_ns is None:
                if len(found) == limit:
                    last = found[-1] if found else None
                    position = None if last is None else _order(last)
                    return StorePage(tuple(found), position)
                found.append(info)
        return StorePage(tuple(found), None)

    def _newest_first(self, workspace: str, before: str) -> Iterator[str]:
        root = trees.find(self.objects, self.root, (b"order", _digest(workspace)))
        if root is not None and root.is_tree:
            for name in self._names(root.id, "", before):
                yield name.partition(".")[2]

    def _names(self, directory: Id, start: str, before: str) -> Iterator[str]:
        """Names below a directory that come before a position, the last first."""
        for name, entry in reversed(tuple(self.objects.read_tree(directory).items())):
            text = start + name.decode()
            if text[: len(before)] > before[: len(text)]:
                continue
            if entry.is_tree:
                yield from self._names(entry.id, text, before)
            elif text < before:
                yield text

    def _blob(self, place: Names) -> bytes | None:
        entry = trees.find(self.objects, self.root, place)
        return None if entry is None or entry.is_tree else self.objects.read_blob(entry.id)


class Change:
    """A change in the making, on a state that nobody else changes meanwhile."""

    def __init__(self, state: State) -> None:
        self.state = state
        self.objects = state.objects
        self.is_scrubbed = False
        """Whether what is gone has to be gone from the disk as well."""
        self._changes: dict[Names, Entry | None] = {}
        self._audits = state.audits

    def put(self, info: StoreInfo) -> None:
        """Keep a store, new or changed."""
        objects = self.objects
        self._changes[_store_place(info.id)] = self._file(_json_of(info))
        self._changes[_order_place(info)] = self._file(b"")
        if info.user is not None:
            place = _user_place(info.user, info.workspace)
            self._changes[place] = Entry(FILE_MODE, objects.blob(info.id.encode()))

    def remove(self, info: StoreInfo) -> None:
        """Forget a store for good."""
        self.is_scrubbed = True
        self._changes[_store_place(info.id)] = None
        self._changes[_order_place(info)] = None
        if info.user is not None:
            self._changes[_user_place(info.user, info.workspace)] = None

    def audit(self, store_id: str, context: Context, now_ns: int) -> None:
        """Note what was done to a store as a whole."""
        self._audits += 1
        told = {
            "at": now_ns, "actor": context.actor, "command": context.command,
            "trace": context.trace_id, "store": store_id, "audit": dict(context.audit),
        }  # fmt: skip
        place = (b"audit", *trees.place_of_number(self._audits))
        self._changes[place] = self._file(json.dumps(told).encode())

    def commit(self) -> Id | None:
        """The commit that tells the new state; None where nothing changed."""
        if not self._changes:
            return None
        objects = self.objects
        root = trees.graft(objects, self.state.root, self._changes) or objects.tree({})
        told = json.dumps({"format": FORMAT, "audits": self._audits})
        return objects.commit(root, (), COMMITTER, COMMITTER, 0, f"Stores\n\n{told}\n")

    def _file(self, data: bytes) -> Entry:
        return Entry(FILE_MODE, self.objects.blob(data))


def _read(objects: Objects, commit: Id | None) -> State:
    if commit is None:
        return State(objects, None, 0)
    found = objects.read_commit(commit)
    try:
        told: dict[str, Any] = json.loads(found.message.partition("\n\n")[2])
        if told["format"] == FORMAT:
            return State(objects, found.tree, int(told["audits"]))
    except (KeyError, TypeError, ValueError) as error:
        raise Corrupt("The control repository can't be read.") from error
    raise Corrupt("The control repository has a newer format; it needs a newer Memoranda.")


def _reachable(objects: Objects, commit: Id) -> Iterator[Id]:
    yield commit
    waiting = [Entry(TREE_MODE, objects.read_commit(commit).tree)]
    while waiting:
        entry = waiting.pop()
        yield entry.id
        if entry.is_tree:
            waiting += objects.read_tree(entry.id).values()


def _digest(*texts: str) -> bytes:
    return sha256("/".join(texts).encode("utf-8", "surrogatepass")).hexdigest()[:32].encode()


def _store_place(store_id: str) -> Names:
    # As it may be anything that a caller asks for, only its digest is a name.
    digest = _digest(store_id)
    return b"stores", digest[:2], digest[2:4], digest


def _user_place(user: str, workspace: str) -> Names:
    digest = _digest(workspace, user)
    return b"users", digest[:2], digest[2:4], digest


def _order(info: StoreInfo) -> str:
    return f"{info.created_at_ns:016x}.{info.id}"


def _order_place(info: StoreInfo) -> Names:
    text = _order(info)
    first, second, third = _TIME_PARTS
    parts = text[:first], text[first:second], text[second:]
    assert len(text) > third  # the id follows
    return (b"order", _digest(info.workspace), *(part.encode() for part in parts))


def _position(after: str | None) -> str:
    if after is None:
        return "g"  # after every hexadecimal digit
    created, dot, _ = after.partition(".")
    if not dot or len(created) != _TIME_PARTS[-1] or set(created) - set("0123456789abcdef"):
        raise Misuse("This is no position in a list of stores.")
    return after


def _json_of(info: StoreInfo) -> bytes:
    try:
        return json.dumps({**info._asdict(), "metadata": dict(info.metadata)}).encode()
    except (TypeError, ValueError) as error:
        raise Misuse("Metadata are texts by name.") from error


def _info(data: bytes) -> StoreInfo:
    try:
        return StoreInfo(**json.loads(data))
    except (TypeError, ValueError) as error:
        raise Corrupt("What is known of a store can't be read.") from error


def updated(
    before: StoreInfo,
    now_ns: int,
    *,
    name: str | None,
    description: str | None,
    metadata: Mapping[str, str] | None,
) -> StoreInfo:
    """What is known once what is given has changed; the time only if anything does."""
    after = before._replace(
        name=before.name if name is None else name,
        description=before.description if description is None else description,
        metadata=before.metadata if metadata is None else dict(metadata),
    )
    if after == before:
        return before
    return after._replace(updated_at_ns=max(now_ns, before.updated_at_ns))


def _remove(path: str) -> None:
    import shutil

    shutil.rmtree(path, ignore_errors=True)
