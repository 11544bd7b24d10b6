"""The script that CI runs: its status and its last line say truly how the tests went."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.house.repository import ROOT

PASSED = "============ 12 passed in 3.21s ============"
FAILED = "======= 1 failed, 11 passed in 3.21s ======="
EMPTY = "========== no tests ran in 0.01s ==========="
SKIPPED = "============ 3 skipped in 0.01s ============"


def run(folder: Path, says: str, status: int, *, lint: int = 0) -> subprocess.CompletedProcess[str]:
    """The script with a make that prints ``says`` and ends with ``status`` for the tests."""
    (folder / ".ci").mkdir()
    shutil.copy(ROOT / ".ci" / "run", folder / ".ci" / "run")
    make = folder / "bin" / "make"
    make.parent.mkdir()
    make.write_text(
        "#!/bin/sh\n"
        f"case $1 in lint) exit {lint};; test) ;; *) exit 0;; esac\n"
        f"echo '{says}'\n"
        f"[ {status} = 0 ] || echo 'make: *** [test] Error' >&2\n"
        f"exit {status}\n"
    )
    make.chmod(0o755)
    path = f"{make.parent}{os.pathsep}{os.environ['PATH']}"
    return subprocess.run(
        ["bash", ".ci/run"],
        cwd=folder,
        env={**os.environ, "PATH": path},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize(("says", "status"), [(PASSED, 0), (FAILED, 2), (EMPTY, 2)])
def test_it_ends_with_the_summary_and_the_status_of_the_tests(
    tmp_path: Path, says: str, status: int
) -> None:
    done = run(tmp_path, says, status)
    assert done.stdout.splitlines()[-1] == says
    assert done.returncode == status


@pytest.mark.parametrize("says", [EMPTY, SKIPPED])
def test_it_fails_when_no_test_was_executed(tmp_path: Path, says: str) -> None:
    assert run(tmp_path, says, 0).returncode == 5


@pytest.mark.parametrize("status", [0, 2, 137])
def test_it_fails_when_the_tests_did_not_come_to_their_end(tmp_path: Path, status: int) -> None:
    done = run(tmp_path, "Killed", status)
    assert done.returncode == (status or 1)
    assert "did not come to its end" in done.stderr


def test_it_fails_before_the_tests_when_lint_fails(tmp_path: Path) -> None:
    done = run(tmp_path, PASSED, 0, lint=2)
    assert done.returncode == 2
    assert PASSED not in done.stdout


def test_it_may_be_run_as_a_program() -> None:
    assert os.access(ROOT / ".ci" / "run", os.X_OK)
