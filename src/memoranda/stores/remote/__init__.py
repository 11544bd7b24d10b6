"""Stores of a Memory Stores API: another Memoranda's server, or the hosted service's."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from memoranda.stores.base import Backend

CHANGED_HEADER: Final = "memoranda-changed"
"""A header of ours on the answer to an update: ``false`` where it made no version. The API answers an
update that finds its own result as done, whoever did it; this tells the two apart."""


def open_remote(url: str, *, suspends: bool) -> Backend:
    """The backend at an ``https:`` or ``http:`` URL; nothing is sent yet.

    Raises ``Misuse`` for a URL that names none or without a key, ``Unavailable`` without the SDK.
    """
    from memoranda.stores.remote.address import check_sdk, key_for, parse

    where = parse(url)
    check_sdk()
    from memoranda.stores.remote.backend import RemoteBackend

    return RemoteBackend(where, key_for(where), suspends=suspends)
