"""Files that change under a reader's hands, and how much of a file is read."""

from __future__ import annotations

from binascii import a2b_base64
from collections.abc import Callable

import pytest

from memoranda.drive import run_now
from memoranda.errors import BadViewRange, NotFound
from memoranda.path import MemoryPath, parse_path
from memoranda.reply import ToolResult
from memoranda.stores.base import Content, Context, Put, Remove, Store, WrapperStore
from memoranda.text.line_index import MARK_BYTES
from memoranda.view_file import CHUNK_BYTES, FileView
from tests.testing.dict_store import DictBackend, Disk

PATH = parse_path("/memories/n.txt")
PICTURE = parse_path("/memories/n.png")
OLD = b"".join(b"old line %d\n" % number for number in range(100_000))
NEW = b"".join(b"new line %d\n" % number for number in range(100_000))


class Watched(WrapperStore):
    """Notes what is read, and calls ``before`` with the number of each read."""

    def __init__(self, inner: Store) -> None:
        super().__init__(inner)
        self.reads: list[tuple[int, int | None]] = []
        self.before: Callable[[int], None] = lambda number: None

    async def read(self, path: MemoryPath, start: int = 0, length: int | None = None) -> Content:
        self.before(len(self.reads))
        self.reads.append((start, length))
        return await self.inner.read(path, start, length)

    def put(self, content: bytes, path: MemoryPath = PATH) -> None:
        run_now(self.inner.apply([Put(path, content)], Context(actor="external")))


@pytest.fixture
def store() -> Watched:
    return Watched(run_now(DictBackend(Disk()).for_user("acme")))


@pytest.fixture
def view(store: Watched) -> FileView:
    return FileView(store, cap_chars=16_000, image_max_bytes=10_000_000)


def show(view: FileView, view_range: tuple[int, int] | None, path: MemoryPath = PATH) -> ToolResult:
    return run_now(view.show(path, view_range))


def lines(word: str, first: int, last: int) -> ToolResult:
    numbered = (f"{number:6}\t{word} line {number - 1}" for number in range(first, last + 1))
    return ToolResult(f"Here's the content of {PATH} with line numbers:\n" + "\n".join(numbered))


@pytest.mark.parametrize("changed_at", range(1, 7))
def test_a_file_that_changes_between_chunks_is_read_again(
    store: Watched, view: FileView, changed_at: int
) -> None:
    store.put(OLD)

    def change(number: int) -> None:
        if number == changed_at:
            store.put(NEW)

    store.before = change
    answer = show(view, (90_000, 90_001))
    word = "new" if len(store.reads) > changed_at else "old"
    assert answer == lines(word, 90_000, 90_001)


def test_a_file_that_changes_all_the_time_is_read_at_once(store: Watched, view: FileView) -> None:
    store.put(OLD)

    def change(number: int) -> None:
        store.put(OLD + b"x" * number)

    store.before = change
    assert show(view, (90_000, 90_001)) == lines("old", 90_000, 90_001)
    assert store.reads[-1] == (0, None)
    # Five attempts see the change at their second read.
    assert len(store.reads) == 11


def test_a_refusal_is_about_the_present_file(store: Watched, view: FileView) -> None:
    store.put(OLD)
    for view_range in ((100_001, -1), (2, 1)):
        with pytest.raises(BadViewRange):
            show(view, view_range)
    store.put(NEW + b"new line 100000\n")
    assert show(view, (100_001, -1)) == lines("new", 100_001, 100_001)
    with pytest.raises(BadViewRange):
        show(view, (100_002, -1))
    store.put(b"new line 0\nnew line 1\n")
    assert show(view, (2, -1)) == lines("new", 2, 2)


def test_a_file_that_went_away_is_missing(store: Watched, view: FileView) -> None:
    store.put(OLD)
    assert show(view, (1, 1)) == lines("old", 1, 1)
    run_now(store.inner.apply([Remove(PATH)], Context()))
    with pytest.raises(NotFound):
        show(view, (1, 1))


def test_a_long_line_is_counted_in_one_state_of_the_file(store: Watched, view: FileView) -> None:
    old, new = b"x" * 2_000_000 + b"\nend\n", b"y" * 3_000_000 + b"\nend\n"
    store.put(old)
    show(view, (2, 2))
    before = len(store.reads)

    def change(number: int) -> None:
        if number == before + 3:
            store.put(new)

    store.before = change
    assert show(view, (1, 1)).content == (
        f"Here's the content of {PATH} with line numbers:\n     1\t{'y' * 16_000}\n\n"
        "[Line 1 truncated: 16000 of 3000000 characters shown.]"
    )


def test_a_picture_is_whole_or_not_at_all(store: Watched, view: FileView) -> None:
    magic = b"\x89PNG\r\n\x1a\n"
    store.put(magic + b"1" * 300_000, PICTURE)

    def change(number: int) -> None:
        if number == 1:
            store.put(magic + b"2" * 300_000, PICTURE)

    store.before = change
    content = show(view, None, PICTURE).content
    assert isinstance(content, list)
    assert a2b_base64(content[1]["source"]["data"]) == magic + b"2" * 300_000


@pytest.mark.parametrize("size_bytes", [0, 2_000, CHUNK_BYTES])
def test_a_small_file_takes_one_read(store: Watched, view: FileView, size_bytes: int) -> None:
    store.put(b"x" * size_bytes)
    show(view, (1, 1))
    assert store.reads == [(0, CHUNK_BYTES)]


def test_a_large_file_is_read_in_chunks_once_and_then_where_it_is_shown(
    store: Watched, view: FileView
) -> None:
    store.put(OLD * 9)
    size_bytes = len(OLD) * 9
    assert show(view, (800_001, 800_010)) == show(view, (800_001, 800_010))
    chunks = [(start, CHUNK_BYTES) for start in range(0, size_bytes, CHUNK_BYTES)]
    assert store.reads[: len(chunks)] == chunks
    first, repeated = store.reads[len(chunks) :]
    assert first == repeated
    start, length = first
    assert start % MARK_BYTES == 0
    assert length is not None
    assert length <= 2 * MARK_BYTES


def test_a_view_of_all_of_a_large_file_reads_no_more_than_its_beginning_again(
    store: Watched, view: FileView
) -> None:
    store.put(OLD * 9)
    show(view, None)
    indexed = len(store.reads)
    show(view, None)
    show(view, (500_000, -1))
    assert len(store.reads) == indexed + 2
    assert all(length and length <= MARK_BYTES + 64_001 for _, length in store.reads[indexed:])
