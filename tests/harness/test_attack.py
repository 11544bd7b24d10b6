"""Hostile paths, links and races against every store, by a program that has no mercy.

The program works in a mount namespace in which everything else is read-only, so that an escape
shows at once. Where the system grants none, it runs without: it is our own code that it calls.
"""

from __future__ import annotations

import os
import re

import pytest

from tests.harness.runs import run
from tests.house.repository import SOURCE

CORPUS = ["--corpus", str(SOURCE / "memoranda" / "testing" / "cases" / "paths.jsonl")]
# Root may mount. Others may where user namespaces are allowed, which is not worth guessing.
HOW = CORPUS if os.geteuid() == 0 else [*CORPUS, "--no-isolation"]


def test_no_path_of_the_corpus_and_no_link_gets_out() -> None:
    run("attack", "folder", "--race-seconds", "3", *HOW, seconds=280)


@pytest.mark.full
@pytest.mark.parametrize("handler", ["folder_async", "sdk_folder", "sqlite", "ram", "git"])
def test_nor_does_one_get_out_by_another_way(handler: str) -> None:
    run("attack", handler, "--race-seconds", "3", *HOW, seconds=600)


@pytest.mark.full
def test_a_minute_of_swapped_links_gets_nothing_out() -> None:
    said = run("attack", "folder", "--race-seconds", "60", *HOW, seconds=900)
    operations = [int(n) for n in re.findall(r"(\d+) ops", said)]
    assert sum(operations) > 20_000
