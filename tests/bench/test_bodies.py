"""The bench's bodies do what their names say, on every subject: run once, without a clock."""

from __future__ import annotations

from pathlib import Path

import pytest

from bench import child, measure
from bench.subjects import SUBJECTS
from bench.workloads import TINY, WORKLOADS, Body, Workload, create, view


@pytest.mark.parametrize("workload", WORKLOADS, ids=lambda workload: workload.name)
@pytest.mark.parametrize("subject", SUBJECTS)
def test_a_body_does_what_it_says(workload: Workload, subject: str, tmp_path: Path) -> None:
    with measure.opener(SUBJECTS[subject], tmp_path) as opened:
        body = workload.prepare(opened, TINY)
        for k in range(3):
            body.before(k)
            assert body.shows in body.op(k)


def test_a_ratio_is_the_median_of_the_rounds_and_not_the_ratio_of_medians() -> None:
    result = measure.Result(
        "any",
        {
            "floor": measure.Times([1.0, 10.0, 4.0], [1.0, 1.0, 1.0]),
            "folder": measure.Times([3.0, 10.0, 8.0], [2.0, 2.0, 4.0]),
        },
    )
    assert result.ratio("folder", "floor") == 2.0
    assert result.ratio("folder", "floor", cpu=True) == 2.0
    assert result.median("floor") == 4.0


def test_a_run_takes_as_many_rounds_for_one_subject_as_for_the_other(tmp_path: Path) -> None:
    subjects = {"floor": SUBJECTS["floor"], "again": SUBJECTS["floor"]}
    create = next(w for w in WORKLOADS if w.name == "create 2 KB")
    result = measure.run(create, subjects, tmp_path, TINY, seconds=0)
    assert [len(times.wall) for times in result.times.values()] == [3, 3]
    assert list(tmp_path.iterdir()) == []


def test_a_body_that_answers_wrongly_stops_the_bench(tmp_path: Path) -> None:
    wrong = Workload("wrong", lambda opened, scale: Body(lambda k: "no", shows="yes"))
    with pytest.raises(RuntimeError, match="floor answered 'no'"):
        measure.run(wrong, {"floor": SUBJECTS["floor"]}, tmp_path, TINY, seconds=0)


def test_a_child_tells_its_time_and_its_memory(tmp_path: Path) -> None:
    done = child.run("floor", tmp_path, create("a.md", "text\n"), view("a.md"))
    assert done.seconds > 0
    assert done.peak_mb > 1
    assert 0 <= done.added_mb < done.peak_mb
