"""Anchors: heads of audits, kept in a file that lies where the stores' writers can't reach.

One JSON object a line, for any number of stores; lines are only ever added.
"""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, cast

from memoranda.errors import Misuse

if TYPE_CHECKING:
    from memoranda.stores.base import AuditHead


def read_anchors(file: str) -> list[AuditHead]:
    """The anchors of all stores; none where the file is not there yet. Raises ``Misuse``."""
    from memoranda.stores.base import AuditHead

    try:
        with open(file, encoding="utf-8") as lines:
            rows = [json.loads(line) for line in lines if line.strip()]
        return [AuditHead(*_checked(row)) for row in rows]
    except FileNotFoundError:
        return []
    except OSError as error:
        raise Misuse(f"The file of anchors can't be read: {error.strerror}.") from error
    except ValueError as error:
        raise Misuse("The file of anchors holds a line that is none; look who wrote it.") from error


def _checked(row: object) -> tuple[str, int, str]:
    if not isinstance(row, dict):
        raise ValueError  # noqa: TRY004 - of the file, not of the caller
    fields = cast("dict[str, object]", row)
    store, seq, chain = fields.get("store"), fields.get("seq"), fields.get("chain")
    if not isinstance(store, str) or not isinstance(chain, str) or type(seq) is not int:
        raise ValueError
    return store, seq, chain


def add_anchor(file: str, head: AuditHead) -> None:
    """Add a line, durably. Raises ``Misuse``."""
    line = json.dumps({"store": head.store_id, "seq": head.seq, "chain": head.chain}) + "\n"
    try:
        descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
        try:
            os.write(descriptor, line.encode())
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
    except OSError as error:
        raise Misuse(f"The file of anchors can't be written: {error.strerror}.") from error
