"""Turns: what a folder needs besides plain commands, and what one batch makes of many changes."""

from __future__ import annotations

from typing import NoReturn

import pytest

from memoranda.errors import (
    AlreadyExists,
    Conflict,
    IsADirectory,
    Misuse,
    MovedNameTooLong,
    NotFound,
    ReadOnly,
    Unavailable,
    UnknownId,
)
from memoranda.stores.base import (
    Change,
    Context,
    Edit,
    Expect,
    IfContent,
    IfVersion,
    Put,
    Remove,
    Version,
    VersionFilter,
)
from memoranda.stores.log import bodies, history, lookup
from memoranda.stores.log.ids import memory_id
from memoranda.stores.log.store_log import NUMBER_BITS, Image
from memoranda.stores.log.turn import Turn
from memoranda.text.splice import Splice
from tests.stores.log.rig import (
    AGENT,
    START_NS,
    Rig,
    TreeOfImages,
    append,
    move,
    p,
    put,
    remove,
    splice,
)

PERSON = Context(actor="external")


def versions(rig: Rig) -> list[Version]:
    """All versions, newest first, with their contents."""
    return list(history.versions(rig.log, VersionFilter(), None, 1000, content=True).versions)


def said(rig: Rig) -> list[tuple[str, str, bytes | None]]:
    """Operation, path and content of all versions, newest first."""
    return [(one.operation, str(one.path)[9:], one.content) for one in versions(rig)]


# ---------------------------------------------------------------- one batch, one version


def test_content_and_path_in_one_batch_make_one_version() -> None:
    rig = Rig()
    rig.apply(put("/a", "one"))
    (version,) = rig.apply(put("/a", "two"), move("/a", "/b/c"))
    assert said(rig) == [("modified", "/b/c", b"two"), ("created", "/a", b"one")]
    assert version.id == versions(rig)[0].id
    (version,) = rig.apply(move("/b/c", "/d"), put("/d", "three"))
    assert (version.operation, version.size_bytes) == ("modified", 5)
    assert len(versions(rig)) == 3
    assert rig.codes() == []


def test_many_changes_of_one_memory_in_one_batch_make_one_version() -> None:
    rig = Rig()
    rig.apply(put("/a", "0123456789"))
    changed = rig.apply(
        splice("/a", 1, 2, b"A"), put("/b"), splice("/a", 8, 9, b"B"), append("/a", b"!")
    )
    assert [str(one.path) for one in changed] == ["/memories/a", "/memories/b"]
    assert said(rig)[:2] == [("created", "/b", b"x"), ("modified", "/a", b"0A234567B9!")]
    assert rig.codes() == []


def test_what_comes_and_goes_in_one_batch_leaves_nothing() -> None:
    rig = Rig()
    rig.apply(put("/keep"))
    before = rig.rows("SELECT id, parent, name FROM node ORDER BY id")
    assert rig.apply(put("/d/e/new"), remove("/d/e/new")) == ()
    assert rig.apply(put("/d/new"), put("/other"), remove("/d/new"), remove("/other")) == ()
    assert rig.rows("SELECT id, parent, name FROM node ORDER BY id") == before
    assert len(versions(rig)) == 1
    assert rig.codes() == []


def test_a_memory_that_is_there_and_back_is_unchanged() -> None:
    rig = Rig()
    first = rig.one(put("/d/a", "one"))
    assert rig.apply(move("/d/a", "/b"), move("/b", "/d/a")) == ()
    assert rig.apply(put("/d/a", "two"), put("/d/a", "one")) == ()
    assert rig.apply(move("/d", "/e"), move("/e", "/d")) == ()
    assert [one.id for one in versions(rig)] == [first.id]
    assert rig.codes() == []


def test_steps_that_others_stand_between_are_one_version_all_the_same() -> None:
    rig = Rig()
    rig.apply(put("/a", "A"), put("/b", "B"))
    rig.apply(move("/a", "/t"), move("/b", "/a"), move("/t", "/b"))
    assert said(rig)[:2] == [("modified", "/b", b"A"), ("modified", "/a", b"B")]
    rig.apply(put("/n", "N"), move("/a", "/c"), move("/n", "/m"))
    assert said(rig)[:2] == [("created", "/m", b"N"), ("modified", "/c", b"B")]
    rig.apply(move("/m", "/o"), move("/c", "/m"), remove("/o"))
    assert said(rig)[:2] == [("deleted", "/o", None), ("modified", "/m", b"B")]
    assert rig.codes() == []


def test_a_memory_made_and_moved_with_its_directory_is_made_there() -> None:
    rig = Rig()
    rig.apply(put("/d/a", "A"), move("/d", "/e"))
    assert said(rig) == [("created", "/e/a", b"A")]
    rig.apply(put("/f/b", "B"), move("/f/b", "/f/c"), move("/f", "/g"))
    assert said(rig)[0] == ("created", "/g/c", b"B")
    assert rig.codes() == []


def test_a_revival_undone_in_the_same_batch_never_was() -> None:
    rig = Rig()
    made = rig.one(put("/a", "one"))
    rig.apply(remove("/a"))
    back = Put(p("/b"), b"two", keep_id=made.memory_id)
    assert rig.apply(back, remove("/b")) == ()
    assert len(versions(rig)) == 2
    (version,) = rig.apply(back)
    assert (version.operation, version.memory_id) == ("created", made.memory_id)
    assert rig.codes() == []


def test_a_memory_removed_with_its_directory_can_come_back_elsewhere() -> None:
    rig = Rig()
    made = rig.one(put("/d/a", "one"))
    rig.apply(remove("/d"))
    rig.apply(Put(p("/a"), b"two", keep_id=made.memory_id))
    assert said(rig) == [
        ("created", "/a", b"two"),
        ("deleted", "/d/a", None),
        ("created", "/d/a", b"one"),
    ]
    assert rig.codes() == []


def test_a_directory_that_empties_and_fills_again_within_a_turn_is_one() -> None:
    rig = Rig()
    rig.apply(put("/d/a"))
    directory = rig.value("SELECT id FROM node WHERE name = 'd/'")

    def work(turn: Turn) -> None:
        turn.run([remove("/d/a")], AGENT)
        turn.run([put("/d/b")], AGENT)

    rig.turn(work)
    assert rig.rows("SELECT id, gone FROM node WHERE name = 'd/'") == [(directory, None)]
    assert rig.codes() == []


# ---------------------------------------------------------------- refusals


class Interrupted(BaseException):
    """What nobody catches."""


def test_a_refused_command_undoes_itself_and_nothing_else() -> None:
    rig = Rig()
    rig.apply(put("/d/a", "a"), put("/e/b", "b"))

    def work(turn: Turn) -> None:
        turn.run([put("/d/a", "A"), put("/new/c", "c")], AGENT)
        refused: tuple[list[Change], ...] = (
            [put("/d/a", "lost"), remove("/e/b"), move("/d", "/f"), remove("/none")],
            [remove("/new/c"), put("/new/d", "d"), put("/new/d/e")],
        )
        for bad in refused:
            with pytest.raises(Exception, match=r"does not exist|is a file"):
                turn.run(bad, AGENT)
        turn.run([append("/new/c", b"!"), append("/d/a", b"!")], AGENT)

    rig.turn(work)
    assert said(rig)[:4] == [
        ("modified", "/d/a", b"A!"),
        ("modified", "/new/c", b"c!"),
        ("created", "/new/c", b"c"),
        ("modified", "/d/a", b"A"),
    ]
    assert rig.codes() == []


def test_an_interrupt_amid_the_events_undoes_the_command(monkeypatch: pytest.MonkeyPatch) -> None:
    rig = Rig()
    rig.apply(put("/a", b"long enough for a delta" * 9), put("/b"))

    def work(turn: Turn) -> None:
        turn.run([put("/a", "whole again")], AGENT)
        version = Turn._version  # pyright: ignore[reportPrivateUsage]

        def interrupt(*_: object) -> NoReturn:
            raise Interrupted

        monkeypatch.setattr(Turn, "_version", interrupt)
        with pytest.raises(Interrupted):
            turn.run([put("/a", "and again, differently"), put("/c")], AGENT)
        monkeypatch.setattr(Turn, "_version", version)
        turn.run([put("/b", "goes on")], AGENT)

    rig.turn(work)
    assert [one[1:] for one in said(rig)] == [
        ("/b", b"goes on"),
        ("/a", b"whole again"),
        ("/b", b"x"),
        ("/a", b"long enough for a delta" * 9),
    ]
    assert rig.codes() == []


def test_an_archived_store_gives_up_memories_only() -> None:
    rig = Rig()
    rig.apply(put("/a"), put("/b"))

    def work(turn: Turn) -> None:
        for change in (put("/c"), put("/a", "y"), append("/a", b"y"), move("/a", "/c")):
            with pytest.raises(ReadOnly):
                turn.run([change], AGENT)
        turn.run([remove("/b")], AGENT)

    rig.turn(work, archived=True)
    assert lookup.usage(rig.log).files == 1


def test_an_edit_of_bytes_that_are_not_there_is_misuse() -> None:
    rig = Rig()
    rig.apply(put("/a", "abc"))
    for wrong in (Splice(-1, 1, b""), Splice(2, 1, b""), Splice(0, 4, b"")):
        with pytest.raises(Misuse):
            rig.apply(Edit(p("/a"), lambda old, wrong=wrong: wrong))  # type: ignore[misc]


def test_preconditions_hold_for_every_kind_of_change() -> None:
    rig = Rig()
    old = rig.one(put("/a", "one"))
    new = rig.one(put("/a", "two"))
    rig.apply(put("/d/x"))
    assert new.sha256 is not None
    cases: list[tuple[Change, type[Exception]]] = [
        (Edit(p("/a"), lambda _: Splice(0, 0, b"x"), IfVersion(old.id)), Conflict),
        (Edit(p("/a"), lambda _: Splice(0, 0, b"x"), IfContent("0" * 64)), Conflict),
        (Edit(p("/a"), lambda _: Splice(0, 0, b"x"), Expect.ABSENT), AlreadyExists),
        (Put(p("/d"), b"", IfVersion(new.id)), IsADirectory),
        (Remove(p("/d"), IfVersion(new.id)), IsADirectory),
        (Remove(p("/n"), IfContent(new.sha256)), NotFound),
        (Put(p("/n"), b"", IfContent(new.sha256)), NotFound),
        (Put(p("/n"), b"", keep_id="mem_nobody"), UnknownId),
        (Put(p("/a"), b"", keep_id=rig.one(put("/o")).memory_id), AlreadyExists),
        (Put(p("/q"), b"", keep_id=new.memory_id), AlreadyExists),
    ]
    for change, error in cases:
        with pytest.raises(error):
            rig.apply(change)
    rig.apply(Put(p("/a"), b"three", IfVersion(new.id), keep_id=new.memory_id))
    assert lookup.read(rig.log, p("/a"), 0, None).data == b"three"


def test_the_id_of_a_directory_revives_nothing() -> None:
    rig = Rig()
    rig.apply(put("/d/x"))
    directory = rig.value("SELECT id FROM node WHERE name = 'd/'")
    assert isinstance(directory, int)
    with pytest.raises(UnknownId):
        rig.apply(Put(p("/q"), b"", keep_id=memory_id(rig.log, directory)))


# ---------------------------------------------------------------- what a folder does


def test_a_tree_is_asked_once_for_each_file_and_its_images_are_kept() -> None:
    rig = Rig()
    heads = rig.heads = TreeOfImages(rig.log)

    def work(turn: Turn) -> None:
        turn.run([put("/a", "one"), put("/gone", "x")], AGENT)
        turn.run([append("/a", b" two")], AGENT)
        turn.run([move("/a", "/b"), remove("/gone")], AGENT)

    rig.turn(work)
    assert [(what, data) for what, _, data in heads.calls] == [("store", b"one two")]
    ((ino, mtime, body),) = rig.rows("SELECT ino, mtime, body FROM node WHERE name = 'b'")
    assert (ino, mtime) == (101, 101_000)
    assert heads.calls[0][1] == body
    assert rig.rows("SELECT seq, ino, mtime FROM event WHERE ino IS NOT NULL") == [
        (body, 101, 101_000)
    ]
    rig.apply(remove("/b"))
    assert [what for what, _, _ in heads.calls] == ["store", "drop"]


def test_contents_beneath_a_removed_directory_are_not_stored() -> None:
    rig = Rig()
    heads = rig.heads = TreeOfImages(rig.log)
    rig.apply(put("/d/a", "one"))
    rig.apply(put("/d/a", "two"), put("/d/b"), remove("/d"))
    assert [data for _, _, data in heads.calls] == [b"one"]
    assert rig.codes() == []


def test_text_that_lies_in_the_tree_is_adopted_with_its_image() -> None:
    rig = Rig()
    heads = rig.heads = TreeOfImages(rig.log)
    rig.apply(put("/a", "one"))

    def work(turn: Turn) -> None:
        (changed,) = turn.adopt(put("/a", "a person's"), Image(7, 8), PERSON)
        (made,) = turn.adopt(put("/n/b", "new"), Image(9, 10), PERSON)
        assert (changed.operation, made.operation) == ("modified", "created")
        assert turn.adopt(put("/n/b", "new"), Image(11, 12), PERSON) == ()

    rig.turn(work)
    assert len(heads.calls) == 1
    assert rig.rows("SELECT name, ino, mtime FROM node WHERE ino IS NOT NULL ORDER BY name") == [
        ("a", 7, 8),
        ("b", 11, 12),
    ]
    rig.turn(lambda turn: turn.adopt(put("/a", "a person's"), Image(13, 14), PERSON))
    assert rig.rows("SELECT ino, mtime FROM node WHERE name = 'a'") == [(13, 14)]
    assert len(versions(rig)) == 3
    assert versions(rig)[0].actor == "external"

    def changes_it_again(turn: Turn) -> None:
        turn.adopt(put("/a", "once more"), Image(15, 16), PERSON)
        turn.run([append("/a", b"!")], AGENT)

    rig.turn(changes_it_again)
    assert heads.calls[-1][2] == b"once more!"
    assert rig.codes() == []


def test_a_refused_adoption_undoes_itself() -> None:
    rig = Rig()
    rig.apply(put("/d/x"))

    def work(turn: Turn) -> None:
        with pytest.raises(IsADirectory):
            turn.adopt(put("/d"), Image(1, 2), PERSON)

    assert rig.turn(work).is_idle


def test_an_image_can_change_alone() -> None:
    rig = Rig()
    rig.apply(put("/a"))

    def work(turn: Turn) -> None:
        assert turn.is_idle
        node = turn.find(p("/a"))
        assert node is not None
        turn.set_image(node, Image(5, 6))
        assert not turn.is_idle

    rig.turn(work)
    assert rig.rows("SELECT ino, mtime FROM node WHERE name = 'a'") == [(5, 6)]

    def with_new_text(turn: Turn) -> None:
        turn.run([put("/a", "new")], AGENT)
        node = turn.find(p("/a"))
        assert node is not None
        turn.set_image(node, Image(7, 8))

    rig.turn(with_new_text)
    assert rig.rows("SELECT ino, mtime FROM node WHERE name = 'a'") == [(7, 8)]
    assert len(versions(rig)) == 2


def test_a_late_version_is_in_history_and_never_head() -> None:
    rig = Rig()
    rig.apply(put("/d/a", "one"))
    rig.apply(put("/d/a", "two"))
    late: list[Version] = []

    def work(turn: Turn) -> None:
        node = turn.find(p("/d/a"))
        assert node is not None
        late.append(turn.add_late(node, b"a person's", PERSON))
        turn.run([move("/d", "/e")], AGENT)

    rig.turn(work)
    rig.apply(append("/e/a", b"!"))
    assert said(rig) == [
        ("modified", "/e/a", b"two!"),
        ("modified", "/e/a", b"two"),
        ("modified", "/d/a", b"a person's"),
        ("modified", "/d/a", b"two"),
        ("created", "/d/a", b"one"),
    ]
    assert [one.late for one in versions(rig)] == [False, False, True, False, False]
    assert late[0].id == versions(rig)[2].id
    assert late[0].late
    assert lookup.read(rig.log, p("/e/a"), 0, None).data == b"two!"
    assert rig.codes() == []


def test_who_removed_what_was_at_a_path_is_known() -> None:
    rig = Rig()
    first = rig.one(put("/d/a"))
    rig.apply(put("/d/b"))
    rig.turn(lambda turn: turn.run([remove("/d/a")], PERSON))

    def work(turn: Turn) -> None:
        assert turn.last_removed(p("/d/a")) == (first.memory_id, "external")
        assert turn.last_removed(p("/d/b")) is None
        assert turn.last_removed(p("/d/b/c")) is None
        assert turn.last_removed(p("/none/a")) is None

    rig.turn(work)


def test_a_turn_tells_where_nodes_are() -> None:
    rig = Rig()
    rig.apply(put("/d/a"))

    def work(turn: Turn) -> None:
        node = turn.find(p("/d/a"))
        assert node is not None
        assert turn.path_of(node) == p("/d/a")
        turn.run([move("/d", "/e")], AGENT)
        assert turn.path_of(node) == p("/e/a")
        assert turn.find(p("/d/a")) is None
        turn.run([remove("/e")], AGENT)
        assert turn.path_of(node) is None

    rig.turn(work)


# ---------------------------------------------------------------- time, audit, numbers


def test_times_never_go_back_and_records_take_theirs_as_far_as_order_allows() -> None:
    rig = Rig()
    rig.apply(put("/a"))
    rig.now = START_NS - 10**9
    rig.apply(put("/a", "y"))
    rig.now = START_NS + 10**9

    def work(turn: Turn) -> None:
        turn.audit(Context(command="view", audit={"path": "/a"}), START_NS + 5)
        turn.audit(Context(command="view"), START_NS - 5)
        turn.audit(Context(command="view"), START_NS + 10**12)
        turn.run([put("/b")], AGENT)

    rig.turn(work)
    assert rig.rows("SELECT at, node IS NULL, audit FROM event ORDER BY seq") == [
        (START_NS, 0, None),
        (START_NS, 0, None),
        (START_NS + 5, 1, '{"path":"/a"}'),
        (START_NS + 5, 1, None),
        (START_NS + 10**9, 1, None),
        (START_NS + 10**9, 0, None),
    ]
    assert [one.path for one in versions(rig)] == [p("/b"), p("/a"), p("/a")]
    assert rig.codes() == []


def test_use_is_noted_without_a_version() -> None:
    rig = Rig()
    rig.apply(put("/d/a"))

    def work(turn: Turn) -> None:
        for path in ("/d/a", "/d", "/none"):
            turn.touch(p(path), 77)

    rig.turn(work)
    assert rig.rows("SELECT name, used FROM node WHERE used IS NOT NULL") == [("a", 77)]
    assert len(versions(rig)) == 1


def test_the_draft_of_the_audit_is_kept_with_the_first_event_of_a_command() -> None:
    rig = Rig()
    rig.apply(put("/a"), put("/b"), by=Context(audit={"n": 2}, trace_id="t"))
    assert rig.rows("SELECT audit, trace, batch FROM event ORDER BY seq") == [
        ('{"n":2}', "t", 1),
        (None, "t", 1),
    ]


def test_a_store_that_used_up_its_numbers_says_so() -> None:
    rig = Rig()
    rig.apply(put("/a"))
    rig.db.execute("UPDATE event SET seq = ?", (2**NUMBER_BITS - 1,))
    with pytest.raises(Unavailable):
        rig.apply(put("/b"))


def test_stores_in_one_database_keep_to_their_own_numbers() -> None:
    rig = Rig(3)
    other = Rig(4)
    del other
    rig.apply(put("/a", "one"))
    first = rig.value("SELECT min(seq) FROM event")
    assert first == (3 << NUMBER_BITS) + 1
    assert versions(rig)[0].seq == 1
    rig.log.erase()
    for table in ("node", "event", "store"):
        assert rig.value(f"SELECT count(*) FROM {table}") == 0
    with pytest.raises(UnknownId):
        lookup.usage(rig.log)


# ---------------------------------------------------------------- bodies


def test_deltas_end_after_thirty_one_or_when_they_are_half_the_content() -> None:
    rig = Rig()
    rig.apply(put("/a", b"0" * 1000))
    for number in range(40):
        rig.apply(splice("/a", number, number + 1, b"x"))
    whole = [seq for (seq,) in rig.rows("SELECT seq FROM event WHERE base IS NULL ORDER BY seq")]
    assert whole == [1, 33]
    rig.apply(put("/a", b"1" * 300 + b"0" * 700), splice("/a", 0, 400, b"z" * 400))
    rig.apply(splice("/a", 400, 600, b"y" * 200))
    newest = rig.rows("SELECT base IS NULL, length(body) FROM event ORDER BY seq DESC LIMIT 2")
    assert newest == [(1, 1000), (0, 400)]
    assert rig.codes() == []


def test_large_contents_lie_in_pieces_and_edits_write_only_theirs() -> None:
    rig = Rig()
    large = b"".join(b"%07d\n" % number for number in range(60_000))
    rig.apply(put("/a", large))
    assert rig.value("SELECT count(*) FROM piece") == 8
    rig.apply(splice("/a", 200_000, 200_003, b"abc"))
    assert rig.value("SELECT count(*) FROM head_piece") == 8
    rig.apply(splice("/a", 300_000, 300_003, b"def"))
    longer = b"longer" * 20_000
    rig.apply(splice("/a", 400_000, 400_000, longer))
    wanted = bytearray(large)
    wanted[200_000:200_003] = b"abc"
    wanted[300_000:300_003] = b"def"
    wanted[400_000:400_000] = longer
    assert lookup.read(rig.log, p("/a"), 0, None).data == wanted
    assert lookup.read(rig.log, p("/a"), 399_990, 30).data == wanted[399_990:400_020]
    assert lookup.read(rig.log, p("/a"), 10**9, 30).data == b""
    assert rig.codes() == []
    rig.apply(put("/a", "small"))
    assert rig.value("SELECT count(*) FROM head_piece") == 0
    rig.apply(splice("/a", 0, 1, b"S"))
    assert lookup.read(rig.log, p("/a"), 0, None).data == b"Small"
    rig.apply(put("/a", large))
    rig.apply(splice("/a", 0, 1, b"X"))
    assert rig.codes() == []
    rig.apply(splice("/a", 20, len(large), b""))
    assert rig.value("SELECT count(*) FROM head_piece") == 0
    rig.apply(splice("/a", 20, 20, b""))
    rig.apply(remove("/a"))
    assert rig.value("SELECT count(*) FROM head") == 0
    assert rig.codes() == []


def test_any_content_can_be_had_from_the_log_alone() -> None:
    rig = Rig()
    contents = [b"line\n" * 100]
    rig.apply(put("/a", contents[0]))
    for number in range(70):
        contents.append(contents[-1][: number * 3] + b"%d" % number + contents[-1][number * 3 :])
        rig.apply(put("/a", contents[-1]))
    rig.db.execute("DELETE FROM head")
    assert [bodies.content(rig.log, seq) for seq in range(1, 72)] == contents


def test_a_refused_command_after_an_audit_entry_leaves_the_counters_right() -> None:
    rig = Rig()
    rig.apply(put("/a"), put("/d/b"))

    def work(turn: Turn) -> None:
        turn.audit(AGENT, rig.now)
        with pytest.raises(IsADirectory):
            turn.run([put("/a", "new"), put("/d", "refused")], AGENT)

    rig.turn(work)
    assert rig.codes() == []


def test_what_is_changed_and_removed_in_one_batch_is_removed_once() -> None:
    rig = Rig()
    rig.apply(put("/a", "1"))
    rig.apply(put("/a", "2"), remove("/a"))
    assert said(rig) == [("deleted", "/a", None), ("created", "/a", b"1")]
    assert rig.codes() == []


def test_a_directory_from_which_the_long_names_are_gone_has_room_again() -> None:
    rig = Rig()
    long = "x" * 250
    rig.apply(put(f"/d/e/{long}/{long}/{long}"), put("/d/e/short"))
    rig.apply(put("/far/a"))
    with pytest.raises(MovedNameTooLong):
        rig.apply(move("/d", f"/far/{long}/{long}"))
    rig.apply(remove(f"/d/e/{long}"))
    rig.apply(move("/d", f"/far/{long}/{long}"))
    assert said(rig)[0] == ("modified", f"/far/{long}/{long}/e/short", b"x")
    assert rig.codes() == []


def test_room_is_measured_by_what_the_batch_left_in_the_directory() -> None:
    rig = Rig()
    long = "x" * 250
    far = f"/far/{long}/{long}"
    rig.apply(put(f"/d/e/{long}/{long}/{long}"), put("/d/e/short"))
    rig.apply(remove(f"/d/e/{long}"), put("/d/e/new/a"), move("/d", far))
    assert sorted(path for _, path, _ in said(rig)[:3]) == [
        f"/d/e/{long}/{long}/{long}",
        f"{far}/e/new/a",
        f"{far}/e/short",
    ]
    rig.apply(move(far, "/d"))
    with pytest.raises(MovedNameTooLong):
        rig.apply(put(f"/d/e/new/{long}/{long}/{long}"), move("/d", far))
    assert rig.codes() == []


def test_a_directory_that_was_made_for_nothing_is_not_written() -> None:
    rig = Rig()
    rig.apply(put("/keep"), put("/d/x"), remove("/d/x"))
    assert rig.rows("SELECT name FROM node ORDER BY name") == [("",), ("keep",)]
    rig.apply(put("/d/x", "y"))
    assert said(rig) == [("created", "/d/x", b"y"), ("created", "/keep", b"x")]
    assert rig.codes() == []
