"""The command delete."""

from __future__ import annotations

import pytest

from tests.spec.handler import Handler, done, failed


@pytest.mark.spec("DELETE-01")
def test_a_file_is_deleted_and_may_be_made_again(ask: Handler) -> None:
    ask.make("/memories/a", "old")
    assert ask("delete", path="/memories/a") == done("Successfully deleted /memories/a")
    assert ask.listed() == []
    ask.make("/memories/a", "new")
    assert ask.kept("/memories/a") == b"new"


@pytest.mark.spec("DELETE-01", "DELETE-02")
@pytest.mark.parametrize("path", ["/memories/a_b", "/memories/a_b/"])
def test_a_directory_goes_with_all_below_it_and_nothing_beside(ask: Handler, path: str) -> None:
    for name in ("a_b/x", "a_b/e/y", "a_b/.hidden", "a_b/e/f/node_modules/z"):
        ask.make(f"/memories/{name}", "1")
    kept = ["/memories/a_b.txt", "/memories/a_b2", "/memories/axb/", "/memories/axb/x"]
    for name in ("a_b.txt", "a_b2", "axb/x"):
        ask.make(f"/memories/{name}", "keep")
    assert ask("delete", path=path) == done("Successfully deleted /memories/a_b")
    assert ask.listed() == kept
    assert ask("view", path="/memories/a_b/.hidden").is_error


@pytest.mark.spec("DELETE-03")
@pytest.mark.parametrize("path", ["/memories/none", "/memories/a/below", "/memories/x/y"])
def test_a_missing_path_is_said_to_be_missing(ask: Handler, path: str) -> None:
    ask.make("/memories/a", "1")
    assert ask("delete", path=path) == failed(f"Error: The path {path} does not exist")
    assert ask.listed() == ["/memories/a"]


@pytest.mark.spec("DELETE-04")
@pytest.mark.parametrize("path", ["/memories", "/memories/"])
@pytest.mark.parametrize("files", [0, 1])
def test_the_root_is_not_deleted(ask: Handler, path: str, files: int) -> None:
    for _ in range(files):
        ask.make("/memories/a", "keep")
    assert ask("delete", path=path) == failed("Error: Cannot delete the /memories directory itself")
    assert len(ask.listed()) == files


@pytest.mark.spec("DELETE-05")
@pytest.mark.parametrize(
    "path", ["/memories//", "/memories/.", "/memories/./", "/memories/d/..", "/", "//memories"]
)
def test_other_spellings_of_the_root_are_refused_paths(ask: Handler, path: str) -> None:
    ask.make("/memories/d/a", "keep")
    assert ask("delete", path=path) == failed(
        f"Error: The path {path} does not exist. "
        "Memory paths start with /memories and stay inside it."
    )
    assert ask.kept("/memories/d/a") == b"keep"
