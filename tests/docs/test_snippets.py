"""Every Python block of the README and the docs runs, and prints what the page says it prints."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from memoranda.testing.messages_api import Received, ScriptedMessagesAPI, use_memory
from memoranda.testing.messages_failures import Block
from tests.adapters.other_models import OtherModels, Said, Seen
from tests.docs.snippets import BETWEEN, blocks, commands, program
from tests.house.repository import ROOT, SOURCE, pages

PROGRAMS = [page for page in pages() if program(page.read_text()).printed]
WITH_COMMANDS = [page for page in pages() if commands(page.read_text())]


def relative(page: Path) -> str:
    return str(page.relative_to(ROOT))


def agent(received: Received) -> str | Block:
    """Looks at its memory, notes what is not there yet, and says so: whatever it was asked."""
    if not received.results:
        return use_memory("view", path="/memories")
    said = received.result.text
    if "/memories/notes.md" in said.splitlines()[-1] and "up to 2 levels" in said:
        return use_memory("view", path="/memories/notes.md")
    if "up to 2 levels" in said:
        return use_memory("create", path="/memories/notes.md", file_text="We deploy on Tuesdays.\n")
    return "You deploy on Tuesdays."


def other_agent(seen: Seen) -> Said:
    """The same agent, played by a model of another provider."""
    if seen.result is None:
        return {"command": "view", "path": "/memories", "view_range": None}
    if "/memories/notes.md" in seen.result.splitlines()[-1] and "up to 2 levels" in seen.result:
        return {"command": "view", "path": "/memories/notes.md"}
    if "up to 2 levels" in seen.result:
        text = "We deploy on Tuesdays.\n"
        return {"command": "create", "path": "/memories/notes.md", "file_text": text}
    return "You deploy on Tuesdays."


@pytest.fixture
def surroundings(tmp_path: Path) -> Iterator[Mapping[str, str]]:
    """A home with nothing in it, and APIs of models that their clients find by themselves."""
    with ScriptedMessagesAPI(agent) as api, OtherModels(other_agent) as others:
        yield {
            **os.environ,
            **others.environment,
            "ANTHROPIC_API_KEY": "any",
            "ANTHROPIC_BASE_URL": api.url,
            "HOME": str(tmp_path),
            "PATH": os.pathsep.join((str(Path(sys.executable).parent), os.environ["PATH"])),
            "PYTHONPATH": str(SOURCE),
        }


def run_program(source: str, folder: Path, surroundings: Mapping[str, str]) -> list[str]:
    """What each block printed; a failure shows the line of the page."""
    file = folder / "page.py"
    file.write_text(source)
    done = subprocess.run(
        [sys.executable, "-W", "error", file.name],
        cwd=folder,
        env=surroundings,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.split(f"{BETWEEN}\n")[:-1]


@pytest.mark.parametrize("page", PROGRAMS, ids=relative)
def test_the_blocks_of_a_page_run_and_print_what_it_says(
    page: Path, tmp_path: Path, surroundings: Mapping[str, str]
) -> None:
    expected = program(page.read_text())
    printed = run_program(expected.source, tmp_path, surroundings)
    assert len(printed) == len(expected.printed)
    for said, should in zip(printed, expected.printed, strict=True):
        assert should is None or said == should


@pytest.mark.parametrize("page", WITH_COMMANDS, ids=relative)
def test_the_commands_of_a_page_succeed_after_its_python(
    page: Path, tmp_path: Path, surroundings: Mapping[str, str]
) -> None:
    run_program(program(page.read_text()).source, tmp_path, surroundings)
    for line in commands(page.read_text()):
        done = subprocess.run(
            ["sh", "-ec", line],
            cwd=tmp_path,
            env=surroundings,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        assert done.returncode == 0, f"{line}\n{done.stdout}{done.stderr}"


def test_no_block_escapes_by_a_mark_that_nobody_knows() -> None:
    known = {"", "python", "sh", "sh run", "text", "text output", "sql", "json", "toml"}
    # Those of the server's guide, which tests/server/test_guide.py runs against a server.
    known |= {"python server", "sh server", "ts server"}
    # Those of the site's tables of contents, which are shown, not run.
    known |= {"{toctree}"}
    # That of the README, which tests/server/test_readme.py runs.
    known |= {"sh console"}
    strange = {
        (relative(page), block.info)
        for page in pages()
        for block in blocks(page.read_text())
        if block.info not in known
    }
    assert strange == set()


def test_the_readme_has_runnable_blocks() -> None:
    assert ROOT / "README.md" in PROGRAMS


def test_a_program_keeps_the_line_numbers_of_its_page() -> None:
    page = "one\n\n```python\na = 1\n```\n\ntext\n\n```python\nraise OSError(a)\n```\n"
    source = program(page).source
    assert source.splitlines()[3] == "a = 1"
    assert source.splitlines()[9] == "raise OSError(a)"


def test_an_output_belongs_to_the_block_before_it() -> None:
    page = "```python\nprint(1)\n```\n\n```text output\n1\n```\n\n```python\nx = 2\n```\n"
    assert program(page).printed == ["1\n", None]
