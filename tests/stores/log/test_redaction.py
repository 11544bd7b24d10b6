"""Redaction: what goes with a version, what has to stay, and that no byte is left."""

from __future__ import annotations

import pytest

from memoranda.errors import NotRedactable, UnknownId
from memoranda.stores.base import Context, Put, Version, VersionFilter
from memoranda.stores.log import history, lookup, redaction
from memoranda.stores.log.turn import Turn
from tests.stores.log.rig import AGENT, OFFICER, Rig, append, move, p, put, remove, splice

SECRET = b"hush-Qx7Zr0-hush"


def redact(rig: Rig, version: Version) -> Version:
    """Redact, verify, and give what is left."""
    left = rig.redact(version)
    assert rig.codes() == []
    return left


def whole(rig: Rig) -> list[Version]:
    """The history with contents, newest first."""
    return list(history.versions(rig.log, VersionFilter(), None, 1000, content=True).versions)


def everything(rig: Rig) -> str:
    """All values in the database, as text."""
    tables = ("node", "event", "piece", "head", "head_piece", "redacted")
    return "".join(repr(rig.rows(f"SELECT * FROM {table}")) for table in tables)


def test_a_delta_upon_what_goes_stands_on_the_one_before() -> None:
    rig = Rig()
    base = b"a line that stays\n" * 40
    rig.apply(put("/a", base))
    secret = rig.one(splice("/a", 0, 0, SECRET))
    rig.apply(splice("/a", 0, len(SECRET), b""))
    rig.apply(append("/a", b"end"))
    before = [version.content for version in whole(rig)]
    redact(rig, secret)
    after = [version.content for version in whole(rig)]
    assert after == [before[0], before[1], None, before[3]]
    assert repr(SECRET)[2:-1] not in everything(rig)


def test_a_delta_upon_a_whole_body_that_goes_becomes_whole_itself() -> None:
    rig = Rig()
    base = b"a line that stays\n" * 40
    secret = rig.one(put("/a", SECRET + base))
    rig.apply(splice("/a", 0, len(SECRET), b""))
    rig.apply(append("/a", b"end"))
    redact(rig, secret)
    assert [version.content for version in whole(rig)] == [base + b"end", base, None]
    assert repr(SECRET)[2:-1] not in everything(rig)
    rig.apply(append("/a", b" and on"))
    assert lookup.read(rig.log, p("/a"), 0, None).data == base + b"end and on"
    for _ in range(40):
        rig.apply(splice("/a", 0, 1, b"x"))
    assert rig.codes() == []


def test_moves_of_what_goes_keep_the_content_if_they_are_not_redacted() -> None:
    rig = Rig()
    made = rig.one(put("/a", SECRET))
    moved = rig.one(move("/a", "/b"))
    rig.apply(move("/b", "/c"))
    rig.apply(append("/c", b"!" * 3))
    rig.apply(append("/c", b"?" * 30))
    redact(rig, made)
    assert [version.content for version in whole(rig)] == [
        SECRET + b"!!!" + b"?" * 30,
        SECRET + b"!!!",
        SECRET,
        SECRET,
        None,
    ]
    redact(rig, moved)
    assert [version.content for version in whole(rig)][-2:] == [None, None]


def test_a_large_content_goes_with_its_pieces() -> None:
    rig = Rig()
    secret = rig.one(put("/a", SECRET * 20_000))
    rig.apply(splice("/a", 0, 1, b"H"))
    rig.apply(put("/a", "small"))
    changed = whole(rig)[1]
    redact(rig, secret)
    redact(rig, changed)
    assert rig.value("SELECT count(*) FROM piece") == 0
    assert "hush" not in everything(rig)


def test_the_newest_whole_body_of_a_moved_file_can_go() -> None:
    rig = Rig()
    made = rig.one(put("/d/a", SECRET))
    rig.apply(move("/d", "/e"))
    rig.apply(move("/e/a", "/b"))
    redact(rig, made)
    assert lookup.read(rig.log, p("/b"), 0, None).data == SECRET
    rig.apply(append("/b", b"!"))
    assert rig.codes() == []


def test_a_redacted_content_stays_while_a_directorys_move_still_shows_it() -> None:
    rig = Rig()
    made = rig.one(put("/d/a", SECRET))
    rig.apply(move("/d", "/e"))
    rig.apply(put("/e/a", "clean"))
    (_, moved, _) = whole(rig)
    left = redact(rig, made)
    assert (left.path, left.sha256, left.redacted_by) == (None, None, "officer")
    (_, still, gone) = whole(rig)
    assert (str(still.path), still.content) == ("/memories/e/a", SECRET)
    assert gone.content is None
    redact(rig, moved)
    assert [version.content for version in whole(rig)] == [b"clean", None, None]
    assert "hush" not in everything(rig)


def test_versions_of_a_directorys_move_can_be_redacted_first() -> None:
    rig = Rig()
    made = rig.one(put("/d/a", SECRET))
    rig.apply(move("/d", "/e"))
    rig.apply(put("/e/a", "clean"))
    (_, moved, _) = whole(rig)
    redact(rig, moved)
    assert [version.content for version in whole(rig)] == [b"clean", None, SECRET]
    redact(rig, made)
    assert "hush" not in everything(rig)


def test_what_a_batch_hides_goes_with_the_version_that_stands_for_it() -> None:
    rig = Rig()
    rig.apply(put("/d/a", SECRET), move("/d", "/e"))
    rig.apply(put("/e/a", "clean"))
    shown = whole(rig)[1]
    assert (str(shown.path), shown.content) == ("/memories/e/a", SECRET)
    redact(rig, shown)
    assert "hush" not in everything(rig)
    assert [version.path for version in whole(rig)] == [p("/e/a"), None]


def test_names_of_redacted_versions_are_in_no_event() -> None:
    rig = Rig()
    made = rig.one(put("/hush-first", "x"))
    moved = rig.one(move("/hush-first", "/hush-second"))
    rig.apply(move("/hush-second", "/third"))
    redact(rig, made)
    assert "hush-first" not in everything(rig)
    assert [str(version.path)[9:] for version in whole(rig)][:2] == ["/third", "/hush-second"]
    redact(rig, moved)
    assert "hush" not in everything(rig)
    assert [version.path for version in whole(rig)] == [p("/third"), None, None]


def test_a_removed_memory_can_be_redacted_to_the_last_byte() -> None:
    rig = Rig()
    rig.apply(put("/d/hush-name", SECRET + b"x" * 100_000))
    rig.apply(splice("/d/hush-name", 5, 6, b"y"))
    rig.apply(remove("/d/hush-name"))
    for version in whole(rig):
        redact(rig, version)
    assert "hush" not in everything(rig)
    assert all(version.path is None for version in whole(rig))


def test_a_memory_removed_with_its_directory_can_be_redacted_to_the_last_byte() -> None:
    rig = Rig()
    rig.apply(put("/d/hush-name", SECRET))
    rig.apply(append("/d/hush-name", b"!" * 3))
    rig.apply(put("/d/other", "stays"))
    rig.apply(remove("/d"))
    for version in whole(rig):
        if version.path is not None and version.path.name == "hush-name":
            redact(rig, version)
    assert "hush" not in everything(rig)
    assert [(v.operation, v.content) for v in whole(rig) if v.path is not None] == [
        ("deleted", None),
        ("created", b"stays"),
    ]


def test_the_audit_draft_of_the_command_goes_too() -> None:
    rig = Rig()
    (made,) = rig.apply(put("/a", "x"), by=Context(audit={"path": "/hush"}))
    rig.apply(put("/a", "y"))
    redact(rig, made)
    assert "hush" not in everything(rig)


def test_the_head_of_a_live_memory_stays() -> None:
    rig = Rig()
    made = rig.one(put("/d/a", "x"))
    with pytest.raises(NotRedactable):
        redact(rig, made)
    rig.apply(move("/d", "/e"))
    with pytest.raises(NotRedactable):
        redact(rig, whole(rig)[0])
    with pytest.raises(UnknownId):
        redaction.redact(rig.log, rig.heads, "memver_0", OFFICER, rig.now)


def test_a_late_version_can_be_redacted() -> None:
    rig = Rig()
    rig.apply(put("/a", "x"))

    def work(turn: Turn) -> None:
        node = turn.find(p("/a"))
        assert node is not None
        turn.add_late(node, SECRET, AGENT)

    rig.turn(work)
    redact(rig, whole(rig)[0])
    assert "hush" not in everything(rig)
    assert lookup.read(rig.log, p("/a"), 0, None).data == b"x"


def test_a_redacted_memory_can_come_back() -> None:
    rig = Rig()
    made = rig.one(put("/a", SECRET))
    (gone,) = rig.apply(remove("/a"))
    redact(rig, made)
    redact(rig, gone)
    rig.apply(Put(p("/b"), b"new", keep_id=made.memory_id))
    assert [(version.operation, version.content) for version in whole(rig)] == [
        ("created", b"new"),
        ("deleted", None),
        ("created", None),
    ]
    assert rig.codes() == []


def test_the_deletion_that_a_directory_stands_for_keeps_its_path() -> None:
    rig = Rig()
    made = rig.one(put("/d/a", SECRET))
    rig.apply(remove("/d"))
    rig.apply(Put(p("/b"), b"back", keep_id=made.memory_id))
    redact(rig, made)
    assert [(version.operation, version.path) for version in whole(rig)] == [
        ("created", p("/b")),
        ("deleted", p("/d/a")),
        ("created", None),
    ]
    redact(rig, whole(rig)[1])
    assert [version.path for version in whole(rig)] == [p("/b"), None, None]


def test_a_batch_that_changed_and_removed_is_redacted_as_one() -> None:
    rig = Rig()
    rig.apply(put("/d/a", "x"))
    rig.apply(put("/d/a", SECRET), remove("/d"))
    before = whole(rig)
    assert [version.operation for version in before] == ["deleted", "created"]
    for version in before:
        redact(rig, version)
    assert "hush" not in everything(rig)
    assert [version.id for version in whole(rig)] == [version.id for version in before]
