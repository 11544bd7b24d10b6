"""One batch on one state of a store: what it has to see, and the state that it leads to."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from memoranda.escape import escape_for_display
from memoranda.stores.base import Ceiling, Context
from memoranda.stores.git import log, trees
from memoranda.stores.git.heads import Heads, Record, Totals, record_of
from memoranda.stores.git.log import COMMITTER, Happened, Head
from memoranda.stores.git.names import to_git
from memoranda.stores.git.objects import FILE_MODE, Entry, Person
from memoranda.stores.log.packs import packed
from memoranda.stores.planning import ContentWanted, Item, Plan, Seen, Wanted
from memoranda.stores.sealing import seal

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from memoranda.path import MemoryPath
    from memoranda.stores.base import Change, Version
    from memoranda.stores.git.objects import Id, Objects
    from memoranda.stores.git.trees import Names
    from memoranda.stores.log.records import Taken
    from memoranda.stores.sealing import Sealed, Written

MOST_SUBJECT_CHARS: Final = 200
LIVE: Final = b"/"
"""What the entry of a memory that is somewhere begins with: its path."""


class Foreign(NamedTuple):
    """Where a batch comes from that somebody else's git made: the commits of the branch that it is
    to follow, and its tree."""

    parents: Sequence[Id]
    tree: Id


class Done(NamedTuple):
    """The state after a batch, and its versions."""

    head: Head
    versions: Sequence[Version]


def run(
    objects: Objects,
    head: Head,
    changes: Sequence[Change],
    context: Context | None,
    taken: Taken,
    now_ns: int,
    *,
    is_archived: bool = False,
    foreign: Foreign | None = None,
    holds: bytes | None = None,
) -> Done:
    """Do a batch. Raises as ``Store.apply`` does, and whatever an edit raises; then what it made in
    ``objects`` is nobody's."""
    look = _Look(objects, head)
    contents: set[int] = set()
    takes_over = context is not None and context.at_ns is not None
    while True:
        seen = look.seen(changes, contents, is_archived=is_archived)
        ceiling = Ceiling() if context is None else context.ceiling
        plan = Plan(head, seen, ceiling, takes_over=takes_over)
        try:
            plan.do(changes)
        except ContentWanted as wanted:
            contents.add(wanted.number)
            continue
        break
    notes, uses = taken
    sealed = seal(head, plan, context, (list(packed(notes)) if notes else [], uses), now_ns)
    if sealed is None and foreign is None:
        return Done(head, ())
    if holds is not None:
        head = head._replace(holds=objects.blob(holds))
    if sealed is None:
        return Done(_Writing(objects, head, look.records).follow(foreign), ())
    after = _Writing(objects, head, look.records).write(sealed, context, foreign)
    return Done(after, sealed.versions)


class _Look:
    """What there is, as planning wants to see it; remembers the records that it met."""

    def __init__(self, objects: Objects, head: Head) -> None:
        self._objects = objects
        self._head = head
        self._heads = Heads(objects, head.heads)
        self.records: dict[int, Record] = {}

    def seen(self, changes: Sequence[Change], contents: set[int], *, is_archived: bool) -> Seen:
        """All that a plan of these changes asks for."""
        wanted = Wanted(changes, self._head)
        items: dict[int, Item] = {}
        counts: dict[MemoryPath, int] = {}
        edits = set(wanted.edits)
        for path in wanted.exact:
            found = self._heads.find(path)
            if isinstance(found, Record):
                self._add(items, found, path, data=path in edits or found.number in contents)
        for path in wanted.beneath:
            for below, record in self._heads.beneath(path):
                if record.number not in items:
                    self._add(items, record, below, data=record.number in contents)
        for path in wanted.counted:
            found = self._heads.find(path)
            counts[path] = found.files if isinstance(found, Totals) else 0
        for number in wanted.ids | contents:
            if number not in items:
                self._add_by_number(items, number, data=number in contents)
        state = self._head.state._replace(archived=is_archived)
        return Seen(state, counts, tuple(items.values()))

    def _add(
        self, items: dict[int, Item], record: Record, path: MemoryPath | None, *, data: bool
    ) -> None:
        self.records[record.number] = record
        items[record.number] = Item(
            record.number, path, record.created, record.updated, record.head, record.size,
            record.sha, record.head, self._objects.read_blob(record.blob) if data else None,
        )  # fmt: skip

    def _add_by_number(self, items: dict[int, Item], number: int, *, data: bool) -> None:
        path, record = by_number(self._objects, self._head, number)
        if record is not None:
            self._add(items, record, path, data=data)


def by_number(objects: Objects, head: Head, number: int) -> tuple[MemoryPath | None, Record | None]:
    """Where a memory is (None: it is gone) and its record; no record for one that never was."""
    entry = trees.find(objects, head.numbers, trees.place_of_number(number))
    if entry is None or entry.is_tree:
        return None, None
    line = objects.read_blob(entry.id)
    if not line.startswith(LIVE):
        return None, record_of(line)
    path = path_of(line.decode())
    return path, Heads(objects, head.heads).record(path)


def path_of(text: str) -> MemoryPath:
    """A path as it is stored: ``/a/b.md``."""
    from memoranda.path import MemoryPath

    return MemoryPath.of(tuple(text[1:].split("/")))


class _Writing:
    """From a sealed batch to the commits that tell it."""

    def __init__(self, objects: Objects, head: Head, records: Mapping[int, Record]) -> None:
        self._objects = objects
        self._head = head
        self._records = records
        self._changes: dict[MemoryPath, Record | None] = {}
        self._numbers: dict[Names, Entry | None] = {}
        self._places: dict[Names, Entry | None] = {}
        self._happened: list[Happened] = []

    def follow(self, foreign: Foreign | None) -> Head:
        """The state of a branch that went on without changing a memory."""
        assert foreign is not None  # it is what there is to follow
        main = foreign.parents[0]
        if len(foreign.parents) > 1:
            main = self._merge(foreign, foreign.tree)
        return self._commit(self._head._replace(main=main, memories=foreign.tree, events=None))

    def write(self, sealed: Sealed, context: Context | None, foreign: Foreign | None) -> Head:
        """The state that it leads to."""
        objects, head = self._objects, self._head
        for written in sealed.written:
            self._take(written)
        moved = dict(self._changes)
        self._use(sealed.uses)
        heads = Heads(objects, head.heads).changed(self._changes) if self._changes else None
        changed = [each for each in sealed.written if each.item is not None]
        after = head._replace(
            state=sealed.state,
            versions=head.versions + len(changed),
            history=head.history + sealed.history_bytes,
            last_version=changed[-1].event.seq if changed else head.last_version,
            events=objects.blob(log.lines_of(self._happened)) if self._happened else None,
            heads=head.heads if heads is None else heads.root,
            numbers=trees.graft(objects, head.numbers, self._numbers)
            if self._numbers
            else head.numbers,
            places=trees.graft(objects, head.places, self._places) if self._places else head.places,
        )
        if foreign is not None:
            main = foreign.parents[0]
            if len(foreign.parents) > 1:
                main = self._merge(foreign, foreign.tree)
            after = after._replace(memories=foreign.tree, main=main)
        elif changed:
            assert context is not None  # changes come with one
            memories = self._memories(moved)
            after = after._replace(
                memories=memories, main=self._main(memories, sealed, changed, context)
            )
        return self._commit(after)

    def _take(self, written: Written) -> None:
        event, _, item, data, is_vacated, is_arrived = written
        if item is None:
            self._happened.append(Happened(event, None, 0))
            return
        objects = self._objects
        before = self._records.get(item.id)
        blob = objects.blob(data) if data is not None else None if before is None else before.blob
        assert blob is not None  # a memory without a content was never made
        record = Record(
            item.id, item.created, item.updated, item.head, item.size, item.sha, blob,
            None if before is None else before.used,
        )  # fmt: skip
        gone = item.path is None
        self._happened.append(
            Happened(event, None if gone else blob, 0 if before is None else before.head)
        )
        number = trees.place_of_number(item.id)
        if item.path is not None:
            self._changes[item.path] = record
        if is_vacated or is_arrived:
            line = record.line() if item.path is None else item.path.store_path.encode()
            self._numbers[number] = Entry(FILE_MODE, objects.blob(line))
        if is_arrived and item.path is not None:
            self._places[place_of(item.path, item.id)] = Entry(FILE_MODE, objects.blob(b""))
        self._leave(item, is_vacated=is_vacated)

    def _leave(self, item: Item, *, is_vacated: bool) -> None:
        if not is_vacated:
            return
        path, _ = by_number(self._objects, self._head, item.id)
        if path is not None:
            # Unless another memory of this batch came there.
            self._changes.setdefault(path, None)

    def _use(self, uses: Mapping[MemoryPath, int]) -> None:
        heads = Heads(self._objects, self._head.heads)
        for path, at_ns in uses.items():
            if path in self._changes:
                record = self._changes[path]
            else:
                found = heads.find(path)
                record = found if isinstance(found, Record) else None
            if record is not None:
                self._changes[path] = record._replace(used=at_ns)

    def _memories(self, changes: Mapping[MemoryPath, Record | None]) -> Id:
        entries = {
            git_names(path): None if record is None else Entry(FILE_MODE, record.blob)
            for path, record in changes.items()
        }
        tree = trees.graft(self._objects, self._head.memories, entries)
        return self._objects.tree({}) if tree is None else tree

    def _main(
        self, memories: Id, sealed: Sealed, changed: Sequence[Written], context: Context
    ) -> Id:
        head = self._head
        parents = [] if head.main is None else [head.main]
        seconds = sealed.state.at // 1_000_000_000
        message = message_of(context, [str(each.event.path) for each in changed])
        author = author_of(context.actor)
        return self._objects.commit(memories, parents, author, COMMITTER, seconds, message)

    def _merge(self, foreign: Foreign, memories: Id) -> Id:
        message = "Merge what was pushed meanwhile\n"
        seconds = self._head.state.at // 1_000_000_000
        return self._objects.commit(
            memories, foreign.parents, COMMITTER, COMMITTER, seconds, message
        )

    def _commit(self, after: Head) -> Head:
        head = self._head
        after = after._replace(number=head.number + 1, skips=log.skips_after(self._objects, head))
        parents = [head.commit]
        if after.main is not None:
            parents.append(after.main)
        return log.write(self._objects, after, parents)


def git_names(path: MemoryPath) -> Names:
    """Where a memory lies in the tree that people see."""
    return tuple(to_git(name).encode() for name in path.segments)


def place_of(path: MemoryPath, number: int) -> Names:
    """Where it is noted that a memory came to a path."""
    return (*(b"=" + name.encode() for name in path.segments), b"%x" % number)


def author_of(actor: str) -> Person:
    """An actor as git's author: no character that git cuts a name at."""
    name = escape_for_display(actor).translate({ord("<"): "(", ord(">"): ")"}).strip(" .,:;\"'")
    name = name or "unknown"
    mail = "".join(c if c.isascii() and (c.isalnum() or c in "-_.+@") else "_" for c in name)
    return Person(name, f"{mail}@memoranda.invalid")


def message_of(context: Context, paths: Sequence[str]) -> str:
    """What a commit says: the command and its paths in a line, then who and why, a line each.

    Every text is on one line, whatever it holds, so that nobody can forge another.
    """
    command = escape_for_display(context.command) or "change"
    subject = f"{command} {escape_for_display(paths[0])}" if paths else command
    if len(paths) > 1:
        subject += f" and {len(paths) - 1} more"
    lines = [subject[:MOST_SUBJECT_CHARS], "", f"Actor: {escape_for_display(context.actor)}"]
    if context.trace_id is not None:
        lines.append(f"Trace: {escape_for_display(context.trace_id)}")
    return "\n".join([*lines, ""])
