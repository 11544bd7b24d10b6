"""``python -m bench.bucket``: our commands against bare requests to the same server, in the same rounds.

The bare client does with its requests what a command needs at least: one conditional put for a write,
one get for a view. The server is the tests' own SeaweedFS, or that of ``BUCKET_URL``.
"""

from __future__ import annotations

import argparse
import asyncio
import itertools
import time
from collections.abc import Awaitable, Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import obstore

from bench.pairs import line_of
from memoranda import AsyncMemory, Memory
from tests.stores.bucket_server import client_of, url_for

TEXT: Final = "a line of a note that an agent keeps\n" * 55  # 2 KB
TASKS: Final = 16


class Bare:
    """One object that is swapped, and objects that are made."""

    def __init__(self, url: str) -> None:
        self.client = client_of(url)
        self._tag: Any = obstore.put(self.client, "bare/head", b"first")

    def swap(self, n: int) -> None:
        mode = {"e_tag": self._tag["e_tag"]}
        data = f"{TEXT}{n}".encode()
        self._tag = obstore.put(self.client, "bare/head", data, mode=mode, use_multipart=False)  # type: ignore[arg-type] # pyright: ignore[reportArgumentType]

    def make_and_swap(self, n: int) -> None:
        obstore.put(self.client, f"bare/{n}", TEXT.encode(), use_multipart=False)
        self.swap(n)

    def read(self) -> None:
        obstore.get(self.client, "bare/head").bytes()


@contextmanager
def bodies(
    url: str,
) -> Generator[dict[str, tuple[Callable[[int], Any], Callable[[int], Any]]]]:
    """Each command: ours and the bare requests, for the n-th time."""
    memory = Memory.open(url, user="bench")
    bare = Bare(url)
    turns = itertools.count()

    def done(command: dict[str, Any]) -> None:
        result = memory.execute(command)
        assert not result.is_error, result.content

    def replace(n: int) -> None:
        turn = next(turns)
        done(
            {
                "command": "str_replace",
                "path": "/memories/note.md",
                "old_str": f"turn {turn};",
                "new_str": f"turn {turn + 1};",
            }
        )

    def create(n: int) -> None:
        done({"command": "create", "path": f"/memories/c{n}.md", "file_text": TEXT})

    done({"command": "create", "path": "/memories/note.md", "file_text": TEXT + "turn 0;"})
    yield {
        "create": (create, bare.make_and_swap),
        "str_replace": (replace, bare.make_and_swap),
        "(one put)": (replace, bare.swap),
        "view": (
            lambda _: done({"command": "view", "path": "/memories/note.md"}),
            lambda _: bare.read(),
        ),
    }
    memory.close()


def compare(url: str, rounds: int) -> list[str]:
    """A line for each command."""
    with bodies(url) as every:
        return [line_of(name, ours, bare, rounds) for name, (ours, bare) in every.items()]


async def throughput(url: str, each: int) -> str:
    """Sixteen tasks that write, each its own user's memory, against bare puts and swaps."""
    memories = [AsyncMemory.open(url, user=f"t{task}") for task in range(TASKS)]
    client = client_of(url)

    async def ours(task: int, n: int) -> None:
        command = {"command": "create", "path": f"/memories/{n}.md", "file_text": TEXT}
        assert not (await memories[task].execute(command)).is_error

    async def bare(task: int, n: int) -> None:
        await obstore.put_async(client, f"bare/{task}/{n}", TEXT.encode(), use_multipart=False)
        await obstore.put_async(client, f"bare/{task}", TEXT.encode(), use_multipart=False)

    async def timed(write: Callable[[int, int], Awaitable[None]]) -> float:
        async def run(task: int) -> None:
            for n in range(each):
                await write(task, n)

        begin = time.perf_counter()
        await asyncio.gather(*(run(task) for task in range(TASKS)))
        return TASKS * each / (time.perf_counter() - begin)

    for task in range(TASKS):
        await ours(task, -1)
    per_second, its = await timed(ours), await timed(bare)
    for memory in memories:
        await memory.close()
    return f"{TASKS} tasks      {per_second:.0f} writes/s   {its:.0f} bare   {per_second / its:.2f}"


def main() -> None:
    """Measure on a server of our own."""
    parser = argparse.ArgumentParser(prog="python -m bench.bucket")
    parser.add_argument("--rounds", type=int, default=300)
    rounds = parser.parse_args().rounds
    url = url_for(Path("bench"))
    for line in compare(url, rounds):
        print(line)
    print(asyncio.run(throughput(url, max(1, rounds // 10))))


if __name__ == "__main__":
    main()
