"""One memory as a program reads it: its content together with what is known of it."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from typing import Final

from memoranda.errors import Conflict, NotText, ReadOnly
from memoranda.path import MemoryPath
from memoranda.stores.base import Context, Edit, Entry, Store
from memoranda.text.splice import Splice

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_LOOKS: Final = 3


@dataclass(frozen=True, slots=True)
class StoredMemory:
    """A memory at one version: its content, where it lives, and its ids, hash and times (UTC)."""

    path: MemoryPath
    content: bytes
    memory_id: str
    version_id: str
    sha256: str
    created_at: datetime
    updated_at: datetime

    @property
    def text(self) -> str:
        """The content as text; raises ``NotText`` if it is not UTF-8."""
        try:
            return self.content.decode()
        except UnicodeDecodeError:
            raise NotText(self.path) from None

    @property
    def size_bytes(self) -> int:
        """How long the content is."""
        return len(self.content)


async def read_memory(store: Store, path: MemoryPath, context: Context) -> StoredMemory:
    """The memory at ``path``; content, ids and hash are of one version whoever writes meanwhile.

    Two reads. What a person saved by hand and no command has met yet becomes a version first.
    Raises ``NotFound`` and ``IsADirectory``.
    """
    for _ in range(_LOOKS):
        entry = await store.stat(path)
        content = (await store.read(path)).data
        if sha256(content).hexdigest() == entry.sha256:
            return _stored(entry, content)
        # Another writer came in between, or a person did and the store has to be made to look.
        with suppress(Conflict, ReadOnly):
            await store.apply((Edit(path, _unchanged),), context)
    entry = await store.stat(path)
    kept = (await store.version(entry.version_id)).content
    if kept is None:
        raise Conflict("The memory was replaced and redacted while it was read.")
    return _stored(entry, kept)


def _unchanged(content: bytes) -> Splice:
    return Splice(0, 0, b"")


def _stored(entry: Entry, content: bytes) -> StoredMemory:
    return StoredMemory(
        entry.path,
        content,
        entry.memory_id,
        entry.version_id,
        entry.sha256,
        _time(entry.created_at_ns),
        _time(entry.updated_at_ns),
    )


def _time(ns: int) -> datetime:
    return _EPOCH + timedelta(microseconds=ns // 1000)
