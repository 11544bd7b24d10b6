"""Headers that protect whoever reads an answer in a browser."""

from __future__ import annotations

from functools import lru_cache
from typing import Final

# Nothing is allowed that is not asked for; a surface with pages sends its own policy instead.
_NOTHING_ALLOWED: Final = b"default-src 'none'; frame-ancestors 'none'; base-uri 'none'"

_ALWAYS: Final = (
    (b"content-security-policy", _NOTHING_ALLOWED),
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"cache-control", b"no-store"),
)
_HTTPS_ONLY: Final = (b"strict-transport-security", b"max-age=31536000")


@lru_cache(maxsize=2)
def protective_headers(scheme: str) -> tuple[tuple[bytes, bytes], ...]:
    """What every answer has that does not say it itself. No CORS header is ever among them."""
    return (*_ALWAYS, _HTTPS_ONLY) if scheme == "https" else _ALWAYS
