"""From a URL to a backend; each backend is imported when its scheme is asked for.

=================================  ==============================================================
``./memory``, ``/srv/memory``      a folder (``file:///srv/memory`` is the same)
``sqlite:///memory.db``            one SQLite file; four slashes begin an absolute path
``postgresql://user@host/name``    PostgreSQL; blocks, or suspends for callers that await
``s3://bucket/prefix``             an object store (``gs://``, ``az://`` too); blocks or suspends
``https://host``                   a server that speaks the Memory Stores API (``http:`` on this
                                   machine only); the key comes from ``MEMORANDA_API_KEY``
``git:///srv/memory``              a directory of git repositories, one a store
``memory:``, ``memory:name``       RAM: private, or shared within the process under a name
``sealed:`` before any of these    the same with its contents encrypted; the key comes from
                                   ``MEMORANDA_SEALED_KEY`` or ``MEMORANDA_SEALED_KEY_FILE``,
                                   a former one from ``MEMORANDA_SEALED_FORMER_KEY`` (``_FILE``)
=================================  ==============================================================

Other packages add schemes by an entry point in the group ``memoranda.backends``: its name is the
scheme, what it loads is called with the whole URL and returns a ``Backend``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from memoranda.errors import Misuse
from memoranda.lazy_pattern import lazy_pattern

if TYPE_CHECKING:
    from collections.abc import Callable

    from memoranda.stores.base import Backend

ENTRY_POINTS: Final = "memoranda.backends"
SEALED: Final = "sealed"
"""The scheme that stands before another URL and has its contents encrypted."""

_SCHEME: Final = lazy_pattern(r"([A-Za-z][A-Za-z0-9+.-]+):")  # two letters or more: "C:" is a drive


def suspends_for(url: str) -> bool:
    """Whether callers that await get a backend of their own for this URL, one that suspends."""
    scheme = _SCHEME.match(url)
    if scheme is None:
        return False
    name = scheme[1].lower()
    return name in _TWO_COLOURS or (name == SEALED and suspends_for(url[scheme.end() :]))


def open_suspending(url: str) -> Backend:
    """``open_backend`` for callers that await, where ``suspends_for`` says that it differs."""
    scheme = _SCHEME.match(url)
    if scheme is not None and scheme[1].lower() == SEALED:
        _check_sealable(url[scheme.end() :])
        return _seal(open_suspending(url[scheme.end() :]))
    return _network(url, suspends=True)


def open_backend(url: str) -> Backend:
    """The backend that a URL names; opens nothing yet, or as little as the backend can.

    Raises ``Misuse`` for a URL that names none. No error repeats the URL: it may hold a password.
    """
    scheme = _SCHEME.match(url)
    if scheme is None:
        return _folder(url)
    name = scheme[1].lower()
    if name in _TWO_COLOURS:
        return _network(url, suspends=False)
    own = _OWN.get(name)
    return _outside(name, url) if own is None else own(url[scheme.end() :])


def _network(url: str, *, suspends: bool) -> Backend:
    """The backend of a scheme that has both colours."""
    if url.partition(":")[0].lower() in _REMOTE:
        from memoranda.stores.remote import open_remote

        return open_remote(url, suspends=suspends)
    if url.partition(":")[0].lower() in _POSTGRES:
        from memoranda.stores.postgres.backend import PostgresBackend

        return PostgresBackend(url, suspends=suspends)
    from memoranda.stores.bucket.backend import BucketBackend

    return BucketBackend(url, suspends=suspends)


def _folder(path: str) -> Backend:
    from memoranda.stores.folder.backend import FolderBackend

    if not path:
        raise Misuse("An empty text names no store; a path or a URL does.")
    return FolderBackend(path)


def _file(rest: str) -> Backend:
    if rest.startswith("//"):
        host, slash, path = rest[2:].partition("/")
        if not slash or host not in {"", "localhost"}:
            raise Misuse("A file URL has the form file:///absolute/path.")
        rest = slash + path
    from urllib.parse import unquote

    return _folder(unquote(rest))


def _sqlite(rest: str) -> Backend:
    from memoranda.stores.sqlite import SqliteBackend

    if not rest.startswith("///") or rest == "///":
        raise Misuse(
            "A SQLite URL has the form sqlite:///relative.db or sqlite:////absolute/path.db."
        )
    return SqliteBackend(rest[3:])


def _git(rest: str) -> Backend:
    from urllib.parse import unquote

    from memoranda.stores.git.backend import GitBackend

    if not rest.startswith("///") or rest == "///":
        raise Misuse("A git URL has the form git:///absolute/path, a directory for repositories.")
    return GitBackend(unquote(rest[2:]))


def _ram(rest: str) -> Backend:
    from memoranda.stores.ram import RamBackend

    return RamBackend(rest)


def _sealed(rest: str) -> Backend:
    _check_sealable(rest)
    return _seal(open_backend(rest))


def _check_sealable(url: str) -> None:
    scheme = _SCHEME.match(url)
    if scheme is not None and scheme[1].lower() in _REMOTE:
        raise Misuse("A memory server keeps text, and sealed contents are none.")


def _seal(inner: Backend) -> Backend:
    from memoranda.stores.sealed.backend import SealedBackend
    from memoranda.stores.sealed.keys import Keys, former_of_environment, key_of_environment

    return SealedBackend(inner, Keys(key_of_environment(), former_of_environment()))


def _outside(name: str, url: str) -> Backend:
    from importlib.metadata import entry_points

    for entry_point in entry_points(group=ENTRY_POINTS, name=name):
        try:
            make: Callable[[str], Backend] = entry_point.load()
        except (ImportError, AttributeError) as error:
            package = "a package" if entry_point.dist is None else entry_point.dist.name
            raise Misuse(f"The backend for {name}: of {package} can't be loaded.") from error
        return make(url)
    others = "".join(f" {other}:," for other in sorted(entry_points(group=ENTRY_POINTS).names))
    raise Misuse(
        f"No backend for {name}: is installed. Here are: a path, file:, sqlite:, git:, memory:,"
        f" postgresql:, s3:, gs:, az:, https:, sealed:,{others} and what other packages add as"
        f" {ENTRY_POINTS}."
    )


_POSTGRES: Final = frozenset({"postgresql", "postgres"})
_REMOTE: Final = frozenset({"https", "http"})
_TWO_COLOURS: Final = _POSTGRES | _REMOTE | {"s3", "gs", "az"}

_OWN: Final[dict[str, Callable[[str], Backend]]] = {
    "file": _file,
    "sqlite": _sqlite,
    "git": _git,
    "memory": _ram,
    SEALED: _sealed,
}
