"""Diffs of versions."""

from __future__ import annotations

import pytest

from memoranda.drive import run_now
from memoranda.errors import ContentGone, UnknownId
from memoranda.operations.diff import diff
from memoranda.path import parse_path
from memoranda.stores.base import Context, Put, Remove, Store, Version
from tests.stand_ins import fresh_store

A = parse_path("/memories/a.md")


def put(store: Store, content: bytes) -> Version:
    (version,) = run_now(store.apply([Put(A, content)], Context()))
    return version


def difference(old: bytes, new: bytes, context_lines: int = 3) -> str:
    """The diff of two contents without the two lines of names."""
    store = fresh_store()
    a, b = put(store, old), put(store, new)
    text = run_now(diff(store, a.id, b.id, context_lines=context_lines))
    names, _, body = text.partition("@@")
    assert names == f"--- /memories/a.md\t{a.id}\n+++ /memories/a.md\t{b.id}\n"
    return "@@" + body


def test_the_changed_lines_stand_with_three_lines_round_them() -> None:
    old = b"1\n2\n3\n4\n5\n6\n7\n8\n9\n"
    assert difference(old, old.replace(b"5", b"five")) == (
        "@@ -2,7 +2,7 @@\n 2\n 3\n 4\n-5\n+five\n 6\n 7\n 8\n"
    )
    assert difference(old, old.replace(b"5", b"five"), context_lines=0) == (
        "@@ -5 +5 @@\n-5\n+five\n"
    )


def test_a_last_line_without_an_end_is_marked() -> None:
    assert difference(b"a\nb", b"a\nb\n") == (
        "@@ -1,2 +1,2 @@\n a\n-b\n\\ No newline at end of file\n+b\n"
    )


def test_lines_end_at_line_feeds_only() -> None:
    assert difference("a\u2028b\rc\x0cd\n".encode(), b"x\n") == (
        "@@ -1 +1 @@\n-a\u2028b\rc\x0cd\n+x\n"
    )


def test_an_empty_file_has_no_lines() -> None:
    assert difference(b"", b"x\n") == "@@ -0,0 +1 @@\n+x\n"


def test_equal_contents_have_no_difference() -> None:
    store = fresh_store()
    version = put(store, b"same\n")
    assert run_now(diff(store, version.id)) == ""
    assert run_now(diff(store, version.id, version.id)) == ""


def test_without_a_second_version_the_present_content_is_meant() -> None:
    store = fresh_store()
    old = put(store, b"old\n")
    put(store, b"between\n")
    put(store, b"now\n")
    assert run_now(diff(store, old.id)).endswith("@@ -1 +1 @@\n-old\n+now\n")


def test_a_memory_that_is_gone_counts_as_empty() -> None:
    store = fresh_store()
    old = put(store, b"old\n")
    (gone,) = run_now(store.apply([Remove(A)], Context()))
    expected = f"--- /memories/a.md\t{old.id}\n+++ /dev/null\n@@ -1 +0,0 @@\n-old\n"
    assert run_now(diff(store, old.id)) == expected
    assert run_now(diff(store, old.id, gone.id)) == expected


def test_of_contents_that_are_no_text_it_says_only_that_they_differ() -> None:
    store = fresh_store()
    a, b = put(store, b"\xff"), put(store, b"text")
    assert run_now(diff(store, a.id, b.id)) == (
        f"Binary contents /memories/a.md\t{a.id} and /memories/a.md\t{b.id} differ\n"
    )


def test_a_redacted_version_has_nothing_to_compare() -> None:
    store = fresh_store()
    old = put(store, b"secret")
    now = put(store, b"clean")
    run_now(store.redact(old.id, Context()))
    for pair in ((old.id, None), (old.id, now.id), (now.id, old.id)):
        with pytest.raises(ContentGone):
            run_now(diff(store, *pair))


def test_an_unknown_version_is_unknown() -> None:
    with pytest.raises(UnknownId):
        run_now(diff(fresh_store(), "memver_none"))
