"""Whether a first command would do anything: a store is made only for one that does."""

from __future__ import annotations

from typing import TYPE_CHECKING

import apsw

from memoranda.stores.folder.layout import empty_database
from memoranda.stores.log.edit_failed import EditFailed
from memoranda.stores.log.sql_heads import SqlHeads
from memoranda.stores.log.store_log import StoreLog
from memoranda.stores.log.turn import Turn

if TYPE_CHECKING:
    from collections.abc import Sequence

    from memoranda.stores.base import Change, Context


def rehearse(changes: Sequence[Change], context: Context) -> bool:
    """Do a command in an empty store in memory; raises what it raises."""
    db = apsw.Connection(":memory:")
    try:
        db.deserialize("main", empty_database())  # pyright: ignore[reportUnknownMemberType]
        log = StoreLog.make(db, 0, "", 0)
        turn = Turn(log, SqlHeads(log), 0)
        turn.run(changes, context)
        return not turn.is_idle
    except EditFailed as failed:
        raise failed.error from failed.error.__cause__
    finally:
        db.close()
