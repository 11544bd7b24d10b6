"""Following the log: steps for a tree of files."""

from __future__ import annotations

from memoranda.stores.base import Put
from memoranda.stores.log.replay import TreeStep, tree_events
from memoranda.stores.log.store_log import Image
from memoranda.stores.log.turn import Turn
from tests.stores.log.rig import AGENT, Rig, TreeOfImages, append, move, p, put, remove


def steps(rig: Rig, after: int = 0) -> list[tuple[str | None, str | None, int | None]]:
    """From where, to where, and the content to be written there."""

    def spelled(step: TreeStep) -> tuple[str | None, str | None, int | None]:
        source = None if step.source is None else "/".join(step.source.names)
        target = None if step.target is None else "/".join(step.target.names)
        assert (step.content_seq is not None) is step.write
        return source, target, step.content_seq

    return [spelled(step) for step in tree_events(rig.log, after)]


def test_a_content_is_written_once_where_the_file_first_stays() -> None:
    rig = Rig()
    heads = rig.heads = TreeOfImages(rig.log)

    def work(turn: Turn) -> None:
        turn.run([put("/d/a", "one")], AGENT)
        turn.run([move("/d", "/e")], AGENT)
        turn.run([append("/e/a", b" two")], AGENT)
        turn.run([move("/e/a", "/b")], AGENT)

    rig.turn(work)
    (_, seq, _) = heads.calls[0]
    assert steps(rig) == [(None, "d/a", seq), ("d", "e", None), ("e/a", "b", None)]
    first = tree_events(rig.log, 0)[0]
    assert first.image == Image(101, 101_000)
    assert first.size == 7
    assert first.target is not None
    assert len(first.target.nodes) == len(first.target.names)
    assert first.target.nodes[-1] == first.node


def test_steps_begin_after_any_event() -> None:
    rig = Rig()
    rig.apply(put("/a", "one"))
    rig.apply(put("/b", "two"))
    at = rig.log.last_seq()
    rig.apply(move("/a", "/c"))
    rig.apply(remove("/b"))
    rig.apply(put("/c", "three"))
    assert steps(rig, at) == [("a", "c", 5), ("b", None, None)]
    assert steps(rig, rig.log.last_seq()) == []


def test_what_comes_and_goes_gives_no_steps() -> None:
    rig = Rig()
    rig.apply(put("/a"))
    rig.apply(put("/d/b"))
    rig.apply(remove("/a"))
    rig.apply(remove("/d"))
    assert steps(rig) == [("d", None, None)]
    assert not any(step.write for step in tree_events(rig.log, 0))


def test_a_content_that_is_removed_with_its_directory_is_not_written() -> None:
    rig = Rig()
    rig.apply(put("/d/a"), put("/b"))
    at = rig.log.last_seq()
    rig.apply(put("/d/a", "new"))
    rig.apply(move("/b", "/d/c"))
    rig.apply(remove("/d"))
    assert steps(rig, at) == [("b", "d/c", None), ("d", None, None)]


def test_a_file_that_comes_back_is_taken_away_before() -> None:
    rig = Rig()
    made = rig.one(put("/a"))
    rig.apply(put("/d/x"))
    gone = rig.one(put("/d/y"))
    at = rig.log.last_seq()
    rig.apply(remove("/a"))
    rig.apply(Put(p("/b"), b"back", keep_id=made.memory_id))
    rig.apply(remove("/d"))
    rig.apply(Put(p("/c"), b"back", keep_id=gone.memory_id))
    back, again = (one.seq for one in (rig.one(put("/b", "b")), rig.one(put("/c", "c"))))
    assert steps(rig, at) == [
        ("a", None, None),
        (None, "b", back),
        ("d", None, None),
        (None, "c", again),
    ]


def test_files_that_swap_places_take_their_steps_in_turn() -> None:
    rig = Rig()
    rig.apply(put("/a"), put("/b"))
    at = rig.log.last_seq()
    rig.apply(move("/a", "/t"), move("/b", "/a"), move("/t", "/b"))
    assert steps(rig, at) == [("a", "t", None), ("b", "a", None), ("t", "b", None)]
    rig.apply(put("/n"), put("/o"), move("/n", "/m"))
    assert steps(rig, at)[3:] == [(None, "n", 6), (None, "o", 7), ("n", "m", None)]


def test_late_versions_records_and_forgotten_files_give_no_steps() -> None:
    rig = Rig()
    rig.apply(put("/a"))
    at = rig.log.last_seq()

    def work(turn: Turn) -> None:
        node = turn.find(p("/a"))
        assert node is not None
        turn.add_late(node, b"late", AGENT)
        turn.audit(AGENT, rig.now)

    rig.turn(work)
    assert steps(rig, at) == []
    rig.db.execute("DELETE FROM node WHERE name = 'a'")
    assert steps(rig) == []


def test_blanked_names_give_no_place() -> None:
    rig = Rig()
    made = rig.one(put("/secret"))
    rig.apply(move("/secret", "/b"))
    rig.redact(made)
    assert steps(rig) == [(None, "b", 2)]


def test_a_directory_that_is_not_known_any_more_gives_no_place() -> None:
    rig = Rig()
    rig.apply(put("/d/e/a"))
    at = rig.log.last_seq()
    rig.apply(move("/d/e/a", "/b"))
    rig.db.execute("DELETE FROM node WHERE name = 'd/'")
    assert steps(rig, at) == [(None, "b", None)]
