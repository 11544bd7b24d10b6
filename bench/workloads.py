"""What the subjects do. Each workload loads its data and gives the body to be timed."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from random import Random
from typing import Any, NamedTuple

from bench.subjects import Command, Session

SEED = 20250818
PROSE = (
    "the user prefers short answers and wants tests before each commit project alpha uses python "
    "with postgres while beta keeps sqlite deploy on friday never happens because staging needs "
    "review notes progress blocked decision owner deadline budget metric latency cache index"
)
MARK = ("MARK-A", "MARK-B")


class Scale(NamedTuple):
    """How large the data is; tests run the same bodies on little. ``users`` is at least 8."""

    files: int
    huge_lines: int
    users: int


NORMAL = Scale(files=1000, huge_lines=900_000, users=200)
TINY = Scale(files=8, huge_lines=2000, users=8)


@dataclass(frozen=True)
class Body:
    """One piece of work: ``op(k)`` is timed, ``before(k)`` is not, ``k`` counts from 0.

    ``shows`` has to occur in what ``op`` returns.
    """

    op: Callable[[int], str]
    shows: str
    before: Callable[[int], None] = lambda k: None


Opener = Callable[[str], Session]
"""Opens the memory of a user; the same user's memory again is the same object."""


@dataclass(frozen=True)
class Workload:
    """A named body. ``once`` bodies are slow: one call a round."""

    name: str
    prepare: Callable[[Opener, Scale], Body]
    once: bool = False


def text(size_bytes: int, seed: int = 0) -> str:
    """Numbered prose of about ``size_bytes``, one line of it marked."""
    random, words = Random(SEED + seed), PROSE.split()
    lines: list[str] = []
    size = 0
    while size < size_bytes - 60:
        line = f"{len(lines) + 1:06d} " + " ".join(random.choices(words, k=9))[:54]
        lines.append(line)
        size += len(line) + 1
    lines[len(lines) // 2] = f"{MARK[0]} the one line that is edited"
    return "\n".join(lines) + "\n"


def huge(lines: int) -> str:
    """A large file; 900,000 lines are 50 MB."""
    random, words = Random(SEED), PROSE.split()
    pool = [" ".join(random.choices(words, k=12)).ljust(48)[:48] for _ in range(1000)]
    return "".join(f"{n:06d} {pool[n % 1000]}\n" for n in range(1, lines + 1))


def view(path: str = "", **more: Any) -> Command:
    return {"command": "view", "path": f"/memories/{path}" if path else "/memories", **more}


def create(path: str, file_text: str) -> Command:
    return {"command": "create", "path": f"/memories/{path}", "file_text": file_text}


def replace(path: str, old: str, new: str) -> Command:
    return {
        "command": "str_replace",
        "path": f"/memories/{path}",
        "old_str": old,
        "new_str": new,
    }


def insert(path: str, line: int, said: str) -> Command:
    return {
        "command": "insert",
        "path": f"/memories/{path}",
        "insert_line": line,
        "insert_text": said,
    }


def rename(old: str, new: str) -> Command:
    return {"command": "rename", "old_path": f"/memories/{old}", "new_path": f"/memories/{new}"}


def delete(path: str) -> Command:
    return {"command": "delete", "path": f"/memories/{path}"}


# ---------------------------------------------------------------- reading


def listing(files: int, directories: int) -> Callable[[Opener, Scale], Body]:
    def prepare(opened: Opener, scale: Scale) -> Body:
        run = opened("one").run
        for i in range(min(files, scale.files)):
            run(create(f"d{i % directories:03d}/note{i:05d}.md", "a small memory\n" * 6))
        return Body(lambda k: run(view()), "d000" if files else "")

    return prepare


def viewing(size_bytes: int) -> Callable[[Opener, Scale], Body]:
    def prepare(opened: Opener, scale: Scale) -> Body:
        run = opened("one").run
        run(create("dir/a.md", text(size_bytes)))
        return Body(lambda k: run(view("dir/a.md")), "     1\t000001 ")

    return prepare


def ranged(opened: Opener, scale: Scale) -> Body:
    run = opened("one").run
    run(create("huge.md", huge(scale.huge_lines)))
    middle = scale.huge_lines // 2
    command = view("huge.md", view_range=[middle, middle + 49])
    return Body(lambda k: run(command), f"{middle:6d}\t{middle:06d} ")


# ---------------------------------------------------------------- writing


def creating(opened: Opener, scale: Scale) -> Body:
    run, body = opened("one").run, text(2048)
    run(create("dir/seed.md", "x\n"))
    return Body(lambda k: run(create(f"dir/new{k:06d}.md", body)), "new")


def replacing(size_bytes: int) -> Callable[[Opener, Scale], Body]:
    def prepare(opened: Opener, scale: Scale) -> Body:
        run = opened("one").run
        run(create("dir/a.md", text(size_bytes)))
        return Body(lambda k: run(replace("dir/a.md", MARK[k % 2], MARK[1 - k % 2])), "MARK-")

    return prepare


def inserting(opened: Opener, scale: Scale) -> Body:
    run, body = opened("one").run, text(2048)

    def before(k: int) -> None:
        # The file is made anew now and then, so that it stays about as large as it was.
        if k % 10 == 0:
            if k:
                run(delete("dir/a.md"))
            run(create("dir/a.md", body))

    return Body(lambda k: run(insert("dir/a.md", 10, "one line more\n")), "a.md", before)


def renaming(files: int) -> Callable[[Opener, Scale], Body]:
    def prepare(opened: Opener, scale: Scale) -> Body:
        run = opened("one").run
        for i in range(min(files, scale.files)):
            run(create(f"dir0/note{i:05d}.md", "a small memory\n"))
        return Body(lambda k: run(rename(f"dir{k % 2}", f"dir{1 - k % 2}")), "dir")

    return prepare


def renaming_a_file(opened: Opener, scale: Scale) -> Body:
    run = opened("one").run
    run(create("dir/a0.md", text(2048)))
    return Body(lambda k: run(rename(f"dir/a{k % 2}.md", f"dir/a{1 - k % 2}.md")), "dir/a")


def deleting(files: int) -> Callable[[Opener, Scale], Body]:
    def prepare(opened: Opener, scale: Scale) -> Body:
        run = opened("one").run

        def before(k: int) -> None:
            for i in range(min(files, scale.files)):
                run(create(f"gone/note{i:05d}.md", "a small memory\n"))

        return Body(lambda k: run(delete("gone")), "gone", before)

    return prepare


# ---------------------------------------------------------------- sessions


def session(tag: str, body: str) -> Iterator[Command]:
    """What an agent does in a short session: look, read, note, correct, tidy up."""
    note, done = f"notes/s{tag}.md", f"notes/s{tag}-done.md"
    yield view()
    for i in (0, 3, 6):
        yield view(f"notes/n{i}.md")
    yield create(note, body)
    for old, new in (("MARK-A", "MARK-B"), ("MARK-B", "MARK-C"), ("MARK-C", "MARK-D")):
        yield replace(note, old, new)
    for line in (0, 5):
        yield insert(note, line, "learned something new\n")
    yield view(note)
    yield rename(note, done)
    yield delete(done)


def seeded(opened: Opener, user: str) -> Session:
    memory = opened(user)
    for i in range(8):
        memory.run(create(f"notes/n{i}.md", text(2048, seed=100 + i)))
    return memory


def one_user(opened: Opener, scale: Scale) -> Body:
    run, body = seeded(opened, "one").run, text(2048)

    def op(k: int) -> str:
        return [run(command) for command in session(str(k), body)][-1]

    return Body(op, "done")


def many_users(opened: Opener, scale: Scale) -> Body:
    users = [seeded(opened, f"user{u:04d}") for u in range(scale.users)]
    body = text(2048)

    def op(k: int) -> str:
        """Eight threads, each with other users; what goes wrong in a thread comes out here."""
        failures: list[Exception] = []

        def work(thread: int) -> None:
            try:
                for i in range(4):
                    memory = users[(k * 32 + i * 8 + thread) % len(users)]
                    for command in session(f"{k}-{i}-{thread}", body):
                        memory.run(command)
            except Exception as failure:  # noqa: BLE001 - raised again by the caller
                failures.append(failure)

        threads = [threading.Thread(target=work, args=(t,)) for t in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        if failures:
            raise ExceptionGroup("sessions failed", failures)
        return "done"

    return Body(op, "done")


WORKLOADS = (
    Workload("list, empty", listing(0, 1)),
    Workload("list, 20 files in 4 directories", listing(20, 4)),
    Workload("list, 1,000 files in 100 directories", listing(1000, 100)),
    Workload("view 2 KB", viewing(2048)),
    Workload("view 256 KB", viewing(250_000)),
    Workload("view 50 lines of a 50 MB file, again", ranged),
    Workload("create 2 KB", creating),
    Workload("str_replace in 2 KB", replacing(2048)),
    Workload("str_replace in 256 KB", replacing(250_000)),
    Workload("insert into 2 KB", inserting),
    Workload("rename a file", renaming_a_file),
    Workload("rename a directory of 1,000", renaming(1000)),
    Workload("delete a directory of 1,000", deleting(1000), once=True),
    Workload("session of 13 commands", one_user, once=True),
    Workload("32 sessions in 8 threads, 200 users", many_users, once=True),
)
