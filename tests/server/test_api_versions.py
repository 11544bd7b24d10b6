"""``/v1/memory_stores/{store}/memory_versions``: checks 34 to 36."""

from __future__ import annotations

from typing import Any

import pytest

from tests.server.live import Api

INVALID = "invalid_request_error"


@pytest.fixture
def store(api: Api) -> str:
    return api.store()


@pytest.mark.check("API-34")
def test_versions_are_filtered(api: Api, store: str) -> None:
    a, b = api.memory(store, "/a", "1"), api.memory(store, "/b", "1")
    api.done("POST", f"{store}/memories/{a['id']}", json={"content": "2"})
    api.done("DELETE", f"{store}/memories/{a['id']}")
    every = f"{store}/memory_versions"

    def found(**params: Any) -> list[tuple[str, str]]:
        listed = api.every(every, limit=1, **params)
        assert [one["id"] for one in listed] == [one["id"] for one in api.every(every, **params)]
        return [(one["operation"], one["path"]) for one in listed]

    of_a = [("deleted", "/a"), ("modified", "/a"), ("created", "/a")]
    assert found(memory_id=a["id"]) == of_a
    assert found() == [*of_a[:2], ("created", "/b"), of_a[2]]
    assert found(memory_id=a["id"], operation="modified") == [of_a[1]]
    assert found(api_key_id=api.key.key.id) == found()
    assert found(api_key_id="apikey_01other") == found(session_id=api.key.key.id) == []
    assert found(session_id="a\u0000") == found(service_account_id="svac_1") == []
    assert found(memory_id="mem_unknown") == found(memory_id="\u0000") == []
    assert found(**{"created_at[gte]": "2100-01-01T00:00:00Z"}) == []
    assert found(**{"created_at[lte]": "2100-01-01T00:00:00.5+01:00"}) == found()
    moment = b["created_at"]
    assert len(found(**{"created_at[gte]": moment, "created_at[lte]": moment})) == 1
    api.refused(400, INVALID, "GET", every, params={"operation": "renamed"})
    api.refused(400, INVALID, "GET", every, params={"page": "page_junk"})


def test_versions_say_who_made_them_and_hold_contents_in_the_full_view(
    api: Api, store: str
) -> None:
    made = api.memory(store, "/a", "one")
    (basic,) = api.every(f"{store}/memory_versions")
    (full,) = api.every(f"{store}/memory_versions", view="full")
    assert full == {**basic, "content": "one"}
    assert basic == {
        "id": made["memory_version_id"], "type": "memory_version",
        "memory_store_id": store.rpartition("/")[2], "memory_id": made["id"],
        "operation": "created", "path": "/a", "content": None,
        "content_sha256": made["content_sha256"], "content_size_bytes": 3,
        "created_at": made["created_at"],
        "created_by": {"type": "api_actor", "api_key_id": api.key.key.id},
        "redacted_at": None, "redacted_by": None,
    }  # fmt: skip
    one = f"{store}/memory_versions/{basic['id']}"
    assert api.done("GET", one) == full
    assert api.done("GET", one, params={"view": "basic"}) == basic
    for wrong in ("memver_01", made["id"], "memver_" + "0" * 26):
        api.refused(404, "not_found_error", "GET", f"{store}/memory_versions/{wrong}")
        if api.live.redacts:
            api.refused(404, "not_found_error", "POST", f"{store}/memory_versions/{wrong}/redact")


def test_pages_of_versions_with_contents_hold_20(api: Api, store: str) -> None:
    made = api.memory(store, "/a", "0")
    for number in range(1, 22):
        body = {"content": str(number)}
        api.done("POST", f"{store}/memories/{made['id']}", json=body)
    params = {"limit": 100, "view": "full"}
    page = api.done("GET", f"{store}/memory_versions", params=params)
    assert (len(page["data"]), page["next_page"] is None) == (20, False)
    assert [one["content"] for one in api.every(f"{store}/memory_versions", **params)] == [
        str(number) for number in range(21, -1, -1)
    ]


@pytest.mark.check("API-35")
def test_the_head_of_a_live_memory_is_not_redacted(api: Api, store: str) -> None:
    made = api.memory(store, "/a")
    one = f"{store}/memory_versions/{made['memory_version_id']}"
    before = api.done("GET", one)
    api.refused(400, INVALID, "POST", f"{one}/redact")
    assert api.done("GET", one) == before


@pytest.mark.check("API-36")
def test_a_redacted_version_has_lost_what_it_said(api: Api, store: str) -> None:
    made = api.memory(store, "/a", "secret")
    memory = f"{store}/memories/{made['id']}"
    api.done("POST", memory, json={"content": "harmless"})
    one = f"{store}/memory_versions/{made['memory_version_id']}"
    before = api.done("GET", one)
    after = api.redact(one)
    if after is None:
        assert api.done("GET", one) == before
        return
    gone = dict.fromkeys(("path", "content", "content_sha256", "content_size_bytes"))
    assert after == {
        **before, **gone, "redacted_at": after["redacted_at"],
        "redacted_by": {"type": "api_actor", "api_key_id": api.key.key.id},
    }  # fmt: skip
    assert after["redacted_at"] > before["created_at"]
    assert api.done("POST", f"{one}/redact", json={}) == api.done("GET", one) == after
    assert "secret" not in str(api.every(f"{store}/memory_versions", view="full"))


def test_once_a_memory_is_deleted_all_its_versions_can_be_redacted(api: Api, store: str) -> None:
    made = api.memory(store, "/a")
    api.done("DELETE", f"{store}/memories/{made['id']}")
    for version in api.every(f"{store}/memory_versions"):
        after = api.redact(f"{store}/memory_versions/{version['id']}")
        if after is None:
            continue
        assert after["path"] is None
        assert after["operation"] == version["operation"]
