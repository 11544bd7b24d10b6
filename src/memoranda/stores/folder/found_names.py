"""Which names that are found in the tree are memories, and which are something else's litter."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

from memoranda.errors import BadPath
from memoranda.lazy_pattern import lazy_pattern
from memoranda.path import ROOT_TEXT, MemoryPath, is_allowed_name, parse_path
from memoranda.stores.folder.tree import Place

_LITTER: Final = lazy_pattern(
    r"\..*\.sw.|.*~|#.*#|4913|\.DS_Store|\._.*|Thumbs\.db",
    re.DOTALL,
)
"""Swap, backup and probe files of editors, and what desktops leave in every directory."""

PLAIN: Final = lazy_pattern(
    r"(?!4913\Z|Thumbs\.db\Z)[A-Za-z0-9_][A-Za-z0-9_.-]{0,199}",
    re.ASCII,
)
"""Names of memories, and of no litter, that need no look at the whole policy: most of them."""


def is_litter(name: str) -> bool:
    """Whether an unknown file of this name is taken for another program's."""
    return _LITTER.fullmatch(name) is not None


@lru_cache(maxsize=4096)
def is_memory_name(name: str) -> bool:
    """Whether a path can name this."""
    return PLAIN.fullmatch(name) is not None or is_allowed_name(name)


def path_of(place: Place) -> MemoryPath | None:
    """The path of a file that was found, or None if no path may lead there."""
    try:
        path = parse_path(f"{ROOT_TEXT}/{'/'.join(place)}")
    except BadPath:
        return None
    # Names that are not in Unicode NFC would be another path's.
    return path if path.segments == place else None
