"""The key that all data keys are wrapped with: from the environment, a file, or a key service."""

from __future__ import annotations

import os
from base64 import b64decode
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final, Protocol

from memoranda.digests import blake2b
from memoranda.errors import Misuse

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

KEY_BYTES: Final = 32
NONCE_BYTES: Final = 12

KEY_VARIABLE: Final = "MEMORANDA_SEALED_KEY"
FILE_VARIABLE: Final = "MEMORANDA_SEALED_KEY_FILE"
FORMER_KEY_VARIABLE: Final = "MEMORANDA_SEALED_FORMER_KEY"
FORMER_FILE_VARIABLE: Final = "MEMORANDA_SEALED_FORMER_KEY_FILE"
_FORM: Final = "32 random bytes as base64 or hex, for example from `openssl rand -base64 32`"


class KeyService(Protocol):
    """What wraps data keys: a key-management service, or ``LocalKey``.

    Both methods may block; each is called once or twice when a store is opened or made, never with
    a content. ``context`` binds a wrapped key to its place: unwrapping with another one has to fail.
    """

    @property
    def id(self) -> str:
        """Which key wraps: up to 100 characters, no secret, kept beside what it wrapped."""
        ...

    def wrap(self, key: bytes, context: bytes) -> bytes:
        """The 32 bytes of a data key, encrypted and authenticated; raises ``Unavailable``."""
        ...

    def unwrap(self, wrapped: bytes, context: bytes) -> bytes:
        """What was wrapped. Raises ``Unavailable``, and ``Misuse`` where it can't be this key's."""
        ...


class LocalKey:
    """A key-encryption key of 32 bytes that this process holds; neither shown nor compared."""

    __slots__ = ("_key", "id")

    def __init__(self, key: bytes) -> None:
        """Raises ``Misuse`` for a key of another length."""
        if type(key) is not bytes or len(key) != KEY_BYTES:
            raise Misuse(f"A key has to be {_FORM}.")
        self._key = key
        self.id = "local:" + blake2b(b"", digest_size=8, key=key, person=b"seal key id").hexdigest()

    def __repr__(self) -> str:
        return f"LocalKey({self.id})"

    def wrap(self, key: bytes, context: bytes) -> bytes:
        """The key, encrypted with AES-256-GCM under a random nonce."""
        from secrets import token_bytes

        nonce = token_bytes(NONCE_BYTES)
        return nonce + aes(self._key).encrypt(nonce, key, context)

    def unwrap(self, wrapped: bytes, context: bytes) -> bytes:
        """What was wrapped; raises ``Misuse``."""
        from cryptography.exceptions import InvalidTag

        try:
            return aes(self._key).decrypt(wrapped[:NONCE_BYTES], wrapped[NONCE_BYTES:], context)
        except (InvalidTag, ValueError):
            raise Misuse("The wrapped key was changed, or belongs to another store.") from None


def parse_key(text: str) -> LocalKey:
    """The key that a text spells; raises ``Misuse``, which doesn't repeat it."""
    text = text.strip()
    try:
        if len(text) == 2 * KEY_BYTES:
            return LocalKey(bytes.fromhex(text))
        return LocalKey(b64decode(text, validate=True))
    except ValueError:
        raise Misuse(f"A key has to be {_FORM}.") from None


def key_of_environment(environ: Mapping[str, str] = os.environ) -> LocalKey:
    """The key in ``MEMORANDA_SEALED_KEY``, or in the file that ``MEMORANDA_SEALED_KEY_FILE`` names.

    Raises ``Misuse``: none of them is set, both are, or what is there is no key.
    """
    text, file = environ.get(KEY_VARIABLE), environ.get(FILE_VARIABLE)
    if bool(text) == bool(file):
        raise Misuse(
            f"A sealed store needs its key: set {KEY_VARIABLE} to {_FORM}, "
            f"or {FILE_VARIABLE} to the file that holds it; one of the two."
        )
    if text:
        return parse_key(text)
    try:
        with open(file or "", encoding="ascii") as opened:
            return parse_key(opened.read(1000))
    except (OSError, UnicodeDecodeError):
        raise Misuse(f"The file that {FILE_VARIABLE} names can't be read.") from None


def former_of_environment(environ: Mapping[str, str] = os.environ) -> tuple[LocalKey, ...]:
    """The key before the present one, in ``MEMORANDA_SEALED_FORMER_KEY`` or the file that
    ``MEMORANDA_SEALED_FORMER_KEY_FILE`` names; none where neither is set. Raises ``Misuse``."""
    names = {KEY_VARIABLE: FORMER_KEY_VARIABLE, FILE_VARIABLE: FORMER_FILE_VARIABLE}
    given = {name: environ[former] for name, former in names.items() if environ.get(former)}
    if not given:
        return ()
    try:
        return (key_of_environment(given),)
    except Misuse as error:
        raise Misuse(f"The former key ({FORMER_KEY_VARIABLE}): {error}") from None


class Keys:
    """The service that wraps now, and former ones that can still unwrap."""

    def __init__(self, current: KeyService, former: Sequence[KeyService] = ()) -> None:
        self.current = current
        self._all = {service.id: service for service in (*former, current)}

    def unwrap(self, service_id: str, wrapped: bytes, context: bytes) -> bytes:
        """A data key; raises ``Misuse`` where none of the services has wrapped it."""
        service = self._all.get(service_id)
        if service is None:
            raise Misuse(
                f"The store is sealed with another key ({service_id}) than the given one "
                f"({self.current.id}). Nothing was changed; give the right key."
            )
        return service.unwrap(wrapped, context)


def aes(key: bytes) -> AESGCM:
    """AES-256-GCM with a key; raises ``Misuse`` where the library is missing."""
    try:
        from cryptography.hazmat.primitives.ciphers.aead import AESGCM
    except ImportError:
        raise Misuse(
            'Sealed stores need the extra "sealed": pip install "memoranda[sealed]"'
        ) from None
    return AESGCM(key)
