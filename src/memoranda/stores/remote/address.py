"""A URL as a server that speaks the Memory Stores API, and the key that goes to it."""

from __future__ import annotations

import os
from importlib import import_module
from ipaddress import ip_address
from typing import TYPE_CHECKING, Final, NamedTuple
from urllib.parse import parse_qsl, urlsplit

from memoranda.errors import Misuse, Unavailable

if TYPE_CHECKING:
    from collections.abc import Mapping

KEY_VARIABLE: Final = "MEMORANDA_API_KEY"
HOSTED_KEY_VARIABLE: Final = "ANTHROPIC_API_KEY"
HOSTED: Final = "api.anthropic.com"
"""Where the hosted service is: the only place that ``ANTHROPIC_API_KEY`` is sent to."""

TIMEOUT_SECONDS: Final = 60.0
_LONGEST_TIMEOUT_SECONDS: Final = 600.0
_FORM: Final = (
    "A memory server's URL has the form https://host, https://host:port/prefix or, on this machine"
    " only, http://127.0.0.1:port; ?timeout=60 says how many seconds an answer may take. The key is"
    f" not part of it: it comes from {KEY_VARIABLE}."
)


class Address(NamedTuple):
    """Where the server is. It holds no secret."""

    base_url: str
    host: str
    is_plain: bool
    """Without TLS, which is for this machine only."""
    timeout_seconds: float


def check_sdk() -> None:
    """Raise ``Unavailable`` with what to install where the SDK is missing."""
    try:
        import_module("anthropic")
    except ImportError as error:
        raise Unavailable(
            'A memory server needs the package anthropic: pip install "memoranda[anthropic]".'
        ) from error


def parse(url: str) -> Address:
    """The address that a URL names. Raises ``Misuse`` for what is none, without repeating it: it may
    hold a key by mistake."""
    try:
        parts = urlsplit(url)
        port = parts.port
        settings = dict(
            parse_qsl(parts.query, keep_blank_values=True, strict_parsing=bool(parts.query))
        )
    except ValueError:
        raise Misuse(_FORM) from None
    scheme, host = parts.scheme.lower(), parts.hostname or ""
    is_plain = scheme == "http"
    if (
        scheme not in {"http", "https"}
        or not _is_host(host)
        or "@" in parts.netloc
        or parts.fragment
        or set(settings) - {"timeout"}
        or any(ord(each) <= 32 or ord(each) >= 127 for each in url)
    ):
        raise Misuse(_FORM)
    if is_plain and not _is_loopback(host):
        raise Misuse("Without TLS a memory server is used on this machine only: say https://.")
    shown = f"[{host}]" if ":" in host else host
    base_url = f"{scheme}://{shown}" + (f":{port}" if port else "") + parts.path.rstrip("/")
    return Address(base_url, host, is_plain, _timeout(settings.get("timeout")))


def key_for(where: Address, environ: Mapping[str, str] | None = None) -> str:
    """The key for a server, from the environment; raises ``Misuse`` without one.

    The hosted service's key is never sent to another host.
    """
    environ = os.environ if environ is None else environ
    names = [KEY_VARIABLE]
    if where.host == HOSTED:
        names.append(HOSTED_KEY_VARIABLE)
    for name in names:
        key = environ.get(name, "").strip()
        if key:
            if not key.isascii() or not key.isprintable():
                raise Misuse(f"{name} holds no key.")
            return key
    raise Misuse(f"A memory server needs a key: set {' or '.join(names)}.")


def _timeout(given: str | None) -> float:
    try:
        seconds = TIMEOUT_SECONDS if given is None else float(given)
    except ValueError:
        raise Misuse(_FORM) from None
    if not 0 < seconds <= _LONGEST_TIMEOUT_SECONDS:
        raise Misuse(_FORM)
    return seconds


def _is_host(host: str) -> bool:
    return bool(host) and all(each.isalnum() or each in "-._:" for each in host)


def _is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False
