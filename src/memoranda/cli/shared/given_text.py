"""The text that a command is given: as an argument, in a file, or on standard input."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Final, cast

import typer

from memoranda.cli.shared.output import note

if TYPE_CHECKING:
    from io import BufferedReader

STANDARD_INPUT: Final = "-"

_PIECE_BYTES: Final = 65_536


def given_bytes(text: str | None, file: str | None) -> bytes:
    """What was given, byte for byte. Raises ``BadParameter`` unless it was given once."""
    if (text is None) == (file is None):
        raise typer.BadParameter(
            "Give the text once: as TEXT, with --file FILE, or as - to read standard input."
        )
    if STANDARD_INPUT in (text, file):
        if sys.stdin.isatty():
            note("Type the text. Ctrl-D on a line of its own ends it.")
        return _standard_input()
    if text is not None:
        return os.fsencode(text)
    try:
        return Path(str(file)).read_bytes()
    except OSError as error:
        raise typer.BadParameter(f"{file}: {error.strerror}.", param_hint="--file") from error


def _standard_input() -> bytes:
    # Piece by piece: one long read loses an interrupt that comes between two of its system calls.
    stream = cast("BufferedReader", sys.stdin.buffer)
    pieces: list[bytes] = []
    while piece := stream.read1(_PIECE_BYTES):
        pieces.append(piece)
    return b"".join(pieces)


def given_text(text: str | None, file: str | None) -> str:
    """``given_bytes`` as text. Raises ``BadParameter`` where it is none."""
    try:
        return given_bytes(text, file).decode()
    except UnicodeDecodeError as error:
        raise typer.BadParameter("The text has to be UTF-8.") from error
