"""Every endpoint of the Memory Stores API through whichever official Python SDK this interpreter has.

A program of its own, which needs nothing of Memoranda: releases of the SDK are driven in environments
of their own. ``API_ADDRESS`` and ``API_KEY`` say where; the last line says what was driven.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from typing import Any

import anthropic
from anthropic import Anthropic, AsyncAnthropic

ADDRESS, KEY = os.environ["API_ADDRESS"], os.environ["API_KEY"]
MEMORIES = 250
WRITERS = 16


def fails(error: type[Exception], work: Callable[[], object]) -> Any:
    """The error of a call that has to be refused so."""
    try:
        work()
    except error as refused:
        return refused
    raise AssertionError(f"{error.__name__} was to be raised")


def stores_are_made_changed_archived_and_deleted(client: Anthropic) -> None:
    stores = client.beta.memory_stores
    store = stores.create(name="n", description="d", metadata={"a": "1"})
    assert store.type == "memory_store"
    assert stores.retrieve(store.id).id == store.id
    assert store.id in [one.id for one in stores.list()]
    assert stores.update(store.id, metadata={"a": None, "b": "2"}).metadata == {"b": "2"}
    assert stores.archive(store.id).archived_at is not None
    assert store.id not in [one.id for one in stores.list()]
    assert store.id in [one.id for one in stores.list(include_archived=True)]
    assert stores.delete(store.id).type == "memory_store_deleted"
    fails(anthropic.NotFoundError, lambda: stores.retrieve(store.id))


def memories_and_their_versions_live_a_whole_life(client: Anthropic) -> None:
    stores = client.beta.memory_stores
    store = stores.create(name="n")
    made = stores.memories.create(store.id, path="/d/a.md", content="one", view="full")
    assert made.content == "one"
    changed = stores.memories.update(
        made.id,
        memory_store_id=store.id,
        content="two",
        precondition={"type": "content_sha256", "content_sha256": made.content_sha256},
    )
    assert (changed.id, changed.content) == (made.id, None)
    moved = stores.memories.update(made.id, memory_store_id=store.id, path="/b.md")
    assert moved.path == "/b.md"
    assert stores.memories.retrieve(made.id, memory_store_id=store.id).content == "two"
    stores.memories.create(store.id, path="/p/q/x.md", content="")
    rolled = stores.memories.list(store.id, depth=1, path_prefix="/")
    assert [one.path for one in rolled] == ["/b.md", "/p/"]
    newest, between, first = stores.memory_versions.list(store.id, memory_id=made.id, view="full")
    assert (newest.path, between.content, first.content) == ("/b.md", "two", "one")
    redacted = stores.memory_versions.redact(first.id, memory_store_id=store.id)
    assert redacted.redacted_at is not None
    kept = stores.memory_versions.retrieve(first.id, memory_store_id=store.id)
    assert (kept.content, kept.path) == (None, None)
    deleted = stores.memories.delete(
        made.id, memory_store_id=store.id, expected_content_sha256=changed.content_sha256
    )
    assert deleted.type == "memory_deleted"
    (gone,) = stores.memory_versions.list(store.id, operation="deleted")
    assert (gone.memory_id, gone.path) == (made.id, "/b.md")


def iterators_go_through_all_pages(client: Anthropic) -> None:
    stores = client.beta.memory_stores
    store = stores.create(name="n")
    for number in range(MEMORIES):
        stores.memories.create(store.id, path=f"/{number:03}", content=str(number))
    found = list(stores.memories.list(store.id, limit=100))
    assert [one.path for one in found] == [f"/{number:03}" for number in range(MEMORIES)]
    full = list(stores.memories.list(store.id, limit=100, view="full"))
    assert [getattr(one, "content", None) for one in full] == [str(n) for n in range(MEMORIES)]
    assert len(list(stores.memory_versions.list(store.id, limit=90))) == MEMORIES


def errors_are_the_sdks_classes(client: Anthropic) -> None:
    stores = client.beta.memory_stores
    store = stores.create(name="n")
    made = stores.memories.create(store.id, path="/a", content="")
    conflict = fails(
        anthropic.ConflictError,
        lambda: stores.memories.create(store.id, path="/a/b", content=""),
    )
    assert conflict.request_id == conflict.response.headers["request-id"]
    assert conflict.body["error"]["conflicting_memory_id"] == made.id
    fails(anthropic.BadRequestError, lambda: stores.create(name=""))
    fails(anthropic.NotFoundError, lambda: stores.retrieve("memstore_01none"))
    wrong = client.with_options(api_key="mk_wrong").beta.memory_stores
    fails(anthropic.AuthenticationError, lambda: wrong.create(name="n"))
    stale = "0" * 64
    fails(
        anthropic.ConflictError,
        lambda: stores.memories.delete(
            made.id, memory_store_id=store.id, expected_content_sha256=stale
        ),
    )


def of_many_conditional_updates_at_once_one_wins(client: Anthropic) -> None:
    store = client.beta.memory_stores.create(name="n")
    made = client.beta.memory_stores.memories.create(store.id, path="/a", content="old")

    async def race() -> list[object]:
        async with AsyncAnthropic(base_url=ADDRESS, api_key=KEY) as many:
            updates = [
                many.beta.memory_stores.memories.update(
                    made.id,
                    memory_store_id=store.id,
                    content=str(number),
                    precondition={
                        "type": "content_sha256",
                        "content_sha256": made.content_sha256,
                    },
                )
                for number in range(WRITERS)
            ]
            return list(await asyncio.gather(*updates, return_exceptions=True))

    outcomes = asyncio.run(race())
    lost = [one for one in outcomes if isinstance(one, anthropic.ConflictError)]
    assert len(lost) == WRITERS - 1, outcomes
    assert len(list(client.beta.memory_stores.memory_versions.list(store.id))) == 2


CHECKS = (
    stores_are_made_changed_archived_and_deleted,
    memories_and_their_versions_live_a_whole_life,
    iterators_go_through_all_pages,
    errors_are_the_sdks_classes,
    of_many_conditional_updates_at_once_one_wins,
)


def main() -> None:
    """Run every check; the first that fails ends it."""
    with Anthropic(base_url=ADDRESS, api_key=KEY) as client:
        for check in CHECKS:
            check(client)
    print(f"{len(CHECKS)} checks passed with anthropic {anthropic.__version__}")


if __name__ == "__main__":
    main()
