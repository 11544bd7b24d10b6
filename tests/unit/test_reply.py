"""Texts that no store brings about, since each refuses in its own way."""

from __future__ import annotations

import pytest

from memoranda import errors, reply
from memoranda.command import Delete, Insert, RefusedInput, Rename, StrReplace, View
from memoranda.path import ROOT, parse_path

FILE = parse_path("/memories/a")


@pytest.mark.parametrize("error", [errors.RootRefused(), errors.IsADirectory(ROOT)])
def test_an_edit_of_the_root_is_one_of_a_missing_file(error: errors.Refused) -> None:
    assert reply.refused(error, StrReplace(ROOT, "a", "b")) == reply.ToolResult(
        "Error: The path /memories does not exist. Please provide a valid path.", True
    )
    assert reply.refused(error, Insert(ROOT, 0, "a")) == reply.ToolResult(
        "Error: The path /memories does not exist", True
    )


def test_a_directory_where_a_file_is_wanted_says_so() -> None:
    assert reply.refusal(errors.IsADirectory(FILE), Delete(FILE)) == (
        "Error: The path /memories/a is a directory"
    )


def test_what_is_refused_before_it_is_a_command_names_the_errors_path() -> None:
    asked = RefusedInput("view", errors.NotFound(FILE))
    assert reply.refusal(asked.error, asked) == (
        "The path /memories/a does not exist. Please provide a valid path."
    )


def test_the_missing_path_of_a_rename_is_the_source() -> None:
    asked = Rename(FILE, parse_path("/memories/b"))
    assert reply.refusal(errors.NotFound(asked.new_path), asked) == (
        "Error: The path /memories/a does not exist"
    )


def test_a_store_may_know_a_path_without_its_slash() -> None:
    asked = View(parse_path("/memories/a/"))
    assert reply.refusal(errors.NotFound(FILE), asked) == (
        "The path /memories/a/ does not exist. Please provide a valid path."
    )


@pytest.mark.parametrize(
    "error",
    [
        errors.NoMatch(FILE),
        errors.ManyMatches(FILE, (1, 2)),
    ],
)
def test_a_refused_text_is_shown_as_it_was_sent(error: errors.Refused) -> None:
    old_str = "`a`\n\u202e{path}%s"
    assert f"old_str `{old_str}` " in reply.refusal(error, StrReplace(FILE, old_str, ""))


# ---------------------------------------------------------------- what is wrong with a path

FAULTS = {
    None: "Memory paths start with /memories and stay inside it.",
    errors.PathFault.HIDDEN_CHARACTER: "A name can't hold control characters or invisible ones.",
    errors.PathFault.BACKSLASH: "A name can't hold a backslash.",
    errors.PathFault.NAME_TOO_LONG: "A name can't be longer than 255 bytes.",
    errors.PathFault.SPACE_FIRST: "A name can't begin with a space.",
    errors.PathFault.SPACE_LAST: "A name can't end with a space.",
    errors.PathFault.DRIVE_LETTER: "A name can't begin with a drive letter and a colon.",
    errors.PathFault.GIT_DIRECTORY: "A name can't be .git or another spelling of it.",
    errors.PathFault.PATH_TOO_LONG: "A path can't be longer than 1,024 bytes.",
    errors.PathFault.PATH_TOO_DEEP: "A path can't be more than 20 names deep.",
    errors.PathFault.FILE_WITH_SLASH: "A file name can't end with a slash.",
    errors.PathFault.NO_FIRST_SLASH: "A path starts with a slash.",
    errors.PathFault.LAST_SLASH: "A path can't end with a slash.",
    errors.PathFault.NOT_NORMALIZED: "A path has to be in Unicode normalization form C (NFC).",
}


@pytest.mark.parametrize("fault", [None, *errors.PathFault])
def test_every_fault_of_a_path_has_its_sentence(fault: errors.PathFault | None) -> None:
    assert reply.path_fault(fault) == FAULTS[fault]


def test_programs_read_the_fault_by_its_code() -> None:
    assert (
        str(errors.BadPath("x", errors.PathFault.NAME_TOO_LONG))
        == "The path can't be used: name too long."
    )
    assert str(errors.BadPath("x")) == "The path can't be used: outside of the memory."
