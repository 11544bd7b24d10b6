"""Other stores under paths of a memory: seen as one, kept and judged apart."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Iterator
from pathlib import Path

import pytest

from memoranda import (
    Approval,
    AsyncMemory,
    AwaitsApproval,
    Expiry,
    InjectionMarks,
    Limits,
    Memory,
    Misuse,
    Mount,
    Policy,
    Redaction,
)
from memoranda.drive import run_now
from memoranda.errors import (
    AcrossMounts,
    AlreadyExists,
    FileTooLarge,
    IsADirectory,
    MountPoint,
    MovedNameTooLong,
    NotFound,
    ReadOnly,
    SecretFound,
    UnknownId,
    Unsupported,
)
from memoranda.path import ROOT, MemoryPath, parse_path
from memoranda.policies.audit import Auditing, AuditTrail
from memoranda.policies.mounted import Mounted
from memoranda.policies.mounts import MountStores
from memoranda.stores.base import Context, Directory, Entry, Put, Store
from memoranda.stores.ram import RamBackend
from memoranda.testing.faults import SuspendingStore
from tests.stand_ins import fresh_store

TEAM = "/memories/team"
NOTES = "/memories/deep/notes"


@pytest.fixture
def url(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path}/memory.db"


def mounting(team: Policy | None = None, **more: object) -> Policy:
    return Policy(
        mounts=(
            Mount(path=TEAM, user="team", access="read_write", policy=team),
            Mount(path=NOTES, user="notes"),
        ),
        **more,  # type: ignore[arg-type] # pyright: ignore[reportArgumentType]
    )


@pytest.fixture
def team(url: str) -> Iterator[Memory]:
    with Memory.open(url, "team") as memory:
        memory.write("/memories/a.md", "team a")
        memory.write("/memories/d/b.md", "team b")
        yield memory


@pytest.fixture
def memory(url: str, team: Memory) -> Iterator[Memory]:
    with Memory.open(url, "ada", policy=mounting()) as memory:
        memory.write("/memories/own.md", "own")
        memory.write("/memories/zz/q.md", "own too")
        yield memory


def said(memory: Memory, command: str, **fields: object) -> str:
    content = memory.execute({"command": command, **fields}).content
    assert isinstance(content, str)
    return content


def paths(memory: Memory, prefix: str = "/memories") -> list[str]:
    return [str(one.path) for one in memory.list(prefix)]


# ---------------------------------------------------------------- seen as one


def test_the_view_shows_mounted_stores_with_their_sizes(memory: Memory) -> None:
    head = "Here're the files and directories up to 2 levels deep in {}, "
    head += "excluding hidden items and node_modules:\n"
    assert said(memory, "view", path="/memories") == head.format("/memories") + (
        "22B\t/memories\n0B\t/memories/deep/\n0B\t/memories/deep/notes/\n3B\t/memories/own.md\n"
        "12B\t/memories/team/\n6B\t/memories/team/a.md\n6B\t/memories/team/d/\n"
        "7B\t/memories/zz/\n7B\t/memories/zz/q.md"
    )
    assert said(memory, "view", path=TEAM) == head.format(TEAM) + (
        "12B\t/memories/team\n6B\t/memories/team/a.md\n6B\t/memories/team/d/\n"
        "6B\t/memories/team/d/b.md"
    )
    assert said(memory, "view", path="/memories/deep") == head.format("/memories/deep") + (
        "0B\t/memories/deep\n0B\t/memories/deep/notes/"
    )


def test_files_are_read_written_moved_and_removed_where_they_lie(
    memory: Memory, team: Memory
) -> None:
    a = f"{TEAM}/a.md"
    assert said(memory, "view", path=a).endswith("     1\tteam a")
    edited = said(memory, "str_replace", path=a, old_str="team a", new_str="team A")
    assert edited.endswith("     1\tteam A")
    memory.write(a, "new")
    assert team.read("/memories/a.md").text == "new"
    assert said(memory, "rename", old_path=a, new_path=f"{TEAM}/c.md") == (
        f"Successfully renamed {a} to {TEAM}/c.md"
    )
    assert said(memory, "delete", path=f"{TEAM}/d") == f"Successfully deleted {TEAM}/d"
    assert paths(team) == ["/memories/c.md"]
    assert paths(memory, TEAM) == [f"{TEAM}/c.md"]
    stored = memory.read(f"{TEAM}/c.md")
    assert (str(stored.path), stored.memory_id) == (
        f"{TEAM}/c.md", team.read("/memories/c.md").memory_id,
    )  # fmt: skip


def test_search_finds_in_all_of_them_in_order(memory: Memory) -> None:
    memory.write("/memories/a-team.md", "team")
    assert [str(hit.path) for hit in memory.search("team")] == [
        "/memories/a-team.md", f"{TEAM}/a.md", f"{TEAM}/d/b.md",
    ]  # fmt: skip
    assert len(memory.search("team", limit=2)) == 2
    assert [str(hit.path) for hit in memory.search("team", f"{TEAM}/d")] == [f"{TEAM}/d/b.md"]


def test_children_of_a_directory_have_the_sizes_of_what_is_mounted_in_it(memory: Memory) -> None:
    memory.write("/memories/deep/own.md", "12345")
    listed = {str(one.path): one for one in memory.list(depth=1)}
    assert isinstance(listed[TEAM], Directory)
    assert (listed[TEAM].size_bytes, listed["/memories/deep"].size_bytes) == (12, 5)
    assert list(listed) == [
        "/memories/deep", "/memories/own.md", TEAM, "/memories/zz",
    ]  # fmt: skip
    assert [str(one.path) for one in memory.list("/memories/deep", depth=1)] == [
        NOTES, "/memories/deep/own.md",
    ]  # fmt: skip


def test_every_page_of_every_size_goes_on_where_the_one_before_ended(url: str) -> None:
    dice = random.Random(7)
    names = ["a", "team", "team-x", "team.md", "team0", "z", "deep", "é"]
    with Memory.open(url, "team") as team, Memory.open(url, "notes") as notes:
        for number in range(30):
            where = "/".join(dice.choice(names) for _ in range(dice.randint(1, 2)))
            for one in (team, notes):
                one.write(f"/memories/{where}/{number}", "x" * number)
    with Memory.open(url, "ada", policy=mounting()) as memory:
        for number, name in enumerate(names):
            if name not in {"team", "deep"}:
                memory.write(f"/memories/{name}/{number}", "x")
        whole = [str(one.path) for one in memory.list()]
        assert whole == sorted(whole)
        assert len(whole) == 66
        children = memory.list(depth=1)
        order = [f"{one.path}{'/' * isinstance(one, Directory)}" for one in children]
        assert order == sorted(order)
        for limit in (1, 2, 3, 7, 65, 66, 67):
            for depth, all_of_it in ((0, memory.list()), (1, children)):
                found: list[Entry | Directory] = []
                after: str | None = None
                while True:
                    page = memory.page(depth=depth, after=after, limit=limit)  # type: ignore[arg-type] # pyright: ignore[reportArgumentType]
                    assert len(page.entries) <= limit
                    found += page.entries
                    after = page.after
                    if after is None:
                        break
                assert tuple(found) == all_of_it


def test_a_view_that_is_cut_counts_all_there_is(url: str, team: Memory) -> None:
    for number in range(40):
        team.write(f"/memories/f{number:02}.md", "x")
    policy = mounting(limits=Limits(view_chars=400))
    with Memory.open(url, "ada", policy=policy) as memory:
        for number in range(40):
            memory.write(f"/memories/own{number:02}.md", "x")
            memory.write(f"/memories/zz/own{number:02}.md", "x")
        cut = said(memory, "view", path="/memories")
        # 40 + 1 + 40 of its own, deep and notes; team, its 41 files and its directory d.
        assert cut.endswith("of 126 items shown. View a subdirectory to see more.]")
        lines = cut.split("\n")[2:-2]
        assert lines[:2] == ["0B\t/memories/deep/", "0B\t/memories/deep/notes/"]
        assert lines[2] == "1B\t/memories/own00.md"
        whole = Memory.open(url, "ada", policy=mounting())
        assert said(whole, "view", path="/memories").split("\n")[2 : 2 + len(lines)] == lines
        whole.close()


def test_a_hidden_mount_is_hidden_from_views_as_any_hidden_name_is(url: str, team: Memory) -> None:
    policy = Policy(mounts=(Mount(path="/memories/.team", user="team"),))
    with Memory.open(url, "ada", policy=policy) as memory:
        assert ".team" not in said(memory, "view", path="/memories")
        assert "a.md" in said(memory, "view", path="/memories/.team")
        assert paths(memory) == ["/memories/.team/a.md", "/memories/.team/d/b.md"]


def test_awaiting_programs_see_the_same(url: str, team: Memory) -> None:
    async def all_of_it() -> None:
        async with AsyncMemory.open(url, "ada", policy=mounting()) as memory:
            await memory.write(f"{TEAM}/x.md", "x")
            assert len(await memory.list()) == 3

    asyncio.run(all_of_it())


# ---------------------------------------------------------------- what can't be


def test_a_mount_point_and_what_it_lies_in_stay(memory: Memory) -> None:
    before = paths(memory)
    for path in (TEAM, NOTES, "/memories/deep"):
        with pytest.raises(MountPoint):
            memory.remove(path)
        with pytest.raises(MountPoint):
            memory.move(path, "/memories/else")
        with pytest.raises(IsADirectory):
            memory.write(path, "x")
        with pytest.raises(IsADirectory):
            memory.read(path)
        with pytest.raises(AlreadyExists):
            memory.move("/memories/own.md", path)
    assert paths(memory) == before


@pytest.mark.spec("POLICY-13")
def test_claude_reads_that_a_mounted_memory_can_not_go(memory: Memory) -> None:
    refusal = f"Error: {TEAM} shows another memory and cannot be deleted or renamed."
    assert said(memory, "delete", path=TEAM) == refusal
    assert said(memory, "rename", old_path=TEAM, new_path="/memories/x") == refusal
    assert said(memory, "delete", path="/memories/deep") == (
        f"Error: {NOTES} shows another memory and cannot be deleted or renamed."
    )
    assert said(memory, "delete", path="/memories") == (
        "Error: Cannot delete the /memories directory itself"
    )


@pytest.mark.spec("POLICY-14")
def test_claude_reads_that_a_file_can_not_move_between_memories(memory: Memory) -> None:
    text = "they are kept in different memories. Create the new file, then delete the old one."
    for old, new in (
        ("/memories/own.md", f"{TEAM}/own.md"),
        (f"{TEAM}/a.md", "/memories/a.md"),
        (f"{TEAM}/a.md", f"{NOTES}/a.md"),
        ("/memories/zz", f"{TEAM}/zz"),
    ):
        said_of_it = said(memory, "rename", old_path=old, new_path=new)
        assert said_of_it == f"Error: Cannot move {old} to {new}: {text}"


def test_a_batch_changes_one_store(memory: Memory) -> None:
    store = run_now(memory._core.store())  # pyright: ignore[reportPrivateUsage]
    batch = [Put(parse_path("/memories/x"), b"x"), Put(parse_path(f"{TEAM}/x"), b"x")]
    with pytest.raises(AcrossMounts):
        run_now(store.apply(batch, Context()))


def test_what_is_read_only_says_so_in_the_memorys_paths(memory: Memory, url: str) -> None:
    with Memory.open(url, "notes") as notes:
        notes.write("/memories/n.md", "x")
    assert said(memory, "view", path=f"{NOTES}/n.md").endswith("\tx")
    for command in (
        {"command": "create", "path": f"{NOTES}/new.md", "file_text": "x"},
        {"command": "delete", "path": f"{NOTES}/n.md"},
        {"command": "rename", "old_path": f"{NOTES}/n.md", "new_path": f"{NOTES}/m.md"},
    ):
        refusal = memory.execute(command)
        path = command.get("path") or command["old_path"]
        assert refusal.content == f"Error: {path} is read-only."
    version = memory.history(f"{NOTES}/n.md")[0]
    with pytest.raises(ReadOnly, match=f"{NOTES} is read-only"):
        memory.redact(version.id)


def test_errors_of_a_mounted_store_name_the_memorys_paths(memory: Memory) -> None:
    with pytest.raises(NotFound, match=f"^{TEAM}/none.md does not exist"):
        memory.read(f"{TEAM}/none.md")
    assert said(memory, "create", path=f"{TEAM}/a.md", file_text="x") == (
        f"Error: File {TEAM}/a.md already exists"
    )
    assert said(memory, "create", path=f"{TEAM}/a.md/b", file_text="x") == (
        f"Error: The path {TEAM}/a.md is a file, not a directory"
    )
    memory.write(f"{TEAM}/long/{'x' * 255}/{'z' * 20}", "x")
    name = "/".join(["y" * 255] * 3)
    with pytest.raises(MovedNameTooLong, match=f"{TEAM}/long") as caught:
        memory.move(f"{TEAM}/long", f"{TEAM}/{name}")
    assert str(caught.value.too_long).startswith(TEAM)


# ---------------------------------------------------------------- kept and judged apart


def test_quotas_are_each_stores_own(url: str, team: Memory) -> None:
    policy = mounting(Policy(limits=Limits(file_bytes=8)), limits=Limits(file_bytes=20))
    with Memory.open(url, "ada", policy=policy) as memory:
        memory.write("/memories/own.md", "x" * 20)
        with pytest.raises(FileTooLarge, match=f"{TEAM}/x would be 9 bytes"):
            memory.write(f"{TEAM}/x", "x" * 9)
        assert (memory.usage().files, team.usage().files) == (1, 2)


def test_each_access_is_judged_by_the_mounted_stores_rules(url: str, team: Memory) -> None:
    strict = Policy(
        redaction=Redaction(credential="refuse"),
        approval=(Approval(path="/memories/rules/*"),),
        injection=InjectionMarks(mode="off"),
    )
    secret = "ghp_" + "R4nd0mT0k3nV4lu3" * 2 + "1a2B"
    with Memory.open(url, "ada", policy=mounting(strict)) as memory:
        with pytest.raises(SecretFound):
            memory.write(f"{TEAM}/x", secret)
        memory.write("/memories/x", secret)
        assert memory.read("/memories/x").text == "[REDACTED:credential]"
        assert said(memory, "create", path=f"{TEAM}/rules/a.md", file_text="x") == (
            f"Saved for review: {TEAM}/rules/a.md changes when a person approves it."
        )
        with pytest.raises(AwaitsApproval, match=f"{TEAM}/rules/b.md changes when"):
            memory.write(f"{TEAM}/rules/b.md", "x")
        assert memory.proposals() == ()
    waiting = [str(one.path) for one in team.proposals()]
    assert waiting == ["/memories/rules/a.md", "/memories/rules/b.md"]


def test_what_was_masked_is_told_with_the_memorys_path(url: str, team: Memory) -> None:
    secret = "ghp_" + "R4nd0mT0k3nV4lu3" * 2 + "1a2B"
    with Memory.open(url, "ada", policy=mounting()) as memory:
        told = said(memory, "create", path=f"{TEAM}/k.md", file_text=secret)
        assert "1 secret(s) were removed" in told


def test_the_audit_is_that_of_the_store_that_is_touched_with_the_trace_id(
    memory: Memory, team: Memory
) -> None:
    n = len(memory.audit(limit=1000))
    for number, command in enumerate(
        (
            {"command": "view", "path": f"{TEAM}/a.md"},
            {"command": "view", "path": f"{TEAM}/none.md"},
            {"command": "create", "path": f"{TEAM}/new.md", "file_text": "x"},
            {"command": "rename", "old_path": f"{TEAM}/none", "new_path": f"{TEAM}/n"},
        )
    ):
        memory.execute(command, trace_id=f"toolu_{number}")
    with pytest.raises(NotFound):
        memory.read(f"{TEAM}/none.md")
    run_now(run_now(memory._core.store()).flush())  # pyright: ignore[reportPrivateUsage]
    seen = [(one.command, one.outcome, one.path, one.trace_id) for one in team.audit()[-5:]]
    assert seen == [
        ("view", "ok", "/memories/a.md", "toolu_0"),
        ("view", "not_found", "/memories/none.md", "toolu_1"),
        ("create", "ok", "/memories/new.md", "toolu_2"),
        ("rename", "not_found", "/memories/none", "toolu_3"),
        ("read", "not_found", "/memories/none.md", None),
    ]
    assert len(memory.audit(limit=1000)) == n
    assert team.verify_audit().ok


def test_how_views_are_kept_is_each_stores_own(url: str, team: Memory) -> None:
    policy = mounting(Policy(audit=Auditing(reads="off")))
    with Memory.open(url, "ada", policy=policy) as memory:
        memory.write("/memories/own.md", "x")
        memory.execute({"command": "view", "path": f"{TEAM}/a.md"})
        memory.execute({"command": "view", "path": "/memories/own.md"})
        run_now(run_now(memory._core.store()).flush())  # pyright: ignore[reportPrivateUsage]
        assert [one.command for one in memory.audit()] == ["write", "view"]
    assert "view" not in [one.command for one in team.audit()]


def test_uses_are_noted_where_the_mounted_stores_rules_ask_for_them(url: str, team: Memory) -> None:
    policy = mounting(Policy(expiry=(Expiry(unused_days=1),)), expiry=(Expiry(unused_days=1),))
    with Memory.open(url, "ada", policy=policy) as memory:
        memory.write("/memories/own.md", "x")
        memory.execute({"command": "view", "path": f"{TEAM}/a.md"})
        memory.execute({"command": "view", "path": f"{NOTES}/none.md"})
        memory.read("/memories/own.md")
        store = run_now(memory._core.store())  # pyright: ignore[reportPrivateUsage]
        run_now(store.flush())
        assert list(run_now(store.uses())) == [parse_path("/memories/own.md")]
        run_now(store.touch([parse_path(f"{TEAM}/d/b.md"), parse_path("/memories/own.md")], 5))
        run_now(store.flush())
    with Memory.open(url, "team") as again:
        used = run_now(run_now(again._core.store()).uses())  # pyright: ignore[reportPrivateUsage]
        assert sorted(map(str, used)) == ["/memories/a.md", "/memories/d/b.md"]


def test_sweeping_restoring_undoing_exporting_and_erasing_leave_the_mounts_alone(
    tmp_path: Path, url: str, memory: Memory, team: Memory
) -> None:
    before = paths(team)
    first = memory.history("/memories/own.md")[0].id
    assert memory.export(tmp_path / "out").files == 2
    memory.restore(to=first)
    assert paths(memory) == ["/memories/own.md", f"{TEAM}/a.md", f"{TEAM}/d/b.md"]
    memory.undo()
    for refused in (
        lambda: memory.restore(TEAM, to=first),
        lambda: memory.preview_restore(TEAM, to=first),
        lambda: memory.undo(f"{TEAM}/a.md"),
        lambda: memory.export(tmp_path / "team", prefix=TEAM),
        lambda: memory.list(TEAM, at=first),
        lambda: memory.hold(TEAM),
        lambda: memory.lift_hold(TEAM),
    ):
        with pytest.raises(Unsupported):
            refused()
    assert memory.list(at=first) == memory.list(at=first, depth=0)
    with Memory.open(url, "ada", policy=mounting(expiry=(Expiry(age_days=1),))) as sweeping:
        assert sweeping.sweep(dry_run=True).removed == ()
    memory.erase(confirm="ada")
    assert paths(team) == before


def test_history_of_a_mounted_store_is_asked_for_by_path_and_by_id(
    memory: Memory, team: Memory
) -> None:
    (version,) = memory.history(f"{TEAM}/a.md")
    assert str(version.path) == f"{TEAM}/a.md"
    assert str(memory.version(version.id).path) == f"{TEAM}/a.md"
    memory.write(f"{TEAM}/a.md", "newer")
    assert f"--- {TEAM}/a.md" in memory.diff(version.id)
    assert memory.redact(version.id).path is None
    assert team.version(version.id).content is None
    assert memory.version(version.id).path is None
    with pytest.raises(UnknownId):
        memory.version("memver_" + "0" * 26)
    with pytest.raises(UnknownId):
        memory.redact("memver_" + "0" * 26)
    assert not any(str(one.path).startswith(TEAM) for one in memory.history())


def test_an_id_is_found_wherever_it_lives(memory: Memory, team: Memory) -> None:
    store = run_now(memory._core.store())  # pyright: ignore[reportPrivateUsage]
    entry = run_now(store.locate(team.read("/memories/a.md").memory_id))
    assert str(entry.path) == f"{TEAM}/a.md"
    with pytest.raises(UnknownId):
        run_now(store.locate("mem_" + "0" * 26))


# ---------------------------------------------------------------- opening


def test_nobody_reaches_what_is_not_mounted(url: str, team: Memory) -> None:
    with Memory.open(url, "bob") as bob:
        assert paths(bob) == []
        with pytest.raises(NotFound):
            bob.read(f"{TEAM}/a.md")
        with pytest.raises(UnknownId):
            bob.version(team.history()[0].id)


@pytest.mark.parametrize(
    ("mounts", "says"),
    [
        (("/memories/a", "/memories/a"), "lie within one another"),
        (("/memories/a", "/memories/a/b"), "lie within one another"),
        (("/memories/a/b", "/memories/a"), "lie within one another"),
        (tuple(f"/memories/{number}" for number in range(9)), "up to 8"),
    ],
)
def test_mounts_that_can_not_be_together_are_refused(mounts: tuple[str, ...], says: str) -> None:
    with pytest.raises(Misuse, match=says):
        Policy(mounts=tuple(Mount(path=path, user=f"u{path[-1]}") for path in mounts))


@pytest.mark.parametrize(
    ("fields", "says"),
    [
        ({"path": "team", "user": "a"}, "has to be a path"),
        ({"path": "/memories", "user": "a"}, "beneath /memories"),
        ({"path": TEAM}, "by user or by store_id"),
        ({"path": TEAM, "user": "a", "store_id": "b"}, "by user or by store_id"),
        ({"path": TEAM, "user": 1}, "user has to be a text"),
        ({"path": TEAM, "user": "a", "workspace": None}, "workspace has to be a text"),
        ({"path": TEAM, "user": "a", "access": "write"}, "access is 'write'"),
    ],
)
def test_a_mount_that_can_not_be_is_refused(fields: dict[str, object], says: str) -> None:
    with pytest.raises(Misuse, match=says):
        Mount(**fields)  # type: ignore[arg-type] # pyright: ignore[reportArgumentType]


def test_a_mounted_store_has_no_mounts_of_its_own() -> None:
    inner = Policy(mounts=(Mount(path=TEAM, user="b"),))
    with pytest.raises(Misuse, match="mounts of its own"):
        Policy(mounts=(Mount(path=TEAM, user="a", policy=inner),))


def test_a_store_is_mounted_neither_into_itself_nor_twice(url: str) -> None:
    for policy in (
        Policy(mounts=(Mount(path=TEAM, user="ada"),)),
        Policy(mounts=(Mount(path=TEAM, user="x"), Mount(path=NOTES, user="x"))),
    ):
        with pytest.raises(Misuse, match="shown in this memory already"):
            Memory.open(url, "ada", policy=policy)


@pytest.mark.parametrize("path", [TEAM, f"{TEAM}/mine.md", "/memories/deep", f"{NOTES}/x/y"])
def test_a_mount_hides_nothing_in_silence(url: str, path: str) -> None:
    with Memory.open(url, "ada") as plain:
        plain.write(path, "mine")
        with pytest.raises(Misuse, match="is hidden by the mount"):
            Memory.open(url, "ada", policy=mounting())


def test_what_comes_to_lie_under_a_mount_later_is_told(url: str, memory: Memory) -> None:
    with Memory.open(url, "ada") as plain:
        plain.write(f"{TEAM}/mine.md", "team")
    (notice,) = memory.notices()
    assert (notice.code, str(notice.path)) == ("hidden_by_mount", f"{TEAM}/mine.md")
    assert f"{TEAM}/mine.md" not in paths(memory)
    assert f"{TEAM}/mine.md" not in [str(hit.path) for hit in memory.search("team")]
    assert "mine.md" not in said(memory, "view", path="/memories")
    assert [str(one.path) for one in memory.page(limit=2).entries] == [
        "/memories/own.md", f"{TEAM}/a.md",
    ]  # fmt: skip


def test_a_store_at_another_url_and_one_of_the_api_can_be_mounted(tmp_path: Path) -> None:
    backend = RamBackend("for-mounts")
    info = run_now(backend.create("team"))
    mount = Mount(path=TEAM, url="memory:for-mounts", store_id=info.id, access="read_write")
    with Memory.open(str(tmp_path / "m"), "ada", policy=Policy(mounts=(mount,))) as memory:
        memory.write(f"{TEAM}/a.md", "x")
    with Memory.of_store(fresh_store(), policy=Policy(mounts=(mount,))) as brought:
        assert paths(brought) == [f"{TEAM}/a.md"]
    near = Policy(mounts=(Mount(path=TEAM, user="a"),))
    with pytest.raises(Misuse, match="needs a url"):
        Memory.of_store(fresh_store(), policy=near)


def test_a_store_that_is_waited_for_in_another_way_is_refused() -> None:
    store = SuspendingStore(fresh_store(), lambda: asyncio.sleep(0))
    policy = Policy(mounts=(Mount(path=TEAM, url="memory:", user="a"),))

    async def look() -> None:
        await AsyncMemory.of_store(store, policy=policy).list()

    with pytest.raises(Misuse, match="waited for in another way"):
        asyncio.run(look())


def test_the_workspace_of_proposals_can_not_be_mounted(url: str) -> None:
    policy = Policy(mounts=(Mount(path=TEAM, user="a", workspace="proposals"),))
    with pytest.raises(Misuse, match="Memoranda's own"):
        Memory.open(url, "ada", policy=policy)


# ---------------------------------------------------------------- the parts


def mounted(store: Store, point: str = TEAM) -> Mounted:
    return Mounted(parse_path(point), store, AuditTrail(store, "off"), None)


def test_a_store_that_can_not_search_is_not_passed_over() -> None:
    blind = fresh_store()
    blind.capabilities = blind.capabilities._replace(searches=False)  # type: ignore[misc] # pyright: ignore[reportAttributeAccessIssue]
    shown = MountStores(fresh_store(), [mounted(blind)])
    with pytest.raises(Unsupported):
        run_now(shown.search("x", ROOT))


def test_closing_closes_all_of_them() -> None:
    own, other = fresh_store(), fresh_store()
    run_now(MountStores(own, [mounted(other)]).close())
    for store in (own, other):
        with pytest.raises(Misuse):
            run_now(store.read(MemoryPath.of(("a",))))
