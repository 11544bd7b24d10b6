"""Full-text search."""

from __future__ import annotations

from memoranda.errors import Unsupported
from memoranda.stores.base import Hit, Store
from memoranda.testing.promises.rig import Rig
from memoranda.testing.promises.steps import (
    append,
    edit,
    move,
    p,
    put,
    refused,
    remove,
)


async def found(store: Store, query: str, prefix: str = "/", limit: int = 50) -> list[str]:
    """The paths that a search gives, in its order."""
    return [hit.path.store_path for hit in await store.search(query, p(prefix), limit=limit)]


async def have_it_indexed(store: Store) -> None:
    """Search once, so that an index that is built when it is needed holds what is to go."""
    if store.capabilities.searches:
        await store.search("before", p("/"))


class SearchPromises:
    """What ``search`` answers where the backend can search."""

    async def promise_a_backend_that_cannot_search_says_so(self, rig: Rig) -> None:
        if not rig.store.capabilities.searches:
            with refused(Unsupported):
                await rig.store.search("word", p("/"))
        else:
            assert await rig.store.search("word", p("/")) == ()

    async def promise_a_search_gives_the_lines_that_hold_the_word(self, rig: Rig) -> None:
        rig.needs("searches")
        await put(rig.store, "/a.md", b"apples are red\nplums are blue\nmore apples\n")
        await put(rig.store, "/b.md", b"nothing here\n")
        assert await rig.store.search("apples", p("/")) == (
            Hit(p("/a.md"), ((1, "apples are red"), (3, "more apples"))),
        )

    async def promise_every_word_has_to_be_there_and_case_does_not_matter(self, rig: Rig) -> None:
        rig.needs("searches")
        await put(rig.store, "/a.md", b"Red apples\nand blue plums\n")
        await put(rig.store, "/b.md", b"red plums\n")
        await put(rig.store, "/c.md", "ÄPFEL und Birnen\n".encode())
        assert await found(rig.store, "RED plums") == ["/a.md", "/b.md"]
        assert await found(rig.store, "red apples") == ["/a.md"]
        assert await found(rig.store, "red pears") == []
        assert await found(rig.store, "äpfel") == ["/c.md"]

    async def promise_a_quoted_part_counts_as_one_word(self, rig: Rig) -> None:
        rig.needs("searches")
        await put(rig.store, "/a.md", b"red apples and green pears\n")
        await put(rig.store, "/b.md", b"apples, red and green\n")
        assert await found(rig.store, '"red apples"') == ["/a.md"]
        assert await found(rig.store, '"red and green" apples') == ["/b.md"]

    async def promise_hits_come_by_path_within_the_prefix_and_the_limit(self, rig: Rig) -> None:
        rig.needs("searches")
        for path in ("/d/b.md", "/d.md", "/a/x.md", "/d/a.md", "/d2/z.md"):
            await put(rig.store, path, b"needle\n")
        assert await found(rig.store, "needle") == [
            "/a/x.md",
            "/d.md",
            "/d/a.md",
            "/d/b.md",
            "/d2/z.md",
        ]
        assert await found(rig.store, "needle", "/d") == ["/d/a.md", "/d/b.md"]
        assert await found(rig.store, "needle", limit=2) == ["/a/x.md", "/d.md"]

    async def promise_a_search_sees_the_present_contents(self, rig: Rig) -> None:
        rig.needs("searches")
        await put(rig.store, "/a.md", b"first\n")
        assert await found(rig.store, "first") == ["/a.md"]
        await put(rig.store, "/a.md", b"second\n")
        assert await found(rig.store, "first") == []
        assert await found(rig.store, "second") == ["/a.md"]
        await edit(rig.store, "/a.md", append(b"third\n"))
        assert await found(rig.store, "third") == ["/a.md"]
        await move(rig.store, "/a.md", "/d/b.md")
        assert await found(rig.store, "third") == ["/d/b.md"]
        await move(rig.store, "/d", "/e")
        assert await found(rig.store, "third") == ["/e/b.md"]
        await remove(rig.store, "/e")
        assert await found(rig.store, "third") == []

    async def promise_long_lines_are_cut_in_hits(self, rig: Rig) -> None:
        rig.needs("searches")
        await put(rig.store, "/a.md", b"needle " + b"x" * 5000 + b"\n")
        (hit,) = await rig.store.search("needle", p("/"))
        ((number, text),) = hit.lines
        assert number == 1
        assert len(text) <= 200

    async def promise_a_query_of_signs_is_only_text(self, rig: Rig) -> None:
        rig.needs("searches")
        await put(rig.store, "/a.md", b"plain words\n")
        await put(rig.store, "/b.md", b'100% of it\'s "quoted" a*b NEAR (c) c:d e^f g-h\n')
        for query in HOSTILE_QUERIES:
            assert "/a.md" not in await found(rig.store, query), query

    async def promise_what_is_not_text_does_not_break_a_search(self, rig: Rig) -> None:
        rig.needs("searches")
        await put(rig.store, "/bytes.bin", b"\xff\xfe needle \x00\x80")
        await put(rig.store, "/nul.md", b"a\x00b needle\n")
        await put(rig.store, "/text.md", b"needle\n")
        assert "/text.md" in await found(rig.store, "needle")


HOSTILE_QUERIES = (
    '"unbalanced zzz',
    "a*zzz",
    "NEAR(zzz, yyy)",
    "(zzz",
    "zzz OR plainzzz",
    "c:zzz",
    "^zzz",
    "'; DROP TABLE node; --",
    "100% zzz",
    "zzz\x00plain",
    "_____________zzz",
    "\\zzz",
    "\U0001f680",
)
"""Queries that mean something to a query language; none of them stands in the plain text."""
