"""The agent kit: the tool-use loop for programs that talk to the Messages API by themselves.

    from memoranda.agent import Agent

    agent = Agent(Anthropic(), memory, model="claude-sonnet-5-5")
    print(agent.run("What did we decide about the launch?").text)

The SDK's own tool runner does the same job where it fits (``memoranda.adapters.anthropic``). This
loop keeps the transcript in your hands: it is one that the API takes after every step, also after a
cancellation, and its turns, tokens and failures are counted.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

_HOMES = {
    "Agent": "memoranda.agent.loop",
    "AsyncAgent": "memoranda.agent.loop",
    "AsyncSessions": "memoranda.agent.sessions",
    "Context": "memoranda.agent.context",
    "Conversation": "memoranda.agent.conversation",
    "Hooks": "memoranda.agent.hooks",
    "Outcome": "memoranda.agent.outcome",
    "Sessions": "memoranda.agent.sessions",
    "UsageTotals": "memoranda.agent.outcome",
    "template": "memoranda.agent.templates",
}

__all__ = [
    "Agent",
    "AsyncAgent",
    "AsyncSessions",
    "Context",
    "Conversation",
    "Hooks",
    "Outcome",
    "Sessions",
    "UsageTotals",
    "template",
]

if TYPE_CHECKING:
    from memoranda.agent.context import Context
    from memoranda.agent.conversation import Conversation
    from memoranda.agent.hooks import Hooks
    from memoranda.agent.loop import Agent, AsyncAgent
    from memoranda.agent.outcome import Outcome, UsageTotals
    from memoranda.agent.sessions import AsyncSessions, Sessions
    from memoranda.agent.templates import template
else:
    # The command line uses the sessions alone, and should not pay for the rest.
    def __getattr__(name: str) -> Any:
        if name not in __all__:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        found = getattr(import_module(_HOMES[name]), name)
        globals()[name] = found
        return found
