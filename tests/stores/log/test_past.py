"""History and time travel where the suite for all stores does not reach: gaps, damage, blanks."""

from __future__ import annotations

from typing import Any

import pytest

from memoranda.errors import Corrupt, UnknownId
from memoranda.stores.base import Context, Directory, Put, Version, VersionFilter, VersionPage
from memoranda.stores.log import audit, events, history, listing, lookup, search, time_travel
from memoranda.stores.log.ids import version_id
from memoranda.stores.log.packs import NOTED
from memoranda.stores.log.time_travel import Past
from memoranda.stores.log.tree import Tree
from memoranda.stores.log.turn import Turn
from tests.stores.log.rig import Rig, append, move, p, put, remove


def page(rig: Rig, **filters: Any) -> VersionPage:
    """All versions that match."""
    where = VersionFilter(**filters)
    return history.versions(rig.log, where, None, 1000, content=False)


def paths(found: VersionPage) -> list[str]:
    """Operations and paths."""
    return [f"{one.operation[0]} {str(one.path)[9:]}" for one in found.versions]


def test_a_position_that_the_store_never_gave_is_unknown() -> None:
    rig = Rig()
    rig.apply(put("/a"))
    with pytest.raises(UnknownId):
        history.versions(rig.log, VersionFilter(), "memver_01", 10, content=False)


def test_a_page_goes_on_after_a_version_that_is_not_kept_any_more() -> None:
    rig = Rig()
    made = [rig.one(put("/a", f"{number}")) for number in range(4)]
    rig.db.execute("DELETE FROM event WHERE seq = 3")
    found = history.versions(rig.log, VersionFilter(), made[2].id, 10, content=False)
    assert [one.id for one in found.versions] == [made[1].id, made[0].id]


def test_a_page_that_ends_within_a_batch_goes_on_within_it() -> None:
    rig = Rig()
    rig.apply(put("/d/a"), put("/d/b"))
    rig.apply(put("/d/a", "y"), put("/e/c"), move("/d", "/q"))
    whole = page(rig).versions
    assert paths(page(rig)) == ["m /q/b", "m /q/a", "c /e/c", "c /d/b", "c /d/a"]
    for limit in (1, 2, 3):
        found: list[Version] = []
        after = None
        while True:
            one = history.versions(rig.log, VersionFilter(), after, limit, content=False)
            found += one.versions
            after = one.after
            if after is None:
                break
        assert found == list(whole)


def test_no_version_is_asked_for_and_none_given() -> None:
    rig = Rig()
    rig.apply(put("/a"))
    assert history.versions(rig.log, VersionFilter(), None, 0, content=False) == ((), None)


def test_ids_of_events_that_are_no_versions_are_unknown() -> None:
    rig = Rig()
    made = rig.one(put("/d/a"))
    other = rig.one(put("/b"))
    rig.apply(move("/d", "/e"))
    node_a, node_b = (rig.value(f"SELECT id FROM node WHERE name = '{name}'") for name in "ab")
    directory = rig.value("SELECT id FROM node WHERE name = 'e/'")
    assert isinstance(node_a, int)
    assert isinstance(node_b, int)
    assert isinstance(directory, int)
    moved = rig.log.last_seq()
    assert str(history.one(rig.log, version_id(rig.log, moved, node_a)).path) == "/memories/e/a"
    assert made.path == p("/d/a")
    assert other.seq < moved
    for seq, node in ((moved, node_b), (99, node_a), (other.seq, node_a), (moved, 99)):
        with pytest.raises(UnknownId):
            history.one(rig.log, version_id(rig.log, seq, node))


def test_a_content_that_was_changed_from_outside_is_not_handed_out() -> None:
    rig = Rig()
    old = rig.one(put("/a", "old"))
    rig.apply(put("/a", "new"))
    rig.db.execute("UPDATE event SET body = x'6f6c65' WHERE seq = 1")
    with pytest.raises(Corrupt):
        history.one(rig.log, old.id)
    rig.db.execute("UPDATE event SET base = 99 WHERE seq = 1")
    with pytest.raises(Corrupt):
        history.one(rig.log, old.id)
    rig.db.execute("UPDATE event SET base = 1 WHERE seq = 1")
    with pytest.raises(Corrupt):
        history.one(rig.log, old.id)
    with pytest.raises(Corrupt):
        events.load(rig.log, 99)


def test_a_content_of_the_wrong_size_is_not_handed_out() -> None:
    rig = Rig()
    rig.apply(put("/a", "text"))
    rig.db.execute("UPDATE event SET body = 'text'")
    with pytest.raises(Corrupt):
        lookup.read(rig.log, p("/a"), 0, None)


def test_what_was_ever_at_a_path_is_found_whoever_stood_there_when() -> None:
    rig = Rig()
    rig.apply(put("/d/a", "in d"))
    rig.apply(move("/d", "/old"))
    rig.apply(put("/d/b", "in the new d"))
    rig.apply(move("/d/b", "/d/c"))
    rig.apply(remove("/d"))
    rig.apply(put("/x", "never there"))
    rig.apply(move("/old/a", "/y"))
    assert paths(page(rig, path=p("/d"))) == [
        "m /y", "d /d/c", "m /d/c", "c /d/b", "m /old/a", "c /d/a",
    ]  # fmt: skip
    assert paths(page(rig, path=p("/d/b"))) == ["d /d/c", "m /d/c", "c /d/b"]
    assert paths(page(rig, path=p("/old"))) == ["m /y", "m /old/a", "c /d/a"]
    assert paths(page(rig, path=p("/d/a/b"))) == []


def test_a_directory_that_came_to_a_path_empty_handed_brings_nothing() -> None:
    """What left a directory before it came to a path was never at that path."""
    rig = Rig()
    rig.apply(put("/d/a"), put("/d/b"))
    rig.apply(move("/d/a", "/elsewhere"))
    rig.apply(move("/d", "/q"))
    assert paths(page(rig, path=p("/q"))) == ["m /q/b", "c /d/b"]


def test_the_past_lists_what_lay_beneath_and_sums_it() -> None:
    rig = Rig()
    rig.apply(put("/d/a", b"12345"), put("/d/e/b", b"1234567"))
    rig.apply(put("/q/x"))
    at = rig.log.last_seq()
    rig.apply(remove("/d"), remove("/q/x"), put("/q", "a file"))
    found = time_travel.page(rig.log, at, p("/"), 1, None, 10).entries
    assert [(str(one.path), one.size_bytes) for one in found] == [
        ("/memories/d", 12),
        ("/memories/q", 1),
    ]
    assert all(isinstance(one, Directory) for one in found)
    assert time_travel.page(rig.log, at, p("/none"), 0, None, 10).entries == ()
    deeper = time_travel.page(rig.log, at, p("/d/e"), 0, None, 10).entries
    assert [str(one.path) for one in deeper] == ["/memories/d/e/b"]


def test_an_empty_directory_of_the_past_is_not_listed() -> None:
    rig = Rig()
    rig.apply(put("/d/a"))
    rig.apply(move("/d/a", "/b"))
    at = rig.log.last_seq()
    rig.apply(move("/b", "/d/c"))
    found = time_travel.page(rig.log, at, p("/"), 1, None, 10).entries
    assert [str(one.path) for one in found] == ["/memories/b"]
    rig.apply(put("/e/x"))
    rig.apply(move("/e", "/f"))
    rig.apply(move("/f/x", "/x"))
    before = rig.log.last_seq() - 1
    found = time_travel.page(rig.log, before, p("/"), 1, None, 10).entries
    assert [str(one.path) for one in found] == ["/memories/d", "/memories/f"]


def test_redacted_states_are_left_out_of_the_past() -> None:
    rig = Rig()
    made = rig.one(put("/a", "secret"))
    rig.apply(put("/b"))
    at = rig.log.last_seq()
    rig.apply(put("/a", "clean"))
    rig.redact(made)
    found = time_travel.page(rig.log, at, p("/"), 0, None, 10).entries
    assert [str(one.path) for one in found] == ["/memories/b"]


def test_a_place_that_is_not_known_any_more_gives_no_path() -> None:
    rig = Rig()
    rig.apply(put("/d/e/a"))
    rig.apply(put("/d/e/b"))
    rig.db.execute("DELETE FROM node WHERE name = 'd/'")
    assert paths(page(rig)) == ["c ", "c "]
    past = Past(rig.log, rig.log.last_seq())
    assert past.path(None, "a") is None
    assert past.path(0, "a") == p("/a")
    rig.db.execute("DELETE FROM node WHERE name = 'a'")
    found = past.step(rig.log.last_seq() - 1)
    assert found is not None
    past.know(found)
    assert past.track(found.node or 0) is None


def test_searches_ask_for_nothing_and_find_nothing() -> None:
    rig = Rig()
    rig.apply(put("/a", "Needle in HAY\nneedle\n"), put("/b/c", "hay\r\nno\n"), put("/d", b"\xff"))

    def find(query: str, prefix: str = "/", limit: int = 9) -> list[tuple[str, tuple[int, ...]]]:
        contents = lookup.contents(rig.log, p(prefix))
        found = search.hits(search.words_of(query), contents, limit)
        return [(str(hit.path)[9:], tuple(number for number, _ in hit.lines)) for hit in found]

    assert find("needle hay") == [("/a", (1, 2))]
    assert find("hay") == [("/a", (1,)), ("/b/c", (1,))]
    assert find("hay", limit=1) == [("/a", (1,))]
    assert find("hay", "/b/c") == [("/b/c", (1,))]
    assert find("hay", "/none") == []
    assert find('"in hay"') == [("/a", (1,))]
    assert find("") == find('""') == find("hay", limit=0) == []


def test_an_outline_stops_where_it_is_cut_and_knows_the_rest() -> None:
    rig = Rig()
    rig.apply(*(put(f"/d{number}/f") for number in range(50)), put("/node_modules/x"), put("/.h"))
    rig.apply(put("/dir/node_modules"), put("/!first"))
    found = listing.outline(rig.log, p("/"), 60)
    assert [name for name, _ in found.items] == ["!first", "d0/", "d0/f", "d1/"]
    assert found.total == 1 + 50 + 50 + 1
    assert listing.outline(rig.log, p("/"), 0).items == ()


def test_a_revived_memory_was_gone_in_between() -> None:
    rig = Rig()
    made = rig.one(put("/d/a", "one"))
    rig.apply(remove("/d/a"))
    gone = rig.log.last_seq()
    rig.apply(Put(p("/d/a"), b"two", keep_id=made.memory_id))
    rig.apply(append("/d/a", b"!"))
    assert time_travel.page(rig.log, gone, p("/"), 0, None, 10).entries == ()
    assert len(time_travel.page(rig.log, gone - 1, p("/"), 0, None, 10).entries) == 1
    assert paths(page(rig)) == ["m /d/a", "c /d/a", "d /d/a", "c /d/a"]
    assert paths(page(rig, path=p("/d/a"))) == ["m /d/a", "c /d/a", "d /d/a", "c /d/a"]


def test_redacting_after_the_commands_first_event_is_gone_blanks_what_is_left() -> None:
    rig = Rig()
    rig.apply(put("/a"), put("/b", "secret"))
    rig.apply(put("/b", "clean"))
    secret = page(rig).versions[1]
    rig.db.execute("UPDATE event SET link = (SELECT chain FROM event WHERE seq = 1) WHERE seq = 2")
    rig.db.execute("DELETE FROM event WHERE seq = 1")
    left = rig.redact(secret)
    assert left.redacted_by == "officer"
    assert rig.redact(secret, Context(actor="another")) == left


def test_only_what_is_there_has_a_last_use() -> None:
    rig = Rig()
    rig.apply(put("/a"), put("/d/b"), put("/c"))

    def use(turn: Turn) -> None:
        for path in ("/a", "/d/b", "/c"):
            turn.touch(p(path), rig.now)

    rig.turn(use)
    rig.apply(remove("/a"), remove("/d"))
    assert lookup.uses(rig.log) == {p("/c"): rig.now}


def test_an_outline_leaves_out_what_is_called_node_modules_be_it_a_file() -> None:
    rig = Rig()
    rig.apply(put("/dir/node_modules"), put("/dir/z"), put("/node_modules"))
    assert [name for name, _ in listing.outline(rig.log, p("/"), 1000).items] == ["dir/", "dir/z"]


def test_nothing_of_a_directory_comes_after_a_path_that_sorts_behind_it() -> None:
    rig = Rig()
    rig.apply(put("/d/a"), put("/e"))
    assert listing.page(rig.log, p("/d"), 0, "/e", 10).entries == ()
    assert len(listing.page(rig.log, p("/d"), 0, "/c", 10).entries) == 1


def test_an_entry_noted_with_others_that_can_not_be_read_is_damage() -> None:
    rig = Rig()
    rig.apply(put("/a"))
    rig.turn(lambda turn: turn.audit(Context(audit={NOTED: 7}), rig.now))
    with pytest.raises(Corrupt):
        audit.entries(rig.log, 0, 10)


def test_a_page_of_the_audit_ends_with_the_entries_noted_together_that_fill_it() -> None:
    rig = Rig()
    rig.apply(put("/a"))
    row: list[object] = [rig.now, "agent", "view", None, {}]
    for _ in range(2):
        rig.turn(lambda turn: turn.audit(Context(audit={NOTED: [row, row]}), rig.now))
    first = audit.entries(rig.log, 1, 2)
    assert [(each.seq, each.part) for each in first] == [(2, 0), (2, 1)]
    following = audit.entries(rig.log, first[-1].seq, 2)
    assert [(each.seq, each.part) for each in following] == [(3, 0), (3, 1)]


def test_a_directory_whose_row_is_missing_has_nothing_used_in_it() -> None:
    rig = Rig()
    rig.apply(put("/d/a"))
    rig.turn(lambda turn: turn.touch(p("/d/a"), rig.now))
    rig.db.execute("DELETE FROM node WHERE name = 'd/'")
    assert lookup.uses(rig.log) == {}


def test_an_old_directory_that_held_redacted_files_only_is_not_listed() -> None:
    rig = Rig()
    rig.apply(put("/d/e/a"))
    secret = rig.one(put("/d/b"))
    then = rig.log.last_seq()
    rig.apply(remove("/d/b"))
    rig.redact(secret)
    found = time_travel.page(rig.log, then, p("/d"), 1, None, 10).entries
    assert [str(each.path)[9:] for each in found] == ["/d/e"]


def test_a_memory_that_moved_as_it_was_made_is_not_there_before_that() -> None:
    rig = Rig()
    rig.apply(put("/x"))
    rig.apply(put("/a"), move("/a", "/b"))
    then = [
        [str(each.path)[9:] for each in time_travel.page(rig.log, seq, p("/"), 0, None, 9).entries]
        for seq in range(1, rig.log.last_seq() + 1)
    ]
    assert then == [["/x"], ["/x"], ["/b", "/x"]]


def test_what_lies_below_a_directory_whose_name_is_lost_has_no_path() -> None:
    rig = Rig()
    rig.apply(put("/d/a"))
    rig.apply(move("/d", "/e"))
    assert paths(page(rig)) == ["m /e/a", "c /d/a"]
    rig.db.execute("UPDATE event SET oname = NULL WHERE oname = 'd/'")
    assert [one.path for one in page(rig).versions] == [p("/e/a"), None]


def test_a_directory_that_was_empty_then_is_not_listed() -> None:
    rig = Rig()
    rig.apply(put("/d/a"))
    rig.apply(remove("/d/a"))
    moment = rig.apply(put("/b"))[-1].seq
    rig.apply(put("/d/c"))
    found = time_travel.page(rig.log, rig.log.base + moment, p("/"), 1, None, 10)
    assert [str(each.path) for each in found.entries] == ["/memories/b"]


def test_a_node_that_was_taken_by_its_number_and_moved_is_found_at_its_new_name_only() -> None:
    rig = Rig()
    rig.apply(put("/a"), put("/d/b"))
    tree = Tree(rig.log, rig.log.last_seq() + 1)
    number = rig.db.execute("SELECT id FROM node WHERE name = 'a'").get
    node = tree.get(number)
    directory = tree.walk(p("/d")).node
    assert node is not None
    assert directory is not None
    tree.move(node, directory, "c")
    tree.attach(node, [tree.root, directory])
    assert tree.walk(p("/a")).node is None
    assert tree.walk(p("/d/c")).node is node
