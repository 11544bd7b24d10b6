"""Addresses of memory servers: which are accepted, what is said of others, and whose key goes where."""

from __future__ import annotations

import sys

import pytest

from memoranda.errors import Misuse, Unavailable
from memoranda.stores.open import open_backend, open_suspending, suspends_for
from memoranda.stores.remote.address import key_for, parse


@pytest.mark.parametrize(
    ("url", "base"),
    [
        ("https://memory.example.org", "https://memory.example.org"),
        ("HTTPS://Memory.Example.org/", "https://memory.example.org"),
        ("https://h:8443/a/prefix/", "https://h:8443/a/prefix"),
        ("http://127.0.0.1:8080", "http://127.0.0.1:8080"),
        ("http://[::1]:8080?timeout=5", "http://[::1]:8080"),
        ("http://localhost", "http://localhost"),
    ],
)
def test_addresses_that_are_accepted(url: str, base: str) -> None:
    assert parse(url).base_url == base


@pytest.mark.parametrize(
    "url",
    [
        "https://",
        "https:memory.example.org",
        "https://mk_secret@memory.example.org",
        "https://user:mk_secret@memory.example.org",
        "https://memory.example.org?key=mk_secret",
        "https://memory.example.org?timeout=0",
        "https://memory.example.org?timeout=nan",
        "https://memory.example.org?timeout=mk_secret",
        "https://memory.example.org#mk_secret",
        "https://memory.example.org:mk_secret",
        "https://mk_secret\\@evil.example",
        "https://memory.example.org/mk_secret\r\nx: y",
        "http://memory.example.org/mk_secret",
        "http://127.0.0.1.example.org/mk_secret",
        "http://10.0.0.1/mk_secret",
        "http://0.0.0.0/mk_secret",
    ],
)
def test_others_are_misuse_and_not_repeated(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEMORANDA_API_KEY", "mk_own")
    with pytest.raises(Misuse) as told:
        open_backend(url)
    assert "mk_secret" not in str(told.value)
    assert told.value.__cause__ is None


def test_only_the_hosted_service_gets_its_own_key() -> None:
    both = {"MEMORANDA_API_KEY": "mk_own", "ANTHROPIC_API_KEY": "sk-hosted"}
    hosted = {"ANTHROPIC_API_KEY": "sk-hosted"}
    assert key_for(parse("https://api.anthropic.com"), hosted) == "sk-hosted"
    assert key_for(parse("https://api.anthropic.com"), both) == "mk_own"
    assert key_for(parse("https://memory.example.org"), both) == "mk_own"
    for url in ("https://memory.example.org", "https://api.anthropic.com.evil.example"):
        with pytest.raises(Misuse, match="MEMORANDA_API_KEY"):
            key_for(parse(url), hosted)


def test_a_key_that_is_none_is_misuse_and_not_repeated() -> None:
    for key in ("mk_own\r\nx: y", "mk_öwn"):
        with pytest.raises(Misuse) as told:
            key_for(parse("https://h.example"), {"MEMORANDA_API_KEY": key})
        assert "wn" not in str(told.value).replace("own", "")


def test_without_the_sdk_the_error_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "anthropic", None)
    with pytest.raises(Unavailable, match=r"memoranda\[anthropic\]"):
        open_backend("https://memory.example.org")


def test_awaiting_callers_get_a_backend_that_suspends() -> None:
    assert suspends_for("https://memory.example.org")


def test_sealed_contents_are_no_text_and_refused_when_opened(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("MEMORANDA_API_KEY", "mk_own")
    for opening in (open_backend, open_suspending):
        with pytest.raises(Misuse, match="text"):
            opening("sealed:https://memory.example.org")
