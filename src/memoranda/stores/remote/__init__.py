"""Stores of a Memory Stores API: another Memoranda's server, or the hosted service's."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from memoranda.stores.base import Backend

IF_VERSION_HEADER: Final = "memoranda-if-version"
"""A header of ours on updates and removals: the version that the memory has to be at. The API's own
condition is on the content, so it lets a renamed memory pass, and takes two writes of the same for
one. Servers that don't know it go by theirs."""


def open_remote(url: str, *, suspends: bool) -> Backend:
    """The backend at an ``https:`` or ``http:`` URL; nothing is sent yet.

    Raises ``Misuse`` for a URL that names none or without a key, ``Unavailable`` without the SDK.
    """
    from memoranda.stores.remote.address import check_sdk, key_for, parse

    where = parse(url)
    check_sdk()
    from memoranda.stores.remote.backend import RemoteBackend

    return RemoteBackend(where, key_for(where), suspends=suspends)
