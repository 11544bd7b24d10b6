"""A planned batch as the writes that the API can do: each of one memory, each under the hash of what
was seen, in an order in which no path is in another's way."""

from __future__ import annotations

from collections import Counter
from os import urandom
from typing import TYPE_CHECKING, Final, TypeAlias

from memoranda.errors import AlreadyExists, NotText, UnknownId
from memoranda.light_dataclasses import dataclass
from memoranda.path import ROOT, MemoryPath
from memoranda.stores.planning import Item, Plan, Seen, State, parents

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from memoranda.stores.base import Ceiling, Entry

_NO_CHAIN: Final = bytes(32)


@dataclass(frozen=True, slots=True)
class Create:
    """Make a memory at a free path."""

    path: MemoryPath
    content: str


@dataclass(frozen=True, slots=True)
class Update:
    """Give a memory that was seen another path, another content, or both."""

    seen: Entry
    path: MemoryPath | None
    content: str | None


@dataclass(frozen=True, slots=True)
class Delete:
    """Remove a memory that was seen."""

    seen: Entry


Step: TypeAlias = Create | Update | Delete


class RemotePlan(Plan):
    """A batch on what was seen of a store whose ids are the server's.

    ``revived`` are ids that are to come back and that the store once had: the API gives each memory
    a new id, so they come back under one.
    """

    def __init__(
        self,
        entries: Sequence[Entry],
        contents: Mapping[str, bytes],
        ceiling: Ceiling,
        revived: frozenset[str],
    ) -> None:
        self.entries = entries
        self._numbers = {entry.memory_id: number for number, entry in enumerate(entries, 1)}
        self._revived = revived
        items = [
            Item(
                number,
                entry.path,
                entry.created_at_ns,
                entry.updated_at_ns,
                number,
                entry.size_bytes,
                bytes.fromhex(entry.sha256),
                number,
                contents.get(entry.memory_id),
            )
            for number, entry in enumerate(entries, 1)
        ]
        size_bytes = sum(entry.size_bytes for entry in entries)
        state = State(len(items), 0, _NO_CHAIN, len(items), size_bytes, False)
        super().__init__(None, Seen(state, {}, items), ceiling)

    def seen(self, number: int) -> Entry:
        """The memory that has this number in the plan."""
        return self.entries[number - 1]

    def steps(self) -> list[Step]:
        """The writes. Raises ``NotText`` for what the API's JSON can't hold."""
        found: list[Step] = []
        for item in self.touched:
            before = self.before.get(item.id)
            if before is None:
                if item.path is not None:
                    found.append(Create(item.path, _text(item.path, item)))
            elif item.path is None:
                found.append(Delete(self.seen(item.id)))
            else:
                path = None if item.path == before.path else item.path
                content = None if item.sha == before.sha else _text(item.path, item)
                if path is not None or content is not None:
                    found.append(Update(self.seen(item.id), path, content))
        return ordered(found, self.entries)

    def _is_head(self, item: Item, version_id: str) -> bool:
        return item.head > 0 and self.seen(item.id).version_id == version_id

    def _returning(self, keep_id: str, path: MemoryPath, there: Item | None) -> Item | None:
        number = self._numbers.get(keep_id)
        item = None if number is None else self._items.get(number)
        if item is None and keep_id not in self._revived:
            raise UnknownId("memory")
        if item is not None and item is there:
            return None
        if there is not None:
            raise AlreadyExists(path)
        if item is not None and item.path is not None:
            raise AlreadyExists(item.path)
        return item  # removed by this very batch: it only moves


def _text(path: MemoryPath, item: Item) -> str:
    assert item.data is not None  # it is new
    try:
        return item.data.decode()
    except UnicodeDecodeError:
        raise NotText(path) from None


# ---------------------------------------------------------------- the order


def ordered(steps: Sequence[Step], entries: Sequence[Entry]) -> list[Step]:
    """The same steps, none of which meets a path that a later one frees; where memories change
    places, one waits aside. Removals come last where they can: they can't be taken back whole."""
    taken = _Taken(entries)
    waiting = [step for step in steps if not isinstance(step, Delete)]
    removals = {step.seen.path: step for step in steps if isinstance(step, Delete)}
    found: list[Step] = []
    while waiting:
        free = next((each for each in waiting if taken.is_free_for(each)), None)
        if free is not None:
            waiting.remove(free)
        step: Step = free or _way_maker(taken, waiting, removals)
        found.append(step)
        taken.do(step)
    return [*found, *removals.values()]


def _way_maker(
    taken: _Taken, waiting: list[Create | Update], removals: dict[MemoryPath, Delete]
) -> Delete | Update:
    """A step that frees what the first one waiting needs."""
    blockers = taken.blockers_of(waiting[0])
    for path in blockers:
        if path in removals:
            return removals.pop(path)
    for number, step in enumerate(waiting):
        if isinstance(step, Update) and taken.at(step) in blockers:
            aside = ROOT.child(f"moving-{urandom(16).hex()}")
            away = Update(step.seen, aside, None)
            # Its content comes with the second move.
            place = step.path or step.seen.path
            waiting[number] = Update(step.seen, place, step.content)
            return away
    raise AssertionError("a plan leaves no path to two memories")


class _Taken:
    """Which paths are taken as the steps go on."""

    def __init__(self, entries: Sequence[Entry]) -> None:
        self._at = {entry.path: entry.memory_id for entry in entries}
        self._now = {entry.memory_id: entry.path for entry in entries}
        self._beneath: Counter[MemoryPath] = Counter()
        for entry in entries:
            self._beneath.update(parents(entry.path))

    def at(self, step: Update) -> MemoryPath:
        """Where the memory of a step is now."""
        return self._now[step.seen.memory_id]

    def is_free_for(self, step: Step) -> bool:
        """Whether a step's path is."""
        if isinstance(step, Update) and (step.path is None or step.path == self.at(step)):
            return True
        return not self._in_the_way(step)

    def blockers_of(self, step: Step) -> set[MemoryPath]:
        """The memories in the way of a step."""
        return self._in_the_way(step)

    def do(self, step: Step) -> None:
        """Note that a step is done."""
        if isinstance(step, Create):
            self._put("", step.path)
            return
        memory_id = step.seen.memory_id
        if isinstance(step, Delete) or step.path is not None:
            old = self._now.pop(memory_id)
            del self._at[old]
            self._beneath.subtract(parents(old))
        if isinstance(step, Update) and step.path is not None:
            self._put(memory_id, step.path)

    def _put(self, memory_id: str, path: MemoryPath) -> None:
        self._at[path] = memory_id
        self._now[memory_id] = path
        self._beneath.update(parents(path))

    def _in_the_way(self, step: Step) -> set[MemoryPath]:
        path = step.path if isinstance(step, Create | Update) else None
        if path is None:
            return set()
        own = self.at(step) if isinstance(step, Update) else None
        found = {above for above in (*parents(path), path) if above in self._at}
        if self._beneath[path] > 0:
            found |= {each for each in self._at if each.is_below(path)}
        return found - {own}
