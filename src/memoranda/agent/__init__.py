"""The agent kit: the tool-use loop for programs that talk to the Messages API by themselves.

    from memoranda.agent import Agent

    agent = Agent(Anthropic(), memory, model="claude-sonnet-5-5")
    print(agent.run("What did we decide about the launch?").text)

The SDK's own tool runner does the same job where it fits (``memoranda.adapters.anthropic``). This
loop keeps the transcript in your hands: it is one that the API takes after every step, also after a
cancellation, and its turns, tokens and failures are counted.
"""

from __future__ import annotations

from memoranda.agent.context import Context
from memoranda.agent.conversation import Conversation
from memoranda.agent.hooks import Hooks
from memoranda.agent.loop import Agent, AsyncAgent
from memoranda.agent.outcome import Outcome, UsageTotals

__all__ = ["Agent", "AsyncAgent", "Context", "Conversation", "Hooks", "Outcome", "UsageTotals"]
