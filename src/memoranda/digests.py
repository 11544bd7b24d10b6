"""SHA-256 and BLAKE2b as ``hashlib`` has them, loaded at first use.

OpenSSL's library, which comes with ``hashlib``, takes 5 ms and 3 MB: a first view needs no digest.
"""

from __future__ import annotations

from typing import Protocol


class Digest(Protocol):
    """A digest in the making."""

    def update(self, data: bytes | bytearray | memoryview, /) -> None:
        """Go on with ``data``."""

    def digest(self) -> bytes:
        """The bytes of it."""
        ...

    def hexdigest(self) -> str:
        """The same in lower-case hex."""
        ...


def sha256(data: bytes | bytearray | memoryview = b"") -> Digest:
    """A SHA-256 in the making, of ``data`` so far."""
    from hashlib import sha256 as begin

    return begin(data)


def blake2b(data: bytes, *, digest_size: int, key: bytes, person: bytes) -> Digest:
    """A keyed BLAKE2b, of ``digest_size`` bytes; ``person`` tells its uses apart."""
    from hashlib import blake2b as begin

    return begin(data, digest_size=digest_size, key=key, person=person)
