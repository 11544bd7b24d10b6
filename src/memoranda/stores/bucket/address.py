"""A URL as an object store of obstore's: where the bucket is, and what its client is told."""

from __future__ import annotations

import os
from importlib import import_module
from ipaddress import ip_address
from typing import TYPE_CHECKING, Any, Final, NamedTuple
from urllib.parse import parse_qsl, urlsplit

from memoranda.errors import Misuse, Unavailable
from memoranda.lazy_pattern import lazy_pattern

if TYPE_CHECKING:
    from obstore.store import ObjectStore

SCHEMES: Final = frozenset({"s3", "gs", "az"})
REQUEST_SECONDS: Final = 30
CONNECT_SECONDS: Final = 5

_NAME: Final = lazy_pattern(r"[A-Za-z0-9][A-Za-z0-9._-]{1,220}")
_PREFIX: Final = lazy_pattern(
    r"(?:[A-Za-z0-9_][A-Za-z0-9._@+=-]*(?:/[A-Za-z0-9_][A-Za-z0-9._@+=-]*)*)?"
)
_FORM: Final = (
    "An object store's URL has the form s3://bucket/prefix, gs://bucket/prefix or"
    " az://container/prefix; a bucket's name has at least two letters or digits, the prefix is"
    " made of letters, digits and . _ @ + = - /."
)
_ALLOW_HTTP: Final = "allow_http"
_YES: Final = frozenset({"true", "1", "yes"})
_ENDPOINTS: Final = (
    "endpoint",
    "endpoint_url",
    "aws_endpoint",
    "azure_storage_endpoint",
    "azurite_blob_storage_url",
)
_ENDPOINTS_OF_ENVIRONMENT: Final = (
    "AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL", "AWS_ENDPOINT", "AZURE_STORAGE_ENDPOINT",
    "AZURE_ENDPOINT", "AZURITE_BLOB_STORAGE_URL",
)  # fmt: skip


class Address(NamedTuple):
    """Where the stores are. ``settings`` may hold credentials: never show them."""

    scheme: str
    bucket: str
    prefix: str
    settings: tuple[tuple[str, str], ...]

    def __repr__(self) -> str:
        return f"Address({self.scheme}://{self.bucket}/{self.prefix})"


def check_driver() -> None:
    """Raise ``Unavailable`` with what to install where obstore is missing."""
    try:
        import_module("obstore")
    except ImportError as error:
        raise Unavailable(
            'Object stores need the package obstore: pip install "memoranda[bucket]".'
        ) from error


def parse(url: str) -> Address:
    """The address that a URL names. What the query says is obstore's configuration of the store
    (``endpoint``, ``region``, …); ``allow_http=true`` lets it do without TLS.

    Raises ``Misuse`` for what is no such URL, without repeating it.
    """
    try:
        parts = urlsplit(url)
        settings = tuple(
            parse_qsl(parts.query, keep_blank_values=True, strict_parsing=bool(parts.query))
        )
    except ValueError:
        raise Misuse(_FORM) from None
    prefix = parts.path.strip("/")
    if (
        parts.scheme.lower() not in SCHEMES
        or not _NAME.fullmatch(parts.netloc)
        or not _PREFIX.fullmatch(prefix)
        or parts.fragment
    ):
        raise Misuse(_FORM)
    return Address(parts.scheme.lower(), parts.netloc, prefix, settings)


def connect(where: Address) -> ObjectStore:
    """Obstore's client for an address; nothing is sent yet.

    Credentials come from the query or, as obstore does it, from the environment. Retries are ours:
    a client that sends a write again by itself takes its own success for somebody else's.
    """
    check_driver()
    from obstore.exceptions import BaseError
    from obstore.store import from_url

    config = dict(where.settings)
    allow_http = config.pop(_ALLOW_HTTP, "").lower() in _YES or _is_on_loopback(config)
    url = f"{where.scheme}://{where.bucket}" + (f"/{where.prefix}" if where.prefix else "")
    options: Any = {"timeout": f"{REQUEST_SECONDS}s", "connect_timeout": f"{CONNECT_SECONDS}s"}
    if allow_http:
        options["allow_http"] = True
    chosen: Any = config
    try:
        return from_url(url, config=chosen, client_options=options, retry_config={"max_retries": 0})
    except (BaseError, ValueError, TypeError):
        # The client's own text may repeat what stands in the query.
        raise Misuse(
            "The object store's client refuses the settings in the URL's query, or lacks one"
            " (an Azure account's name, for example)."
        ) from None


def _is_on_loopback(config: dict[str, str]) -> bool:
    """Whether the endpoint is on this machine: then nobody listens on the way."""
    given = [value for name, value in config.items() if name.lower() in _ENDPOINTS]
    if not given:
        given = [os.environ[name] for name in _ENDPOINTS_OF_ENVIRONMENT if name in os.environ]
    for endpoint in given:
        try:
            host = urlsplit(endpoint).hostname or ""
            if host != "localhost" and not ip_address(host).is_loopback:
                return False
        except ValueError:
            return False
    return bool(given)
