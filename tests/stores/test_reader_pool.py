"""Reading connections are lent, kept, and held back while somebody must be alone."""

from __future__ import annotations

import threading

from memoranda.stores.log.connection import Connection
from memoranda.stores.log.database import open_connection
from memoranda.stores.reader_pool import ReaderPool

PATIENCE_SECONDS = 30


def connect() -> Connection:
    return open_connection(":memory:")


def test_who_holds_the_pool_waits_for_what_is_lent_and_keeps_others_waiting() -> None:
    pool = ReaderPool(connect)
    lent = pool.lend()
    asked, came = threading.Event(), threading.Event()
    held: list[bool] = []

    def hold() -> None:
        asked.set()
        held.append(pool.hold(PATIENCE_SECONDS))

    def ask() -> None:
        pool.give_back(pool.lend(), is_sound=True)
        came.set()

    holder = threading.Thread(target=hold)
    holder.start()
    assert asked.wait(PATIENCE_SECONDS)
    pool.give_back(lent, is_sound=True)
    holder.join(PATIENCE_SECONDS)
    assert held == [True]
    reader = threading.Thread(target=ask)
    reader.start()
    assert not came.wait(0.05)
    pool.let_go()
    assert came.wait(PATIENCE_SECONDS)
    reader.join()
    pool.close()


def test_a_hold_that_came_to_nothing_lets_others_read_on() -> None:
    pool = ReaderPool(connect)
    lent = pool.lend()
    assert not pool.hold(0.01)
    pool.give_back(pool.lend(), is_sound=True)
    pool.give_back(lent, is_sound=True)
    assert pool.hold(0.01)
    pool.close()
