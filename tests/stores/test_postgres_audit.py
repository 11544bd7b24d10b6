"""PostgreSQL: the audit notices meddling and explains what went; paths are erased; operators' lists."""

from __future__ import annotations

from pathlib import Path

import psycopg
import pytest

from memoranda import Memory
from memoranda.drive import run_now
from memoranda.errors import Unsupported
from memoranda.stores.base import Context, Put, Retention, Store
from memoranda.stores.postgres.backend import PostgresBackend
from memoranda.testing.promises.steps import history, p
from tests.stores.postgres_server import database, url_for

AGENT = Context(actor="agent", command="test")
DAY_NS = 86_400 * 10**9
NAME = "Qn47-nor-this-name"
SECRET = "Zx81-this-text-must-go"
PATH = f"/memories/d/{NAME}.md"


class Clock:
    """Goes on when it is told."""

    now = 1_900_000_000 * 10**9

    def __call__(self) -> int:
        self.now += 1000
        return self.now


def write(store: Store, path: str, n: int) -> None:
    for number in range(n):
        run_now(store.apply([Put(p(path), b"%d" % number)], AGENT))


def test_what_retention_lets_go_is_said_again_and_again_but_for_what_is_held(
    tmp_path: Path,
) -> None:
    clock = Clock()
    retention = Retention(keep_days=2, keep_newest=1)
    backend = PostgresBackend(url_for(tmp_path), clock=clock, retention=retention)
    store = run_now(backend.for_user("acme"))
    write(store, "/a.md", 20)
    write(store, "/held/b.md", 10)
    run_now(store.hold(p("/held"), "a court asks", AGENT))
    run_now(store.redact(run_now(history(store))[-1].id, AGENT))
    for _ in range(8):
        clock.now += DAY_NS
        write(store, "/c.md", 50)
        assert run_now(store.verify_audit()).problems == ()
    paths = [str(version.path) for version in run_now(history(store))]
    assert paths.count("/memories/held/b.md") == 10
    assert paths.count("/memories/a.md") == 1
    said = [one for one in run_now(store.audit(0, 10_000)) if one.actor == "retention"]
    assert said
    assert said[0].seq > 100  # those before it went, too
    ((newest,),) = database().rows("SELECT max(seq) FROM memoranda.event WHERE actor = 'retention'")
    # Without the entry that says so, what went is missing.
    database().change(f"UPDATE memoranda.event SET audit = '{{}}' WHERE seq = {newest}")
    codes = {problem.code for problem in run_now(store.verify_audit()).problems}
    assert {"chain", "gap"} <= codes
    run_now(backend.close())


@pytest.mark.parametrize(
    ("meddling", "code"),
    [
        ("UPDATE memoranda.event SET actor = 'nobody' WHERE seq = 2", "chain"),
        ("UPDATE memoranda.event SET audit = '{}' WHERE command = 'noted'", "chain"),
        ("DELETE FROM memoranda.event WHERE seq = 2", "chain"),
        (
            """WITH gone AS (DELETE FROM memoranda.event WHERE seq = 2 RETURNING chain)
            UPDATE memoranda.event SET link = gone.chain FROM gone WHERE seq = 3""",
            "gap",
        ),
        (
            "UPDATE memoranda.event SET digest = decode(repeat('00', 32), 'hex') WHERE seq = 2",
            "blank",
        ),
        ("DELETE FROM memoranda.event WHERE seq > 2", "chain"),
    ],
)
def test_meddling_is_noticed(tmp_path: Path, meddling: str, code: str) -> None:
    with Memory.open(url_for(tmp_path), user="acme") as memory:
        for number in range(3):
            memory.write("/memories/a.md", f"{number}")
        for _ in range(3):
            memory.execute({"command": "view", "path": "/memories/a.md"})
        anchor = memory.verify_audit().head
        assert memory.verify_audit(anchors=[anchor]).ok
        database().change(meddling)
        report = memory.verify_audit(anchors=[anchor])
        assert code in {problem.code for problem in report.problems}


def test_an_end_that_was_cut_off_with_its_state_is_told_by_an_anchor(tmp_path: Path) -> None:
    with Memory.open(url_for(tmp_path), user="acme") as memory:
        memory.write("/memories/a.md", "1")
        memory.write("/memories/b.md", "2")
        anchor = memory.verify_audit().head
        database().change(
            "UPDATE memoranda.state SET (seq, chain) = (SELECT seq, chain FROM memoranda.event"
            f" WHERE seq = {anchor.seq - 1})"
        )
        database().change(f"DELETE FROM memoranda.event WHERE seq = {anchor.seq}")
        codes = {problem.code for problem in memory.verify_audit(anchors=[anchor]).problems}
        assert "cut" in codes


def test_views_are_few_rows_and_a_change_is_one(tmp_path: Path) -> None:
    with Memory.open(url_for(tmp_path), user="acme") as memory:
        memory.write("/memories/a.md", "1")
        for _ in range(100):
            memory.execute({"command": "view", "path": "/memories/a.md"})
        memory.write("/memories/a.md", "2")
        assert len(memory.audit(after=0, limit=1000)) == 102
        ((rows,),) = database().rows("SELECT count(*) FROM memoranda.event")
        assert rows <= 2 + 4


def test_nothing_of_an_erased_path_is_left_in_any_row(tmp_path: Path) -> None:
    with Memory.open(url_for(tmp_path), user="acme") as memory:
        memory.write(PATH, f"old {SECRET}")
        memory.write(PATH, f"new {SECRET}")
        memory.move(PATH, f"{PATH}.moved")
        memory.move(f"{PATH}.moved", PATH)
        memory.write("/memories/keep.md", "kept")
        memory.execute({"command": "view", "path": PATH})
        memory.execute({"command": "view", "path": f"{PATH}/none"})
        memory.audit()  # what waits is written
        assert any(NAME.encode() in value for value in database().everything())
        assert memory.erase_path(PATH) >= 3
        assert memory.erase_path(f"{PATH}.moved") >= 1
        assert memory.read("/memories/keep.md").text == "kept"
        assert memory.verify().ok
        assert memory.verify_audit().ok
        values = database().everything()
    assert not any(text.encode() in value for value in values for text in (SECRET, NAME))


def test_only_who_owns_the_schema_lists_workspaces(tmp_path: Path) -> None:
    url_for(tmp_path)
    app, owner = PostgresBackend(database().url), PostgresBackend(database().owner)
    for workspace in ("w2", "w1"):
        store = run_now(app.for_user("acme", workspace))
        run_now(store.apply([Put(p("/a.md"), b"x")], AGENT))
    with pytest.raises(Unsupported):
        run_now(app.workspaces())
    assert run_now(owner.workspaces()) == ("w1", "w2")
    # The word alone opens nothing to an application, and to the owner no store's rows.
    for url, seen in ((database().url, 0), (database().owner, 2)):
        with psycopg.connect(url) as connection:
            connection.execute("SELECT set_config('memoranda.operator', 'workspaces', true)")
            rows = connection.execute("SELECT count(*) FROM memoranda.store").fetchall()
            assert rows == [(seen,)]
            assert connection.execute("SELECT count(*) FROM memoranda.memory").fetchone() == (0,)
            assert connection.execute("DELETE FROM memoranda.store").rowcount == 0
    run_now(app.close())
    run_now(owner.close())
