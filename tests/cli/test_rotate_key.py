"""``memoranda rotate-key``."""

from __future__ import annotations

import pytest

from tests.cli.command_line import create, done, json_of, refused

OLD = "11" * 32
NEW = "22" * 32
STORE = ("--store", "sealed:./memory")


def test_a_new_key_takes_the_place_of_the_former_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEMORANDA_SEALED_KEY", OLD)
    create("/memories/a.md", "one", *STORE)
    monkeypatch.setenv("MEMORANDA_SEALED_KEY", NEW)
    assert refused("view", "/memories/a.md", *STORE)[0] == 9
    monkeypatch.setenv("MEMORANDA_SEALED_FORMER_KEY", OLD)
    assert done("rotate-key", *STORE) == "Wrapped the keys anew of 1 store.\n"
    monkeypatch.delenv("MEMORANDA_SEALED_FORMER_KEY")
    assert done("view", "/memories/a.md", "--raw", *STORE) == "one"
    assert done("rotate-key", "--data-keys", *STORE) == "Gave new data keys to 1 store.\n"
    assert done("view", "/memories/a.md", "--raw", *STORE) == "one"
    assert json_of("rotate-key", *STORE) == {"stores": 0, "orphans": 0, "data_keys": False}


def test_only_sealed_stores_have_keys() -> None:
    create("/memories/a.md", "one")
    code, message = refused("rotate-key")
    assert code == 2
    assert "not sealed" in message
