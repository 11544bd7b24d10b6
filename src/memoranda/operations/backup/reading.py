"""A backup as what it says, each part checked before anything is done with it.

Whoever made the file may be an enemy: ids, names and paths are held to the rules for those that users
give, numbers to their ranges, and no size that the file tells is taken on trust.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple, cast

from memoranda.digests import sha256
from memoranda.errors import BadPath, DamagedBackup, Misuse
from memoranda.operations.backup import frames
from memoranda.operations.backup.writing import LARGEST_BATCH_BYTES
from memoranda.path import ROOT, MemoryPath
from memoranda.stores.base import StoreInfo, Version
from memoranda.stores.origin import MOST_ABOVE
from memoranda.tenant import DEFAULT_WORKSPACE, check_tenant, directory_of_store

if TYPE_CHECKING:
    from memoranda.operations.backup.frames import Frame, FrameReader

_MOST_NS: Final = 2**63 - 1
_LARGEST_BATCH: Final = 1_000_000
_OPERATIONS: Final = ("created", "modified", "deleted")


class StoreSaid(NamedTuple):
    """A store that begins."""

    info: StoreInfo
    id_key: bytes
    above: int
    audit: dict[str, Any]


class HoldSaid(NamedTuple):
    """A hold."""

    path: MemoryPath
    reason: str
    actor: str


class UseSaid(NamedTuple):
    """When a memory was last used."""

    path: MemoryPath
    at_ns: int


class BackupReader:
    """Gives the parts of a backup in order; raises ``DamagedBackup`` at the first that is wrong."""

    def __init__(self, read: frames.Read) -> None:
        self._frames: FrameReader = frames.FrameReader(read)
        self._next: Frame = self._frames.next()
        self._n_versions = 0

    def store(self) -> StoreSaid | None:
        """The next store; None at the end of the backup."""
        if self._next.kind == frames.END:
            return None
        return _store_said(self._taken(frames.STORE))

    def batch(self) -> list[Version]:
        """The next batch of the store; empty after the last one."""
        batch: list[Version] = []
        number: object = None
        size_bytes = 0
        while self._next.kind == frames.VERSION:
            fields = self._next.fields()
            if batch and fields.get("batch") != number:
                break
            number = fields.get("batch")
            self._advance()
            version = self._version(fields, LARGEST_BATCH_BYTES - size_bytes)
            size_bytes += len(version.content or b"")
            batch.append(version)
            if len(batch) > _LARGEST_BATCH:
                raise _wrong("a batch is too large")
        return batch

    def hold(self) -> HoldSaid | None:
        """The next hold of the store; None after the last one."""
        if self._next.kind != frames.HOLD:
            return None
        fields = self._taken(frames.HOLD)
        return HoldSaid(_path(fields, "path"), _text(fields, "reason"), _text(fields, "actor"))

    def use(self) -> UseSaid | None:
        """When the next memory was last used; None after the last one."""
        if self._next.kind != frames.USE:
            return None
        fields = self._taken(frames.USE)
        return UseSaid(_path(fields, "path"), _number(fields, "at_ns", _MOST_NS))

    def store_end(self) -> int:
        """The store ends: how many versions it has."""
        fields = self._taken(frames.STORE_END)
        return _number(fields, "versions", _MOST_NS)

    def _version(self, fields: dict[str, Any], room: int) -> Version:
        operation = fields.get("operation")
        if operation not in _OPERATIONS:
            raise _wrong("an operation is none")
        size = fields.get("content_bytes")
        content: bytes | None = None
        sha = _text_or_none(fields, "sha256")
        if size is not None:
            content = self._content(_number(fields, "content_bytes", room))
            if sha256(content).hexdigest() != sha:
                raise _wrong("a content is not the one that its hash tells")
        redacted = fields.get("redacted") is True
        self._n_versions += 1
        return Version(
            id=f"{self._n_versions} of the backup",
            memory_id=_text(fields, "memory_id"),
            operation=operation,
            path=None if fields.get("path") is None else _path(fields, "path"),
            actor=_text(fields, "actor"),
            command=_text(fields, "command"),
            created_at_ns=_number(fields, "created_at_ns", _MOST_NS),
            seq=0,
            size_bytes=None,
            sha256=None if redacted else sha,
            trace_id=_text_or_none(fields, "trace_id"),
            redacted_at_ns=0 if redacted else None,
            redacted_by=_text_or_none(fields, "redacted_by"),
            content=None if redacted else content,
        )

    def _content(self, size: int) -> bytes:
        parts: list[bytes] = []
        while size > 0:
            if self._next.kind != frames.CONTENT or not 0 < len(self._next.payload) <= size:
                raise _wrong("a content is not as long as it says")
            parts.append(self._next.payload)
            size -= len(self._next.payload)
            self._advance()
        return b"".join(parts)

    def _taken(self, kind: bytes) -> dict[str, Any]:
        if self._next.kind != kind:
            raise _wrong("its parts are in a wrong order")
        fields = self._next.fields()
        self._advance()
        return fields

    def _advance(self) -> None:
        self._next = self._frames.next()


def check_backup(read: frames.Read) -> int:
    """Read a whole backup and check each part; gives how many versions it holds. Raises ``DamagedBackup``."""
    reader = BackupReader(read)
    n_versions = 0
    while reader.store() is not None:
        n_here = 0
        while batch := reader.batch():
            n_here += len(batch)
        while reader.hold() is not None:
            pass
        while reader.use() is not None:
            pass
        if reader.store_end() != n_here:
            raise _wrong("versions are missing")
        n_versions += n_here
    return n_versions


def _store_said(fields: dict[str, Any]) -> StoreSaid:
    user = _text_or_none(fields, "user")
    try:
        directory_of_store(_text(fields, "id"))
        check_tenant(DEFAULT_WORKSPACE if user is None else user, _text(fields, "workspace"))
        id_key = bytes.fromhex(_text(fields, "id_key"))
    except (Misuse, ValueError):
        raise _wrong("a store has an id, a user or a workspace that can't be") from None
    metadata = _object(fields, "metadata")
    if len(id_key) != 32 or not all(isinstance(each, str) for each in metadata.values()):
        raise _wrong("a store is described by what can't be")
    info = StoreInfo(
        _text(fields, "id"),
        _text(fields, "workspace"),
        _text(fields, "name"),
        user,
        _text(fields, "description"),
        metadata,
        _number(fields, "created_at_ns", _MOST_NS),
        _number(fields, "updated_at_ns", _MOST_NS),
        None
        if fields.get("archived_at_ns") is None
        else _number(fields, "archived_at_ns", _MOST_NS),
    )
    return StoreSaid(info, id_key, _number(fields, "above", MOST_ABOVE), _object(fields, "audit"))


def _text(fields: dict[str, Any], name: str) -> str:
    value = fields.get(name)
    if not isinstance(value, str):
        raise _wrong(f"{name} is no text")
    return value


def _text_or_none(fields: dict[str, Any], name: str) -> str | None:
    return None if fields.get(name) is None else _text(fields, name)


def _number(fields: dict[str, Any], name: str, most: int) -> int:
    value = fields.get(name)
    if type(value) is not int or not 0 <= value <= most:
        raise _wrong(f"{name} is no number that can be")
    return value


def _object(fields: dict[str, Any], name: str) -> dict[str, Any]:
    value = fields.get(name)
    if not isinstance(value, dict):
        raise _wrong(f"{name} is no object")
    return cast("dict[str, Any]", value)


def _path(fields: dict[str, Any], name: str) -> MemoryPath:
    text = _text(fields, name)
    try:
        return MemoryPath.from_store_path(text) if text else ROOT
    except BadPath:
        raise _wrong("a path leads where none may") from None


def _wrong(what: str) -> DamagedBackup:
    return DamagedBackup(f"The backup can't be restored: {what}.")
