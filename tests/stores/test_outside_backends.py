"""Backends of other packages: found by their entry point, held to the same suite, never in our place."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from memoranda.errors import Misuse
from memoranda.stores.open import open_backend
from tests.house.repository import ROOT, SOURCE

EXAMPLE = ROOT / "docs" / "examples" / "memoranda-scratch"


def installed(home: Path, entry_points: str) -> None:
    """What an installer leaves of a package: its metadata, on the path."""
    info = home / "other_package-1.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: other-package\nVersion: 1\n")
    (info / "entry_points.txt").write_text(f"[memoranda.backends]\n{entry_points}")


@pytest.fixture
def environment(tmp_path: Path) -> Mapping[str, str]:
    installed(tmp_path / "site", "scratch = memoranda_scratch:open_url\n")
    path = [SOURCE, EXAMPLE, tmp_path / "site"]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, path)), "TMPDIR": str(tmp_path)}


def run(arguments: list[str], environment: Mapping[str, str]) -> str:
    done = subprocess.run(
        [sys.executable, *arguments],
        env=environment,
        cwd=EXAMPLE,
        capture_output=True,
        text=True,
        timeout=250,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_the_example_is_opened_by_its_scheme(environment: Mapping[str, str]) -> None:
    program = """
from memoranda import Memory
for _ in range(2):
    with Memory.open("scratch:trial", user="acme") as memory:
        memory.write("/memories/a.md", "kept")
        print(memory.read("/memories/a.md").content, len(memory.history("/memories/a.md")))
"""
    assert run(["-c", program], environment) == "b'kept' 1\nb'kept' 1\n"


def test_some_promises_hold_for_the_example(environment: Mapping[str, str]) -> None:
    arguments = ["-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:asyncio", "tests"]
    assert " passed" in run([*arguments, "-k", "batch and sync"], environment)


@pytest.mark.full
def test_the_example_keeps_every_promise(environment: Mapping[str, str]) -> None:
    arguments = ["-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:asyncio", "tests"]
    assert " passed" in run(arguments, environment)


@pytest.mark.parametrize("scheme", ["memory", "sqlite", "file", "git", "postgresql", "s3"])
def test_no_package_takes_over_a_scheme_of_ours(
    scheme: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    installed(tmp_path, f"{scheme} = evil:open_url\n")
    (tmp_path / "evil.py").write_text("raise SystemExit('taken over')\n")
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    try:
        assert type(open_backend(f"{scheme}:")).__module__.startswith("memoranda.")
    except Misuse:
        pass  # the scheme is ours, and this is no URL of it


def test_an_unknown_scheme_names_the_known_ones(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    installed(tmp_path, "zebra = evil:open_url\n")
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    with pytest.raises(Misuse, match=r"git:.*postgresql:.*s3:.*sealed:.*zebra:") as caught:
        open_backend("nosuch://user:secret@host")
    assert "secret" not in str(caught.value)


def test_a_package_that_cannot_be_loaded_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    installed(tmp_path, "zebra = no_such_module_at_all:open_url\n")
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    with pytest.raises(Misuse, match="other-package"):
        open_backend("zebra:x")
