"""The official Python SDK, unchanged, with only its address and key set: every endpoint, its
iterators, its error classes, and its own engine that keeps a folder and a store together."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import anthropic
import pytest
from anthropic import Anthropic, AsyncAnthropic
from anthropic.lib.tools._memories import SessionMemoryStores
from anthropic.types.beta import BetaManagedAgentsSession
from anthropic.types.beta.sessions import BetaManagedAgentsMemoryStoreResource

from tests.server.live import Api


@pytest.fixture
def client(api: Api) -> Iterator[Anthropic]:
    with Anthropic(base_url=api.live.address, api_key=api.key.credential) as client:
        yield client


def test_every_endpoint_answers_the_sdk(client: Anthropic, api: Api) -> None:
    stores = client.beta.memory_stores
    store = stores.create(name="n", description="d", metadata={"a": "1"})
    assert store.type == "memory_store"
    assert stores.retrieve(store.id) == store
    assert [one.id for one in stores.list()] == [store.id]
    patched = stores.update(store.id, metadata={"a": None, "b": "2"})
    assert patched.metadata == {"b": "2"}
    made = stores.memories.create(store.id, path="/a.md", content="one", view="full")
    assert made.content == "one"
    again = stores.memories.update(
        made.id,
        memory_store_id=store.id,
        content="two",
        precondition={"type": "content_sha256", "content_sha256": made.content_sha256},
    )
    assert again.content is None
    assert stores.memories.retrieve(made.id, memory_store_id=store.id).content == "two"
    rolled = list(stores.memories.list(store.id, depth=1, path_prefix="/"))
    assert [one.path for one in rolled] == ["/a.md"]
    newest, first = stores.memory_versions.list(store.id, memory_id=made.id, view="full")
    assert (newest.content, first.content) == ("two", "one")
    assert newest.created_by is not None
    assert newest.created_by.type == "api_actor"
    if api.live.redacts:
        redacted = stores.memory_versions.redact(first.id, memory_store_id=store.id)
        assert redacted.redacted_at is not None
        kept = stores.memory_versions.retrieve(first.id, memory_store_id=store.id)
        assert (kept.content, kept.path) == (None, None)
    else:
        with pytest.raises(anthropic.BadRequestError, match="does not support redaction"):
            stores.memory_versions.redact(first.id, memory_store_id=store.id)
    deleted = stores.memories.delete(
        made.id, memory_store_id=store.id, expected_content_sha256=again.content_sha256
    )
    assert deleted.type == "memory_deleted"
    assert stores.archive(store.id).archived_at is not None
    assert stores.delete(store.id).type == "memory_store_deleted"


def test_iterators_go_through_all_pages(client: Anthropic) -> None:
    stores = client.beta.memory_stores
    store = stores.create(name="n")
    for number in range(25):
        stores.memories.create(store.id, path=f"/{number:02}", content=str(number))
    found = list(stores.memories.list(store.id, view="full"))
    assert [one.content for one in found if one.type == "memory"] == [str(n) for n in range(25)]
    assert len(list(stores.memories.list(store.id, limit=7))) == 25
    assert len(list(stores.memory_versions.list(store.id, limit=10))) == 25


def test_errors_are_the_sdks_classes_and_say_what_is_in_the_way(client: Anthropic) -> None:
    stores = client.beta.memory_stores
    store = stores.create(name="n")
    made = stores.memories.create(store.id, path="/a", content="")
    with pytest.raises(anthropic.ConflictError) as conflict:
        stores.memories.create(store.id, path="/a/b", content="")
    assert conflict.value.request_id == conflict.value.response.headers["request-id"]
    body: Any = conflict.value.body
    assert body["error"]["conflicting_memory_id"] == made.id
    with pytest.raises(anthropic.BadRequestError):
        stores.create(name="")
    with pytest.raises(anthropic.NotFoundError):
        stores.retrieve("memstore_01none")
    with pytest.raises(anthropic.AuthenticationError):
        client.with_options(api_key="mk_wrong").beta.memory_stores.create(name="n")
    with pytest.raises(anthropic.PermissionDeniedError):
        stores.create(name="n", workspace_id="wrkspc_other")
    with pytest.raises(anthropic.BadRequestError):
        stores.create(name="n", betas=["managed-agents-2026-04-01"])


def test_the_asynchronous_client_works_with_a_token_too(api: Api) -> None:
    async def work() -> None:
        address, token = api.live.address, api.key.credential
        async with AsyncAnthropic(base_url=address, auth_token=token) as client:
            store = await client.beta.memory_stores.create(name="n")
            listed = [one.id async for one in client.beta.memory_stores.list()]
            assert listed == [store.id]

    asyncio.run(work())


def session_with(store: str, name: str) -> BetaManagedAgentsSession:
    """A session as the service would give it, as far as the engine looks at it."""
    resource = BetaManagedAgentsMemoryStoreResource.construct(
        type="memory_store", memory_store_id=store, access="read_write", name=name, mount_path=None
    )
    return BetaManagedAgentsSession.construct(id="sesn_1", resources=[resource])


@pytest.mark.check("API-48")
def test_the_sync_engine_brings_a_folder_and_a_store_together(api: Api, tmp_path: Path) -> None:
    base = api.store()
    store = base.rpartition("/")[2]
    ids = {
        path: api.memory(base, path, f"first {path}")["id"]
        for path in ("/local.md", "/remote.md", "/both.md", "/gone.md", "/d/deep.md", "/off.md")
    }
    folder = tmp_path / "memory" / "team"

    async def work() -> None:
        async with AsyncAnthropic(base_url=api.live.address, api_key=api.key.credential) as client:
            engine = SessionMemoryStores(client, workdir=tmp_path)
            await engine.download(session_with(store, "team"))
            assert (folder / "d" / "deep.md").read_text() == "first /d/deep.md"
            (folder / "local.md").write_text("edited here")
            (folder / "new.md").write_text("made here")
            (folder / "both.md").write_text("edited here")
            (folder / "gone.md").unlink()
            for path in ("/remote.md", "/both.md"):
                body = {"content": "edited there"}
                api.done("POST", f"{base}/memories/{ids[path]}", json=body)
            api.done("DELETE", f"{base}/memories/{ids['/off.md']}")
            await engine.finish()
            after = {
                str(path.relative_to(folder)): path.read_text()
                for path in folder.rglob("*")
                if path.is_file() and not path.name.startswith(".")
            }
            there = {
                one["path"].removeprefix("/"): one["content"]
                for one in api.every(f"{base}/memories", view="full")
            }
            assert after == there == {
                "local.md": "edited here",
                "new.md": "made here",
                "remote.md": "edited there",
                "both.md": "edited there",
                "d/deep.md": "first /d/deep.md",
            }  # fmt: skip
            versions = len(api.every(f"{base}/memory_versions"))
            await engine.dispose()
            another = SessionMemoryStores(client, workdir=tmp_path / "another")
            await another.download(session_with(store, "team"))
            await another.finish()
            assert len(api.every(f"{base}/memory_versions")) == versions
            await another.dispose()

    asyncio.run(work())
