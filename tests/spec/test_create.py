"""The command create."""

from __future__ import annotations

import pytest

from tests.spec.handler import Handler, Settings, done, failed


@pytest.mark.spec("CREATE-01", "CREATE-02")
@pytest.mark.parametrize("path", ["/memories/a.txt", "/memories/a/b/c.txt"])
@pytest.mark.parametrize("text", ["", "x", "one\ntwo\n"])
def test_a_file_is_made_with_its_parents(ask: Handler, path: str, text: str) -> None:
    assert ask("create", path=path, file_text=text) == done(f"File created successfully at: {path}")
    assert ask.kept(path) == text.encode()


@pytest.mark.spec("CREATE-03", "CREATE-05")
@pytest.mark.parametrize("text", ["new", "old"])
def test_an_existing_file_is_refused_and_stays(ask: Handler, text: str) -> None:
    ask.make("/memories/a.txt", "old")
    assert ask("create", path="/memories/a.txt", file_text=text) == failed(
        "Error: File /memories/a.txt already exists"
    )
    assert ask.kept("/memories/a.txt") == b"old"


@pytest.mark.spec("CREATE-04")
def test_an_existing_file_is_replaced_where_that_is_set(ask_with: Settings) -> None:
    ask = ask_with(on_exists="overwrite")
    ask.make("/memories/a.txt", "old")
    assert ask("create", path="/memories/a.txt", file_text="new") == done(
        "File created successfully at: /memories/a.txt"
    )
    assert ask.kept("/memories/a.txt") == b"new"


@pytest.mark.spec("CREATE-06")
def test_a_directory_is_refused_under_either_setting(ask_with: Settings) -> None:
    for ask in (ask_with(), ask_with(on_exists="overwrite")):
        ask.put("/memories/d/e/x", b"keep")
        for path in ("/memories/d", "/memories/d/e"):
            assert ask("create", path=path, file_text="boom") == failed(
                f"Error: The path {path} is a directory"
            )
        assert ask.kept("/memories/d/e/x") == b"keep"


@pytest.mark.spec("CREATE-07")
@pytest.mark.parametrize("path", ["/memories", "/memories/"])
def test_the_root_is_refused(ask: Handler, path: str) -> None:
    assert ask("create", path=path, file_text="boom") == failed(
        "Error: The path /memories is a directory"
    )
    assert ask.listed() == []


@pytest.mark.spec("CREATE-08")
@pytest.mark.parametrize("below", ["b.txt", "b/c.txt", "b/c/d/e"])
def test_a_parent_that_is_a_file_is_named_and_stays(ask: Handler, below: str) -> None:
    ask.make("/memories/d/a.txt", "keep")
    assert ask("create", path=f"/memories/d/a.txt/{below}", file_text="boom") == failed(
        "Error: The path /memories/d/a.txt is a file, not a directory"
    )
    assert ask.kept("/memories/d/a.txt") == b"keep"
    assert ask.listed() == ["/memories/d/", "/memories/d/a.txt"]
