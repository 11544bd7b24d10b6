"""Every decision record can be found, read at one sitting and questioned."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.house.repository import DOCS

PARTS = ["Context", "Options", "Choice", "What would change our mind"]
RECORDS = sorted((DOCS / "decisions").glob("[0-9]*.md"))


def test_there_are_records_and_no_two_share_a_number() -> None:
    numbers = [path.name[:4] for path in RECORDS]
    assert numbers
    assert sorted(set(numbers)) == numbers


@pytest.mark.parametrize("path", RECORDS, ids=lambda path: path.name)
def test_a_record_has_a_title_and_the_four_parts_on_one_page(path: Path) -> None:
    text = path.read_text()
    assert re.fullmatch(r"\d{4}-[a-z0-9-]+\.md", path.name)
    assert text.startswith("# ")
    assert re.findall(r"^## (.+)$", text, re.M) == PARTS
    for part in PARTS:
        body = text.split(f"## {part}\n", 1)[1].split("\n## ", 1)[0]
        assert body.strip(), f"{part} is empty"
    assert len(text.split()) <= 800, "a record is one page"
