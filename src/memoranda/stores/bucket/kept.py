"""Events as a bucket keeps them: rows of a tree, each with its link of the hash chain."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from memoranda.digests import blake2b
from memoranda.errors import Corrupt
from memoranda.stores.log.chain import Link
from memoranda.stores.sealing import EVENT_BYTES, Event, chained, digest_of

if TYPE_CHECKING:
    from memoranda.stores.bucket.tree import Row

DRAFT_BYTES = 1024
"""Audit drafts that are longer (views and refusals, many in one) lie in an object of their own."""


class Kept(NamedTuple):
    """An event, and what is stored beside it.

    ``token`` names the attempt that wrote the batch, at its first event. ``place`` is where the
    content lies, ``draft`` where the audit draft lies that is not in ``event``, with its size.
    ``link`` stands in for the chain value of an event that is gone; ``digest`` is there once
    something was blanked.
    """

    event: Event
    chain: bytes
    taken: int
    token: str | None = None
    place: str | None = None
    draft: tuple[str, int] | None = None
    link: bytes | None = None
    digest: bytes | None = None
    redacted_at: int | None = None
    redacted_by: str | None = None

    @property
    def is_redacted(self) -> bool:
        """Whether it is a version that was blanked."""
        return self.redacted_at is not None


def row_of(kept: Kept) -> Row:
    """The event as a row; its number is the key."""
    event = kept.event
    row: list[Any] = [
        kept.taken, event.batch, event.memory, event.op, event.path, event.at, event.actor,
        event.command, event.trace, event.size, _hex(event.sha), event.body, event.audit,
        kept.chain.hex(), kept.token, kept.place, kept.draft, _hex(kept.link), _hex(kept.digest),
        kept.redacted_at, kept.redacted_by,
    ]  # fmt: skip
    while row[-1] is None:
        row.pop()
    return row


def kept_of(seq: int, row: Row) -> Kept:
    """The event that a row is; raises ``Corrupt``."""
    try:
        whole = row + [None] * (21 - len(row))
        taken, batch, memory, op, path, at, actor, command, trace, size, sha, body, audit = whole[
            :13
        ]
        chain, token, place, draft, link, digest, redacted_at, redacted_by = whole[13:]
        event = Event(
            seq, batch, memory, op, path, at, actor, command, trace, size, _bytes(sha), body, audit
        )
        return Kept(
            event, bytes.fromhex(chain), taken, token, place,
            None if draft is None else (draft[0], draft[1]), _bytes(link), _bytes(digest),
            redacted_at, redacted_by,
        )  # fmt: skip
    except (ValueError, TypeError, LookupError) as error:
        raise Corrupt("An entry of the history can't be read.") from error


def _hex(value: bytes | None) -> str | None:
    return None if value is None else value.hex()


def _bytes(text: str | None) -> bytes | None:
    return None if text is None else bytes.fromhex(text)


def link_of(kept: Kept, before: bytes, secret: bytes, draft: str | None) -> Link:
    """An event as the check of the chain takes it, after one with the chain value ``before``;
    ``draft`` is its audit draft, wherever it lies."""
    event = kept.event._replace(audit=draft)
    digest = kept.digest or digest_of(event, secret)
    return Link(
        event.seq,
        event.at,
        kept.chain,
        chained(event, digest, kept.link or before),
        kept.link,
        None if kept.digest is None else rest_of(kept, secret),
        draft if event.memory is None else None,
    )


def rest_of(kept: Kept, secret: bytes) -> str:
    """A keyed digest, in hex, of what can still be read of an event that was blanked."""
    event = kept.event
    said = repr(
        (event.path, event.size, event.audit, kept.draft, kept.redacted_at, kept.redacted_by)
    )
    return blake2b(
        said.encode() + (event.sha or b""), digest_size=16, key=secret, person=b"rest"
    ).hexdigest()


def blanked(kept: Kept, secret: bytes, draft: str | None) -> Kept:
    """An event with nothing left of its audit draft, and the digest that stands in for it."""
    digest = kept.digest or digest_of(kept.event._replace(audit=draft), secret)
    return kept._replace(event=kept.event._replace(audit=None), draft=None, digest=digest)


def taken_by(data_bytes: int) -> int:
    """What an event counts for in the history's bytes."""
    return EVENT_BYTES + data_bytes
