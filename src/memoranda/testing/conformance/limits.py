"""How much one answer shows: the cap of views, listings and snippets, and the size of pictures."""

from __future__ import annotations

import re
import struct
import zlib
from typing import Final

from memoranda.testing.conformance.expectation import images
from memoranda.testing.conformance.trial import Answer, Grounds, Plants, Trial

CAP_CHARS: Final = 16_000
FILE: Final = "/memories/n.txt"
HEADER: Final = f"Here's the content of {FILE} with line numbers:\n"

_NUMBERED: Final = re.compile(r"^ *(\d+)\t(.*)$", re.M)


def run_limits(grounds: Grounds) -> None:
    """Make answers that would be too long."""
    for check in (
        _long_file,
        _long_range,
        _long_line,
        _wide_characters,
        _long_listing,
        _long_snippet,
        _large_picture,
    ):
        with grounds.trial((check.__doc__ or "").strip().rstrip(".")) as ground:
            check(ground)


def numbered(first: int, last: int, line: str = "x") -> str:
    """Lines ``first`` to ``last`` of a file whose every line is ``line``, as a view shows them."""
    return "\n".join(f"{number:>6}\t{line}" for number in range(first, last + 1))


def _long_file(ground: Trial) -> None:
    """A view of 20,000 short lines."""
    ground.create(FILE, "x\n" * 20_000)
    raw = {"command": "view", "path": FILE}
    answer = ground.send(raw)
    shown_chars = sum(len(line) + 1 for _, line in _NUMBERED.findall(answer.text))
    wanted = f"1 to {CAP_CHARS} characters of the file"
    ground.findings.note("VIEW-16", raw, wanted, answer, 0 < shown_chars <= CAP_CHARS)
    lines = numbered(1, 8_000)
    last = "8,000 lines of 2 characters: the numbers are not counted"
    ground.findings.note("VIEW-17", raw, last, answer, f"{HEADER}{lines}\n" in answer.text)
    _cut(ground, raw, answer, lines, "lines 1-8000 of 20000", "[8001, 20000]")


def _cut(
    ground: Trial, raw: object, answer: Answer, lines: str, which: str, following: str
) -> None:
    rest = answer.text.removeprefix(HEADER + lines)
    ground.findings.note(
        "VIEW-19", raw, "whole lines, a blank line, a note", answer, rest.startswith("\n\n[")
    )
    note = f"\n\n[Truncated: {which} shown. Continue with view_range {following}.]"
    ground.findings.note("VIEW-20", raw, note, answer, rest == note)


def _long_range(ground: Trial) -> None:
    """A range of 15,000 short lines."""
    ground.create(FILE, "x\n" * 20_000)
    raw = {"command": "view", "path": FILE, "view_range": [5_001, 20_000]}
    answer = ground.send(raw)
    note = "[Truncated: lines 5001-13000 of 20000 shown. Continue with view_range [13001, 20000].]"
    whole = f"{HEADER}{numbered(5_001, 13_000)}\n\n{note}"
    ground.findings.note("VIEW-21", raw, whole, answer, answer.text == whole)


def _long_line(ground: Trial) -> None:
    """A view of one line of 20,000 characters."""
    ground.create(FILE, "y" * 20_000)
    raw = {"command": "view", "path": FILE}
    answer = ground.send(raw)
    note = f"[Line 1 truncated: {CAP_CHARS} of 20000 characters shown.]"
    whole = f"{HEADER}     1\t{'y' * CAP_CHARS}\n\n{note}"
    ground.findings.note("VIEW-22", raw, whole, answer, answer.text == whole)


def _wide_characters(ground: Trial) -> None:
    """A view of one line of 20,000 characters of four bytes."""
    ground.create(FILE, "\U0001f600" * 20_000)
    raw = {"command": "view", "path": FILE}
    answer = ground.send(raw)
    shown = answer.text.removeprefix(HEADER).removeprefix("     1\t").partition("\n")[0]
    whole = bool(shown) and not shown.strip("\U0001f600")
    ground.findings.note("VIEW-23", raw, "whole characters only", answer, whole)


def _long_listing(ground: Trial) -> None:
    """A listing of 150 long names."""
    paths = [f"/memories/{number:03}{'n' * 200}" for number in range(150)]
    for path in paths:
        ground.create(path, "x")
    raw = {"command": "view", "path": "/memories"}
    answer = ground.send(raw)
    header, _, body = answer.text.partition(":\n")
    every = ["150B\t/memories", *(f"1B\t{path}" for path in paths)]
    fit = [
        line
        for n, line in enumerate(every)
        if sum(len(one) + 1 for one in every[: n + 1]) <= CAP_CHARS
    ]
    lines, _, note = body.partition("\n\n")
    findings = ground.findings
    findings.note("LIST-13", raw, "\n".join(fit), header + body, lines == "\n".join(fit))
    wanted = (
        f"[Listing truncated: {len(fit) - 1} of 150 items shown. View a subdirectory to see more.]"
    )
    findings.note("LIST-14", raw, wanted, note or answer, note == wanted)


def _long_snippet(ground: Trial) -> None:
    """A replacement by 400 lines of 60 characters."""
    ground.create(FILE, "before 1\nbefore 2\nMARK\nafter 1\nafter 2\n")
    raw = {
        "command": "str_replace",
        "path": FILE,
        "old_str": "MARK",
        "new_str": "\n".join(f"{number:03} {'c' * 56}" for number in range(400)),
    }
    answer = ground.send(raw)
    lines = _NUMBERED.findall(answer.text)
    chars = sum(len(line) + 1 for _, line in lines)
    changed = [line for _, line in lines if line.endswith("cc")]
    first = bool(changed) and changed[0].startswith("000 ") and chars <= CAP_CHARS
    ground.findings.note("REPLACE-03", raw, "the changed lines, to the cap", answer, first)
    context = [line for _, line in lines if "before" in line or "after" in line]
    # More lines changed than can be shown: room for no other.
    dropped = not context and chars > CAP_CHARS - 61
    ground.findings.note("REPLACE-05", raw, "no line of context", answer, dropped)


def _large_picture(ground: Trial) -> None:
    """A view of a picture of 6 MB."""
    if not isinstance(ground.handler, Plants):
        ground.findings.skip("IMAGE-03", "the handler has no plant(path, content)")
        return
    ground.handler.plant("/memories/p.png", picture(6 * 1024 * 1024))
    raw = {"command": "view", "path": "/memories/p.png"}
    answer = ground.send(raw)
    ground.findings.note("IMAGE-03", raw, "no image block", answer.text, not images(answer))


def picture(at_least_bytes: int) -> bytes:
    """A PNG of one pixel with a comment that makes it so large."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return (
            struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
        )

    header = struct.pack(">IIBBBBB", 1, 1, 8, 2, 0, 0, 0)
    comment = b"Comment\x00" + b"\xa9" * at_least_bytes
    return b"".join(
        [
            b"\x89PNG\r\n\x1a\n",
            chunk(b"IHDR", header),
            chunk(b"tEXt", comment),
            chunk(b"IDAT", zlib.compress(b"\x00\xff\x00\x00")),
            chunk(b"IEND", b""),
        ]
    )
