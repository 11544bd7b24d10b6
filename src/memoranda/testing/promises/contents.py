"""Any bytes under any accepted name, kept exactly."""

from __future__ import annotations

from memoranda.testing.promises.rig import Rig
from memoranda.testing.promises.steps import (
    append,
    edit,
    move,
    names,
    p,
    put,
    read,
    remove,
    tree,
)

HOSTILE_NAMES = (
    "-rf",
    "--help",
    "0",
    "NULL",
    ".env.example",
    ".gitignore",
    ".lock",
    ".tmp-1234-abcd",
    ".meta",
    "memory.db",
    "history.db",
    "history.db-wal",
    "index.sqlite3-wal",
    "lock",
    "incoming",
    "trash",
    "recovered",
    "notes.md.lock",
    "tenant.json",
    "100%.md",
    "100%25.md",
    "%41.md",
    "A.md",
    "a.md",
    "a%20b.md",
    "a b.md",
    "a  b.md",
    "a\u00a0b.md",
    "\u5168\u89d2\u3000\u7a7a\u767d.md",
    "it's.md",
    '"quoted".md',
    "`tick`.md",
    "a&b;c|d>e<f.md",
    "*.md",
    "?.md",
    "[brackets].md",
    "{braces}.md",
    "a^b.md",
    "_",
    "a_b",
    "axb",
    "'; DROP TABLE node;--.md",
    "#1-priority.md",
    "2026-01-02T10:00:00Z.md",
    "user@example.com.md",
    "notes.md~",
    "~",
    "$HOME",
    "${HOME}",
    "$(id)",
    "con",
    "aux.md",
    "COM1",
    "trailing.",
    "etc...",
    "a..b",
    "=2e=2e",
    "h=abc",
    "Case.md",
    "CASE.md",
    "case.md",
    "\U0001f680 launch.md",
    "notes-\u2764\ufe0f.md",
    "\uff21\uff22.md",
    "\u30e1\u30e2\u30fb\u8ffd\u52a0.md",
    "\u05d4\u05e2\u05e8\u05d5\u05ea.md",
    "\u0928\u094b\u091f\u094d\u0938.md",
    "Stra\u00dfe.md",
    "Strasse.md",
    "\u00fcber.md",
    "\u0430.md",
    "n\u043etes.md",
    "\u0131.md",
    "i.md",
    "I.md",
    "\u0130.md",
    "x\u00b2.md",
    "\u2044x.md",
    "wait\u2026.md",
    "n" * 255,
    "\u6f22" * 85,
)
"""Names that the path policy accepts and that some storage or query could take amiss."""

CONTENTS = (
    b"",
    b"\n",
    b"\r\n",
    b"a\r\nb\r\nc",
    b"a\rb\nc\r\n",
    b"\xef\xbb\xbfwith a mark\n",
    b"\x00",
    b"a\x00b",
    b"\xff\xfe\x80\xc0\xaf",
    bytes(range(256)),
    "e\u0301 \u00e9 \U0001f468\u200d\U0001f469".encode(),
    b"trailing blanks  \n\t\n\n\n",
    b"\x1a end of file",
    b"'\"; DROP TABLE event; -- \\ $1 %s {}",
    b"x" * 4096,
    b"\n" * 5000,
)
"""Contents that some storage could cut, translate or refuse."""


class ContentPromises:
    """What is stored comes back to the byte, under every name that the policy accepts."""

    async def promise_contents_come_back_to_the_byte(self, rig: Rig) -> None:
        for number, content in enumerate(CONTENTS):
            (version,) = await put(rig.store, f"/{number}.bin", content)
            assert await read(rig.store, f"/{number}.bin") == content
            assert (await rig.store.version(version.id)).content == content
        for number, content in enumerate(CONTENTS):
            await edit(rig.store, f"/{number}.bin", append(b"\x00!"))
            assert await read(rig.store, f"/{number}.bin") == content + b"\x00!"

    async def promise_a_megabyte_comes_back_and_is_read_in_parts(self, rig: Rig) -> None:
        content = bytes(range(256)) * 4096 + b"the end"
        (made,) = await put(rig.store, "/big.bin", content)
        assert await read(rig.store, "/big.bin") == content
        part = await rig.store.read(p("/big.bin"), 1_048_570, 100)
        assert part.data == content[1_048_570:]
        part = await rig.store.read(p("/big.bin"), 65_530, 20)
        assert part.data == content[65_530:65_550]
        await edit(rig.store, "/big.bin", append(b"!"))
        assert await read(rig.store, "/big.bin") == content + b"!"
        assert (await rig.store.version(made.id)).content == content

    async def promise_every_accepted_name_is_a_memory_of_its_own(self, rig: Rig) -> None:
        for name in HOSTILE_NAMES:
            await put(rig.store, f"/{name}", b"file " + name.encode())
            await put(rig.store, f"/dirs/{name}/{name}", b"below " + name.encode())
        wanted = {f"/{name}": b"file " + name.encode() for name in HOSTILE_NAMES} | {
            f"/dirs/{name}/{name}": b"below " + name.encode() for name in HOSTILE_NAMES
        }
        assert await tree(rig.store) == wanted
        await rig.reopen()
        if rig.backend.capabilities.durable:
            assert await tree(rig.store) == wanted

    async def promise_every_accepted_name_lives_a_whole_life(self, rig: Rig) -> None:
        for name in HOSTILE_NAMES:
            await put(rig.store, f"/{name}", b"x")
            await edit(rig.store, f"/{name}", append(b"y"))
            await move(rig.store, f"/{name}", f"/d/{name}")
            await move(rig.store, "/d", f"/{name}")
            assert await names(rig.store, depth=1) == [f"/{name}/"]
            assert await tree(rig.store) == {f"/{name}/{name}": b"xy"}
            await remove(rig.store, f"/{name}")
        assert await tree(rig.store) == {}
        assert (await rig.store.verify()).ok
