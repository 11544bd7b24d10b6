"""An S3 server of the tests' own: SeaweedFS, one for each process that runs tests.

All its ports are ones that the kernel gave. ``BUCKET_URL`` (with its query) names another one to use
instead.
"""

from __future__ import annotations

import atexit
import ctypes
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from functools import cache
from pathlib import Path

import obstore
from obstore.store import ObjectStore

from memoranda.stores.bucket import address
from memoranda.stores.bucket.sync_port import listed

START_SECONDS = 30.0
ACCESS_KEY = "test"
SECRET_KEY = "testsecret"
BUCKET = "memoranda"
PORTS = (
    "master.port", "master.port.grpc", "volume.port", "volume.port.grpc", "filer.port",
    "filer.port.grpc", "s3.port", "s3.port.grpc", "s3.port.lance", "s3.port.iceberg", "admin.port",
    "admin.port.grpc",
)  # fmt: skip


def free_ports(number: int) -> list[int]:
    """Ports of loopback that nobody has now."""
    sockets = [socket.socket() for _ in range(number)]
    try:
        for one in sockets:
            one.bind(("127.0.0.1", 0))
        return [one.getsockname()[1] for one in sockets]
    finally:
        for one in sockets:
            one.close()


class Server:
    """A server that is up; ``endpoint`` is its URL."""

    def __init__(self) -> None:
        self.home = Path(tempfile.mkdtemp(prefix="memo-s3-"))
        (self.home / "logs").mkdir()
        (self.home / "data").mkdir()
        identity = {
            "name": "tests",
            "credentials": [{"accessKey": ACCESS_KEY, "secretKey": SECRET_KEY}],
            "actions": ["Admin", "Read", "Write", "List", "Tagging"],
        }
        (self.home / "s3.json").write_text(json.dumps({"identities": [identity]}))
        self._process: subprocess.Popen[bytes] | None = None
        self._ports = dict(zip(PORTS, free_ports(len(PORTS)), strict=True))
        self.endpoint = f"http://127.0.0.1:{self._ports['s3.port']}"

    def start(self) -> None:
        """Bring it up and wait until it answers."""
        home = self.home
        command = [
            str(Path(sys.prefix) / "bin" / "weed"), f"-logdir={home / 'logs'}", "mini",
            f"-dir={home / 'data'}", "-ip=127.0.0.1", "-ip.bind=127.0.0.1",
            f"-s3.config={home / 's3.json'}", "-admin.ui=false", "-webdav=false",
            "-master.telemetry=false",
            *(f"-{name}={port}" for name, port in self._ports.items()),
        ]  # fmt: skip
        with (home / "log").open("ab") as log:
            self._process = subprocess.Popen(
                command,
                cwd=home,
                stdout=log,
                stderr=log,
                preexec_fn=die_with_us,  # noqa: PLW1509 - calls nothing that a thread may hold
            )
        until = time.monotonic() + START_SECONDS
        while True:
            try:
                urllib.request.urlopen(self.endpoint, timeout=5)
                return
            except urllib.error.HTTPError:
                return  # it asks for credentials
            except OSError:
                if time.monotonic() > until or self._process.poll() is not None:
                    raise
                time.sleep(0.02)

    def kill(self) -> None:
        """The power goes: kill -9."""
        assert self._process is not None
        self._process.kill()
        self._process.wait()

    def stop(self) -> None:
        """End it and remove its folder."""
        if self._process is not None:
            self._process.terminate()
            try:
                self._process.wait(10)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()
            self._process = None
        shutil.rmtree(self.home, ignore_errors=True)

    def url(self, prefix: str, endpoint: str | None = None) -> str:
        """A URL of the tests' bucket below a prefix, perhaps by way of another endpoint."""
        return (
            f"s3://{BUCKET}/{prefix}?endpoint={endpoint or self.endpoint}&region=us-east-1"
            f"&access_key_id={ACCESS_KEY}&secret_access_key={SECRET_KEY}"
        )


@cache
def server() -> Server:
    """The server that this process's tests share, each below a prefix of its own."""
    made = Server()
    atexit.register(made.stop)
    made.start()
    obstore.put(client_of(made.url("made")), "it", b"")  # the bucket comes with its first object
    return made


URL_FOR_CHILDREN = "BUCKET_OF_THE_TESTS"


def bucket_url() -> str:
    """A URL for this process and for those that a test starts after asking for it."""
    given = os.environ.get(URL_FOR_CHILDREN)
    if given is None:
        given = os.environ[URL_FOR_CHILDREN] = url_for(Path("children"))
    return given


_prefixes: dict[Path, str] = {}


def url_for(home: Path) -> str:
    """A URL below an empty prefix for each new home."""
    prefix = _prefixes.setdefault(home, f"p{os.getpid()}/{len(_prefixes)}")
    given = os.environ.get("BUCKET_URL")
    if given:
        base, mark, query = given.partition("?")
        return f"{base.rstrip('/')}/{prefix}{mark}{query}"
    return server().url(prefix)


def objects(url: str) -> dict[str, bytes]:
    """Every object below a URL's prefix, by its key."""
    client = client_of(url)
    keys = [meta["path"] for page in listed(client) for meta in page]
    return {key: bytes(obstore.get(client, key).bytes()) for key in keys}


def client_of(url: str) -> ObjectStore:
    """The bare client of a URL."""
    return address.connect(address.parse(url))


def everything(url: str) -> list[bytes]:
    """Every key and every object below a URL's prefix."""
    found = objects(url)
    return [*found.values(), *(key.encode() for key in found)]


def die_with_us() -> None:
    """A test process that is killed takes its server along."""
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)
