"""One sealed content: a header in the clear, the sealed hash, the sealed text (``docs/formats/sealed.md``).

Every content has a key of its own, derived from the store's data key and a random salt, so that the
nonces of AES-GCM can be fixed: none is ever used twice under one key, however many contents there are.
"""

from __future__ import annotations

from struct import Struct
from typing import TYPE_CHECKING, Final

from memoranda.digests import blake2b, sha256
from memoranda.errors import Corrupt
from memoranda.light_named_tuples import NamedTuple
from memoranda.stores.sealed.keys import KEY_BYTES, aes

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

    from memoranda.path import MemoryPath
    from memoranda.stores.sealed.ring import Ring

MAGIC: Final = b"\x93MS\x01"
SALT_BYTES: Final = 24
DIGEST_BYTES: Final = 16
TAG_BYTES: Final = 16
SHA_BYTES: Final = 32

_HEADER: Final = Struct(f">4s8s{SALT_BYTES}s{DIGEST_BYTES}s{DIGEST_BYTES}sQQ")
HEAD_BYTES: Final = _HEADER.size + SHA_BYTES + TAG_BYTES
"""How much of a sealed content tells its plain size and hash."""

OVERHEAD_BYTES: Final = HEAD_BYTES + TAG_BYTES
"""How much longer a sealed content is than the plain one, whatever its size."""

UNBOUND: Final = bytes(DIGEST_BYTES)
"""In place of a memory's digest: the memory had no id yet when this was sealed."""

_HASH_NONCE: Final = bytes(12)
_TEXT_NONCE: Final = bytes(11) + b"\x01"


class Head(NamedTuple):
    """What a sealed content says of itself, authenticated.

    ``place`` and ``memory`` are keyed digests of the path and the id that it was sealed for;
    ``generation`` grows with every content of one memory; ``sha256`` is that of the plain text.
    """

    key_id: bytes
    salt: bytes
    place: bytes
    memory: bytes
    generation: int
    size_bytes: int
    sha256: str


def seal(ring: Ring, plain: bytes, place: MemoryPath, memory: bytes, generation: int) -> bytes:
    """``plain`` sealed with the ring's current key; ``memory`` is ``digest_of_memory`` or UNBOUND."""
    from secrets import token_bytes

    key_id = ring.current
    salt = token_bytes(SALT_BYTES)
    header = _HEADER.pack(
        MAGIC, key_id, salt, digest_of_place(ring, place), memory, generation, len(plain)
    )
    cipher, bound = _cipher(ring, key_id, salt), _bound(ring, header)
    sealed_hash = cipher.encrypt(_HASH_NONCE, sha256(plain).digest(), bound)
    return header + sealed_hash + cipher.encrypt(_TEXT_NONCE, plain, bound)


def peek(ring: Ring, sealed: bytes) -> Head:
    """The head of a sealed content, of which at least ``HEAD_BYTES`` are given; raises ``Corrupt``."""
    if sealed[:4] != MAGIC:
        raise Corrupt("it is not sealed: it was written by other means, or with another format")
    if len(sealed) < HEAD_BYTES:
        raise Corrupt("it is cut off")
    header = sealed[: _HEADER.size]
    _, key_id, salt, place, memory, generation, size = _HEADER.unpack(header)
    hashed = _open(ring, key_id, salt, header, _HASH_NONCE, sealed[_HEADER.size : HEAD_BYTES])
    return Head(key_id, salt, place, memory, generation, size, hashed.hex())


def key_id_of(sealed: bytes) -> bytes:
    """The id of the data key that a content says it is sealed with; nothing is checked."""
    return sealed[4:12]


def unseal(ring: Ring, sealed: bytes) -> tuple[Head, bytes]:
    """The head and the plain text of a whole sealed content; raises ``Corrupt``."""
    head = peek(ring, sealed)
    header = sealed[: _HEADER.size]
    plain = _open(ring, head.key_id, head.salt, header, _TEXT_NONCE, sealed[HEAD_BYTES:])
    return head, plain


def digest_of_place(ring: Ring, path: MemoryPath) -> bytes:
    """What a header says of a path; only who has the store's keys can tell which one it is."""
    return _digest(ring, path.store_path, b"seal place")


def digest_of_memory(ring: Ring, memory_id: str) -> bytes:
    """What a header says of a memory's id."""
    return _digest(ring, memory_id, b"seal memory")


def _digest(ring: Ring, text: str, person: bytes) -> bytes:
    key = ring.binding
    return blake2b(text.encode(), digest_size=DIGEST_BYTES, key=key, person=person).digest()


def _cipher(ring: Ring, key_id: bytes, salt: bytes) -> AESGCM:
    key = ring.key(key_id)
    return aes(blake2b(salt, digest_size=KEY_BYTES, key=key, person=b"seal content").digest())


def _bound(ring: Ring, header: bytes) -> bytes:
    return b"memoranda sealed content" + ring.binding + header


def _open(ring: Ring, key_id: bytes, salt: bytes, header: bytes, nonce: bytes, box: bytes) -> bytes:
    from cryptography.exceptions import InvalidTag

    try:
        return _cipher(ring, key_id, salt).decrypt(nonce, box, _bound(ring, header))
    except InvalidTag:
        raise Corrupt("it was changed, cut off, or sealed for another store") from None
