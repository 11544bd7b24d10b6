"""A URL as connection parameters: ours are taken out, the rest is for the driver."""

from __future__ import annotations

from importlib import import_module
from typing import Final, NamedTuple

from memoranda.errors import Misuse, Unavailable

_POOL_SIZE: Final = "pool_size"
DEFAULT_POOL_SIZE: Final = 10
MOST_CONNECTIONS: Final = 1000
CONNECTION_SECONDS = 5.0
"""How long a call waits for a connection before that counts as a failed try."""

_DEFAULTS: Final = {
    "application_name": "memoranda",
    "client_encoding": "utf8",
    "connect_timeout": "5",
    # A peer that vanished without a word is noticed in half a minute, not in hours.
    "keepalives_idle": "10",
    "keepalives_interval": "5",
    "keepalives_count": "3",
    "tcp_user_timeout": "30000",
}


class Address(NamedTuple):
    """Where the database is: what the driver connects with (it may hold a password: never show
    it), and how many connections at most."""

    conninfo: str
    pool_size: int


def check_driver() -> None:
    """Raise ``Unavailable`` with what to install where the driver is missing."""
    try:
        import_module("psycopg")
        import_module("psycopg_pool")
    except ImportError as error:
        raise Unavailable(
            "PostgreSQL needs the packages psycopg and psycopg_pool: "
            'pip install "memoranda[postgres]".'
        ) from error


def parse(url: str) -> Address:
    """The address that a ``postgresql://`` URL names, as libpq reads it.

    ``?pool_size=20`` is ours: connections at most, 10 unless said. Raises ``Misuse`` for what is no
    such URL, without repeating it, and ``Unavailable`` where the driver is not installed.
    """
    check_driver()
    from psycopg import ProgrammingError
    from psycopg.conninfo import conninfo_to_dict, make_conninfo

    base, mark, query = url.partition("?")
    kept: list[str] = []
    pool_size = DEFAULT_POOL_SIZE
    for part in query.split("&") if mark else []:
        name, _, value = part.partition("=")
        if name != _POOL_SIZE:
            kept.append(part)
        elif value.isascii() and value.isdigit() and 1 <= int(value) <= MOST_CONNECTIONS:
            pool_size = int(value)
        else:
            raise Misuse(f"pool_size is a number from 1 to {MOST_CONNECTIONS}.")
    try:
        said = conninfo_to_dict(base + ("?" + "&".join(kept) if kept else ""))
        return Address(make_conninfo("", **{**_DEFAULTS, **said}), pool_size)
    except ProgrammingError:
        raise Misuse(
            "A PostgreSQL URL has the form postgresql://user@host:port/database."
        ) from None
