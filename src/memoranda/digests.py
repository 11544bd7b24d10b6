"""SHA-256 and BLAKE2b as ``hashlib`` has them, loaded at first use.

OpenSSL's library, which comes with ``hashlib``, takes 5 ms and 3 MB: a first view needs no digest.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import hashlib


def sha256(data: bytes | bytearray | memoryview = b"") -> hashlib._Hash:
    """A SHA-256 in the making, of ``data`` so far."""
    from hashlib import sha256 as begin

    return begin(data)


def blake2b(data: bytes, *, digest_size: int, key: bytes, person: bytes) -> hashlib.blake2b:
    """A keyed BLAKE2b, of ``digest_size`` bytes; ``person`` tells its uses apart."""
    from hashlib import blake2b as begin

    return begin(data, digest_size=digest_size, key=key, person=person)
