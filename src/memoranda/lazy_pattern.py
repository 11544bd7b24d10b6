"""Regular expressions that are compiled at their first use, and from then on as fast as any.

The table of invisible characters alone takes a millisecond; a first view asks few of them.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

__all__ = ["lazy_pattern"]

if TYPE_CHECKING:
    from re import compile as lazy_pattern
else:

    class lazy_pattern:  # noqa: N801 - called as re.compile is
        """What ``re.compile`` gives, later; has the methods that are used here."""

        def __init__(self, pattern: str | bytes, flags: int = 0) -> None:
            self._given = pattern, flags

        def __getattr__(self, name: str) -> Any:
            if name not in _METHODS:
                raise AttributeError(name)
            compiled = re.compile(*self._given)
            for method in _METHODS:
                setattr(self, method, getattr(compiled, method))
            return getattr(compiled, name)


_METHODS: Final = ("search", "match", "fullmatch", "finditer", "split", "sub")
