"""``python -m bench.postgres``: our commands against one bare statement, in the same rounds.

The bare client keeps a table of its own and does with one statement what a command needs at least:
an upsert for a write, a select by its key for a view. Both are on the same server, which is the
tests' own with ``fsync=on``, or that of ``DATABASE_URL``.
"""

from __future__ import annotations

import argparse
import asyncio
import time
from collections.abc import Awaitable, Callable, Generator
from contextlib import contextmanager
from typing import Any, Final

import psycopg
import psycopg_pool

from bench.pairs import line_of
from memoranda import AsyncMemory, Memory
from tests.stores.postgres_server import Database, Server

TEXT: Final = "a line of a note that an agent keeps\n" * 55  # 2 KB
TABLE: Final = (
    "CREATE TABLE IF NOT EXISTS bare(store bigint, path text, data bytea, version bigint,"
    " PRIMARY KEY(store, path))"
)
UPSERT: Final = (
    "INSERT INTO bare VALUES (1, %s, %b, 1) ON CONFLICT (store, path)"
    " DO UPDATE SET data = excluded.data, version = bare.version + 1"
)
SELECT: Final = "SELECT data FROM bare WHERE store = 1 AND path = %s"
TASKS: Final = 16
CONNECTIONS: Final = 8


class Bare:
    """A connection and its table."""

    def __init__(self, db: Database) -> None:
        self.db = psycopg.connect(db.superuser, autocommit=True, prepare_threshold=None)
        self.db.execute(TABLE)

    def write(self, name: str, text: str) -> None:
        self.db.execute(UPSERT, (name, text.encode()))

    def read(self, name: str) -> None:
        self.db.execute(SELECT, (name,), binary=True).fetchall()


@contextmanager
def bodies(
    db: Database,
) -> Generator[dict[str, tuple[Callable[[int], Any], Callable[[int], Any]]]]:
    """Each command: ours and the bare one, for the n-th time."""
    memory = Memory.open(db.url, user="bench")
    bare = Bare(db)

    def done(command: dict[str, Any]) -> None:
        result = memory.execute(command)
        assert not result.is_error, result.content

    done({"command": "create", "path": "/memories/note.md", "file_text": TEXT + "turn 0"})
    bare.write("/note.md", TEXT)
    yield {
        "create": (
            lambda n: done({"command": "create", "path": f"/memories/c{n}.md", "file_text": TEXT}),
            lambda n: bare.write(f"/c{n}.md", TEXT),
        ),
        "str_replace": (
            lambda n: done(
                {
                    "command": "str_replace",
                    "path": "/memories/note.md",
                    "old_str": f"turn {n}",
                    "new_str": f"turn {n + 1}",
                }
            ),
            lambda n: bare.write("/note.md", TEXT + str(n)),
        ),
        "view": (
            lambda n: done({"command": "view", "path": "/memories/note.md"}),
            lambda n: bare.read("/note.md"),
        ),
    }
    bare.db.close()
    memory.close()


def compare(db: Database, rounds: int) -> list[str]:
    """A line for each command: medians, and the median of the ratios of the rounds."""
    lines: list[str] = []
    with bodies(db) as pairs:
        for name, (ours, bare) in pairs.items():
            lines.append(line_of(name, ours, bare, rounds))
    return lines


async def throughput(db: Database, each: int) -> str:
    """Sixteen tasks that write, each its own user's memory, against the bare pool."""

    async def ours(memory: AsyncMemory, n: int) -> None:
        path = f"/memories/t{n}.md"
        result = await memory.execute({"command": "create", "path": path, "file_text": TEXT})
        assert not result.is_error

    async def timed(writers: list[Callable[[int], Awaitable[None]]]) -> float:
        async def run(write: Callable[[int], Awaitable[None]]) -> None:
            for n in range(each):
                await write(n)

        begin = time.perf_counter()
        await asyncio.gather(*(run(write) for write in writers))
        return len(writers) * each / (time.perf_counter() - begin)

    url = f"{db.url}&pool_size={CONNECTIONS}"
    memories = [AsyncMemory.open(url, user=f"t{task}") for task in range(TASKS)]
    for memory in memories:
        await memory.execute({"command": "create", "path": "/memories/first", "file_text": ""})
    pool = psycopg_pool.AsyncConnectionPool(
        db.superuser,
        kwargs={"autocommit": True, "prepare_threshold": None},
        min_size=CONNECTIONS,
        open=False,
    )
    await pool.open()

    def bare(task: int) -> Callable[[int], Awaitable[None]]:
        async def write(n: int) -> None:
            async with pool.connection() as connection:
                await connection.execute(UPSERT, (f"/t{task}/{n}", TEXT.encode()))

        return write

    def of(memory: AsyncMemory) -> Callable[[int], Awaitable[None]]:
        return lambda n: ours(memory, n)

    per_second = await timed([of(memory) for memory in memories])
    its = await timed([bare(task) for task in range(TASKS)])
    await pool.close()
    for memory in memories:
        await memory.close()
    return f"{TASKS} tasks      {per_second:.0f} writes/s   {its:.0f} bare   {per_second / its:.2f}"


def main() -> None:
    """Measure on a server of our own."""
    parser = argparse.ArgumentParser(prog="python -m bench.postgres")
    parser.add_argument("--rounds", type=int, default=500)
    rounds = parser.parse_args().rounds
    server = Server.made("fsync=on")
    try:
        db = Database(server.admin)
        for line in compare(db, rounds):
            print(line)
        print(asyncio.run(throughput(db, max(1, rounds // 10))))
    finally:
        server.stop()


if __name__ == "__main__":
    main()
