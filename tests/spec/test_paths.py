"""The path policy as Claude meets it: what is taken, and how a refusal reads."""

from __future__ import annotations

import pytest

from memoranda.reply import ToolResult
from tests.spec.handler import Handler, content_of, done, failed, listing_of

FIXED = "Memory paths start with /memories and stay inside it."

OTHERS: dict[str, dict[str, object]] = {
    "view": {},
    "create": {"file_text": "x"},
    "str_replace": {"old_str": "x", "new_str": "y"},
    "insert": {"insert_line": 0, "insert_text": "x"},
    "delete": {},
}
MISSING = {
    "view": "The path {path} does not exist. Please provide a valid path.",
    "create": "Error: The path {path} does not exist. Please provide a valid path.",
    "str_replace": "Error: The path {path} does not exist. Please provide a valid path.",
    "insert": "Error: The path {path} does not exist",
    "delete": "Error: The path {path} does not exist",
    "rename": "Error: The path {path} does not exist",
}


def refused(command: str, path: str, sentence: str) -> ToolResult:
    text = MISSING[command].format(path=path)
    return failed(f"{text}{'' if text.endswith('.') else '.'} {sentence}")


def refusals(ask: Handler, path: str, shown: str, sentence: str) -> None:
    """Every command refuses ``path`` with ``sentence``, and nothing changes."""
    ask.put("/memories/keep", b"x")
    for command, others in OTHERS.items():
        assert ask(command, path=path, **others) == refused(command, shown, sentence)
    for old_path, new_path in ((path, "/memories/new"), ("/memories/keep", path)):
        answer = ask("rename", old_path=old_path, new_path=new_path)
        assert answer == refused("rename", shown, sentence)
    assert ask.kept("/memories/keep") == b"x"
    assert ask.listed() == ["/memories/keep"]


def accepted(ask: Handler, path: str) -> None:
    """``path`` can be made, viewed and listed, and is shown as it was written."""
    assert ask("create", path=path, file_text="x") == done(f"File created successfully at: {path}")
    assert ask("view", path=path) == content_of(path, "     1\tx")


OUTSIDE = [
    "",
    "/",
    "memories/a",
    "a.txt",
    "./memories/a",
    "/memory/a",
    "/memoriesX",
    "/memories.txt",
    "/memories_backup/x",
    "/Memories/a",
    "/MEMORIES",
    "~/memories/a",
    "$MEMORY_DIR/a",
    "file:///memories/a",
    "C:\\memories\\a",
    "/etc/passwd",
    " /memories/a",
]
DOTS = [
    "/memories/..",
    "/memories/../x",
    "/memories/a/../b",
    "/memories/./a",
    "/memories/a/.",
    "/memories//a",
    "/memories/a//",
    "/memories/..hidden",
    "/memories/...",
]
ENCODED = [
    "/memories/%2e%2e%2fx",
    "/memories/%252e%252e/x",
    "/memories/..%2fx",
    "/memories/a%2fb",
    "/memories/x%00.md",
    "/memories/%c0%ae%c0%ae/x",
    "/memories/%u002e%u002e/x",
    "/memories/\uff0e\uff0e/x",
]


@pytest.mark.spec("PATH-05", "PATH-08", "PATH-15", "PATH-22", "PATH-23", "PATH-24", "PATH-25")
@pytest.mark.parametrize("path", [*OUTSIDE, *DOTS, *ENCODED])
def test_structure_is_refused_with_the_fixed_sentence(ask: Handler, path: str) -> None:
    refusals(ask, path, path, FIXED)


SHAPES = [
    ("/memories/" + "a/" * 20 + "b", "A path can't be more than 20 names deep."),
    ("/memories/" + "n" * 256, "A name can't be longer than 255 bytes."),
    ("/memories/" + "\u65e5" * 86, "A name can't be longer than 255 bytes."),
    ("/memories/" + "/".join(["n" * 204] * 5), "A path can't be longer than 1,024 bytes."),
    ("/memories/a\\b", "A name can't hold a backslash."),
    ("/memories/ a", "A name can't begin with a space."),
    ("/memories/a ", "A name can't end with a space."),
    ("/memories/a\u3000/b", "A name can't end with a space."),
    ("/memories/C:x", "A name can't begin with a drive letter and a colon."),
    ("/memories/.git", "A name can't be .git or another spelling of it."),
    ("/memories/.GIT/config", "A name can't be .git or another spelling of it."),
    ("/memories/git~1", "A name can't be .git or another spelling of it."),
]


@pytest.mark.spec(
    "PATH-04",
    "PATH-07",
    "PATH-09",
    "PATH-10",
    "PATH-12",
    "PATH-13",
    "PATH-14",
    "PATH-22",
    "PATH-24",
    "PATH-26",
)
@pytest.mark.parametrize(("path", "reason"), SHAPES, ids=ascii)
def test_the_shape_of_a_name_is_refused_with_its_reason(
    ask: Handler, path: str, reason: str
) -> None:
    refusals(ask, path, path[:256], reason)


@pytest.mark.spec("PATH-01", "PATH-10", "PATH-28")
@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("a\0b", r"a\u0000b"),
        ("x\n0B\tfake", r"x\n0B\tfake"),
        ("a\x7f", r"a\u007f"),
        ("a\u202eb", r"a\u202eb"),
        ("a\u200db", r"a\u200db"),
        ("a\u2028b", r"a\u2028b"),
        ("a\U000e0041", r"a\U000e0041"),
        ("a\ud800", r"a\ud800"),
    ],
    ids=ascii,
)
def test_an_invisible_character_is_refused_and_shown_escaped(
    ask: Handler, name: str, shown: str
) -> None:
    answer = ask("view", path=f"/memories/{name}")
    assert isinstance(answer.content, str)
    start = MISSING["view"].format(path=f"/memories/{shown}")
    assert answer.is_error
    assert answer.content.startswith(f"{start} A ")
    assert answer.content.endswith(".")
    assert not any(ord(character) in range(0xD800, 0xE000) for character in answer.content)


@pytest.mark.spec("PATH-28")
def test_a_refused_path_is_cut_to_256_characters(ask: Handler) -> None:
    answer = ask("view", path="/elsewhere/" + "x" * 100_000)
    assert answer == refused("view", "/elsewhere/" + "x" * 245, FIXED)


@pytest.mark.spec("PATH-02", "PATH-27")
def test_both_unicode_forms_of_a_name_are_one_file(ask: Handler) -> None:
    composed, decomposed = "/memories/\u00e9.md", "/memories/e\u0301.md"
    assert ask("create", path=decomposed, file_text="x") == done(
        f"File created successfully at: {composed}"
    )
    assert ask("create", path=composed, file_text="y") == failed(
        f"Error: File {composed} already exists"
    )
    assert ask("view", path=decomposed) == content_of(composed, "     1\tx")
    assert ask("view", path="/memories/e\u0301.txt") == failed(
        MISSING["view"].format(path="/memories/\u00e9.txt")
    )
    assert ask.listed() == [composed]


LITERAL = [
    "100%.md",
    "a%20b.md",
    "a b.md",
    "%41.md",
    "~",
    "$HOME",
    "\ufb01.md",
    "fi.md",
    "Notes.md",
    "notes.md",
    ".notes",
    ".tmp-1",
    "x.lock",
    "memory.db",
    "HEAD",
    "con",
    "aux.md",
    "ab:c.md",
    "trailing.",
    "-rf",
    "it's; DROP TABLE x;--",
    "#?*\"'<>|`",
    "\u65e5\u8a18",
    "\u2764\ufe0f",
    "\u2764\ufe0e",
    "\U0001f600",
    "\u0430\u0440",
]


@pytest.mark.spec("PATH-03", "PATH-11", "PATH-16", "PATH-27")
def test_a_name_is_what_was_written(ask: Handler) -> None:
    for name in LITERAL:
        accepted(ask, f"/memories/{name}")
    visible = [name for name in LITERAL if not name.startswith(".")]
    assert ask.listed() == sorted(f"/memories/{name}" for name in visible)


@pytest.mark.spec("PATH-04", "PATH-07", "PATH-09")
@pytest.mark.parametrize(
    "path",
    [
        "/memories/" + "a/" * 19 + "b",
        "/memories/" + "n" * 255,
        "/memories/" + "\u65e5" * 85,
        "/memories/" + "/".join(["n" * 204] * 4 + ["n" * 203]),
    ],
    ids=len,
)
def test_the_longest_paths_can_be_used(ask: Handler, path: str) -> None:
    accepted(ask, path)


@pytest.mark.spec("PATH-06", "PATH-17")
def test_a_directory_may_be_named_with_a_slash(ask: Handler) -> None:
    ask.make("/memories/d/a", "x")
    assert ask("view", path="/memories/d/") == listing_of(
        "/memories/d", "1B\t/memories/d", "1B\t/memories/d/a"
    )
    assert ask("rename", old_path="/memories/d/", new_path="/memories/e") == done(
        "Successfully renamed /memories/d to /memories/e"
    )
    assert ask("delete", path="/memories/e/") == done("Successfully deleted /memories/e")
    assert ask.listed() == []


@pytest.mark.spec("PATH-17", "PATH-18")
@pytest.mark.parametrize("path", ["/memories/a.md/", "/memories/none/"])
def test_a_slash_on_anything_else_stays_in_the_text(ask: Handler, path: str) -> None:
    ask.make("/memories/a.md", "keep")
    assert ask("view", path=path) == failed(MISSING["view"].format(path=path))
    if path == "/memories/a.md/":
        assert ask("view", path=path, view_range=[1, 1]).is_error
    assert ask("delete", path=path) == failed(MISSING["delete"].format(path=path))
    for new_path in ("/memories/b", "/memories/b/"):
        answer = ask("rename", old_path=path, new_path=new_path)
        assert answer == failed(MISSING["rename"].format(path=path))
    assert ask.listed() == ["/memories/a.md"]


@pytest.mark.spec("PATH-19")
@pytest.mark.parametrize("command", ["create", "str_replace", "insert"])
@pytest.mark.parametrize("path", ["/memories/new/", "/memories/a.md/", "/memories/d/"])
def test_a_file_is_not_named_with_a_slash(ask: Handler, command: str, path: str) -> None:
    ask.make("/memories/a.md", "x")
    ask.make("/memories/d/a", "x")
    before = ask("view", path="/memories")
    assert ask(command, path=path, **OTHERS[command]) == refused(
        command, path, "A file name can't end with a slash."
    )
    assert ask("view", path="/memories") == before


@pytest.mark.spec("PATH-20")
def test_a_destination_with_a_slash_needs_a_directory(ask: Handler) -> None:
    ask.make("/memories/a.md", "x")
    ask.make("/memories/d/a", "x")
    sentence = "A file name can't end with a slash."
    for target in ("/memories/new/", "/memories/d/"):
        answer = ask("rename", old_path="/memories/a.md", new_path=target)
        assert answer == refused("rename", target, sentence)
    assert ask("rename", old_path="/memories/none", new_path="/memories/new/") == failed(
        MISSING["rename"].format(path="/memories/none")
    )
    for source, target in (("/memories/d", "/memories/e/"), ("/memories/e/", "/memories/f/")):
        assert not ask("rename", old_path=source, new_path=target).is_error
    assert ask.listed() == ["/memories/a.md", "/memories/f/", "/memories/f/a"]


@pytest.mark.spec("PATH-23")
def test_the_refused_path_of_a_rename_is_the_one_named(ask: Handler) -> None:
    ask.make("/memories/a", "keep")
    for path in ("/elsewhere/x", "/memories/../x"):
        assert ask("rename", old_path="/memories/a", new_path=path) == refused(
            "rename", path, FIXED
        )
        assert ask("rename", old_path=path, new_path="/memories/b") == refused(
            "rename", path, FIXED
        )
