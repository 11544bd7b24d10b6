"""Export: the memories as a plain tree of files."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import ExitStack
from typing import NamedTuple, TypeAlias

from memoranda.errors import BadFolder
from memoranda.operations.host_folder import HostFolder, host_errors
from memoranda.operations.listing import memories_at
from memoranda.operations.moments import present_moment
from memoranda.path import MemoryPath
from memoranda.stores.base import Store

Progress: TypeAlias = Callable[[int, int], None]
"""Told after each file how many are done, and how many there are."""


class Exported(NamedTuple):
    """What ``export`` wrote: how many files, and the bytes in them."""

    files: int
    size_bytes: int


async def export(
    store: Store,
    prefix: MemoryPath,
    directory: str | os.PathLike[str],
    *,
    replace: bool = False,
    progress: Progress | None = None,
) -> Exported:
    """Write the memories at or beneath ``prefix`` into a folder of the host, made if missing.

    They are those of one moment, however many write meanwhile, where the store keeps its past.
    A memory ``/memories/a/b.md`` becomes ``a/b.md``; files have mode 0600, folders 0700. A folder
    that isn't empty is refused unless ``replace``: then files of the same names are replaced and
    others stay. No link in the folder is followed. What stops half-way leaves what was written.

    Raises ``BadFolder``, and ``Unavailable`` where the host's disk fails. One read a memory.
    """
    entries = (await memories_at(store, prefix, await present_moment(store))).values()
    files = size_bytes = 0
    with host_errors():
        os.makedirs(directory, 0o700, exist_ok=True)
        with HostFolder.open(directory) as top:
            if not replace and top.names():
                raise BadFolder("The folder isn't empty: choose another one, or have it replaced.")
            for done, entry in enumerate(entries, 1):
                content = (await store.version(entry.version_id)).content
                if content is not None:  # else it was replaced and redacted a moment ago
                    _write(top, entry.path, content, replace)
                    files += 1
                    size_bytes += len(content)
                if progress is not None:
                    progress(done, len(entries))
    return Exported(files, size_bytes)


def _write(top: HostFolder, path: MemoryPath, content: bytes, replace: bool) -> None:
    with ExitStack() as entered:
        folder = top
        for name in path.segments[:-1]:
            folder = entered.enter_context(folder.enter(name, make=True))
        folder.write(path.name, content, replace=replace)
