"""How long and how large the headers of a client may be: uvicorn bounds everything but that."""

from __future__ import annotations

from asyncio import TimerHandle, Transport
from typing import Any, ClassVar, Final

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

_HEAD_BYTES: Final = 65_536
"""How much of a head is taken beyond the first packet of it."""


class _Bounded(HttpToolsProtocol):
    """A connection, and the time by which the next headers have to be there.

    Without it somebody who sends a byte a minute, on many connections, keeps everybody out; and
    headers of gigabytes are kept in memory before anybody is asked for a key.
    """

    header_seconds: ClassVar[int]
    _by: TimerHandle | None = None
    _is_heard = False
    _n_unheard = 0

    def connection_made(self, transport: Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._begin()

    def data_received(self, data: bytes) -> None:
        self._is_heard = False
        super().data_received(data)
        # Neither a request's begin nor a byte of a body was in it: it is all of a head, or of
        # what follows a body, and the parser keeps it.
        self._n_unheard = 0 if self._is_heard else self._n_unheard + len(data)
        if self._n_unheard > _HEAD_BYTES:
            self._hang_up()

    def on_message_begin(self) -> None:
        self._is_heard = True
        super().on_message_begin()
        self._begin()

    def on_headers_complete(self) -> None:
        self._is_heard = True
        self._end()
        super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        self._is_heard = True
        super().on_body(body)

    def connection_lost(self, exc: Exception | None) -> None:
        self._end()
        super().connection_lost(exc)

    def _begin(self) -> None:
        if self._by is None:
            self._by = self.loop.call_later(self.header_seconds, self._hang_up)

    def _end(self) -> None:
        if self._by is not None:
            self._by.cancel()
            self._by = None

    def _hang_up(self) -> None:
        self._end()
        transport: Any = self.transport
        if not transport.is_closing():
            transport.close()


def protocol_of(seconds: int) -> type[HttpToolsProtocol]:
    """Uvicorn's protocol for HTTP/1.1, which hangs up on who takes longer than that for the headers,
    and on whose headers never end."""

    class Chosen(_Bounded):
        header_seconds = seconds

    return Chosen
