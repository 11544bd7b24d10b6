"""A server of the tests' own: the real application and uvicorn, in a thread, on a port of the kernel's."""

from __future__ import annotations

import atexit
import os
import shutil
import tempfile
import threading
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import httpx
import pytest
import uvicorn

from memoranda.config import Settings, load_settings
from memoranda.opening import shared_backend
from memoranda.server.app import create_app
from memoranda.server.keys import KIND, Keys, NewKey
from memoranda.server.run import config_of
from memoranda.server.settings import ServerSettings
from memoranda.shared_backends import release
from tests.stores.bucket_server import bucket_url
from tests.stores.postgres_server import postgres_url

BETA = "agent-memory-2026-07-22"
BACKENDS = (
    *("folder", "sqlite", "postgres"),
    # Many times slower, and tried in full below the server: the long run has them.
    *(pytest.param(slow, marks=pytest.mark.full) for slow in ("bucket", "git")),
)
NOTHING_SET: dict[str, str] = {}


def new_home() -> Path:
    """A new folder, in memory where the host can: nothing here is about what survives power cuts."""
    place = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    home = Path(tempfile.mkdtemp(prefix="memo-server-", dir=place))
    atexit.register(shutil.rmtree, home, ignore_errors=True)
    return home


def url_of(backend: str, home: Path) -> str:
    """The URL of an own store of this kind; the tests' PostgreSQL is shared by them."""
    if backend == "postgres":
        return postgres_url()
    if backend == "bucket":
        return bucket_url()
    if backend == "git":
        return f"git://{home}/repositories"
    return f"sqlite:///{home}/memory.db" if backend == "sqlite" else str(home / "memory")


def make_key(url: str, **about: Any) -> NewKey:
    """A key, made as the command line makes them."""
    shared = shared_backend(url, awaited=False)
    try:
        return shared.drive(Keys(shared.backend.records(KIND)).create(**about))
    finally:
        shared.drive(release(shared))
        shared.end()


class Live(NamedTuple):
    """A server that runs: where its stores are, where it listens."""

    url: str
    address: str

    @property
    def redacts(self) -> bool:
        """Whether its stores can: those in git repositories, whose past is pushed on, can't."""
        return not self.url.startswith("git:")

    def client(self, credential: str, **more: Any) -> httpx.Client:
        """A plain HTTP client with a key."""
        headers = {"authorization": f"Bearer {credential}", "anthropic-beta": BETA}
        # Nothing here speaks TLS, and its context takes longer to make than most tests.
        return httpx.Client(
            base_url=self.address, headers=headers, timeout=30, verify=False, **more
        )

    def anybody(self) -> httpx.Client:
        """A plain HTTP client without a key."""
        return httpx.Client(base_url=self.address, timeout=30, verify=False)


@contextmanager
def serving(
    url: str, server: ServerSettings | None = None, settings: Settings | None = None
) -> Generator[Live]:
    """A server over the stores at ``url``, ended as a signal would end it."""
    server = server or ServerSettings()
    settings = settings or load_settings(environ=NOTHING_SET)
    config = config_of(create_app(url, settings, server), replace(server, port=0))
    listening = config.bind_socket()
    listening.listen()  # whoever comes before the server is ready waits instead of being refused
    running = uvicorn.Server(config)
    thread = threading.Thread(target=running.run, args=([listening],), name="server under test")
    thread.start()
    kept = shared_backend(url, awaited=False)  # so that a key is made without opening it anew
    try:
        host, port = listening.getsockname()
        yield Live(url, f"http://{host}:{port}")
    finally:
        running.should_exit = True
        thread.join()
        listening.close()
        kept.drive(release(kept))
        kept.end()


class Api:
    """What most tests need: a client with a key for a workspace of its own."""

    def __init__(self, live: Live, workspace: str) -> None:
        self.live = live
        self.key = make_key(live.url, workspace=workspace)
        self.http = live.client(self.key.credential)

    def close(self) -> None:
        self.http.close()

    def ask(self, method: str, path: str, **more: Any) -> httpx.Response:
        """A request, whatever comes of it."""
        return self.http.request(method, path, **more)

    def done(self, method: str, path: str, **more: Any) -> Any:
        """What a request answers that has to succeed."""
        answer = self.ask(method, path, **more)
        assert answer.status_code == 200, answer.text
        return answer.json()

    def refused(self, status: int, kind: str, method: str, path: str, **more: Any) -> Any:
        """The error of a request that has to be refused so."""
        answer = self.ask(method, path, **more)
        found = answer.json()
        assert (answer.status_code, found["error"]["type"]) == (status, kind), answer.text
        assert found["request_id"] == answer.headers["request-id"]
        return found["error"]

    def store(self, **about: Any) -> str:
        """The path of a new store."""
        made = self.done("POST", "/v1/memory_stores", json={"name": "n", **about})
        return f"/v1/memory_stores/{made['id']}"

    def memory(self, store: str, path: str, content: str = "text") -> Any:
        """A new memory."""
        body = {"path": path, "content": content}
        return self.done("POST", f"{store}/memories?view=full", json=body)

    def redact(self, version: str) -> Any:
        """Redact a version; None where stores can't, which is said."""
        if self.live.redacts:
            return self.done("POST", f"{version}/redact")
        error = self.refused(400, "invalid_request_error", "POST", f"{version}/redact")
        assert error["message"] == "This backend does not support redaction."
        return None

    def every(self, path: str, **params: Any) -> list[Any]:
        """All pages of a list."""
        found: list[Any] = []
        while True:
            page = self.done("GET", path, params=params)
            assert set(page) == {"data", "next_page"}
            assert page["data"] or page["next_page"] is None, "an empty page goes on nowhere"
            found += page["data"]
            if page["next_page"] is None:
                return found
            params["page"] = page["next_page"]


def no_settings() -> Settings:
    """Nothing set anywhere."""
    return load_settings(environ=NOTHING_SET)
