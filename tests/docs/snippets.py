"""The runnable blocks of a page.

The ``python`` blocks of a page run in order, in one namespace and one empty folder, as a reader
would type them. A ``text output`` block says what the block before it prints. ``sh`` blocks marked
``run`` are run line by line in the same folder, after the Python.
"""

from __future__ import annotations

import re
from typing import NamedTuple

FENCE = re.compile(r"^```(?P<info>[^\n`]*)\n(?P<body>.*?)^```\s*$", re.M | re.S)
BETWEEN = "\x1e"


class Block(NamedTuple):
    """A fenced block: what stands behind the fence, its text, and the 1-based line of its text."""

    info: str
    text: str
    line: int


class Expected(NamedTuple):
    """A page as a program: the source, and what each of its blocks has to print (None: anything).

    The source has the page's line numbers, so that a traceback leads to the page.
    """

    source: str
    printed: list[str | None]


def blocks(page: str) -> list[Block]:
    """The fenced blocks of a page, in order."""
    return [
        Block(match["info"].strip(), match["body"], page.count("\n", 0, match.start("body")) + 1)
        for match in FENCE.finditer(page)
    ]


def program(page: str) -> Expected:
    """The Python blocks of a page as one program that prints BETWEEN after each."""
    source = ""
    printed: list[str | None] = []
    for block in blocks(page):
        if block.info == "python":
            source += "\n" * (block.line - 1 - source.count("\n")) + block.text
            source += f"print({BETWEEN!r}, flush=True)\n"
            printed.append(None)
        elif block.info == "text output":
            if not printed:
                raise ValueError(f"line {block.line}: an output without a block that prints it")
            printed[-1] = block.text
    return Expected(source, printed)


def commands(page: str) -> list[str]:
    """The lines of the ``sh run`` blocks of a page."""
    lines = [
        line for block in blocks(page) if block.info == "sh run" for line in block.text.splitlines()
    ]
    return [line for line in lines if line and not line.startswith("#")]
