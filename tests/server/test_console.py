"""The console over HTTP: signing in, every page, every action, and what is refused."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from html.parser import HTMLParser
from itertools import count
from typing import Any
from urllib.parse import quote

import httpx
import pytest

from memoranda import Memory
from memoranda.opening import shared_backend
from memoranda.server.console.sessions import COOKIE, KIND, next_page
from memoranda.server.keys import KIND as KEY_KIND
from memoranda.server.keys import Keys
from memoranda.server.settings import ServerSettings
from memoranda.shared_backends import release
from tests.server.live import Live, make_key, new_home, serving

HOSTILE = (
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "' onmouseover='alert(1)",
    "</textarea><script>alert(1)</script>",
    "{{ 7*7 }}",
    "[x](javascript:alert(1)) ![y](http://127.0.0.1:9/x.png)",
    "\u202egnp.exe",
)


_numbers = count(1)
RIGHT_TO_LEFT = "\u202e"


class Browser:
    """A signed-in client that sends what a browser sends."""

    def __init__(self, live: Live, workspace: str, role: str = "admin", **about: Any) -> None:
        self.live = live
        self.workspace = workspace
        self.key = make_key(live.url, workspace=workspace, role=role, **about)
        self.http = httpx.Client(
            base_url=live.address, timeout=30, headers={"sec-fetch-site": "same-origin"}
        )
        self.sign_in(self.key.credential)

    def sign_in(self, credential: str, **more: str) -> httpx.Response:
        return self.http.post("/console/sign-in", data={"key": credential, **more})

    def page(self, path: str, status: int = 200) -> str:
        answer = self.http.get(f"/console{path}")
        assert answer.status_code == status, answer.text
        assert answer.headers["content-type"] == "text/html; charset=utf-8"
        checked(answer.text)
        return answer.text

    def facts(self, path: str) -> Any:
        answer = self.http.get(f"/console{path}", headers={"accept": "application/json"})
        assert answer.status_code == 200, answer.text
        return answer.json()

    def act(self, to: str, status: int = 303, /, **form: str) -> httpx.Response:
        answer = self.http.post(f"/console{to}", data=form or {"x": ""})
        assert answer.status_code == status, answer.text
        return answer

    def memory(self, user: str = "ada") -> Memory:
        return Memory.open(self.live.url, user, workspace=self.workspace)


class Checked(HTMLParser):
    """Nothing in a page acts by itself but its own script, and all elements are closed."""

    VOID = frozenset(("meta", "link", "input", "br", "hr"))

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        assert not [name for name in given if name.startswith("on") or name == "style"]
        assert tag not in {"img", "iframe", "object", "embed", "svg"}
        if tag == "script":
            assert given["src"] == "/console/static/console.js"
        href = given.get("href")
        assert href is None or href.startswith(("/console", "?", "#")), href
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def checked(text: str) -> None:
    parser = Checked()
    parser.feed(text)
    assert parser.open == []


@pytest.fixture
def browser(one_live: Live) -> Iterator[Browser]:
    made = Browser(one_live, f"console{next(_numbers)}")
    yield made
    made.http.close()


@pytest.fixture
def store(browser: Browser) -> str:
    with browser.memory() as memory:
        memory.write("/memories/notes/tea.md", "# Tea\n\nAda likes *green* tea.\n")
        memory.write("/memories/notes/tea.md", "# Tea\n\nAda likes *black* tea.\n")
        memory.write("/memories/data.bin", b"\xff\x00")
    (found,) = browser.facts("/stores")["stores"]
    return f"/stores/{found['id']}"


TEA = "path=/memories/notes/tea.md"


# ---------------------------------------------------------------- signing in


def test_without_a_session_every_page_leads_to_the_sign_in_and_back(one_live: Live) -> None:
    with httpx.Client(base_url=one_live.address) as http:
        answer = http.get("/console/stores?after=x")
        assert answer.status_code == 303
        assert answer.headers["location"] == "/console/sign-in?next=%2Fconsole%2Fstores%3Fafter%3Dx"
        assert "Sign in" in http.get(answer.headers["location"]).text
        assert http.get("/console").headers["location"] == "/console/stores"
        json_answer = http.get("/console/stores", headers={"accept": "application/json"})
        assert json_answer.status_code in {303, 401}


def test_a_wrong_key_gets_no_session(browser: Browser) -> None:
    browser.http.cookies.clear()
    answer = browser.sign_in("mk_wrong")
    assert (answer.status_code, COOKIE in answer.cookies) == (401, False)
    assert "not known, or counts no more" in answer.text


def test_the_session_cookie_is_out_of_reach_of_scripts_and_other_sites(browser: Browser) -> None:
    set_cookie = browser.sign_in(browser.key.credential).headers["set-cookie"]
    for attribute in ("HttpOnly", "SameSite=strict", "Path=/console", "Max-Age=43200"):
        assert attribute.lower() in set_cookie.lower()
    assert browser.key.credential not in set_cookie


def test_the_session_is_kept_by_its_hash_only(browser: Browser) -> None:
    token = browser.http.cookies[COOKIE]
    shared = shared_backend(browser.live.url, awaited=False)
    try:
        records = shared.drive(shared.backend.records(KIND).list())
    finally:
        shared.drive(release(shared))
        shared.end()
    assert records
    assert token not in repr(records)
    assert browser.key.credential not in repr(records)


def test_signing_out_ends_the_session_for_good(browser: Browser) -> None:
    cookie = dict(browser.http.cookies)
    browser.act("/sign-out")
    browser.http.cookies.update(cookie)
    assert browser.http.get("/console/stores").status_code == 303


def test_a_revoked_key_ends_its_sessions(browser: Browser) -> None:
    shared = shared_backend(browser.live.url, awaited=False)
    try:
        shared.drive(Keys(shared.backend.records(KEY_KIND)).revoke(browser.key.key.id))
    finally:
        shared.drive(release(shared))
        shared.end()
    assert browser.http.get("/console/stores").status_code == 303


@pytest.mark.parametrize(
    "wanted",
    [
        "https://example.com/",
        "//example.com/console/x",
        "/other",
        "/console/\\x",
        "/console/\nx",
        "",
    ],
)
def test_after_signing_in_one_stays_in_the_console(wanted: str) -> None:
    assert next_page(wanted) == "/console/stores"


def test_a_session_ends_with_the_secret_it_was_begun_with(browser: Browser) -> None:
    shared = shared_backend(browser.live.url, awaited=False)
    try:
        keys = Keys(shared.backend.records(KEY_KIND))
        made = shared.drive(keys.rotate(browser.key.key.id))
    finally:
        shared.drive(release(shared))
        shared.end()
    assert browser.http.get("/console/stores").status_code == 303
    browser.sign_in(made.credential)
    assert browser.http.get("/console/stores").status_code == 200


@pytest.mark.parametrize("wanted", ["//[", "http://[x]/", "http://a\u2100b/", "///console/"])
def test_an_address_that_is_none_leads_to_the_stores(wanted: str, one_live: Live) -> None:
    assert next_page(wanted) == "/console/stores"
    with httpx.Client(base_url=one_live.address) as http:
        assert http.get("/console/sign-in", params={"next": wanted}).status_code == 200


# ---------------------------------------------------------------- other sites


@pytest.mark.parametrize(
    "headers",
    [
        {"sec-fetch-site": "cross-site"},
        {"sec-fetch-site": "same-site"},
        {"sec-fetch-site": "none"},
        {"sec-fetch-site": "", "origin": "https://example.com"},
        {"sec-fetch-site": ""},
        {"sec-fetch-site": "", "origin": "http://["},
        {"sec-fetch-site": "", "origin": "null", "host": ""},
    ],
)
def test_what_another_site_sends_changes_nothing(
    headers: dict[str, str], browser: Browser, store: str
) -> None:
    del browser.http.headers["sec-fetch-site"]
    given = {name: value for name, value in headers.items() if value or name == "host"}
    answer = browser.http.post(
        f"/console{store}/delete", data={"path": "/memories/notes"}, headers=given
    )
    assert answer.status_code == 403
    assert browser.facts(f"{store}/memory?{TEA}")["text"]


def test_an_old_browser_is_known_by_its_origin(browser: Browser, store: str) -> None:
    del browser.http.headers["sec-fetch-site"]
    origin = {"origin": browser.live.address}
    answer = browser.http.post(f"/console{store}/undo", data={"path": "/memories"}, headers=origin)
    assert answer.status_code == 303


def test_pages_allow_nothing_of_others_and_are_in_no_frame(browser: Browser) -> None:
    policy = browser.http.get("/console/stores").headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "frame-ancestors 'none'" in policy
    assert "unsafe" not in policy


# ---------------------------------------------------------------- looking


def test_stores_are_listed_with_how_full_they_are(browser: Browser, store: str) -> None:
    shown = browser.page("/stores")
    assert ">ada</a>" in shown
    assert '<progress max="10485760"' in shown


def test_a_store_shows_its_directories_and_memories(browser: Browser, store: str) -> None:
    assert ">notes/</a>" in browser.page(store)
    inner = browser.page(f"{store}?path=/memories/notes")
    assert f"/console{store}/memory?path=/memories/notes/tea.md" in inner


def test_a_memory_is_rendered_and_shown_as_text(browser: Browser, store: str) -> None:
    assert "<em>black</em>" in browser.page(f"{store}/memory?{TEA}")
    assert "Ada likes *black* tea." in browser.page(f"{store}/memory?{TEA}&as=text")


def test_tabs_stay_tabs_and_what_is_invisible_is_spelled_out(browser: Browser, store: str) -> None:
    with Memory.open(browser.live.url, "ada", workspace=browser.workspace) as memory:
        memory.write("/memories/table.md", "a\tb\n\x07c\n")
    seen = browser.page(f"{store}/memory?path=/memories/table.md&as=text")
    assert "a\tb\n" in seen
    assert "\\x07c" in seen or "\\u0007c" in seen


def test_bytes_are_only_downloaded(browser: Browser, store: str) -> None:
    assert "download it" in browser.page(f"{store}/memory?path=/memories/data.bin")
    answer = browser.http.get(f"/console{store}/download?path=/memories/data.bin")
    assert answer.content == b"\xff\x00"
    assert answer.headers["content-disposition"] == "attachment"
    assert answer.headers["content-type"] == "application/octet-stream"


def test_search_finds_in_every_store_and_in_one(browser: Browser, store: str) -> None:
    with browser.memory("bob") as memory:
        memory.write("/memories/b.md", "Bob likes tea.\n")
    shown = browser.page("/search?q=tea")
    assert "Bob likes tea." in shown
    assert "*black* tea." in shown
    only = browser.facts(f"/search?q=tea&store={store.rpartition('/')[2]}")
    assert [one["title"] for one in only["found"]] == ["ada"]
    assert "Nothing was found" in browser.page("/search?q=nowhere")


def test_history_leads_to_a_version_beside_the_one_before(browser: Browser, store: str) -> None:
    versions = browser.facts(f"{store}/history?{TEA}")["versions"]
    assert [one["operation"] for one in versions] == ["modified", "created"]
    shown = browser.page(f"{store}/versions/{versions[0]['id']}")
    assert re.search(r'<tr class="changed">.*green.*black', shown)
    assert "(nothing)" in browser.page(f"{store}/versions/{versions[1]['id']}")


def test_every_page_has_a_json_twin(browser: Browser, store: str) -> None:
    version = browser.facts(f"{store}/history")["versions"][0]["id"]
    pages = [
        "/stores", store, f"{store}/memory?{TEA}", f"{store}/edit?{TEA}", f"{store}/new",
        f"{store}/change?{TEA}", f"{store}/history", f"{store}/versions/{version}",
        f"{store}/proposals", f"{store}/audit?verify", f"{store}/settings", f"{store}/erase",
        "/search?q=x", "/keys",
    ]  # fmt: skip
    for path in pages:
        assert browser.facts(path)["title"], path
        browser.page(path)


def test_the_audit_is_shown_with_the_state_of_its_chain(browser: Browser, store: str) -> None:
    with browser.memory() as memory:
        memory.execute({"command": "view", "path": "/memories/../x"})
    shown = browser.page(f"{store}/audit?verify")
    assert "The chain holds" in shown
    assert "bad_path" in shown


# ---------------------------------------------------------------- changing


def test_an_edit_becomes_a_version_by_the_key(browser: Browser, store: str) -> None:
    form = browser.facts(f"{store}/edit?{TEA}")
    answer = browser.act(
        f"{store}/edit", path=form["path"], version_id=form["version_id"], text="# Tea\r\nNone.\r\n"
    )
    assert "Saved as a new version." in browser.http.get(answer.headers["location"]).text
    with browser.memory() as memory:
        assert memory.read("/memories/notes/tea.md").content == b"# Tea\nNone.\n"
        assert memory.history()[0].actor == browser.key.key.id


def test_line_ends_of_a_memory_stay(browser: Browser, store: str) -> None:
    with browser.memory() as memory:
        version = memory.write("/memories/dos.md", "a\r\nb\r\n").id
        memory.write("/memories/mixed.md", "a\r\nb\n")
    browser.act(f"{store}/edit", path="/memories/dos.md", version_id=version, text="a\r\nc\r\n")
    with browser.memory() as memory:
        assert memory.read("/memories/dos.md").content == b"a\r\nc\r\n"
    assert "mixes line ends" in browser.page(f"{store}/edit?path=/memories/mixed.md", 400)


def test_an_edit_that_somebody_overtook_shows_both_and_saves_nothing(
    browser: Browser, store: str
) -> None:
    form = browser.facts(f"{store}/edit?{TEA}")
    with browser.memory() as memory:
        memory.write("/memories/notes/tea.md", "Theirs.\n")
    given = {"path": form["path"], "version_id": form["version_id"], "text": "Mine.\n"}
    answer = browser.act(f"{store}/edit", 409, **given)
    checked(answer.text)
    assert "Somebody changed this memory while you edited it" in answer.text
    assert "Theirs." in answer.text
    assert "Mine.\n</textarea>" in answer.text
    now = re.search(r'name="version_id" value="(memver_\w+)"', answer.text)
    assert now is not None
    browser.act(f"{store}/edit", **{**given, "version_id": now[1]})
    with browser.memory() as memory:
        assert memory.read("/memories/notes/tea.md").text == "Mine.\n"


def test_an_edit_of_what_was_deleted_meanwhile_can_make_it_anew(
    browser: Browser, store: str
) -> None:
    form = browser.facts(f"{store}/edit?{TEA}")
    with browser.memory() as memory:
        memory.remove("/memories/notes/tea.md")
    given = {"path": form["path"], "version_id": form["version_id"], "text": "Mine.\n"}
    answer = browser.act(f"{store}/edit", 409, **given)
    assert f'action="/console{store}/new"' in answer.text


def test_memories_are_made_moved_and_deleted_and_undo_brings_back(
    browser: Browser, store: str
) -> None:
    browser.act(f"{store}/new", path="/memories/new.md", text="x")
    assert (
        "choose another path"
        in browser.act(f"{store}/new", 409, path="/memories/new.md", text="y").text
    )
    browser.act(f"{store}/move", path="/memories/new.md", target="/memories/moved.md")
    browser.act(f"{store}/delete", path="/memories/moved.md")
    browser.act(f"{store}/undo", path="/memories")
    with browser.memory() as memory:
        assert memory.read("/memories/moved.md").text == "x"


def test_a_version_is_restored_and_an_old_one_redacted(browser: Browser, store: str) -> None:
    newest, oldest = browser.facts(f"{store}/history?{TEA}")["versions"]
    browser.act(f"{store}/restore", path="/memories/notes/tea.md", version=oldest["id"])
    with browser.memory() as memory:
        assert "green" in memory.read("/memories/notes/tea.md").text
    refused = browser.act(f"{store}/redact", 400, version=newest["id"], confirm="yes")
    assert "Type redact exactly" in refused.text
    assert "black" in browser.page(f"{store}/versions/{newest['id']}")
    browser.act(f"{store}/redact", version=newest["id"], confirm="redact")
    assert "the content is gone for good" in browser.page(f"{store}/versions/{newest['id']}")
    assert "black" not in browser.page(f"{store}/versions/{newest['id']}")


def test_a_store_is_erased_once_its_name_was_typed(browser: Browser, store: str) -> None:
    assert "Type ada exactly" in browser.act(f"{store}/erase", 400, confirm="Ada").text
    browser.act(f"{store}/erase", confirm="ada")
    assert browser.facts("/stores")["stores"] == []
    assert "Not found" in browser.page(store, 404)


def test_a_key_is_shown_once_and_revoked(browser: Browser) -> None:
    shown = browser.act("/keys", 200, name="ci", role="read", days="30").text
    credential = re.search(r"mk_[\w-]+", shown)
    assert credential is not None
    assert credential[0] not in browser.page("/keys")
    made = next(one for one in browser.facts("/keys")["keys"] if one["name"] == "ci")
    assert made["expires_at"] is not None
    browser.act("/keys/revoke", id=made["id"])
    other = httpx.post(
        f"{browser.live.address}/console/sign-in",
        data={"key": credential[0]},
        headers={"sec-fetch-site": "same-origin"},
    )
    assert other.status_code == 401
    assert (
        "whole number of days" in browser.act("/keys", 400, name="x", role="read", days="-1").text
    )
    assert "has a role" in browser.act("/keys", 400, name="x", role="root").text


def test_a_key_that_cant_be_is_not_made_and_the_page_says_why(browser: Browser) -> None:
    for days in ("1234567", "999999", "0"):
        browser.act("/keys", 400, role="read", days=days)
    assert "printed" in browser.act("/keys", 400, role="read", name="a\nb").text
    assert len(browser.facts("/keys")["keys"]) == 1


def test_a_key_that_ends_makes_none_that_outlives_it(one_live: Live) -> None:
    browser = Browser(one_live, f"w-ends-{next(_numbers)}", expires_in_seconds=7200)
    form = browser.page("/keys")
    assert "as yours" in form
    made = browser.http.post("/console/keys", data={"name": "after", "role": "admin", "days": ""})
    assert made.status_code == 200
    later = browser.http.post("/console/keys", data={"name": "x", "role": "read", "days": "1"})
    assert later.status_code == 400
    assert "longer than the key that makes it" in later.text
    shared = shared_backend(one_live.url, awaited=False)
    found = shared.drive(Keys(shared.backend.records(KEY_KIND)).list())
    shared.drive(release(shared))
    shared.end()
    ends = {key.expires_at_ns for key in found if key.workspace == browser.workspace}
    browser.http.close()
    assert ends == {browser.key.key.expires_at_ns}


def test_who_tries_keys_is_held_up() -> None:
    home = new_home()
    with serving(str(home / "memory"), ServerSettings(sign_ins_per_minute=3)) as live:
        browser = Browser(live, "default")  # the first of three
        tries = [browser.sign_in(f"mk_{'0' * 26}_{number:043}") for number in range(4)]
        assert [one.status_code for one in tries] == [401, 401, 429, 429]
        assert 1 <= int(tries[-1].headers["retry-after"]) <= 60
        assert browser.sign_in(browser.key.credential).status_code == 429
        browser.page("/stores")  # who is in stays in
        browser.http.close()


def test_who_administers_some_stores_has_no_power_over_other_keys(
    browser: Browser, store: str
) -> None:
    some = (store.removeprefix("/stores/"),)
    fellow = make_key(browser.live.url, workspace=browser.workspace, role="read", stores=some)
    other = Browser(browser.live, browser.workspace, stores=some)
    shown = {one["id"] for one in other.facts("/keys")["keys"]}
    assert shown == {fellow.key.id, other.key.key.id}
    other.act("/keys/revoke", 404, id=browser.key.key.id)
    assert len(browser.facts("/keys")["keys"]) == 3
    other.act("/keys/revoke", id=fellow.key.id)
    other.http.close()


# ---------------------------------------------------------------- who may what


@pytest.mark.parametrize(
    ("role", "path"),
    [
        ("read", "/stores/{store}/edit"),
        ("read", "/stores/{store}/new"),
        ("read", "/stores/{store}/delete"),
        ("read", "/stores/{store}/undo"),
        ("read", "/stores/{store}/restore"),
        ("write", "/stores/{store}/redact"),
        ("write", "/stores/{store}/erase"),
        ("write", "/keys"),
    ],
)
def test_a_lower_role_is_refused(role: str, path: str, browser: Browser, store: str) -> None:
    other = Browser(browser.live, browser.workspace, role)
    answer = other.act(path.replace("/stores/{store}", store), 403, path="/memories/notes/tea.md")
    assert "This needs a key with the role" in answer.text
    other.http.close()


def test_buttons_that_a_key_may_not_press_are_not_there(browser: Browser, store: str) -> None:
    reader = Browser(browser.live, browser.workspace, "read")
    for path in (store, f"{store}/memory?{TEA}", f"{store}/history", "/stores"):
        shown = reader.page(path)
        assert not re.search(r">(Edit|New memory|Move or delete|Keys|Undo[^<]*|Erase[^<]*)<", shown)
    reader.http.close()


def test_another_workspace_learns_nothing_of_a_store(browser: Browser, store: str) -> None:
    other = Browser(browser.live, "somebody-else")
    unknown = "/stores/memstore_0000000000000000000000000"
    version = browser.facts(f"{store}/history")["versions"][0]["id"]
    for path in ("", f"/memory?{TEA}", "/history", f"/versions/{version}", "/audit", "/settings"):
        theirs = re.sub(r"req_\w+", "", other.page(store + path, 404))
        nobodys = re.sub(r"req_\w+", "", other.page(unknown + path, 404))
        assert theirs == nobodys
    assert other.facts("/search?q=tea")["found"] == []
    other.http.close()


# ---------------------------------------------------------------- hostile names and contents


@pytest.mark.parametrize("text", HOSTILE)
def test_names_and_contents_stay_text_on_every_page(text: str, browser: Browser) -> None:
    name = text.replace("/", "∕").replace(RIGHT_TO_LEFT, "")
    with browser.memory() as memory:
        memory.write(f"/memories/{name}.md", text)
        memory.write(f"/memories/{name}.md", f"{text} again")
    (found,) = browser.facts("/stores")["stores"]
    store = f"/stores/{found['id']}"
    path = f"path={quote(f'/memories/{name}.md')}"
    version = browser.facts(f"{store}/history")["versions"][0]["id"]
    for page in (
        store, f"{store}/memory?{path}", f"{store}/memory?{path}&as=text", f"{store}/edit?{path}",
        f"{store}/change?{path}", f"{store}/history?{path}", f"{store}/versions/{version}",
        f"{store}/audit", f"/search?q={quote(text)}",
    ):  # fmt: skip
        shown = browser.page(page)  # looks at every element
        outside_fields = re.sub(r'value="[^"]*"|<textarea.*?</textarea>', "", shown, flags=re.S)
        assert RIGHT_TO_LEFT not in outside_fields
        assert "{{" not in text or "{{ 7*7 }}" in shown  # never worked out
    browser.page(f"{store}/memory?path={quote(f'/memories/../{text}')}", 400)


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("/memory", 400),
        ("/memory?path=/memories/none.md", 404),
        ("/memory?path=/etc/passwd", 400),
        ("/versions/memver_none", 404),
        ("/edit?path=/memories/data.bin", 400),
        ("?path=/memories/none", 404),
        ("/nothing", 404),
    ],
)
def test_what_is_not_there_is_a_page_that_says_so(
    path: str, status: int, browser: Browser, store: str
) -> None:
    answer = browser.http.get(f"/console{store}{path}")
    assert answer.status_code == status


def test_a_form_of_another_kind_is_refused(browser: Browser, store: str) -> None:
    answer = browser.http.post(f"/console{store}/undo", json={"path": "/memories"})
    assert answer.status_code == 400
    answer = browser.http.post(f"/console{store}/edit", data={"path": "/memories/x.md"})
    assert "The form has no field text." in answer.text


@pytest.mark.parametrize("body", [b"a=&" * 60, b"text=" + b"a" * 1_100_000])
def test_a_form_that_is_too_much_is_refused(body: bytes, browser: Browser, store: str) -> None:
    kind = {"content-type": "application/x-www-form-urlencoded"}
    answer = browser.http.post(f"/console{store}/new", content=body, headers=kind)
    assert answer.status_code == 400
    assert "The form has too many fields" in answer.text


@pytest.mark.parametrize("after", ["", "x", "1.", "\0", "99999999999999999999.memstore_1", "é"])
def test_a_position_that_is_none_is_a_page_that_says_so(after: str, browser: Browser) -> None:
    answer = browser.http.get("/console/stores", params={"after": after})
    assert answer.status_code in {200, 400}, answer.text


def test_programs_see_by_the_status_what_came_of_a_form(browser: Browser, store: str) -> None:
    wants = {"accept": "application/json"}
    wrong = browser.http.post("/console/sign-in", data={"key": "x"}, headers=wants)
    assert wrong.status_code == 401
    form = {"path": "/memories/notes/tea.md", "text": "x", "version_id": "memver_1"}
    lost = browser.http.post(f"/console{store}/edit", data=form, headers=wants)
    assert lost.status_code == 409
    assert "PUT" not in browser.http.put("/console/keys", headers=wants).headers["allow"]


def test_files_of_the_console_come_from_a_list(one_live: Live) -> None:
    with httpx.Client(base_url=one_live.address) as http:
        assert (
            http.get("/console/static/console.css").headers["content-type"].startswith("text/css")
        )
        assert http.get("/console/static/console.js").status_code == 200
        assert http.get("/console/static/..%2Fsurface.py").status_code == 404
        assert http.get("/console/static/none").status_code == 404


def test_problems_are_json_for_programs(browser: Browser) -> None:
    answer = browser.http.get("/console/stores/memstore_x?format=json")
    assert json.loads(answer.text)["error"]["type"] == "not_found_error"
