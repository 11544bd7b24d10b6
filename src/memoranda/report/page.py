"""A report as one HTML page that needs nothing else: no script, no network, no contents.

Names and paths may hold anything; all are escaped, control and hidden characters too. The page
forbids itself everything but its one style by its content policy.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from html import escape
from importlib.resources import files
from typing import TYPE_CHECKING, Final

from memoranda.digests import sha256
from memoranda.escape import escape_for_display
from memoranda.report import charts
from memoranda.text.size import format_size

if TYPE_CHECKING:
    from memoranda.report.facts import Facts

_SHOWN_CHARS: Final = 200
_NUMBERS: Final = {"size", "changes"}
"""Columns whose cells stand to the right."""
_MADE: Final = (
    '<p class="soft">Made {} by Memoranda. It holds names, sizes and times, no contents.</p>'
)
_KEY: Final = (
    '<p class="key soft"><span class="created"></span>created<span class="modified"></span>'
    'modified<span class="deleted"></span>deleted</p>'
)


def page(memories: Sequence[Facts], title: str) -> str:
    """The page about one memory or several, called ``title``."""
    style = files("memoranda.report").joinpath("style.css").read_text(encoding="utf-8")
    policy = f"default-src 'none'; style-src 'sha256-{_digest(style)}'"
    made_at = max((one.made_at for one in memories), default=datetime.now(UTC))
    parts = [
        "<!doctype html>",
        '<html lang="en"><head><meta charset="utf-8">',
        f'<meta http-equiv="Content-Security-Policy" content="{escape(policy)}">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        '<meta name="referrer" content="no-referrer">',
        f"<title>{_text(title)}</title><style>{style}</style></head><body><main>",
        f"<h1>{_text(title)}</h1>",
        _MADE.format(_time(made_at)),
    ]
    if len(memories) > 1:
        parts += [_totals(memories), _contents(memories)]
    parts += [_memory(one, number) for number, one in enumerate(memories)]
    if not memories:
        parts.append("<p>There are no memories.</p>")
    return "\n".join([*parts, "</main></body></html>", ""])


def _digest(style: str) -> str:
    return b64encode(sha256(style.encode()).digest()).decode()


def _totals(memories: Sequence[Facts]) -> str:
    size = sum(one.usage.size_bytes for one in memories)
    return _cards(
        [
            ("stores", f"{len(memories):,}", ""),
            ("files", f"{sum(one.usage.files for one in memories):,}", ""),
            ("size", format_size(size), ""),
            ("versions", f"{sum(one.usage.versions for one in memories):,}", ""),
        ]
    )


def _contents(memories: Sequence[Facts]) -> str:
    items = "".join(
        f'<li><a href="#m{number}">{_text(one.name)}</a> '
        f'<span class="soft">{format_size(one.usage.size_bytes)}</span></li>'
        for number, one in enumerate(memories)
    )
    return f'<nav aria-label="Memories"><ul>{items}</ul></nav>'


def _memory(facts: Facts, number: int) -> str:
    used, limits = facts.usage, facts.limits
    size_limit = (
        "no limit" if limits.store_bytes is None else f"of {format_size(limits.store_bytes)}"
    )
    files_limit = "no limit" if limits.files is None else f"of {limits.files:,}"
    parts = [
        f'<section id="m{number}"><h2>{_text(facts.name)}</h2>',
        _cards(
            [
                (
                    f"files, {files_limit}",
                    f"{used.files:,}",
                    charts.meter(used.files, limits.files),
                ),
                (
                    f"size, {size_limit}",
                    format_size(used.size_bytes),
                    charts.meter(used.size_bytes, limits.store_bytes),
                ),
                ("versions", f"{used.versions:,}", ""),
                ("history on storage", format_size(used.history_bytes), ""),
            ]
        ),
    ]
    if not facts.days:
        return "".join([*parts, "<p>Nothing was ever written here.</p></section>"])
    kept = "" if facts.is_whole else " Only the newest versions were looked at."
    parts += [
        "<h3>Growth</h3>",
        charts.growth(facts.days),
        f'<p class="soft">As far as history is kept.{kept}</p>',
        "<h3>Activity</h3>",
        charts.activity(facts.days),
        _KEY,
        _flags(facts),
        _largest(facts),
        _stalest(facts),
        _newest(facts),
        _actors(facts),
        "</section>",
    ]
    return "\n".join(parts)


def _flags(facts: Facts) -> str:
    if not facts.flags:
        return "<h3>Flags</h3><p>Nothing was marked as an instruction, and nothing refused that matters.</p>"
    rows = [
        [_time(one.at), _text(one.what), _path(one.path), _text(one.detail), _text(one.actor)]
        for one in facts.flags
    ]
    return "<h3>Flags</h3>" + _table(["when", "what", "where", "which", "who"], rows)


def _largest(facts: Facts) -> str:
    most = facts.largest[0].size_bytes if facts.largest else 0
    rows = [
        [
            _path(str(one.path)),
            _number(format_size(one.size_bytes)),
            charts.bar(one.size_bytes, most),
        ]
        for one in facts.largest
    ]
    return "<h3>Largest</h3>" + _table(["memory", "size", ""], rows)


def _stalest(facts: Facts) -> str:
    rows = [
        [
            _path(str(one.path)),
            _time(datetime.fromtimestamp(one.updated_at_ns / 1e9, tz=UTC)),
            _number(format_size(one.size_bytes)),
        ]
        for one in facts.stalest
    ]
    return "<h3>Longest unchanged</h3>" + _table(["memory", "since", "size"], rows)


def _newest(facts: Facts) -> str:
    rows = [
        [
            _time(one.created_at),
            _text(one.operation),
            _path("(redacted)" if one.path is None else str(one.path)),
            _text(one.actor),
        ]
        for one in facts.newest
    ]
    return "<h3>Latest changes</h3>" + _table(["when", "what", "memory", "who"], rows)


def _actors(facts: Facts) -> str:
    most = facts.actors[0][1] if facts.actors else 0
    rows = [
        [_text(actor), _number(f"{count:,}"), charts.bar(count, most)]
        for actor, count in facts.actors
    ]
    return "<h3>Who changed it</h3>" + _table(["actor", "changes", ""], rows)


# ---------------------------------------------------------------- pieces


def _cards(cards: Iterable[tuple[str, str, str]]) -> str:
    shown = "".join(
        f'<div class="card"><b>{value}</b><span class="soft">{name}</span>{extra}</div>'
        for name, value, extra in cards
    )
    return f'<div class="cards">{shown}</div>'


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table of cells that are HTML already."""
    cells = "".join(
        f'<th class="n">{name}</th>' if name in _NUMBERS else f"<th>{name}</th>" for name in head
    )
    body = "".join(
        "<tr>"
        + "".join(one if one.startswith("<td") else f"<td>{one}</td>" for one in row)
        + "</tr>"
        for row in rows
    )
    return f'<div class="wide"><table><thead><tr>{cells}</tr></thead><tbody>{body}</tbody></table></div>'


def _text(text: str) -> str:
    return escape(escape_for_display(text, _SHOWN_CHARS))


def _path(path: str) -> str:
    return f'<td class="path">{_text(path)}</td>'


def _number(number: str) -> str:
    return f'<td class="n">{number}</td>'


def _time(time: datetime) -> str:
    shown = time.astimezone(UTC)
    return f'<time datetime="{shown:%Y-%m-%dT%H:%M:%SZ}">{shown:%Y-%m-%d %H:%M} UTC</time>'
