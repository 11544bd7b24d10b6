"""Whether the server keeps its word: many that speak S3 take a condition, ignore it and answer 200.

Two writers would then overwrite each other unseen, so nothing is written to such a server.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Final

from memoranda.errors import Unavailable
from memoranda.stores.bucket.faults import Taken

if TYPE_CHECKING:
    from memoranda.stores.bucket.port import Port, Tag

FOLDER: Final = "probe"
_LIES: Final = (
    "This object store ignores conditional writes, so two writers would overwrite each other:"
    " nothing is written to it. Use a server that honours If-None-Match and If-Match on PUT."
)


async def check(port: Port) -> None:
    """Raise ``Unavailable`` if a conditional write is taken that has to be refused: five requests, on
    an object of our own."""
    key = f"{FOLDER}/{os.urandom(8).hex()}"
    try:
        first = await port.put(key, b"first", None)
        if not first:
            raise Unavailable(_LIES)  # no tag: nothing could ever be swapped
        await _must_fail(port, key, None)
        second = await port.put(key, b"second", first)
        if second == first:
            raise Unavailable(_LIES)
        await _must_fail(port, key, first)
    except Taken:
        # A first answer that got lost and was sent again, or a proxy that answers by itself.
        raise Unavailable("The object store refuses a conditional write that is right.") from None
    finally:
        await port.delete([key])


async def _must_fail(port: Port, key: str, known: Tag | None) -> None:
    try:
        await port.put(key, b"lie", known)
    except Taken:
        return
    raise Unavailable(_LIES)
