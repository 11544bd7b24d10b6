"""A path is erased: no file holds a byte of it any more, and the audit's chain still holds."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from memoranda import Approval, AsyncMemory, Memory, Misuse, Policy
from memoranda.errors import Held, NotFound, ReadOnly, Unsupported
from tests.stand_ins import fresh_store

SECRET = "Zx81-this-text-must-go"
NAME = "Qn47-nor-this-name"
PATH = f"/memories/d/{NAME}.md"


def holds_any(folder: Path, *texts: str) -> list[str]:
    """The files that hold one of the texts."""
    return [
        str(path)
        for path in folder.rglob("*")
        if path.is_file()
        and any(text.encode() in path.read_bytes() or text in str(path) for text in texts)
    ]


@pytest.mark.parametrize("kind", ["folder", "sqlite", "sealed"])
def test_nothing_of_it_is_left_in_any_file(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MEMORANDA_SEALED_KEY", "ab" * 32)
    home = tmp_path / "m"
    urls = {"folder": str(home), "sqlite": f"sqlite:///{home}.db", "sealed": f"sealed:{home}"}
    policy = Policy(approval=(Approval(path="/memories/d/*"),))
    with Memory.open(urls[kind], "acme") as memory:
        memory.write(PATH, f"old {SECRET}")
        memory.write(PATH, f"new {SECRET} " + "x" * 50_000)
        memory.move(PATH, f"{PATH}.moved")
        memory.move(f"{PATH}.moved", PATH)
        memory.write("/memories/keep.md", "kept")
        memory.execute({"command": "view", "path": PATH})
        memory.execute({"command": "view", "path": f"{PATH}/none"})
    with Memory.open(urls[kind], "acme", policy=policy) as memory:
        memory.execute({"command": "create", "path": PATH, "file_text": SECRET})
        memory.execute(
            {"command": "str_replace", "path": PATH, "old_str": "new", "new_str": f"{SECRET}2"}
        )
        assert len(memory.proposals()) == 1
        assert holds_any(tmp_path, NAME)
        assert memory.erase_path(f"{PATH}.moved") == 1
        assert memory.erase_path(PATH) >= 3
        assert memory.proposals() == ()
        assert memory.history("/memories/d") == () or not any(
            version.path for version in memory.history("/memories/d")
        )
        assert memory.read("/memories/keep.md").text == "kept"
        assert memory.verify().ok
        assert memory.verify_audit().ok
        assert not any(NAME in str(entry) for entry in memory.audit(limit=1000))
        assert any(entry.command == "erase" for entry in memory.audit(limit=1000))
    assert holds_any(tmp_path, SECRET, NAME) == []


def test_what_is_held_or_never_was_is_not_erased() -> None:
    memory = Memory.of_store(fresh_store())
    memory.write(PATH, SECRET)
    for held in ("/memories", "/memories/d", PATH):
        memory.hold(held)
        with pytest.raises(Held):
            memory.erase_path("/memories/d")
        memory.lift_hold(held)
    with pytest.raises(NotFound):
        memory.erase_path("/memories/none")
    with pytest.raises(Misuse):
        memory.erase_path("/memories")
    assert memory.read(PATH).text == SECRET


def test_awaiting_programs_erase_paths_too() -> None:
    async def all_of_it() -> None:
        async with AsyncMemory.open("memory:") as memory:
            await memory.write(PATH, SECRET)
            assert await memory.erase_path("/memories/d") == 2
            with pytest.raises(NotFound):
                await memory.erase_path(PATH)

    asyncio.run(all_of_it())


def test_what_may_not_be_written_may_not_be_erased() -> None:
    store = fresh_store()
    Memory.of_store(store).write(PATH, SECRET)
    with pytest.raises(ReadOnly):
        Memory.of_store(store, policy=Policy(read_only=True)).erase_path(PATH)


def test_a_store_that_can_not_says_so_before_anything_is_done() -> None:
    store = fresh_store()
    store.capabilities = store.capabilities._replace(redacts=False)  # type: ignore[misc] # pyright: ignore[reportAttributeAccessIssue]
    memory = Memory.of_store(store)
    memory.write(PATH, SECRET)
    with pytest.raises(Unsupported):
        memory.erase_path(PATH)
    assert memory.read(PATH).text == SECRET
