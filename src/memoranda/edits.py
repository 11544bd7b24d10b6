"""The edits of ``str_replace`` and ``insert``: from a content to what changes in it, and no I/O."""

from __future__ import annotations

from typing import Final

from memoranda.command import Insert, StrReplace
from memoranda.errors import EmptyOldString, LineOutOfRange, ManyMatches, NoMatch, NotText
from memoranda.text.insertion import insertion as insertion_at
from memoranda.text.line_endings import line_ending, with_endings
from memoranda.text.lines import count_lines, find_line
from memoranda.text.matches import lines_of_matches
from memoranda.text.splice import Splice
from memoranda.text.utf8 import is_utf8

MOST_LINES_NAMED: Final = 1000
"""So many lines of matches an answer names: more help nobody, and take a megabyte and seconds."""


def replacement(command: StrReplace, old: bytes) -> Splice:
    """The edit of ``str_replace``: its one place, found byte for byte."""
    path = command.path
    if not is_utf8(old):
        raise NotText(path)
    if not command.old_str:
        raise EmptyOldString
    wanted, new = command.old_str.encode(), command.new_str.encode()
    if "\n" in command.old_str or "\n" in command.new_str:
        ending = line_ending(old)
        wanted, new = with_endings(wanted, ending), with_endings(new, ending)
    at = old.find(wanted)
    if at < 0:
        raise NoMatch(path)
    if old.find(wanted, at + 1) >= 0:
        lines = lines_of_matches(old, wanted, MOST_LINES_NAMED + 1)
        raise ManyMatches(path, lines[:MOST_LINES_NAMED], more=len(lines) > MOST_LINES_NAMED)
    return Splice(at, at + len(wanted), new)


def insertion(command: Insert, old: bytes) -> Splice:
    """The edit of ``insert``."""
    if not is_utf8(old):
        raise NotText(command.path)
    line = command.insert_line
    at = None if line < 0 else find_line(old, line + 1)
    if at is None:
        raise LineOutOfRange(line, count_lines(old))
    return insertion_at(old, at, command.insert_text.encode())
