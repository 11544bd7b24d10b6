"""Runs of the vendored programs, each in processes of its own: they fork, mount and kill."""

from __future__ import annotations

import os
import re
import subprocess
import sys

from tests.house.repository import ROOT, SOURCE

VENDORED = ROOT / "tests" / "harness" / "vendored"


def run(program: str, handler: str, *arguments: str, seconds: float) -> str:
    """What ``program`` printed about ``handler``; fails the test if it did not pass.

    The programs' last line counts what passed and what failed.
    """
    command = [
        sys.executable,
        str(VENDORED / f"{program}.py"),
        "--handler",
        f"tests.harness.handlers:{handler}",
        *arguments,
    ]
    done = subprocess.run(
        command,
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": os.pathsep.join((str(SOURCE), str(ROOT)))},
        capture_output=True,
        text=True,
        timeout=seconds,
        check=False,
    )
    said = done.stdout + done.stderr
    assert done.returncode == 0, said
    assert re.search(r"^[1-9]\d* passed, 0 failed$", said, re.M), said
    return said
