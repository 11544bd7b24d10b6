"""A proxy between a client and a server, on loopback, that cuts where it is told."""

from __future__ import annotations

import contextlib
import socket
import threading
from collections.abc import Callable
from typing import Literal

Direction = Literal["to_server", "to_client"]


class Proxy:
    """Passes bytes on; once armed, closes the connection after so many more in one direction."""

    def __init__(self, listener: socket.socket, connect: Callable[[], socket.socket]) -> None:
        self._connect = connect
        self._lock = threading.Lock()  # guards the three below
        self._left: dict[Direction, int] = {}
        self.cuts = 0
        self._is_down = False
        self._open: set[socket.socket] = set()
        self._listener = listener
        listener.listen(64)
        threading.Thread(target=self._accept, daemon=True).start()

    def arm(self, direction: Direction, n_bytes: int) -> None:
        """Cut once, when ``n_bytes`` more went this way."""
        with self._lock:
            self._left = {direction: n_bytes}

    def disarm(self) -> bool:
        """Cut no more; whether a cut was still to come."""
        with self._lock:
            was_armed = bool(self._left)
            self._left = {}
        return was_armed

    def take_down(self) -> None:
        """Close every connection and every new one."""
        with self._lock:
            self._is_down = True
            ends = tuple(self._open)
        for end in ends:
            _shut(end)

    def bring_up(self) -> None:
        """Let connections through again."""
        with self._lock:
            self._is_down = False

    def close(self) -> None:
        """End it."""
        self.take_down()
        _shut(self._listener)

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            try:
                server = self._connect()
            except OSError:
                _shut(client)
                continue
            with self._lock:
                is_down = self._is_down
                self._open |= {client, server}
            if is_down:
                self._end(client, server)
                continue
            for source, target, direction in (
                (client, server, "to_server"),
                (server, client, "to_client"),
            ):
                threading.Thread(
                    target=self._pass, args=(source, target, direction), daemon=True
                ).start()

    def _pass(self, source: socket.socket, target: socket.socket, direction: Direction) -> None:
        try:
            while data := source.recv(65536):
                allowed, is_cut = self._allowed(direction, len(data))
                target.sendall(data[:allowed])
                if is_cut:
                    break
        except OSError:
            pass
        self._end(source, target)

    def _allowed(self, direction: Direction, n_bytes: int) -> tuple[int, bool]:
        with self._lock:
            left = self._left.get(direction)
            if left is None:
                return n_bytes, False
            if n_bytes < left:
                self._left[direction] = left - n_bytes
                return n_bytes, False
            self._left = {}
            self.cuts += 1
            return left, True

    def _end(self, *ends: socket.socket) -> None:
        with self._lock:
            self._open -= set(ends)
        for end in ends:
            _shut(end)


def _shut(end: socket.socket) -> None:
    with contextlib.suppress(OSError):
        end.shutdown(socket.SHUT_RDWR)
    end.close()


def tcp_proxy(port: int) -> tuple[Proxy, int]:
    """A proxy before a port of loopback, and the port that it is at."""
    listener = socket.socket()
    listener.bind(("127.0.0.1", 0))
    proxy = Proxy(listener, lambda: socket.create_connection(("127.0.0.1", port)))
    return proxy, listener.getsockname()[1]
