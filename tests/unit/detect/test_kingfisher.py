"""The second opinion, where it is installed."""

from __future__ import annotations

import socket
import sys
from pathlib import Path
from random import Random

import pytest

from memoranda import Memory, Policy, Redaction
from memoranda.detect.kingfisher import kingfisher_detector
from memoranda.errors import Misuse
from memoranda.testing.redaction.invent import expand
from tests.stand_ins import fresh_store

TOKEN = expand("ghp_<crc:36>", Random(3))
POLICY = Policy(redaction=Redaction(kingfisher=True))


def test_without_the_library_the_first_write_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    kingfisher_detector.cache_clear()
    monkeypatch.setitem(sys.modules, "kingfisher_sdk", None)
    memory = Memory.of_store(fresh_store(), policy=POLICY)
    with pytest.raises(Misuse, match=r"memoranda\[secrets\]"):
        memory.write("/memories/a.md", "x")


def test_it_finds_by_characters_each_time_and_touches_neither_net_nor_disk(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    pytest.importorskip("kingfisher_sdk", reason="the extra secrets is not installed")

    def no_network(*_: object, **__: object) -> None:
        raise AssertionError("the scanner opened a socket")

    monkeypatch.setattr(socket, "socket", no_network)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    find = kingfisher_detector()
    text = f"ü漢 key {TOKEN} end"
    for _ in range(2):
        (found,) = find(text)
        assert text[found.start : found.end] == TOKEN
        assert found.kind == "credential"
    memory = Memory.of_store(
        fresh_store(), policy=Policy(redaction=Redaction(kingfisher=True, credential="refuse"))
    )
    said = memory.execute({"command": "create", "path": "/memories/a.md", "file_text": text})
    assert said.is_error
    assert list(tmp_path.iterdir()) == []


def test_the_public_half_of_a_pair_is_left_alone() -> None:
    pytest.importorskip("kingfisher_sdk", reason="the extra secrets is not installed")
    key = "".join(Random(5).choices("0123456789abcdef", k=32))
    text = f"algolia app id ALGOLIA_APP_ID=LRB3TBRWXE algolia_api_key={key}"
    (found,) = kingfisher_detector()(text)
    assert text[found.start : found.end] == key
