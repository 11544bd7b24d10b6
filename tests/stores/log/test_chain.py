"""The hash chain: whoever takes an entry away, changes one or cuts the end is found out."""

from __future__ import annotations

import json
import random

import pytest

from memoranda.stores.audit import AuditHead
from memoranda.stores.base import Context, Retention
from memoranda.stores.log import chain, events
from memoranda.stores.log.gone import Gone, draft_of
from memoranda.stores.log.retention import DAY_NS, Thinning
from tests.stores.log.rig import AGENT, Rig, move, p, put, remove

VIEW = Context(command="view", audit={"path": "/memories/a", "outcome": "ok"})


def used() -> Rig:
    """Changes, views, a redaction, and a retention that took some."""
    rig = Rig()
    for number in range(8):
        rig.apply(put("/a", bytes([65 + number]) * (number + 1)))
        rig.apply(put("/b", bytes([75 + number]) * (number + 2)))
        rig.turn(lambda turn: turn.audit(VIEW, rig.now))
    rig.now += 40 * DAY_NS
    secret = rig.one(put("/a", "hush"))
    rig.apply(put("/a", "clean"))
    rig.apply(move("/a", "/c"))
    thin(rig)
    rig.redact(secret)
    rig.turn(lambda turn: turn.audit(VIEW, rig.now))
    assert found(rig) == []
    assert rig.codes() == []
    return rig


def thin(rig: Rig) -> None:
    keep = Retention(keep_days=30, keep_newest=3)
    rig.db.execute("BEGIN IMMEDIATE")
    files = [number for (number,) in rig.db.execute("SELECT id FROM node WHERE files IS NULL")]
    Thinning(rig.log, keep, rig.now, rig.now).run(files, sweep=True)
    rig.db.execute("COMMIT")


def found(rig: Rig, *anchors: AuditHead) -> list[str]:
    return sorted({problem.code for problem in chain.verify(rig.log, anchors).problems})


def seqs(rig: Rig) -> list[int]:
    return [seq for (seq,) in rig.db.execute("SELECT seq FROM event ORDER BY seq")]


def head(rig: Rig) -> AuditHead:
    return chain.verify(rig.log, ()).head


def hide(rig: Rig, seq: int) -> None:
    """Take an entry away as retention does, counters and all, without the entry that says so."""
    event = events.load(rig.log, seq)
    rig.db.execute(
        "UPDATE node SET history = history - ?, versions = versions - ? WHERE id = 0",
        (events.stored_bytes(rig.log, event), event.node is not None),
    )
    rig.db.execute("DELETE FROM event WHERE seq = ?", (seq,))
    following = rig.value("SELECT min(seq) FROM event WHERE seq > ?", seq)
    rig.db.execute(
        "UPDATE event SET link = ? WHERE link IS NULL AND seq = ?", (event.chain, following)
    )


def test_each_entry_that_is_taken_away_is_missed() -> None:
    rig = used()
    for seq in seqs(rig):
        rig.db.execute("BEGIN")
        rig.db.execute("DELETE FROM event WHERE seq = ?", (seq,))
        assert found(rig) != [], seq
        rig.db.execute("ROLLBACK")


def test_each_entry_that_is_taken_away_as_retention_does_it_is_missed() -> None:
    rig = used()
    for seq in seqs(rig)[:-1]:
        rig.db.execute("BEGIN")
        hide(rig, seq)
        assert found(rig) != [], seq
        rig.db.execute("ROLLBACK")


VALUES = ("batch", "node", "op", "late", "at", "actor", "command", "trace", "oparent", "oname",
          "parent", "name", "size", "sha", "audit", "chain", "link", "digest")  # fmt: skip


@pytest.mark.parametrize("column", VALUES)
def test_each_value_of_each_entry_that_is_changed_is_noticed(column: str) -> None:
    rig = used()
    other: object = b"x" * 32 if column in {"sha", "chain", "link", "digest"} else 10**18 + 7
    for seq in seqs(rig):
        rig.db.execute("BEGIN")
        rig.db.execute(f"UPDATE event SET {column} = ? WHERE seq = ?", (other, seq))
        assert found(rig) != [], (column, seq)
        rig.db.execute("ROLLBACK")


def test_what_a_redaction_left_can_not_be_changed_behind_its_digest() -> None:
    rig = used()
    blanked = [seq for (seq,) in rig.db.execute("SELECT seq FROM event WHERE digest IS NOT NULL")]
    assert blanked
    for seq in blanked:
        for what in ("redacted_by = 'nobody'", "redacted_at = NULL", "oname = 'x'", "size = 5"):
            rig.db.execute("BEGIN")
            rig.db.execute(f"UPDATE event SET {what} WHERE seq = ?", (seq,))
            assert found(rig) == ["blank"], what
            rig.db.execute("ROLLBACK")


def test_what_is_blanked_without_an_entry_that_says_so_is_noticed() -> None:
    rig = used()
    seq = rig.value("SELECT max(seq) FROM event WHERE command = 'view'")
    assert isinstance(seq, int)
    digest = events.digest_of(rig.log, events.load(rig.log, seq))
    rig.db.execute("UPDATE event SET digest = ?, audit = NULL WHERE seq = ?", (digest, seq))
    assert found(rig) == ["blank"]


def test_entries_in_another_order_are_noticed() -> None:
    rig = used()
    generator = random.Random(7)
    kept = seqs(rig)
    for _ in range(30):
        one, other = generator.sample(kept, 2)
        rig.db.execute("BEGIN")
        for old, new in ((one, -1), (other, one), (-1, other)):
            rig.db.execute("UPDATE event SET seq = ? WHERE seq = ?", (new, old))
        assert found(rig) != []
        rig.db.execute("ROLLBACK")


def test_an_end_that_is_cut_off_is_missed_by_the_counters_and_by_an_anchor_without_them() -> None:
    rig = used()
    for _ in range(3):
        rig.turn(lambda turn: turn.audit(VIEW, rig.now))
    anchor = head(rig)
    rig.turn(lambda turn: turn.audit(VIEW, rig.now))
    assert found(rig, anchor) == []
    for more in range(1, 4):
        rig.db.execute("BEGIN")
        rig.db.execute("DELETE FROM event WHERE seq > ?", (anchor.seq - more,))
        assert found(rig) == ["counter"]
        assert found(rig, anchor) == ["counter", "cut"]
        hidden = 200 * (more + 1)
        rig.db.execute("UPDATE node SET history = history - ? WHERE id = 0", (hidden,))
        assert found(rig) == []
        assert found(rig, anchor) == ["cut"]
        rig.db.execute("ROLLBACK")


def test_an_end_that_was_written_anew_is_another_one_than_its_anchor_says() -> None:
    rig = used()
    anchor = head(rig)
    rig.db.execute("DELETE FROM event WHERE seq = ?", (anchor.seq,))
    rig.db.execute("UPDATE node SET history = history - 200 WHERE id = 0")
    rig.turn(lambda turn: turn.audit(AGENT, rig.now))
    assert found(rig) == []
    assert found(rig, anchor) == ["anchor"]


def test_an_anchor_of_an_entry_that_retention_took_is_no_finding() -> None:
    rig = Rig()
    rig.apply(put("/a"))
    anchor = head(rig)
    rig.apply(remove("/a"))
    rig.apply(put("/b"))
    rig.now += 40 * DAY_NS
    thin(rig)
    assert rig.value("SELECT count(*) FROM event WHERE seq = ?", anchor.seq) == 0
    assert found(rig, anchor) == []


def test_an_anchor_of_an_entry_that_never_was_is_a_finding() -> None:
    rig = Rig()
    rig.apply(put("/d/a"))
    rig.apply(put("/d/b"))
    kept = seqs(rig)
    missing = next(seq for seq in range(1, max(kept)) if seq not in kept)
    assert found(rig, AuditHead(rig.log.id, missing, "00" * 32)) == ["anchor"]


def test_the_head_of_an_empty_store_has_no_number() -> None:
    rig = Rig()
    assert head(rig) == AuditHead("memstore_0", 0, "00" * 32)
    assert found(rig, head(rig)) == []


def test_what_was_said_of_gone_entries_is_said_on_when_the_entry_that_said_it_goes() -> None:
    rig = used()
    for _ in range(5):
        rig.now += 40 * DAY_NS
        rig.apply(put("/b", str(rig.now)))
        thin(rig)
        assert found(rig) == []
    assert rig.value("SELECT count(*) FROM event WHERE command = 'redact'") == 0
    assert rig.value("SELECT count(*) FROM event WHERE command = 'retention'") == 1


def test_gaps_that_overlap_are_one_and_gaps_that_touch_are_two() -> None:
    gone = Gone()
    gone.dropped += [(5, 7), (0, 2), (7, 9), (1, 4), (4, 5), (8, 11)]
    assert gone.between() == [(0, 4), (4, 5), (5, 7), (7, 11)]


@pytest.mark.parametrize("text", ["{", "[]", '{"dropped": 5}', '{"blanked": [1]}'])
def test_an_entry_that_can_not_be_read_is_a_finding(text: str) -> None:
    rig = Rig()
    rig.apply(put("/a"))
    rig.turn(lambda turn: turn.audit(VIEW, rig.now))
    rig.db.execute("UPDATE event SET audit = ? WHERE node IS NULL", (text,))
    event = events.load(rig.log, rig.log.last_seq())
    link = events.load(rig.log, event.seq - 1).chain
    rig.db.execute(
        "UPDATE event SET chain = ? WHERE seq = ?",
        (events.chained(rig.log, event, link), event.seq),
    )
    assert found(rig) == ["draft"]


def test_a_draft_comes_back_as_it_was() -> None:
    assert draft_of(None) == {}
    assert draft_of(json.dumps({"path": "/memories/\n"})) == {"path": "/memories/\n"}
    assert p("/a").name == "a"
