from __future__ import annotations

import pytest

from memoranda.text.size import format_size

KIB, MIB, GIB = 1024, 1024**2, 1024**3


@pytest.mark.parametrize(
    ("size_bytes", "shown"),
    [
        (0, "0B"),
        (1, "1B"),
        (512, "512B"),
        (1023, "1023B"),
        (1024, "1.0K"),
        (1075, "1.0K"),
        (1076, "1.1K"),
        (1536, "1.5K"),
        (2048, "2.0K"),
        (262_144, "256.0K"),
        (1_048_524, "1023.9K"),
        (1_048_525, "1.0M"),
        (MIB - 1, "1.0M"),
        (MIB, "1.0M"),
        (1_258_292, "1.2M"),
        (10 * MIB, "10.0M"),
        (int(1023.95 * MIB), "1023.9M"),
        (int(1023.95 * MIB) + 1, "1.0G"),
        (GIB - 1, "1.0G"),
        (GIB, "1.0G"),
        (1536 * MIB, "1.5G"),
        (5000 * GIB, "5000.0G"),
    ],
)
def test_a_size_has_a_unit_and_at_most_one_decimal(size_bytes: int, shown: str) -> None:
    assert format_size(size_bytes) == shown


def test_no_size_reads_as_a_thousand_and_more_of_a_smaller_unit() -> None:
    for size_bytes in (*range(MIB - 200, MIB + 200), *range(GIB - 100_000, GIB + 200, 97)):
        assert not format_size(size_bytes).startswith("1024")
