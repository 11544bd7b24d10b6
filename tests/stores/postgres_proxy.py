"""The cutting proxy between the driver and a PostgreSQL server, on a socket of its own."""

from __future__ import annotations

import os
import socket
import tempfile
from pathlib import Path

from tests.stores import cutting_proxy
from tests.stores.cutting_proxy import Direction

SOCKET = ".s.PGSQL.5432"


class Proxy(cutting_proxy.Proxy):
    """A proxy before the server whose socket is in a folder."""

    def __init__(self, server: Path) -> None:
        self.home = Path(tempfile.mkdtemp(prefix="memo-px-"))
        listener = socket.socket(socket.AF_UNIX)
        listener.bind(str(self.home / SOCKET))

        def connect() -> socket.socket:
            found = socket.socket(socket.AF_UNIX)
            found.connect(str(server / SOCKET))
            return found

        super().__init__(listener, connect)

    def close(self) -> None:
        """End it."""
        super().close()
        (self.home / SOCKET).unlink(missing_ok=True)
        self.home.rmdir()


def through(url: str, server: Path, proxy: Proxy) -> str:
    """The URL of a database, by way of the proxy."""
    assert f"host={server}" in url
    return url.replace(f"host={server}", f"host={os.fspath(proxy.home)}")


__all__ = ["Direction", "Proxy", "through"]
