"""Every path of the hostile corpus is accepted or refused as the corpus says."""

from __future__ import annotations

from typing import NamedTuple

import pytest

from memoranda.errors import BadPath
from memoranda.path import MemoryPath, parse_path
from memoranda.testing.conformance.requirements import rows


class Case(NamedTuple):
    path: str
    kind: str
    decision: str


def cases(decision: str) -> list[Case]:
    read = rows("paths.jsonl")
    found = [Case(case["path"], case["class"], case["decision"]) for case in read]
    return [case for case in found if case.decision == decision]


def name_of(case: Case) -> str:
    return f"{case.kind}-{case.path[:60]!a}"


def test_the_corpus_is_whole() -> None:
    assert len(cases("reject")) == 205
    assert len(cases("accept")) == 102


@pytest.mark.parametrize("case", cases("reject"), ids=name_of)
def test_a_hostile_path_is_refused(case: Case) -> None:
    with pytest.raises(BadPath):
        parse_path(case.path)


@pytest.mark.parametrize("case", cases("accept"), ids=name_of)
def test_a_legitimate_path_is_accepted_and_stays_itself(case: Case) -> None:
    path = parse_path(case.path)
    assert parse_path(str(path)) == path
    assert path == MemoryPath.of(path.segments)


def test_accepted_corpus_paths_are_all_different_files() -> None:
    paths = [parse_path(case.path) for case in cases("accept")]
    assert len(set(paths)) == len(paths)
