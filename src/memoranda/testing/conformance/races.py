"""Commands from many threads at once: none is lost, none is seen in halves."""

from __future__ import annotations

import threading
from typing import Final

from memoranda.testing.conformance.trial import Grounds, Trial

THREADS: Final = 6
INCREMENTS_EACH: Final = 10
ROUNDS: Final = 5
TRIES: Final = 2_000

FILE: Final = "/memories/n.txt"


def run_races(grounds: Grounds) -> None:
    """Let threads meet on one file, one path, one destination."""
    for check in (_counter, _creates, _renames, _reads):
        with grounds.trial((check.__doc__ or "").strip().rstrip(".")) as ground:
            check(ground)


def _counter(ground: Trial) -> None:
    """Threads count one number up by str_replace."""
    ground.create(FILE, "n=0;\n")

    def count() -> int:
        done = 0
        for _ in range(TRIES):
            now = ground.view(FILE).text.rpartition("n=")[2].partition(";")[0]
            if not now.isdecimal():
                return done
            raw = {
                "command": "str_replace",
                "path": FILE,
                "old_str": f"n={now};",
                "new_str": f"n={int(now) + 1};",
            }
            done += not ground.send(raw).is_error
            if done == INCREMENTS_EACH:
                break
        return done

    acknowledged: list[int] = []
    threads = [
        threading.Thread(target=lambda: acknowledged.append(count())) for _ in range(THREADS)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    answer = ground.view(FILE)
    wanted = f"n={sum(acknowledged)}; after as many acknowledged increments"
    kept = f"n={sum(acknowledged)};" in answer.text
    ground.findings.note("POLICY-11", "str_replace from threads", wanted, answer, kept)
    everyone = sum(acknowledged) == THREADS * INCREMENTS_EACH
    ground.findings.note(
        "POLICY-11", "str_replace from threads", "every thread to get on", acknowledged, everyone
    )


def _creates(ground: Trial) -> None:
    """Threads create one path at once."""
    for turn in range(ROUNDS):
        path = f"/memories/new{turn}/a.txt"
        inputs = [
            {"command": "create", "path": path, "file_text": f"thread {number} " + "x" * 2_000}
            for number in range(THREADS)
        ]
        answers = ground.send_all(inputs)
        winners = [number for number, answer in enumerate(answers) if not answer.is_error]
        ground.findings.note(
            "RACE-02", inputs[0], "one success", f"{len(winners)} succeeded", len(winners) == 1
        )
        content = ground.view(path)
        whole = any(f"\tthread {number} " in content.text for number in winners)
        ground.findings.note("RACE-01", path, "the text of one of those", content, whole)


def _renames(ground: Trial) -> None:
    """Threads rename their files to one path at once."""
    for turn in range(ROUNDS):
        for number in range(THREADS):
            ground.create(f"/memories/{turn}-{number}.txt", f"thread {number}")
        target = f"/memories/target{turn}"
        inputs = [
            {
                "command": "rename",
                "old_path": f"/memories/{turn}-{number}.txt",
                "new_path": target,
            }
            for number in range(THREADS)
        ]
        answers = ground.send_all(inputs)
        won = [not answer.is_error for answer in answers]
        kept = [
            f"thread {number}" in ground.view(target if mine else raw["old_path"]).text
            for number, (mine, raw) in enumerate(zip(won, inputs, strict=True))
        ]
        right = sum(won) == 1 and all(kept)
        got = f"{sum(won)} succeeded, {kept.count(False)} files are lost"
        ground.findings.note("RENAME-09", inputs[0], "one success, no file lost", got, right)


def _reads(ground: Trial) -> None:
    """Threads view a large file while it is edited."""
    filling = ("z" * 70 + "\n") * 150
    ground.create(FILE, f"<0>\n{filling}<0>\n")
    done = threading.Event()

    def write() -> None:
        try:
            for number in range(40):
                whole = {
                    "command": "str_replace",
                    "path": FILE,
                    "old_str": f"<{number}>\n{filling}<{number}>\n",
                    "new_str": f"<{number + 1}>\n{filling}<{number + 1}>\n",
                }
                ground.send(whole)
        finally:
            done.set()

    def look() -> None:
        while not done.is_set():
            answer = ground.view(FILE)
            markers = [part.partition(">")[0] for part in answer.text.split("<")[1:]]
            same = len(markers) == 2 and markers[0] == markers[1]
            ground.findings.note("RACE-01", {"path": FILE}, "two equal marks", answer, same)

    threads = [threading.Thread(target=work) for work in (write, look, look)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
