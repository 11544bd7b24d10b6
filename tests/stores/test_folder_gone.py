"""What was redacted or erased is in no file any more, whatever its name: the raw bytes are searched."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from memoranda.drive import run_now
from memoranda.errors import UnknownId
from memoranda.stores.base import Hold, VersionFilter
from memoranda.stores.folder.home import ERASED
from memoranda.stores.folder.store import FolderStore
from memoranda.testing.promises.steps import append
from tests.stores.folder_rig import AGENT, FolderRig

SECRET = b"the-secret-that-must-go"


def holding(root: Path) -> list[str]:
    """The files beneath a folder in which the secret stands."""
    return [
        str(path.relative_to(root))
        for path in sorted(root.rglob("*"))
        if path.is_file() and SECRET in path.read_bytes()
    ]


def everywhere(tmp_path: Path) -> FolderRig:
    """A store in which a secret, gone from the present, is left in every place there is."""
    rig = FolderRig(tmp_path)
    rig.put("/a.md", b"one\n" + SECRET + b"\n" * 50)
    rig.put("/large.md", SECRET * 20_000)
    rig.put("/d/b.md", SECRET)
    rig.edit("/a.md", append(b"two\n"))
    rig.put("/a.md", b"clean\n")
    (rig.memories / "large.md").write_bytes(b"by hand " + SECRET)
    rig.edit("/large.md", append(b"more\n"))
    rig.put("/large.md", b"clean\n")
    (rig.memories / "d/unseen.md").write_bytes(SECRET)
    rig.remove("/d")
    (rig.directory / "trash/1").mkdir(parents=True)
    (rig.directory / "trash/1/left.md").write_bytes(SECRET)
    (rig.directory / "recovered").mkdir(exist_ok=True)
    (rig.directory / "recovered/1-history.db").write_bytes(SECRET)
    (rig.directory / "incoming/left").write_bytes(SECRET)
    return rig


def test_redaction_leaves_no_byte_of_what_it_blanked(tmp_path: Path) -> None:
    rig = everywhere(tmp_path)
    rooms = {place.split("/")[3] for place in holding(rig.home)}
    assert {"incoming", "trash", "recovered"} <= rooms
    assert any(room.startswith("history.db") for room in rooms)
    rig.tree()
    for version in run_now(rig.store.versions(VersionFilter(), content=True, limit=1000)).versions:
        if version.content is not None and SECRET in version.content:
            run_now(rig.store.redact(version.id, AGENT))
    assert holding(rig.home) == []
    assert rig.tree() == {"/a.md": b"clean\n", "/large.md": b"clean\n"}
    rig.check()
    rig.close()
    assert holding(rig.home) == []


def test_erasing_leaves_no_byte_at_all(tmp_path: Path) -> None:
    rig = everywhere(tmp_path)
    run_now(rig.backend.erase(rig.store.id, AGENT))
    assert holding(rig.home) == []
    assert not rig.directory.exists()
    rig.close()
    assert holding(rig.home) == []


def test_an_erasure_that_was_interrupted_is_ended_by_the_next_process(tmp_path: Path) -> None:
    rig = FolderRig(tmp_path)
    rig.put("/a.md", b"kept\n")
    rig.close()
    left = rig.directory.parent / f"{ERASED}0123"
    (left / "memories/d").mkdir(parents=True)
    (left / "memories/d/a.md").write_bytes(SECRET)
    rig.open()
    assert rig.read("/a.md") == b"kept\n"
    assert holding(rig.home) == []
    assert not left.exists()


@pytest.mark.parametrize("what", ["the store", "all stores"])
def test_a_store_whose_directory_somebody_removes_meanwhile_is_erased_all_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, what: str
) -> None:
    rig = FolderRig(tmp_path)
    rig.put("/a.md", SECRET)
    store_id = rig.store.id
    rig.reopen()

    async def remove(_: FolderStore) -> tuple[Hold, ...]:
        shutil.rmtree(rig.directory if what == "the store" else rig.directory.parent)
        return ()

    monkeypatch.setattr(FolderStore, "holds", remove)
    run_now(rig.backend.erase(store_id, AGENT))
    with pytest.raises(UnknownId):
        run_now(rig.backend.info(store_id))
    assert not rig.directory.exists()
