"""``POST /v1/memory_stores/{store}/tool``: what Claude asks, done once."""

from __future__ import annotations

import itertools
import json
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from memoranda import Memory
from memoranda.config import load_settings
from memoranda.core import Core
from memoranda.reply import ToolResult
from memoranda.server.settings import ServerSettings
from tests.server.live import Api, Live, make_key, new_home, serving, url_of


def use(id: str, **given: Any) -> dict[str, Any]:
    return {"type": "tool_use", "id": id, "name": "memory", "input": given}


@pytest.fixture
def store(api: Api) -> str:
    return api.store()


def test_a_block_goes_in_and_its_result_comes_out(api: Api, store: str) -> None:
    block = use("toolu_1", command="create", path="/memories/a.md", file_text="hello\n")
    assert api.done("POST", f"{store}/tool", json=block) == {
        "type": "tool_result", "tool_use_id": "toolu_1", "is_error": False,
        "content": "File created successfully at: /memories/a.md",
    }  # fmt: skip
    seen = api.done("POST", f"{store}/tool", json=use("t2", command="view", path="/memories/a.md"))
    assert "hello" in seen["content"]
    (version,) = api.every(f"{store}/memory_versions", view="full")
    assert version["content"] == "hello\n"
    assert version["created_by"] == {"type": "api_actor", "api_key_id": api.key.key.id}


@pytest.mark.parametrize(
    "given",
    [{}, {"command": "fly"}, {"command": "view", "path": "/etc/passwd"}, [], None, "x", 3,
     {"command": "create", "path": "/memories/a", "file_text": "\ud800"}],
)  # fmt: skip
def test_what_claude_gets_wrong_is_an_answer_for_claude(api: Api, store: str, given: Any) -> None:
    block = {"type": "tool_use", "id": "t", "name": "memory", "input": given}
    body = json.dumps(block).encode()
    answer = api.done("POST", f"{store}/tool", content=body)
    assert answer["is_error"] is True
    assert isinstance(answer["content"], str)


@pytest.mark.parametrize(
    "body",
    [b"", b"{", b"[]", b'{"input": {}}', b'{"id": "", "input": {}}', b'{"id": 1, "input": {}}',
     b'{"id": "t"}', b'{"id": "t", "input": {}, "name": "bash"}', b"[" * 100_000, b"NaN",
     b'{"id": "t", "input": {}, "type": "text"}', b'{"id": "t", "input": NaN}', b"\xff"],
)  # fmt: skip
def test_what_is_no_tool_use_block_is_refused(one_api: Api, body: bytes) -> None:
    store = one_api.store()
    one_api.refused(400, "invalid_request_error", "POST", f"{store}/tool", content=body)


COMMANDS: dict[str, dict[str, Any]] = {
    "create": {"command": "create", "path": "/memories/new.md", "file_text": "x"},
    "insert": {
        "command": "insert", "path": "/memories/a.md", "insert_line": 0, "insert_text": "again\n",
    },
    "str_replace": {
        "command": "str_replace", "path": "/memories/a.md", "old_str": "two", "new_str": "two two",
    },
    "delete": {"command": "delete", "path": "/memories/a.md"},
    "rename": {"command": "rename", "old_path": "/memories/a.md", "new_path": "/memories/b.md"},
}  # fmt: skip


@pytest.mark.parametrize("command", COMMANDS)
def test_a_change_that_is_sent_again_is_made_once_and_answered_alike(
    api: Api, store: str, command: str
) -> None:
    api.memory(store, "/a.md", "one\ntwo\nthree\n")
    block = {"id": "toolu_9", "input": COMMANDS[command]}
    first = api.done("POST", f"{store}/tool", json=block)
    assert first["is_error"] is False
    after = api.every(f"{store}/memory_versions")
    for _ in range(3):
        assert api.done("POST", f"{store}/tool", json=block) == first
    assert api.every(f"{store}/memory_versions") == after


@pytest.mark.parametrize("backend", ["folder", "sqlite", "postgres"])
def test_another_server_answers_alike_too(backend: str) -> None:
    """As after a crash: what the first one kept in memory is not there."""
    url = url_of(backend, new_home())
    with serving(url) as first:
        api = Api(first, f"again-{backend}")
        answers: dict[str, Any] = {}
        store = {name: api.store() for name in COMMANDS}
        for name, given in COMMANDS.items():
            api.memory(store[name], "/a.md", "one\ntwo\nthree\n")
            block = {"id": "toolu_9", "input": given}
            answers[name] = api.done("POST", f"{store[name]}/tool", json=block)
        api.close()
    with serving(url) as second, second.client(api.key.credential) as client:
        for name, given in COMMANDS.items():
            before = client.get(f"{store[name]}/memory_versions").json()
            block = {"id": "toolu_9", "input": given}
            again = client.post(f"{store[name]}/tool", json=block)
            assert again.json() == answers[name]
            assert client.get(f"{store[name]}/memory_versions").json() == before


def test_many_who_send_one_block_at_once_make_one_change(api: Api, store: str) -> None:
    api.memory(store, "/a.md", "one\n")
    block = {"id": "toolu_1", "input": COMMANDS["insert"]}

    def send(_: int) -> Any:
        return api.done("POST", f"{store}/tool", json=block)

    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(send, range(8)))
    assert answers == [answers[0]] * 8
    assert len(api.every(f"{store}/memory_versions")) == 2


def test_a_call_whose_time_is_over_is_not_begun_again_beside_itself(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    go_on = threading.Event()
    n_begun = itertools.count()
    execute = Core.execute

    async def slow(core: Core, raw: object, trace_id: str | None = None) -> ToolResult:
        if next(n_begun) == 0:
            assert go_on.wait(30)
        return await execute(core, raw, trace_id)

    with serving(url_of("sqlite", new_home()), ServerSettings(request_seconds=1)) as live:
        api = Api(live, "default")
        store = api.store()
        api.memory(store, "/a.md", "one\n")
        monkeypatch.setattr(Core, "execute", slow)
        block = {"id": "toolu_1", "input": COMMANDS["insert"]}
        assert api.ask("POST", f"{store}/tool", json=block).status_code == 504
        assert api.ask("POST", f"{store}/tool", json=block).status_code == 504
        go_on.set()
        assert api.done("POST", f"{store}/tool", json=block)["is_error"] is False
        assert len(api.every(f"{store}/memory_versions")) == 2
        assert next(n_begun) == 1
        api.close()


def test_two_servers_that_get_one_block_at_once_make_one_change() -> None:
    url = url_of("sqlite", new_home())
    with serving(url) as one, serving(url) as two:
        api = Api(one, "both")
        store = api.store()
        api.memory(store, "/a.md", "one\n")
        with one.client(api.key.credential) as first, two.client(api.key.credential) as second:
            for number in range(10):
                block = {"id": f"toolu_{number}", "input": COMMANDS["insert"]}

                def send(client: Any, block: Any = block) -> int:
                    return int(client.post(f"{store}/tool", json=block).status_code)

                with ThreadPoolExecutor(2) as pool:
                    found = sorted(pool.map(send, (first, second)))
                assert found in ([200, 200], [200, 409])
        assert len(api.every(f"{store}/memory_versions")) == 11
        api.close()


def test_an_id_is_for_one_input(api: Api, store: str) -> None:
    api.done("POST", f"{store}/tool", json={"id": "t", "input": COMMANDS["create"]})
    other = {**COMMANDS["create"], "file_text": "y"}
    body = {"id": "t", "input": other}
    api.refused(400, "invalid_request_error", "POST", f"{store}/tool", json=body)
    there = api.store()
    assert api.done("POST", f"{there}/tool", json=body)["is_error"] is False


def test_a_refused_change_may_be_sent_again_by_another_id(api: Api, store: str) -> None:
    block = {"id": "t1", "input": COMMANDS["delete"]}
    assert api.done("POST", f"{store}/tool", json=block)["is_error"] is True
    api.memory(store, "/a.md")
    answer = api.done("POST", f"{store}/tool", json={**block, "id": "t2"})
    assert answer["is_error"] is False


def test_a_users_memory_and_a_memory_store_are_one_thing(one_live: Live) -> None:
    with Memory.open(one_live.url, user="ada") as memory:
        memory.write("/memories/a.md", "by the library")
        with one_live.client(make_key(one_live.url).credential) as client:
            (store,) = [
                one["id"]
                for one in client.get("/v1/memory_stores").json()["data"]
                if one["name"] == "ada"
            ]
            base = f"/v1/memory_stores/{store}"
            (seen,) = client.get(f"{base}/memories?view=full").json()["data"]
            assert (seen["path"], seen["content"]) == ("/a.md", "by the library")
            client.post(f"{base}/memories/{seen['id']}", json={"content": "by the API"})
            (newest, _) = client.get(f"{base}/memory_versions").json()["data"]
            assert newest["created_by"]["type"] == "api_actor"
        assert memory.read("/memories/a.md").text == "by the API"


def test_what_is_written_passes_the_policies(api: Api, store: str) -> None:
    secret = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    made = api.memory(store, "/a.md", f"token: {secret}\n")
    assert secret not in made["content"]
    assert api.done("GET", f"{store}/memories/{made['id']}") == made
    text = {"command": "create", "path": "/memories/b.md", "file_text": f"token: {secret}\n"}
    answer = api.done("POST", f"{store}/tool", json={"id": "t", "input": text})
    assert "removed before saving" in answer["content"]
    assert secret not in str(api.every(f"{store}/memory_versions", view="full"))


def test_an_agent_sees_what_is_mounted_and_the_store_lists_only_its_own(tmp_path: Path) -> None:
    (tmp_path / "memoranda.toml").write_text(
        '[[rules]]\nuser = "ada"\n[[rules.mounts]]\npath = "/memories/team"\nuser = "team"\n'
    )
    url = url_of("folder", tmp_path)
    with Memory.open(url, user="team") as team, Memory.open(url, user="ada") as ada:
        team.write("/memories/style.md", "Plain words.")
        ada.write("/memories/a.md", "mine")
    with serving(url, settings=load_settings(tmp_path, environ={})) as live:
        api = Api(live, "default")
        stores = {one["name"]: one["id"] for one in api.every("/v1/memory_stores")}
        base = f"/v1/memory_stores/{stores['ada']}"
        block = use("t1", command="view", path="/memories/team/style.md")
        assert "Plain words." in api.done("POST", f"{base}/tool", json=block)["content"]
        assert [one["path"] for one in api.every(f"{base}/memories")] == ["/a.md"]
        api.close()
