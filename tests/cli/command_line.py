"""Ways to run the command line: in this process, as a program, and as a program at a terminal."""

from __future__ import annotations

import json
import os
import pty
import signal
import subprocess
import sys
from collections.abc import Mapping
from typing import Any, NamedTuple

from typer.testing import CliRunner, Result

from memoranda.cli.main import app
from tests.house.repository import SOURCE

PROGRAM = [sys.executable, "-W", "error", "-m", "memoranda"]


def run(*arguments: str, stdin: str | bytes | None = None) -> Result:
    """Run a command in this process, with nobody at a terminal."""
    return CliRunner().invoke(app, list(arguments), input=stdin, prog_name="memoranda")


def done(*arguments: str, stdin: str | bytes | None = None) -> str:
    """What a command prints that has to succeed, and has to print nothing else."""
    result = run(*arguments, stdin=stdin)
    assert (result.exit_code, result.stderr) == (0, ""), result.output
    return result.stdout


def refused(*arguments: str, stdin: str | bytes | None = None) -> tuple[int, str]:
    """The exit code and the message of a command that has to fail, and to print no result."""
    result = run(*arguments, stdin=stdin)
    assert result.exit_code != 0
    assert result.stdout == ""
    return result.exit_code, result.stderr


def json_of(*arguments: str, stdin: str | bytes | None = None) -> Any:
    """What a command prints with ``--json``."""
    return json.loads(done(*arguments, "--json", stdin=stdin))


def environment(**more: str) -> dict[str, str]:
    """What a program of these tests sees of its environment."""
    kept = {name: os.environ[name] for name in os.environ if name.startswith(("PATH", "COV"))}
    return {**kept, "PYTHONPATH": str(SOURCE), "TERM": "xterm", **more}


def as_program(
    *arguments: str | bytes, stdin: bytes = b"", more: Mapping[str, str] = {}
) -> subprocess.CompletedProcess[bytes]:
    """Run a command as a program of its own, in pipes."""
    return subprocess.run(
        [*PROGRAM, *arguments],
        env=environment(**more),
        input=stdin,
        capture_output=True,
        check=False,
    )


class Seen(NamedTuple):
    """What stood on the screen at the end, and the exit code."""

    screen: str
    exit_code: int


def at_terminal(*arguments: str, typed: str = "", interrupt_at: bytes | None = None) -> Seen:
    """Run a command as a program at a terminal, where somebody typed ``typed`` ahead, or
    interrupts it once a text stands there."""
    ours, its = pty.openpty()
    os.write(ours, typed.encode())
    with subprocess.Popen(
        [*PROGRAM, *arguments], env=environment(), stdin=its, stdout=its, stderr=its
    ) as program:
        os.close(its)
        screen = b""
        while True:
            if interrupt_at is not None and interrupt_at in screen:
                program.send_signal(signal.SIGINT)
                interrupt_at = None
            try:
                screen += os.read(ours, 65_536)
            except OSError:  # how a terminal says that nobody is left at its other end
                break
        os.close(ours)
        program.wait()
    return Seen(screen.decode().replace("\r\n", "\n"), program.returncode)


def create(path: str, text: str = "text\n", *options: str) -> None:
    """A memory to work with."""
    done("create", path, text, *options)


def version_ids(path: str = "/memories") -> list[str]:
    """The ids of versions, newest first."""
    return [version["id"] for version in json_of("history", path)["versions"]]
