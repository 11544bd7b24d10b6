"""Other servers than SeaweedFS: a second that speaks S3, and one that speaks Azure's language.

Azurite comes by ``make azurite``, which needs npm; without it these tests are skipped. For Google Cloud
Storage there is no emulator that honours conditions: it is not tested against a server.
"""

from __future__ import annotations

import asyncio
import hmac
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from base64 import b64decode, b64encode
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from email.utils import formatdate
from pathlib import Path
from urllib.parse import quote

import obstore
import pytest

from memoranda.drive import run_now
from memoranda.errors import AlreadyExists
from memoranda.stores.base import Context, Edit, Expect, Put, Remove, Store
from memoranda.stores.bucket import probe
from memoranda.stores.bucket.address import parse
from memoranda.stores.bucket.backend import BucketBackend
from memoranda.stores.bucket.sync_port import SyncPort
from memoranda.testing.promises.steps import append, history, p, tree
from tests.house.repository import ROOT
from tests.stores.bucket_server import client_of, die_with_us, everything, free_ports

AGENT = Context(actor="agent", command="test")
START_SECONDS = 60.0
CONTAINER = "memoranda"
# The emulator's own, the same everywhere: they stand in its documents.
ACCOUNT = "devstoreaccount1"
KEY = "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw=="


def running(
    command: list[str], port: int, home: Path, **environment: str
) -> subprocess.Popen[bytes]:
    """A server that answers at a port of loopback."""
    with (home / "log").open("ab") as log:
        process = subprocess.Popen(
            command,
            cwd=home,
            env={**os.environ, **environment},
            stdout=log,
            stderr=log,
            preexec_fn=die_with_us,  # noqa: PLW1509 - calls nothing that a thread may hold
        )
    until = time.monotonic() + START_SECONDS
    while True:
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
            return process
        except OSError:
            if time.monotonic() > until or process.poll() is not None:
                process.kill()
                raise
            time.sleep(0.02)


def make_container(endpoint: str) -> None:
    """Make the container, signed as Azure wants it: obstore makes none."""
    date = formatdate(usegmt=True)
    said = f"x-ms-date:{date}\nx-ms-version:2021-08-06\n/{ACCOUNT}/{ACCOUNT}/{CONTAINER}\nrestype:container"
    signed = hmac.digest(b64decode(KEY), ("PUT" + "\n" * 12 + said).encode(), "sha256")
    headers = {
        "x-ms-date": date,
        "x-ms-version": "2021-08-06",
        "Authorization": f"SharedKey {ACCOUNT}:{b64encode(signed).decode()}",
    }
    url = f"{endpoint}/{CONTAINER}?restype=container"
    urllib.request.urlopen(urllib.request.Request(url, method="PUT", headers=headers), timeout=30)


def azurite() -> Path | None:
    """The emulator where ``make azurite`` put it: in the environment that runs the tests."""
    places = (Path(sys.prefix) / "azurite", ROOT / ".venv" / "azurite")
    found = [
        place / "node_modules" / "azurite" / "dist" / "src" / "blob" / "main.js" for place in places
    ]
    return next((path for path in found if path.exists()), None)


@pytest.fixture(scope="module", params=["ministack", "azurite"])
def base(request: pytest.FixtureRequest) -> Iterator[tuple[str, str]]:
    """The URL's beginning and its query, of a server that is up and has the bucket."""
    home = Path(tempfile.mkdtemp(prefix="memo-obj-"))
    (port,) = free_ports(1)
    if request.param == "ministack":
        command = [str(Path(sys.prefix) / "bin" / "ministack")]
        process = running(command, port, home, GATEWAY_PORT=str(port), MINISTACK_HOST="127.0.0.1")
        query = f"endpoint=http://127.0.0.1:{port}&region=us-east-1&access_key_id=test&secret_access_key=test"
        made = f"s3://{CONTAINER}"
        urllib.request.urlopen(
            urllib.request.Request(f"http://127.0.0.1:{port}/{CONTAINER}", method="PUT"), timeout=30
        )
    else:
        script = azurite()
        node = shutil.which("node")
        if script is None or node is None:
            shutil.rmtree(home)
            pytest.skip("Azurite is not installed: `make azurite` (needs npm) has these tests run.")
        command = [
            node, str(script), "--silent", "--blobHost", "127.0.0.1", "--blobPort", str(port),
            "--location", str(home), "--skipApiVersionCheck",
        ]  # fmt: skip
        process = running(command, port, home)
        endpoint = f"http://127.0.0.1:{port}/{ACCOUNT}"
        make_container(endpoint)
        query = f"account_name={ACCOUNT}&account_key={quote(KEY, safe='')}&endpoint={endpoint}"
        made = f"az://{CONTAINER}"
    yield made, query
    process.kill()
    process.wait()
    shutil.rmtree(home, ignore_errors=True)


@pytest.fixture
def url(base: tuple[str, str], tmp_path: Path) -> str:
    return f"{base[0]}/{tmp_path.name}?{base[1]}"


def test_the_server_keeps_its_conditions(url: str) -> None:
    port = SyncPort(parse(url))
    run_now(probe.check(port))
    assert run_now(port.keys(probe.FOLDER)) == []


async def live(store: Store) -> None:
    """A round of every kind of work."""
    (made,) = await store.apply([Put(p("/a.md"), b"hush-Qx7Zr0", Expect.ABSENT)], AGENT)
    with pytest.raises(AlreadyExists):
        await store.apply([Put(p("/a.md"), b"x", Expect.ABSENT)], AGENT)
    for number in range(40):
        await store.apply([Put(p(f"/d/{number}.md"), b"%d" % number)], AGENT)
    await store.apply([Edit(p("/d/7.md"), append(b"!"))], AGENT)
    await store.apply([Put(p("/a.md"), b"clean"), Remove(p("/d/8.md"))], AGENT)
    assert (await store.redact(made.id, AGENT)).content is None
    found = await tree(store)
    assert len(found) == 40
    assert (found["/a.md"], found["/d/7.md"]) == (b"clean", b"7!")
    assert len(await history(store)) == 44
    assert (await store.verify()).problems == ()
    assert (await store.verify_audit()).problems == ()


def test_a_store_lives_its_life_and_is_erased__sync(url: str) -> None:
    backend = BucketBackend(url)
    store = run_now(backend.for_user("acme"))
    run_now(live(store))
    assert not any(b"hush-Qx7Zr0" in blob for blob in everything(url))
    run_now(backend.erase(store.id, AGENT))
    assert not any(b"clean" in blob for blob in everything(url))
    assert [
        key for key in (one.decode(errors="replace") for one in everything(url)) if "stores/" in key
    ] == []
    run_now(backend.close())


def test_a_store_lives_its_life_and_is_erased__async(url: str) -> None:
    async def play() -> None:
        backend = BucketBackend(url, suspends=True)
        await live(await backend.for_user("acme"))
        await backend.close()

    asyncio.run(play())


def test_writers_that_race_lose_no_edit(url: str) -> None:
    writers, turns = 4, 8
    first = BucketBackend(url)
    store = run_now(first.for_user("acme"))
    run_now(store.apply([Put(p("/a.md"), b"")], AGENT))

    def write(number: int) -> None:
        backend = BucketBackend(url)
        own = run_now(backend.for_user("acme"))
        for turn in range(turns):
            line = b"%d.%d\n" % (number, turn)
            run_now(own.apply([Edit(p("/a.md"), append(line))], AGENT))
        run_now(backend.close())

    with ThreadPoolExecutor(writers) as pool:
        list(pool.map(write, range(writers)))
    lines = run_now(store.read(p("/a.md"))).data.splitlines()
    assert sorted(lines) == sorted(b"%d.%d" % (w, t) for w in range(writers) for t in range(turns))
    assert obstore.head(client_of(url), "memoranda.json")["size"] > 0
    run_now(first.close())
