"""An adapter whose SDK is not installed says which extra has it."""

from __future__ import annotations

import json
import subprocess
import sys

from tests.house.repository import SOURCE

EXTRAS = {
    "anthropic": "anthropic",
    "claude_agent": "claude-agent",
    "deepagents": "langchain",
    "langchain": "langchain",
    "mcp": "mcp",
    "openai_agents": "openai-agents",
    "pydantic_ai": "pydantic-ai",
}
WITHOUT_SDK = {"__init__", "functions", "source"}
PARTS = {"mcp_watching"}
"""What one of the adapters loads, and nobody else."""

TRY_ALL = """
import importlib, json, sys
for name in ("agents", "anthropic", "claude_agent_sdk", "deepagents", "langchain", "langchain_core",
             "mcp", "mcp_types", "pydantic_ai"):
    sys.modules[name] = None
said = {}
for name in json.loads(sys.argv[1]):
    try:
        importlib.import_module(f"memoranda.adapters.{name}")
    except ImportError as error:
        said[name] = str(error)
importlib.import_module("memoranda.adapters.functions")
print(json.dumps(said))
"""


def test_a_missing_extra_is_named() -> None:
    done = subprocess.run(
        [sys.executable, "-c", TRY_ALL, json.dumps(list(EXTRAS))],
        env={"PYTHONPATH": str(SOURCE)},
        capture_output=True,
        text=True,
        check=True,
    )
    said = json.loads(done.stdout)
    assert said.keys() == EXTRAS.keys()
    for name, extra in EXTRAS.items():
        assert said[name].endswith(f"install memoranda[{extra}].")


def test_every_adapter_is_tried() -> None:
    files = {path.stem for path in (SOURCE / "memoranda" / "adapters").glob("*.py")}
    assert files == EXTRAS.keys() | WITHOUT_SDK | PARTS
