"""``/mcp`` of a real server with the official client: the same keys, policies and stores."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

import httpx
import httpx2
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.client.subscriptions import ResourcesListChanged, ResourceUpdated

from memoranda.server.mcp import MCP
from tests.server.live import Api, Live, make_key

CREATE = {"command": "create", "path": "/memories/a.md", "file_text": "one\n"}
URI = "memory:///memories/a.md"
BODY = {"jsonrpc": "2.0", "id": 1, "method": "ping"}


@asynccontextmanager
async def client_of(live: Live, credential: str, path: str) -> AsyncGenerator[Client]:
    headers = {"authorization": f"Bearer {credential}"}
    async with httpx2.AsyncClient(headers=headers, timeout=30) as http:
        transport = streamable_http_client(f"{live.address}{path}", http_client=http)
        async with Client(transport) as client:
            yield client


def said(result: Any) -> tuple[str, bool]:
    return result.content[0].text, result.is_error


def test_a_store_of_the_api_and_a_memory_over_mcp_are_the_same(
    one_live: Live, one_api: Api
) -> None:
    store = one_api.store()
    path = f"/mcp/{store.rpartition('/')[2]}"

    async def go() -> None:
        async with (
            client_of(one_live, one_api.key.credential, path) as client,
            client_of(one_live, one_api.key.credential, path) as other,
            other.listen(resources_list_changed=True, resource_subscriptions=[URI]) as changes,
        ):
            assert [tool.name for tool in (await client.list_tools()).tools] == ["memory"]
            made = said(await client.call_tool("memory", CREATE))
            assert made == ("File created successfully at: /memories/a.md", False)
            seen = {await anext(changes), await anext(changes)}
            assert seen == {ResourceUpdated(URI), ResourcesListChanged()}
            (contents,) = (await other.read_resource(URI)).contents
            assert contents.model_dump()["text"] == "one\n"
            _, failed = said(await other.call_tool("memory", CREATE))
            assert failed

    asyncio.run(go())
    (memory,) = one_api.every(f"{store}/memories", view="full")
    assert (memory["path"], memory["content"]) == ("/a.md", "one\n")
    (version,) = one_api.every(f"{store}/memory_versions")
    assert one_api.key.key.id in str(version["created_by"])


def test_what_the_api_changes_is_told_to_those_who_watch_over_mcp(api: Api) -> None:
    store = api.store()
    path = f"/mcp/{store.rpartition('/')[2]}"

    async def go() -> None:
        async with (
            client_of(api.live, api.key.credential, path) as client,
            client.listen(resources_list_changed=True, resource_subscriptions=[URI]) as changes,
            asyncio.timeout(30),
        ):
            ask = asyncio.to_thread
            await ask(api.memory, api.store(), "/a.md")  # another store's, of the same name
            made = await ask(api.memory, store, "/a.md")
            told = {ResourceUpdated(URI), ResourcesListChanged()}
            assert {await anext(changes), await anext(changes)} == told
            memory = f"{store}/memories/{made['id']}"
            await ask(api.done, "POST", memory, json={"content": "two"})
            assert await anext(changes) == ResourceUpdated(URI)
            await ask(api.done, "POST", memory, json={"path": "/b.md"})
            assert {await anext(changes), await anext(changes)} == told

    asyncio.run(go())


def test_a_key_for_one_store_needs_no_name_and_a_reading_key_changes_nothing(
    one_live: Live, one_api: Api
) -> None:
    store_id = one_api.store().rpartition("/")[2]
    one_api.memory(f"/v1/memory_stores/{store_id}", "/a.md", "one\n")
    workspace = one_api.key.key.workspace
    reader = make_key(one_live.url, workspace=workspace, role="read", stores=(store_id,))

    async def go() -> None:
        async with client_of(one_live, reader.credential, "/mcp") as client:
            shown, _ = said(
                await client.call_tool("memory", {"command": "view", "path": "/memories/a.md"})
            )
            assert shown.endswith("     1\tone")
            delete = {"command": "delete", "path": "/memories/a.md"}
            refused = said(await client.call_tool("memory", delete))
            assert refused == ("Error: /memories/a.md is read-only.", True)

    asyncio.run(go())


def test_stores_of_others_are_as_if_they_were_not(one_live: Live, one_api: Api) -> None:
    store_id = one_api.store().rpartition("/")[2]
    stranger = make_key(one_live.url, workspace="elsewhere")
    other = make_key(
        one_live.url, workspace=one_api.key.key.workspace, stores=("memstore_01other",)
    )
    answers: list[httpx.Response] = []
    for key in (stranger, other):
        with one_live.client(key.credential) as http:
            answers += [
                http.post(f"/mcp/{one}", json=BODY) for one in (store_id, "memstore_01none")
            ]
    assert {answer.status_code for answer in answers} == {404}
    assert len({answer.json()["error"]["message"] for answer in answers}) == 1


def test_a_key_for_all_stores_has_to_name_one(one_api: Api) -> None:
    error = one_api.refused(404, "not_found_error", "POST", "/mcp", json=BODY)
    assert "/mcp/memstore_" in error["message"]


@pytest.mark.parametrize("path", [endpoint.path for endpoint in MCP.endpoints])
def test_without_a_key_nobody_gets_in_and_only_messages_are_taken(
    one_live: Live, one_api: Api, path: str
) -> None:
    url = path.replace("{store}", "memstore_01none")
    answer = httpx.post(f"{one_live.address}{url}", json=BODY)
    assert answer.status_code == 401
    assert answer.headers["www-authenticate"].startswith("Bearer")
    for method in ("GET", "DELETE", "PUT"):
        assert one_api.ask(method, url).status_code == 405
