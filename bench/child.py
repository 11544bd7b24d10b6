"""What has to be measured in a process of its own: a cold start, and memory at its highest.

    python -m bench.child SUBJECT FOLDER COMMAND...    each COMMAND is a JSON object

Opens the memory, runs the commands, and prints the peak of resident memory in kB before and after
the last one.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import NamedTuple

from bench.subjects import SUBJECTS, Command


class Child(NamedTuple):
    """Seconds from start to end, the peak in MB, and how much the last command added to it."""

    seconds: float
    peak_mb: float
    added_mb: float


def run(subject: str, base: Path, *commands: Command) -> Child:
    """Run ``commands`` in a new process."""
    arguments = [sys.executable, "-m", "bench.child", subject, str(base)]
    start = time.perf_counter()
    done = subprocess.run(
        [*arguments, *map(json.dumps, commands)], check=True, capture_output=True, text=True
    )
    seconds = time.perf_counter() - start
    before, after = map(int, done.stdout.split())
    return Child(seconds, after / 1024, (after - before) / 1024)


def peak_kb() -> int:
    """The most resident memory that this process has had."""
    status = Path("/proc/self/status").read_text()
    return int(status.split("VmHWM:", 1)[1].split()[0])


def main(subject: str, base: str, *commands: str) -> None:
    memory = SUBJECTS[subject](Path(base), "one")
    before = 0
    for command in commands:
        before = peak_kb()
        memory.run(json.loads(command))
    print(before, peak_kb(), flush=True)
    # What an interpreter does at its end is not what is measured.
    os._exit(0)


if __name__ == "__main__":
    main(*sys.argv[1:])
