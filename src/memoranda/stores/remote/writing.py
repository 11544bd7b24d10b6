"""Doing a batch: planned on what was seen, written step by step, each step under its precondition.

The API changes one memory at a time. A batch of one memory is one conditional write, so it is done
or not. One of several can be met half done by others; where a step loses a race, those before it
are taken back and the batch is planned anew. A removed directory is not taken back but removed on,
as people expect it.

A write whose answer is lost is sent again: the API answers an update that is so already as done.
Where it answers otherwise, the memory's history tells whether an earlier try was done.
"""

from __future__ import annotations

from time import monotonic
from typing import TYPE_CHECKING, Final, NamedTuple, TypeVar

from anthropic import omit

from memoranda.digests import sha256
from memoranda.errors import (
    Conflict,
    FileTooLarge,
    NotFound,
    ReadOnly,
    RefusedByServer,
    Unavailable,
    UnknownId,
)
from memoranda.light_dataclasses import replace
from memoranda.path import ROOT, MemoryPath
from memoranda.stores.base import Entry, Put, Remove, VersionFilter
from memoranda.stores.patience import Lost, patiently
from memoranda.stores.planning import ContentWanted, Wanted
from memoranda.stores.remote import IF_VERSION_HEADER, history, listing
from memoranda.stores.remote.faults import Declined
from memoranda.stores.remote.shapes import entry_of
from memoranda.stores.remote.steps import Create, Delete, RemotePlan, Update

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    from memoranda.stores.base import Ceiling, Change, Version
    from memoranda.stores.remote.port import Port
    from memoranda.stores.remote.steps import Step

T = TypeVar("T")

HOSTED_CONTENT_BYTES: Final = 102_400
"""The API's limit for one content; a server may have been given a higher one."""

_PLANS: Final = 30
"""How often a batch is planned anew before it is the caller's to try again."""
_PAUSE_SECONDS: Final = 0.005
_MOST_PAUSES: Final = 20

_PARTLY: Final = (
    "A batch of several memories was done in part: the memory server stopped answering, or other"
    " writers were in the way. Look at what is there before it is sent again."
)


class Raced(Exception):
    """Another writer was faster, so the plan is out of date; this step did nothing."""


class Done(NamedTuple):
    """A step and what it made: None of a removal."""

    step: Step
    entry: Entry | None


class Writer:
    """Writes to one store. ``pause`` waits between plans."""

    def __init__(self, port: Port, store_id: str) -> None:
        self._port = port
        self._store_id = store_id

    async def apply(self, changes: Sequence[Change], ceiling: Ceiling) -> list[Done]:
        """Do a batch; what it did, in order. Raises what the changes name, ``Conflict`` where others
        are faster each time, ``Unavailable``."""
        goes_on = len(changes) == 1 and isinstance(changes[0], Remove)
        gone: list[Done] = []
        for number in range(_PLANS):
            if number:
                await self._port.pause(_PAUSE_SECONDS * min(number, _MOST_PAUSES))
            try:
                steps = await self._planned(changes, ceiling)
            except NotFound:
                if gone:
                    return gone  # others removed the rest
                raise
            done = gone if goes_on else []
            try:
                for step in steps:
                    done.append(await self._do(_up_to_date(step, done)))
            except Raced:
                if not goes_on:
                    await self._take_back(done)
                continue
            except Exception:  # raised again once the steps before it are taken back
                if not goes_on:
                    await self._take_back(done)
                raise
            return done
        raise Conflict("Other writers were faster each time.")

    async def plan_on_nothing(self, changes: Sequence[Change], ceiling: Ceiling) -> bool:
        """Whether a batch would write anything to an empty store; raises what it names."""
        plan = RemotePlan((), {}, ceiling, frozenset())
        plan.do(changes)
        return bool(plan.steps())

    # ---- planning

    async def _planned(self, changes: Sequence[Change], ceiling: Ceiling) -> list[Step]:
        wanted = Wanted(changes, None)
        entries = await listing.beneath(self._port, self._store_id, ROOT)
        by_path = {entry.path: number for number, entry in enumerate(entries)}
        contents: dict[str, bytes] = {}
        for path in wanted.edits:
            if path in by_path:
                await self._see(entries, by_path[path], contents)
        revived = await self._revived(changes, entries)
        while True:
            plan = RemotePlan(entries, contents, ceiling, revived)
            try:
                plan.do(changes)
            except ContentWanted as more:
                await self._see(entries, more.number - 1, contents)
            else:
                return plan.steps()

    async def _see(self, entries: list[Entry], number: int, contents: dict[str, bytes]) -> None:
        """Look at a content, and at what the memory is at that moment."""
        listed = entries[number]
        try:
            found = await self._port.look(
                lambda stores: stores.memories.retrieve(
                    listed.memory_id, memory_store_id=self._store_id, view="full"
                )
            )
        except Declined as error:
            if error.status == listing.MISSING:
                # Removed since: what is planned meets a precondition that fails.
                contents[listed.memory_id] = b""
                return
            raise
        entry = entry_of(found)
        if entry is not None and entry.path == listed.path:
            entries[number] = entry
        contents[listed.memory_id] = (found.content or "").encode()

    async def _revived(self, changes: Sequence[Change], entries: Sequence[Entry]) -> frozenset[str]:
        live = {entry.memory_id for entry in entries}
        asked = {
            change.keep_id
            for change in changes
            if isinstance(change, Put) and change.keep_id is not None
        }
        found: set[str] = set()
        for memory_id in asked - live:
            where = VersionFilter(memory_id=memory_id)
            page = await history.versions(self._port, self._store_id, where, None, 1, content=False)
            if page.versions:
                found.add(memory_id)
        return frozenset(found)

    # ---- steps

    async def _do(self, step: Step) -> Done:
        match step:
            case Create():
                return Done(step, await self._create(step))
            case Update():
                return Done(step, await self._update(step))
            case Delete():
                await self._delete(step)
                return Done(step, None)

    async def _create(self, step: Create) -> Entry:
        async def send() -> Entry:
            made = await self._port.ask(
                lambda stores: stores.memories.create(
                    self._store_id, path=step.path.store_path, content=step.content
                )
            )
            return _live(entry_of(made))

        async def earlier(error: Declined) -> Entry | None:
            # It was free when it was planned, so what is there now came since.
            if error.conflicting_path != step.path.store_path or not error.conflicting_id:
                return None
            wanted = sha256(step.content.encode()).hexdigest()
            past = await history.of_memory(self._port, self._store_id, error.conflicting_id)
            first = past[-1] if past else None
            if first is None or (first.path, first.sha256) != (step.path, wanted):
                return None
            return _left_by(first, first.created_at_ns)

        return await self._surely(send, earlier, step.path, len(step.content.encode()))

    async def _update(self, step: Update) -> Entry:
        seen = step.seen
        path, content = step.path, step.content
        wanted = seen.sha256 if content is None else sha256(content.encode()).hexdigest()
        place = path or seen.path

        async def send() -> Entry:
            updated = await self._port.ask(
                lambda stores: stores.memories.update(
                    seen.memory_id,
                    memory_store_id=self._store_id,
                    content=omit if content is None else content,
                    path=omit if path is None else path.store_path,
                    precondition={"type": "content_sha256", "content_sha256": seen.sha256},
                    extra_headers={IF_VERSION_HEADER: seen.version_id},
                )
            )
            return _live(entry_of(updated))

        async def earlier(error: Declined) -> Entry | None:
            del error
            past = await history.of_memory(
                self._port, self._store_id, seen.memory_id, seen.version_id
            )
            for version in past:
                if (version.path, version.sha256) == (place, wanted):
                    return _left_by(version, seen.created_at_ns)
            return None

        size = 0 if content is None else len(content.encode())
        return await self._surely(send, earlier, place, size)

    async def _delete(self, step: Delete) -> None:
        seen = step.seen

        async def send() -> bool:
            await self._port.ask(
                lambda stores: stores.memories.delete(
                    seen.memory_id,
                    memory_store_id=self._store_id,
                    expected_content_sha256=seen.sha256,
                    extra_headers={IF_VERSION_HEADER: seen.version_id},
                )
            )
            return True

        async def earlier(error: Declined) -> bool | None:
            return True if error.status == listing.MISSING else None

        await self._surely(send, earlier, seen.path, 0)

    async def _surely(
        self,
        send: Callable[[], Awaitable[T]],
        earlier: Callable[[Declined], Awaitable[T | None]],
        path: MemoryPath,
        size_bytes: int,
    ) -> T:
        """What a write gives, sent again while its answer gets lost. Once one was, a refusal may come
        from its own success: ``earlier`` tells."""
        is_unsure = False

        async def attempt() -> T:
            nonlocal is_unsure
            try:
                return await send()
            except Lost:
                is_unsure = True
                raise

        try:
            return await patiently(self._port, attempt, monotonic)
        except Declined as error:
            if is_unsure:
                done = await earlier(error)
                if done is not None:
                    return done
            await self._refuse(error, path, size_bytes)
            raise

    async def _refuse(self, error: Declined, path: MemoryPath, size_bytes: int) -> None:
        """Raise what a declined write means in the contract's words; return for none of them."""
        if error.status in {404, 409, 412}:
            raise Raced from error
        if error.status == 403:
            raise ReadOnly(path) from error
        if error.status not in {400, 413}:
            return
        if await self._is_archived():
            raise ReadOnly(path) from error
        if size_bytes > HOSTED_CONTENT_BYTES:
            raise FileTooLarge(path, size_bytes, HOSTED_CONTENT_BYTES) from error
        raise RefusedByServer(path) from error

    async def _is_archived(self) -> bool:
        try:
            store = await self._port.look(lambda stores: stores.retrieve(self._store_id))
        except Declined as error:
            raise UnknownId("store") from error
        return store.archived_at is not None

    # ---- taking back

    async def _take_back(self, done: Sequence[Done]) -> None:
        """Undo what a batch did so far, newest first; raises ``Unavailable`` where it can't be."""
        since = list(done)
        for each in reversed(done):
            try:
                since.append(await self._do(_up_to_date(await self._reverse(each), since)))
            except (Raced, Conflict, Unavailable, UnknownId, ReadOnly, RefusedByServer) as error:
                raise Unavailable(_PARTLY) from error

    async def _reverse(self, done: Done) -> Step:
        step, made = done
        if isinstance(step, Create):
            return Delete(_live(made))
        if isinstance(step, Update):
            content = None if step.content is None else await self._content_of(step.seen)
            return Update(_live(made), None if step.path is None else step.seen.path, content)
        return Create(step.seen.path, await self._content_of(step.seen))

    async def _content_of(self, seen: Entry) -> str:
        version = await history.one(self._port, self._store_id, seen.version_id)
        return (version.content or b"").decode()


def _up_to_date(step: Step, done: Sequence[Done]) -> Step:
    """A step on a memory as the batch has left it so far."""
    if isinstance(step, Create):
        return step
    for each in reversed(done):
        if each.entry is not None and each.entry.memory_id == step.seen.memory_id:
            return replace(step, seen=each.entry)
    return step


def _live(entry: Entry | None) -> Entry:
    if entry is None:
        raise Lost("The memory server's answer can't be read.")
    return entry


def _left_by(version: Version, created_at_ns: int) -> Entry:
    """What lived right after a version."""
    assert version.path is not None
    return Entry(
        version.path,
        version.memory_id,
        version.id,
        version.size_bytes or 0,
        version.sha256 or "",
        created_at_ns,
        version.created_at_ns,
    )
