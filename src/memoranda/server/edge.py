"""The outermost layer: ids of requests, limits of what comes in, headers, the access log, numbers."""

from __future__ import annotations

import asyncio
import json
import logging
import time
from typing import TYPE_CHECKING, Any, Final

from memoranda.server.answers import problem_response
from memoranda.server.headers import protective_headers
from memoranda.server.problems import Problem, unexpected
from memoranda.server.proxies import TrustedProxies
from memoranda.stores.log.ids import new_id

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

    from memoranda.server.metrics import Metrics
    from memoranda.server.settings import ServerSettings

REQUEST_ID: Final = "memoranda.request_id"
_NOTES: Final = "memoranda.notes"

_access: Final = logging.getLogger("memoranda.server.access")
_log: Final = logging.getLogger("memoranda.server")


def note(scope: Scope, **facts: str) -> None:
    """Facts for the access log: a route of the table, the id of a key; nothing that a client made
    up."""
    scope[_NOTES].update(facts)


class Edge:
    """Around the whole application. Nothing below it gets more than the limits allow, and nothing
    that is raised below it gets out."""

    def __init__(self, app: ASGIApp, settings: ServerSettings, metrics: Metrics) -> None:
        self.app = app
        self._settings = settings
        self._metrics = metrics
        self._proxies = TrustedProxies(settings.trusted_proxies)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request; whatever else comes goes on as it is."""
        if scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": 1000})
            return
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        began = time.perf_counter()
        request_id = new_id("req_")
        scope[REQUEST_ID] = request_id
        notes = scope[_NOTES] = {"route": "-"}
        self._proxies.apply(scope)
        answer = _Answer(send, request_id, scope)
        body = _Body(receive, scope, self._settings)
        self._metrics.in_flight.inc()
        try:
            await self.app(scope, body.receive, answer.send)
        except Problem as problem:
            await answer.end_with(scope, receive, problem)
        # The outermost edge: the client gets a sentence, the log the rest.
        except Exception as error:  # noqa: BLE001
            _log.error("A request failed", exc_info=error, extra={"request_id": request_id})
            await answer.end_with(scope, receive, unexpected())
        finally:
            self._metrics.in_flight.dec()
            seconds = time.perf_counter() - began
            method = scope["method"] if scope["method"] in _METHODS else "other"
            self._metrics.answered(method, notes["route"], answer.status, seconds)
            _access.info(
                "request",
                extra={
                    "request_id": request_id,
                    "method": method,
                    "status": answer.status,
                    "milliseconds": round(seconds * 1000, 2),
                    "client": (scope.get("client") or ("-",))[0],
                    **notes,
                },
            )


_METHODS: Final = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})


class _Answer:
    """The way out: headers that every answer has, and whether it has begun."""

    def __init__(self, send: Send, request_id: str, scope: Scope) -> None:
        self._send = send
        self._headers = [
            (b"request-id", request_id.encode()),
            *protective_headers(scope["scheme"]),
        ]
        self.status = 0

    async def send(self, message: Message) -> None:
        """Pass a message on."""
        if message["type"] == "http.response.start":
            self.status = message["status"]
            there = {name for name, _ in message["headers"]}
            more = [header for header in self._headers if header[0] not in there]
            message = {**message, "headers": [*message["headers"], *more]}
        await self._send(message)

    async def end_with(self, scope: Scope, receive: Receive, problem: Problem) -> None:
        """Answer with a problem, if nothing was answered yet; else the connection breaks off, which
        tells the client that the answer is not whole."""
        if self.status:
            return
        await problem_response(problem, scope[REQUEST_ID])(scope, receive, self.send)


class _Body:
    """The way in: no more bytes than allowed, within the time allowed."""

    def __init__(self, receive: Receive, scope: Scope, settings: ServerSettings) -> None:
        self._receive = receive
        self._left = settings.body_bytes
        self._limit = settings.body_bytes
        self._seconds = settings.body_seconds
        self._until: float | None = None
        self._is_whole = False
        self._declared = _declared(scope)

    async def receive(self) -> Message:
        """The next message."""
        if self._is_whole:
            return await self._receive()  # from here on only the client's going away
        if self._declared > self._limit:
            raise _too_large(self._limit)
        now = asyncio.get_running_loop().time()
        if self._until is None:
            self._until = now + self._seconds
        try:
            async with asyncio.timeout_at(self._until):
                message = await self._receive()
        except TimeoutError:
            said = "The request's body came too slowly."
            raise Problem(408, said, headers=_CLOSE) from None
        if message["type"] == "http.request":
            self._left -= len(message.get("body", b""))
            if self._left < 0:
                raise _too_large(self._limit)
            self._is_whole = not message.get("more_body", False)
        return message


# What is left of the body is not read: the connection can't be used for another request.
_CLOSE: Final = {"connection": "close"}


def _too_large(limit: int) -> Problem:
    return Problem(413, f"The request's body is over {limit} bytes.", headers=_CLOSE)


def _declared(scope: Scope) -> int:
    for name, value in scope["headers"]:
        if name == b"content-length" and value.isdigit() and len(value) < 20:
            return int(value)
    return 0


class JsonLines(logging.Formatter):
    """A log line as JSON: when, what, and the facts; never a message's own text of a client."""

    def format(self, record: logging.LogRecord) -> str:
        """One line."""
        line: dict[str, Any] = {
            "time": time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(record.created))
            + f".{int(record.msecs):03}Z",
            "level": record.levelname.lower(),
            "event": record.getMessage(),
        }
        line |= {name: value for name, value in vars(record).items() if name in _FACTS}
        if record.exc_info and record.exc_info[1] is not None:
            line |= _failure(record.exc_info[1])
        return json.dumps(line)


_FACTS: Final = frozenset(
    {"request_id", "method", "route", "status", "milliseconds", "client", "key", "url"}
)


def _failure(error: BaseException) -> dict[str, Any]:
    """Kind and place of an error; neither its message nor values: they may hold contents."""
    from traceback import walk_tb

    return {
        "error": type(error).__name__,
        "at": [
            f"{frame.f_globals.get('__name__')}.{frame.f_code.co_name}:{line}"
            for frame, line in walk_tb(error.__traceback__)
        ],
        **({} if error.__cause__ is None else {"because": type(error.__cause__).__name__}),
    }
