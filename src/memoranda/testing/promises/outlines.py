"""The outline: the two levels that a view of a directory shows."""

from __future__ import annotations

from memoranda.errors import NotFound
from memoranda.stores.base import BESIDE_PATH_CHARS, Outline, Store
from memoranda.testing.promises.rig import Rig
from memoranda.testing.promises.steps import fill, move, p, put, refused, remove

EVERYTHING = 1_000_000


async def outline(store: Store, directory: str, line_chars: int = EVERYTHING) -> Outline:
    """The outline of ``directory``."""
    return await store.outline(p(directory), line_chars)


def shown(found: Outline, directory: str = "") -> list[tuple[str, int]]:
    """The lines of ``directory`` as they are printed: store path and size."""
    return [(f"{directory}/{name}", size_bytes) for name, size_bytes in found.items]


class OutlinePromises:
    """What ``outline`` answers."""

    async def promise_the_outline_of_an_empty_store_is_empty(self, rig: Rig) -> None:
        assert await outline(rig.store, "/") == Outline(0, (), 0)

    async def promise_an_outline_shows_two_levels_with_the_sizes_of_all_below(
        self, rig: Rig
    ) -> None:
        await put(rig.store, "/a.md", b"1")
        await put(rig.store, "/d/b.md", b"22")
        await put(rig.store, "/d/e/c.md", b"333")
        await put(rig.store, "/d/e/f/g/deep.md", b"4444")
        found = await outline(rig.store, "/")
        assert found.size_bytes == 10
        assert shown(found) == [("/a.md", 1), ("/d/", 9), ("/d/b.md", 2), ("/d/e/", 7)]
        assert found.total == 4
        found = await outline(rig.store, "/d")
        assert found.size_bytes == 9
        assert shown(found, "/d") == [
            ("/d/b.md", 2),
            ("/d/e/", 7),
            ("/d/e/c.md", 3),
            ("/d/e/f/", 4),
        ]
        assert found.total == 4

    async def promise_hidden_names_and_node_modules_stay_out_of_lines_sizes_and_total(
        self, rig: Rig
    ) -> None:
        await put(rig.store, "/a.md", b"1")
        await put(rig.store, "/.hidden", b"22")
        await put(rig.store, "/.h/x.md", b"333")
        await put(rig.store, "/node_modules/p.js", b"4444")
        await put(rig.store, "/d/.env", b"55555")
        await put(rig.store, "/d/node_modules/q/r.js", b"666666")
        await put(rig.store, "/d/e/.h/deep.md", b"7777777")
        await put(rig.store, "/d/e/seen.md", b"88")
        await put(rig.store, "/my_node_modules.md", b"9")
        found = await outline(rig.store, "/")
        assert shown(found) == [
            ("/a.md", 1),
            ("/d/", 2),
            ("/d/e/", 2),
            ("/my_node_modules.md", 1),
        ]
        assert (found.size_bytes, found.total) == (4, 4)

    async def promise_a_directory_with_nothing_but_hidden_names_is_shown_empty(
        self, rig: Rig
    ) -> None:
        await put(rig.store, "/d/.env", b"55555")
        assert shown(await outline(rig.store, "/")) == [("/d/", 0)]
        assert await outline(rig.store, "/d") == Outline(0, (), 0)

    async def promise_a_hidden_directory_can_itself_be_looked_into(self, rig: Rig) -> None:
        await put(rig.store, "/.h/x.md", b"333")
        await put(rig.store, "/.h/.env", b"1")
        await put(rig.store, "/.h/d/y.md", b"22")
        found = await outline(rig.store, "/.h")
        assert shown(found, "/.h") == [("/.h/d/", 2), ("/.h/d/y.md", 2), ("/.h/x.md", 3)]
        assert (found.size_bytes, found.total) == (5, 3)

    async def promise_an_outline_is_ordered_by_code_points_with_the_slash_of_directories(
        self, rig: Rig
    ) -> None:
        await fill(rig.store, *TRICKY_ORDER)
        lines = [name for name, _ in (await outline(rig.store, "/")).items]
        assert lines == sorted(lines)
        assert len(lines) == len(set(lines))

    async def promise_an_outline_stops_once_enough_characters_are_shown(self, rig: Rig) -> None:
        await fill(
            rig.store, *(f"/d{number}/f{inner}.md" for number in range(9) for inner in range(5))
        )
        whole = await outline(rig.store, "/")
        assert whole.total == len(whole.items) == 54
        lengths = [len(f"/memories/{name}") + BESIDE_PATH_CHARS for name, _ in whole.items]
        for line_chars in (1, 10, 14, 15, 100, 333, sum(lengths) - 1, sum(lengths)):
            part = await outline(rig.store, "/", line_chars)
            n = len(part.items)
            assert part.items == whole.items[:n]
            assert (part.total, part.size_bytes) == (whole.total, whole.size_bytes)
            assert n == len(lengths) or sum(lengths[: n + 1]) > line_chars
            assert sum(lengths[: n - 1]) <= line_chars

    async def promise_an_outline_of_nothing_or_of_a_file_is_not_found(self, rig: Rig) -> None:
        await put(rig.store, "/d/a.md", b"1")
        for path in ("/none", "/d/none", "/d/a.md", "/d/a.md/below"):
            with refused(NotFound) as caught:
                await outline(rig.store, path)
            assert caught.error.path == p(path)

    async def promise_sizes_and_totals_follow_every_kind_of_change(self, rig: Rig) -> None:
        await put(rig.store, "/d/e/a.md", b"1" * 100)
        await put(rig.store, "/d/b.md", b"1" * 10)
        await put(rig.store, "/d/b.md", b"1" * 30)
        assert shown(await outline(rig.store, "/")) == [
            ("/d/", 130),
            ("/d/b.md", 30),
            ("/d/e/", 100),
        ]
        await move(rig.store, "/d/e", "/z/y/x")
        assert shown(await outline(rig.store, "/")) == [
            ("/d/", 30),
            ("/d/b.md", 30),
            ("/z/", 100),
            ("/z/y/", 100),
        ]
        await move(rig.store, "/d/b.md", "/z/.b.md")
        found = await outline(rig.store, "/")
        assert shown(found) == [("/z/", 100), ("/z/y/", 100)]
        assert (found.size_bytes, found.total) == (100, 2)
        await move(rig.store, "/z/y", "/.z")
        assert shown(await outline(rig.store, "/")) == [("/z/", 0)]
        await move(rig.store, "/.z", "/z/q")
        assert shown(await outline(rig.store, "/")) == [("/z/", 100), ("/z/q/", 100)]
        await remove(rig.store, "/z")
        assert await outline(rig.store, "/") == Outline(0, (), 0)


TRICKY_ORDER = (
    "/a/x.md",
    "/a.md",
    "/a0",
    "/a-b/y",
    "/a b",
    "/A",
    "/Z/z",
    "/_",
    "/\u00e9/1",
    "/\u00e9.md",
    "/\ufb01sh.md",
    "/\U0001f680.md",
    "/\uff5e",
    "/zz/a.md",
    "/zz/a/deep",
    "/zz/a0",
)
"""Paths whose order differs by segment, by collation, by UTF-16 unit or without the slash."""
