"""Names of memories as names in a git tree, and back.

A tree can't hold ``.git`` and what file systems take for it (the path policy refuses those), and git
gives a meaning to files such as ``.gitmodules`` and ``.gitattributes``, also under their short NTFS
names: a clone would obey them. So a name that begins like one of those gets a ``%`` before it.
"""

from __future__ import annotations

from typing import Final

from memoranda.lazy_pattern import lazy_pattern

_MARK: Final = "%"
_SPECIAL: Final = lazy_pattern(r"(%*)(?:\.[gG][iI][tT]|[gG][iI].*~).*", 16)  # re.DOTALL


def to_git(name: str) -> str:
    """The name in the tree; no two names share one."""
    return _MARK + name if _SPECIAL.fullmatch(name) else name


def from_git(name: str) -> str | None:
    """The memory's name that ``to_git`` made this of; None for one that it never makes."""
    found = _SPECIAL.fullmatch(name)
    if found is None:
        return name
    return name[1:] if found[1] else None
