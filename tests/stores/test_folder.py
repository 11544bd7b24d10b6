"""The folder backend keeps every promise of the store contract."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from pathlib import Path

import pytest

from memoranda import Memory
from memoranda.errors import Unavailable
from memoranda.stores.base import Backend
from memoranda.stores.folder.backend import FolderBackend, whose_is
from memoranda.stores.log.schema import FORMAT
from memoranda.testing.model import run_machine
from memoranda.testing.store_suite import StoreSuite


class TestFolderStore(StoreSuite):
    async def open_backend(self, home: Path) -> Backend:
        return FolderBackend(home / "memory")

    def stored_files(self, home: Path, store_id: str, user: str) -> Mapping[str, bytes] | None:
        for directory in (home / "memory/stores").iterdir():
            whose = whose_is(directory.name)
            if whose is not None and whose.user == user:
                root = directory / "memories"
                return {
                    f"/{path.relative_to(root)}": path.read_bytes()
                    for path in root.rglob("*")
                    if path.is_file()
                }
        return {}


def test_the_folder_store_agrees_with_the_oracle() -> None:
    run_machine(TestFolderStore)


def test_a_history_of_a_newer_format_is_refused_and_untouched(tmp_path: Path) -> None:
    with Memory.open(str(tmp_path), user="ann") as memory:
        memory.write("/memories/a.md", "one\n")
    history = tmp_path / "stores/ann/history.db"
    image = bytearray(history.read_bytes())
    image[60:64] = bytes([0, 0, 0, FORMAT + 1])  # user_version
    history.write_bytes(image)

    with Memory.open(str(tmp_path), user="ann") as memory:
        for do in (memory.verify, partial(memory.write, "/memories/a.md", "two\n")):
            with pytest.raises(Unavailable, match="format"):
                do()

    assert history.read_bytes() == image
    assert (tmp_path / "stores/ann/memories/a.md").read_text() == "one\n"
