"""The server as a program: its logs, its end in mid-request, kills under load."""

from __future__ import annotations

import re
import shutil
import signal
import socket
import threading
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from tests.cli.command_line import done, json_of
from tests.server.live import Api, Live, make_key, new_home, url_of
from tests.server.process import program


@pytest.fixture
def home() -> Iterator[Path]:
    made = new_home()
    yield made
    shutil.rmtree(made, ignore_errors=True)


def raw(address: str) -> socket.socket:
    """A connection, to be spoken to byte by byte."""
    host, _, port = address.removeprefix("http://").rpartition(":")
    return socket.create_connection((host, int(port)), timeout=30)


def answer_of(connection: socket.socket) -> bytes:
    """All that comes until the other end hangs up."""
    found = b""
    while part := connection.recv(65_536):
        found += part
    return found


def test_it_serves_logs_without_contents_and_ends_what_is_in_flight(home: Path) -> None:
    url = url_of("folder", home)
    with program(url) as running:
        api = Api(running.live, "default")
        store = api.store(name="telling-name")
        made = api.memory(store, "/telling-path.md", "telling content")
        api.ask("GET", f"{store}/memories?path_prefix=/telling-path/")
        body = b'{"content": "written at the very end"}'
        with raw(running.live.address) as connection:
            connection.sendall(
                f"POST {store}/memories/{made['id']} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n"
                f"x-api-key: {api.key.credential}\r\ncontent-length: {len(body)}\r\n\r\n".encode()
                + body[:5]
            )
            # The request has to be in flight: another one on its own connection says so.
            while "_in_flight 2.0" not in httpx.get(f"{running.live.address}/metrics").text:
                pass
            running.signal(signal.SIGTERM)
            while _takes_connections(running.live.address):
                pass
            connection.sendall(body[5:])
            answered = answer_of(connection)
        api.close()
        assert answered.startswith(b"HTTP/1.1 200 ")
        assert running.ends() == -signal.SIGTERM
    with program(url) as again, again.live.client(api.key.credential) as client:
        seen = client.get(f"{store}/memories/{made['id']}").json()
        assert seen["content"] == "written at the very end"
    log = "\n".join(running.log)
    for secret in ("telling", made["id"], store.rpartition("/")[2], api.key.credential):
        assert secret not in log
    lines = running.access_log()
    assert {line["key"] for line in lines if "key" in line} == {api.key.key.id}
    assert all(re.fullmatch(r"req_\w{26}", line["request_id"]) for line in lines)
    assert {"/v1/memory_stores", "/v1/memory_stores/{store}/memories"} <= {
        line["route"] for line in lines
    }


def _takes_connections(address: str) -> bool:
    try:
        raw(address).close()
    except OSError:
        return False
    return True


@pytest.mark.parametrize("backend", ["folder", pytest.param("sqlite", marks=pytest.mark.full)])
def test_a_kill_under_load_loses_no_acknowledged_write(backend: str, home: Path) -> None:
    url = url_of(backend, home)
    key = make_key(url)
    acknowledged: dict[str, str] = {}
    for turn in range(2):
        with program(url) as running:
            with running.live.client(key.credential) as client:
                made = client.post("/v1/memory_stores", json={"name": f"turn {turn}"}).json()
            base = f"/v1/memory_stores/{made['id']}"
            enough = threading.Event()
            before = len(acknowledged)

            def write(
                number: int,
                base: str = base,
                live: Live = running.live,
                turn: int = turn,
                enough: threading.Event = enough,
                before: int = before,
            ) -> None:
                with live.client(key.credential) as client:
                    for count in range(10_000):
                        path, text = f"/{number}/{count}.md", f"{turn} {number} {count}"
                        try:
                            answer = client.post(
                                f"{base}/memories", json={"path": path, "content": text}
                            )
                        except httpx.TransportError:
                            return
                        if answer.status_code == 200:
                            acknowledged[f"{base}/memories/{answer.json()['id']}"] = text
                        if len(acknowledged) >= before + 40:
                            enough.set()

            writers = [threading.Thread(target=write, args=(number,)) for number in range(4)]
            for writer in writers:
                writer.start()
            assert enough.wait(60)
            running.signal(signal.SIGKILL)
            for writer in writers:
                writer.join()
    with program(url) as running, running.live.client(key.credential) as client:
        for path, text in acknowledged.items():
            assert client.get(path).json()["content"] == text


def test_a_key_that_another_process_revokes_stops(home: Path) -> None:
    url = url_of("folder", home)
    made = json_of("keys", "create", "--store", url)
    with program(url) as running, running.live.client(made["key"]) as client:
        assert client.get("/v1/memory_stores").status_code == 200
        assert client.post("/v1/memory_stores", json={"name": "n"}).status_code == 200
        done("keys", "revoke", made["id"], "--yes", "--store", url)
        while client.get("/v1/memory_stores").status_code == 200:
            pass  # for the second that it is kept
        assert client.get("/v1/memory_stores").status_code == 401
