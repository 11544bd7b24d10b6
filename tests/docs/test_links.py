"""Every link between pages, and from a page to a file, leads somewhere."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.house.repository import ROOT, pages

LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
# In backticks, a path of this repository: a folder, or a file with an ending.
NAMED = re.compile(r"`((?:bench|changes|docs|requirements|src|tests)/[\w./-]*)`")
FENCED = re.compile(r"^(`{3,}).*?^\1\s*$", re.M | re.S)


def anchors(page: Path) -> set[str]:
    """The anchors of a page's headings, made as forges make them."""
    titles = re.findall(r"^#+ (.+)$", FENCED.sub("", page.read_text()), re.M)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


@pytest.mark.parametrize("page", pages(), ids=lambda page: str(page.relative_to(ROOT)))
def test_every_link_of_a_page_leads_somewhere(page: Path) -> None:
    dead: list[str] = []
    for link in LINK.findall(FENCED.sub("", page.read_text())):
        if "://" in link or link.startswith("mailto:"):
            continue
        name, _, anchor = link.partition("#")
        target = (page.parent / name).resolve() if name else page
        if not target.exists() or (anchor and anchor not in anchors(target)):
            dead.append(link)
    assert dead == []


@pytest.mark.parametrize("page", pages(), ids=lambda page: str(page.relative_to(ROOT)))
def test_every_file_that_a_page_names_is_there(page: Path) -> None:
    names = NAMED.findall(page.read_text())
    assert [name for name in names if not (ROOT / name).exists()] == []
