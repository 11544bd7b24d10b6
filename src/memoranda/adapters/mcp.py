"""A memory over the Model Context Protocol: a tool, resources and a prompt.

    await serve_stdio(memory_server(memory))         # what ``memoranda mcp`` does
    app = HttpApp(find)                              # streamable HTTP, for an ASGI server

The tool ``memory`` has the six commands. Every memory is a resource, ``memory:///memories/notes.md``,
which clients can watch. The prompt ``memory`` says when to use it, and so do the instructions.
"""

from __future__ import annotations

import base64
from collections.abc import AsyncGenerator, Awaitable, Callable, Hashable, Iterable
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from memoranda import protocol, reply
from memoranda.adapters.functions import AsyncMemoryFunction
from memoranda.async_memory import AsyncMemory
from memoranda.command import parse
from memoranda.errors import MemorandaError, Misuse, Refused
from memoranda.path import ROOT_TEXT
from memoranda.protocol import COMMANDS, CommandName
from memoranda.stores.base import Entry

try:
    import mcp_types as types
    from mcp.server import Server, ServerRequestContext
    from mcp.server.stdio import stdio_server
    from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
    from mcp.server.transport_security import TransportSecuritySettings
    from mcp.shared.exceptions import MCPError

    from memoranda.adapters.mcp_watching import SCHEME, Watchers, path_of, uri_of
except ImportError as error:
    raise ImportError(
        "memoranda.adapters.mcp needs the official MCP SDK, version 2.3 or later: "
        "install memoranda[mcp]."
    ) from error

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.types import Receive, Scope, Send

    from memoranda.reply import Block

_PAGE: Final = 500

_WRITES: Final = frozenset(COMMANDS) - {"view"}


class Served(NamedTuple):
    """The memory of a request, and who it belongs to.

    ``whose`` is the same for all requests that mean the same memory, and different for any two
    that don't: changes are told to those who watch the same ``whose``.
    """

    memory: AsyncMemory
    whose: Hashable


Find = Callable[["Request"], Awaitable[Served]]
"""The memory that an HTTP request is about. Raises a ``MemorandaError`` where there is none."""


class MemoryServer:
    """What answers MCP requests, for one memory or for that of each request.

    ``server`` is the SDK's server object, for transports that are not here. ``find`` gets what the
    transport knows of the request (over HTTP a Starlette request, else None). ``one_client``:
    it is connected to one client at a time, so that one of the protocol's older versions, which
    know no streams of changes, can watch resources too.
    """

    def __init__(
        self,
        find: Callable[[Any], Awaitable[Served]],
        *,
        commands: Iterable[CommandName] = COMMANDS,
        one_client: bool = False,
    ) -> None:
        self._find = find
        self.commands: Final = protocol.checked(commands)
        self._watchers: dict[Hashable, Watchers] = {}
        self.server: Final[Server[Any]] = Server(
            "memoranda",
            title="Memoranda",
            description="Files that an agent remembers, kept between conversations.",
            instructions=protocol.prompt(self.commands),
            on_list_tools=self._list_tools,
            on_call_tool=self._call_tool,
            on_list_resources=self._list_resources,
            on_list_resource_templates=self._list_templates,
            on_read_resource=self._read_resource,
            on_subscribe_resource=self._subscribe if one_client else None,
            on_unsubscribe_resource=self._unsubscribe if one_client else None,
            on_subscriptions_listen=self._listen,
            on_list_prompts=self._list_prompts,
            on_get_prompt=self._get_prompt,
        )

    @property
    def watched(self) -> int:
        """How many memories somebody watches now."""
        return len(self._watchers)

    def close(self) -> None:
        """End the streams of those who watch, as the protocol asks for."""
        for watchers in self._watchers.values():
            watchers.end()
            watchers.handler.close()

    # ---- the tool

    async def _list_tools(self, ctx: _Context, params: object) -> types.ListToolsResult:
        writes = bool(_WRITES & set(self.commands))
        tool = types.Tool(
            name=protocol.NAME,
            title="Memory",
            description=protocol.description(self.commands),
            input_schema=protocol.input_schema(self.commands),
            annotations=types.ToolAnnotations(
                read_only_hint=not writes, destructive_hint=writes, open_world_hint=False
            ),
        )
        return types.ListToolsResult(tools=[tool])

    async def _call_tool(
        self, ctx: _Context, params: types.CallToolRequestParams
    ) -> types.CallToolResult:
        try:
            served = await self._find(ctx.request)
        except MemorandaError:
            return _as_result(reply.unavailable())
        function = AsyncMemoryFunction(served.memory, commands=self.commands)
        arguments = params.arguments or {}
        watchers = self._watchers.get(served.whose)
        if watchers is None:
            return _as_result(
                await function.execute(params.name, arguments, call_id=_trace_id(ctx))
            )
        with watchers.command():
            result = await function.execute(params.name, arguments, call_id=_trace_id(ctx))
            if not result.is_error:
                await watchers.tell_of(parse(arguments))
        return _as_result(result)

    # ---- resources

    async def _list_resources(
        self, ctx: _Context, params: types.PaginatedRequestParams | None
    ) -> types.ListResourcesResult:
        cursor = None if params is None else params.cursor
        async with self._served(ctx) as served:
            page = await served.memory.page(after=cursor, limit=_PAGE)
        return types.ListResourcesResult(
            resources=[
                types.Resource(
                    name=str(entry.path).removeprefix(f"{ROOT_TEXT}/"),
                    uri=uri_of(str(entry.path)),
                    size=entry.size_bytes,
                )
                for entry in page.entries
                if isinstance(entry, Entry)
            ],
            next_cursor=page.after,
        )

    async def _list_templates(
        self, ctx: _Context, params: object
    ) -> types.ListResourceTemplatesResult:
        template = types.ResourceTemplate(
            name="memory-file",
            title="A memory",
            uri_template=f"{SCHEME}{ROOT_TEXT}/{{+path}}",
            description="One file of the memory, by its path.",
        )
        return types.ListResourceTemplatesResult(resource_templates=[template])

    async def _read_resource(
        self, ctx: _Context, params: types.ReadResourceRequestParams
    ) -> types.ReadResourceResult:
        async with self._served(ctx) as served:
            stored = await served.memory.read(path_of(str(params.uri)))
        contents: types.TextResourceContents | types.BlobResourceContents
        try:
            text = stored.content.decode()
        except UnicodeDecodeError:
            blob = base64.b64encode(stored.content).decode("ascii")
            contents = types.BlobResourceContents(uri=params.uri, blob=blob)
        else:
            contents = types.TextResourceContents(uri=params.uri, mime_type="text/plain", text=text)
        return types.ReadResourceResult(contents=[contents])

    # ---- watching

    async def _listen(
        self, ctx: _Context, params: types.SubscriptionsListenRequestParams
    ) -> types.SubscriptionsListenResult:
        uris = tuple(params.notifications.resource_subscriptions or ())
        async with self._served(ctx) as served:
            watchers = self._watchers.setdefault(served.whose, Watchers(served.memory))
        try:
            with watchers.stream(uris):
                async with self._served(ctx):
                    await watchers.begin()
                return await watchers.handler(ctx, params)
        finally:
            self._let_go(served.whose)

    async def _subscribe(
        self, ctx: _Context, params: types.SubscribeRequestParams
    ) -> types.EmptyResult:
        async with self._served(ctx) as served:
            watchers = self._watchers.setdefault(served.whose, Watchers(served.memory))
            watchers.subscribe(ctx.session, str(params.uri))
            await watchers.begin()
        return types.EmptyResult()

    async def _unsubscribe(
        self, ctx: _Context, params: types.UnsubscribeRequestParams
    ) -> types.EmptyResult:
        async with self._served(ctx) as served:
            watchers = self._watchers.get(served.whose)
        if watchers is not None:
            watchers.unsubscribe(str(params.uri))
            self._let_go(served.whose)
        return types.EmptyResult()

    def _let_go(self, whose: Hashable) -> None:
        """Nothing is kept of a memory that nobody watches any more."""
        watchers = self._watchers.get(whose)
        if watchers is not None and not watchers.is_watched:
            watchers.end()
            del self._watchers[whose]

    # ---- the prompt

    async def _list_prompts(self, ctx: _Context, params: object) -> types.ListPromptsResult:
        prompt = types.Prompt(
            name=protocol.NAME,
            title="Use the memory",
            description="When to look into the memory, and what to note.",
        )
        return types.ListPromptsResult(prompts=[prompt])

    async def _get_prompt(
        self, ctx: _Context, params: types.GetPromptRequestParams
    ) -> types.GetPromptResult:
        if params.name != protocol.NAME:
            raise MCPError(types.INVALID_PARAMS, "There is no prompt of this name.")
        content = types.TextContent(type="text", text=protocol.prompt(self.commands))
        return types.GetPromptResult(messages=[types.PromptMessage(role="user", content=content)])

    # ---- the memory of a request

    @asynccontextmanager
    async def _served(self, ctx: _Context) -> AsyncGenerator[Served]:
        """The memory of a request; what it raises becomes an error of the protocol."""
        try:
            yield await self._find(ctx.request)
        except (Refused, Misuse) as error:
            # What a program reads: the kind of refusal, nothing of the storage.
            raise MCPError(types.INVALID_PARAMS, str(error)) from error
        except MemorandaError as error:
            said = reply.unavailable().content
            raise MCPError(types.INTERNAL_ERROR, str(said)) from error


_Context = ServerRequestContext[Any, Any]


# ---------------------------------------------------------------- transports


def memory_server(
    memory: AsyncMemory,
    *,
    commands: Iterable[CommandName] = COMMANDS,
    one_client: bool = True,
) -> MemoryServer:
    """A server of one memory, which the application keeps. ``one_client``: it is connected to one
    client at a time, so that one of the protocol's older versions can watch resources too."""

    async def find(_: object) -> Served:
        return Served(memory, None)

    return MemoryServer(find, commands=commands, one_client=one_client)


async def serve_stdio(server: MemoryServer) -> None:
    """Serve the client at the other end of standard input and output, until it goes."""
    async with stdio_server() as (incoming, outgoing):
        await server.server.run(incoming, outgoing, server.server.create_initialization_options())


class HttpApp:
    """Streamable HTTP as an ASGI application, at whatever path it is mounted.

    Its ``lifespan`` has to be entered in that of the application around it. Requests stand for
    themselves: no session is kept, so any process may answer any of them. Changes are told to those
    who watch in the same process. Whoever mounts it says who may come in; ``hosts`` (and the
    ``origins`` of browsers) are the ``Host`` headers that are answered, None for any: a program on
    a person's machine without keys needs them, lest web pages reach it by a name of their own.
    """

    def __init__(
        self,
        find: Find,
        *,
        commands: Iterable[CommandName] = COMMANDS,
        hosts: Iterable[str] | None = None,
        origins: Iterable[str] = (),
    ) -> None:
        self._memories = MemoryServer(find, commands=commands)
        security = TransportSecuritySettings(
            enable_dns_rebinding_protection=hosts is not None,
            allowed_hosts=list(hosts or ()),
            allowed_origins=list(origins),
        )
        self._manager = StreamableHTTPSessionManager(
            app=self._memories.server, stateless=True, security_settings=security
        )

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        await self._manager.handle_request(scope, receive, send)

    @asynccontextmanager
    async def lifespan(self) -> AsyncGenerator[None]:
        """Around the application's life, once: no request is answered outside of it."""
        async with self._manager.run():
            try:
                yield
            finally:
                self._memories.close()


# ---------------------------------------------------------------- shapes


def _as_result(result: reply.ToolResult) -> types.CallToolResult:
    content = result.content
    blocks: list[Block] = (
        [{"type": "text", "text": content}] if isinstance(content, str) else content
    )
    return types.CallToolResult(
        content=[_content(block) for block in blocks], is_error=result.is_error
    )


def _content(block: Block) -> types.TextContent | types.ImageContent:
    if block["type"] == "text":
        return types.TextContent(type="text", text=block["text"])
    source = block["source"]
    return types.ImageContent(type="image", data=source["data"], mime_type=source["media_type"])


def _trace_id(ctx: _Context) -> str | None:
    return None if ctx.request_id is None else f"mcp_{ctx.request_id}"
