"""Charts as inline SVG: no script, no network, colours of the page, a title that is read aloud."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import TYPE_CHECKING, Final

from memoranda.text.size import format_size

if TYPE_CHECKING:
    from memoranda.report.facts import Day

_WIDTH: Final = 720
_HEIGHT: Final = 160
_FOOT: Final = 18


def growth(days: Sequence[Day]) -> str:
    """How much there was at the end of each day, as an area."""
    top = max((day.size_bytes for day in days), default=0) or 1
    step = _WIDTH / max(1, len(days) - 1)
    tall = _HEIGHT - _FOOT
    points = [(n * step, tall * (1 - day.size_bytes / top)) for n, day in enumerate(days)]
    if len(points) == 1:
        points.append((_WIDTH, points[0][1]))
    line = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
    return _svg(
        f"Size by day; the most was {format_size(top)}",
        f'<polygon class="area" points="0,{tall} {line} {_WIDTH},{tall}"/>'
        f'<polyline class="line" points="{line}"/>'
        f'<text x="0" y="11">{format_size(top)}</text>' + _axis(days),
    )


def activity(days: Sequence[Day]) -> str:
    """Changes of each day as stacked bars: created, modified, deleted."""
    top = max((day.changes for day in days), default=0) or 1
    wide = _WIDTH / max(1, len(days))
    tall = _HEIGHT - _FOOT
    bars: list[str] = []
    for n, day in enumerate(days):
        y = float(tall)
        for kind in ("created", "modified", "deleted"):
            count: int = getattr(day, kind)
            height = tall * count / top
            y -= height
            if count:
                bars.append(
                    f'<rect class="{kind}" x="{n * wide:.1f}" y="{y:.1f}"'
                    f' width="{max(wide - 1, 0.8):.1f}" height="{height:.1f}">'
                    f"<title>{day.day}: {count:,} {kind}</title></rect>"
                )
    return _svg(
        f"Changes by day; the most were {top:,}",
        f'<text x="0" y="11">{top:,}</text>' + "".join(bars) + _axis(days),
    )


def meter(used: int, limit: int | None) -> str:
    """How full something is; nothing where there is no limit."""
    if not limit:
        return ""
    share = min(1.0, used / limit)
    kind = "full" if share >= 0.9 else "fine"
    return (
        f'<svg class="meter" viewBox="0 0 100 6" role="img" preserveAspectRatio="none">'
        f"<title>{share:.0%} used</title>"
        f'<rect class="room" width="100" height="6" rx="3"/>'
        f'<rect class="{kind}" width="{100 * share:.1f}" height="6" rx="3"/></svg>'
    )


def bar(value: int, most: int) -> str:
    """A value beside others, the largest of which is ``most``."""
    return (
        '<svg class="bar" viewBox="0 0 100 8" aria-hidden="true" preserveAspectRatio="none">'
        f'<rect class="line-fill" width="{100 * value / max(1, most):.1f}" height="8"/></svg>'
    )


def _axis(days: Sequence[Day]) -> str:
    if not days:
        return ""
    last = ""
    if len(days) > 1:
        last = f'<text x="{_WIDTH}" y="{_HEIGHT - 4}" text-anchor="end">{days[-1].day}</text>'
    return f'<text x="0" y="{_HEIGHT - 4}">{days[0].day}</text>{last}'


def _svg(title: str, body: str) -> str:
    return (
        f'<svg class="chart" viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img">'
        f"<title>{escape(title)}</title>{body}</svg>"
    )
