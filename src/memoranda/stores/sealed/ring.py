"""A store's data keys, wrapped, in a small store of their own beside it.

The ring of a store is the memory ``/keys.json`` of a companion (``stores/companions.py``) in the
workspace ``sealed-keys`` of the same backend.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from memoranda.digests import sha256
from memoranda.errors import AlreadyExists, Corrupt, NotFound
from memoranda.light_named_tuples import NamedTuple
from memoranda.path import MemoryPath
from memoranda.stores.base import Context, Expect, IfContent, Put
from memoranda.stores.sealed.keys import KEY_BYTES

if TYPE_CHECKING:
    from collections.abc import Hashable, Mapping

    from memoranda.stores.base import Store
    from memoranda.stores.sealed.keys import Keys

WORKSPACE: Final = "sealed-keys"
PATH: Final = MemoryPath.of(("keys.json",))

_FORMAT: Final = 1
_ID_BYTES: Final = 8
_BINDING: Final = b"binding"
_BY: Final = Context(actor="memoranda", command="seal")


class Ring:
    """The data keys of one store by their ids, and the secret that binds contents to the store."""

    __slots__ = ("_keys", "binding", "current")

    def __init__(self, binding: bytes, keys: dict[bytes, bytes], current: bytes) -> None:
        self.binding = binding
        self.current = current
        self._keys = keys

    def has(self, key_id: bytes) -> bool:
        """Whether there is a data key with this id."""
        return key_id in self._keys

    def key(self, key_id: bytes) -> bytes:
        """The data key with this id; raises ``Corrupt``."""
        key = self._keys.get(key_id)
        if key is None:
            raise Corrupt("it is sealed with a key that this store doesn't have")
        return key


class Loaded(NamedTuple):
    """A ring, and the stamp of the memory that it was read from."""

    ring: Ring
    stamp: Hashable


class RingKeeper:
    """Reads and makes the ring of one store in its companion."""

    def __init__(self, companion: Store, label: str, keys: Keys) -> None:
        self._companion = companion
        self._label = label
        self._keys = keys

    async def load(self, known: Loaded | None) -> Loaded | None:
        """The ring as it is now (``known``, where it is still that); None where there is none.

        One read. Raises ``Misuse`` for a wrong key, ``Corrupt`` for a ring that is damaged.
        """
        try:
            content = await self._companion.read(PATH)
        except NotFound:
            return None
        if known is not None and known.stamp == content.stamp:
            return known
        return Loaded(self._parsed(content.data), content.stamp)

    async def make(self) -> Loaded:
        """The ring; a new one with a random data key, unless somebody else was faster."""
        from secrets import token_bytes

        key_id = token_bytes(_ID_BYTES)
        data = self._text(token_bytes(KEY_BYTES), key_id, token_bytes(KEY_BYTES))
        try:
            await self._companion.apply([Put(PATH, data, Expect.ABSENT)], _BY)
        except AlreadyExists:
            pass
        made = await self.load(None)
        if made is None:
            raise Corrupt("The store's keys vanished while they were made.")
        return made

    async def rewrap(self, *, new_data_key: bool = False) -> bool:
        """Have the current service wrap all keys of the ring; whether anything changed. With a
        ``new_data_key`` what is sealed from then on is sealed with that; the others stay.

        One swap of the ring, then what was wrapped before is blanked for good. May be repeated after
        a kill at any step. Raises ``Conflict`` where somebody else does it at this moment.
        """
        try:
            content = await self._companion.read(PATH)
        except NotFound:
            return False
        found = self._parsed(content.data)
        ring = self._known(content.data)
        rows = [ring["binding"], *ring["keys"].values()]
        is_old = any(row["service"] != self._keys.current.id for row in rows)
        if is_old or new_data_key:
            ring["binding"] = self._wrapped(found.binding, _BINDING)
            for key_id in ring["keys"]:
                name = bytes.fromhex(key_id)
                ring["keys"][key_id] = self._wrapped(found.key(name), name)
            if new_data_key:
                self._add_key(ring)
            expect = IfContent(sha256(content.data).hexdigest())
            put = Put(PATH, json_text(ring), expect)
            await self._companion.apply([put], _BY)
        for version in (await self._companion.versions(limit=1000)).versions[1:]:
            if version.redacted_at_ns is None:
                await self._companion.redact(version.id, _BY)
        return is_old or new_data_key

    def _add_key(self, ring: dict[str, Any]) -> None:
        from secrets import token_bytes

        key_id = token_bytes(_ID_BYTES)
        ring["keys"][key_id.hex()] = self._wrapped(token_bytes(KEY_BYTES), key_id)
        ring["current"] = key_id.hex()

    async def close(self) -> None:
        """Let go of the companion."""
        await self._companion.close()

    def _text(self, binding: bytes, key_id: bytes, key: bytes) -> bytes:
        ring = {
            "format": _FORMAT,
            "binding": self._wrapped(binding, _BINDING),
            "current": key_id.hex(),
            "keys": {key_id.hex(): self._wrapped(key, key_id)},
        }
        return json_text(ring)

    @staticmethod
    def _known(data: bytes) -> dict[str, Any]:
        import json

        ring: dict[str, Any] = json.loads(data)
        if ring["format"] != _FORMAT:
            raise Corrupt("The store's keys were written by a newer release; use that one.")
        return ring

    def _parsed(self, data: bytes) -> Ring:
        try:
            ring = self._known(data)
            keys = {
                bytes.fromhex(key_id): self._unwrapped(row, bytes.fromhex(key_id))
                for key_id, row in ring["keys"].items()
            }
            binding = self._unwrapped(ring["binding"], _BINDING)
            return Ring(binding, keys, bytes.fromhex(ring["current"]))
        except (ValueError, KeyError, TypeError, AttributeError):
            raise Corrupt("The store's keys are damaged; restore them from a backup.") from None

    def _wrapped(self, key: bytes, name: bytes) -> dict[str, str]:
        from base64 import b64encode

        service = self._keys.current
        wrapped = service.wrap(key, self._context(name))
        return {"service": service.id, "wrapped": b64encode(wrapped).decode("ascii")}

    def _unwrapped(self, row: Mapping[str, str], name: bytes) -> bytes:
        from base64 import b64decode

        wrapped = b64decode(row["wrapped"], validate=True)
        return self._keys.unwrap(row["service"], wrapped, self._context(name))

    def _context(self, name: bytes) -> bytes:
        return b"memoranda data key/%b/%b" % (self._label.encode(), name)


def json_text(ring: Mapping[str, Any]) -> bytes:
    """A ring as it is kept."""
    import json

    return json.dumps(ring, indent=1).encode()
