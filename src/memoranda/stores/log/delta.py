"""What two texts have in common at their ends."""

from __future__ import annotations

from typing import Final

_SMALL: Final = 32


def common_prefix(a: bytes, b: bytes) -> int:
    """How many leading bytes are the same; halves the range, so that memory compares do the work."""
    low, high = 0, min(len(a), len(b))
    while high - low > _SMALL:
        middle = (low + high) // 2
        if a[low:middle] == b[low:middle]:
            low = middle
        else:
            high = middle
    while low < high and a[low] == b[low]:
        low += 1
    return low


def common_suffix(a: bytes, b: bytes, most: int) -> int:
    """How many trailing bytes are the same, at most ``most``."""
    low, high = 0, most
    end_a, end_b = len(a), len(b)
    while high - low > _SMALL:
        middle = (low + high) // 2
        if a[end_a - middle : end_a - low] == b[end_b - middle : end_b - low]:
            low = middle
        else:
            high = middle
    while low < high and a[end_a - 1 - low] == b[end_b - 1 - low]:
        low += 1
    return low
