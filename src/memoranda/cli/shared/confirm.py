"""Asking before something is destroyed; without anybody to ask, nothing is done."""

from __future__ import annotations

import sys

from memoranda.cli.shared.output import harmless
from memoranda.errors import Refused


class NotConfirmed(Refused):
    """The answer was no, or nobody was there to give one; nothing has changed."""

    code = "not_confirmed"
    exit_code = 10


def confirm(question: str, *, yes: bool) -> None:
    """Go on only if a person says y, or ``yes`` was said beforehand; else ``NotConfirmed``."""
    if not yes and ask(question, " [y/N] ") not in {"y", "yes"}:
        raise NotConfirmed("It was not confirmed, so nothing was changed.")


def confirm_by_typing(question: str, word: str, *, yes: bool) -> None:
    """Go on only if a person types ``word``, or ``yes`` was said beforehand; else
    ``NotConfirmed``."""
    if not yes and _answer(question, f" Type {word} to go on: ") != word:
        raise NotConfirmed("It was not confirmed, so nothing was changed.")


def ask(question: str, how: str) -> str:
    """What a person answers, in lower case; raises ``NotConfirmed`` where nobody is there."""
    return _answer(question, how).casefold()


def _answer(question: str, how: str) -> str:
    if not sys.stdin.isatty():
        raise NotConfirmed(
            f"{question} Nobody is here to confirm it, so nothing was changed. "
            "Add --yes to do it unasked, or --dry-run to see what it would do."
        )
    sys.stderr.write(harmless(question + how))
    sys.stderr.flush()
    return sys.stdin.readline().strip()
