"""What a rule is."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, NamedTuple, TypeAlias

Check: TypeAlias = Callable[[bytes], bool]
Scope: TypeAlias = Literal["run", "line", "block"]


class Rule(NamedTuple):
    """One format.

    ``literals`` are lower-case texts of which at least one is in every text that the rule finds;
    without any the pattern is tried everywhere. With the scope ``run`` the literal lies in a run of
    16 or more of ``A-Z a-z 0-9 _ . - %``, with ``line`` anywhere; both find within one line only.
    ``block`` finds over several lines; its literals are looked for in their own case.

    ``pattern`` is a regular expression over bytes; its named group that matched, if it has one,
    is what is masked. It has to run in time that grows with the text and no faster. ``check`` sees the masked part and has the last word. ``source`` is where the format is
    described. ``examples`` and ``counterexamples`` are templates
    (``memoranda.testing.redaction.invent``) that it has to find and must not find.
    """

    id: str
    kind: str
    what: str
    scope: Scope
    literals: tuple[str, ...]
    pattern: bytes
    source: str
    examples: tuple[str, ...]
    counterexamples: tuple[str, ...] = ()
    check: Check | None = None
