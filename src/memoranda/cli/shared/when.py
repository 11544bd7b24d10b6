"""Points in time as people type them, and as they are shown."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import Final

import typer

VERSION_PREFIX: Final = "memver_"

_AGO: Final = re.compile(r"([0-9]{1,6})([smhdw])")
_UNITS: Final = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days", "w": "weeks"}


def parse_when(text: str) -> str | datetime:
    """A version's id as it is; else a time: ISO 8601, of this machine's zone unless it names one,
    or how long ago (``90s``, ``10m``, ``2h``, ``3d``, ``1w``)."""
    if text.startswith(VERSION_PREFIX):
        return text
    ago = _AGO.fullmatch(text)
    try:
        if ago:
            return datetime.now(UTC) - timedelta(**{_UNITS[ago[2]]: int(ago[1])})
        return datetime.fromisoformat(text).astimezone()
    except (ValueError, OverflowError):
        raise typer.BadParameter(
            f"{text!r} is no version and no time. Write a version's id (memver_...), "
            "2026-12-31T18:00, or how long ago: 10m, 2h, 3d."
        ) from None


def shown_time(time: datetime) -> str:
    """A time of this machine's zone, to the second."""
    return time.astimezone().strftime("%Y-%m-%d %H:%M:%S")


def json_time(time: datetime) -> str:
    """A time as JSON has it: RFC 3339 in UTC."""
    return time.astimezone(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")


def time_of_ns(ns: int) -> datetime:
    """Nanoseconds since 1970 as an aware time."""
    return datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=ns // 1000)
