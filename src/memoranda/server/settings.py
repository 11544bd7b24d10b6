"""Settings of the server: ``[server]`` of ``memoranda.toml``, and ``MEMORANDA_SERVER_...``."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, fields
from ipaddress import ip_network
from typing import Any, Final, Literal, TypeAlias, get_args

from memoranda.errors import Misuse

UnknownFields: TypeAlias = Literal["refuse", "ignore"]

TABLE: Final = "server"
PREFIX: Final = "MEMORANDA_SERVER_"

_LEAST: Final = {"port": 0, "sweep_minutes": 0, "content_bytes": 1, "body_bytes": 1024}


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerSettings:
    """How the server listens and what it allows. Raises ``Misuse`` for values that can't be.

    ``body_bytes`` bounds a request's body, ``content_bytes`` a content that is written through the
    Memory Stores API (the tool endpoint has the policy's ``file_bytes``). ``request_seconds`` is
    how long an answer may take, ``body_seconds`` how long a client may take to send its body,
    ``header_seconds`` its headers, ``idle_seconds`` how long a connection is kept without a
    request, ``shutdown_seconds`` how long requests in flight have at the end. Each key may have
    ``requests_per_minute`` (a whole minute of them at once) and ``requests_at_once``; all together
    ``connections``. An address may try ``sign_ins_per_minute`` keys at the console. ``strict_beta`` refuses requests without ``anthropic-beta``,
    ``unknown_fields`` says what becomes of body fields that nobody knows. ``trusted_proxies`` are
    networks whose ``X-Forwarded-For`` and ``X-Forwarded-Proto`` are believed.
    ``sweep_minutes`` is how often what has expired is removed from all stores (0: never).
    ``key_cache_seconds`` is how long a revoked key may go on in another process.
    """

    host: str = "127.0.0.1"
    port: int = 8080
    body_bytes: int = 2 * 1024 * 1024
    content_bytes: int = 102_400
    request_seconds: int = 60
    body_seconds: int = 30
    header_seconds: int = 15
    idle_seconds: int = 75
    shutdown_seconds: int = 30
    requests_per_minute: int = 600_000
    requests_at_once: int = 512
    sign_ins_per_minute: int = 30
    connections: int = 2_048
    threads: int = 32
    sweep_minutes: int = 0
    key_cache_seconds: int = 1
    strict_beta: bool = False
    unknown_fields: UnknownFields = "refuse"
    trusted_proxies: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for each in fields(self):
            value: object = getattr(self, each.name)
            default: object = each.default
            if isinstance(default, bool):
                _expect(type(value) is bool, each.name, "true or false")
            elif isinstance(default, int):
                least = _LEAST.get(each.name, 1)
                is_one = type(value) is int and value >= least
                _expect(is_one, each.name, f"a whole number of {least} or more")
            elif each.name == "host":
                _expect(isinstance(value, str) and bool(value), each.name, "a name or an address")
        _expect(self.port < 65_536, "port", "less than 65536")
        allowed = get_args(UnknownFields)
        _expect(self.unknown_fields in allowed, "unknown_fields", " or ".join(allowed))
        for network in self.trusted_proxies:
            try:
                ip_network(network)
            except ValueError:
                _expect(False, "trusted_proxies", "addresses or networks, like 10.0.0.0/8")


def server_settings(
    table: Mapping[str, Any], environ: Mapping[str, str] = os.environ, **given: Any
) -> ServerSettings:
    """What was ``given`` (and is not None), then the environment, then the file's table.

    Raises ``Misuse`` for names that are none and for values that can't be.
    """
    known = {each.name: each.default for each in fields(ServerSettings)}
    values: dict[str, Any] = {}
    for name, value in table.items():
        _expect_known(name, f"[{TABLE}]", known)
        values[name] = tuple(value) if isinstance(value, list) else value  # pyright: ignore[reportUnknownArgumentType]
    for variable, text in environ.items():
        if variable.startswith(PREFIX) and text:
            name = variable.removeprefix(PREFIX).lower()
            _expect_known(name, variable, known)
            values[name] = _of_text(text, known[name])
    values |= {name: value for name, value in given.items() if value is not None}
    return ServerSettings(**values)


def _of_text(text: str, default: object) -> object:
    if isinstance(default, bool):
        return {"true": True, "false": False}.get(text, text)
    if isinstance(default, int):
        return int(text) if text.isascii() and text.isdigit() and len(text) < 12 else text
    if isinstance(default, tuple):
        return tuple(part.strip() for part in text.split(","))
    return text


def _expect_known(name: str, place: str, known: Mapping[str, object]) -> None:
    if name not in known:
        raise Misuse(f"{place}: {name!r} is no setting of the server. There are: {_all(known)}.")


def _all(known: Mapping[str, object]) -> str:
    return ", ".join(known)


def _expect(holds: bool, name: str, wanted: str) -> None:
    if not holds:
        raise Misuse(f"The setting {name} of the server has to be {wanted}.")
