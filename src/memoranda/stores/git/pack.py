"""Objects as a pack: one file and its index, two syncs for however many objects.

libgit2 writes an object a file and syncs each one: 83 ms for the 13 objects of a small batch where a
pack takes 8. https://git-scm.com/docs/gitformat-pack has both formats.
"""

from __future__ import annotations

import hashlib
import os
import struct
import zlib
from itertools import accumulate
from typing import TYPE_CHECKING, Final

from memoranda.errors import Corrupt

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from memoranda.stores.git.objects import Id

TEMPORARY: Final = "tmp_memoranda"
"""What files begin with that are not whole yet; ``git prune`` takes ``tmp_`` away, too."""
LARGEST_PACK_BYTES: Final = 2**30
_LONG_OFFSET: Final = 2**31
_WHOLE: Final = frozenset({1, 2, 3, 4})
_INDEX: Final = b"\377tOc\0\0\0\2"
_FANOUT: Final = struct.Struct(">256I")


def write(directory: str, objects: Mapping[Id, tuple[int, bytes]]) -> None:
    """Write objects as packs into a directory ``objects/pack``; durable on return."""
    some: dict[Id, bytes] = {}
    size = 0
    for name, (kind, data) in objects.items():
        some[name] = packed(kind, data)
        size += len(some[name])
        if size > LARGEST_PACK_BYTES:  # offsets in an index have 31 bits here
            write_packed(directory, some)
            some, size = {}, 0
    if some:
        write_packed(directory, some)
    sync_directory(directory)


def packed(kind: int, data: bytes) -> bytes:
    """An object as a pack has it."""
    return _header(kind, len(data)) + zlib.compress(data, 1)


def write_packed(directory: str, objects: Mapping[Id, bytes]) -> str:
    """One pack of these objects, durable but for its name, which is given."""
    parts = [b"PACK" + struct.pack(">II", 2, len(objects))]
    offset = len(parts[0])
    places: dict[Id, tuple[int, int]] = {}
    for name, data in objects.items():
        places[name] = (zlib.crc32(data), offset)
        parts.append(data)
        offset += len(data)
    body = b"".join(parts)
    checksum = _sha1(body)
    names = sorted(places)
    fanout = [0] * 256
    for name in names:
        fanout[name[0]] += 1
    index = b"".join(
        [
            _INDEX,
            _FANOUT.pack(*accumulate(fanout)),
            *names,
            *(struct.pack(">I", places[name][0]) for name in names),
            *(struct.pack(">I", places[name][1]) for name in names),
            checksum,
        ]
    )
    stem = f"pack-{checksum.hex()}"
    temporary = os.path.join(directory, f"{TEMPORARY}_{os.getpid()}_{checksum.hex()}_")
    # A pack is looked for once its index is there. Git reads whatever ends in .idx, whole or not.
    for kind, data in (("pack", body + checksum), ("idx", index + _sha1(index))):
        write_file(temporary + kind, data)
    for kind in ("pack", "idx"):
        os.rename(temporary + kind, os.path.join(directory, f"{stem}.{kind}"))
    return stem


def read_packed(directory: str, stem: str) -> Iterator[tuple[Id, bytes | None]]:
    """The objects of a pack as it has them; None for one that is told by its difference to another.

    Raises ``Corrupt`` for an index that is not of version 2 or has offsets of more than 31 bits.
    """
    with open(os.path.join(directory, stem + ".idx"), "rb") as file:
        index = file.read()
    with open(os.path.join(directory, stem + ".pack"), "rb") as file:
        data = file.read()
    start = len(_INDEX) + _FANOUT.size
    if not index.startswith(_INDEX) or len(index) < start:
        raise Corrupt("An index of the repository can't be read.")
    count: int = _FANOUT.unpack_from(index, len(_INDEX))[-1]
    offsets: tuple[int, ...] = struct.unpack_from(f">{count}I", index, start + 24 * count)
    order = sorted(range(count), key=offsets.__getitem__)
    ends = [*(offsets[place] for place in order[1:]), len(data) - 20]
    for place, end in zip(order, ends, strict=True):
        offset = offsets[place]
        if not offset < end < _LONG_OFFSET:
            raise Corrupt("An index of the repository can't be read.")
        name = index[start + 20 * place : start + 20 * place + 20]
        kind = data[offset] >> 4 & 7
        yield name, data[offset:end] if kind in _WHOLE else None


def count_in(path: str) -> int:
    """How many objects an index lists, from its beginning."""
    with open(path, "rb") as file:
        data = file.read(len(_INDEX) + _FANOUT.size)
    if not data.startswith(_INDEX) or len(data) < len(_INDEX) + _FANOUT.size:
        raise Corrupt("An index of the repository can't be read.")
    count: int = _FANOUT.unpack_from(data, len(_INDEX))[-1]
    return count


def remove(directory: str, stems: Iterable[str]) -> None:
    """Remove packs whose objects are elsewhere by now, the index first."""
    for stem in stems:
        for suffix in (".idx", ".pack", ".rev", ".bitmap", ".mtimes"):
            try:
                os.unlink(os.path.join(directory, stem + suffix))
            except FileNotFoundError:
                continue


def write_file(path: str, data: bytes) -> None:
    """A new file with this content; durable but for its name."""
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
    try:
        view = memoryview(data)
        while view:
            view = view[os.write(descriptor, view) :]
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def sync_directory(path: str) -> None:
    """Make the names in a directory durable."""
    descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _header(kind: int, size: int) -> bytes:
    head = bytearray()
    byte = kind << 4 | size & 15
    size >>= 4
    while size:
        head.append(byte | 0x80)
        byte = size & 0x7F
        size >>= 7
    head.append(byte)
    return bytes(head)


def _sha1(data: bytes) -> bytes:
    return hashlib.sha1(data, usedforsecurity=False).digest()
