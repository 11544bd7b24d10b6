"""Import: a plain tree of files, or the folder of the official SDK's own tool, into a memory."""

from __future__ import annotations

import os
from contextlib import ExitStack
from hashlib import sha256
from typing import Final, Literal, NamedTuple, TypeAlias

from memoranda.errors import (
    AwaitsApproval,
    BadFolder,
    BadPath,
    FileTooLarge,
    IsADirectory,
    NotFound,
    Refused,
)
from memoranda.escape import escape_for_display
from memoranda.light_dataclasses import replace as replace_fields
from memoranda.operations.export import Progress
from memoranda.operations.host_folder import HostFolder, Kind, host_errors
from memoranda.path import MemoryPath, parse_path
from memoranda.reply import path_fault
from memoranda.stores.base import Context, Expect, Put, Removal, Store

Layout: TypeAlias = Literal["auto", "plain"]

_Names: TypeAlias = tuple[str, ...]

_SDK_FOLDER: Final = "memories"
_OURS: Final = "stores"
_SHOWN_CHARS: Final = 1024

_BATCH_FILES: Final = 200
_BATCH_BYTES: Final = 4 * 1024 * 1024


class NotImported(NamedTuple):
    """A file, or a folder with all in it (its name ends with a slash), that stayed outside.

    ``name`` is relative to the folder, made harmless for display; ``reason`` is one sentence.
    """

    name: str
    reason: str


class Imported(NamedTuple):
    """What ``import_folder`` did, or would do: each file of the folder is in one of the first three.

    ``masked`` says of which files secrets were taken out before they were stored; what a dry run
    would mask is not known.
    """

    written: tuple[MemoryPath, ...]
    unchanged: tuple[MemoryPath, ...]
    refused: tuple[NotImported, ...]
    masked: tuple[Removal, ...] = ()


async def import_folder(
    store: Store,
    prefix: MemoryPath,
    directory: str | os.PathLike[str],
    context: Context,
    *,
    file_bytes: int | None = None,
    replace: bool = False,
    dry_run: bool = False,
    layout: Layout = "auto",
    progress: Progress | None = None,
) -> Imported:
    """Put the files of a folder of the host below ``prefix``, under the names they have there.

    A folder with a folder ``memories`` in it is taken for the one of the official SDK's tool, and
    only that is imported; ``layout="plain"`` takes it as it is. A memory of the same name and
    another content is left alone unless ``replace``. Nothing is dropped silently: links, devices,
    names that the path policy refuses, files over ``file_bytes`` and what the store refuses are
    reported. ``dry_run`` writes nothing and can't tell that the store would refuse. Importing
    again goes on where it stopped.

    Batches of up to 200 files or 4 MiB, each whole or not at all. Raises ``BadFolder``, and
    ``Unavailable`` where either disk fails; batches that were done before stay.
    """
    job = _Import(store, prefix, context, file_bytes, replace=replace, dry_run=dry_run)
    with host_errors(), ExitStack() as entered:
        top = entered.enter_context(HostFolder.open(directory))
        if layout == "auto":
            top = entered.enter_context(_memories_in(top))
        files = job.look_for_files(top, ())
        for done, (names, path) in enumerate(files.items(), 1):
            await job.take(top, names, path)
            if progress is not None:
                progress(done, len(files))
        await job.put_batch()
    return Imported(tuple(job.written), tuple(job.unchanged), tuple(job.refused), tuple(job.masked))


def _memories_in(top: HostFolder) -> HostFolder:
    """Where the memories are in a folder that may be the SDK's tool's."""
    names = top.names()
    if _SDK_FOLDER in names and top.kind(_SDK_FOLDER) is Kind.FOLDER:
        return top.enter(_SDK_FOLDER)
    if _OURS in names:
        raise BadFolder(
            "This folder is a store of Memoranda: open it instead, or import a folder of memories "
            'in it. (layout="plain" takes it as it is.)'
        )
    return top.enter(".")


class _Import:
    """One import at work: what was found, what waits for its batch, what came of it."""

    def __init__(
        self,
        store: Store,
        prefix: MemoryPath,
        context: Context,
        file_bytes: int | None,
        *,
        replace: bool,
        dry_run: bool,
    ) -> None:
        self.written: list[MemoryPath] = []
        self.unchanged: list[MemoryPath] = []
        self.refused: list[NotImported] = []
        self._store = store
        self._prefix = prefix
        self.masked: list[Removal] = []
        self._context = replace_fields(context, notice=self.masked.append)
        self._file_bytes = file_bytes
        self._replace = replace
        self._dry_run = dry_run
        self._batch: list[tuple[_Names, Put]] = []
        self._batch_bytes = 0

    def look_for_files(self, folder: HostFolder, above: _Names) -> dict[_Names, MemoryPath]:
        """The files beneath a folder that can be memories, in order; the others are reported."""
        files: dict[_Names, MemoryPath] = {}
        seen: set[MemoryPath] = set()
        for name in folder.names():
            names = (*above, name)
            kind = folder.kind(name)
            try:
                path = parse_path("/".join((str(self._prefix), *names)))
            except BadPath as error:
                self._refuse(names, path_fault(error.reason), kind)
                continue
            if path in seen:
                self._refuse(
                    names, "Another name differs only in how its accents are stored.", kind
                )
            elif kind is Kind.OTHER:
                self._refuse(names, "It is a link or a device, not a file.", kind)
            elif kind is Kind.FOLDER:
                with folder.enter(name) as below:
                    files |= self.look_for_files(below, names)
            else:
                files[names] = path
            seen.add(path)
        return files

    async def take(self, top: HostFolder, names: _Names, path: MemoryPath) -> None:
        """Read one file and see what has to be done with it."""
        with ExitStack() as entered:
            folder = top
            for name in names[:-1]:
                folder = entered.enter_context(folder.enter(name))
            # The store would refuse it; here it is not even read.
            size, limit = folder.size_bytes(names[-1]), self._file_bytes
            if limit is not None and size > limit:
                self._refuse(names, str(FileTooLarge(path, size, limit)))
                return
            content = folder.read(names[-1])
        if content is None:
            self._refuse(names, "It is a link or a device, not a file.")
            return
        present = await _hash_at(self._store, path)
        if present == sha256(content).hexdigest():
            self.unchanged.append(path)
        elif present is not None and not self._replace:
            self._refuse(names, "A memory with another content is there already.")
        elif self._dry_run:
            self.written.append(path)
        else:
            expect = Expect.ANY if self._replace else Expect.ABSENT
            self._batch.append((names, Put(path, content, expect)))
            self._batch_bytes += len(content)
            if len(self._batch) >= _BATCH_FILES or self._batch_bytes >= _BATCH_BYTES:
                await self.put_batch()

    async def put_batch(self) -> None:
        """Store what waits."""
        batch, self._batch, self._batch_bytes = self._batch, [], 0
        await self._put(batch)

    async def _put(self, batch: list[tuple[_Names, Put]]) -> None:
        """Store a batch; where it is refused, find out by halves which files are to blame."""
        if not batch:
            return
        try:
            await self._store.apply([put for _, put in batch], self._context)
        except AwaitsApproval as error:
            # It waits whole, as one proposal: halves would be proposed once more.
            for names, _ in batch:
                self._refuse(names, f"It waits for a person as {error.proposal_id}.")
        except Refused as error:
            if len(batch) == 1:
                self._refuse(batch[0][0], str(error))
                return
            middle = len(batch) // 2
            await self._put(batch[:middle])
            await self._put(batch[middle:])
        else:
            self.written += [put.path for _, put in batch]

    def _refuse(self, names: _Names, reason: str, kind: Kind = Kind.FILE) -> None:
        slash = "/" if kind is Kind.FOLDER else ""
        name = escape_for_display("/".join(names) + slash, _SHOWN_CHARS)
        self.refused.append(NotImported(name, reason))


async def _hash_at(store: Store, path: MemoryPath) -> str | None:
    try:
        return (await store.stat(path)).sha256
    except (NotFound, IsADirectory):
        return None
