"""What a backend knows of its stores."""

from __future__ import annotations

import pytest

from memoranda.errors import Misuse, UnknownId
from memoranda.stores import control
from memoranda.stores.base import Context, StoreInfo
from memoranda.stores.log.connection import Connection
from memoranda.stores.log.database import open_connection


@pytest.fixture
def db() -> Connection:
    made = open_connection(":memory:")
    made.execute(control.TABLES)
    return made


def info(number: int, **changes: object) -> StoreInfo:
    """A store that was made at that time."""
    made = StoreInfo(
        f"memstore_{number:02}", "default", "name", None, created_at_ns=number, updated_at_ns=number
    )
    return made._replace(**changes)  # type: ignore[arg-type]


def test_a_store_is_found_by_its_id_and_by_its_user(db: Connection) -> None:
    mine = info(1, user="acme", metadata={"k": "\u00fc"}, description="d")
    control.add(db, mine)
    assert control.get(db, mine.id, "default") == mine
    assert control.of_user(db, "acme", "default") == mine
    assert control.of_user(db, "acme", "other") is None
    with pytest.raises(UnknownId):
        control.get(db, mine.id, "other")
    control.remove(db, mine.id)
    with pytest.raises(UnknownId):
        control.get(db, mine.id, "default")


def test_stores_made_at_one_time_are_listed_by_id_and_pages_meet(db: Connection) -> None:
    stores = [info(number)._replace(created_at_ns=number // 3) for number in range(9)]
    for one in stores:
        control.add(db, one)
    wanted = sorted(stores, key=lambda one: (one.created_at_ns, one.id), reverse=True)
    for limit in range(1, 11):
        found: list[StoreInfo] = []
        after = None
        while True:
            page = control.page(db, "default", after, limit, include_archived=True)
            found += page.stores
            after = page.after
            if after is None:
                break
        assert found == wanted
    assert control.page(db, "default", None, 0, include_archived=True) == ((), None)


@pytest.mark.parametrize("after", ["", "x", "1", "\u0663.a", "-1.a", "1" * 20 + ".a", ".a"])
def test_a_position_that_is_none_is_misuse(db: Connection, after: str) -> None:
    with pytest.raises(Misuse):
        control.page(db, "default", after, 10, include_archived=True)


def test_a_change_moves_the_time_and_no_change_does_not(db: Connection) -> None:
    control.add(db, info(5))
    unchanged = control.update(
        db, info(5).id, "default", 9, name="name", description=None, metadata={}
    )
    assert unchanged == info(5)
    changed = control.update(
        db, info(5).id, "default", 9, name=None, description="d", metadata=None
    )
    assert (
        changed
        == info(5, description="d", updated_at_ns=9)
        == control.get(db, info(5).id, "default")
    )
    earlier = control.update(
        db, info(5).id, "default", 3, name="n", description=None, metadata=None
    )
    assert earlier.updated_at_ns == 9


def test_a_store_is_archived_once(db: Connection) -> None:
    control.add(db, info(5))
    first = control.archive(db, info(5).id, "default", 9)
    assert (first.archived_at_ns, first.updated_at_ns) == (9, 9)
    assert control.archive(db, info(5).id, "default", 11) == first
    assert control.page(db, "default", None, 9, include_archived=False).stores == ()


def test_what_is_done_to_a_store_as_a_whole_is_in_the_backends_own_audit(db: Connection) -> None:
    control.audit(db, "memstore_1", Context("user_1", "erase", "t", audit={"why": "asked"}), 7)
    control.audit(db, "memstore_2", Context("user_1", "erase"), 8)
    assert db.execute("SELECT at, actor, command, trace, store, audit FROM control_audit").fetchall() == [
        (7, "user_1", "erase", "t", "memstore_1", '{"why": "asked"}'),
        (8, "user_1", "erase", None, "memstore_2", None),
    ]  # fmt: skip


def test_metadata_that_are_no_texts_are_misuse_and_not_damage(db: Connection) -> None:
    with pytest.raises(Misuse, match="texts by name"):
        control.add(db, info(1, metadata={"k": object()}))
