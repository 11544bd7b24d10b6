"""Which names a user may have, and the directory that is that user's alone (``docs/paths.md``)."""

from __future__ import annotations

from typing import Final

from memoranda.errors import Misuse
from memoranda.lazy_pattern import lazy_pattern
from memoranda.light_named_tuples import NamedTuple

DEFAULT_WORKSPACE: Final = "default"
STORE_PREFIX: Final = "memstore_"
"""How the ids of stores begin; no user and no workspace may be called so."""

MAX_DIRECTORY_BYTES: Final = 200

_NAME: Final = lazy_pattern(r"[A-Za-z0-9][A-Za-z0-9._@:+|-]{0,127}")
_RULE: Final = "1 to 128 of A-Z a-z 0-9 . _ @ : + | -, the first a letter or a digit"
_STORE_ID: Final = lazy_pattern(r"memstore_[A-Za-z0-9]{1,64}")

_ESCAPED: Final = lazy_pattern(r"[^a-z0-9_.-]")
_ESCAPE: Final = lazy_pattern(r"=([0-9a-f]{2})")

# In an escaped name two hex digits follow each "=", so this can only stand between two names.
_BETWEEN: Final = "=-"
_HASHED: Final = lazy_pattern(r"h=[0-9a-f]{64}")


class Tenant(NamedTuple):
    """Whose a store is: a user's, in a workspace."""

    user: str
    workspace: str = DEFAULT_WORKSPACE


def check_tenant(user: str, workspace: str = DEFAULT_WORKSPACE) -> Tenant:
    """The tenant with these names once both follow the rule; raises ``Misuse``.

    A name is 1 to 128 of ``A-Z a-z 0-9 . _ @ : + | -``, the first a letter or a digit. Case
    matters, nothing is normalised. Names that begin with ``memstore_`` are kept for stores.
    """
    return Tenant(_checked("user", user), _checked("workspace", workspace))


def directory_of_tenant(tenant: Tenant) -> str:
    """The name of the tenant's directory, at most 200 ASCII characters, the same for ever.

    No two tenants share one, also where the host ignores case. It reads like the user's name, with
    ``=`` and two hex digits for what isn't ``a-z 0-9 _ - .``; a workspace other than the default
    one stands before it. A long one is ``h=`` and a SHA-256, and the store has to keep the names.
    """
    user = _escape(tenant.user)
    if tenant.workspace == DEFAULT_WORKSPACE:
        return _short_enough(user, tenant.user)
    directory = _escape(tenant.workspace) + _BETWEEN + user
    # No name holds a slash, so this is no user's name and no other pair's text.
    return _short_enough(directory, f"{tenant.workspace}/{tenant.user}")


def tenant_of_directory(directory: str) -> Tenant | None:
    """Whose directory this is; None if the name doesn't tell (``is_hashed``), or is nobody's."""
    workspace, between, user = directory.rpartition(_BETWEEN)
    try:
        if between:
            tenant = check_tenant(_unescape(user), _unescape(workspace))
        else:
            tenant = check_tenant(_unescape(user))
    except Misuse:
        return None
    return tenant if directory_of_tenant(tenant) == directory else None


def is_hashed(directory: str) -> bool:
    """Whether a tenant's directory has the form that only the store inside can explain."""
    return _HASHED.fullmatch(directory) is not None


def directory_of_store(store_id: str) -> str:
    """The directory of a store that was made through the API; raises ``Misuse`` for no store id.

    No tenant's directory begins with ``memstore_``, so the two can lie side by side.
    """
    if not _STORE_ID.fullmatch(store_id):
        raise Misuse("This is no id of a store.")
    return _escape(store_id)


def store_of_directory(directory: str) -> str | None:
    """The id of the API's store that has this directory, or None."""
    store_id = _unescape(directory)
    if _STORE_ID.fullmatch(store_id) and _escape(store_id) == directory:
        return store_id
    return None


def _checked(what: str, given: object) -> str:
    # A subclass may answer anything when asked; this is what it holds.
    name = str.__str__(given) if isinstance(given, str) else ""
    if not _NAME.fullmatch(name):
        raise Misuse(f"The name of a {what} is {_RULE}.")
    if name.startswith(STORE_PREFIX):
        raise Misuse(f"The name of a {what} can't begin with {STORE_PREFIX}.")
    return name


def _escape(name: str) -> str:
    return _ESCAPED.sub(lambda found: f"={ord(found.group()):02x}", name)


def _unescape(directory: str) -> str:
    return _ESCAPE.sub(lambda found: chr(int(found.group(1), 16)), directory)


def _short_enough(directory: str, names: str) -> str:
    # A short name that looks like a hash is hashed too: else whoever picks the user name "hA..."
    # could aim at the directory of a long one.
    if len(directory) <= MAX_DIRECTORY_BYTES and not is_hashed(directory):
        return directory
    from memoranda.digests import sha256

    return "h=" + sha256(names.encode()).hexdigest()
