"""``memoranda keys create``, ``list``, ``revoke`` and ``rotate``; and what ``serve`` says at once."""

from __future__ import annotations

import re
import socket

import pytest

from tests.cli.command_line import as_program, done, json_of, refused, run


def test_a_key_is_shown_once_and_usable_by_its_id() -> None:
    result = run("keys", "create", "--name", "bot", "--role", "read")
    assert result.exit_code == 0
    credential = result.stdout.strip()
    assert re.fullmatch(r"mk_[0-9A-Za-z]{26}_[0-9A-Za-z_-]{43}", credential)
    key_id = re.search(r"apikey_[0-9A-Za-z]{26}", result.stderr)
    assert key_id is not None
    listed = done("keys", "list")
    assert credential not in listed
    assert listed.split()[:3] == [key_id[0], "read", "default"]
    assert listed.split()[-2:] == ["active", "bot"]


def test_json_has_id_and_key_and_nothing_else() -> None:
    made = json_of("keys", "create")
    assert set(made) == {"id", "key"}
    (listed,) = json_of("keys", "list")["keys"]
    assert (listed["id"], listed["role"], listed["workspace"]) == (made["id"], "write", "default")
    assert made["key"] not in str(listed)


def test_the_store_of_the_environment_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEMORANDA_STORE", "sqlite:///keys.db")
    made = json_of("keys", "create", "--workspace", "team", "--only", "memstore_01A")
    monkeypatch.delenv("MEMORANDA_STORE")
    assert json_of("keys", "list") == {"keys": []}
    (listed,) = json_of("keys", "list", "--store", "sqlite:///keys.db")["keys"]
    assert (listed["id"], listed["workspace"]) == (made["id"], "team")
    assert listed["stores"] == ["memstore_01A"]


def test_a_key_is_rotated_and_revoked() -> None:
    made = json_of("keys", "create", "--expires", "90d")
    rotated = json_of("keys", "rotate", made["id"], "--grace", "1h")
    assert rotated["id"] == made["id"]
    assert rotated["key"] != made["key"]
    code, said = refused("keys", "revoke", made["id"])
    assert (code, "Nobody is here to confirm it" in said) == (10, True)
    assert done("keys", "revoke", made["id"], "--yes") == f"Revoked: {made['id']}\n"
    assert json_of("keys", "revoke", made["id"])["revoked_at"] is not None
    assert "revoked" in done("keys", "list")


@pytest.mark.parametrize(
    ("arguments", "code"),
    [(("revoke", "apikey_01none", "--yes"), 3), (("rotate", "nobody"), 3),
     (("create", "--role", "root"), 9), (("create", "--expires", "soon"), 9),
     (("create", "--workspace", "a b"), 9), (("create", "--only", "ada"), 9)],
)  # fmt: skip
def test_what_cant_be_is_refused(arguments: tuple[str, ...], code: int) -> None:
    assert refused("keys", *arguments)[0] == code


def test_there_are_no_keys_at_first() -> None:
    result = run("keys", "list")
    assert (result.exit_code, result.stdout) == (0, "")


@pytest.mark.parametrize(
    ("name", "value"),
    [("PORT", "x"), ("PORT", "70000"), ("COLOUR", "1"), ("STRICT_BETA", "yes"),
     ("TRUSTED_PROXIES", "proxy.example"), ("UNKNOWN_FIELDS", "keep"), ("BODY_BYTES", "1")],
)  # fmt: skip
def test_a_setting_of_the_server_that_cant_be_is_refused(
    monkeypatch: pytest.MonkeyPatch, name: str, value: str
) -> None:
    monkeypatch.setenv(f"MEMORANDA_SERVER_{name}", value)
    code, said = refused("serve", "--port", "0") if name != "PORT" else refused("serve")
    assert code == 9
    assert name.lower() in said.lower()


def test_a_key_that_nobody_has_is_looked_for_with_keys_list() -> None:
    code, said = refused("keys", "revoke", "apikey_nobody", "--yes")
    assert code == 3
    assert said.endswith("memoranda keys list shows the ids of keys.\n")


def test_a_port_that_is_taken_is_said_in_a_sentence() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        ended = as_program("serve", "--port", str(port))
    said = ended.stderr.decode()
    assert ended.returncode == 9
    assert f"Can't listen on 127.0.0.1, port {port}" in said
    assert "--port" in said
    assert "Traceback" not in said
