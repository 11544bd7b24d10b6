"""The kinds of storage that the adapters are tried over."""

from __future__ import annotations

from pathlib import Path

import pytest


@pytest.fixture(params=["folder", "sqlite", "ram"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """A store of each kind that blocks, with nothing in it."""
    urls = {
        "folder": str(tmp_path / "memory"),
        "sqlite": f"sqlite:///{tmp_path}/memory.db",
        "ram": f"memory:{tmp_path.name}",
    }
    return urls[request.param]
