"""PgBouncer in transaction mode before the tests' own server, on a port of the loopback."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any

import psycopg

from tests.stores.postgres_server import APP, NOBODY, START_SECONDS, die_with_us, own_server

PROGRAM = shutil.which("pgbouncer") or shutil.which("pgbouncer", path="/usr/sbin")
CONNECTIONS = 2
"""How many connections to the server all clients share."""

SETTINGS = """\
[databases]
{database} = host={server} dbname={database}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = {port}
unix_socket_dir =
auth_type = trust
auth_file = {home}/users
pool_mode = transaction
default_pool_size = {connections}
max_client_conn = 200
ignore_startup_parameters = extra_float_digits
logfile = {home}/log
"""


class Pooler:
    """A running PgBouncer; ``url`` is the application's by way of it."""

    def __init__(self, database: str) -> None:
        assert PROGRAM is not None
        self.home = Path(tempfile.mkdtemp(prefix="memo-pb-"))
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        self.url = f"postgresql://{APP}@127.0.0.1:{port}/{database}?sslmode=disable"
        (self.home / "users").write_text(f'"{APP}" ""\n', encoding="ascii")
        settings = SETTINGS.format(
            database=database, server=own_server().home, port=port, home=self.home,
            connections=CONNECTIONS,
        )  # fmt: skip
        (self.home / "settings").write_text(settings, encoding="utf-8")
        as_nobody: dict[str, Any] = {}
        if os.getuid() == 0:  # it refuses to run as root
            as_nobody = {"user": NOBODY, "group": NOBODY, "extra_groups": []}
            os.chown(self.home, NOBODY, NOBODY)
        self._process = subprocess.Popen(
            [PROGRAM, "-q", str(self.home / "settings")],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            preexec_fn=die_with_us,  # noqa: PLW1509 - calls nothing that a thread may hold
            **as_nobody,
        )
        until = time.monotonic() + START_SECONDS
        while True:
            try:
                psycopg.connect(self.url).close()
                return
            except psycopg.OperationalError:
                if time.monotonic() > until or self._process.poll() is not None:
                    self.close()
                    raise
                time.sleep(0.02)

    def close(self) -> None:
        """End it and remove its folder."""
        self._process.kill()
        self._process.wait(START_SECONDS)
        shutil.rmtree(self.home, ignore_errors=True)
