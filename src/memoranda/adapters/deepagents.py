"""A memory as a backend of deepagents: files that its file tools read and write.

    backend = CompositeBackend(default=StateBackend(), routes={"/memories/": MemoryBackend("./memory", user="acme-corp")})
    agent = create_deep_agent(model=..., backend=backend)

The root of the backend is the memory: where it is mounted at ``/memories/``, its files have the same
paths that Claude's memory tool uses.
"""

from __future__ import annotations

import base64
import os
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Final

from memoranda import reply
from memoranda.adapters.source import MemorySource
from memoranda.command import RefusedInput
from memoranda.errors import Conflict, IsADirectory, MemorandaError, NotFound, ReadOnly, Refused
from memoranda.memory import Memory
from memoranda.path import ROOT_TEXT
from memoranda.stores.base import Directory, Entry

try:
    from deepagents.backends.protocol import (
        FILE_NOT_FOUND,
        INVALID_PATH,
        IS_DIRECTORY,
        PERMISSION_DENIED,
        BackendProtocol,
        DeleteResult,
        EditResult,
        FileData,
        FileDownloadResponse,
        FileInfo,
        FileUploadResponse,
        GlobResult,
        GrepResult,
        LsResult,
        ReadResult,
        WriteResult,
    )
    from deepagents.backends.utils import (
        compile_grep_include_glob,
        grep_matches_from_files,
        perform_string_replacement,
        slice_read_response,
    )
except ImportError as error:
    raise ImportError(
        "memoranda.adapters.deepagents needs deepagents, version 0.7.32 or later: "
        "install memoranda[langchain]."
    ) from error

if TYPE_CHECKING:
    from memoranda.operations.read_memory import StoredMemory
    from memoranda.policies.policy import Policy

_ATTEMPTS: Final = 20
"""How often an edit begins anew because somebody else was faster."""


class MemoryBackend(BackendProtocol):
    """One user's memory as a backend: every file a memory, every write a version in its history.

    ``base_path`` is a folder, any URL that ``Memory.open`` takes, or a ``Memory`` that the
    application opened and keeps; ``user``, ``policy`` and ``actor`` as there. The protocol's
    asynchronous methods run these in threads. Nothing is raised for what the model asks: errors are
    in the results. Searching reads all contents beneath the path.
    """

    def __init__(
        self,
        base_path: str | os.PathLike[str] | Memory = "./memory",
        *,
        user: str | None = None,
        policy: Policy | None = None,
        actor: str | None = None,
    ) -> None:
        self._source = MemorySource(Memory, base_path, user, policy=policy, actor=actor)

    @property
    def memory(self) -> Memory:
        """The memory behind the backend: history, restore, search."""
        return self._source.memory

    def close(self) -> None:
        """Let go of a memory that the backend opened; the next call opens it anew."""
        memory = self._source.release()
        if memory is not None:
            memory.close()

    # ---- looking

    def ls(self, path: str) -> LsResult:
        """What lies in a directory; nothing where there is none."""
        try:
            listed = self.memory.list(_theirs(path), depth=1)
        except MemorandaError as error:
            return LsResult(error=_said(error, "view"))
        return LsResult(entries=[_info(one) for one in listed])

    def read(self, file_path: str, offset: int = 0, limit: int = 2000) -> ReadResult:
        """A window of a file's lines; all of what is no text, in base64."""
        try:
            data = _file_data(self.memory.read(_theirs(file_path)))
        except MemorandaError as error:
            return ReadResult(error=_said(error, "view"))
        if data["encoding"] == "base64":
            return ReadResult(file_data=data)
        return slice_read_response(data, offset, limit)

    def glob(self, pattern: str, path: str | None = None) -> GlobResult:
        """The files that fit a pattern."""
        root = path or "/"
        try:
            fits = compile_grep_include_glob(pattern)
            listed = self.memory.list(_theirs(root))
        except ValueError as error:  # a pattern that deepagents refuses; its words are for models
            return GlobResult(error=str(error))
        except MemorandaError as error:
            return GlobResult(error=_said(error, "view"))
        beneath = len(_theirs(root).rstrip("/")) + 1
        return GlobResult(matches=[_info(one) for one in listed if fits(str(one.path)[beneath:])])

    def grep(
        self,
        pattern: str,
        path: str | None = None,
        glob: str | None = None,
        *,
        max_count: int | None = None,
    ) -> GrepResult:
        """The lines that hold a text, as it is written."""
        try:
            files = dict(self._texts(path or "/"))
        except MemorandaError as error:
            return GrepResult(error=_said(error, "view"))
        return grep_matches_from_files(files, pattern, path, glob, max_count=max_count)

    def _texts(self, path: str) -> Iterator[tuple[str, FileData]]:
        memory = self.memory
        for one in memory.list(_theirs(path)):
            try:
                yield _ours(str(one.path)), _file_data(memory.read(str(one.path)))
            except NotFound:  # removed meanwhile
                continue

    # ---- changing

    def write(self, file_path: str, content: str) -> WriteResult:
        """Make or replace a file."""
        try:
            self.memory.write(_theirs(file_path), content)
        except MemorandaError as error:
            return WriteResult(error=_said(error, "create"))
        return WriteResult(path=file_path)

    def edit(
        self,
        file_path: str,
        old_string: str,
        new_string: str,
        replace_all: bool = False,
    ) -> EditResult:
        """Replace a text that stands there once, or wherever it stands; no other change is lost."""
        path = _theirs(file_path)
        try:
            for _ in range(_ATTEMPTS):
                stored = self.memory.read(path)
                done = perform_string_replacement(stored.text, old_string, new_string, replace_all)
                if isinstance(done, str):
                    return EditResult(error=done)
                content, occurrences = done
                try:
                    self.memory.write(path, content, if_version=stored.version_id)
                except Conflict:
                    continue
                return EditResult(path=file_path, occurrences=occurrences)
        except MemorandaError as error:
            return EditResult(error=_said(error, "str_replace"))
        return EditResult(error=str(reply.unavailable().content))

    def delete(self, file_path: str) -> DeleteResult:
        """Remove a file, or a directory with all beneath it."""
        try:
            self.memory.remove(_theirs(file_path))
        except MemorandaError as error:
            return DeleteResult(error=_said(error, "delete"))
        return DeleteResult(path=file_path)

    # ---- whole files

    def upload_files(self, files: list[tuple[str, bytes]]) -> list[FileUploadResponse]:
        """Make or replace files, each for itself."""
        responses: list[FileUploadResponse] = []
        for path, content in files:
            problem: Any = None
            try:
                self.memory.write(_theirs(path), content)
            except MemorandaError as error:
                problem = _code(error)
            responses.append(FileUploadResponse(path=path, error=problem))
        return responses

    def download_files(self, paths: list[str]) -> list[FileDownloadResponse]:
        """Whole files, each for itself."""
        responses: list[FileDownloadResponse] = []
        for path in paths:
            try:
                content = self.memory.read(_theirs(path)).content
            except MemorandaError as error:
                responses.append(FileDownloadResponse(path=path, error=_code(error)))
            else:
                responses.append(FileDownloadResponse(path=path, content=content))
        return responses


# ---------------------------------------------------------------- shapes


def _theirs(path: str) -> str:
    """The memory's path for one of the backend's, whose root is the memory."""
    if not path.startswith("/"):
        path = f"/{path}"
    return f"{ROOT_TEXT}{path}" if path != "/" else ROOT_TEXT


def _ours(path: str) -> str:
    return path.removeprefix(ROOT_TEXT) or "/"


def _info(one: Entry | Directory) -> FileInfo:
    path = _ours(str(one.path))
    if isinstance(one, Directory):
        return {"path": f"{path}/", "is_dir": True, "size": one.size_bytes}
    return {
        "path": path,
        "is_dir": False,
        "size": one.size_bytes,
        "modified_at": _time(one.updated_at_ns),
    }


def _time(nanoseconds: int) -> str:
    from datetime import UTC, datetime

    return datetime.fromtimestamp(nanoseconds / 1e9, UTC).isoformat()


def _file_data(stored: StoredMemory) -> FileData:
    try:
        content, encoding = stored.content.decode(), "utf-8"
    except UnicodeDecodeError:
        content, encoding = base64.b64encode(stored.content).decode("ascii"), "base64"
    return {
        "content": content,
        "encoding": encoding,
        "created_at": stored.created_at.isoformat(),
        "modified_at": stored.updated_at.isoformat(),
    }


def _said(error: MemorandaError, command: str) -> str:
    """What the model reads of an error."""
    if isinstance(error, Refused):
        return reply.refusal(error, RefusedInput(command, error))
    return str(reply.unavailable().content)


def _code(error: MemorandaError) -> Any:
    """The protocol's word for an error of a whole file, or a text where it has none."""
    match error:
        case NotFound():
            return FILE_NOT_FOUND
        case IsADirectory():
            return IS_DIRECTORY
        case ReadOnly():
            return PERMISSION_DENIED
        case _ if error.code == "bad_path":
            return INVALID_PATH
        case _:
            return _said(error, "create")
