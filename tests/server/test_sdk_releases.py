"""Releases of the official Python SDK, each in an environment of its own, drive every endpoint."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import anthropic
import pytest

from tests.server.live import Api

PROGRAM = Path(__file__).with_name("sdk_endpoints.py")
OLD = "0.121.0"
"""It sends other headers, another version and a query parameter; see docs/decisions/0315."""


def drive(python: str, api: Api) -> str:
    """What the program says, run by an interpreter that has an SDK and nothing of ours."""
    variables = {name: text for name, text in os.environ.items() if name != "PYTHONPATH"}
    variables |= {"API_ADDRESS": api.live.address, "API_KEY": api.key.credential}
    done = subprocess.run(
        [python, "-W", "ignore", os.fspath(PROGRAM)],
        env=variables,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.full
def test_the_newest_release_drives_every_endpoint(one_api: Api) -> None:
    assert f"5 checks passed with anthropic {anthropic.__version__}" in drive(
        sys.executable, one_api
    )


@pytest.fixture(scope="session")
def old_python(tmp_path_factory: pytest.TempPathFactory) -> str:
    """An interpreter whose only packages are the old release and what it needs."""
    home = tmp_path_factory.mktemp("old-sdk")
    subprocess.run([sys.executable, "-m", "venv", os.fspath(home)], check=True, timeout=120)
    python = os.fspath(home / "bin" / "python")
    install = [python, "-m", "pip", "install", "--quiet", f"anthropic=={OLD}"]
    done = subprocess.run(install, capture_output=True, text=True, timeout=600, check=False)
    if done.returncode:
        pytest.skip(f"anthropic {OLD} can't be installed here: {done.stderr[-500:]}")
    return python


@pytest.mark.full
def test_an_old_release_drives_every_endpoint(old_python: str, api: Api) -> None:
    assert f"5 checks passed with anthropic {OLD}" in drive(old_python, api)
