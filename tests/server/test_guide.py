"""The examples of the server's guide do what they say, against a server that runs."""

from __future__ import annotations

import os
import subprocess

import pytest

from tests.docs.snippets import blocks
from tests.house.repository import DOCS
from tests.server.live import Api, make_key

PAGE = DOCS / "guide" / "server.md"
ADDRESS = "http://127.0.0.1:8080"
EXAMPLES = [block for block in blocks(PAGE.read_text()) if block.info.endswith(" server")]


def example(language: str) -> str:
    """The examples of the guide in one language, in order."""
    return "\n".join(block.text for block in EXAMPLES if block.info == f"{language} server")


def test_the_guide_has_examples() -> None:
    assert example("python")
    assert example("sh")


def test_the_python_examples_work(one_api: Api) -> None:
    code = example("python").replace(ADDRESS, one_api.live.address)
    exec(compile(code.replace("mk_...", one_api.key.credential), str(PAGE), "exec"), {})
    (store,) = one_api.every("/v1/memory_stores")
    (made,) = one_api.every(f"/v1/memory_stores/{store['id']}/memories", view="full")
    assert made["content"] == "We ship on Fridays."


def test_the_shell_examples_work(one_api: Api) -> None:
    store = one_api.store()
    one_api.memory(store, "/a.md")
    done = subprocess.run(
        ["sh", "-euc", example("sh").replace(ADDRESS, one_api.live.address)],
        env={
            "PATH": os.environ["PATH"],
            "STORE": store.rpartition("/")[2],
            "KEY": make_key(one_api.live.url, workspace=one_api.key.key.workspace).credential,
        },
        capture_output=True,
        text=True,
        check=True,
    )
    assert '"type":"tool_result"' in done.stdout
    assert "/memories/a.md" in done.stdout


@pytest.mark.parametrize("block", EXAMPLES, ids=lambda block: f"line {block.line}")
def test_every_example_is_of_a_language_that_is_run(block: object) -> None:
    assert getattr(block, "info", "") in {"python server", "sh server", "ts server"}
