"""How a size in bytes is written: ``512B``, ``1.5K``, ``2.0M``, ``1.2G``."""

from __future__ import annotations

from typing import Final

_KIB: Final = 1024
_MIB: Final = 1024**2
_GIB: Final = 1024**3

# The first sizes that would read "1024.0K" and "1024.0M", having 1,023.95 or more of the unit.
_READS_AS_1_MIB: Final = 1_048_525
_READS_AS_1_GIB: Final = 1_073_689_396


def format_size(size_bytes: int) -> str:
    """``size_bytes`` (0 or more) in bytes below 1,024, else with one decimal in K, M or G."""
    if size_bytes < _KIB:
        return f"{size_bytes}B"
    if size_bytes < _READS_AS_1_MIB:
        return f"{size_bytes / _KIB:.1f}K"
    if size_bytes < _READS_AS_1_GIB:
        return f"{size_bytes / _MIB:.1f}M"
    return f"{size_bytes / _GIB:.1f}G"
