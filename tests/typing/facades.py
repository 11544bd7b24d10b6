"""What type checkers know of the facades; checked with the rest, never run."""

from __future__ import annotations

from typing import assert_type

from memoranda import AsyncMemory, Memory, StoredMemory, ToolResult
from memoranda.operations.changed import Changed
from memoranda.operations.export import Exported
from memoranda.operations.import_folder import Imported
from memoranda.operations.restore import Restored
from memoranda.policies.proposal import Proposal
from memoranda.stores.base import (
    Directory,
    Entry,
    Hit,
    Page,
    Report,
    Usage,
    Version,
    VersionPage,
)


def sync(memory: Memory) -> None:
    """Every method of ``Memory``."""
    with memory as same:
        assert_type(same, Memory)
    assert_type(Memory.open("./memory", user="acme"), Memory)
    assert_type(memory.execute({"command": "view"}), ToolResult)
    assert_type(memory.read("/memories/a"), StoredMemory)
    assert_type(memory.list(), tuple[Entry | Directory, ...])
    assert_type(memory.page(depth=1), Page)
    assert_type(memory.search("text"), tuple[Hit, ...])
    assert_type(memory.usage(), Usage)
    assert_type(memory.write("/memories/a", "text", if_absent=True), Version)
    assert_type(memory.move("/memories/a", "/memories/b"), tuple[Version, ...])
    assert_type(memory.remove("/memories/a"), tuple[Version, ...])
    assert_type(memory.history(), tuple[Version, ...])
    assert_type(memory.versions(), VersionPage)
    assert_type(memory.changed(), Changed)
    assert_type(memory.version("memver_1"), Version)
    assert_type(memory.diff("memver_1"), str)
    assert_type(memory.proposals(), tuple[Proposal, ...])
    assert_type(memory.reject("prop_1"), Proposal)
    assert_type(memory.approve("prop_1"), tuple[Version, ...])
    assert_type(memory.restore(to="memver_1"), Restored)
    assert_type(memory.undo(), tuple[Version, ...])
    assert_type(memory.redact("memver_1"), Version)
    assert_type(memory.export("folder"), Exported)
    assert_type(memory.import_("folder"), Imported)
    assert_type(memory.verify(), Report)


async def asynchronous(memory: AsyncMemory) -> None:
    """Every method of ``AsyncMemory``."""
    async with memory as same:
        assert_type(same, AsyncMemory)
    assert_type(AsyncMemory.open("./memory", user="acme"), AsyncMemory)
    assert_type(await memory.execute({"command": "view"}), ToolResult)
    assert_type(await memory.read("/memories/a"), StoredMemory)
    assert_type(await memory.list(), tuple[Entry | Directory, ...])
    assert_type(await memory.page(depth=1), Page)
    assert_type(await memory.search("text"), tuple[Hit, ...])
    assert_type(await memory.usage(), Usage)
    assert_type(await memory.write("/memories/a", b"bytes", if_version="memver_1"), Version)
    assert_type(await memory.move("/memories/a", "/memories/b"), tuple[Version, ...])
    assert_type(await memory.remove("/memories/a"), tuple[Version, ...])
    assert_type(await memory.history(), tuple[Version, ...])
    assert_type(await memory.versions(), VersionPage)
    assert_type(await memory.changed(), Changed)
    assert_type(await memory.version("memver_1"), Version)
    assert_type(await memory.diff("memver_1"), str)
    assert_type(await memory.restore(to="memver_1"), Restored)
    assert_type(await memory.undo(), tuple[Version, ...])
    assert_type(await memory.redact("memver_1"), Version)
    assert_type(await memory.export("folder"), Exported)
    assert_type(await memory.import_("folder"), Imported)
    assert_type(await memory.verify(), Report)
