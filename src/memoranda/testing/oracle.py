"""The oracle of the state machine: a dict of texts and bytes that says what has to happen.

It is written for being obviously right: no index, no ids of its own, no code of any store.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, TypeAlias

Where: TypeAlias = str | tuple[str, str]
PlainChange: TypeAlias = tuple[str, Where, bytes]
"""What to do (put, make, append, rewrite, remove, move), where (source and target), with what."""


class File(NamedTuple):
    """A memory: ``token`` is the oracle's own name for it, the same wherever it moves."""

    token: int
    content: bytes


@dataclass
class Attempt:
    """Files on which a batch is tried; ``touches`` counts the changes of each memory."""

    files: dict[str, File]
    new_token: itertools.count[int]
    touches: Counter[int] = field(default_factory=Counter[int])
    objections: set[str] = field(default_factory=set[str])

    # ---- what is there

    def is_directory(self, path: str) -> bool:
        """Whether something lies beneath ``path``; the root always is one."""
        return path == "/" or any(one.startswith(path + "/") for one in self.files)

    def beneath(self, path: str) -> list[str]:
        """``path`` if it is a file, else the files beneath it."""
        return [one for one in self.files if one == path or one.startswith(path + "/")]

    def has_file_above(self, path: str, ignoring: str = "") -> bool:
        """Whether a parent of ``path`` is a file (other than ``ignoring``)."""
        return any(path.startswith(one + "/") and one != ignoring for one in self.files)

    # ---- what has to be refused

    def against(self, change: PlainChange) -> set[str]:
        """The names of the errors that ``change`` may be refused with; none: it has to be done."""
        kind, where, _ = change
        if isinstance(where, tuple):
            return self._against_moving(*where)
        if where == "/":
            return {"RootRefused"}
        if kind == "remove":
            return set() if self.beneath(where) else {"NotFound"}
        if self.is_directory(where):
            return {"IsADirectory"}
        if kind in {"append", "rewrite"}:
            return set() if where in self.files else {"NotFound"}
        if self.has_file_above(where):
            return {"NotADirectory"}
        return {"AlreadyExists"} if kind == "make" and where in self.files else set()

    def _against_moving(self, source: str, target: str) -> set[str]:
        if source == "/":
            return {"RootRefused"}
        reasons = {
            "NotFound": not self.beneath(source),
            "AlreadyExists": target in self.files or self.is_directory(target),
            "MoveIntoItself": self.is_directory(source) and target.startswith(source + "/"),
            "NotADirectory": self.has_file_above(target, ignoring=source),
        }
        return {name for name, applies in reasons.items() if applies}

    # ---- doing it

    def do(self, change: PlainChange) -> None:
        """Do ``change``, which nothing speaks against."""
        kind, where, content = change
        if isinstance(where, tuple):
            source, target = where
            for path in self.beneath(source):
                file = self.files.pop(path)
                self.files[target + path.removeprefix(source)] = file
                self.touches[file.token] += 1
        elif kind == "remove":
            for path in self.beneath(where):
                self.touches[self.files.pop(path).token] += 1
        else:
            old = self.files.get(where)
            if kind == "append" and old is not None:
                content = old.content + content
            if old is None or old.content != content:
                file = File(old.token if old else next(self.new_token), content)
                self.files[where] = file
                self.touches[file.token] += 1


class Past(NamedTuple):
    """A state that was: after which version, when, and what it held."""

    seq: int
    at_ns: int
    contents: dict[str, bytes]
    ids: dict[str, str]


class Oracle:
    """What a store has to hold, path by path, what it has to refuse, and all that was."""

    def __init__(self) -> None:
        self.files: dict[str, File] = {}
        self.ids: dict[int, str] = {}
        """The store's id of each memory that outlived a batch."""
        self.fewest: Counter[int] = Counter()
        self.most: Counter[int] = Counter()
        self.past: list[Past] = []
        self._new_token = itertools.count(1)

    def attempt(self, changes: Sequence[PlainChange]) -> Attempt:
        """What ``changes`` make of the files, or the objections to the first that meets some."""
        attempt = Attempt(dict(self.files), self._new_token)
        for change in changes:
            attempt.objections = attempt.against(change)
            if attempt.objections:
                break
            attempt.do(change)
        return attempt

    def attempt_revival(self, token: int, path: str, content: bytes) -> Attempt:
        """What bringing a dead memory back at ``path`` makes of the files."""
        attempt = self.attempt([("make", path, content)])
        if not attempt.objections:
            attempt.files[path] = File(token, content)
            attempt.touches = Counter({token: 1})
        return attempt

    def accept(self, attempt: Attempt) -> None:
        """Take over what an attempt came to."""
        before = {file.token: (path, file.content) for path, file in self.files.items()}
        after = {file.token: (path, file.content) for path, file in attempt.files.items()}
        for token, touches in attempt.touches.items():
            # A batch may be told as one version of each memory that it changed, or as several.
            self.most[token] += touches
            self.fewest[token] += before.get(token) != after.get(token)
        self.files = attempt.files

    def learn(self, ids: Mapping[str, str]) -> None:
        """Take over the ids of new memories; known ones have to be what they were, new ones new."""
        assert set(ids) == set(self.files), "other paths are listed than have to be"
        for path, file in self.files.items():
            if file.token not in self.ids:
                assert ids[path] not in self.ids.values(), f"the id of {path} was given before"
                self.ids[file.token] = ids[path]
            assert self.ids[file.token] == ids[path], f"{path} has another id now"

    def note(self, seq: int, at_ns: int) -> None:
        """Keep the present state as what was right after version ``seq``."""
        self.past.append(Past(seq, at_ns, self.contents(), self.ids_by_path()))

    # ---- what has to be seen

    def contents(self) -> dict[str, bytes]:
        """Every path with its content."""
        return {path: file.content for path, file in self.files.items()}

    def ids_by_path(self) -> dict[str, str]:
        """Every path with the id of its memory."""
        return {path: self.ids[file.token] for path, file in self.files.items()}

    def dead(self) -> list[int]:
        """The memories that were and are not any more."""
        return sorted(set(self.ids) - {file.token for file in self.files.values()})

    def outline(self) -> tuple[int, list[tuple[str, int]]]:
        """The size of all that is shown of the root, and its two levels of lines."""
        lines: Counter[str] = Counter()
        total = 0
        for path, file in self.files.items():
            names = path[1:].split("/")
            hidden = [name.startswith(".") for name in names]
            size = 0 if any(hidden) else len(file.content)
            total += size
            for depth in (1, 2):
                if depth <= len(names) and not any(hidden[:depth]):
                    lines["/" + "/".join(names[:depth]) + "/" * (depth < len(names))] += size
        return total, sorted(lines.items())
