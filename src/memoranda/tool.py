"""The six commands of the memory tool: read, edit, apply, reply."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache, cached_property
from typing import TYPE_CHECKING, Final, Literal

from memoranda import reply
from memoranda.command import (
    Command,
    Create,
    Delete,
    Insert,
    RefusedInput,
    Rename,
    StrReplace,
    View,
)
from memoranda.errors import (
    AwaitsApproval,
    BadPath,
    Conflict,
    Corrupt,
    IsADirectory,
    NotFound,
    PathFault,
    Refused,
    Unavailable,
)
from memoranda.light_dataclasses import replace
from memoranda.path import MemoryPath
from memoranda.reply import ToolResult
from memoranda.retry import Pause, apply_with_retry, blocking_pause
from memoranda.stores.base import Change, Context, Edit, Expect, Move, Put, Removal, Remove, Store
from memoranda.view_directory import show_directory

if TYPE_CHECKING:
    from collections.abc import Callable

    from memoranda.text.excerpt import Excerpt
    from memoranda.text.splice import Splice
    from memoranda.view_file import FileView

VIEW_CAP_CHARS: Final = 16_000
IMAGE_MAX_BYTES: Final = 5 * 1024 * 1024


# What only edits need is loaded with the first one; to import it in each costs a microsecond.


@cache
def _replacing() -> tuple[
    Callable[[StrReplace, bytes], Splice], Callable[[bytes, Splice, int], Excerpt]
]:
    from memoranda.edits import replacement
    from memoranda.text.snippet import snippet

    return replacement, snippet


@cache
def _inserting() -> Callable[[Insert, bytes], Splice]:
    from memoranda.edits import insertion

    return insertion


class Tool:
    """Claude's memory tool over one store. Safe to use from many threads at once.

    ``on_exists`` says what ``create`` does at an existing file. ``view_cap_chars`` (1 or more) is
    how many characters of a file, or of a listing's lines, one answer shows; ``image_max_bytes``
    how large an image block may get, in bytes of base64, which is what the API counts.
    ``frame_views`` says before each file that it is data. ``pause``
    waits between attempts of a write that lost a race: a store that suspends needs one that does.
    """

    def __init__(
        self,
        store: Store,
        *,
        on_exists: Literal["error", "overwrite"] = "error",
        view_cap_chars: int = VIEW_CAP_CHARS,
        image_max_bytes: int = IMAGE_MAX_BYTES,
        frame_views: bool = False,
        pause: Pause = blocking_pause,
    ) -> None:
        self._store = store
        self._create_expects = Expect.ANY if on_exists == "overwrite" else Expect.ABSENT
        self._view_cap_chars = view_cap_chars
        self._image_max_bytes = image_max_bytes
        self._frame_views = frame_views
        self._pause = pause

    @cached_property
    def _files(self) -> FileView:
        from memoranda.view_file import FileView

        return FileView(
            self._store, cap_chars=self._view_cap_chars, image_max_bytes=self._image_max_bytes
        )

    async def run(self, command: Command | RefusedInput, context: Context) -> ToolResult:
        """Do ``command`` and say what happened, whatever that is.

        One read, or one ``apply`` that is repeated for up to 10 seconds while other writers are
        faster. A refusal, lost races and failing storage are answers with ``is_error``; then
        nothing has changed. ``Misuse`` and what nobody foresaw is raised.
        """
        try:
            match command:
                case View():
                    return await self._view(command)
                case Create():
                    return await self._create(command, context)
                case StrReplace():
                    return await self._str_replace(command, context)
                case Insert():
                    return await self._insert(command, context)
                case Delete():
                    return await self._delete(command, context)
                case Rename():
                    return await self._rename(command, context)
                case _:
                    raise command.error
        except AwaitsApproval as error:
            return ToolResult(reply.waits_for_approval(error.path) + error.besides)
        except Refused as error:
            return reply.refused(error, command)
        except (Conflict, Unavailable, Corrupt) as error:
            return reply.unavailable(error)

    async def _view(self, command: View) -> ToolResult:
        path = command.path
        if not path.is_root and not path.slash:
            try:
                shown = await self._files.show(path, command.view_range)
                return reply.framed(shown) if self._frame_views else shown
            except IsADirectory:
                pass
        return await show_directory(self._store, path, self._view_cap_chars)

    async def _create(self, command: Create, context: Context) -> ToolResult:
        content = command.file_text.encode()
        removed = await self._apply(Put(command.path, content, self._create_expects), context)
        return ToolResult(reply.created(command.path) + _note(removed))

    async def _str_replace(self, command: StrReplace, context: Context) -> ToolResult:
        replacement, snippet = _replacing()
        done: tuple[bytes, Splice] | None = None

        def edit(old: bytes) -> Splice:
            nonlocal done
            change = replacement(command, old)
            done = old, change
            return change

        removed = await self._apply(Edit(command.path, edit), context)
        assert done is not None, "a store that applies an edit runs it"
        old, change = done
        for removal in removed:
            # What a layer made of the change is what there is to be shown.
            change = removal.change or change
        shown = reply.replaced(snippet(old, change, self._view_cap_chars))
        return ToolResult(shown + _note(removed))

    async def _insert(self, command: Insert, context: Context) -> ToolResult:
        insertion = _inserting()
        edit = Edit(command.path, lambda old: insertion(command, old))
        removed = await self._apply(edit, context)
        return ToolResult(reply.inserted(command.path) + _note(removed))

    async def _delete(self, command: Delete, context: Context) -> ToolResult:
        path = command.path
        if path.slash and not path.is_root:
            await self._require_directory(path)
        await self._apply(Remove(path), context)
        return ToolResult(reply.deleted(path))

    async def _rename(self, command: Rename, context: Context) -> ToolResult:
        source, target = command.old_path, command.new_path
        if not source.is_root:
            if source.slash:
                await self._require_directory(source)
            elif target.slash and not target.is_root and not await self._is_directory(source):
                raise BadPath(f"{target}/", PathFault.FILE_WITH_SLASH)
        await self._apply(Move(source, target), context)
        return ToolResult(reply.renamed(source, target))

    async def _require_directory(self, path: MemoryPath) -> None:
        """A path given with a slash names a directory, so a file there is not what it names."""
        if not await self._is_directory(path):
            raise NotFound(path)

    async def _is_directory(self, path: MemoryPath) -> bool:
        """Whether a directory lives at ``path``; raises ``NotFound`` if nothing does."""
        try:
            await self._store.stat(path)
        except IsADirectory:
            return True
        return False

    async def _apply(self, change: Change, context: Context) -> Sequence[Removal]:
        """Apply a change; what a layer took out of it."""
        removed: list[Removal] = []
        context = replace(context, notice=removed.append, wants_ids=False)
        try:
            await apply_with_retry(self._store, (change,), context, self._pause)
        except AwaitsApproval as error:
            error.besides = _note(removed)
            raise
        return removed


def _note(removed: Sequence[Removal]) -> str:
    whats = [what for removal in removed for what in removal.whats]
    return reply.secrets_removed(len(whats), ", ".join(dict.fromkeys(whats))) if whats else ""
