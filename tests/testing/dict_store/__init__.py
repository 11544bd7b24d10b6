"""An honest store of plain dicts that proves the suite: small, slow, and nobody's relative.

One lock, whole copies of the state for every version. It shares no code with the real stores, and
it is cut into small methods so that ``broken_stores`` can spoil one at a time.
"""

from __future__ import annotations

from tests.testing.dict_store.backend import DictBackend, everything
from tests.testing.dict_store.batch import Batch
from tests.testing.dict_store.state import Disk, Live, Shelf, State, Tree
from tests.testing.dict_store.store import DictStore

__all__ = [
    "Batch",
    "DictBackend",
    "DictStore",
    "Disk",
    "Live",
    "Shelf",
    "State",
    "Tree",
    "everything",
]
