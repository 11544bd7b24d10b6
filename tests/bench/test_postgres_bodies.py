"""The bodies of the PostgreSQL bench do what they say: run a few times, whatever the clock says."""

from __future__ import annotations

import asyncio
from pathlib import Path

from bench.postgres import compare, throughput
from tests.stores.postgres_server import own_database


def test_commands_are_compared_with_bare_statements(tmp_path: Path) -> None:
    db = own_database()
    db.wipe()
    lines = compare(db, 3)
    assert [line.split()[0] for line in lines] == ["create", "str_replace", "view"]
    assert asyncio.run(throughput(db, 2)).startswith("16 tasks")
