"""Requests made up from what the OpenAPI document says: each answer is one that it says, too."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.server.fuzzing import fuzz
from tests.server.live import Api

SECONDS = int(os.environ.get("MEMORANDA_FUZZ_SECONDS", "600"))


@pytest.mark.full
def test_no_request_that_is_made_up_brings_a_failure(one_api: Api, tmp_path: Path) -> None:
    done = fuzz(one_api, SECONDS, tmp_path)
    assert done.returncode == 0, done.stdout
    assert "15 selected / 15 total" in done.stdout
    assert " passed" in done.stdout
