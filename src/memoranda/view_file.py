"""Viewing a file: a range of it, the cap, and large files without reading them whole."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Final

from memoranda import reply
from memoranda.errors import BadViewRange, NotText, TooManyLines
from memoranda.image import image_block, image_fits, media_type
from memoranda.path import MemoryPath
from memoranda.reply import ToolResult
from memoranda.stores.base import Content, Store
from memoranda.text import line_limit
from memoranda.text.excerpt import Excerpt, excerpt
from memoranda.text.line_index import MARK_BYTES, IndexCache, LineIndex
from memoranda.text.lines import count_lines, line_start
from memoranda.text.utf8 import count_characters
from memoranda.text.view_cap import Cut, cut_lines, enough_bytes
from memoranda.text.view_range import lines_in_range

# A multiple of the marks of an index. Nearly every file is no larger, so it is read at once.
CHUNK_BYTES: Final = 16 * MARK_BYTES

# A file that changes again and again while it is read in chunks is then read at once.
_ATTEMPTS: Final = 5


class _Changed(Exception):
    """The file is not what it was at the chunk before."""


class FileView:
    """Shows files of one store. Keeps indexes of large ones; safe to use from many threads."""

    def __init__(self, store: Store, *, cap_chars: int, image_max_bytes: int) -> None:
        self._store = store
        self._cap_chars = cap_chars
        self._image_max_bytes = image_max_bytes
        self._indexes = IndexCache()

    async def show(self, path: MemoryPath, view_range: tuple[int, int] | None) -> ToolResult:
        """The answer to a view of a file.

        One read for a file of up to 256 KB. A larger one is read in chunks once, and after that
        only where it is shown; a picture is read whole. Raises what ``Store.read`` raises,
        ``NotText``, ``TooManyLines`` and ``BadViewRange``.
        """
        for _ in range(_ATTEMPTS):
            try:
                known = self._indexes.get(path.segments)
                if known is None:
                    beginning = await self._store.read(path, 0, CHUNK_BYTES)
                    media = media_type(path, beginning.data)
                    if media and image_fits(beginning.size_bytes, self._image_max_bytes):
                        return await self._picture(path, media, beginning)
                    if beginning.size_bytes <= len(beginning.data):
                        return self._from_whole(path, beginning.data, view_range)
                    known = beginning.stamp, await self._index(path, beginning)
                    self._indexes.put(path.segments, *known)
                return await self._from_parts(path, *known, view_range)
            except _Changed:
                self._indexes.drop(path.segments)
        return self._from_whole(path, (await self._store.read(path)).data, view_range)

    # ---- small files

    async def _picture(self, path: MemoryPath, media: str, beginning: Content) -> ToolResult:
        data = beginning.data
        if len(data) < beginning.size_bytes:
            data = await self._same(path, 0, beginning.size_bytes, beginning.stamp)
        return ToolResult(reply.image_content(path, image_block(media, data)))

    def _from_whole(
        self, path: MemoryPath, data: bytes, view_range: tuple[int, int] | None
    ) -> ToolResult:
        if view_range is None and len(data) <= min(self._cap_chars, line_limit.MAX_LINES):
            return ToolResult(reply.file_content(path, Excerpt(_decoded(path, data), 1)))
        n_lines = count_lines(data)
        first, last = _lines(path, view_range, n_lines)
        begin = line_start(data, first)
        stop = line_start(data, last - first + 2, begin) if last < n_lines else len(data)
        # One byte more than is looked at: it tells that there is more.
        stop = min(stop, begin + enough_bytes(self._cap_chars) + 1)
        cut = self._cut(path, data[begin:stop])
        line_chars = 0
        if cut.inside:
            newline = data.find(b"\n", begin)
            line_chars = count_characters(data, begin, newline if newline >= 0 else len(data))
        part = excerpt(cut, first, last, n_lines, line_chars)
        return ToolResult(reply.file_content(path, part))

    # ---- large files

    async def _index(self, path: MemoryPath, beginning: Content) -> LineIndex:
        """Where the lines of a file are: one pass over it with flat memory."""
        index = LineIndex()
        index.feed(beginning.data)
        while index.size_bytes < beginning.size_bytes:
            index.feed(await self._same(path, index.size_bytes, CHUNK_BYTES, beginning.stamp))
        return index

    async def _from_parts(
        self,
        path: MemoryPath,
        stamp: Hashable,
        index: LineIndex,
        view_range: tuple[int, int] | None,
    ) -> ToolResult:
        try:
            first, last = _lines(path, view_range, index.n_lines)
        except (TooManyLines, BadViewRange):
            await self._same(path, 0, 1, stamp)
            raise
        span = index.span(first, last)
        # The first line begins before the second mark, so this leaves enough behind it.
        length = min(span.end - span.start, MARK_BYTES + enough_bytes(self._cap_chars))
        window = await self._same(path, span.start, length, stamp)
        begin = line_start(window, first - span.lines_before)
        more = span.start + length < span.end
        stop = length if more else line_start(window, last - first + 2, begin)
        cut = self._cut(path, window[begin:stop], more=more)
        line_chars = 0
        if cut.inside:
            line_chars = await self._line_chars(path, span.start + begin, index, stamp)
        part = excerpt(cut, first, last, index.n_lines, line_chars)
        return ToolResult(reply.file_content(path, part))

    async def _line_chars(
        self, path: MemoryPath, offset: int, index: LineIndex, stamp: Hashable
    ) -> int:
        """How many characters the line has that begins at ``offset``, without its LF."""
        total = 0
        while offset < index.size_bytes:
            chunk = await self._same(path, offset, CHUNK_BYTES, stamp)
            newline = chunk.find(b"\n")
            if newline >= 0:
                return total + count_characters(chunk, 0, newline)
            total += count_characters(chunk)
            offset += len(chunk)
        return total

    async def _same(self, path: MemoryPath, start: int, length: int, stamp: Hashable) -> bytes:
        """A stretch of the file, as long as it is the one with this stamp."""
        content = await self._store.read(path, start, length)
        if content.stamp != stamp:
            raise _Changed
        return content.data

    # ---- both

    def _cut(self, path: MemoryPath, wanted: bytes, *, more: bool = False) -> Cut:
        try:
            return cut_lines(wanted, self._cap_chars, more=more)
        except UnicodeError:
            raise NotText(path) from None


def _decoded(path: MemoryPath, data: bytes) -> str:
    try:
        return data.decode()
    except UnicodeError:
        raise NotText(path) from None


def _lines(path: MemoryPath, view_range: tuple[int, int] | None, n_lines: int) -> tuple[int, int]:
    """The first and last line to show."""
    if line_limit.passes(n_lines):
        raise TooManyLines(path)
    lines = lines_in_range(view_range, n_lines)
    if lines is None:
        assert view_range is not None
        raise BadViewRange(*view_range, n_lines=max(n_lines, 1))
    return lines
