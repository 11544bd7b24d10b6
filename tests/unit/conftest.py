"""Unit tests begin with no named RAM memory, however often they run in one process."""

from __future__ import annotations

import pytest

from memoranda.stores import ram


@pytest.fixture(autouse=True)
def no_named_memories(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ram, "_databases", {})
