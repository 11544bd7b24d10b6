"""Checking a store: records against contents, the branch against records, counters, the chain."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from memoranda.digests import sha256
from memoranda.errors import Corrupt
from memoranda.path import ROOT
from memoranda.stores.base import Report
from memoranda.stores.git import adoption, audit, log, trees
from memoranda.stores.git.batch import by_number, git_names
from memoranda.stores.git.heads import EMPTY, Heads, Record, Totals, is_shown
from memoranda.stores.git.objects import FILE_MODES
from memoranda.stores.reports import Problem

if TYPE_CHECKING:
    from memoranda.path import MemoryPath
    from memoranda.stores.git.log import Head
    from memoranda.stores.git.objects import Id, Objects

_RESTORE: Final = "Run git fsck on the repository and restore what it names from a copy."
_LEAVE: Final = "Nothing has to be done; git shows it, agents never see it."


def verify(objects: Objects, head: Head) -> Report:
    """What ``Store.verify`` promises; reads every content of every version."""
    check = _Check(objects, head)
    check.run()
    return Report(tuple(check.problems), tuple(check.notes), check.files, check.versions)


class _Check:
    def __init__(self, objects: Objects, head: Head) -> None:
        self._objects = objects
        self._head = head
        self._heads = Heads(objects, head.heads)
        self._checked: dict[Id, tuple[int, bytes] | None] = {}
        self.problems: list[Problem] = []
        self.notes: list[Problem] = []
        self.files = 0
        self.versions = 0

    def run(self) -> None:
        """All that there is to check; what can't be read is a problem, and the rest goes on."""
        for part in (self._present, self._branch, self._history):
            try:
                part()
            except Corrupt as error:
                self._problem("unreadable", str(error))

    def _present(self) -> None:
        head = self._head
        totals = self._directory(ROOT)
        if (totals.files, totals.bytes) != (head.state.files, head.state.bytes):
            self._problem("counter", "The store counted other memories than there are.")

    def _directory(self, directory: MemoryPath) -> Totals:
        """What truly lies beneath a directory."""
        found = EMPTY
        for key, kept in self._heads.children(directory):
            name = key.removesuffix("/")
            path = directory.child(name)
            shown = is_shown(name)
            if isinstance(kept, Record):
                self.files += 1
                self._memory(path, kept)
                found = found.plus(Totals(1, kept.size, kept.size if shown else 0, int(shown), 0))
                continue
            beneath = self._directory(path)
            if beneath != kept:
                self._problem("counter", "A directory counted other memories than there are.", path)
            found = found.plus(
                Totals(beneath.files, beneath.bytes, beneath.shown, 1, beneath.items)
                if shown
                else Totals(beneath.files, beneath.bytes, 0, 0, 0)
            )
        return found

    def _memory(self, path: MemoryPath, record: Record) -> None:
        self._content(record.blob, record.size, record.sha, path)
        try:
            known = by_number(self._objects, self._head, record.number)
        except Corrupt:
            known = None, None
        if known != (path, record):
            self._problem("number", "The number of a memory leads elsewhere.", path)

    def _content(self, blob: Id, size: int | None, sha: bytes | None, path: MemoryPath) -> None:
        if blob not in self._checked:
            try:
                data = self._objects.read_blob(blob)
                self._checked[blob] = len(data), sha256(data).digest()
            except Corrupt:
                self._checked[blob] = None
        if self._checked[blob] != (size, sha):
            self._problem("content", "A content is missing, or not the one that was stored.", path)

    def _branch(self) -> None:
        """The tree that people see against the records."""
        head, objects = self._head, self._objects
        if head.main is not None and objects.read_commit(head.main).tree != head.memories:
            self._problem("branch", "The branch has another tree than the log.")
        there = dict(trees.files(objects, head.memories))
        for path, record in self._heads.beneath(ROOT):
            entry = there.pop(git_names(path), None)
            if entry is None or entry.mode not in FILE_MODES or entry.id != record.blob:
                self._problem("branch", "The branch has another content than the log.", path)
        for names, entry in there.items():
            found = adoption.memory_at(names)
            if found is not None and entry.mode in FILE_MODES:
                self._problem("branch", "The branch has a memory that the log has not.", found)
            else:
                self.notes.append(
                    Problem("foreign", "The branch has something that is no memory.", _LEAVE)
                )

    def _history(self) -> None:
        for batch in log.batches(self._objects, self._head):
            for event, blob, _ in log.happened_in(self._objects, batch):
                if event.memory is None:
                    continue
                self.versions += 1
                if blob is not None:
                    self._content(blob, event.size, event.sha, ROOT)
        self.problems += audit.verify(self._objects, self._head, ()).problems

    def _problem(self, code: str, message: str, path: MemoryPath | None = None) -> None:
        self.problems.append(Problem(code, message, _RESTORE, path))
