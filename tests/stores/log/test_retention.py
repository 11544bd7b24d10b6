"""What goes, what stays, and that what stays still hangs together."""

from __future__ import annotations

import pytest

from memoranda.errors import UnknownId
from memoranda.stores.base import Context, Moment, Put, Retention, VersionFilter
from memoranda.stores.log import history, holds, lookup, retention, time_travel
from memoranda.stores.log.retention import DAY_NS, Thinning
from memoranda.stores.log.sql_heads import SqlHeads
from memoranda.stores.log.turn import Turn
from tests.stores.log.rig import AGENT, START_NS, Rig, append, move, p, put, remove, splice

KEEP = Retention(keep_days=10, keep_newest=3)


class Keeper(Rig):
    """A rig whose retention works only when told."""

    def thin(
        self, keep: Retention = KEEP, after: int | None = None, *, before_ns: int | None = None
    ) -> None:
        """One turn's share of the work."""
        self.db.execute("BEGIN IMMEDIATE")
        files = [number for (number,) in self.db.execute("SELECT id FROM node WHERE files IS NULL")]
        before = self.now if before_ns is None else before_ns
        Thinning(self.log, keep, self.now, before, after).run(files, sweep=True)
        self.db.execute("COMMIT")

    def days_pass(self, days: float) -> None:
        """Time goes by."""
        self.now += int(days * DAY_NS)

    def history_of(self, path: str) -> list[bytes | None]:
        """The contents of the versions that were ever at a path, newest first."""
        found = history.versions(self.log, VersionFilter(path=p(path)), None, 10**6, content=True)
        return [version.content for version in found.versions]

    @property
    def count(self) -> int:
        """How many events there are, without those that say what went."""
        return number_in(self, "SELECT count(*) FROM event WHERE command <> 'retention'")


def number_in(rig: Rig, query: str) -> int:
    """The one number that a query gives."""
    value = rig.value(query)
    assert isinstance(value, int)
    return value


def unlike(number: int) -> bytes:
    """A short content that has no end in common with the next."""
    return bytes([65 + number % 50]) * (2 + number // 50)


def edited(rig: Rig, path: str, times: int) -> None:
    """Put ``times`` contents that share nothing, so that each is whole."""
    for number in range(times):
        rig.apply(put(path, unlike(number)))


def test_what_is_young_stays() -> None:
    rig = Keeper()
    edited(rig, "/a", 30)
    rig.days_pass(9)
    rig.thin()
    assert len(rig.history_of("/a")) == 30


def test_of_old_versions_the_newest_stay_and_the_head_for_ever() -> None:
    rig = Keeper()
    edited(rig, "/a", 30)
    rig.apply(put("/b", "once"))
    rig.days_pass(11)
    rig.apply(put("/c", "now"))
    rig.thin()
    assert rig.history_of("/a") == [unlike(29), unlike(28), unlike(27)]
    assert rig.history_of("/b") == [b"once"]
    assert rig.codes() == []
    assert lookup.usage(rig.log).versions == 5
    for _ in range(3):
        rig.thin()
    assert rig.count == 5


def test_nothing_goes_where_history_is_kept_for_ever() -> None:
    rig = Keeper()
    edited(rig, "/a", 30)
    rig.days_pass(10_000)
    rig.thin(Retention(keep_days=0, keep_newest=1))
    assert len(rig.history_of("/a")) == 30


def test_the_state_at_the_edge_of_the_time_that_is_kept_stays_whole() -> None:
    rig = Keeper()
    edited(rig, "/a", 10)
    rig.days_pass(11)
    edited(rig, "/a", 2)
    rig.days_pass(9)
    edited(rig, "/a", 4)
    rig.thin()
    assert rig.history_of("/a")[-3:] == [unlike(1), unlike(0), unlike(9)]
    (page,) = [time_travel.page(rig.log, rig.log.base + 10, p("/"), 0, None, 10)]
    assert [str(entry.path) for entry in page.entries] == ["/memories/a"]
    with pytest.raises(UnknownId):
        time_travel.page(rig.log, rig.log.base + 9, p("/"), 0, None, 10)


def test_only_whole_stretches_go_so_that_deltas_keep_what_they_stand_on() -> None:
    rig = Keeper()
    rig.apply(put("/a", b"0" * 1000))
    for number in range(70):
        rig.apply(splice("/a", number, number + 1, b"x"))
    rig.days_pass(11)
    rig.apply(put("/b"))
    rig.thin()
    assert rig.value("SELECT count(*) FROM event WHERE node = 1") == 7
    assert rig.codes() == []
    rig.apply(splice("/a", 0, 1, b"y"))
    assert rig.codes() == []


def test_a_budget_lets_the_oldest_go_before_their_time() -> None:
    rig = Keeper()
    for number in range(40):
        rig.apply(put(f"/{number % 4}", b"%d" % number * 500))
    keep = Retention(keep_days=10, keep_newest=3, budget_bytes=25_000)
    rig.thin(keep)
    assert lookup.usage(rig.log).history_bytes <= 25_000
    assert rig.codes() == []
    rig.thin(Retention(keep_days=10, keep_newest=3, budget_bytes=1))
    assert all(len(rig.history_of(f"/{number}")) == 3 for number in range(4))
    assert rig.codes() == []


def test_a_removed_memory_is_forgotten_once_its_removal_is_old() -> None:
    rig = Keeper()
    edited(rig, "/d/a", 5)
    rig.days_pass(11)
    rig.apply(remove("/d/a"))
    rig.apply(put("/b"))
    rig.thin()
    assert len(rig.history_of("/d/a")) > 1
    rig.days_pass(11)
    rig.apply(put("/b", "y"))
    rig.thin()
    assert rig.history_of("/d/a") == []
    assert rig.rows("SELECT name FROM node ORDER BY name") == [("",), ("b",)]
    assert rig.codes() == []


def test_a_removed_directory_is_forgotten_with_all_beneath_it() -> None:
    rig = Keeper()
    for number in range(20):
        rig.apply(put(f"/d/{number % 3}/{number}", b"x" * 100_000))
        rig.apply(splice(f"/d/{number % 3}/{number}", 0, 1, b"y"))
    rig.apply(move("/d/0/0", "/kept"))
    rig.apply(move("/d", "/e"))
    rig.apply(remove("/e"))
    rig.days_pass(11)
    rig.apply(put("/now"))
    rig.thin()
    assert rig.rows("SELECT name FROM node WHERE files IS NULL ORDER BY name") == [
        ("kept",),
        ("now",),
    ]
    assert [str(v.path) for v in history.versions(
        rig.log, VersionFilter(), None, 100, content=False).versions] == [
        "/memories/now",
        "/memories/kept",
        "/memories/d/0/0",
        "/memories/d/0/0",
    ]  # fmt: skip
    assert rig.value("SELECT count(*) FROM head_piece WHERE node NOT IN (SELECT id FROM node)") == 0
    assert rig.codes() == []
    edited(rig, "/kept", 5)
    rig.days_pass(11)
    rig.apply(put("/now", "again"))
    rig.thin()
    assert rig.rows("SELECT name FROM node WHERE files IS NOT NULL") == [("",)]
    assert rig.codes() == []


def test_much_to_forget_is_spread_over_turns(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(retention, "MOST_DROPPED", 8)
    rig = Keeper()
    rig.apply(*(put(f"/d/{number % 2}/{number}") for number in range(30)))
    rig.apply(remove("/d"))
    rig.days_pass(11)
    rig.apply(put("/now"))
    left: list[int] = []
    while rig.value("SELECT count(*) FROM node") != 2:
        rig.thin()
        left.append(rig.count)
        assert rig.codes() == []
    assert len(left) >= 4


def test_old_records_go_and_so_does_what_a_gone_history_named() -> None:
    rig = Keeper()
    rig.apply(put("/a"))
    rig.turn(lambda turn: turn.audit(Context(command="view"), rig.now))
    rig.apply(put("/a", "y"))
    rig.days_pass(11)
    rig.apply(put("/a", "z"))
    rig.thin()
    assert rig.value("SELECT count(*) FROM event WHERE command = 'view'") == 0
    assert rig.codes() == []


def test_the_newest_event_stays_however_old() -> None:
    rig = Keeper()
    rig.apply(put("/a"))
    rig.apply(remove("/a"))
    rig.days_pass(1000)
    for _ in range(3):
        rig.thin()
    assert rig.count == 2
    assert rig.codes() == []
    rig.turn(lambda turn: turn.audit(AGENT, rig.now))
    rig.thin()
    assert rig.count == 1


def test_events_that_are_not_on_disk_yet_stay() -> None:
    rig = Keeper()
    edited(rig, "/a", 10)
    durable = rig.log.last_seq()
    edited(rig, "/a", 10)
    rig.apply(put("/d/b"))
    rig.apply(remove("/d"))
    rig.days_pass(11)
    rig.apply(put("/c"))
    rig.thin(after=durable)
    assert rig.count == 10 + 3
    rig.thin()
    assert rig.count == 3 + 1
    assert rig.codes() == []


@pytest.mark.fault("ROW-16")
def test_a_jump_of_the_clock_forgets_nothing_at_once() -> None:
    rig = Keeper()
    edited(rig, "/a", 10)
    rig.days_pass(1000)
    rig.thin(before_ns=START_NS)
    assert len(rig.history_of("/a")) == 10


def test_turns_thin_what_they_lengthen_and_sweep_now_and_then() -> None:
    rig = Keeper()

    def turn_with(path: str, content: bytes) -> None:
        rig.db.execute("BEGIN IMMEDIATE")
        turn = Turn(rig.log, SqlHeads(rig.log), rig.now)
        turn.run([put(path, content)], AGENT)
        turn.finish(KEEP)
        rig.db.execute("COMMIT")

    for number in range(200):
        turn_with("/hot", unlike(number))
        rig.days_pass(1)
    assert len(rig.history_of("/hot")) <= 14
    rig.apply(put("/cold", "x"))
    rig.apply(remove("/cold"))
    for number in range(200):
        turn_with("/hot", unlike(number))
        rig.days_pass(1)
    assert rig.history_of("/cold") == []
    assert number_in(rig, "SELECT count(*) FROM event") < 40
    assert rig.codes() == []


def test_the_policy_of_a_command_goes_before_the_backends() -> None:
    rig = Keeper()
    edited(rig, "/a", 80)
    for _ in range(2):
        rig.days_pass(0.9)
        rig.apply(put("/b", f"{rig.now}"))
    by = Context(retention=Retention(keep_days=1, keep_newest=2))
    rig.db.execute("BEGIN IMMEDIATE")
    turn = Turn(rig.log, SqlHeads(rig.log), rig.now)
    turn.run([put("/a", "last")], by)
    turn.finish(KEEP)
    rig.db.execute("COMMIT")
    assert rig.history_of("/a") == [b"last", unlike(79)]


def test_memories_that_came_back_keep_their_history_in_one_chain() -> None:
    rig = Keeper()
    made = rig.one(put("/a", "one"))
    rig.apply(remove("/a"))
    for number in range(6):
        rig.apply(Put(p("/a"), b"%d" % number, keep_id=made.memory_id))
        rig.apply(remove("/a"))
    rig.apply(Put(p("/a"), b"back", keep_id=made.memory_id))
    rig.days_pass(11)
    rig.apply(put("/b"))
    rig.thin()
    assert rig.history_of("/a") == [b"back", None, b"5"]
    assert rig.codes() == []


def test_a_moment_before_all_that_is_kept_is_unknown_and_one_after_is_whole() -> None:
    rig = Keeper()
    edited(rig, "/a", 10)
    rig.apply(append("/a", b"!"))
    rig.days_pass(11)
    rig.apply(put("/b"))
    rig.thin()
    at = history.moment(rig.log, rig.now)
    assert at == Moment(13)
    assert len(time_travel.page(rig.log, rig.log.base + 12, p("/"), 0, None, 10).entries) == 2


def test_a_removed_memory_that_is_held_is_not_forgotten_until_the_hold_is_lifted() -> None:
    rig = Keeper()
    rig.apply(put("/d/a"))
    rig.turn(lambda turn: holds.put(turn, p("/d"), "a case", AGENT))
    rig.apply(remove("/d/a"))
    rig.days_pass(11)
    rig.apply(put("/b"))
    rig.thin()
    assert rig.history_of("/d/a") == [None, b"x"]
    rig.turn(lambda turn: holds.lift(turn, p("/d"), AGENT))
    rig.db.execute("UPDATE node SET swept = 0 WHERE id = 0")
    rig.thin()
    assert rig.history_of("/d/a") == []
    assert rig.codes() == []


def test_a_removal_that_is_not_on_disk_yet_keeps_its_memory_over_any_budget() -> None:
    rig = Keeper()
    rig.apply(put("/a", b"x" * 1000))
    durable = rig.log.last_seq()
    rig.apply(remove("/a"))
    rig.apply(put("/b"))
    tight = Retention(budget_bytes=1)
    rig.thin(tight, durable)
    assert rig.history_of("/a") == [None, b"x" * 1000]
    rig.thin(tight)
    assert rig.history_of("/a") == []
    assert rig.codes() == []


def test_an_event_whose_row_is_missing_does_not_stop_the_sweep() -> None:
    rig = Keeper()
    rig.apply(put("/lost"))
    edited(rig, "/a", 10)
    rig.db.execute("DELETE FROM node WHERE name = 'lost'")
    rig.days_pass(11)
    rig.apply(put("/b"))
    rig.thin()
    assert len(rig.history_of("/a")) == 3


def test_what_an_old_entry_says_of_a_blank_does_not_come_after_what_a_newer_one_says() -> None:
    rig = Keeper()
    versions = [rig.one(put("/a", content)) for content in "abcdefgh"]
    rig.redact(versions[5])
    rig.days_pass(6)
    rig.redact(versions[4])
    rig.days_pass(6)
    for _ in range(3):
        rig.apply(put("/b", f"{rig.now}"))
        rig.thin()
    assert rig.rows("SELECT 1 FROM event WHERE audit LIKE '%dropped%'")
    assert rig.codes() == []
