"""What a bucket knows of its stores: one small object for each, so that no two stores ever meet.

    memoranda.json                       the format, and the secret behind the digests below
    users/<digest>                       which store a user has
    lists/<workspace's digest>/<time>.<id>   an empty object: what a listing goes through, newest first
    stores/<id>/info                     names, times, archiving
    stores/<id>/head, n/, c/             the store itself
    audit/<time>-<chance>                what was erased, by whom

Users and workspaces appear as keyed digests: a key of an object can't be blanked, and takes no
character of a name.
"""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from memoranda.digests import blake2b
from memoranda.errors import Corrupt, Misuse, Unavailable, UnknownId
from memoranda.lazy_pattern import lazy_pattern
from memoranda.light_dataclasses import dataclass
from memoranda.stores.base import StoreInfo, StorePage
from memoranda.stores.bucket.faults import NO_BUCKET, Missing, Taken
from memoranda.stores.bucket.port import Wish

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from memoranda.stores.base import Context
    from memoranda.stores.bucket.port import Port, Tag

ROOT: Final = "memoranda.json"
FORMAT: Final = 1
STORES: Final = "stores"
LISTS: Final = "lists"
USERS: Final = "users"
AUDIT: Final = "audit"
_STORE_ID: Final = lazy_pattern(r"memstore_[A-Za-z0-9]{1,64}")
_END_OF_TIME: Final = 10**20
_MARK: Final = lazy_pattern(r"([0-9]{20})\.(memstore_[A-Za-z0-9]{1,64})")


def folder(store_id: str) -> str:
    """Where a store's objects are."""
    return f"{STORES}/{store_id}"


def check_id(store_id: str) -> None:
    """Raise ``UnknownId`` for what is no store's id, before it becomes part of a key."""
    if not _STORE_ID.fullmatch(store_id):
        raise UnknownId("store")


# ---------------------------------------------------------------- the root


class Root(NamedTuple):
    """The bucket's own object."""

    secret: bytes

    def workspace(self, name: str) -> str:
        """A workspace as keys have it."""
        return self._digest(b"workspace", name)

    def user(self, workspace: str, user: str) -> str:
        """The key of a user's entry."""
        return f"{USERS}/{self._digest(b'user', json.dumps([workspace, user]))}"

    def mark(self, info: StoreInfo) -> str:
        """The key by which a store is listed: newest first, then by id."""
        return f"{LISTS}/{self.workspace(info.workspace)}/{position(info)}"

    def _digest(self, person: bytes, text: str) -> str:
        said = text.encode("utf-8", "surrogatepass")
        return blake2b(said, digest_size=20, key=self.secret, person=person).hexdigest()


def position(info: StoreInfo) -> str:
    """A store's place in the list of its workspace."""
    return f"{_END_OF_TIME - 1 - info.created_at_ns:020d}.{info.id}"


class Roots:
    """The root of one backend, read once; ``make`` makes it."""

    def __init__(self, port: Port) -> None:
        self._port = port
        self._root: Root | None = None

    async def read(self) -> Root | None:
        """The root; None where nothing was ever written."""
        if self._root is None:
            try:
                got = await self._port.get(ROOT)
            except Missing:
                await self._port.keys(USERS, most=1)  # tells a bucket that is not there
                return None
            self._root = _decode_root(got.data)
        return self._root

    async def make(self) -> Root:
        """The root, made if need be."""
        root = await self.read()
        if root is not None:
            return root
        made = {"format": FORMAT, "secret": os.urandom(32).hex()}
        try:
            await self._port.put(ROOT, json.dumps(made).encode(), None)
        except Taken:
            pass
        root = await self.read()
        if root is None:
            raise Unavailable(NO_BUCKET)
        return root


def _decode_root(data: bytes) -> Root:
    try:
        said = json.loads(data)
        if said["format"] > FORMAT:
            raise Unavailable(
                "The bucket was written by a newer Memoranda; install that version to use it."
            )
        return Root(bytes.fromhex(said["secret"]))
    except (ValueError, TypeError, LookupError) as error:
        raise Corrupt("The bucket's own object (memoranda.json) can't be read.") from error


# ---------------------------------------------------------------- users


class Pointer(NamedTuple):
    """A user's entry: the store that the user has, as it was when it was made, or None; ``tag`` is None
    where there is no entry."""

    info: StoreInfo | None
    tag: Tag | None


NO_POINTER: Final = Pointer(None, None)


async def pointer(port: Port, root: Root | None, workspace: str, user: str) -> Pointer:
    """A user's entry."""
    if root is None:
        return NO_POINTER
    try:
        got = await port.get(root.user(workspace, user))
    except Missing:
        return NO_POINTER
    said = _loaded(got.data)
    if said.get("store") is None:
        return Pointer(None, got.tag)
    return Pointer(_info(said["store"]), got.tag)


async def point(port: Port, root: Root, info: StoreInfo, before: Tag | None) -> None:
    """Give a user its store; raises ``Taken`` if the entry is not what it was."""
    data = json.dumps({"store": _said(info)}).encode()
    await port.put(root.user(info.workspace, info.user or ""), data, before)


# ---------------------------------------------------------------- what is known of stores


@dataclass(frozen=True, slots=True)
class Record:
    """A store's ``info`` object; ``is_erased`` once its erasure has begun."""

    info: StoreInfo
    is_erased: bool
    tag: Tag


async def record(port: Port, store_id: str, workspace: str) -> Record:
    """What is known of a store, also of one that is being erased; raises ``UnknownId``."""
    check_id(store_id)
    try:
        got = await port.get(f"{folder(store_id)}/info")
    except Missing:
        raise UnknownId("store") from None
    said = _loaded(got.data)
    info = _info(said)
    if info.id != store_id or info.workspace != workspace:
        raise UnknownId("store")
    return Record(info, bool(said.get("erased")), got.tag)


async def info_of(port: Port, store_id: str, workspace: str) -> StoreInfo:
    """What is known of a store; raises ``UnknownId``."""
    found = await record(port, store_id, workspace)
    if found.is_erased:
        raise UnknownId("store")
    return found.info


async def publish(port: Port, root: Root, info: StoreInfo) -> None:
    """Have a new store listed and known; again changes nothing. What is known is listed."""
    await port.put_all({root.mark(info): b""})
    try:
        await port.put(f"{folder(info.id)}/info", json.dumps(_said(info)).encode(), None)
    except Taken:
        pass


async def heal(port: Port, root: Root, info: StoreInfo) -> None:
    """Publish a user's store whose maker ended between naming and publishing it."""
    try:
        await port.get(f"{folder(info.id)}/info")
    except Missing:
        await publish(port, root, info)


async def change(
    port: Port, store_id: str, workspace: str, work: Callable[[StoreInfo], StoreInfo]
) -> StoreInfo:
    """Replace what is known of a store by what ``work`` makes of it."""
    while True:
        found = await record(port, store_id, workspace)
        if found.is_erased:
            raise UnknownId("store")
        after = work(found.info)
        if after == found.info:
            return after
        try:
            await port.put(f"{folder(store_id)}/info", json.dumps(_said(after)).encode(), found.tag)
        except Taken:
            continue
        return after


async def page(
    port: Port, root: Root | None, workspace: str, after: str | None, limit: int,
    *, include_archived: bool,
) -> StorePage:  # fmt: skip
    """Newest first, then by id; see ``Backend.list``."""
    if after is not None and not _MARK.fullmatch(after):
        raise Misuse("This is no position in a list of stores.")
    if root is None or limit <= 0:
        return StorePage((), None)
    prefix = f"{LISTS}/{root.workspace(workspace)}"
    found: list[StoreInfo] = []
    while len(found) <= limit:
        marks = await port.keys(prefix, None if after is None else f"{prefix}/{after}", limit + 1)
        names: list[str] = [mark.key.rpartition("/")[2] for mark in marks]
        parsed = [one[2] for name in names if (one := _MARK.fullmatch(name)) is not None]
        infos = await _infos(port, parsed, workspace)
        found += [one for one in infos if include_archived or one.archived_at_ns is None]
        if len(marks) <= limit:
            break
        after = names[-1]
    more = len(found) > limit
    return StorePage(tuple(found[:limit]), position(found[limit - 1]) if more else None)


async def _infos(port: Port, store_ids: Sequence[str], workspace: str) -> list[StoreInfo]:
    """What is known of stores, those that there are: one round trip, if none goes meanwhile."""
    try:
        every = await port.get_all([Wish(f"{folder(one)}/info") for one in store_ids])
    except Missing:
        return [info for one in store_ids for info in await _infos_of_one(port, one, workspace)]
    said = [_loaded(data) for data in every]
    infos = [_info(one) for one in said if not one.get("erased")]
    return [info for info in infos if info.workspace == workspace]


async def _infos_of_one(port: Port, store_id: str, workspace: str) -> list[StoreInfo]:
    try:
        return [await info_of(port, store_id, workspace)]
    except UnknownId:
        return []


# ---------------------------------------------------------------- erasure


async def begin_erasure(port: Port, found: Record) -> None:
    """From here on nobody finds the store; its erasure can be begun again."""
    if found.is_erased:
        return
    data = json.dumps(
        {
            **_said(found.info._replace(name="", user=None, description="", metadata={})),
            "erased": True,
            "was": found.info.user,
        }
    )
    await port.put(f"{folder(found.info.id)}/info", data.encode(), found.tag)


async def end_erasure(port: Port, root: Root, found: Record, context: Context, now_ns: int) -> None:
    """The store's contents are gone: note that in the bucket's audit, and remove what named it."""
    info = found.info
    said = {
        "at": now_ns, "actor": context.actor, "command": context.command,
        "trace": context.trace_id, "store": info.id, "audit": dict(context.audit),
    }  # fmt: skip
    name = f"{AUDIT}/{now_ns:020d}-{os.urandom(8).hex()}"
    await port.put_all({name: json.dumps(said).encode()})
    if info.user is not None:
        entry = await pointer(port, root, info.workspace, info.user)
        if entry.info is not None and entry.info.id == info.id:
            try:
                data = json.dumps({"store": None}).encode()
                await port.put(root.user(info.workspace, info.user), data, entry.tag)
            except Taken:
                pass  # the user has another one by now
    home = folder(info.id)
    await port.delete([root.mark(info), f"{home}/head"])
    # Last: while it is there the erasure can be begun again.
    await port.delete([f"{home}/info"])


async def erasures(port: Port) -> list[dict[str, Any]]:
    """The bucket's audit: what was erased, oldest first."""
    keys = [one.key for one in await port.keys(AUDIT)]
    return [_loaded(data) for data in await port.get_all([Wish(key) for key in keys])]


def _said(info: StoreInfo) -> dict[str, Any]:
    return {**info._asdict(), "metadata": dict(info.metadata)}


def _loaded(data: bytes) -> dict[str, Any]:
    try:
        said: dict[str, Any] = json.loads(data)
    except ValueError as error:
        raise Corrupt("An object that tells of a store can't be read.") from error
    return said


def _info(said: dict[str, Any]) -> StoreInfo:
    try:
        fields = {name: said[name] for name in StoreInfo._fields}
        if "was" in said:
            fields["user"] = said["was"]
        return StoreInfo(**fields)
    except (TypeError, LookupError) as error:
        raise Corrupt("An object that tells of a store can't be read.") from error
