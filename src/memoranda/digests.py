"""SHA-256 and BLAKE2b as ``hashlib`` has them, loaded at first use.

OpenSSL's library, which comes with ``hashlib``, takes 5 ms and 3 MB: a first view needs no digest.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Protocol, cast


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


class _Hashlib(Protocol):
    sha256: Callable[..., Digest]
    blake2b: Callable[..., Digest]


@cache
def _hashlib() -> _Hashlib:
    import hashlib

    return cast("_Hashlib", hashlib)


def sha256(data: bytes | bytearray | memoryview = b"") -> Digest:
    """A SHA-256 in the making, of ``data`` so far."""
    return _hashlib().sha256(data)


def blake2b(data: bytes, *, digest_size: int, key: bytes, person: bytes) -> Digest:
    """A keyed BLAKE2b, of ``digest_size`` bytes; ``person`` tells its uses apart."""
    return _hashlib().blake2b(data, digest_size=digest_size, key=key, person=person)
