"""What ``import memoranda`` costs: no SDK, no framework, no event loop."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from tests.house.repository import SOURCE

HEAVY = {
    "anthropic",
    "anyio",
    "asyncio",
    "click",
    "email",
    "http",
    "httpx",
    "httpx2",
    "logging.config",
    "pydantic",
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
    ],
)
def test_the_core_loads_no_sdk_no_framework_and_no_event_loop(statement: str) -> None:
    # Packages installed beside us may load things at start-up of their own accord.
    ours = loaded_by(statement) - loaded_by("pass")
    assert "memoranda" in ours
    assert ours & HEAVY == set()
