"""The README's two commands lead to a console that one is signed in to."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import httpx

from tests.cli.command_line import PROGRAM, environment
from tests.docs.snippets import blocks
from tests.house.repository import ROOT

README = (ROOT / "README.md").read_text()


def commands() -> list[list[str]]:
    """The lines of the README, as arguments of the program."""
    (block,) = [block for block in blocks(README) if block.info == "sh console"]
    lines = [line.split() for line in block.text.splitlines()]
    assert all(words[0] == "memoranda" for words in lines)
    return [words[1:] for words in lines]


@contextmanager
def serving(arguments: list[str], folder: Path) -> Generator[str]:
    """A server that was started so, on a free port; its address."""
    command = [*PROGRAM, *arguments, "--port", "0"]
    with subprocess.Popen(
        command, cwd=folder, env=environment(), stderr=subprocess.PIPE, text=True
    ) as running:
        assert running.stderr is not None
        try:
            found = re.match(r"Serving on (http://\S+)", running.stderr.readline())
            assert found is not None
            yield found[1]
        finally:
            running.terminate()
            running.stderr.read()


def test_two_commands_lead_to_a_signed_in_console(tmp_path: Path) -> None:
    create, serve = commands()
    made = subprocess.run(
        [*PROGRAM, *create], cwd=tmp_path, env=environment(), capture_output=True, text=True, check=True
    )  # fmt: skip
    key = re.search(r"mk_\w+_[\w-]+", made.stdout)
    assert key is not None, made.stdout
    with (
        serving(serve, tmp_path) as address,
        httpx.Client(base_url=address, headers={"sec-fetch-site": "same-origin"}) as http,
    ):
        answer = http.post("/console/sign-in", data={"key": key[0]}, follow_redirects=True)
        assert answer.status_code == 200
        assert answer.url.path == "/console/stores"
        assert "Sign out" in answer.text


def test_the_readme_names_the_address_and_the_extras() -> None:
    assert "http://127.0.0.1:8080/console" in README
    assert 'pip install "memoranda[server,cli]"' in README
