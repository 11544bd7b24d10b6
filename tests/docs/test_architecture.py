"""The architecture page names every room of the house, and no room that isn't there."""

from __future__ import annotations

import re

from tests.house.repository import DOCS, SOURCE

TABLE = (DOCS / "architecture.md").read_text().split("| room |", 1)[1].split("\n\n", 1)[0]


def test_the_table_names_every_module_and_package_once() -> None:
    first_cells = [line.split("|")[1] for line in TABLE.splitlines() if line.startswith("| `")]
    named = re.findall(r"`([^`]+)`", " ".join(first_cells))
    there = {
        path.name if path.suffix == ".py" else f"{path.name}/"
        for path in (SOURCE / "memoranda").iterdir()
        if path.name not in ("__init__.py", "__pycache__", "py.typed")
    }
    assert len(named) == len(set(named))
    assert set(named) == there
