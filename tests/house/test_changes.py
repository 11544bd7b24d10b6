"""Every change tells users what they can now do, in a fragment that the changelog can take."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.house.repository import ROOT

FRAGMENTS = [path for path in sorted((ROOT / "changes").iterdir()) if path.name != "README.md"]


def test_there_are_fragments() -> None:
    assert FRAGMENTS


@pytest.mark.parametrize("path", FRAGMENTS, ids=lambda path: path.name)
def test_a_fragment_is_one_or_two_plain_sentences(path: Path) -> None:
    assert re.fullmatch(r"[a-z0-9-]+\.md", path.name)
    text = path.read_text()
    assert text.endswith("\n")
    flat = " ".join(text.split())
    assert flat, "an empty fragment says nothing"
    assert not re.search(r"^(#|[-*] )", text, re.M), "a fragment is no page: no heading, no list"
    assert flat[0].isupper() or flat[0] == "`"
    assert flat.endswith(".")
    assert len(flat) <= 500
