"""The command rename."""

from __future__ import annotations

import threading

import pytest

from memoranda.reply import ToolResult
from tests.spec.handler import Handler, done, failed


def rename(ask: Handler, old_path: str, new_path: str) -> ToolResult:
    return ask("rename", old_path=old_path, new_path=new_path)


@pytest.mark.spec("RENAME-01", "RENAME-03")
@pytest.mark.parametrize("new_path", ["/memories/b", "/memories/new/deep/b", "/memories/A"])
def test_a_file_moves_and_parents_are_made(ask: Handler, new_path: str) -> None:
    ask.make("/memories/a", "x")
    assert rename(ask, "/memories/a", new_path) == done(
        f"Successfully renamed /memories/a to {new_path}"
    )
    assert ask.kept(new_path) == b"x"
    assert ask("view", path="/memories/a").is_error


@pytest.mark.spec("RENAME-01", "RENAME-03")
def test_a_file_may_become_a_directory_of_its_own_name(ask: Handler) -> None:
    ask.make("/memories/a", "x")
    assert rename(ask, "/memories/a", "/memories/a/b") == done(
        "Successfully renamed /memories/a to /memories/a/b"
    )
    assert ask.listed() == ["/memories/a/", "/memories/a/b"]


@pytest.mark.spec("RENAME-02")
def test_a_directory_takes_all_below_it_along(ask: Handler) -> None:
    for name in ("x", "e/y", "e/f/z", ".h"):
        ask.make(f"/memories/proj/{name}", name)
    for name in ("project2/x", "proj.txt"):
        ask.make(f"/memories/{name}", "keep")
    assert rename(ask, "/memories/proj", "/memories/new/old") == done(
        "Successfully renamed /memories/proj to /memories/new/old"
    )
    for name in ("x", "e/y", "e/f/z", ".h"):
        assert ask.kept(f"/memories/new/old/{name}") == name.encode()
    assert ask.listed() == [
        "/memories/new/",
        "/memories/new/old/",
        "/memories/proj.txt",
        "/memories/project2/",
        "/memories/project2/x",
    ]


@pytest.mark.spec("RENAME-04", "RENAME-14")
@pytest.mark.parametrize("old_path", ["/memories/none", "/memories/a/below", "/memories/x/y"])
@pytest.mark.parametrize("new_path", ["/memories/new/b", "/memories/c"])
def test_a_missing_source_is_said_to_be_missing(ask: Handler, old_path: str, new_path: str) -> None:
    ask.make("/memories/a", "keep")
    assert rename(ask, old_path, new_path) == failed(f"Error: The path {old_path} does not exist")
    assert ask.listed() == ["/memories/a"]


@pytest.mark.spec("RENAME-05", "RENAME-06", "RENAME-07", "RENAME-08")
@pytest.mark.parametrize("source", ["/memories/a", "/memories/e"])
@pytest.mark.parametrize(
    ("target", "said"),
    [
        ("/memories/b", "/memories/b"),
        ("/memories/d", "/memories/d"),
        ("/memories", "/memories"),
        ("/memories/", "/memories"),
        ("source", "source"),
    ],
)
def test_an_existing_destination_is_refused(
    ask: Handler, source: str, target: str, said: str
) -> None:
    ask.make("/memories/a", "A")
    ask.make("/memories/b", "B")
    ask.make("/memories/d/x", "X")
    ask.make("/memories/e/y", "Y")
    target, said = (source, source) if target == "source" else (target, said)
    before = ask("view", path="/memories")
    assert rename(ask, source, target) == failed(f"Error: The destination {said} already exists")
    assert ask("view", path="/memories") == before
    assert ask.kept("/memories/a") == b"A"
    assert ask.kept("/memories/b") == b"B"


@pytest.mark.spec("RENAME-09")
def test_of_many_renames_to_one_name_one_wins(ask: Handler) -> None:
    count = 8
    for number in range(count):
        ask.make(f"/memories/a{number}", str(number))
    gate = threading.Barrier(count)
    answers: dict[int, ToolResult] = {}

    def run(number: int) -> None:
        gate.wait(30)
        answers[number] = rename(ask, f"/memories/a{number}", "/memories/b")

    threads = [threading.Thread(target=run, args=(number,)) for number in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    winners = [number for number, answer in answers.items() if not answer.is_error]
    assert len(winners) == 1
    assert ask.kept("/memories/b") == str(winners[0]).encode()
    for number in set(range(count)) - set(winners):
        assert answers[number] == failed("Error: The destination /memories/b already exists")
        assert ask.kept(f"/memories/a{number}") == str(number).encode()


@pytest.mark.spec("RENAME-10")
@pytest.mark.parametrize("old_path", ["/memories", "/memories/"])
@pytest.mark.parametrize("new_path", ["/memories/x", "/memories/x/", "/memories"])
def test_the_root_is_not_renamed(ask: Handler, old_path: str, new_path: str) -> None:
    ask.make("/memories/a", "keep")
    assert rename(ask, old_path, new_path) == failed(
        "Error: Cannot rename the /memories directory itself"
    )
    assert ask.listed() == ["/memories/a"]


@pytest.mark.spec("RENAME-11", "RENAME-14")
@pytest.mark.parametrize("new_path", ["/memories/d/f", "/memories/d/f/g", "/memories/d/f/"])
def test_a_directory_is_not_moved_into_itself(ask: Handler, new_path: str) -> None:
    ask.make("/memories/d/x", "keep")
    assert rename(ask, "/memories/d", new_path) == failed(
        "Error: Cannot move /memories/d into itself"
    )
    assert ask.listed() == ["/memories/d/", "/memories/d/x"]


@pytest.mark.spec("RENAME-12", "RENAME-14")
@pytest.mark.parametrize("source", ["/memories/a", "/memories/e"])
@pytest.mark.parametrize("below", ["x", "x/y"])
def test_a_parent_that_is_a_file_is_named(ask: Handler, source: str, below: str) -> None:
    ask.make("/memories/a", "A")
    ask.make("/memories/e/y", "Y")
    ask.make("/memories/d/f", "F")
    before = ask("view", path="/memories")
    assert rename(ask, source, f"/memories/d/f/{below}") == failed(
        "Error: The path /memories/d/f is a file, not a directory"
    )
    assert ask("view", path="/memories") == before


@pytest.mark.spec("RENAME-13", "RENAME-14")
def test_a_moved_name_that_gets_too_long_is_named(ask: Handler) -> None:
    deep = "/".join(["n" * 200] * 4)
    ask.make(f"/memories/d/{deep}", "keep")
    target = "/memories/" + "m" * 225
    assert rename(ask, "/memories/d", target) == failed(
        f"Error: Cannot move /memories/d: {target}/{deep} would be too long."
    )
    assert ask.kept(f"/memories/d/{deep}") == b"keep"
    assert not rename(ask, "/memories/d", "/memories/" + "m" * 219).is_error


@pytest.mark.spec("RENAME-13", "RENAME-14")
def test_a_moved_name_that_gets_too_deep_is_named(ask: Handler) -> None:
    deep = "/".join("abcdefghij")
    ask.make(f"/memories/d/{deep}", "keep")
    target = "/memories/" + "/".join("klmnopqrstu")
    assert rename(ask, "/memories/d", target) == failed(
        f"Error: Cannot move /memories/d: {target}/{deep} would be too long."
    )
    assert ask.kept(f"/memories/d/{deep}") == b"keep"
    assert ask.listed() == ["/memories/d/", "/memories/d/a/"]
