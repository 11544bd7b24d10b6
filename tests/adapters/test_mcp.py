"""The MCP server with the official client: over stdio, streamable HTTP, and in this process."""

from __future__ import annotations

import asyncio
import base64
import contextlib
import os
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest
import uvicorn
from mcp import Client, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client
from mcp.client.subscriptions import ResourcesListChanged, ResourceUpdated
from mcp.shared.exceptions import MCPError
from mcp_types import ImageContent, ResourceUpdatedNotification, TextContent
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.routing import Mount

from memoranda.adapters.claude_agent import MemoryServer as AgentMemory
from memoranda.adapters.mcp import HttpApp, MemoryServer, Served, memory_server
from memoranda.async_memory import AsyncMemory
from memoranda.errors import UnknownId
from memoranda.testing.conformance.malformed import FILE
from tests.adapters.hostile import OBJECTS, as_the_memory_answers
from tests.house.repository import SOURCE

URI = f"memory://{FILE}"
CREATE = {"command": "create", "path": FILE, "file_text": "a\nb\n"}
VIEW = {"command": "view", "path": FILE}
PNG = b"\x89PNG\r\n\x1a\n" + bytes(8)


def said(result: Any) -> tuple[str, bool]:
    """The text of a tool's result, and whether it is an error."""
    (content,) = result.content
    assert isinstance(content, TextContent)
    return content.text, result.is_error


# ---------------------------------------------------------------- ways to connect


def program(store: Path, *options: str) -> StdioServerParameters:
    return StdioServerParameters(
        command=sys.executable,
        args=["-W", "error", "-m", "memoranda", "mcp", "--store", str(store), *options],
        env={"PYTHONPATH": str(SOURCE), "PATH": os.environ["PATH"]},
    )


@asynccontextmanager
async def listening(app: Any) -> AsyncGenerator[str]:
    """An application on a port that the kernel gave, in this process; its address."""
    settings = uvicorn.Config(app, port=0, log_level="error", timeout_graceful_shutdown=1)
    server = uvicorn.Server(settings)
    running = asyncio.create_task(server.serve())
    while not server.started:
        await asyncio.sleep(0.01)
    try:
        (port,) = (socket.getsockname()[1] for each in server.servers for socket in each.sockets)
        yield f"http://127.0.0.1:{port}/mcp"
    finally:
        server.should_exit = True
        await running


@asynccontextmanager
async def over_http(memories: dict[str, AsyncMemory], **settings: Any) -> AsyncGenerator[str]:
    """An application that finds the memory by the header ``x-user``."""

    async def find(request: Request) -> Served:
        user = request.headers.get("x-user", "ada")
        if user not in memories:
            raise UnknownId("key")
        return Served(memories[user], user)

    app = HttpApp(find, **settings)
    around = Starlette(routes=[Mount("/mcp", app)], lifespan=lambda _: app.lifespan())
    async with listening(around) as url:
        yield url


@asynccontextmanager
async def client_of(url: str, user: str) -> AsyncGenerator[Client]:
    async with httpx2.AsyncClient(headers={"x-user": user}, timeout=30) as http:
        transport = streamable_http_client(f"{url}/", http_client=http)
        async with Client(transport) as client:
            yield client


# ---------------------------------------------------------------- what every client can do


async def try_all_of_it(client: Client) -> None:
    """List, call, read and watch, on an empty memory."""
    (tool,) = (await client.list_tools()).tools
    assert tool.name == "memory"
    assert tool.input_schema["properties"]["command"]["enum"][0] == "view"
    assert client.instructions is not None
    assert "outlasts this conversation" in client.instructions
    (prompt,) = (await client.list_prompts()).prompts
    (message,) = (await client.get_prompt(prompt.name)).messages
    assert isinstance(message.content, TextContent)
    assert message.content.text == client.instructions
    with pytest.raises(MCPError, match="no prompt of this name"):
        await client.get_prompt("poem")

    assert (await client.list_resources()).resources == []
    async with client.listen(resources_list_changed=True, resource_subscriptions=[URI]) as changes:
        made = await client.call_tool("memory", CREATE)
        assert said(made) == (f"File created successfully at: {FILE}", False)
        seen = {await anext(changes), await anext(changes)}
        assert seen == {ResourceUpdated(URI), ResourcesListChanged()}
        insert = {"command": "insert", "path": FILE, "insert_line": 0, "insert_text": "0"}
        await client.call_tool("memory", insert)
        assert await anext(changes) == ResourceUpdated(URI)
        await client.call_tool("memory", {**CREATE, "path": "/memories/other.md"})
        assert await anext(changes) == ResourcesListChanged()
        await client.call_tool("memory", {"command": "delete", "path": FILE})
        assert {await anext(changes), await anext(changes)} == seen
    (listed,) = (await client.list_resources()).resources
    assert (listed.name, listed.uri, listed.size) == ("other.md", "memory:///memories/other.md", 4)
    (contents,) = (await client.read_resource(listed.uri)).contents
    assert contents.model_dump()["text"] == "a\nb\n"
    (template,) = (await client.list_resource_templates()).resource_templates
    assert template.uri_template == "memory:///memories/{+path}"

    failed = await client.call_tool("memory", VIEW)
    assert said(failed) == (
        f"The path {FILE} does not exist. Please provide a valid path.",
        True,
    )


def test_the_official_client_uses_the_program_over_stdio(tmp_path: Path) -> None:
    async def go() -> list[str]:
        async with Client(program(tmp_path, "--user", "ada")) as client:
            await try_all_of_it(client)
        # A second run, of a program that may only look, finds what the first one left.
        async with Client(program(tmp_path, "--user", "ada", "--only-view")) as client:
            (tool,) = (await client.list_tools()).tools
            assert tool.input_schema["properties"]["command"]["enum"] == ["view"]
            text, _ = said(await client.call_tool("memory", {**VIEW, "path": "/memories/other.md"}))
            assert text.endswith("     1\ta\n     2\tb")
            refused = said(await client.call_tool("memory", CREATE))
            assert refused == ("Error: unknown command create", True)
        async with AsyncMemory.open(str(tmp_path), "ada") as memory:
            return [version.actor for version in await memory.history()]

    assert set(asyncio.run(go())) == {"agent"}


def test_the_official_client_uses_an_application_over_http() -> None:
    async def go() -> None:
        async with (
            AsyncMemory.open("memory:") as ada,
            AsyncMemory.open("memory:") as bob,
            over_http({"ada": ada, "bob": bob}) as url,
        ):
            async with client_of(url, "ada") as client:
                await try_all_of_it(client)
            async with client_of(url, "bob") as other, client_of(url, "ada") as client:
                await nothing_of_another_is_seen(other, client)

    asyncio.run(go())


async def nothing_of_another_is_seen(bob: Client, ada: Client) -> None:
    """Neither contents nor changes of one user reach another, who watches the same names."""
    mine = "memory:///memories/other.md"
    async with bob.listen(resources_list_changed=True, resource_subscriptions=[mine, URI]) as news:
        change = {**VIEW, "command": "delete", "path": "/memories/other.md"}
        assert not (await ada.call_tool("memory", change)).is_error
        assert (await bob.list_resources()).resources == []
        await bob.call_tool("memory", CREATE)
        # The first that comes is of bob's own change.
        assert {await anext(news), await anext(news)} == {
            ResourceUpdated(URI),
            ResourcesListChanged(),
        }


def test_who_has_no_memory_gets_an_answer_and_an_error_of_the_protocol() -> None:
    async def go() -> None:
        async with over_http({}) as url, client_of(url, "eve") as client:
            unavailable = "Error: The memory is unavailable right now. Try again later."
            assert said(await client.call_tool("memory", VIEW)) == (unavailable, True)
            with pytest.raises(MCPError):
                await client.list_resources()

    asyncio.run(go())


def test_a_foreign_host_name_is_refused_where_hosts_are_named() -> None:
    async def go() -> int:
        hosts = ["memory.example"]
        async with over_http({}, hosts=hosts) as url, httpx2.AsyncClient() as http:
            return (await http.post(f"{url}/", json={})).status_code

    assert asyncio.run(go()) == 421


# ---------------------------------------------------------------- resources and results


def test_resources_are_paged_and_read_by_encoded_addresses() -> None:
    async def go() -> None:
        async with AsyncMemory.open("memory:") as memory:
            names = [f"/memories/{number:03} ü?#%.md" for number in range(503)]
            for name in names:
                await memory.write(name, name)
            await memory.write("/memories/z.png", PNG)
            async with Client(memory_server(memory).server) as client:
                first = await client.list_resources()
                second = await client.list_resources(cursor=first.next_cursor)
                assert len(first.resources) == 500
                assert second.next_cursor is None
                found = [one.uri for one in (*first.resources, *second.resources)]
                texts = [
                    (await client.read_resource(uri)).contents[0].model_dump()["text"]
                    for uri in found[:3]
                ]
                assert texts == names[:3]
                (blob,) = (await client.read_resource(found[-1])).contents
                assert base64.b64decode(blob.model_dump()["blob"]) == PNG
                for wrong in (
                    "memory:///memories/none",
                    "memory:///etc/passwd",
                    "file:///x",
                    "memory:///memories/%2e%2e/x",
                    "memory:///memories/%ff",
                ):
                    with pytest.raises(MCPError) as caught:
                        await client.read_resource(wrong)
                    assert caught.value.code == -32602
                picture = await client.call_tool("memory", {**VIEW, "path": "/memories/z.png"})
                words, image = picture.content
                assert isinstance(words, TextContent)
                assert isinstance(image, ImageContent)
                assert image.mime_type == "image/png"

    asyncio.run(go())


def test_whatever_a_model_sends_is_answered_as_the_memory_answers_it() -> None:
    # An unpaired surrogate is no JSON that a transport could carry.
    inputs = [one for one in OBJECTS if "\\ud800" not in ascii(one)]

    async def go() -> list[tuple[str, bool]]:
        async with AsyncMemory.open("memory:") as memory:
            await memory.write(FILE, "a\nb\n")
            async with Client(memory_server(memory).server) as client:
                unknown = said(await client.call_tool("remember", VIEW))
                assert unknown == ("Error: unknown command remember", True)
                return [said(await client.call_tool("memory", one)) for one in inputs]

    assert asyncio.run(go()) == as_the_memory_answers(inputs)


# ---------------------------------------------------------------- watching


def test_a_change_of_a_directory_is_one_of_what_lies_beneath_it() -> None:
    async def go() -> None:
        async with AsyncMemory.open("memory:") as memory:
            for name in ("a/x.md", "ab/x.md"):
                await memory.write(f"/memories/{name}", "x")
            server = memory_server(memory)
            watched = ["memory:///memories/a/x.md", "memory:///memories/ab/x.md"]
            async with (
                Client(server.server) as client,
                client.listen(resource_subscriptions=watched) as changes,
            ):
                rename = {"command": "rename", "old_path": "/memories/a"}
                await client.call_tool("memory", {**rename, "new_path": "/memories/c"})
                assert await anext(changes) == ResourceUpdated(watched[0])
                await client.call_tool("memory", {"command": "delete", "path": "/memories/ab"})
                assert await anext(changes) == ResourceUpdated(watched[1])
                server.close()
                assert [event async for event in changes] == []

    asyncio.run(go())


@pytest.mark.filterwarnings("ignore::mcp.shared.exceptions.MCPDeprecationWarning")
def test_a_client_of_an_older_version_watches_over_its_one_connection() -> None:
    updates: asyncio.Queue[str] = asyncio.Queue()

    async def note(message: Any) -> None:
        if isinstance(message, ResourceUpdatedNotification):
            updates.put_nowait(str(message.params.uri))

    async def go() -> None:
        async with AsyncMemory.open("memory:") as memory:
            server = memory_server(memory).server
            async with Client(server, mode="legacy", message_handler=note) as client:
                await client.subscribe_resource(URI)  # pyright: ignore[reportDeprecated]
                await client.call_tool("memory", CREATE)
                assert await asyncio.wait_for(updates.get(), 20) == URI
                await client.unsubscribe_resource(URI)  # pyright: ignore[reportDeprecated]
                await client.call_tool("memory", {"command": "delete", "path": FILE})
                await client.send_ping()  # pyright: ignore[reportDeprecated]
                assert updates.empty()

    asyncio.run(go())


def test_what_others_change_is_told_over_stdio(tmp_path: Path) -> None:
    """By another process's history, by a person's editor, and by a move away."""

    async def go() -> None:
        async with (
            Client(program(tmp_path, "--user", "ada")) as client,
            AsyncMemory.open(str(tmp_path), "ada") as elsewhere,
            client.listen(resources_list_changed=True, resource_subscriptions=[URI]) as changes,
            asyncio.timeout(30),
        ):
            await elsewhere.write("/memories/not-watched.md", "x")
            assert await anext(changes) == ResourcesListChanged()
            made = {ResourceUpdated(URI), ResourcesListChanged()}
            await elsewhere.write(FILE, "one")
            assert {await anext(changes), await anext(changes)} == made
            await elsewhere.write(FILE, "two")
            assert await anext(changes) == ResourceUpdated(URI)
            (file,) = tmp_path.rglob(Path(FILE).name)
            file.write_text("by hand")
            assert await anext(changes) == ResourceUpdated(URI)
            await elsewhere.move(FILE, "/memories/away.md")
            assert {await anext(changes), await anext(changes)} == made

    asyncio.run(go())


@pytest.mark.filterwarnings("ignore::mcp.shared.exceptions.MCPDeprecationWarning")
def test_an_older_client_is_told_what_others_change() -> None:
    updates: asyncio.Queue[str] = asyncio.Queue()

    async def note(message: Any) -> None:
        if isinstance(message, ResourceUpdatedNotification):
            updates.put_nowait(str(message.params.uri))

    async def go() -> None:
        async with AsyncMemory.open("memory:") as memory:
            server = memory_server(memory)
            async with Client(server.server, mode="legacy", message_handler=note) as client:
                await client.subscribe_resource(URI)  # pyright: ignore[reportDeprecated]
                await memory.write(FILE, "one")
                assert await asyncio.wait_for(updates.get(), 20) == URI
                await client.unsubscribe_resource(URI)  # pyright: ignore[reportDeprecated]
                assert not server.watched

    asyncio.run(go())


def test_more_changes_than_are_looked_at_one_by_one_concern_all_that_is_watched() -> None:
    async def go() -> None:
        async with AsyncMemory.open("memory:") as memory:
            begin = await memory.changed()
            for number in range(200):
                await memory.write(f"/memories/{number}.md", "x")
            found = await memory.changed(begin.seq)
            assert (found.paths, found.listed) == (frozenset({"/memories"}), True)
            assert await memory.changed(found.seq) == (found.seq, frozenset(), False)

    asyncio.run(go())


def test_nothing_is_kept_of_those_who_stopped_watching() -> None:
    async def go() -> None:
        async with AsyncMemory.open("memory:") as memory:
            server: MemoryServer = memory_server(memory)
            async with Client(server.server) as client:
                for _ in range(3):
                    async with client.listen(resource_subscriptions=[URI]):
                        assert server.watched
                    with contextlib.suppress(TimeoutError):
                        async with asyncio.timeout(20):
                            while server.watched:
                                await asyncio.sleep(0.01)
                    assert not server.watched

    asyncio.run(go())


# ---------------------------------------------------------------- the Claude Agent SDK's server


def test_the_claude_agent_sdk_takes_the_server_and_a_client_uses_it(tmp_path: Path) -> None:
    """Its bundled program needs the API, so the server is tried through its own MCP interface, as
    the SDK connects to it: a low-level server object, run in this process."""
    from claude_agent_sdk import ClaudeAgentOptions

    async def run(*commands: dict[str, Any]) -> list[tuple[str, bool]]:
        memory = AgentMemory(tmp_path, user="ada")
        options = ClaudeAgentOptions(
            mcp_servers={"memory": memory.config},
            allowed_tools=memory.tools,
            system_prompt=memory.prompt,
        )
        assert options.allowed_tools == ["mcp__memory__memory"]
        assert memory.config["type"] == "sdk"
        async with Client(memory.config["instance"], mode="legacy") as client:
            answers = [said(await client.call_tool("memory", one)) for one in commands]
        await memory.close()
        return answers

    ((made, _),) = asyncio.run(run(CREATE))
    assert made == f"File created successfully at: {FILE}"
    (seen, _), (wrong, failed) = asyncio.run(run(VIEW, {"command": "create", "path": FILE}))
    assert seen.endswith("     1\ta\n     2\tb")
    assert wrong == "Error: Missing required parameter `file_text` for command `create`"
    assert failed
