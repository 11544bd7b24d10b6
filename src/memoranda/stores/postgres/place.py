"""Where a store is, and what is known of it: shared by all its handles."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from memoranda.stores.log.records import Records

if TYPE_CHECKING:
    from memoranda.stores.postgres.memo import Memo
    from memoranda.stores.postgres.port import Row


class Made(NamedTuple):
    """A store that exists: its number, and the secret behind its ids and digests."""

    number: int
    secret: bytes

    @property
    def base(self) -> int:
        """Numbers within a store are counted from here (``log.ids``)."""
        return 0


class Place:
    """Where a store is, or will be once its user changes anything.

    ``id`` of a user's store that is not made yet is the one that it will get, unless somebody else
    makes it first.
    """

    __slots__ = (
        "__weakref__", "id", "last_seq", "made", "memo", "records", "user", "workspace",
    )  # fmt: skip

    def __init__(self, store_id: str, workspace: str, user: str | None) -> None:
        self.id = store_id
        self.workspace = workspace
        self.user = user
        self.made: Made | None = None
        self.records = Records()
        self.memo: Memo | None = None
        """What this process may guess by; None where somebody else writes, too."""
        self.last_seq: int | None = None
        """The event that this process wrote last."""

    @property
    def key(self) -> tuple[str, str]:
        """What the place is known by: a workspace, and a user or a store's id."""
        return self.workspace, self.user or self.id

    def bind(self, row: Row) -> Made:
        """The store exists: number, id and secret."""
        number, self.id, secret = row
        self.made = Made(number, bytes(secret))
        return self.made
