"""What the tests of the git backend share: places, and the real git program."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

ENVIRONMENT = {
    **os.environ,
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_SYSTEM": os.devnull,
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_AUTHOR_NAME": "Ada",
    "GIT_AUTHOR_EMAIL": "ada@example.com",
    "GIT_COMMITTER_NAME": "Ada",
    "GIT_COMMITTER_EMAIL": "ada@example.com",
}


@contextmanager
def in_memory() -> Generator[Path]:
    """A new directory, in memory where the host can."""
    shared_memory = Path("/dev/shm")
    place = shared_memory if os.access(shared_memory, os.W_OK) else None
    with TemporaryDirectory(dir=place) as directory:
        yield Path(directory)


def git(where: Path, *arguments: str) -> str:
    """What the git program prints; the test fails where it does."""
    done = subprocess.run(
        ["git", "-c", "safe.directory=*", "-C", str(where), *arguments],
        env=ENVIRONMENT,
        capture_output=True,
        text=True,
        errors="replace",
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def check(repository: Path) -> None:
    """Git finds nothing wrong with a repository."""
    git(repository, "fsck", "--strict", "--full", "--no-dangling")
