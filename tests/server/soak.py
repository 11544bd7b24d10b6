"""A server under a steady load for as long as one likes: its memory over time, and every error.

python -m tests.server.soak 3600
"""

from __future__ import annotations

import json
import re
import shutil
import sys
import threading
import time
from pathlib import Path
from typing import Any, NamedTuple

import httpx

from tests.server.live import make_key, new_home, url_of
from tests.server.process import Program, program

CLIENTS = 4
KEPT_PATHS = 20


class Sample(NamedTuple):
    """How much memory the server has after so many seconds and requests."""

    seconds: float
    requests: int
    rss_kb: int
    descriptors: int


class Soak(NamedTuple):
    """What came of it."""

    samples: list[Sample]
    errors: list[str]

    def growth(self) -> float:
        """How much more memory the last quarter has than the second, which is past the start."""
        sizes = [sample.rss_kb for sample in self.samples]
        quarter = len(sizes) // 4
        return _middle(sizes[-quarter:]) / _middle(sizes[quarter : 2 * quarter])


def soak(url: str, seconds: float, pause: float) -> Soak:
    """Load a server of its own for a while; ``pause`` lies between two requests of a client."""
    key = make_key(url)
    done = [0] * CLIENTS
    errors: list[str] = []
    with program(url) as running:
        until = time.monotonic() + seconds
        clients = [
            threading.Thread(
                target=_client, args=(running, key.credential, number, until, pause, done, errors)
            )
            for number in range(CLIENTS)
        ]
        for client in clients:
            client.start()
        began = time.monotonic()
        samples: list[Sample] = []
        while (now := time.monotonic()) < until:
            samples.append(_sample(running.process.pid, now - began, sum(done)))
            time.sleep(max(0.5, seconds / 60))
        for client in clients:
            client.join()
        errors += [line for line in running.log if '"level": "error"' in line]
    return Soak(samples, errors)


def _client(
    running: Program, credential: str, number: int, until: float, pause: float,
    done: list[int], errors: list[str],
) -> None:  # fmt: skip
    """What a client does over and over, each time expecting to be served."""
    with running.live.client(credential) as http:
        made = http.post("/v1/memory_stores", json={"name": f"soak {number}"})
        store = f"/v1/memory_stores/{made.json()['id']}"
        turn = 0

        def ask(method: str, path: str, **more: Any) -> Any:
            answer: httpx.Response = http.request(method, f"{store}{path}", **more)
            done[number] += 1
            time.sleep(pause)
            found: Any = answer.json()
            if answer.status_code != 200 or found.get("is_error"):
                errors.append(f"{method} {path}: {answer.status_code} {answer.text}")
            return found

        def use(**given: Any) -> None:
            block = {"type": "tool_use", "name": "memory", "id": f"t{done[number]}", "input": given}
            ask("POST", "/tool", json=block)

        while time.monotonic() < until and len(errors) < 20:
            turn += 1
            path = f"/memories/{turn % KEPT_PATHS}.md"
            use(command="create", path=path, file_text=f"turn {turn}\n" * 20)
            use(command="view", path=path)
            use(command="view", path="/memories")
            use(command="insert", path=path, insert_line=0, insert_text="first\n")
            memory = ask("POST", "/memories", json={"path": f"/api/{turn}.md", "content": "x"})
            ask("GET", f"/memories/{memory['id']}")
            ask("POST", f"/memories/{memory['id']}", json={"content": "y" * 500})
            ask("GET", "/memories?limit=10")
            ask("GET", "/memory_versions?limit=10")
            ask("DELETE", f"/memories/{memory['id']}")
            use(command="delete", path=path)


def _sample(pid: int, seconds: float, requests: int) -> Sample:
    status = Path(f"/proc/{pid}/status").read_text()
    found = re.search(r"VmRSS:\s+(\d+) kB", status)
    assert found is not None
    descriptors = len(list(Path(f"/proc/{pid}/fd").iterdir()))
    return Sample(round(seconds, 1), requests, int(found[1]), descriptors)


def _middle(sizes: list[int]) -> int:
    return sorted(sizes)[len(sizes) // 2]


def main() -> None:
    """Run it and print it."""
    home = new_home()
    try:
        found = soak(url_of("folder", home), float(sys.argv[1]), 0.005)
    finally:
        shutil.rmtree(home, ignore_errors=True)
    for sample in found.samples:
        print(json.dumps(sample._asdict()))
    print(json.dumps({"growth": round(found.growth(), 3), "errors": found.errors[:20]}))


if __name__ == "__main__":
    main()
