"""The official TypeScript SDK, unchanged, with only its address and key set."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.docs.snippets import blocks
from tests.server.live import Api
from tests.server.test_guide import ADDRESS, PAGE

SCRIPT = Path(__file__).parent / "typescript" / "sdk.mjs"
MODULES = Path(sys.prefix) / "node" / "node_modules"

pytestmark = pytest.mark.skipif(
    shutil.which("node") is None or not (MODULES / "@anthropic-ai").is_dir(),
    reason="needs Node.js with npm: install them, then `make setup` brings the TypeScript SDK",
)


def run(folder: Path, script: str, *arguments: str) -> str:
    """What a script prints, with the SDK within its reach."""
    (folder / "node_modules").symlink_to(MODULES)
    (folder / "script.mjs").write_text(script)
    done = subprocess.run(
        ["node", "script.mjs", *arguments], cwd=folder, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_every_endpoint_answers_the_sdk(api: Api, tmp_path: Path) -> None:
    redacts = "redacts" if api.live.redacts else "keeps"
    said = run(tmp_path, SCRIPT.read_text(), api.live.address, api.key.credential, redacts)
    assert said == "all endpoints answered\n"


def test_the_example_of_the_guide_works(one_api: Api, tmp_path: Path) -> None:
    store = one_api.store()
    one_api.memory(store, "/a.md")
    (example,) = [block.text for block in blocks(PAGE.read_text()) if block.info == "ts server"]
    script = (
        example.replace(ADDRESS, one_api.live.address)
        .replace("mk_...", one_api.key.credential)
        .replace("memstore_...", store.rpartition("/")[2])
    )
    assert "/memories/a.md" in run(tmp_path, script)
