"""Backups: they bring everything back, show any damage, and can't be used against anybody."""

from __future__ import annotations

import io
import json
import random
from pathlib import Path
from typing import Any

import pytest

from memoranda.digests import sha256
from memoranda.drive import run_now
from memoranda.errors import Corrupt, MemorandaError, StoreExists
from memoranda.operations.backup import frames
from memoranda.operations.backup.reading import check_backup
from memoranda.operations.backup.restoring import Restored, restore_backup
from memoranda.operations.backup.writing import write_backup
from memoranda.operations.copying.stores import stores_of
from memoranda.stores.base import Backend, Context
from memoranda.stores.companions import PROPOSALS, label_of
from memoranda.stores.folder.backend import FolderBackend
from memoranda.stores.postgres.backend import PostgresBackend
from memoranda.stores.ram import RamBackend
from memoranda.stores.sealed.backend import SealedBackend
from memoranda.stores.sealed.keys import Keys, LocalKey
from memoranda.testing.promises.steps import p, put, tree
from tests.stores.histories import live_through, picture
from tests.stores.postgres_server import url_for


def backed_up(backend: Backend) -> bytes:
    out = io.BytesIO()
    run_now(write_backup(backend, run_now(stores_of(backend)), out.write, "user_admin"))
    return out.getvalue()


def restored(backend: Backend, data: bytes) -> Restored:
    return run_now(restore_backup(backend, io.BytesIO(data).read, "user_admin"))


def filled(n_batches: int = 40) -> RamBackend:
    backend = RamBackend()
    run_now(live_through(run_now(backend.for_user("ada")), 4, n_batches))
    store = run_now(backend.for_user("bob", "w2"))
    run_now(put(store, "/d/a", b"1"))
    run_now(store.hold(p("/d"), "law", Context("user_law", "hold")))
    run_now(store.touch((p("/d/a"),), 7))
    run_now(store.flush())
    info = run_now(backend.find_user("bob", "w2"))
    assert info is not None
    run_now(put(run_now(backend.for_user(label_of(info), PROPOSALS)), "/p", b"{}"))
    return backend


def test_everything_comes_back_in_any_backend(tmp_path: Path) -> None:
    source = filled()
    data = backed_up(source)
    first = run_now(picture(run_now(source.for_user("ada"))))
    assert check_backup(io.BytesIO(data).read) > 20
    keys = Keys(LocalKey(bytes(32)))
    for target in (
        FolderBackend(tmp_path / "folder"),
        SealedBackend(RamBackend(), keys),
    ):
        assert restored(target, data)[0] == 2
        assert run_now(picture(run_now(target.for_user("ada")))) == first
        bob = run_now(target.for_user("bob", "w2"))
        assert [hold.reason for hold in run_now(bob.holds())] == ["law"]
        assert run_now(bob.uses()) == {p("/d/a"): 7}
        with pytest.raises(StoreExists):
            restored(target, data)
        assert run_now(picture(run_now(target.for_user("ada")))) == first
        assert [each.user for each in run_now(stores_of(target))] == ["ada", "bob"]
        run_now(target.close())


def test_a_server_takes_a_backup_too(tmp_path: Path) -> None:
    source = RamBackend()
    run_now(live_through(run_now(source.for_user("ada")), 9, 25))
    target = PostgresBackend(url_for(tmp_path))
    restored(target, backed_up(source))
    copy = run_now(target.for_user("ada"))
    assert run_now(picture(copy)) == run_now(picture(run_now(source.for_user("ada"))))
    run_now(target.close())


def test_any_end_that_is_cut_off_is_noticed() -> None:
    data = backed_up(filled(5))
    chance = random.Random(1)
    for end in sorted({0, 1, len(data) - 1, *(chance.randrange(len(data)) for _ in range(60))}):
        target = RamBackend()
        with pytest.raises(Corrupt):
            check_backup(io.BytesIO(data[:end]).read)
        with pytest.raises(Corrupt):
            restored(target, data[:end])
    with pytest.raises(Corrupt, match="follows"):
        check_backup(io.BytesIO(data + b"x").read)


def test_any_bit_that_flips_is_noticed_and_half_a_store_is_taken_back() -> None:
    data = backed_up(filled(5))
    chance = random.Random(2)
    for place in (chance.randrange(len(data)) for _ in range(150)):
        flipped = bytearray(data)
        flipped[place] ^= 1 << chance.randrange(8)
        with pytest.raises(Corrupt):
            check_backup(io.BytesIO(flipped).read)
    flipped = bytearray(data)
    flipped[len(data) // 2] ^= 1
    target = RamBackend()
    with pytest.raises(Corrupt):
        restored(target, bytes(flipped))
    for info in run_now(stores_of(target)):
        assert run_now(run_now(target.open(info.id, info.workspace)).verify()).ok


def forged(changes: dict[bytes, dict[str, Any]], *, content: bytes = b"x") -> bytes:
    """A backup of one store with one memory, some fields others, every digest right."""
    out = io.BytesIO()
    writer = frames.FrameWriter(out.write)
    version: dict[str, Any] = {
        "memory_id": "mem_01x", "operation": "created", "path": "/a", "actor": "agent",
        "command": "c", "trace_id": None, "created_at_ns": 1, "batch": 1,
        "sha256": sha256(content).hexdigest(), "redacted": False, "redacted_by": None,
        "content_bytes": len(content),
    }  # fmt: skip
    store: dict[str, Any] = {
        "id": "memstore_01a", "workspace": "default", "name": "n", "user": "ada",
        "description": "", "metadata": {}, "created_at_ns": 1, "updated_at_ns": 1,
        "archived_at_ns": None, "id_key": "00" * 32, "above": 10, "audit": {},
    }  # fmt: skip
    writer.fields(frames.STORE, **{**store, **changes.get(frames.STORE, {})})
    writer.fields(frames.VERSION, **{**version, **changes.get(frames.VERSION, {})})
    writer.frame(frames.CONTENT, content)
    writer.fields(frames.STORE_END, **{"versions": 1, **changes.get(frames.STORE_END, {})})
    writer.fields(frames.END, stores=1)
    return out.getvalue()


HOSTILE: list[tuple[bytes, dict[str, Any]]] = [
    *((frames.VERSION, {"path": path}) for path in ("/../../etc/x", "/a/../b", "a", "/", "//a", 5)),
    *((frames.STORE, {"id": one}) for one in ("../x", "memstore_../x", "", 1, None)),
    *((frames.STORE, {"user": one}) for one in ("../x", "a/b", ".", "", "memstore_01b")),
    *((frames.STORE, {"workspace": one}) for one in ("../x", "", None)),
    (frames.STORE, {"id_key": "00"}),
    (frames.STORE, {"id_key": "zz" * 32}),
    (frames.STORE, {"above": 2**40}),
    (frames.STORE, {"above": -1}),
    (frames.STORE, {"metadata": {"a": 1}}),
    (frames.STORE, {"metadata": []}),
    (frames.VERSION, {"content_bytes": 2**60}),
    (frames.VERSION, {"content_bytes": 2**20}),
    (frames.VERSION, {"content_bytes": -1}),
    (frames.VERSION, {"content_bytes": None}),
    (frames.VERSION, {"sha256": "00" * 32}),
    (frames.VERSION, {"operation": "exploded"}),
    (frames.VERSION, {"created_at_ns": 2**70}),
    (frames.VERSION, {"created_at_ns": 1.5}),
    (frames.VERSION, {"actor": None}),
    (frames.STORE_END, {"versions": 2}),
]


@pytest.mark.parametrize(("kind", "fields"), HOSTILE)
def test_a_backup_that_was_made_to_harm_writes_nothing(
    tmp_path: Path, kind: bytes, fields: dict[str, Any]
) -> None:
    data = forged({kind: fields})
    with pytest.raises(Corrupt):
        check_backup(io.BytesIO(data).read)
    target = FolderBackend(tmp_path / "inner" / "folder")
    with pytest.raises(MemorandaError):
        restored(target, data)
    assert run_now(stores_of(target)) == []
    run_now(target.close())
    assert [each.name for each in tmp_path.iterdir()] in ([], ["inner"])


def test_ids_that_the_key_never_gave_are_refused_and_nothing_stays() -> None:
    target = RamBackend()
    data = forged({})
    check_backup(io.BytesIO(data).read)
    with pytest.raises(MemorandaError):
        restored(target, data)
    assert run_now(stores_of(target)) == []


def test_a_size_that_a_part_tells_is_not_taken_on_trust() -> None:
    asked: list[int] = []
    data = io.BytesIO(frames.MAGIC + frames.STORE + (2**32 - 1).to_bytes(4, "big"))

    def read(size: int) -> bytes:
        asked.append(size)
        return data.read(size)

    with pytest.raises(Corrupt):
        check_backup(read)
    assert max(asked) < 100
    deep = json.dumps("x").encode() + b"[" * 100_000
    out = io.BytesIO()
    frames.FrameWriter(out.write).frame(frames.STORE, deep)
    with pytest.raises(Corrupt):
        check_backup(io.BytesIO(out.getvalue()).read)


def test_what_is_written_meanwhile_is_not_in_the_backup() -> None:
    source = RamBackend()
    store = run_now(source.for_user("ada"))
    for number in range(20):
        run_now(put(store, f"/{number}", b"1"))
    out = io.BytesIO()

    def write(data: bytes) -> None:
        out.write(data)
        run_now(put(store, "/later", b"%d" % len(out.getvalue())))

    run_now(write_backup(source, run_now(stores_of(source)), write, "user_admin"))
    target = RamBackend()
    restored(target, out.getvalue())
    found = run_now(tree(run_now(target.for_user("ada"))))
    assert {f"/{number}" for number in range(20)} <= set(found)
    assert run_now(run_now(target.for_user("ada")).verify()).ok
