"""What the folder store meets on the disk, as Claude sees it."""

from __future__ import annotations

import logging
import os
import socket
import stat
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from memoranda.drive import run_now
from memoranda.memory import Memory
from memoranda.stores.folder.backend import FolderBackend
from memoranda.stores.folder.clock import CLOCK, Clock
from tests.spec.handler import content_of, done, failed, listing_of

OUTSIDE = "this is another file of the host\n"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return tmp_path / "memory"


@pytest.fixture
def memory(root: Path) -> Iterator[Memory]:
    with Memory.open(str(root), user="acme") as memory:
        create(memory, "/memories/ok.txt", "fine\n")
        yield memory


@pytest.fixture
def tree(root: Path, memory: Memory) -> Path:
    return root / "stores" / "acme" / "memories"


def create(memory: Memory, path: str, text: str) -> None:
    answer = memory.execute({"command": "create", "path": path, "file_text": text})
    assert answer == done(f"File created successfully at: {path}")


def make_symlink(at: Path, outside: Path) -> None:
    at.symlink_to(outside)


def make_dangling_symlink(at: Path, outside: Path) -> None:
    at.symlink_to(outside.parent / "nothing here")


def make_symlink_to_directory(at: Path, outside: Path) -> None:
    at.symlink_to(outside.parent, target_is_directory=True)


def make_fifo(at: Path, outside: Path) -> None:
    os.mkfifo(at)


def make_socket(at: Path, outside: Path) -> None:
    # A socket's path may not be long, so it is bound from within its directory.
    descriptor = os.open(at.parent, os.O_RDONLY)
    here = os.open(".", os.O_RDONLY)
    try:
        os.fchdir(descriptor)
        with socket.socket(socket.AF_UNIX) as listener:
            listener.bind(at.name)
    finally:
        os.fchdir(here)
        os.close(here)
        os.close(descriptor)


STRANGE: list[Callable[[Path, Path], None]] = [
    make_symlink,
    make_dangling_symlink,
    make_symlink_to_directory,
    make_fifo,
    make_socket,
]

MISSING: list[tuple[dict[str, object], str]] = [
    (
        {"command": "view"},
        "The path {path} does not exist. Please provide a valid path.",
    ),
    (
        {"command": "str_replace", "old_str": "host", "new_str": "x"},
        "Error: The path {path} does not exist. Please provide a valid path.",
    ),
    (
        {"command": "insert", "insert_line": 0, "insert_text": "x"},
        "Error: The path {path} does not exist",
    ),
    ({"command": "delete"}, "Error: The path {path} does not exist"),
    (
        {"command": "rename", "new_path": "/memories/new"},
        "Error: The path {path} does not exist",
    ),
]


@pytest.fixture
def outside(tmp_path: Path) -> Path:
    place = tmp_path / "outside"
    place.mkdir()
    (place / "secret").write_text(OUTSIDE)
    return place / "secret"


@pytest.mark.spec("DISK-01", "DISK-02", "DISK-04", "PATH-22")
@pytest.mark.parametrize("make", STRANGE, ids=lambda make: make.__name__)
def test_what_is_no_file_of_the_user_is_not_there(
    memory: Memory, tree: Path, outside: Path, make: Callable[[Path, Path], None]
) -> None:
    make(tree / "strange", outside)
    for path in ("/memories/strange", "/memories/absent"):
        for command, text in MISSING:
            answer = memory.execute({"path": path, "old_path": path, **command})
            assert answer == failed(text.format(path=path))
    assert memory.execute({"command": "view", "path": "/memories"}) == listing_of(
        "/memories", "5B\t/memories", "5B\t/memories/ok.txt"
    )
    assert outside.read_text() == OUTSIDE


@pytest.mark.spec("DISK-01", "DISK-03")
def test_a_name_on_the_way_that_leads_elsewhere_is_not_there(
    memory: Memory, tree: Path, outside: Path
) -> None:
    (tree / "link").symlink_to(outside.parent, target_is_directory=True)
    for path in ("/memories/link/secret", "/memories/gone/secret"):
        for command, text in MISSING:
            answer = memory.execute({"path": path, "old_path": path, **command})
            assert answer == failed(text.format(path=path))
    assert outside.read_text() == OUTSIDE


@pytest.mark.spec("DISK-01", "DISK-03")
def test_a_directory_that_becomes_a_link_leads_nowhere(
    memory: Memory, tree: Path, outside: Path
) -> None:
    create(memory, "/memories/d/secret", "mine\n")
    (tree / "d" / "secret").unlink()
    (tree / "d").rmdir()
    (tree / "d").symlink_to(outside.parent, target_is_directory=True)
    answer = memory.execute({"command": "view", "path": "/memories/d/secret"})
    assert OUTSIDE.strip() not in str(answer.content)
    memory.execute({"command": "create", "path": "/memories/d/new", "file_text": "x"})
    memory.execute({"command": "delete", "path": "/memories/d"})
    assert sorted(os.listdir(outside.parent)) == ["secret"]
    assert outside.read_text() == OUTSIDE


@pytest.mark.spec("DISK-05")
def test_a_file_with_several_hard_links_is_a_file(
    memory: Memory, tree: Path, tmp_path: Path
) -> None:
    backup = tmp_path / "backup"
    os.link(tree / "ok.txt", backup)
    view = {"command": "view", "path": "/memories/ok.txt"}
    assert memory.execute(view) == content_of("/memories/ok.txt", "     1\tfine")
    insert = {"command": "insert", "path": "/memories/ok.txt"}
    answer = memory.execute({**insert, "insert_line": 1, "insert_text": "more\n"})
    assert answer == done("The file /memories/ok.txt has been edited.")
    assert (tree / "ok.txt").read_text() == "fine\nmore\n"
    assert backup.read_text() == "fine\n"


@pytest.mark.spec("DISK-06")
def test_nothing_but_the_users_files_lies_among_them(memory: Memory, tree: Path) -> None:
    create(memory, "/memories/d/a", "x")
    memory.execute(
        {"command": "str_replace", "path": "/memories/d/a", "old_str": "x", "new_str": "y"}
    )
    memory.execute({"command": "rename", "old_path": "/memories/d", "new_path": "/memories/e"})
    create(memory, "/memories/f", "x")
    memory.execute({"command": "delete", "path": "/memories/f"})
    found = sorted(str(path.relative_to(tree)) for path in tree.rglob("*"))
    assert found == ["e", "e/a", "ok.txt"]


class Later(Clock):
    """A clock that can be put forward."""

    def __init__(self) -> None:
        self.ahead_seconds = 0.0

    def monotonic(self) -> float:
        return CLOCK.monotonic() + self.ahead_seconds


@pytest.mark.spec("DISK-07")
@pytest.mark.parametrize("left", ["half of a text", "x"])
def test_what_a_killed_write_left_is_swept(root: Path, left: str) -> None:
    """After the two seconds that a displaced file waits for whoever may still write into it."""
    with Memory.open(str(root), user="acme") as memory:
        create(memory, "/memories/a", "x")
    incoming = root / "stores" / "acme" / "incoming"
    (incoming / "left").write_text(left)
    clock = Later()
    backend = FolderBackend(root, clock=clock)
    with Memory.of_store(run_now(backend.for_user("acme"))) as memory:
        create(memory, "/memories/b", "x")
        clock.ahead_seconds = 3
        create(memory, "/memories/c", "x")
        assert os.listdir(incoming) == []
        assert memory.execute({"command": "view", "path": "/memories"}) == listing_of(
            "/memories", "3B\t/memories", *(f"1B\t/memories/{name}" for name in "abc")
        )
    run_now(backend.close())


@pytest.mark.spec("DISK-08")
@pytest.mark.parametrize("umask", [0o000, 0o022, 0o077, 0o277])
def test_modes_do_not_depend_on_the_umask(root: Path, umask: int) -> None:
    before = os.umask(umask)
    try:
        with Memory.open(str(root), user="acme") as memory:
            create(memory, "/memories/d/a", "x")
            memory.execute(
                {"command": "insert", "path": "/memories/d/a", "insert_line": 0, "insert_text": ""}
            )
            modes = {path: stat.S_IMODE(path.lstat().st_mode) for path in (root, *root.rglob("*"))}
            assert {
                path: oct(mode)
                for path, mode in modes.items()
                if mode != (0o700 if path.is_dir() else 0o600)
            } == {}
    finally:
        os.umask(before)


@pytest.mark.spec("DISK-09", "INPUT-20")
def test_a_broken_disk_tells_nothing_of_the_host(
    memory: Memory, root: Path, tree: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tree / "ok.txt").unlink()
    (tree / "ok.txt").mkdir()
    (tree / "ok.txt" / "inside").symlink_to("/etc/passwd")
    caplog.set_level(logging.INFO)
    for command, _ in MISSING:
        for path in ("/memories/ok.txt", "/memories/ok.txt/inside", "/memories"):
            content = str(memory.execute({"path": path, "old_path": path, **command}).content)
            for told in (str(root), "acme", "Traceback", "OSError", "errno", "sqlite", "passwd"):
                assert told not in content
    assert str(root) not in caplog.text
