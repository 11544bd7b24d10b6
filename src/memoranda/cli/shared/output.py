"""What is printed: exact where a program reads it, harmless where a terminal does.

Contents and names may hold anything, escape sequences too. What goes to a terminal, and every
message, has invisible characters escaped; what goes into a pipe or a file is byte for byte.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from typing import Final

from memoranda.escape import escape_for_display

# The longest escape of one character: \U000e0041.
_ESCAPE_CHARS: Final = 10
NO_STORES: Final = "Note: nothing is kept there yet. Is it the right folder or URL?"


def harmless(text: str) -> str:
    """``text`` with all escaped that could command a terminal; line ends and tabs stay."""
    return "\n".join(
        "\t".join(one_line(part) for part in line.split("\t")) for line in text.split("\n")
    )


def one_line(text: str) -> str:
    """``text`` as one harmless line, line ends and tabs escaped too."""
    return escape_for_display(text, _ESCAPE_CHARS * len(text) + 1)


def counted(number: int, one: str, many: str) -> str:
    """How many there are of something: ``1 memory``, ``2,000 memories``."""
    return f"{number:,} {one if number == 1 else many}"


def say(text: str = "") -> None:
    """Print a message: harmless, wherever it goes."""
    _write((harmless(text) + "\n").encode())


def note(text: str) -> None:
    """Print a message that is no result: to standard error."""
    sys.stderr.write(harmless(text) + "\n")
    sys.stderr.flush()


def show(content: str | bytes) -> None:
    """Print what is remembered: exact in a pipe, harmless on a terminal."""
    data = content.encode() if isinstance(content, str) else content
    if sys.stdout.isatty():
        data = harmless(data.decode(errors="backslashreplace")).encode()
    _write(data)


def show_line(content: str) -> None:
    """``show``, with a line end where the content has none."""
    show(content if content.endswith("\n") else f"{content}\n")


def print_json(value: object) -> None:
    """Print one JSON value, in ASCII: harmless and the same under every encoding."""
    _write(f"{json.dumps(value, indent=2)}\n".encode())


def print_json_line(value: object) -> None:
    """Print one JSON value on a line of its own (JSON Lines)."""
    _write(f"{json.dumps(value)}\n".encode())


def table(rows: Sequence[Sequence[str]]) -> None:
    """Print rows in columns, two spaces apart; nothing is cut or wrapped."""
    shown = [[one_line(cell) for cell in row] for row in rows]
    widths = [max(map(len, column)) for column in zip(*shown, strict=True)]
    for row in shown:
        cells = [cell.ljust(width) for cell, width in zip(row, widths, strict=True)]
        say("  ".join(cells).rstrip())


def _write(data: bytes) -> None:
    sys.stdout.flush()
    sys.stdout.buffer.write(data)
    sys.stdout.buffer.flush()
