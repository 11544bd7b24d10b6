"""The audit over each store: who did what, what was refused, and what nobody can hide."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from memoranda import AsyncMemory, Memory, Policy
from memoranda.drive import run_now
from memoranda.errors import Misuse, NotFound, Unavailable, Unsupported
from memoranda.policies.audit import Auditing, AuditTrail
from memoranda.stores.base import AuditEntry, AuditHead, Backend, Context, Store
from memoranda.stores.bucket.backend import BucketBackend
from memoranda.stores.folder.backend import FolderBackend
from memoranda.stores.folder.place import open_places
from memoranda.stores.log.database import open_connection
from memoranda.stores.postgres.backend import PostgresBackend
from memoranda.stores.ram import RamBackend
from memoranda.stores.sqlite import SqliteBackend
from tests.stores import postgres_server
from tests.stores.bucket_server import url_for
from tests.testing.dict_store import DictBackend, Disk

KINDS: dict[str, Callable[[Path], Backend]] = {
    "ram": lambda home: RamBackend(),
    "sqlite": lambda home: SqliteBackend(home / "memory.db"),
    "folder": lambda home: FolderBackend(home / "memory"),
    "bucket": lambda home: BucketBackend(url_for(home)),
    "postgres": lambda home: PostgresBackend(postgres_server.url_for(home)),
}
NOTE = "/memories/d/note.md"


@pytest.fixture(params=KINDS)
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    backend = KINDS[request.param](tmp_path)
    yield run_now(backend.for_user("acme"))
    run_now(backend.close())


def used(store: Store, reads: str = "batched") -> Memory:
    memory = Memory.of_store(store, policy=Policy(audit=Auditing(reads=reads)))  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    memory.execute(
        {"command": "create", "path": NOTE, "file_text": "one\ntwo\n"}, trace_id="toolu_1"
    )
    return memory


def shown(entries: tuple[AuditEntry, ...]) -> list[tuple[str, str, str | None, int | None]]:
    return [(each.command, each.outcome, each.path, each.size_bytes) for each in entries]


def test_every_command_is_an_entry_changes_views_and_refusals(store: Store) -> None:
    memory = used(store)
    memory.execute({"command": "view", "path": NOTE, "view_range": [1, 1]}, trace_id="toolu_2")
    memory.execute({"command": "view", "path": "/memories/none"})
    memory.execute({"command": "str_replace", "path": NOTE, "old_str": "one", "new_str": "1"})
    memory.execute({"command": "str_replace", "path": NOTE, "old_str": "two", "new_str": "two"})
    memory.execute({"command": "rename", "old_path": NOTE, "new_path": "/memories/e.md"})
    memory.execute({"command": "delete", "path": "/memories/e.md"})
    memory.execute({"command": "rename", "old_path": NOTE, "new_path": "/memories/f.md"})
    memory.execute({"command": "view", "path": "/etc/passwd\n\x1b[2J"})
    memory.execute({"command": "dance"})
    memory.execute("no mapping")
    assert shown(memory.audit()) == [
        ("create", "ok", NOTE, 8),
        ("view", "ok", NOTE, None),
        ("view", "not_found", "/memories/none", None),
        ("str_replace", "ok", NOTE, 6),
        ("str_replace", "unchanged", NOTE, None),
        ("rename", "ok", "/memories/e.md", 6),
        ("delete", "ok", "/memories/e.md", None),
        ("rename", "not_found", NOTE, None),
        ("view", "bad_path", r"/etc/passwd\n\u001b[2J", None),
        ("", "unknown_command", None, None),
        ("", "missing_parameter", None, None),
    ]
    created, viewed, *_ = entries = memory.audit()
    assert (created.trace_id, viewed.trace_id) == ("toolu_1", "toolu_2")
    assert created.sha256 is not None
    assert viewed.details == {"lines": [1, 1]}
    assert entries[5].before == NOTE
    assert entries[7].details == {"target": "/memories/f.md"}
    order = [(each.seq, each.part) for each in entries]
    assert order == sorted(set(order))
    assert {each.actor for each in entries} == {"agent"}
    assert memory.verify_audit().ok
    assert memory.verify().ok


def test_no_entry_holds_contents_or_what_was_looked_for(store: Store) -> None:
    memory = used(store)
    hush = "hush-Qx7Zr0"
    memory.execute({"command": "create", "path": NOTE, "file_text": hush})
    memory.execute({"command": "str_replace", "path": NOTE, "old_str": hush, "new_str": hush})
    memory.execute({"command": "insert", "path": NOTE, "insert_line": 99, "insert_text": hush})
    memory.search(hush)
    memory.write("/memories/x", hush)
    assert hush not in repr(memory.audit())
    assert len(memory.audit()) == 6


def test_what_programs_do_read_and_are_refused_is_there_too(store: Store) -> None:
    memory = used(store)
    version = memory.history(NOTE)[0].id
    memory.read(NOTE)
    memory.list("/memories/d")
    memory.version(version)
    memory.write(NOTE, "new", if_version=version)
    memory.write(NOTE, "new")
    with pytest.raises(NotFound):
        memory.remove("/memories/none")
    with pytest.raises(NotFound):
        memory.read("/memories/none")
    found = [(each.command, each.outcome, each.path) for each in memory.audit(after=0)][1:]
    assert found == [
        ("history", "ok", NOTE),
        ("read", "ok", NOTE),
        ("list", "ok", "/memories/d"),
        ("version", "ok", None),
        ("write", "ok", NOTE),
        ("write", "unchanged", NOTE),
        ("remove", "not_found", "/memories/none"),
        ("read", "not_found", "/memories/none"),
    ]
    assert memory.audit(after=0)[4].details == {"version": version}


def test_it_can_be_read_in_pages_and_followed(store: Store) -> None:
    memory = used(store)
    for _ in range(5):
        memory.execute({"command": "view", "path": NOTE})
    everything = memory.audit(after=0)
    assert len(everything) == 6
    assert memory.audit(limit=2) == everything[-2:]
    assert memory.audit(after=0, limit=1) == everything[:1]
    # What was noted together is given together.
    assert memory.audit(after=0, limit=2) == everything
    assert memory.audit(after=everything[0].seq) == everything[1:]
    assert [each.part for each in everything] == [0, 0, 1, 2, 3, 4]
    assert memory.audit(after=everything[-1].seq) == ()
    assert memory.audit(limit=0) == ()


def test_what_becomes_of_views_is_one_of_three_words() -> None:
    with pytest.raises(Misuse, match="batched"):
        Auditing(reads="sometimes")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]


def test_what_a_caller_says_of_a_look_is_in_its_entry(store: Store) -> None:
    used(store)
    trail = AuditTrail(store, "strict")
    context = Context("agent", "view", audit={"session": "s1"})
    run_now(trail.read(context, {"path": NOTE}))
    assert run_now(store.audit(None, 1))[0].details == {"session": "s1"}


def test_views_are_left_out_where_the_policy_says_so_and_refusals_are_not(store: Store) -> None:
    memory = used(store, "off")
    memory.execute({"command": "view", "path": NOTE})
    memory.read(NOTE)
    memory.execute({"command": "view", "path": "/memories/none"})
    assert [each.outcome for each in memory.audit()] == ["ok", "not_found"]


def test_a_store_that_was_never_written_has_no_entries(store: Store) -> None:
    memory = Memory.of_store(store)
    assert memory.audit() == ()
    report = memory.verify_audit()
    assert (report.ok, report.entries, report.head.seq) == (True, 0, 0)


def test_a_redacted_version_leaves_its_entry_without_what_tells_of_it(store: Store) -> None:
    memory = used(store)
    first = memory.history(NOTE)[0]
    memory.write(NOTE, "clean")
    memory.redact(first.id)
    made, *_, redacted = memory.audit()
    assert (made.command, made.path, made.size_bytes, made.sha256) == ("create", None, None, None)
    assert made.is_blanked
    assert (redacted.command, redacted.details["version"]) == ("redact", first.id)
    assert memory.verify_audit().ok
    assert memory.verify().ok


def test_an_anchor_is_the_head_of_the_chain(store: Store) -> None:
    memory = used(store)
    anchor = memory.verify_audit().head
    assert anchor.store_id == store.id
    memory.write(NOTE, "more")
    assert memory.verify_audit(anchors=[anchor]).ok
    forged = anchor._replace(chain="ab" * 32)
    report = memory.verify_audit(anchors=[forged, AuditHead(store.id, 10**6, "cd" * 32)])
    assert {problem.code for problem in report.problems} == {"anchor", "cut"}


@pytest.mark.parametrize("kind", ["sqlite", "folder"])
def test_strict_entries_are_durable_before_the_answer(tmp_path: Path, kind: str) -> None:
    backend = KINDS[kind](tmp_path)
    store = run_now(backend.for_user("acme"))
    memory = used(store, "strict")
    memory.execute({"command": "view", "path": NOTE})
    memory.read(NOTE)
    (database,) = [*tmp_path.rglob("history.db"), *tmp_path.rglob("memory.db")]
    other = open_connection(str(database))
    commands = [row[0] for row in other.execute("SELECT command FROM event ORDER BY seq")]
    other.close()
    assert commands == ["create", "view", "read"]
    run_now(backend.close())


def test_what_can_not_be_noted_is_not_shown_where_the_policy_is_strict(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    store = run_now(RamBackend().for_user("acme"))
    memory = used(store, "strict")
    plain = used(store)

    async def fail(*_: object) -> None:
        raise Unavailable("The disk is full.")

    monkeypatch.setattr(store, "record", fail)
    assert memory.execute({"command": "view", "path": NOTE}).is_error
    with pytest.raises(Unavailable):
        memory.read(NOTE)
    assert not plain.execute({"command": "view", "path": NOTE}).is_error
    assert plain.read(NOTE).content == b"one\ntwo\n"


def test_a_store_without_an_audit_says_so_before_anything_starts() -> None:
    store = run_now(DictBackend(Disk()).for_user("acme"))
    memory = used(store)
    assert not memory.execute({"command": "view", "path": NOTE}).is_error
    for ask in (memory.audit, memory.verify_audit):
        with pytest.raises(Unsupported):
            ask()
    with pytest.raises(Unsupported):
        run_now(store.flush())
    with pytest.raises(Unsupported):
        Memory.of_store(store, policy=Policy(audit=Auditing(reads="strict"))).read(NOTE)


def test_a_bug_is_an_entry_as_well(monkeypatch: pytest.MonkeyPatch) -> None:
    store = run_now(RamBackend().for_user("acme"))
    memory = used(store)

    async def break_down(*_: object) -> None:
        raise RuntimeError

    monkeypatch.setattr(store, "read", break_down)
    assert memory.execute({"command": "view", "path": NOTE}).is_error
    assert memory.audit()[-1].outcome == "failed"


def test_asynchronous_programs_have_it_too(store: Store) -> None:
    async def work() -> tuple[AuditEntry, ...]:
        async with AsyncMemory.of_store(store, actor="user_ada") as memory:
            await memory.execute({"command": "create", "path": NOTE, "file_text": "x"})
            await memory.execute({"command": "view", "path": NOTE})
            assert (await memory.verify_audit()).ok
            return await memory.audit()

    entries = asyncio.run(work())
    assert [(each.actor, each.command) for each in entries] == [
        ("user_ada", "create"),
        ("user_ada", "view"),
    ]
    assert entries[0].at.tzinfo is not None


# A bucket keeps an event for each memory beneath.
@pytest.mark.parametrize("store", ["ram", "sqlite", "folder"], indirect=True)
def test_directories_have_their_slash_and_a_move_says_where_from(store: Store) -> None:
    memory = used(store)
    memory.execute({"command": "rename", "old_path": "/memories/d", "new_path": "/memories/q/r"})
    memory.execute({"command": "delete", "path": "/memories/q"})
    _, moved, deleted = memory.audit()
    assert (moved.path, moved.before, moved.operation) == (
        "/memories/q/r/",
        "/memories/d/",
        "modified",
    )
    assert (deleted.path, deleted.before, deleted.operation) == ("/memories/q/", None, "deleted")


def test_what_waits_is_written_at_the_end(tmp_path: Path) -> None:
    for url in (str(tmp_path / "folder"), f"sqlite:///{tmp_path}/m.db"):
        with Memory.open(url) as memory:
            memory.write(NOTE, "x")
            memory.execute({"command": "view", "path": NOTE})
        with Memory.open(url) as memory:
            memory.execute({"command": "view", "path": NOTE})
        with Memory.open(url) as memory:
            assert [each.command for each in memory.audit()] == ["write", "view", "view"]


def test_an_erased_store_takes_its_audit_along_and_the_next_one_begins_anew(
    tmp_path: Path,
) -> None:
    with Memory.open(f"sqlite:///{tmp_path}/m.db", user="ada") as memory:
        memory.write(NOTE, "x")
        memory.execute({"command": "view", "path": NOTE})
        memory.erase(confirm="ada")
        memory.execute({"command": "view", "path": NOTE})
        assert memory.audit() == ()
        memory.write(NOTE, "y")
        assert "write" in [each.command for each in memory.audit()]
        assert Context().audit == {}


def test_views_of_a_memory_that_nobody_made_are_kept_nowhere(store: Store) -> None:
    memory = Memory.of_store(store)
    for _ in range(2_500):
        memory.execute({"command": "view", "path": "/memories"})
    memory.write(NOTE, "x")
    assert len(memory.audit(limit=10_000)) < 1_200
    assert memory.verify_audit().ok


def test_a_store_that_was_only_read_and_closed_for_a_while_keeps_what_was_noted(
    tmp_path: Path,
) -> None:
    url = str(tmp_path / "memory")
    with Memory.open(url) as memory:
        memory.write(NOTE, "x")
    with Memory.open(url) as memory:
        memory.execute({"command": "view", "path": NOTE})
        open_places.close_idle(10**12)
        commands = [each.command for each in memory.audit()]
    assert commands == ["write", "view"]


def test_an_entry_tells_its_time_with_a_zone(store: Store) -> None:
    before = datetime.now(UTC)
    (entry,) = used(store).audit()
    assert before - timedelta(seconds=1) < entry.at <= datetime.now(UTC)
