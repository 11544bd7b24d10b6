"""What ``import memoranda`` costs: no SDK, no framework, no event loop."""

from __future__ import annotations

import json
import subprocess
import sys

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
    """The modules of a fresh interpreter after ``statement``."""
    code = f"{statement}\nimport sys, json; print(json.dumps(sorted(sys.modules)))"
    # -S -E would leave out site packages; -I keeps them but ignores the caller's settings.
    done = subprocess.run(
        [sys.executable, "-I", "-c", f"import sys; sys.path.insert(0, 'src')\n{code}"],
        capture_output=True,
        text=True,
        check=True,
    )
    return set(json.loads(done.stdout))


def test_importing_memoranda_loads_no_sdk_no_framework_and_no_event_loop() -> None:
    # Packages installed beside us may load things at start-up of their own accord.
    ours = loaded_by("import memoranda") - loaded_by("pass")
    assert ours & HEAVY == set()
    assert "memoranda" in ours
