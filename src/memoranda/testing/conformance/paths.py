"""The corpus of paths: what has to be refused by every command, and what has to live a whole life.

``cases/paths.jsonl`` has one path a line, with its class and the decision.
"""

from __future__ import annotations

import os
import re
import unicodedata
from collections.abc import Iterator
from typing import Any, Final
from urllib.parse import unquote

from memoranda.testing.conformance.requirements import rows
from memoranda.testing.conformance.trial import Grounds, Trial

REFUSED_BECAUSE: Final[dict[str, str]] = {
    "PATH-01": "lone_surrogate",
    "PATH-04": "long_path",
    "PATH-05": "absolute_outside relative empty_input prefix_sibling root_case"
    " leading_slash_variants url_scheme",
    "PATH-07": "deep",
    "PATH-08": "dotdot dot_segment dots_only empty_segment dotdot_param payload_root"
    " payload_nested",
    "PATH-09": "long_segment",
    "PATH-10": "backslash unc control_char nul newline ansi_escape bidi zero_width tag_chars"
    " emoji_zwj noncharacter",
    "PATH-12": "edge_space",
    "PATH-13": "drive_letter",
    "PATH-14": "git_dir",
    "PATH-15": "pct_once pct_twice pct_multi pct_backslash pct_control pct_u overlong_utf8"
    " compat_dots",
}
"""The requirement behind each class of refused paths."""

ACCEPTED_BECAUSE: Final[dict[str, str]] = {"nfd": "PATH-02", "emoji": "PATH-11"}
"""That behind some classes of accepted ones; the others are literal names, PATH-16."""

CLIMBING: Final = frozenset({"dotdot"})
OUTSIDE: Final = frozenset({"absolute_outside", "relative", "prefix_sibling"})


def run_paths(grounds: Grounds) -> None:
    """Send the whole corpus to one handler, then hold all accepted names at once in another."""
    corpus = rows("paths.jsonl")
    with grounds.trial("") as ground:
        for row in corpus:
            if row["decision"] == "reject":
                ground.findings.case = f"a path of the class {row['class']}"
                _refused(ground, row["path"], row["class"])
    names = [row for row in corpus if row["decision"] == "accept" and not row["path"].endswith("/")]
    with grounds.trial("") as ground:
        for row in names:
            ground.findings.case = f"a name of the class {row['class']}"
            _lives(ground, row["path"], ACCEPTED_BECAUSE.get(row["class"], "PATH-16"))
    with grounds.trial("all accepted names at once") as ground:
        _all_at_once(ground, [row["path"] for row in names])


# ---------------------------------------------------------------- refused


def _refused(ground: Trial, path: str, kind: str) -> None:
    because = [name for name, kinds in REFUSED_BECAUSE.items() if kind in kinds.split()]
    assert because, kind
    if kind in CLIMBING:
        because.append("GUARD-02")
    if kind in OUTSIDE:
        because.append("GUARD-01")
    findings = ground.findings
    ground.create("/memories/source.md", "source\n")
    before = ground.tree()
    for raw in _commands(path, harmless=is_harmless(path)):
        answer = ground.send(raw)
        for requirement in because:
            findings.note(requirement, raw, "an error", answer, answer.is_error)
        raw_shown = _has_controls(path) and path in answer.text
        findings.note("PATH-28", raw, "the path escaped", answer, not raw_shown)
    after = ground.tree()
    for requirement in because:
        findings.note(requirement, path, before, after, after == before)
    if after != before:
        for name in ("/memories/moved.md", "/memories/source.md", path):
            ground.send({"command": "delete", "path": name})


def _commands(path: str, *, harmless: bool) -> Iterator[dict[str, Any]]:
    yield {"command": "view", "path": path}
    if harmless:
        yield {"command": "create", "path": path, "file_text": "written\n"}
        yield {"command": "str_replace", "path": path, "old_str": "n=1;", "new_str": "n=2;"}
        yield {"command": "insert", "path": path, "insert_line": 0, "insert_text": "inserted\n"}
        yield {"command": "rename", "old_path": path, "new_path": "/memories/moved.md"}
        yield {"command": "rename", "old_path": "/memories/source.md", "new_path": path}
        yield {"command": "delete", "path": path}


def is_harmless(path: str) -> bool:
    """Whether a handler that took ``path`` for one of this host would find nothing there.

    A careless handler may do to the host what it is told: a path that leads to something real is
    only viewed.
    """
    spelled = path.encode("utf-8", "replace").decode().split("\x00")[0]
    for _ in range(4):
        for read in (spelled, spelled.replace("\\", "/")):
            plain = re.sub(r"^[a-z0-9]+://|^[A-Za-z]:|~", "", read)
            if os.path.lexists(os.path.normpath("/" + plain)):
                return False
        spelled = unquote(spelled)
    return True


def _has_controls(path: str) -> bool:
    return len(path) > 1 and any(
        unicodedata.category(one) in {"Cc", "Cf", "Zl", "Zp"} for one in path
    )


# ---------------------------------------------------------------- accepted


def _lives(ground: Trial, path: str, because: str) -> None:
    """One name through every command, there and back."""
    steps: list[tuple[dict[str, Any], str]] = [
        ({"command": "create", "path": path, "file_text": "alpha\nbeta\n"}, ""),
        ({"command": "view", "path": path}, "alpha"),
        ({"command": "str_replace", "path": path, "old_str": "alpha", "new_str": "gamma"}, ""),
        ({"command": "insert", "path": path, "insert_line": 1, "insert_text": "delta\n"}, ""),
        ({"command": "rename", "old_path": path, "new_path": "/memories/elsewhere"}, ""),
        ({"command": "rename", "old_path": "/memories/elsewhere", "new_path": path}, ""),
        ({"command": "view", "path": path}, "     1\tgamma\n     2\tdelta\n     3\tbeta"),
        ({"command": "delete", "path": path}, ""),
    ]
    for raw, content in steps:
        answer = ground.send(raw)
        right = not answer.is_error and content in answer.text
        if not ground.findings.note(because, raw, content or "success", answer, right):
            ground.send({"command": "delete", "path": path})
            return
    gone = ground.view(path)
    ground.findings.note(because, path, "nothing there any more", gone, gone.is_error)


def _all_at_once(ground: Trial, paths: list[str]) -> None:
    for number, path in enumerate(paths):
        answer = ground.create(path, f"content {number};\n")
        ground.findings.note("PATH-16", path, "success", answer, not answer.is_error)
    for number, path in enumerate(paths):
        for spelling in (path, unicodedata.normalize("NFD", path)):
            because = "PATH-16" if spelling == path else "PATH-02"
            answer = ground.view(spelling)
            right = f"\tcontent {number};" in answer.text
            ground.findings.note(because, spelling, f"content {number};", answer, right)
