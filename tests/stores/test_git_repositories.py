"""What people see of a store with the real git program, and what becomes of what they push."""

from __future__ import annotations

import os
import threading
from collections.abc import Generator, Mapping
from pathlib import Path

import pytest

from memoranda import Memory, Policy
from memoranda.drive import run_now
from memoranda.errors import Corrupt, Misuse, NotFound, StoreExists, Unavailable, Unsupported
from memoranda.stores.base import Context, Edit, Origin, Put, Store, VersionFilter
from memoranda.stores.git import repository, writer
from memoranda.stores.git.backend import GitBackend
from memoranda.stores.git.log import LOG_REF
from memoranda.stores.git.objects import Id
from memoranda.stores.open import open_backend
from memoranda.stores.ram import RamBackend
from memoranda.testing.promises.steps import append, history, p, put, read, remove, tree
from tests.stores.fork import in_a_child
from tests.stores.git_rig import check, git, in_memory
from tests.stores.histories import live_through, picture
from tests.stores.test_copying import copied

AGENT = Context(actor="agent", command="test")


@pytest.fixture
def home() -> Generator[Path]:
    with in_memory() as directory:
        yield directory


@pytest.fixture
def backend(home: Path) -> Generator[GitBackend]:
    backend = GitBackend(home)
    yield backend
    run_now(backend.close())


@pytest.fixture
def store(backend: GitBackend) -> Store:
    store = run_now(backend.for_user("acme"))
    run_now(put(store, "/notes/a.md", b"one\n"))
    return store


@pytest.fixture
def bare(home: Path) -> Path:
    return home / "stores" / "acme.git"


@pytest.fixture
def clone(store: Store, home: Path, bare: Path) -> Path:
    git(home, "clone", "-q", str(bare), "clone")
    return home / "clone"


def push(clone: Path, message: str = "by hand") -> None:
    git(clone, "add", "-A")
    git(clone, "commit", "-qm", message)
    git(clone, "push", "-q", "origin", "HEAD:main")


# ---- what people see


def test_a_clone_has_the_memories_and_the_log_says_who_did_what(home: Path, bare: Path) -> None:
    with Memory.open(f"git://{home}", user="acme", actor="agent") as memory:
        memory.execute({"command": "create", "path": "/memories/a.md", "file_text": "one\n"})
        memory.execute(
            {"command": "str_replace", "path": "/memories/a.md", "old_str": "one", "new_str": "two"}
        )
        memory.write("/memories/d/b.md", "hello\n")
    git(home, "clone", "-q", str(bare), "clone")
    assert (home / "clone" / "a.md").read_text() == "two\n"
    assert (home / "clone" / "d" / "b.md").read_text() == "hello\n"
    assert git(home / "clone", "log", "--format=%an|%s", "--", "a.md").splitlines() == [
        "agent|str_replace /a.md",
        "agent|create /a.md",
    ]
    seen = git(bare, "diff", "main~2", "main~1")
    assert "-one" in seen
    assert "+two" in seen
    assert git(bare, "for-each-ref", "--format=%(refname)").split() == ["refs/heads/main", LOG_REF]
    assert git(home / "clone", "for-each-ref", "--format=%(refname)").split() == [
        "refs/heads/main",
        "refs/remotes/origin/HEAD",
        "refs/remotes/origin/main",
    ]
    check(bare)
    check(home / "control.git")


def test_no_text_forges_a_line_of_a_commit(store: Store, bare: Path) -> None:
    evil = "x\nauthor Eve <eve@example.com> 0 +0000\n\nActor: root <>"
    context = Context(actor=evil, command=evil, trace_id=evil)
    run_now(store.apply([Put(p("/b.md"), b"b")], context))
    said = git(bare, "cat-file", "commit", "main")
    assert [line.partition(" ")[0] for line in said.splitlines()][:4] == [
        "tree",
        "parent",
        "author",
        "committer",
    ]
    header, _, message = said.partition("\n\n")
    assert len(header.splitlines()) == 4
    assert [line for line in message.splitlines() if line.startswith("Actor:")] == [
        "Actor: " + evil.replace("\n", "\\n")
    ]
    check(bare)


def test_names_that_git_gives_a_meaning_to_are_escaped_in_the_tree(
    store: Store, bare: Path
) -> None:
    hostile = b'[submodule "x"]\n\tpath = x\n\turl = --upload-pack=touch\n'
    for name in (".gitmodules", ".GitAttributes", "gitmod~1", "%.gitmodules", ".git-notes", "%x"):
        run_now(put(store, f"/{name}", hostile))
    assert git(bare, "ls-tree", "--name-only", "main").splitlines() == [
        "%%.gitmodules",
        "%.GitAttributes",
        "%.git-notes",
        "%.gitmodules",
        "%gitmod~1",
        "%x",
        "notes",
    ]
    assert run_now(read(store, "/.gitmodules")) == hostile
    check(bare)
    assert run_now(store.verify()).problems == ()


def test_a_mirror_is_a_whole_copy_of_the_store(
    backend: GitBackend, store: Store, home: Path, bare: Path
) -> None:
    run_now(put(store, "/notes/a.md", b"two\n"))
    before = run_now(history(store, content=True))
    git(home, "clone", "-q", "--mirror", str(bare), "mirror.git")
    run_now(backend.close())
    bare.rename(home / "old")
    (home / "mirror.git").rename(bare)
    again = GitBackend(home)
    mirrored = run_now(again.for_user("acme"))
    assert run_now(history(mirrored, content=True)) == before
    run_now(put(mirrored, "/b.md", b"b"))
    assert run_now(mirrored.verify()).problems == ()
    run_now(again.close())


def test_git_may_pack_and_collect_at_any_time(store: Store, bare: Path) -> None:
    for turn in range(12):
        run_now(put(store, "/notes/a.md", b"%d" % turn))
        if turn % 4 == 3:
            git(bare, "gc", "-q", "--prune=now")
            assert not (bare / "refs" / "heads" / "main").exists()
    assert len(run_now(history(store, content=True))) == 13
    assert run_now(store.verify()).problems == ()
    check(bare)


def test_packs_do_not_pile_up(store: Store, bare: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for turn in range(200):
        run_now(put(store, f"/notes/{turn % 7}.md", b"%d" % turn))
        assert len(list((bare / "objects" / "pack").glob("*.pack"))) < 64
    assert git(bare, "count-objects").startswith("0 objects")
    check(bare)
    assert len(run_now(store.versions(limit=500)).versions) == 201
    assert run_now(store.verify()).problems == ()


def test_two_packers_do_not_meet(store: Store, bare: Path) -> None:
    import fcntl

    for turn in range(repository.PACK_MANY - 2):
        run_now(put(store, "/notes/a.md", b"%d" % turn))
    with open(bare / "memoranda-packing", "w") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        for turn in range(40):
            run_now(put(store, "/notes/b.md", b"%d" % turn))
        assert len(list((bare / "objects" / "pack").glob("*.pack"))) > repository.PACK_MANY
    for turn in range(writer.TIDY_EVERY):
        run_now(put(store, "/notes/c.md", b"%d" % turn))
    assert len(list((bare / "objects" / "pack").glob("*.pack"))) <= writer.TIDY_EVERY
    check(bare)


# ---- what git can't do


def test_redaction_is_refused_before_anything_starts(home: Path) -> None:
    with Memory.open(f"git://{home}", user="acme") as memory:
        memory.write("/memories/a.md", "old")
        memory.write("/memories/a.md", "new")
        old = memory.history("/memories/a.md")[-1]
        with pytest.raises(Unsupported):
            memory.redact(old.id)
        assert memory.version(old.id).content == b"old"


def test_an_erased_store_leaves_no_repository_and_no_name(
    backend: GitBackend, store: Store, home: Path
) -> None:
    run_now(put(run_now(backend.for_user("other")), "/a.md", b"kept"))
    run_now(backend.erase(store.id, AGENT))
    assert sorted(os.listdir(home / "stores")) == ["other.git"]
    objects = git(home / "control.git", "cat-file", "--batch-all-objects", "--batch-check")
    every = "".join(
        git(home / "control.git", "cat-file", "-p", line.split()[0])
        for line in objects.splitlines()
        if line.split()[1] == "blob"
    )
    assert "acme" not in every
    assert "other" in every
    check(home / "control.git")


def test_what_an_erasure_left_behind_goes_with_the_next_one(
    backend: GitBackend, store: Store, home: Path
) -> None:
    (home / "stores" / ".erased-x").mkdir()
    run_now(backend.erase(store.id, AGENT))
    assert os.listdir(home / "stores") == []


def test_a_repository_of_nobody_is_not_written_over(
    backend: GitBackend, store: Store, home: Path, bare: Path
) -> None:
    run_now(backend.close())
    bare.rename(home / "stores" / "globex.git")
    again = GitBackend(home)
    with pytest.raises(Corrupt):
        run_now(put(run_now(again.for_user("globex")), "/b.md", b"b"))
    assert run_now(again.find_user("globex")) is None
    run_now(again.close())


def test_a_repository_that_somebody_died_making_is_made_anew(
    backend: GitBackend, store: Store, home: Path
) -> None:
    made = run_now(backend.create("x"))
    (path,) = (home / "stores").glob("memstore*")
    path.rename(home / "stores" / "globex.git")
    (home / "stores" / ".making-x").mkdir()
    other = run_now(backend.for_user("globex"))
    run_now(put(other, "/b.md", b"b"))
    assert other.id != made.id
    assert sorted(os.listdir(home / "stores")) == ["acme.git", "globex.git"]


# ---- what people push


def test_a_push_becomes_versions_by_external_that_keep_their_ids(
    store: Store, clone: Path, bare: Path
) -> None:
    made = run_now(store.stat(p("/notes/a.md")))
    run_now(put(store, "/gone.md", b"gone"))
    git(clone, "pull", "-q")
    (clone / "notes" / "a.md").write_text("by hand\n")
    (clone / "new.md").write_text("new\n")
    (clone / "gone.md").unlink()
    push(clone)
    pushed = git(clone, "rev-parse", "HEAD").strip()
    assert run_now(read(store, "/notes/a.md")) == b"by hand\n"
    assert run_now(tree(store)) == {"/new.md": b"new\n", "/notes/a.md": b"by hand\n"}
    assert run_now(store.stat(p("/notes/a.md"))).memory_id == made.memory_id
    mine = run_now(store.versions(VersionFilter(actor="external"))).versions
    assert sorted((version.operation, str(version.path)) for version in mine) == [
        ("created", "/memories/new.md"),
        ("deleted", "/memories/gone.md"),
        ("modified", "/memories/notes/a.md"),
    ]
    assert {version.trace_id for version in mine} == {pushed}
    assert git(bare, "rev-parse", "main").strip() == pushed
    run_now(put(store, "/notes/a.md", b"agent again\n"))
    assert git(bare, "rev-parse", "main~1").strip() == pushed
    assert run_now(store.verify()).problems == ()
    check(bare)


def test_a_pushed_rename_keeps_the_id(store: Store, clone: Path) -> None:
    made = run_now(store.stat(p("/notes/a.md")))
    (clone / "deep").mkdir()
    (clone / "notes" / "a.md").rename(clone / "deep" / "b.md")
    push(clone)
    assert run_now(store.stat(p("/deep/b.md"))).memory_id == made.memory_id
    with pytest.raises(NotFound):
        run_now(read(store, "/notes/a.md"))


def test_a_file_may_be_pushed_where_a_directory_was_and_the_other_way_round(
    store: Store, clone: Path
) -> None:
    run_now(put(store, "/b.md", b"file\n"))
    git(clone, "pull", "-q")
    (clone / "notes" / "a.md").rename(clone / "x.md")
    (clone / "notes").rmdir()
    (clone / "b.md").rename(clone / "notes")
    (clone / "b.md").mkdir()
    (clone / "b.md" / "c.md").write_text("below\n")
    push(clone)
    assert run_now(tree(store)) == {
        "/x.md": b"one\n",
        "/notes": b"file\n",
        "/b.md/c.md": b"below\n",
    }
    assert run_now(store.verify()).problems == ()


def test_what_no_memory_can_be_stays_in_the_branch_and_out_of_the_store(
    store: Store, clone: Path, bare: Path
) -> None:
    (clone / "link").symlink_to("/etc/passwd")
    (clone / "notes" / "up").symlink_to("../..")
    (clone / "back\\slash").write_text("x")
    (clone / " space").write_text("x")
    (clone / os.fsdecode(b"not-utf8-\xff")).write_text("x")
    (clone / ".gitattributes").write_text("* text\n")
    (clone / "run.sh").write_text("#!/bin/sh\n")
    (clone / "run.sh").chmod(0o755)
    push(clone)
    wanted = {"/notes/a.md": b"one\n", "/run.sh": b"#!/bin/sh\n"}
    assert run_now(tree(store)) == wanted
    for path in ("/link", "/link/x", "/notes/up/x"):
        with pytest.raises(NotFound):
            run_now(read(store, path))
    run_now(put(store, "/.gitattributes", b"mine"))
    run_now(remove(store, "/notes"))
    report = run_now(store.verify())
    assert report.problems == ()
    assert {note.code for note in report.notes} == {"foreign"}
    names = git(bare, "ls-tree", "-r", "--name-only", "main").splitlines()
    assert {"link", "notes/up", ".gitattributes", "%.gitattributes"} <= set(names)
    run_now(put(store, "/link", b"a memory now"))
    run_now(put(store, "/notes/up/deeper.md", b"so is this"))
    assert run_now(read(store, "/link")) == b"a memory now"
    assert run_now(store.verify()).problems == ()
    check(bare)


def test_a_push_into_a_store_that_has_no_memory_yet_is_its_beginning(
    backend: GitBackend, home: Path
) -> None:
    info = run_now(backend.create("team"))
    (bare,) = (home / "stores").glob("*.git")
    git(home, "init", "-q", "-b", "main", "work")
    git(home / "work", "remote", "add", "origin", str(bare))
    (home / "work" / "a.md").write_text("first\n")
    push(home / "work")
    store = run_now(backend.open(info.id))
    assert run_now(tree(store)) == {"/a.md": b"first\n"}
    check(bare)


def test_a_push_that_changes_no_memory_is_followed(store: Store, clone: Path, bare: Path) -> None:
    git(clone, "commit", "-q", "--allow-empty", "-m", "nothing")
    git(clone, "push", "-q", "origin", "HEAD:main")
    before = run_now(history(store))
    run_now(put(store, "/notes/a.md", b"two\n"))
    assert git(bare, "log", "--format=%s", "main").splitlines() == [
        "test /notes/a.md",
        "nothing",
        "test /notes/a.md",
    ]
    assert len(run_now(history(store))) == len(before) + 1


def test_an_old_clone_has_to_pull_before_it_pushes(store: Store, clone: Path, bare: Path) -> None:
    run_now(put(store, "/notes/a.md", b"by the agent\n"))
    (clone / "notes" / "a.md").write_text("by hand\n")
    with pytest.raises(AssertionError, match="rejected"):
        push(clone)
    with pytest.raises(AssertionError, match=r"denying|rejected|denied"):
        git(clone, "push", "-q", "--force", "origin", "HEAD:main")
    with pytest.raises(AssertionError, match=r"hidden|rejected|deny"):
        git(clone, "push", "-q", "origin", f"HEAD:{LOG_REF}")
    with pytest.raises(AssertionError, match=r"deletion|rejected"):
        git(clone, "push", "-q", "origin", ":main")
    assert run_now(read(store, "/notes/a.md")) == b"by the agent\n"


def test_a_branch_that_was_moved_aside_by_hand_is_merged_and_nothing_is_lost(
    store: Store, clone: Path, bare: Path
) -> None:
    (clone / "notes" / "b.md").write_text("by hand\n")
    (clone / "notes" / "c.md").write_text("both, by hand\n")
    git(clone, "add", "-A")
    git(clone, "commit", "-qm", "by hand")
    run_now(put(store, "/agent.md", b"by the agent\n"))
    run_now(put(store, "/notes/c.md", b"both, by the agent\n"))
    git(bare, "fetch", "-q", str(clone), "+main:main")
    assert run_now(tree(store)) == {
        "/notes/a.md": b"one\n",
        "/notes/b.md": b"by hand\n",
        "/notes/c.md": b"both, by hand\n",
        "/agent.md": b"by the agent\n",
    }
    both = run_now(store.versions(VersionFilter(path=p("/notes/c.md")), content=True)).versions
    assert [version.content for version in both] == [b"both, by hand\n", b"both, by the agent\n"]
    assert len(git(bare, "log", "-1", "--format=%P", "main").split()) == 2
    assert run_now(store.verify()).problems == ()
    check(bare)


def test_a_branch_that_was_moved_back_by_hand_goes_forward_again(store: Store, bare: Path) -> None:
    run_now(put(store, "/b.md", b"b"))
    last = git(bare, "rev-parse", "main")
    git(bare, "update-ref", "refs/heads/main", "main~1")
    assert run_now(read(store, "/b.md")) == b"b"
    run_now(put(store, "/c.md", b"c"))
    assert git(bare, "rev-parse", "main~1") == last
    git(bare, "update-ref", "-d", "refs/heads/main")
    run_now(put(store, "/d.md", b"d"))
    assert sorted(run_now(tree(store))) == ["/b.md", "/c.md", "/d.md", "/notes/a.md"]
    assert git(bare, "rev-parse", "main~2") == last


def test_a_push_amid_a_batch_comes_first_and_the_batch_is_done_on_it(
    store: Store, clone: Path, bare: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (clone / "notes" / "a.md").write_text("by hand\n")
    save = repository.Repository.save
    pushes = [True]

    def save_after_a_push(self: repository.Repository, new: Mapping[Id, tuple[int, bytes]]) -> None:
        if pushes:
            pushes.clear()
            push(clone)
        save(self, new)

    monkeypatch.setattr(repository.Repository, "save", save_after_a_push)
    run_now(store.apply([Edit(p("/notes/a.md"), append(b"and the agent\n"))], AGENT))
    assert run_now(read(store, "/notes/a.md")) == b"by hand\nand the agent\n"
    assert git(bare, "log", "--format=%an", "main").split() == ["agent", "Ada", "agent"]
    check(bare)


def test_a_store_that_is_pushed_to_all_the_time_is_unavailable(
    store: Store, bare: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    save = repository.Repository.save

    def save_after_a_push(self: repository.Repository, new: Mapping[Id, tuple[int, bytes]]) -> None:
        save(self, new)
        tree = git(bare, "rev-parse", "main^{tree}").strip()
        made = git(bare, "commit-tree", tree, "-p", "main", "-m", "again").strip()
        git(bare, "update-ref", "refs/heads/main", made)

    monkeypatch.setattr(writer, "MOST_TRIES", 3)
    monkeypatch.setattr(repository.Repository, "save", save_after_a_push)
    with pytest.raises(Unavailable):
        run_now(put(store, "/b.md", b"b"))
    monkeypatch.undo()
    assert sorted(run_now(tree(store))) == ["/notes/a.md"]
    run_now(put(store, "/b.md", b"b"))
    assert run_now(store.verify()).problems == ()


@pytest.mark.full
def test_people_may_push_while_agents_write(store: Store, clone: Path, bare: Path) -> None:
    run_now(put(store, "/all.md", b""))
    stop = threading.Event()
    done: list[int] = []

    def write() -> None:
        while not stop.wait(0.2):  # a pull and a push fit in between, now and then
            for _ in range(3):
                run_now(store.apply([Edit(p("/all.md"), append(b"a\n"))], AGENT))
                done.append(1)

    agent = threading.Thread(target=write)
    agent.start()
    try:
        for turn in range(2):
            (clone / f"{turn}.md").write_text(f"{turn}\n")
            git(clone, "add", "-A")
            git(clone, "commit", "-qm", f"push {turn}")
            while not _pushed(clone):
                git(clone, "pull", "-q", "--rebase")
    finally:
        stop.set()
        agent.join()
    found = run_now(tree(store))
    assert found["/all.md"] == b"a\n" * len(done)
    assert {"/0.md", "/1.md"} <= set(found)
    assert run_now(store.verify()).problems == ()
    check(bare)


def _pushed(clone: Path) -> bool:
    try:
        git(clone, "push", "-q", "origin", "HEAD:main")
    except AssertionError:
        return False
    return True


# ---- locks and forks


def test_a_lock_that_a_dead_writer_left_is_broken_at_once(store: Store, bare: Path) -> None:
    mine = git(bare, "rev-parse", "main")
    (bare / "refs" / "heads" / "main.lock").write_text(mine)
    (bare / LOG_REF).with_name("log.lock").write_text("")
    run_now(put(store, "/b.md", b"b"))
    assert git(bare, "log", "-1", "--format=%s", "main").strip() == "test /b.md"


def test_a_lock_of_gits_own_is_waited_for_but_not_for_ever(
    store: Store, bare: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lock = bare / "refs" / "heads" / "main.lock"
    lock.write_text("")
    waits: list[float] = []

    def wait(seconds: float) -> None:
        waits.append(seconds)
        if len(waits) == 3:
            lock.unlink()

    monkeypatch.setattr(writer, "pause", wait)
    run_now(put(store, "/b.md", b"b"))
    assert len(waits) == 3
    lock.write_text("")
    monkeypatch.setattr(writer, "PUSH_SECONDS", 0.0)
    run_now(put(store, "/c.md", b"c"))
    assert not lock.exists()


def test_a_child_of_a_fork_writes_beside_its_parent(store: Store, bare: Path) -> None:
    def work() -> None:
        run_now(put(store, "/child.md", b"c"))
        assert run_now(read(store, "/notes/a.md")) == b"one\n"

    run_now(store.record(Context(command="view")))
    assert in_a_child(work) == 0
    run_now(put(store, "/parent.md", b"p"))
    assert sorted(run_now(tree(store))) == ["/child.md", "/notes/a.md", "/parent.md"]
    assert run_now(store.verify()).problems == ()


def test_many_stores_in_turn_do_not_use_up_descriptors(backend: GitBackend) -> None:
    before = len(os.listdir("/proc/self/fd"))
    for number in range(60):
        run_now(put(run_now(backend.for_user(f"user{number}")), "/a.md", b"x"))
    assert len(os.listdir("/proc/self/fd")) < before + 20


# ---- damage


def test_a_damaged_content_is_told_and_never_given(store: Store, bare: Path) -> None:
    run_now(store.close())
    for file in (bare / "objects" / "pack").iterdir():
        data = bytearray(file.read_bytes())
        if file.suffix == ".pack":
            for at in range(12, len(data) - 20):
                data[at] ^= 0x55
            file.write_bytes(data)
    again = GitBackend(bare.parent.parent)
    other = run_now(again.for_user("acme"))
    with pytest.raises(Corrupt):
        run_now(read(other, "/notes/a.md"))
    run_now(again.close())


@pytest.mark.parametrize("url", ["git:relative", "git://host/path", "git:///", "git:"])
def test_a_url_that_names_no_directory_is_refused(url: str) -> None:
    with pytest.raises(Misuse, match="git:///"):
        open_backend(url)


def test_a_closed_store_is_misuse(store: Store, backend: GitBackend) -> None:
    run_now(store.close())
    with pytest.raises(Misuse):
        run_now(read(store, "/notes/a.md"))
    run_now(backend.close())
    with pytest.raises(Misuse):
        run_now(backend.for_user("acme"))
    with pytest.raises(Misuse):
        run_now(backend.info(store.id))


def test_a_history_goes_into_git_and_comes_back_equal(backend: GitBackend, home: Path) -> None:
    lived = run_now(backend.for_user("ada"))
    run_now(live_through(lived, 1, 40))
    first = run_now(picture(lived))
    other = RamBackend()
    copied(backend, other)
    again = GitBackend(home / "again")
    copied(other, again)
    store = run_now(again.for_user("ada"))
    assert run_now(picture(store)) == first
    assert store.id == lived.id
    assert run_now(store.verify()).problems == ()
    assert run_now(store.verify_audit()).problems == ()
    check(home / "again" / "stores" / "ada.git")
    assert run_now(again.workspaces()) == ("default",)
    run_now(put(store, "/after", b"goes on"))
    info = run_now(again.info(store.id))
    with pytest.raises(StoreExists):
        run_now(again.take_up(info, Origin(bytes(32), 0, AGENT)))
    run_now(again.close())


def test_policies_and_restore_work_over_it(home: Path) -> None:
    with Memory.open(f"git://{home}", user="acme", policy=Policy()) as memory:
        memory.write("/memories/a.md", "one")
        memory.write("/memories/a.md", "two")
        first = memory.history("/memories/a.md")[-1]
        memory.restore("/memories/a.md", to=first.id)
        assert memory.read("/memories/a.md").content == b"one"
        assert memory.search("one")
        assert memory.usage().files == 1
        assert memory.verify().ok
