from __future__ import annotations

import random
import threading

import pytest

from memoranda.text.line_index import MARK_BYTES, IndexCache, LineIndex, Span
from memoranda.text.lines import count_lines, line_start


def index_of(data: bytes, chunk_marks: int = 1) -> LineIndex:
    index = LineIndex()
    chunk_bytes = chunk_marks * MARK_BYTES
    for start in range(0, len(data), chunk_bytes):
        index.feed(data[start : start + chunk_bytes])
    return index


def random_text(seed: int, size_bytes: int, widest: int) -> bytes:
    source = random.Random(seed)
    lines: list[bytes] = []
    while size_bytes > 0:
        lines.append(b"x" * source.randrange(widest) + b"\n")
        size_bytes -= len(lines[-1])
    return b"".join(lines)


TEXTS = [
    b"",
    b"a",
    b"a\n",
    b"\n" * MARK_BYTES * 3,
    b"x" * MARK_BYTES * 3,
    b"x" * (MARK_BYTES - 1) + b"\n" + b"y" * 10,
    b"x" * MARK_BYTES + b"\n" + b"y" * 10,
    (b"x" * (MARK_BYTES - 1) + b"\n") * 3,
    random_text(1, 5 * MARK_BYTES, 90),
    random_text(2, 5 * MARK_BYTES, 40_000),
    random_text(3, 9 * MARK_BYTES, 300_000)[:-1],
]


@pytest.mark.parametrize("data", TEXTS, ids=len)
@pytest.mark.parametrize("chunk_marks", [1, 4])
def test_every_line_lies_within_its_span(data: bytes, chunk_marks: int) -> None:
    index = index_of(data, chunk_marks)
    n_lines = count_lines(data)
    assert index.n_lines == n_lines
    assert index.size_bytes == len(data)
    numbers = {1, 2, n_lines // 2, n_lines - 1, n_lines, *range(1, n_lines, n_lines // 40 + 1)}
    for number in sorted(numbers & set(range(1, n_lines + 1))):
        begin, end = line_start(data, number), line_start(data, number + 1)
        span = index.span(number, number)
        assert span.start <= begin <= span.start + MARK_BYTES
        assert end <= span.end <= len(data)
        assert span.end - end < MARK_BYTES
        assert span.start % MARK_BYTES == 0
        assert span.lines_before == data.count(b"\n", 0, span.start)
        assert index.span(1, number) == Span(0, span.end, 0)
        last = index.span(number, n_lines)
        assert (last.start, last.end) == (span.start, len(data))


@pytest.mark.parametrize("data", TEXTS[1:], ids=len)
def test_a_line_at_a_mark_is_not_sought_before_it(data: bytes) -> None:
    """No more than one stretch is read in vain."""
    index = index_of(data)
    for mark in range(0, len(data), MARK_BYTES):
        number = data.count(b"\n", 0, mark) + 1
        begin = line_start(data, number)
        assert begin - index.span(number, number).start <= MARK_BYTES


def test_an_index_is_kept_for_one_state_of_its_file() -> None:
    cache = IndexCache()
    first, second = LineIndex(), LineIndex()
    assert cache.get("a") is None
    cache.put("a", 1, first)
    assert cache.get("a") == (1, first)
    cache.put("a", 2, second)
    assert cache.get("a") == (2, second)
    cache.drop("a")
    assert cache.get("a") is None
    cache.drop("a")


def test_the_file_that_was_viewed_longest_ago_is_forgotten() -> None:
    cache = IndexCache(max_files=2)
    for name in ("a", "b"):
        cache.put(name, 1, LineIndex())
    assert cache.get("a") is not None
    cache.put("c", 1, LineIndex())
    assert cache.get("b") is None
    assert cache.get("a") is not None
    assert cache.get("c") is not None
    cache.put("a", 2, LineIndex())
    cache.put("d", 1, LineIndex())
    assert cache.get("c") is None
    assert cache.get("a") is not None


def test_by_default_32_files_are_remembered() -> None:
    cache = IndexCache()
    for number in range(33):
        cache.put(number, 1, LineIndex())
    assert [number for number in range(33) if cache.get(number) is None] == [0]


def test_threads_share_a_cache() -> None:
    cache = IndexCache(max_files=3)
    index = LineIndex()
    gate = threading.Barrier(4)
    failures: list[BaseException] = []

    def use(seed: int) -> None:
        source = random.Random(seed)
        gate.wait(30)
        try:
            for _ in range(3000):
                name = source.randrange(6)
                cache.put(name, name, index)
                cache.drop(source.randrange(6))
                known = cache.get(name)
                assert known is None or known == (name, index)
        except BaseException as error:
            failures.append(error)
            raise

    threads = [threading.Thread(target=use, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert failures == []
