"""``/v1/memory_stores``: checks 1 to 6, 37 to 39 and 43."""

from __future__ import annotations

import re
from datetime import datetime
from typing import Any

import pytest

from tests.server.live import Api

STORES = "/v1/memory_stores"
INVALID = "invalid_request_error"


@pytest.mark.check("API-01", "API-46")
def test_a_new_store_has_all_that_is_promised(api: Api) -> None:
    answer = api.ask("POST", STORES, json={"name": "n"})
    assert re.fullmatch(r"req_01[0-9A-Za-z]{24}", answer.headers["request-id"])
    made = answer.json()
    assert re.fullmatch(r"memstore_01[0-9A-Za-z]{24}", made.pop("id"))
    assert made.pop("created_at") == made["updated_at"]
    assert re.fullmatch(r"[-0-9]{10}T[:0-9]{8}\.[0-9]{6}Z", made.pop("updated_at"))
    assert made == {
        "type": "memory_store", "name": "n", "description": "", "metadata": {}, "archived_at": None,
    }  # fmt: skip


@pytest.mark.check("API-02")
@pytest.mark.parametrize(
    "body",
    [{}, {"name": ""}, {"name": "a" * 256}, {"name": "a\u0007"}, {"name": None}, {"name": 1},
     {"name": "n", "more": 1}, {"name": "n", "description": "a" * 1025}, []],
)  # fmt: skip
def test_a_store_that_cant_be_is_refused(api: Api, body: Any) -> None:
    api.refused(400, INVALID, "POST", STORES, json=body)


def test_names_and_descriptions_are_kept_as_they_are(api: Api) -> None:
    about = {"name": " " + "😀" * 254, "description": "é" * 1024}
    made = api.done("POST", STORES, json=about)
    assert {name: made[name] for name in about} == about


@pytest.mark.check("API-03")
def test_metadata_has_its_limits(api: Api) -> None:
    pairs = {f"k{number}": "v" for number in range(16)}
    assert api.done("POST", STORES, json={"name": "n", "metadata": pairs})["metadata"] == pairs
    for wrong in ({**pairs, "one more": ""}, {"k" * 65: ""}, {"k": "v" * 513}, {"": ""}, {"k": 1}):
        error = api.refused(400, INVALID, "POST", STORES, json={"name": "n", "metadata": wrong})
        assert error["details"] == {"error_code": "invalid_metadata"}


@pytest.mark.check("API-04")
def test_metadata_is_patched(api: Api) -> None:
    store = api.store(metadata={"a": "1", "b": "1", "c": "1"})
    before = api.done("GET", store)
    after = api.done("POST", store, json={"metadata": {"a": "2", "b": None, "none": None}})
    assert after["metadata"] == {"a": "2", "c": "1"}
    assert after["updated_at"] > before["updated_at"]
    pairs = {f"k{number}": "v" for number in range(15)}
    error = api.refused(400, INVALID, "POST", store, json={"metadata": pairs})
    assert error["details"] == {"error_code": "invalid_metadata"}
    assert api.done("GET", store) == after


@pytest.mark.check("API-05")
def test_an_empty_description_clears_it(api: Api) -> None:
    store = api.store(name="kept", description="gone")
    after = api.done("POST", store, json={"description": ""})
    assert (after["name"], after["description"]) == ("kept", "")


def test_an_update_of_nothing_leaves_the_time(api: Api) -> None:
    store = api.store(metadata={"a": "1"})
    before = api.done("GET", store)
    for nothing in ({}, {"name": None, "metadata": None}, {"name": "n"}, {"metadata": {"x": None}}):
        assert api.done("POST", store, json=nothing) == before


@pytest.mark.check("API-06")
def test_every_store_is_listed_once_newest_first(api: Api) -> None:
    made = [api.store().rpartition("/")[2] for _ in range(5)]
    for limit in (1, 2, 5, 100):
        found = [one["id"] for one in api.every(STORES, limit=limit)]
        assert found == made[::-1]
    assert api.done("GET", STORES, params={"limit": 5})["next_page"] is None
    api.refused(400, INVALID, "GET", STORES, params={"limit": 0})
    api.refused(400, INVALID, "GET", STORES, params={"limit": 101})
    api.refused(400, INVALID, "GET", STORES, params={"page": "page_junk"})


def test_stores_are_filtered_by_when_they_were_made(api: Api) -> None:
    made = [api.done("GET", api.store()) for _ in range(3)]
    middle = made[1]["created_at"]
    ids = [one["id"] for one in made]
    newer = [one["id"] for one in api.every(STORES, limit=1, **{"created_at[gte]": middle})]
    older = [one["id"] for one in api.every(STORES, limit=1, **{"created_at[lte]": middle})]
    assert (set(newer), set(older)) == (set(ids[1:]), set(ids[:2]))
    offset = datetime.fromisoformat(middle).isoformat()
    assert {one["id"] for one in api.every(STORES, **{"created_at[gte]": offset})} == set(newer)
    api.refused(400, INVALID, "GET", STORES, params={"created_at[gte]": "yesterday"})
    api.refused(400, INVALID, "GET", STORES, params={"created_at[gte]": "2026-02-30T00:00:00Z"})


@pytest.mark.check("API-37", "API-43")
def test_archiving_is_for_good(api: Api) -> None:
    store, other = api.store(), api.store()
    first = api.done("POST", f"{store}/archive", json={})
    assert first["archived_at"] == first["updated_at"] > first["created_at"]
    assert api.done("POST", f"{store}/archive") == first
    assert [one["id"] for one in api.every(STORES)] == [other.rpartition("/")[2]]
    assert len(api.every(STORES, include_archived="true")) == 2
    api.refused(400, INVALID, "POST", f"{store}/archive", json={"more": 1})


@pytest.mark.check("API-38")
def test_an_archived_store_can_be_read_and_emptied_but_not_written(api: Api) -> None:
    store = api.store()
    memory = api.memory(store, "/a.md", "one")
    other = api.memory(store, "/b.md")
    one = f"{store}/memories/{memory['id']}"
    api.done("POST", one, json={"content": "two"})
    api.done("POST", f"{store}/archive")
    api.refused(400, INVALID, "POST", store, json={"name": "x"})
    body = {"path": "/c.md", "content": ""}
    assert (
        "archived" in api.refused(400, INVALID, "POST", f"{store}/memories", json=body)["message"]
    )
    api.refused(400, INVALID, "POST", one, json={"content": "three"})
    assert api.done("GET", one)["content"] == "two"
    assert len(api.every(f"{store}/memories")) == 2
    api.done("DELETE", f"{store}/memories/{other['id']}")
    old = memory["memory_version_id"]
    redacted = api.redact(f"{store}/memory_versions/{old}")
    assert redacted is None or redacted["redacted_at"]
    api.done("DELETE", store)


@pytest.mark.check("API-39")
def test_a_deleted_store_is_gone_with_all_that_was_in_it(api: Api) -> None:
    store = api.store()
    memory = api.memory(store, "/a.md")
    assert api.done("DELETE", store) == {
        "id": store.rpartition("/")[2], "type": "memory_store_deleted",
    }  # fmt: skip
    for method, path in (
        ("GET", store),
        ("DELETE", store),
        ("GET", f"{store}/memories"),
        ("GET", f"{store}/memories/{memory['id']}"),
        ("GET", f"{store}/memory_versions/{memory['memory_version_id']}"),
        ("POST", f"{store}/archive"),
    ):
        api.refused(404, "not_found_error", method, path)


@pytest.mark.check("API-47")
def test_writing_memories_leaves_the_stores_time_alone(api: Api) -> None:
    store = api.store()
    before = api.done("GET", store)
    api.memory(store, "/a.md")
    assert api.done("GET", store) == before
