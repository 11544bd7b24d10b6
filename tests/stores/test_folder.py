"""The folder backend keeps every promise of the store contract."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from memoranda.stores.base import Backend
from memoranda.stores.folder.backend import FolderBackend, whose_is
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
