"""``/v1/memory_stores/{store}/memories``: checks 7 to 33, 44 and 45."""

from __future__ import annotations

import re
from concurrent.futures import ThreadPoolExecutor
from hashlib import sha256
from typing import Any

import httpx
import pytest

from memoranda import Memory
from memoranda.config import load_settings
from tests.server.live import Api, new_home, serving, url_of

INVALID = "invalid_request_error"
CONFLICT = "memory_path_conflict_error"
STALE = "memory_precondition_failed_error"
MISSING = "not_found_error"


def sha(text: str) -> str:
    return sha256(text.encode()).hexdigest()


def holds(digest: str) -> dict[str, str]:
    return {"type": "content_sha256", "content_sha256": digest}


@pytest.fixture
def store(api: Api) -> str:
    return api.store()


def versions(api: Api, store: str, memory_id: str) -> list[Any]:
    return api.every(f"{store}/memory_versions", memory_id=memory_id)


# ---------------------------------------------------------------- create, retrieve


@pytest.mark.check("API-07")
def test_a_new_memory_comes_back_without_its_content(api: Api, store: str) -> None:
    body = {"path": "/a.md", "content": "hi"}
    made = api.done("POST", f"{store}/memories", json=body)
    assert re.fullmatch(r"mem_01[0-9A-Za-z]{24}", made.pop("id"))
    assert re.fullmatch(r"memver_01[0-9A-Za-z]{24}", made.pop("memory_version_id"))
    assert made.pop("created_at") == made.pop("updated_at")
    assert made == {
        "type": "memory", "memory_store_id": store.rpartition("/")[2], "path": "/a.md",
        "content": None, "content_sha256": sha("hi"), "content_size_bytes": 2,
    }  # fmt: skip


@pytest.mark.check("API-08", "API-09")
def test_views_are_with_or_without_the_content(api: Api, store: str) -> None:
    full = api.done("POST", f"{store}/memories?view=full", json={"path": "/a", "content": "hi"})
    assert full["content"] == "hi"
    one = f"{store}/memories/{full['id']}"
    assert api.done("GET", one) == full
    assert api.done("GET", one, params={"view": "full"}) == full
    assert api.done("GET", one, params={"view": "basic"}) == {**full, "content": None}
    api.refused(400, INVALID, "GET", one, params={"view": "all"})
    assert api.done("POST", one, json={"content": "two"})["content"] is None
    assert api.done("POST", f"{one}?view=full", json={"content": "two"})["content"] == "two"
    assert api.done("POST", f"{one}?view=full", json={"path": "/b"})["content"] == "two"


@pytest.mark.check("API-10", "API-11")
@pytest.mark.parametrize(
    ("there", "wanted"), [("/a.md", "/a.md"), ("/n", "/n/x"), ("/n", "/n/x/y"), ("/m/x", "/m")]
)
def test_a_memory_that_is_in_the_way_is_named(
    api: Api, store: str, there: str, wanted: str
) -> None:
    kept = api.memory(store, there, "kept")
    other = api.memory(store, "/other.md")
    body = {"path": wanted, "content": "new"}
    error = api.refused(409, CONFLICT, "POST", f"{store}/memories", json=body)
    assert (error["conflicting_memory_id"], error["conflicting_path"]) == (kept["id"], there)
    move = f"{store}/memories/{other['id']}"
    error = api.refused(409, CONFLICT, "POST", move, json={"path": wanted})
    assert (error["conflicting_memory_id"], error["conflicting_path"]) == (kept["id"], there)
    answer = api.ask("POST", f"{store}/memories", json=body)
    assert answer.headers["x-should-retry"] == "false"
    assert api.done("GET", f"{store}/memories/{kept['id']}") == kept
    assert [one["path"] for one in api.every(f"{store}/memories")] == sorted([there, "/other.md"])


@pytest.mark.check("API-12")
@pytest.mark.parametrize(
    "path",
    ["", "a", "/", "//a", "/a/", "/a//b", "/a/../b", "/..", "/./a", "/a\u0000", "/a\u200b",
     "/a\u2028", "/e\u0301", "/s" * 21, "/" + "a" * 1024, "/a\\b", "/ a", "/%2e%2e/a", "/a\n"],
)  # fmt: skip
def test_a_path_that_breaks_a_rule_is_refused(one_api: Api, path: str) -> None:
    store = one_api.store()
    body = {"path": path, "content": ""}
    one_api.refused(400, INVALID, "POST", f"{store}/memories", json=body)
    there = one_api.memory(store, "/there")
    one_api.refused(400, INVALID, "POST", f"{store}/memories/{there['id']}", json={"path": path})
    assert [one["path"] for one in one_api.every(f"{store}/memories")] == ["/there"]


@pytest.mark.check("API-13")
def test_paths_differ_by_case_and_may_be_long_and_deep(api: Api, store: str) -> None:
    longest = "".join("/" + "x" * 255 for _ in range(4))
    assert len(longest) == 1024
    paths = ["/A.md", "/a.md", "/s" * 20, longest, "/100%_*?.md", "/.hidden", "/é 😀"]
    for path in paths:
        api.memory(store, path, path)
    assert [one["path"] for one in api.every(f"{store}/memories")] == sorted(paths)


@pytest.mark.check("API-14")
def test_contents_have_a_limit(api: Api, store: str) -> None:
    assert api.memory(store, "/a", "é" * 51_200)["content_size_bytes"] == 102_400
    body = {"path": "/b", "content": "a" * 102_401}
    assert "102400" in api.refused(400, INVALID, "POST", f"{store}/memories", json=body)["message"]
    memory = api.memory(store, "/c")
    one = f"{store}/memories/{memory['id']}"
    api.refused(400, INVALID, "POST", one, json={"content": "a" * 102_401})


@pytest.mark.check("API-15", "API-16")
@pytest.mark.parametrize(
    "content", ["é😀\r\n\ufeff", "", "\u0000", "e\u0301 \t\n\n", "\ufeff\u2028"]
)
def test_contents_are_kept_exactly(api: Api, store: str, content: str) -> None:
    made = api.memory(store, "/a.md", content)
    assert made["content"] == content
    assert made["content_sha256"] == sha(content)
    assert made["content_size_bytes"] == len(content.encode())
    assert api.done("GET", f"{store}/memories/{made['id']}") == made
    assert api.every(f"{store}/memories", view="full") == [made]
    head = api.done("GET", f"{store}/memory_versions/{made['memory_version_id']}")
    assert head["content"] == content


@pytest.mark.parametrize("body", [{"path": "/a"}, {"path": "/a", "content": None}, {"content": ""},
    {"path": "/a", "content": 1}, {"path": "/a", "content": "", "more": 1}])  # fmt: skip
def test_a_memory_needs_path_and_content(one_api: Api, body: Any) -> None:
    store = one_api.store()
    one_api.refused(400, INVALID, "POST", f"{store}/memories", json=body)


# ---------------------------------------------------------------- update


@pytest.mark.check("API-17", "API-18")
def test_a_changed_content_makes_a_version_and_an_equal_one_none(api: Api, store: str) -> None:
    made = api.memory(store, "/a.md", "one")
    one = f"{store}/memories/{made['id']}"
    after = api.done("POST", one, json={"content": "two"})
    assert after["id"] == made["id"]
    assert after["created_at"] == made["created_at"]
    assert after["updated_at"] > made["updated_at"]
    assert after["memory_version_id"] != made["memory_version_id"]
    assert api.done("POST", one, json={"content": "two"}) == after
    assert api.done("POST", one, json={"content": "two", "path": "/a.md"}) == after
    assert [each["operation"] for each in versions(api, store, made["id"])] == [
        "modified", "created",
    ]  # fmt: skip


@pytest.mark.check("API-19")
def test_a_changed_path_keeps_the_id_and_makes_a_version(api: Api, store: str) -> None:
    made = api.memory(store, "/a.md", "one")
    one = f"{store}/memories/{made['id']}"
    after = api.done("POST", one, json={"path": "/d/b.md"})
    assert (after["id"], after["content_sha256"]) == (made["id"], made["content_sha256"])
    newest, first = versions(api, store, made["id"])
    assert (newest["operation"], newest["path"], first["path"]) == (
        "modified", "/d/b.md", "/a.md",
    )  # fmt: skip
    again = api.memory(store, "/a.md", "another")
    assert again["id"] != made["id"]


def test_content_and_path_together_make_one_version(api: Api, store: str) -> None:
    made = api.memory(store, "/a.md", "one")
    one = f"{store}/memories/{made['id']}"
    after = api.done("POST", one, json={"content": "two", "path": "/b.md"})
    assert (after["path"], after["content_sha256"]) == ("/b.md", sha("two"))
    newest, _ = api.every(f"{store}/memory_versions", view="full")
    assert (newest["path"], newest["content"], newest["id"]) == (
        "/b.md", "two", after["memory_version_id"],
    )  # fmt: skip


@pytest.mark.parametrize(("before", "after"), [("/a", "/a/b"), ("/a/b", "/a"), ("/a/b/c", "/a")])
def test_the_own_old_path_is_never_in_the_way(
    api: Api, store: str, before: str, after: str
) -> None:
    made = api.memory(store, before, "one")
    one = f"{store}/memories/{made['id']}"
    assert api.done("POST", one, json={"path": after})["path"] == after
    moved = api.done("POST", one, json={"path": before, "content": "two"})
    assert (moved["id"], moved["path"]) == (made["id"], before)
    assert [each["path"] for each in versions(api, store, made["id"])] == [before, after, before]


@pytest.mark.check("API-20")
def test_a_move_onto_another_memory_moves_nothing(api: Api, store: str) -> None:
    a, b = api.memory(store, "/a.md", "a"), api.memory(store, "/b.md", "b")
    body = {"path": "/b.md", "content": "new"}
    api.refused(409, CONFLICT, "POST", f"{store}/memories/{a['id']}", json=body)
    assert api.every(f"{store}/memories", view="full") == [a, b]


@pytest.mark.check("API-21", "API-22")
def test_a_stale_precondition_refuses_what_is_not_so_already(api: Api, store: str) -> None:
    made = api.memory(store, "/a.md", "one")
    one = f"{store}/memories/{made['id']}"
    body = {"content": "two", "precondition": holds(sha("one"))}
    after = api.done("POST", one, json=body)
    assert api.done("POST", one, json=body) == after
    stale = {**body, "content": "three"}
    error = api.refused(409, STALE, "POST", one, json=stale)
    assert sha("two") not in error["message"]
    assert api.ask("POST", one, json=stale).headers["x-should-retry"] == "false"
    moved = {"path": "/b.md", "precondition": holds(sha("one"))}
    api.refused(409, STALE, "POST", one, json=moved)
    api.memory(store, "/b.md")
    api.refused(409, STALE, "POST", one, json=moved)  # and not that the path is taken
    assert api.done("GET", one) == {**after, "content": "two"}
    assert len(versions(api, store, made["id"])) == 2


@pytest.mark.check("API-23")
@pytest.mark.parametrize(
    "body",
    [{}, {"content": None, "path": None}, {"precondition": None}, {"content": 1},
     {"content": "x", "precondition": {"type": "version"}},
     {"content": "x", "precondition": {"type": "content_sha256"}},
     {"content": "x", "precondition": {"type": "content_sha256", "content_sha256": "A" * 64}},
     {"content": "x", "precondition": {"type": "content_sha256", "content_sha256": "a" * 63}},
     {"content": "x", "more": 1}],
)  # fmt: skip
def test_an_update_that_cant_be_is_refused(one_api: Api, body: Any) -> None:
    store = one_api.store()
    made = one_api.memory(store, "/a.md")
    one_api.refused(400, INVALID, "POST", f"{store}/memories/{made['id']}", json=body)


# ---------------------------------------------------------------- races


def at_once(api: Api, method: str, path: str, bodies: list[Any]) -> list[httpx.Response]:
    def send(body: Any) -> httpx.Response:
        return api.ask(method, path, json=body)

    with ThreadPoolExecutor(len(bodies)) as pool:
        return list(pool.map(send, bodies))


@pytest.mark.check("API-24")
def test_of_16_updates_with_one_precondition_exactly_one_wins(api: Api, store: str) -> None:
    made = api.memory(store, "/a.md", "one")
    bodies = [{"content": f"by {n}", "precondition": holds(sha("one"))} for n in range(16)]
    answers = at_once(api, "POST", f"{store}/memories/{made['id']}", bodies)
    assert sorted(answer.status_code for answer in answers) == [200] + [409] * 15
    lost = [answer.json()["error"]["type"] for answer in answers if answer.status_code == 409]
    assert lost == [STALE] * 15
    (won,) = [answer.json() for answer in answers if answer.status_code == 200]
    assert api.done("GET", f"{store}/memories/{made['id']}?view=basic") == won
    assert len(versions(api, store, made["id"])) == 2


@pytest.mark.check("API-25")
def test_of_16_creations_of_one_path_exactly_one_wins(api: Api, store: str) -> None:
    bodies = [{"path": "/a.md", "content": f"by {n}"} for n in range(16)]
    answers = at_once(api, "POST", f"{store}/memories", bodies)
    assert sorted(answer.status_code for answer in answers) == [200] + [409] * 15
    (only,) = api.every(f"{store}/memories")
    lost = [answer.json()["error"] for answer in answers if answer.status_code == 409]
    assert {(each["type"], each["conflicting_memory_id"]) for each in lost} == {
        (CONFLICT, only["id"])
    }


def test_of_many_moves_to_one_path_exactly_one_wins(api: Api, store: str) -> None:
    made = [api.memory(store, f"/from/{n}.md") for n in range(8)]

    def move(memory: Any) -> int:
        return api.ask(
            "POST", f"{store}/memories/{memory['id']}", json={"path": "/to.md"}
        ).status_code

    with ThreadPoolExecutor(8) as pool:
        assert sorted(pool.map(move, made)) == [200] + [409] * 7
    assert len(api.every(f"{store}/memories")) == 8


# ---------------------------------------------------------------- delete


@pytest.mark.check("API-26", "API-27")
def test_a_deletion_holds_the_expected_hash(api: Api, store: str) -> None:
    made = api.memory(store, "/a.md", "one")
    one = f"{store}/memories/{made['id']}"
    api.refused(409, STALE, "DELETE", one, params={"expected_content_sha256": sha("other")})
    api.refused(400, INVALID, "DELETE", one, params={"expected_content_sha256": "short"})
    deleted = api.done("DELETE", one, params={"expected_content_sha256": sha("one")})
    assert deleted == {"id": made["id"], "type": "memory_deleted"}
    api.refused(404, MISSING, "DELETE", one)
    api.refused(404, MISSING, "GET", one)
    api.refused(404, MISSING, "POST", one, json={"content": "x"})
    newest, first = versions(api, store, made["id"])
    assert newest["operation"] == "deleted"
    assert newest["path"] == "/a.md"
    assert {newest[f"content{end}"] for end in ("", "_sha256", "_size_bytes")} == {None}
    assert first["operation"] == "created"


@pytest.mark.check("API-44")
def test_a_memory_is_unknown_in_another_store(api: Api, store: str) -> None:
    made, other = api.memory(store, "/a.md"), api.store()
    api.memory(other, "/b.md")
    for wrong in (made["id"], "mem_01", "mem_" + "0" * 26, made["memory_version_id"], "x" * 500):
        for method in ("GET", "DELETE"):
            api.refused(404, MISSING, method, f"{other}/memories/{wrong}")
        api.refused(404, MISSING, "POST", f"{other}/memories/{wrong}", json={"content": ""})
    assert versions(api, other, made["id"]) == []


# ---------------------------------------------------------------- list


@pytest.fixture(scope="module")
def many(live: Any) -> Any:
    """A store with 250 memories; read only."""
    api = Api(live, "many")
    store = api.store()

    def make(number: int) -> None:
        api.memory(store, f"/d{number % 7}/{number:03}.md", f"content {number}")

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(make, range(250)))
    yield api, store
    api.close()


@pytest.mark.check("API-28", "API-29")
def test_250_memories_are_listed_once_and_in_one_order(many: tuple[Api, str]) -> None:
    api, store = many
    expected = sorted(f"/d{number % 7}/{number:03}.md" for number in range(250))
    sizes: list[int] = []
    found: list[str] = []
    page: str | None = None
    while True:
        params = {"limit": 100} | ({} if page is None else {"page": page})
        answer = api.done("GET", f"{store}/memories", params=params)
        sizes.append(len(answer["data"]))
        found += [one["path"] for one in answer["data"]]
        page = answer["next_page"]
        if page is None:
            break
        assert page.startswith("page_")
    assert (sizes, found) == ([100, 100, 50], expected)
    first = api.done("GET", f"{store}/memories", params={"limit": 100, "view": "full"})
    assert len(first["data"]) == 20
    whole = api.every(f"{store}/memories", limit=100, view="full")
    assert [one["path"] for one in whole] == expected
    assert all(sha(one["content"]) == one["content_sha256"] for one in whole)


@pytest.mark.check("API-30")
def test_what_is_deleted_between_two_pages_shifts_nothing(api: Api, store: str) -> None:
    made = {path: api.memory(store, path) for path in ("/a", "/b", "/c", "/d", "/e")}
    first = api.done("GET", f"{store}/memories", params={"limit": 2})
    for path in ("/b", "/d"):
        api.done("DELETE", f"{store}/memories/{made[path]['id']}")
    rest = api.every(f"{store}/memories", limit=1, page=first["next_page"])
    assert [one["path"] for one in rest] == ["/c", "/e"]


@pytest.mark.check("API-31", "API-32")
def test_deeper_memories_are_rolled_up_and_prefixes_match_segments(api: Api, store: str) -> None:
    for path in ("/a.md", "/p/x.md", "/p/q/y.md", "/p-archive/z.md"):
        api.memory(store, path)

    def listed(**params: Any) -> list[str]:
        found = api.every(f"{store}/memories", **params)
        marked = [one["path"] for one in found if one["type"] == "memory_prefix"]
        assert all(path.endswith("/") for path in marked)
        assert all(set(one) == {"type", "path"} for one in found if one["path"] in marked)
        return [one["path"] for one in found]

    assert listed(depth=1) == ["/a.md", "/p-archive/", "/p/"]
    assert listed(depth=1, limit=1) == ["/a.md", "/p-archive/", "/p/"]
    assert listed(depth=1, path_prefix="/p/") == ["/p/q/", "/p/x.md"]
    assert listed(path_prefix="/p/", view="full") == ["/p/q/y.md", "/p/x.md"]
    assert listed(path_prefix="/", depth=0) == listed()
    assert listed(path_prefix="/none/") == []


@pytest.mark.check("API-33")
@pytest.mark.parametrize(
    "params",
    [{"path_prefix": "/notes"}, {"path_prefix": "notes/"}, {"path_prefix": "//"},
     {"path_prefix": "/a/../"}, {"depth": 2}, {"depth": "one"}, {"limit": 0}, {"limit": 101},
     {"limit": "1e1"}, {"page": "junk"}, {"page": "page_"}, {"page": "page_" + "A" * 40},
     {"page": "page_" + "A" * 9000}, {"view": "none"}],
)  # fmt: skip
def test_a_list_that_cant_be_is_refused(one_api: Api, params: Any) -> None:
    store = one_api.store()
    one_api.refused(400, INVALID, "GET", f"{store}/memories", params=params)


def test_a_cursor_is_of_one_list(one_api: Api) -> None:
    store, other = one_api.store(), one_api.store()
    for path in ("/a", "/b"):
        one_api.memory(store, path)
    page = one_api.done("GET", f"{store}/memories", params={"limit": 1})["next_page"]
    for elsewhere in (f"{other}/memories", f"{store}/memory_versions", "/v1/memory_stores"):
        one_api.refused(400, INVALID, "GET", elsewhere, params={"page": page})


def test_what_nobody_knows_in_a_query_is_ignored(one_api: Api) -> None:
    store = one_api.store()
    one_api.memory(store, "/a")
    params = {"order_by": "path", "order": "desc", "beta": "true"}
    assert len(one_api.every(f"{store}/memories", **params)) == 1


@pytest.mark.check("API-45")
@pytest.mark.parametrize("backend", ["folder", "sqlite"])
def test_a_full_store_takes_no_more_and_updates_go_on(backend: str) -> None:
    settings = load_settings(environ={"MEMORANDA_LIMITS_FILES": "2"})
    with serving(url_of(backend, new_home()), settings=settings) as running:
        api = Api(running, "full")
        store = api.store()
        made = api.memory(store, "/a")
        api.memory(store, "/b")
        body = {"path": "/c", "content": ""}
        api.refused(400, INVALID, "POST", f"{store}/memories", json=body)
        api.done("POST", f"{store}/memories/{made['id']}", json={"content": "x", "path": "/d"})
        api.close()


def test_who_reads_a_memory_is_noted_by_its_path(one_api: Api) -> None:
    store = one_api.store()
    made = one_api.memory(store, "/a.md")
    one_api.done("GET", f"{store}/memories/{made['id']}")
    with Memory.open(
        one_api.live.url,
        workspace=one_api.key.key.workspace,
        store_id=store.rpartition("/")[2],
    ) as memory:
        noted = memory.audit()[-1]
    assert (noted.actor, noted.command, noted.path) == (
        one_api.key.key.id, "read", "/memories/a.md",
    )  # fmt: skip


def test_a_header_says_which_version_an_update_or_a_removal_is_for(api: Api) -> None:
    store = api.store()
    made = api.memory(store, "/a", "one")
    one = f"{store}/memories/{made['id']}"
    first = {"memoranda-if-version": made["memory_version_id"]}
    moved = api.done("POST", one, json={"path": "/b"}, headers=first)
    kind = "memory_precondition_failed_error"
    # The content is what it was, and what is asked for may even be so already.
    for body in ({"path": "/c"}, {"path": "/b"}, {"content": "one"}):
        api.refused(409, kind, "POST", one, json=body, headers=first)
    api.refused(409, kind, "DELETE", one, headers=first)
    assert api.done("GET", one)["path"] == "/b"
    api.done("DELETE", one, headers={"memoranda-if-version": moved["memory_version_id"]})
