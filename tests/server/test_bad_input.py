"""What nobody should send: the documented answer, nothing lost, nothing leaked, no hang."""

from __future__ import annotations

import gzip
import json
import random
import re
import socket
from base64 import urlsafe_b64encode
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from hashlib import blake2b
from typing import Any

import httpx
import pytest

from memoranda.server.proxies import TrustedProxies
from memoranda.server.settings import ServerSettings
from tests.server.live import Api, Live, make_key, new_home, serving, url_of
from tests.server.test_access import CLOSED, named

INVALID = "invalid_request_error"


def connect(live: Live) -> socket.socket:
    host, _, port = live.address.removeprefix("http://").rpartition(":")
    return socket.create_connection((host, int(port)), timeout=20)


def speak(live: Live, data: bytes) -> bytes:
    """What comes back for some bytes, until the server hangs up."""
    with connect(live) as connection:
        connection.sendall(data)
        found = b""
        try:
            while part := connection.recv(65_536):
                found += part
        except ConnectionResetError:
            pass
        return found


@pytest.fixture(scope="module")
def impatient() -> Iterator[Api]:
    """A server that waits for nobody."""
    settings = ServerSettings(body_seconds=1, header_seconds=1, idle_seconds=1)
    with serving(url_of("sqlite", new_home()), settings) as live:
        api = Api(live, "default")
        yield api
        api.close()


@pytest.mark.parametrize(
    "body",
    [b"", b"{", b"[]", b"null", b'"x"', b'{"path": "/a"', b'{"path": "/a", "content": "\\ud800"}',
     b"\xff\xfe", b'{"path": ["/a"], "content": ""}', b'{"path": "/a", "content": {}}',
     b"[" * 50_000 + b"]" * 50_000, b'{"a":' * 50_000, b"1e999", b'{"path": "/a", "content": NaN}'],
)  # fmt: skip
def test_bodies_that_are_no_request_are_refused(one_api: Api, body: bytes) -> None:
    store = one_api.store()
    error = one_api.refused(400, INVALID, "POST", f"{store}/memories", content=body)
    assert "Traceback" not in error["message"]
    assert one_api.every(f"{store}/memories") == []


def test_a_compressed_body_is_refused(one_api: Api) -> None:
    store = one_api.store()
    one_api.refused(
        400, INVALID, "POST", f"{store}/memories", content=gzip.compress(b"{}"),
        headers={"content-encoding": "gzip"},
    )  # fmt: skip


def test_a_body_over_the_limit_is_refused_also_without_a_length(one_api: Api) -> None:
    store = one_api.store()
    huge = b'{"path": "/a", "content": "' + b"a" * 2_200_000 + b'"}'

    def chunks() -> Iterator[bytes]:
        for start in range(0, len(huge), 65_536):
            yield huge[start : start + 65_536]

    for content in (huge, chunks()):
        try:
            answer = one_api.ask("POST", f"{store}/memories", content=content)
        except httpx.WriteError:
            continue  # it hung up before all was sent, which is as good
        assert answer.status_code == 413
        assert answer.json()["error"]["type"] == "request_too_large"
    assert one_api.every(f"{store}/memories") == []


def test_who_sends_too_slowly_is_not_waited_for() -> None:
    settings = ServerSettings(body_seconds=1, header_seconds=1)
    url = url_of("sqlite", new_home())
    with serving(url, settings) as live:
        api = Api(live, "default")
        store = api.store()
        with connect(live) as connection:
            connection.sendall(b"GET / HTTP/1.1\r\nhost: x\r\n")
            assert connection.recv(100) == b""
        with connect(live) as connection:
            assert connection.recv(100) == b""
        with connect(live) as connection:
            connection.sendall(
                f"POST {store}/memories HTTP/1.1\r\nhost: x\r\ncontent-length: 100\r\n"
                f"x-api-key: {api.key.credential}\r\n\r\n{{".encode()
            )
            assert connection.recv(100).startswith(b"HTTP/1.1 408 ")
        api.close()


@pytest.mark.parametrize(
    "endless",
    [b"GET /healthz HTTP/1.1\r\nhost: x\r\na: ", b"GET /",
     b"GET /healthz HTTP/1.1\r\nhost: x\r\n" + b"a: b\r\n" * 100 + b"c: ",
     b"POST /healthz HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n0\r\na: "],
)  # fmt: skip
def test_headers_that_never_end_are_not_kept(one_live: Live, endless: bytes) -> None:
    with connect(one_live) as connection:
        connection.sendall(endless)
        assert taken(connection, 64) < 32


def taken(connection: socket.socket, most: int) -> int:
    """How many megabytes more the server takes before it hangs up."""
    for number in range(most):
        try:
            connection.sendall(b"a" * 2**20)
        except ConnectionError:
            return number
    return most


def test_long_addresses_and_large_bodies_are_no_endless_headers(one_api: Api) -> None:
    store = one_api.store()
    assert one_api.ask("GET", f"{store}/memories?x={'a' * 30_000}").status_code == 200
    one_api.memory(store, "/a", "a" * 100_000)


@pytest.mark.parametrize(
    "position",
    [b"x", b"1", b"[1]", b"null", b"\xff", b'"\\ud800"', b"[" * 4_000, b"9" * 5_000],
)
def test_a_cursor_that_somebody_made_up_is_refused(one_api: Api, position: bytes) -> None:
    store = one_api.store()
    store_id = store.rpartition("/")[2]
    for resource, of in (
        ("/v1/memory_stores", ("stores",)),
        (f"{store}/memories", ("memories", store_id)),
        (f"{store}/memory_versions", ("versions", store_id)),
    ):
        one_api.refused(400, INVALID, "GET", f"{resource}?page={made_up_cursor(position, *of)}")


@pytest.mark.parametrize("position", ["", "x", "9" * 19 + ".memstore_1", "\0"])
def test_a_place_that_no_list_of_stores_has_is_refused(api: Api, position: str) -> None:
    cursor = made_up_cursor(json.dumps(position).encode(), "stores")
    api.refused(400, INVALID, "GET", f"/v1/memory_stores?page={cursor}")


def made_up_cursor(position: bytes, *of: str) -> str:
    """What a client can make that knows how ours are made."""
    check = blake2b(position, digest_size=8, person=b"cursor")
    for part in of:
        check.update(b"\0" + part.encode())
    return "page_" + urlsafe_b64encode(check.digest() + position).decode().rstrip("=")


@pytest.mark.parametrize(
    "path",
    ["/v1/memory_stores/..%2f..%2fetc", "/v1/memory_stores/%00", "/v1/memory_stores/%2e%2e/memories",
     "/v1/../v1/x", "//v1/memory_stores", "/v1/memory_stores/a/memories/..%5c..", "/%c0%af",
     "/v1/memory_stores/" + "x" * 5_000, "/v1/memory_stores/{store}", "/V1/memory_stores"],
)  # fmt: skip
def test_tricks_in_paths_lead_nowhere(impatient: Api, path: str) -> None:
    request = (
        f"GET {path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n"
        f"x-api-key: {impatient.key.credential}\r\n\r\n"
    )
    assert speak(impatient.live, request.encode()).startswith(b"HTTP/1.1 404 ")


@pytest.mark.parametrize(
    "head",
    ["content-length: 5\r\ntransfer-encoding: chunked", "content-length: 2\r\ncontent-length: 3",
     "content-length: -1", "content-length: x", "transfer-encoding: chunked, identity",
     "transfer-encoding : chunked", "x y: z"],
)  # fmt: skip
def test_smuggled_requests_are_never_done(impatient: Api, head: str) -> None:
    store = impatient.store()
    hidden = f"DELETE {store} HTTP/1.1\r\nhost: x\r\nx-api-key: {impatient.key.credential}\r\n\r\n"
    request = f"POST /healthz HTTP/1.1\r\nhost: x\r\n{head}\r\n\r\n0\r\n\r\n{hidden}"
    answered = speak(impatient.live, request.encode())
    assert b" 500 " not in answered
    if b"HTTP/1.1 400 " in answered:
        impatient.done("GET", store)
    # Where the two lengths agree on what is a request, the second one is a request of its own.
    assert answered.count(b"HTTP/1.1 ") <= 2


def test_every_answer_protects_who_reads_it_and_allows_no_other_origin(one_api: Api) -> None:
    for method, path in (("GET", "/healthz"), ("GET", "/v1/memory_stores"), ("GET", "/none"),
                         ("OPTIONS", "/v1/memory_stores"), ("PUT", "/v1/memory_stores")):  # fmt: skip
        headers = {"origin": "https://evil.example", "access-control-request-method": "GET"}
        answer = one_api.ask(method, path, headers=headers)
        assert answer.headers["content-security-policy"].startswith("default-src 'none'")
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["x-frame-options"] == "DENY"
        assert answer.headers["cache-control"] == "no-store"
        assert "strict-transport-security" not in answer.headers
        assert not [name for name in answer.headers if name.startswith("access-control-")]
        assert "server" not in answer.headers


def test_a_key_has_its_share_and_no_more() -> None:
    url = url_of("sqlite", new_home())
    with serving(url, ServerSettings(requests_per_minute=5)) as live:
        one, other = Api(live, "default"), Api(live, "default")
        codes = [one.ask("GET", "/v1/memory_stores").status_code for _ in range(6)]
        assert codes == [200] * 5 + [429]
        answer = one.ask("GET", "/v1/memory_stores")
        assert answer.json()["error"]["type"] == "rate_limit_error"
        assert 1 <= int(answer.headers["retry-after"]) <= 60
        assert other.ask("GET", "/v1/memory_stores").status_code == 200
        one.close()
        other.close()


def test_forwarded_addresses_count_from_trusted_proxies_only() -> None:

    def seen(trusted: tuple[str, ...], client: str, forwarded: str) -> tuple[str, str]:
        scope: dict[str, Any] = {
            "client": (client, 1), "scheme": "http",
            "headers": [(b"x-forwarded-for", forwarded.encode()), (b"x-forwarded-proto", b"https")],
        }  # fmt: skip
        TrustedProxies(trusted).apply(scope)
        return scope["client"][0], scope["scheme"]

    assert seen((), "10.0.0.1", "1.2.3.4") == ("10.0.0.1", "http")
    assert seen(("10.0.0.0/8",), "9.9.9.9", "1.2.3.4") == ("9.9.9.9", "http")
    assert seen(("10.0.0.0/8",), "10.0.0.1", "6.6.6.6, 1.2.3.4, 10.0.0.2") == ("1.2.3.4", "https")
    assert seen(("10.0.0.0/8",), "10.0.0.1", "x, 10.0.0.2") == ("10.0.0.2", "https")


def test_noise_brings_no_failure_and_no_hang(impatient: Api) -> None:
    store = impatient.store()
    made = impatient.memory(store, "/a.md", "kept")
    chance = random.Random(20261130)
    requests = [
        f"{method} {path} HTTP/1.1\r\nhost: x\r\nx-api-key: {impatient.key.credential}\r\n"
        f"connection: close\r\ncontent-type: application/json\r\ncontent-length: {len(body)}\r\n\r\n{body}".encode()
        for method, path, body in (
            ("GET", f"{store}/memories?limit=3&view=full&depth=1", ""),
            ("POST", f"{store}/tool", '{"id": "t", "input": {"command": "view"}}'),
            ("GET", f"{store}/memory_versions?created_at%5Bgte%5D=2026-01-01T00:00:00Z", ""),
        )
    ]
    noise: list[bytes] = []
    for _ in range(150):
        data = bytearray(chance.choice(requests))
        for _ in range(chance.randrange(1, 6)):
            place = chance.randrange(len(data))
            if chance.random() < 0.5:
                data[place] = chance.randrange(256)
            elif chance.random() < 0.5:
                del data[place : place + chance.randrange(1, 20)]
            else:
                data[place:place] = chance.randbytes(chance.randrange(1, 20))
        noise.append(bytes(data))
    with ThreadPoolExecutor(32) as pool:
        answers = [
            answer.result() for answer in [pool.submit(speak, impatient.live, one) for one in noise]
        ]
    statuses = {status for one in answers for status in re.findall(rb"HTTP/1\.1 (\d{3})", one)}
    assert not [status for status in statuses if status >= b"500"]
    assert {b"200", b"400", b"401"} <= statuses
    assert impatient.done("GET", f"{store}/memories/{made['id']}") == made


def test_two_tenants_see_no_byte_of_each_other(api: Api) -> None:
    other = Api(api.live, f"{api.key.key.workspace}-other")
    store = api.store(name="hidden name", metadata={"hidden": "hidden"})
    made = api.memory(store, "/hidden.md", "hidden content")
    api.done("POST", f"{store}/memories/{made['id']}", json={"content": "hidden content 2"})
    ids = {
        "store": store.rpartition("/")[2],
        "memory": made["id"],
        "version": made["memory_version_id"],
    }
    mine = other.store()
    before = api.every(f"{store}/memory_versions", view="full")
    bodies: dict[str, Any] = {
        "memories.create": {"path": "/x", "content": "x"},
        "memories.update": {"content": "x"},
        "tool.use": {"id": "t", "input": {"command": "view", "path": "/memories"}},
        "memory_stores.create": {"name": "mine"},
    }
    for endpoint in CLOSED:
        assert endpoint.doc is not None
        for base in (ids["store"], mine.rpartition("/")[2], "memstore_01none"):
            path = endpoint.path.format(**{**ids, "store": base})
            body = bodies.get(endpoint.doc.operation)
            answer = other.ask(endpoint.method, path, json=body)
            assert b"hidden" not in answer.content, named(endpoint)
            if base != ids["store"] or "{store}" not in endpoint.path:
                continue
            unknown = other.ask(
                endpoint.method, path.replace(ids["store"], "memstore_01none"), json=body
            )
            assert answer.status_code == unknown.status_code == 404, named(endpoint)
            assert answer.json()["error"] == unknown.json()["error"], named(endpoint)
    cursor = api.done("GET", f"{store}/memory_versions?limit=1")["next_page"]
    assert other.ask("GET", f"{mine}/memory_versions", params={"page": cursor}).status_code in (
        400, 404,
    )  # fmt: skip
    assert api.every(f"{store}/memory_versions", view="full") == before
    other.close()


def test_keys_of_one_store_do_not_reach_a_users_memory(one_api: Api) -> None:
    mine = one_api.store()
    key = make_key(
        one_api.live.url, workspace=one_api.key.key.workspace, stores=(mine.rpartition("/")[2],)
    )
    with one_api.live.client(key.credential) as client:
        for guess in ("default", "ada", mine.rpartition("/")[2].lower(), "memstore_"):
            assert client.get(f"/v1/memory_stores/{guess}").status_code == 404
