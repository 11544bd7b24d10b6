"""The small steps that promises are written in: paths, changes, whole pictures of a store."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from typing import Final, Generic, Literal, NamedTuple, TypeVar

from memoranda.errors import MemorandaError
from memoranda.path import ROOT, MemoryPath
from memoranda.stores.base import (
    Change,
    Context,
    Directory,
    Edit,
    EditFunction,
    Entry,
    Expect,
    Moment,
    Move,
    Precondition,
    Put,
    Remove,
    Store,
    Version,
    VersionFilter,
)
from memoranda.text.splice import Splice

AGENT: Final = Context(actor="agent", command="test")

E = TypeVar("E", bound=BaseException)


def p(store_path: str) -> MemoryPath:
    """The path that the HTTP API would spell ``store_path``: ``/`` is the root."""
    return MemoryPath.of(tuple(store_path[1:].split("/"))) if store_path != "/" else ROOT


async def apply(store: Store, *changes: Change, by: Context = AGENT) -> tuple[Version, ...]:
    """Do ``changes`` as one batch."""
    return await store.apply(changes, by)


async def put(
    store: Store,
    path: str,
    content: bytes,
    expect: Precondition = Expect.ANY,
    *,
    keep_id: str | None = None,
    by: Context = AGENT,
) -> tuple[Version, ...]:
    """Put ``content`` at ``path``."""
    return await store.apply([Put(p(path), content, expect, keep_id)], by)


async def edit(
    store: Store,
    path: str,
    function: EditFunction,
    expect: Precondition = Expect.ANY,
    *,
    by: Context = AGENT,
) -> tuple[Version, ...]:
    """Edit the memory at ``path`` by ``function``."""
    return await store.apply([Edit(p(path), function, expect)], by)


async def remove(
    store: Store, path: str, expect: Precondition = Expect.ANY, *, by: Context = AGENT
) -> tuple[Version, ...]:
    """Remove what is at ``path``."""
    return await store.apply([Remove(p(path), expect)], by)


async def move(
    store: Store,
    source: str,
    target: str,
    expect: Precondition = Expect.ANY,
    *,
    by: Context = AGENT,
) -> tuple[Version, ...]:
    """Move ``source`` to ``target``."""
    return await store.apply([Move(p(source), p(target), expect)], by)


async def fill(store: Store, *paths: str) -> None:
    """Make a memory at each path; its content is its path, so that no two are equal."""
    await store.apply([Put(p(path), path.encode()) for path in paths], AGENT)


def append(text: bytes) -> EditFunction:
    """An edit that adds ``text`` at the end."""
    return lambda old: Splice(len(old), len(old), text)


def constantly(splice: Splice) -> EditFunction:
    """An edit that makes this one splice, whatever the content is."""
    return lambda old: splice


def replace_all(text: bytes) -> EditFunction:
    """An edit that makes ``text`` the whole content."""
    return lambda old: Splice(0, len(old), text)


async def read(store: Store, path: str) -> bytes:
    """The whole content at ``path``."""
    return (await store.read(p(path))).data


async def entries(
    store: Store,
    prefix: str = "/",
    *,
    depth: Literal[0, 1] = 0,
    limit: int = 100,
    at: Moment | None = None,
) -> list[Entry | Directory]:
    """A whole listing, page by page."""
    found: list[Entry | Directory] = []
    after: str | None = None
    while True:
        page = await store.list(p(prefix), depth=depth, after=after, limit=limit, at=at)
        assert len(page.entries) <= limit
        found.extend(page.entries)
        if page.after is None:
            return found
        assert page.entries, "a page that has a page after it is not empty"
        after = page.after


def printed(item: Entry | Directory) -> str:
    """The path of a line of a listing as it is ordered: a directory's with its slash."""
    return item.path.store_path + ("/" if isinstance(item, Directory) else "")


async def names(
    store: Store,
    prefix: str = "/",
    *,
    depth: Literal[0, 1] = 0,
    limit: int = 100,
    at: Moment | None = None,
) -> list[str]:
    """The printed paths of a whole listing."""
    return [printed(item) for item in await entries(store, prefix, depth=depth, limit=limit, at=at)]


async def memories(store: Store, *, at: Moment | None = None) -> list[Entry]:
    """Every memory of the store, now or at a moment."""
    found = await entries(store, at=at)
    assert all(isinstance(item, Entry) for item in found)
    return [item for item in found if isinstance(item, Entry)]


async def tree(store: Store) -> dict[str, bytes]:
    """Every path with its content, as the listing and the reads give them."""
    return {
        entry.path.store_path: (await store.read(entry.path)).data
        for entry in await memories(store)
    }


async def history(
    store: Store,
    where: VersionFilter = VersionFilter(),
    *,
    limit: int = 100,
    content: bool = False,
) -> list[Version]:
    """All versions that ``where`` asks for, newest first, page by page."""
    found: list[Version] = []
    after: str | None = None
    while True:
        page = await store.versions(where, after=after, limit=limit, content=content)
        assert len(page.versions) <= limit
        found.extend(page.versions)
        if page.after is None:
            return found
        assert page.versions, "a page that has a page after it is not empty"
        after = page.after


class Picture(NamedTuple):
    """All that a store shows, for comparing before and after."""

    contents: dict[str, bytes]
    entries: list[Entry]
    versions: list[Version]
    files: int
    size_bytes: int


async def picture(store: Store) -> Picture:
    """What the store holds now: contents, ids, times, history, counters."""
    usage = await store.usage()
    return Picture(
        await tree(store),
        await memories(store),
        await history(store),
        usage.files,
        usage.size_bytes,
    )


class Caught(Generic[E]):
    """The error that a ``refused`` block ended with."""

    error: E


@contextmanager
def refused(*kinds: type[E]) -> Generator[Caught[E], None, None]:
    """The block has to end with one of these errors."""
    caught = Caught[E]()
    try:
        yield caught
    except kinds as error:
        caught.error = error
    except MemorandaError as error:
        wanted = " or ".join(kind.__name__ for kind in kinds)
        raise AssertionError(f"wanted {wanted}, got {type(error).__name__}: {error}") from error
    else:
        wanted = " or ".join(kind.__name__ for kind in kinds)
        raise AssertionError(f"wanted {wanted}, got no error")
