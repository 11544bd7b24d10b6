"""What a view of a directory shows."""

from __future__ import annotations

import pytest

from tests.spec.handler import Handler, Settings, done, listing_of


@pytest.mark.spec("LIST-01", "LIST-02", "LIST-03", "LIST-06", "LIST-10")
def test_a_listing_shows_two_levels_with_sizes(ask: Handler) -> None:
    ask.make("/memories/a.txt", "12345")
    ask.make("/memories/d/b.txt", "123")
    ask.make("/memories/d/e/c.txt", "12")
    ask.make("/memories/d/e/f/g.txt", "1")
    assert ask("view", path="/memories") == listing_of(
        "/memories",
        "11B\t/memories",
        "5B\t/memories/a.txt",
        "6B\t/memories/d/",
        "3B\t/memories/d/b.txt",
        "3B\t/memories/d/e/",
    )
    assert ask("view", path="/memories/d") == listing_of(
        "/memories/d",
        "6B\t/memories/d",
        "3B\t/memories/d/b.txt",
        "3B\t/memories/d/e/",
        "2B\t/memories/d/e/c.txt",
        "1B\t/memories/d/e/f/",
    )


@pytest.mark.spec("LIST-04", "LIST-05", "LIST-11")
def test_hidden_items_and_node_modules_count_nowhere(ask: Handler) -> None:
    ask.make("/memories/ok.txt", "1")
    ask.make("/memories/.h/x.txt", "12")
    ask.make("/memories/.hidden", "12")
    ask.make("/memories/d/.env", "123")
    ask.make("/memories/d/e/.deep/y.txt", "123")
    ask.make("/memories/d/e/z.txt", "1")
    ask.make("/memories/node_modules/p.txt", "1234")
    ask.make("/memories/d/node_modules/q.txt", "1234")
    ask.make("/memories/d/e/f/node_modules/q.txt", "1234")
    ask.make("/memories/my_node_modules.md", "1")
    ask.make("/memories/Node_modules", "1")
    assert ask("view", path="/memories") == listing_of(
        "/memories",
        "4B\t/memories",
        "1B\t/memories/Node_modules",
        "1B\t/memories/d/",
        "1B\t/memories/d/e/",
        "1B\t/memories/my_node_modules.md",
        "1B\t/memories/ok.txt",
    )


@pytest.mark.spec("LIST-07")
def test_lines_are_ordered_by_code_point_with_the_slash(ask: Handler) -> None:
    for name in ("b", "B", "\u00e9", "z", "\U0001f600", "\ufe31", "a!", "a-", "a0", "10", "9"):
        ask.make(f"/memories/{name}", "")
    ask.make("/memories/a/x", "")
    assert ask.listed() == [
        "/memories/10",
        "/memories/9",
        "/memories/B",
        "/memories/a!",
        "/memories/a-",
        "/memories/a/",
        "/memories/a/x",
        "/memories/a0",
        "/memories/b",
        "/memories/z",
        "/memories/\u00e9",
        "/memories/\ufe31",
        "/memories/\U0001f600",
    ]


SIZES = [
    (0, "0B"),
    (1, "1B"),
    (512, "512B"),
    (1023, "1023B"),
    (1024, "1.0K"),
    (1536, "1.5K"),
    (2048, "2.0K"),
    (10 * 1024, "10.0K"),
    (1_048_524, "1023.9K"),
    (1_048_525, "1.0M"),
    (1_048_576, "1.0M"),
    (1_258_292, "1.2M"),
]


@pytest.mark.spec("LIST-08", "LIST-09")
@pytest.mark.parametrize(("size_bytes", "shown"), SIZES)
def test_sizes_are_written_short(ask: Handler, size_bytes: int, shown: str) -> None:
    ask.put("/memories/f", b"x" * size_bytes)
    assert ask("view", path="/memories") == listing_of(
        "/memories", f"{shown}\t/memories", f"{shown}\t/memories/f"
    )


@pytest.mark.spec("LIST-12", "PATH-21", "DIR-02")
@pytest.mark.parametrize("path", ["/memories", "/memories/"])
def test_the_empty_root_is_no_error(ask: Handler, path: str) -> None:
    assert ask("view", path=path) == listing_of("/memories", "0B\t/memories")


@pytest.mark.spec("LIST-13", "LIST-14")
def test_a_listing_is_cut_after_whole_lines(ask_with: Settings) -> None:
    first = "9B\t/memories\n"
    line = "1B\t/memories/f0\n"
    ask = ask_with(view_chars=len(first) + 3 * len(line))
    for number in range(9):
        ask.make(f"/memories/f{number}", "x")
    shown = [f"1B\t/memories/f{number}" for number in range(3)]
    note = "[Listing truncated: 3 of 9 items shown. View a subdirectory to see more.]"
    assert ask("view", path="/memories") == listing_of(
        "/memories", first.rstrip(), *shown, "", note
    )
    smaller = ask_with(view_chars=len(first) + 3 * len(line) - 1)
    note = "[Listing truncated: 2 of 9 items shown. View a subdirectory to see more.]"
    assert smaller("view", path="/memories") == listing_of(
        "/memories", first.rstrip(), *shown[:2], "", note
    )


@pytest.mark.spec("LIST-13")
def test_a_listing_that_just_fits_has_no_note(ask_with: Settings) -> None:
    lines = ["2B\t/memories", "2B\t/memories/d/", "1B\t/memories/d/a", "1B\t/memories/d/b"]
    ask = ask_with(view_chars=len("\n".join(lines)) + 1)
    ask.make("/memories/d/a", "x")
    ask.make("/memories/d/b", "x")
    assert ask("view", path="/memories") == listing_of("/memories", *lines)


@pytest.mark.spec("LIST-13", "LIST-14")
def test_the_directory_itself_is_shown_under_any_cap(ask_with: Settings) -> None:
    ask = ask_with(view_chars=1)
    ask.make("/memories/d/a", "x")
    note = "[Listing truncated: 0 of 2 items shown. View a subdirectory to see more.]"
    assert ask("view", path="/memories") == listing_of("/memories", "1B\t/memories", "", note)


@pytest.mark.spec("LIST-13", "LIST-14")
def test_the_default_cap_is_16_000_characters_of_lines(ask: Handler) -> None:
    names = [f"{number:03}-{'x' * 200}" for number in range(100)]
    for name in names:
        ask.make(f"/memories/{name}", "")
    lines = ["0B\t/memories", *(f"0B\t/memories/{name}" for name in names)]
    # 13 characters for the directory itself, 218 for each item, LFs included.
    assert [len(line) + 1 for line in lines[:2]] == [13, 218]
    shown = (16_000 - 13) // 218
    note = f"[Listing truncated: {shown} of 100 items shown. View a subdirectory to see more.]"
    assert ask("view", path="/memories") == listing_of("/memories", *lines[: 1 + shown], "", note)


@pytest.mark.spec("LIST-15")
@pytest.mark.parametrize("view_range", [[1, 2], [5, 3], [-9, -9]])
def test_a_range_on_a_directory_is_ignored(ask: Handler, view_range: list[int]) -> None:
    ask.make("/memories/d/a", "x")
    for path in ("/memories", "/memories/d", "/memories/d/"):
        assert ask("view", path=path, view_range=view_range) == ask("view", path=path)
    assert ask("view", path="/memories/d", view_range=view_range) == listing_of(
        "/memories/d", "1B\t/memories/d", "1B\t/memories/d/a"
    )


@pytest.mark.spec("LIST-16")
@pytest.mark.parametrize("name", [".h", "node_modules"])
def test_a_hidden_directory_can_be_listed_by_its_path(ask: Handler, name: str) -> None:
    ask.make(f"/memories/{name}/x.txt", "12")
    ask.make(f"/memories/{name}/.y.txt", "12")
    assert ask("view", path=f"/memories/{name}") == listing_of(
        f"/memories/{name}", f"2B\t/memories/{name}", f"2B\t/memories/{name}/x.txt"
    )


@pytest.mark.spec("DIR-01", "DIR-03")
def test_a_directory_lives_as_long_as_a_file_beneath_it(ask: Handler) -> None:
    ask.make("/memories/d/e/a", "x")
    assert ask.listed() == ["/memories/d/", "/memories/d/e/"]
    assert not ask("delete", path="/memories/d/e/a").is_error
    assert ask.listed() == []
    ask.make("/memories/d/e/a", "x")
    assert not ask("rename", old_path="/memories/d/e/a", new_path="/memories/b").is_error
    assert ask.listed() == ["/memories/b"]
    for gone in ("/memories/d", "/memories/d/e"):
        text = f"The path {gone} does not exist. Please provide a valid path."
        assert ask("view", path=gone) == done(text)._replace(is_error=True)


@pytest.mark.spec("DIR-02")
def test_the_root_stays_when_its_last_file_goes(ask: Handler) -> None:
    ask.make("/memories/a", "x")
    assert not ask("delete", path="/memories/a").is_error
    assert ask("view", path="/memories") == listing_of("/memories", "0B\t/memories")
