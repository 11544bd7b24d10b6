"""The bodies of the bucket bench do what they say: run a few times, whatever the clock says."""

from __future__ import annotations

import asyncio
from pathlib import Path

from bench.bucket import compare, throughput
from tests.stores.bucket_server import url_for


def test_commands_are_compared_with_bare_requests(tmp_path: Path) -> None:
    url = url_for(tmp_path)
    lines = compare(url, 3)
    assert [line[:11].strip() for line in lines] == ["create", "str_replace", "(one put)", "view"]
    assert asyncio.run(throughput(url, 2)).startswith("16 tasks")
