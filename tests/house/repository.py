"""The repository as the house tests see it: where it is and which files it tracks."""

from __future__ import annotations

import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SOURCE = ROOT / "src"
DOCS = ROOT / "docs"


def tracked() -> list[Path]:
    """Every file that git tracks or would track; where git can't say, every file we know of."""
    try:
        listed = subprocess.run(
            ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
            cwd=ROOT,
            capture_output=True,
            check=True,
        )
    except (FileNotFoundError, subprocess.CalledProcessError):  # no git, or not a clone
        folders = (".ci", "bench", "changes", "docs", "requirements", "src", "tests")
        found = [*ROOT.glob("*"), *(path for name in folders for path in (ROOT / name).rglob("*"))]
        return [path for path in found if path.is_file() and "__pycache__" not in path.parts]
    names = [name for name in listed.stdout.decode().split("\0") if name]
    return [path for path in (ROOT / name for name in names) if path.is_file()]


def pages() -> list[Path]:
    """Every page that a person may read."""
    return [path for path in tracked() if path.suffix == ".md"]


def modules() -> list[Path]:
    """Every module that is shipped."""
    return [path for path in tracked() if path.suffix == ".py" and path.is_relative_to(SOURCE)]
