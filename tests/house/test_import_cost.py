"""What ``import memoranda`` costs: no SDK, no framework, no event loop."""

from __future__ import annotations

import json
import subprocess
import sys

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


def test_importing_memoranda_loads_no_sdk_no_framework_and_no_event_loop() -> None:
    # Packages installed beside us may load things at start-up of their own accord.
    ours = loaded_by("import memoranda") - loaded_by("pass")
    assert "memoranda" in ours
    assert ours & HEAVY == set()
