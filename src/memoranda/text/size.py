"""How a size in bytes is written: ``512B``, ``1.5K``, ``2.0M``, ``1.2G``."""

from __future__ import annotations

from typing import Final

_KIB: Final = 1024
_MIB: Final = 1024**2
_GIB: Final = 1024**3

# From here on one decimal would read "1024.0", so the next unit is used: "1.0M".
_ROUNDS_UP: Final = 1023.95


def format_size(size_bytes: int) -> str:
    """``size_bytes`` (0 or more) in bytes below 1,024, else with one decimal in K, M or G."""
    if size_bytes < _KIB:
        return f"{size_bytes}B"
    if size_bytes < _ROUNDS_UP * _KIB:
        return f"{size_bytes / _KIB:.1f}K"
    if size_bytes < _ROUNDS_UP * _MIB:
        return f"{size_bytes / _MIB:.1f}M"
    return f"{size_bytes / _GIB:.1f}G"
