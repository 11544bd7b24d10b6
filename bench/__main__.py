"""``python -m bench``: measure, and print ratios.

make bench                         all workloads; some minutes
make bench ARGS="--only list"      those whose name holds a text
make bench ARGS="--seconds 1"      less time a workload, more noise
"""

from __future__ import annotations

import argparse
import json
import platform
import statistics
import tempfile
from pathlib import Path

from bench import child, measure
from bench.subjects import SUBJECTS, Subject
from bench.workloads import NORMAL, WORKLOADS, create, huge, view

OURS = ("folder", "sqlite")
REFERENCES = ("floor", "sdk")


def duration(seconds: float) -> str:
    for unit, factor in (("us", 1e6), ("ms", 1e3)):
        if seconds * factor < 1000:
            return f"{seconds * factor:.3g} {unit}"
    return f"{seconds:.3g} s"


def row(cells: list[str]) -> str:
    return f"{cells[0]:<40}" + "".join(f"{cell:>15}" for cell in cells[1:])


def measured(result: measure.Result) -> list[str]:
    """Ratios by the clock; in brackets by the processor of the calling thread."""

    def cell(subject: str, reference: str) -> str:
        wall = result.ratio(subject, reference)
        return f"{wall:.2f} ({result.ratio(subject, reference, cpu=True):.2f})"

    ours = [name for name in OURS if name in result.times]
    return [
        result.workload,
        duration(result.median("floor")),
        duration(result.median("sdk")),
        *(cell(name, "floor") for name in ours),
        *(cell(name, "sdk") for name in ours),
    ]


def fresh_processes(subjects: dict[str, Subject], where: Path, rounds: int) -> list[str]:
    """Cold start to the first answer, and what a ranged view of a 50 MB file adds to memory."""
    lines = [
        "",
        row(["in a process of its own", "first answer", "peak", "50 MB view", "adds"]),
    ]
    ranged = view("huge.md", view_range=[450_000, 450_049])
    with tempfile.TemporaryDirectory(prefix="bench-", dir=where) as base:
        homes = {name: Path(base) / name for name in subjects}
        for name, subject in subjects.items():
            memory = subject(homes[name], "one")
            memory.run(create("huge.md", huge(NORMAL.huge_lines)))
            memory.close()
        runs: dict[str, list[tuple[child.Child, child.Child]]] = {name: [] for name in subjects}
        for _ in range(rounds):
            for name, home in homes.items():
                start = child.run(name, home, view())
                runs[name].append((start, child.run(name, home, view(), ranged)))
        for name, pairs in runs.items():
            middle = statistics.median
            cells = [
                duration(middle(start.seconds for start, _ in pairs)),
                f"{middle(start.peak_mb for start, _ in pairs):.0f} MB",
                duration(max(0.0, middle(more.seconds - start.seconds for start, more in pairs))),
                f"{middle(more.added_mb for _, more in pairs):.1f} MB",
            ]
            lines.append(row([name, *cells]))
    return lines


def main() -> None:
    parser = argparse.ArgumentParser(prog="make bench", description=__doc__)
    parser.add_argument("--only", default="", help="workloads whose name holds this text")
    parser.add_argument("--seconds", type=float, default=4.0, help="about this long a workload")
    parser.add_argument("--where", type=Path, help="a folder on the disk (or tmpfs) to measure")
    parser.add_argument("--without", nargs="*", default=[], choices=OURS)
    parser.add_argument("--json", type=Path, help="also write every time here")
    given = parser.parse_args()

    where = given.where or Path(tempfile.gettempdir())
    subjects = {name: made for name, made in SUBJECTS.items() if name not in given.without}
    ours = [name for name in OURS if name in subjects]
    print(f"Python {platform.python_version()}, {platform.machine()}, in {where}")
    print(
        "Ratios by the clock, in brackets by the processor of the calling thread; below 1: faster"
    )
    print(row(["", "floor", "sdk", *(f"{n}/{r}" for r in REFERENCES for n in ours)]))

    results: list[measure.Result] = []
    for workload in WORKLOADS:
        if given.only in workload.name:
            result = measure.run(workload, subjects, where, NORMAL, given.seconds)
            results.append(result)
            print(row(measured(result)), flush=True)
    if given.only in "in a process of its own":
        print("\n".join(fresh_processes(subjects, where, rounds=5)))
    if given.json:
        given.json.write_text(
            json.dumps({r.workload: {n: t._asdict() for n, t in r.times.items()} for r in results})
        )


if __name__ == "__main__":
    main()
