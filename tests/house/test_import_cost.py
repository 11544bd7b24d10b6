"""What ``import memoranda`` costs: no SDK, no framework, no event loop."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from memoranda import Memory
from tests.house.repository import SOURCE

HEAVY = {
    "agents",
    "anthropic",
    "anyio",
    "asyncio",
    "claude_agent_sdk",
    "click",
    "deepagents",
    "email",
    "http",
    "httpx",
    "httpx2",
    "langchain",
    "langgraph",
    "logging.config",
    "mcp",
    "openai",
    "pydantic",
    "pydantic_ai",
    "rich",
    "sqlite3",
    "ssl",
    "typer",
    "unittest",
    "urllib.request",
    "xml",
}


def loaded_by(statement: str) -> set[str]:
    """The modules that a fresh interpreter holds after ``statement``."""
    code = (
        f"import sys; sys.path.insert(0, {str(SOURCE)!r})\n"
        f"{statement}\n"
        "import json; print(json.dumps(sorted(sys.modules)))"
    )
    done = subprocess.run(
        [sys.executable, "-I", "-c", code], capture_output=True, text=True, check=True
    )
    return set(json.loads(done.stdout))


@pytest.mark.parametrize(
    "statement",
    [
        "import memoranda",
        "from memoranda import AsyncMemory, Limits, Memory, Policy",
        "import memoranda; memoranda.Memory.open('memory:').execute({'command': 'view'})",
        "from memoranda.adapters.functions import AsyncMemoryFunction, MemoryFunction",
    ],
)
def test_the_core_loads_no_sdk_no_framework_and_no_event_loop(statement: str) -> None:
    # Packages installed beside us may load things at start-up of their own accord.
    ours = loaded_by(statement) - loaded_by("pass")
    assert "memoranda" in ours
    assert ours & HEAVY == set()


NOT_FOR_A_VIEW = HEAVY | {
    "apsw",
    "ast",
    "copy",
    "ctypes",
    "dataclasses",
    "datetime",
    "decimal",
    "encodings.ascii",
    "fnmatch",
    "hashlib",
    "inspect",
    "json",
    "logging",
    "pathlib",
    "random",
    "resource",
    "secrets",
    "signal",
    "tempfile",
    "tokenize",
    "traceback",
    "unicodedata",
    "urllib.parse",
    "memoranda.programs",
    "memoranda.stores.folder.counters",
    "memoranda.stores.folder.external_edits",
    "memoranda.stores.folder.follow",
    "memoranda.stores.folder.heads",
    "memoranda.stores.folder.index",
    "memoranda.stores.folder.opened",
    "memoranda.stores.folder.opening",
    "memoranda.stores.folder.repair",
    "memoranda.stores.folder.system_calls",
    "memoranda.stores.folder.writer",
    "memoranda.stores.log.command",
    "memoranda.stores.log.database",
    "memoranda.stores.log.events",
    "memoranda.stores.log.history",
    "memoranda.stores.log.tree",
    "memoranda.stores.log.turn",
    "memoranda.view_file",
}
"""What writes, histories, programs and large files need. Each costs half a millisecond to 10."""


def test_a_first_view_of_a_folder_loads_what_it_needs(tmp_path: Path) -> None:
    with Memory.open(str(tmp_path)) as memory:
        command = {"command": "create", "path": "/memories/a/b.md", "file_text": "x"}
        assert not memory.execute(command).is_error
    seen = loaded_by(
        "from memoranda import Memory\n"
        f"shown = Memory.open({str(tmp_path)!r}).execute"
        "({'command': 'view', 'path': '/memories'})\n"
        "assert not shown.is_error and 'b.md' in shown.content"
    )
    # A file system without a disk has to be asked for its kind, by ctypes.
    asked = {"ctypes", "memoranda.stores.folder.system_calls"}
    allowed: set[str] = set() if os.major(tmp_path.stat().st_dev) else asked
    assert (seen - loaded_by("pass")) & (NOT_FOR_A_VIEW - allowed) == set()
