"""Ids of memories, versions and stores: opaque, sortable, found again without an index.

The id of a version holds its event and its node, the id of a memory its node, both counted from
the store's first; a keyed check (from the store's secret) makes ids of other stores and garbage
unknown before any row is read. Fixed width and an alphabet in code point order make ids sort as
their numbers do: a store's version ids grow strictly.
"""

from __future__ import annotations

import os
import time
from typing import Final, Protocol

from memoranda.digests import blake2b

_ALPHABET: Final = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
_PAIRS: Final = tuple(a + b for a in _ALPHABET for b in _ALPHABET)
_62_TO_THE_8: Final = 62**8
_DIGITS: Final = {character: value for value, character in enumerate(_ALPHABET)}
_MEMORY: Final = "mem_01"
_VERSION: Final = "memver_01"
_STORE: Final = "memstore_"
_FIRST: Final = "01"
_CHARACTERS: Final = 24  # after the "01"; 62**24 > 2**142
_NUMBER_BITS: Final = 40  # numbers within a store have at most 36 bits
_VERSION_CHECK_BITS: Final = 62
_MEMORY_CHECK_BITS: Final = 102


class Numbered(Protocol):
    """A store whose events and memories have numbers: from where they are counted, and its secret."""

    @property
    def base(self) -> int:
        """The number before its first."""
        ...

    @property
    def secret(self) -> bytes:
        """What the checks in its ids are keyed with."""
        ...


def memory_id(log: Numbered, node: int) -> str:
    """The id of the memory whose node this is."""
    number = node - log.base
    check = _check(log, b"m%d" % number, _MEMORY_CHECK_BITS)
    return _MEMORY + _encode(number << _MEMORY_CHECK_BITS | check, _CHARACTERS)


def version_id(log: Numbered, seq: int, node: int) -> str:
    """The id of the version that event ``seq`` gave to ``node``."""
    numbers = (seq - log.base) << _NUMBER_BITS | (node - log.base)
    check = _check(log, b"v%d" % numbers, _VERSION_CHECK_BITS)
    return _VERSION + _encode(numbers << _VERSION_CHECK_BITS | check, _CHARACTERS)


def node_of(log: Numbered, memory: str) -> int | None:
    """The node of a memory id; None for an id that this store never gave."""
    value = _decode(memory, _MEMORY)
    if value is None:
        return None
    number = value >> _MEMORY_CHECK_BITS
    node = log.base + number
    return node if number and memory_id(log, node) == memory else None


def event_of(log: Numbered, version: str) -> tuple[int, int] | None:
    """The event and the node of a version id; None for an id that this store never gave."""
    value = _decode(version, _VERSION)
    if value is None:
        return None
    numbers = value >> _VERSION_CHECK_BITS
    seq = log.base + (numbers >> _NUMBER_BITS)
    node = log.base + (numbers & (1 << _NUMBER_BITS) - 1)
    return (seq, node) if version_id(log, seq, node) == version else None


def new_store_id(now_ns: int | None = None) -> str:
    """A fresh store id: the millisecond, then 95 random bits."""
    return new_id(_STORE, now_ns)


def new_id(prefix: str, now_ns: int | None = None) -> str:
    """A fresh id of another kind, made as those of stores are; ``prefix`` ends with ``_``."""
    now = time.time_ns() if now_ns is None else now_ns
    chance = int.from_bytes(os.urandom(12), "big") >> 1
    return prefix + _FIRST + _encode(now // 1_000_000, 8) + _encode(chance, 16)


def _check(log: Numbered, what: bytes, bits: int) -> int:
    digest = blake2b(what, digest_size=16, key=log.secret, person=b"ids").digest()
    return int.from_bytes(digest, "big") >> (128 - bits)


def _encode(value: int, characters: int) -> str:
    """``value`` in base 62; ``characters`` is a multiple of 8."""
    out = ""
    for _ in range(characters // 8):
        value, eight = divmod(value, _62_TO_THE_8)
        # Small numbers from here on, which divide in half the time of long ones.
        high, low = divmod(eight, 14_776_336)
        a, b = divmod(high, 3844)
        c, d = divmod(low, 3844)
        out = f"{_PAIRS[a]}{_PAIRS[b]}{_PAIRS[c]}{_PAIRS[d]}{out}"
    return out


def _decode(text: str, prefix: str) -> int | None:
    if not text.startswith(prefix) or len(text) != len(prefix) + _CHARACTERS:
        return None
    value = 0
    for character in text[len(prefix) :]:
        digit = _DIGITS.get(character)
        if digit is None:
            return None
        value = value * 62 + digit
    return value
