"""How long a client may take to send its headers: uvicorn bounds everything but that."""

from __future__ import annotations

from asyncio import TimerHandle, Transport
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol


def protocol_of(header_seconds: int) -> type[HttpToolsProtocol]:
    """Uvicorn's protocol for HTTP/1.1, which hangs up on who takes longer than that.

    Without it somebody who sends a byte a minute, on many connections, keeps everybody out.
    """

    class Bounded(HttpToolsProtocol):
        """A connection, and the time by which the next headers have to be there."""

        _by: TimerHandle | None = None

        def connection_made(self, transport: Transport) -> None:  # type: ignore[override]
            super().connection_made(transport)
            self._begin()

        def on_message_begin(self) -> None:
            super().on_message_begin()
            self._begin()

        def on_headers_complete(self) -> None:
            self._end()
            super().on_headers_complete()

        def connection_lost(self, exc: Exception | None) -> None:
            self._end()
            super().connection_lost(exc)

        def _begin(self) -> None:
            if self._by is None:
                self._by = self.loop.call_later(header_seconds, self._hang_up)

        def _end(self) -> None:
            if self._by is not None:
                self._by.cancel()
                self._by = None

        def _hang_up(self) -> None:
            self._by = None
            transport: Any = self.transport
            if not transport.is_closing():
                transport.close()

    return Bounded
