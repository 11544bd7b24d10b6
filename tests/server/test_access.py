"""Who gets in: every route has a decision about authentication, and the decision holds."""

from __future__ import annotations

import re
from typing import Any

import httpx
import pytest
from starlette.routing import Route

from memoranda.server.api.surface import API
from memoranda.server.app import SURFACES, create_app
from memoranda.server.call import Endpoint, Needs, Open
from memoranda.server.edge import Edge
from memoranda.server.guarded import Guarded, Nothing
from memoranda.server.keys import ROLES
from memoranda.server.settings import ServerSettings
from tests.server.live import Api, Live, make_key, new_home, no_settings, serving, url_of

ENDPOINTS = [endpoint for surface in SURFACES for endpoint in surface.endpoints]
CLOSED = [each for each in API.endpoints if isinstance(each.access, Needs)]
OPEN = {"/healthz", "/readyz", "/metrics", "/openapi.json"}


def named(endpoint: Endpoint) -> str:
    return f"{endpoint.method} {endpoint.path}"


def filled(path: str) -> str:
    """A path with ids that nobody has in its placeholders."""
    values = {"store": "memstore_01none", "memory": "mem_01none", "version": "memver_01none"}
    return re.sub(r"{(\w+)}", lambda found: values[found[1]], path)


def test_every_route_is_guarded_and_stands_in_the_table() -> None:
    app = create_app("memory:", no_settings())
    assert isinstance(app, Edge)
    router: Any = app.app
    seen: list[tuple[str, str]] = []
    for route in router.routes:
        assert type(route) is Route, "a route that the guard does not stand before"
        endpoint: Any = route.endpoint
        assert type(endpoint) is Guarded
        assert route.path == endpoint.path
        seen += [(method, route.path) for method in endpoint.by_method]
    assert sorted(seen) == sorted((each.method, each.path) for each in ENDPOINTS)
    assert type(router.default) is Nothing


def test_what_is_open_says_why_and_is_known() -> None:
    assert {each.path for each in API.endpoints if isinstance(each.access, Open)} == OPEN
    assert all(len(each.access.because) > 20 for each in ENDPOINTS if isinstance(each.access, Open))
    assert all(each.access.role in ROLES for each in ENDPOINTS if isinstance(each.access, Needs))


def test_no_path_and_method_stands_twice_in_the_table() -> None:
    pairs = [named(each) for each in ENDPOINTS]
    assert len(pairs) == len(set(pairs))


@pytest.mark.check("API-40")
@pytest.mark.parametrize("endpoint", CLOSED, ids=named)
@pytest.mark.parametrize(
    "headers",
    [{}, {"authorization": "Bearer mk_wrong"}, {"x-api-key": "mk_" + "0" * 26 + "_" + "A" * 43},
     {"authorization": "Basic YTpi"}, {"authorization": "Bearer"}],
    ids=["none", "wrong", "unknown", "basic", "empty"],
)  # fmt: skip
def test_without_a_good_key_nobody_learns_anything(
    one_live: Live, endpoint: Endpoint, headers: dict[str, str]
) -> None:
    path = filled(endpoint.path)
    with one_live.anybody() as client:
        answer = client.request(endpoint.method, path, headers=headers, content=b"{not json")
    assert answer.status_code == 401
    assert answer.json()["error"]["type"] == "authentication_error"
    assert answer.headers["www-authenticate"].startswith("Bearer")


@pytest.mark.parametrize("path", ["/v1", "/v1/", "/v1/x", "/v1/memory_stores/", "/v1/dreams"])
def test_what_is_not_there_is_known_only_to_who_has_a_key(one_api: Api, path: str) -> None:
    with one_api.live.anybody() as client:
        assert client.get(path).status_code == 401
    one_api.refused(404, "not_found_error", "GET", path)


def test_a_method_that_is_not_there_is_known_only_to_who_has_a_key(one_api: Api) -> None:
    with one_api.live.anybody() as client:
        assert client.put("/v1/memory_stores").status_code == 401
    one_api.refused(405, "invalid_request_error", "PUT", "/v1/memory_stores")
    assert one_api.ask("PUT", "/v1/memory_stores").headers["allow"] == "GET, POST"


@pytest.mark.parametrize("path", sorted(OPEN))
def test_what_is_open_holds_nothing_of_anybody(one_api: Api, path: str) -> None:
    store = one_api.store(name="a-telling-name")
    made = one_api.memory(store, "/telling-path", "telling content")
    with one_api.live.anybody() as client:
        answer = client.get(path)
    assert answer.status_code == 200
    for secret in ("telling", made["id"], store.rpartition("/")[2], one_api.key.key.id):
        assert secret not in answer.text


@pytest.mark.check("API-41")
def test_old_clients_are_served(one_api: Api) -> None:
    old = {"x-api-key": one_api.key.credential, "anthropic-version": "2023-06-01"}
    url = f"{one_api.live.address}/v1/memory_stores?beta=true"
    assert httpx.get(url, headers=old).status_code == 200
    both = {**old, "authorization": "Bearer mk_wrong"}
    assert httpx.get(url, headers=both).status_code == 200


@pytest.mark.check("API-42")
def test_either_beta_name_is_taken_and_both_together_are_not(one_api: Api) -> None:
    one, other = "agent-memory-2026-07-22", "managed-agents-2026-04-01"
    for names, status in ((one, 200), (other, 200), (f"x,{one}, y", 200), (f"{other}, {one}", 400)):
        answer = one_api.ask("GET", "/v1/memory_stores", headers={"anthropic-beta": names})
        assert answer.status_code == status


def test_strict_servers_want_a_beta_name() -> None:
    url = url_of("sqlite", new_home())
    with serving(url, ServerSettings(strict_beta=True)) as running:
        headers = {"x-api-key": make_key(url).credential}
        assert httpx.get(f"{running.address}/v1/memory_stores", headers=headers).status_code == 400


def test_a_read_key_reads_and_changes_nothing(one_api: Api) -> None:
    store = one_api.store()
    made = one_api.memory(store, "/a.md", "one")
    reader = make_key(one_api.live.url, workspace=one_api.key.key.workspace, role="read")
    with one_api.live.client(reader.credential) as client:
        assert client.get(f"{store}/memories/{made['id']}").status_code == 200
        for endpoint in CLOSED:
            if isinstance(endpoint.access, Needs) and endpoint.access.role != "read":
                path = filled(endpoint.path)
                answer = client.request(endpoint.method, path, json={})
                assert answer.status_code == 403, named(endpoint)
                assert answer.json()["error"]["type"] == "permission_error"
        use = {"type": "tool_use", "id": "t1", "name": "memory"}
        change = {"command": "delete", "path": "/memories/a.md"}
        answer = client.post(f"{store}/tool", json={**use, "input": change}).json()
        assert answer["is_error"] is True
        view = {"command": "view", "path": "/memories/a.md"}
        assert "one" in client.post(f"{store}/tool", json={**use, "input": view}).json()["content"]
    assert one_api.done("GET", f"{store}/memories/{made['id']}") == made


def test_a_key_for_one_store_sees_no_other(one_api: Api) -> None:
    mine, other = one_api.store(), one_api.store()
    one_api.memory(other, "/a.md")
    key = make_key(
        one_api.live.url,
        workspace=one_api.key.key.workspace,
        stores=(mine.rpartition("/")[2],),
    )
    with one_api.live.client(key.credential) as client:
        listed = client.get("/v1/memory_stores").json()
        assert [one["id"] for one in listed["data"]] == [mine.rpartition("/")[2]]
        assert client.get(f"{mine}/memories").status_code == 200
        unknown = client.get("/v1/memory_stores/memstore_01none/memories").json()["error"]
        assert client.get(f"{other}/memories").json()["error"] == unknown
        assert client.post("/v1/memory_stores", json={"name": "n"}).status_code == 403


def test_the_workspace_has_to_be_the_keys_and_is_named(one_api: Api) -> None:
    workspace = one_api.key.key.workspace
    answer = one_api.ask("GET", "/v1/memory_stores", headers={"anthropic-workspace-id": workspace})
    assert answer.headers["anthropic-workspace-id"] == workspace
    one_api.refused(
        403, "permission_error", "GET", "/v1/memory_stores",
        headers={"anthropic-workspace-id": "other"},
    )  # fmt: skip
