"""schemathesis on a server of its own: requests made up from what our OpenAPI document says."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from tests.server.live import Api

# A document can't say which cursors and paths there are: a text of the right form may be refused.
LEFT_OUT = "positive_data_acceptance"

LOST = ("DELETE /v1/memory_stores/{store}", "POST /v1/memory_stores/{store}/archive")
"""What would leave nothing to ask for has a store of its own."""

CONFIG = """
[parameters]
"path.store" = "{store}"
"path.memory" = "{memory}"
"path.version" = "{version}"
"""
OF_ITS_OWN = """
[[operations]]
include-name = "{operation}"
parameters = {{ "path.store" = "{store}" }}
"""


def fuzz(api: Api, seconds: int, home: Path) -> subprocess.CompletedProcess[str]:
    """Run it for so long at most; what it says and its exit code, which is 0 without a failure."""
    made = api.memory(api.store(), "/notes/a.md", "text")
    ids = {"store": made["memory_store_id"], "memory": made["id"]}
    config = CONFIG.format(**ids, version=made["memory_version_id"]) + "".join(
        OF_ITS_OWN.format(operation=operation, store=api.store().rpartition("/")[2])
        for operation in LOST
    )
    (home / "schemathesis.toml").write_text(config)
    command = [
        *(sys.executable, "-m", "schemathesis.cli"),
        *("--config-file", "schemathesis.toml", "run", f"{api.live.address}/openapi.json"),
        *("--header", f"Authorization: Bearer {api.key.credential}"),
        *("--exclude-checks", LEFT_OUT, "--max-time", str(seconds), "--max-examples", "100000"),
        *("--request-timeout", "20", "--max-failures", "5", "--no-color", "--no-shrink"),
        *("--generation-database", "none", "--suppress-health-check", "all"),
    ]
    return subprocess.run(
        command, cwd=home, capture_output=True, text=True, check=False, timeout=seconds + 120
    )
