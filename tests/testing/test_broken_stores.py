"""The suite notices: each spoiled store fails the promise that it breaks."""

from __future__ import annotations

from pathlib import Path

import pytest

from memoranda.errors import MemorandaError
from memoranda.testing.store_suite import PREFIX, promises
from tests.testing.broken import BROKEN
from tests.testing.test_store_suite import DictSuite


def suite_for(name: str) -> type[DictSuite]:
    return type(f"Suite{name}", (DictSuite,), {"backend_class": BROKEN[name].backend})


@pytest.mark.parametrize("name", BROKEN)
def test_a_spoiled_store_is_noticed(name: str, tmp_path: Path) -> None:
    suite = suite_for(name)
    test = getattr(suite(), f"test_{BROKEN[name].noticed_by}__sync")
    # ValueError: fewer or more versions came back than the promise unpacks, or bytes are no text.
    with pytest.raises((AssertionError, MemorandaError, ValueError)):
        test(tmp_path)


def test_every_promise_notices_a_spoiled_store() -> None:
    noticed = {broken.noticed_by for broken in BROKEN.values()}
    assert {name.removeprefix(PREFIX) for name in promises(DictSuite)} == noticed
