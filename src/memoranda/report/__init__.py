"""One self-contained page about a memory: growth, activity, sizes, quota, flags. No contents."""

from __future__ import annotations

from memoranda.report.facts import Facts, facts_of
from memoranda.report.page import page

__all__ = ["Facts", "facts_of", "page"]
