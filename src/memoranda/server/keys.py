"""Keys: who may call, for which workspace and stores, and until when.

A key is shown once. What is kept is its id, in the clear, and the SHA-256 of its secret, which is
256 random bits: nothing is gained by a slow hash, and nobody can find the secret from it.
"""

from __future__ import annotations

import json
import re
import secrets
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from hashlib import sha256
from hmac import compare_digest
from typing import Any, Final, Literal, NamedTuple, TypeAlias, cast, get_args

from memoranda.errors import Misuse, UnknownId
from memoranda.stores.companions import RESERVED
from memoranda.stores.log.ids import new_id
from memoranda.stores.records import ABSENT, Records
from memoranda.stores.sealed.ring import WORKSPACE as SEALED_WORKSPACE
from memoranda.tenant import DEFAULT_WORKSPACE, check_tenant

Role: TypeAlias = Literal["read", "write", "admin"]

KIND: Final = "key"
ROLES: Final[tuple[Role, ...]] = get_args(Role)
"""Each one may do what those before it may."""

MAX_NAME_CHARS: Final = 200
MAX_STORES: Final = 100
MAX_SECONDS: Final = 36_525 * 86_400
"""A hundred years: well inside the times that a calendar can show."""

_ID: Final = "apikey_"
_SECRET_BYTES: Final = 32
_CREDENTIAL: Final = re.compile(r"mk_([0-9A-Za-z]{26})_([0-9A-Za-z_-]{43})", re.ASCII)
_STORE: Final = re.compile(r"memstore_[0-9A-Za-z]{1,64}", re.ASCII)
_NOBODYS: Final = RESERVED | {SEALED_WORKSPACE}
_SECOND_NS: Final = 1_000_000_000


class Secret(NamedTuple):
    """The hash of a secret, and until when it counts (ns since 1970; None: as long as its key)."""

    sha256: str
    until_ns: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Key:
    """A key without its secret. ``stores`` None: all of its workspace. Times are ns since 1970."""

    id: str
    name: str
    workspace: str
    role: Role
    stores: tuple[str, ...] | None
    created_at_ns: int
    expires_at_ns: int | None
    revoked_at_ns: int | None = None
    secrets: tuple[Secret, ...] = ()

    def may(self, role: Role) -> bool:
        """Whether it may do what this role may."""
        return ROLES.index(self.role) >= ROLES.index(role)

    def reaches(self, store_id: str) -> bool:
        """Whether the store is among those it is for; of another workspace it is not even then."""
        return self.stores is None or store_id in self.stores

    def covers(self, other: Key) -> bool:
        """Whether all that another key is for is for this one too."""
        return self.workspace == other.workspace and (
            self.stores is None
            or (other.stores is not None and set(other.stores) <= set(self.stores))
        )

    def has_secret(self, digest: str, now_ns: int) -> bool:
        """Whether a secret with this SHA-256 is one of its and counts; in constant time."""
        return _is_among(self.secrets, digest, now_ns)

    def counts_at(self, now_ns: int) -> bool:
        """Whether it is neither revoked nor expired."""
        return self.revoked_at_ns is None and (
            self.expires_at_ns is None or now_ns < self.expires_at_ns
        )


class NewKey(NamedTuple):
    """A key, and its secret spelled out: the only time that it is."""

    key: Key
    credential: str


class Keys:
    """The keys of one backend. Keeps nothing: each call looks them up."""

    def __init__(self, records: Records, clock: Callable[[], int] = time.time_ns) -> None:
        self._records = records
        self._clock = clock

    async def create(
        self,
        *,
        name: str = "",
        workspace: str = DEFAULT_WORKSPACE,
        role: Role = "write",
        stores: tuple[str, ...] | None = None,
        expires_in_seconds: int | None = None,
        no_later_than_ns: int | None = None,
    ) -> NewKey:
        """Make a key, usable at once; without an end of its own it ends at ``no_later_than_ns``,
        where that is given. Raises ``Misuse`` for what can't be, and for a later end."""
        _check(name, workspace, role, stores, expires_in_seconds)
        now = self._clock()
        expires = None if expires_in_seconds is None else now + expires_in_seconds * _SECOND_NS
        if no_later_than_ns is not None:
            if expires is not None and expires > no_later_than_ns:
                raise Misuse("A key can't count longer than the key that makes it.")
            expires = no_later_than_ns if expires is None else expires
        credential, digest, key_id = _new_secret(new_id(_ID, now))
        key = Key(
            id=key_id,
            name=name,
            workspace=workspace,
            role=role,
            stores=stores,
            created_at_ns=now,
            expires_at_ns=expires,
            secrets=(Secret(digest),),
        )
        await self._records.put(key_id, _to_json(key), ABSENT)
        return NewKey(key, credential)

    async def list(self) -> tuple[Key, ...]:
        """Every key, also those that count no more, oldest first."""
        found: list[Key] = []
        while True:
            page = await self._records.list(found[-1].id if found else "", 1000)
            if not page:
                return tuple(found)
            found += [_from_json(record.value) for record in page]

    async def get(self, key_id: str) -> Key:
        """The key with this id; raises ``UnknownId``."""
        record = await self._record(key_id)
        return _from_json(record[0])

    async def revoke(self, key_id: str) -> Key:
        """Have a key count no more, for good; again changes nothing. Raises ``UnknownId``."""
        value, revision = await self._record(key_id)
        key = _from_json(value)
        if key.revoked_at_ns is not None:
            return key
        key = replace(key, revoked_at_ns=self._clock(), secrets=())
        await self._records.put(key_id, _to_json(key), revision)
        return key

    async def rotate(self, key_id: str, grace_seconds: int = 0) -> NewKey:
        """Give a key another secret; the one before counts for ``grace_seconds`` more.

        Raises ``UnknownId``, and ``Misuse`` for a key that counts no more.
        """
        value, revision = await self._record(key_id)
        key = _from_json(value)
        now = self._clock()
        if not key.counts_at(now):
            raise Misuse("The key is revoked or has expired; make a new one.")
        until = now + max(grace_seconds, 0) * _SECOND_NS
        credential, digest, _ = _new_secret(key_id)
        before = [
            Secret(old.sha256, until if old.until_ns is None else min(until, old.until_ns))
            for old in key.secrets
            if grace_seconds > 0
        ]
        key = replace(key, secrets=(Secret(digest), *before))
        await self._records.put(key_id, _to_json(key), revision)
        return NewKey(key, credential)

    async def check(self, credential: str) -> Key | None:
        """The key with this secret, if it counts now; else None, whatever is wrong.

        One look-up, by the part of the text that is no secret; the rest is compared by its hash in
        constant time, also where there is no such key.
        """
        found = _CREDENTIAL.fullmatch(credential)
        if found is None:
            return None
        record = await self._records.get(_ID + found[1])
        digest = sha256(credential.encode()).hexdigest()
        now = self._clock()
        key = None if record is None else _from_json(record.value)
        known = (Secret("0" * 64),) if key is None or not key.secrets else key.secrets
        fits = _is_among(known, digest, now)
        return key if key is not None and fits and key.counts_at(now) else None

    async def _record(self, key_id: str) -> tuple[str, str]:
        record = await self._records.get(key_id) if _is_id(key_id) else None
        if record is None:
            raise UnknownId("key")
        return record.value, record.revision


def _is_id(key_id: str) -> bool:
    return re.fullmatch(rf"{_ID}[0-9A-Za-z]{{26}}", key_id, re.ASCII) is not None


def _is_among(secrets_: tuple[Secret, ...], digest: str, now_ns: int) -> bool:
    fits = False
    for secret in secrets_:
        is_it = compare_digest(secret.sha256, digest)
        fits |= is_it and (secret.until_ns is None or now_ns < secret.until_ns)
    return fits


def _new_secret(key_id: str) -> tuple[str, str, str]:
    credential = f"mk_{key_id.removeprefix(_ID)}_{secrets.token_urlsafe(_SECRET_BYTES)}"
    return credential, sha256(credential.encode()).hexdigest(), key_id


def _check(
    name: str,
    workspace: str,
    role: str,
    stores: tuple[str, ...] | None,
    expires_in_seconds: int | None,
) -> None:
    if len(name) > MAX_NAME_CHARS or not name.isprintable():
        raise Misuse(f"The name of a key is up to {MAX_NAME_CHARS} characters that can be printed.")
    check_tenant("default", workspace)
    if workspace in _NOBODYS:
        raise Misuse(f"The workspace {workspace} is Memoranda's own; choose another name.")
    if role not in ROLES:
        raise Misuse(f"The role of a key is one of {', '.join(ROLES)}.")
    if stores is not None and not (
        0 < len(stores) <= MAX_STORES and all(_STORE.fullmatch(store) for store in stores)
    ):
        raise Misuse(f"A key is for up to {MAX_STORES} stores, each named by its id, memstore_...")
    if expires_in_seconds is not None and not 1 <= expires_in_seconds <= MAX_SECONDS:
        raise Misuse("A key expires after a second to 100 years; without an end it never does.")


def _to_json(key: Key) -> str:
    return json.dumps(
        {
            "id": key.id,
            "name": key.name,
            "workspace": key.workspace,
            "role": key.role,
            "stores": key.stores,
            "created_at_ns": key.created_at_ns,
            "expires_at_ns": key.expires_at_ns,
            "revoked_at_ns": key.revoked_at_ns,
            "secrets": [[secret.sha256, secret.until_ns] for secret in key.secrets],
        }
    )


def _from_json(value: str) -> Key:
    said = cast("dict[str, Any]", json.loads(value))
    stores = said["stores"]
    return Key(
        id=said["id"],
        name=said["name"],
        workspace=said["workspace"],
        role=said["role"],
        stores=None if stores is None else tuple(stores),
        created_at_ns=said["created_at_ns"],
        expires_at_ns=said["expires_at_ns"],
        revoked_at_ns=said["revoked_at_ns"],
        secrets=tuple(Secret(*each) for each in said["secrets"]),
    )
