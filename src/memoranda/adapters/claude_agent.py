"""A memory for the Claude Agent SDK, as an MCP server in this process.

    memory = MemoryServer("./memory", user="acme-corp")
    options = ClaudeAgentOptions(
        mcp_servers={"memory": memory.config},
        allowed_tools=memory.tools,
        system_prompt=memory.prompt,
    )

One server is one user's memory.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import TYPE_CHECKING, Final

from memoranda import protocol
from memoranda.adapters.functions import AsyncMemoryFunction
from memoranda.async_memory import AsyncMemory
from memoranda.protocol import COMMANDS, CommandName

try:
    from claude_agent_sdk import McpSdkServerConfig

    from memoranda.adapters.mcp import memory_server
except ImportError as error:
    raise ImportError(
        "memoranda.adapters.claude_agent needs the Claude Agent SDK, version 0.2.189 or later, "
        "and the MCP SDK, version 2.3 or later: install memoranda[claude-agent]."
    ) from error

if TYPE_CHECKING:
    from memoranda.policies.policy import Policy

NAME: Final = protocol.NAME
"""What the server is called in ``mcp_servers``; it is a part of the tool's full name."""


class MemoryServer:
    """One user's memory for agents of the Claude Agent SDK.

    ``base_path`` is a folder, any URL that ``AsyncMemory.open`` takes, or an ``AsyncMemory`` that
    the application opened and keeps; ``user``, ``policy`` and ``actor`` as there. ``commands`` are
    the ones that are offered. May serve several clients, one after the other or at once.
    """

    def __init__(
        self,
        base_path: str | os.PathLike[str] | AsyncMemory = "./memory",
        *,
        user: str | None = None,
        policy: Policy | None = None,
        actor: str | None = None,
        commands: Iterable[CommandName] = COMMANDS,
    ) -> None:
        commands = protocol.checked(commands)
        self._function = AsyncMemoryFunction(
            base_path, user=user, policy=policy, actor=actor, commands=commands
        )
        server = memory_server(self._function.memory, commands=commands, one_client=False)
        self._config = McpSdkServerConfig(type="sdk", name=NAME, instance=server.server)

    @property
    def config(self) -> McpSdkServerConfig:
        """The entry for ``mcp_servers``, under the name ``memory``."""
        return self._config

    @property
    def tools(self) -> list[str]:
        """The tool's full name, for ``allowed_tools``."""
        return [f"mcp__{NAME}__{protocol.NAME}"]

    @property
    def prompt(self) -> str:
        """When to use the memory: a part of the system prompt."""
        return self._function.prompt

    @property
    def memory(self) -> AsyncMemory:
        """The memory behind the server, for what the agent doesn't do: history, restore, search."""
        return self._function.memory

    async def close(self) -> None:
        """Let go of a memory that this opened; the server is not to be used after it."""
        await self._function.close()
