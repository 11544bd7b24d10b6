"""The docs become a site, and no page of it has a dead link or a mistake in its markup."""

from __future__ import annotations

import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from tests.house.repository import DOCS


@pytest.mark.skipif(find_spec("sphinx") is None, reason="Sphinx is missing: make setup")
def test_the_docs_become_a_site_without_a_warning(tmp_path: Path) -> None:
    site = tmp_path / "site"
    build = ["-q", "-W", "--keep-going", "-b", "html", "-d", str(tmp_path / "doctrees")]
    done = subprocess.run(
        [sys.executable, "-m", "sphinx", *build, str(DOCS), str(site)],
        capture_output=True,
        text=True,
        timeout=280,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "read_only" in (site / "reference" / "python" / "policy.html").read_text()
    assert "--install-completion" in (site / "reference" / "cli.html").read_text()
