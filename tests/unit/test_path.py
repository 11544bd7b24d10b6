"""What the path policy accepts and refuses, rule by rule, at the edges of every rule."""

from __future__ import annotations

import gc
import unicodedata

import pytest

from memoranda.errors import BadPath, Misuse, PathFault
from memoranda.path import MemoryPath, parse_path

TOO_LONG = PathFault.PATH_TOO_LONG
TOO_DEEP = PathFault.PATH_TOO_DEEP
NAME_TOO_LONG = PathFault.NAME_TOO_LONG
HIDDEN = PathFault.HIDDEN_CHARACTER
BACKSLASH = PathFault.BACKSLASH
SPACE_FIRST = PathFault.SPACE_FIRST
SPACE_LAST = PathFault.SPACE_LAST
DRIVE = PathFault.DRIVE_LETTER
GIT = PathFault.GIT_DIRECTORY


def refusal(given: str) -> BadPath:
    with pytest.raises(BadPath) as caught:
        parse_path(given)
    return caught.value


def reason(given: str) -> PathFault | None:
    error = refusal(given)
    assert error.given is given
    return error.reason


# ---------------------------------------------------------------- what a path is


def test_a_path_is_the_names_below_the_root() -> None:
    path = parse_path("/memories/projects/week 1.md")
    assert path.segments == ("projects", "week 1.md")
    assert str(path) == path.text == "/memories/projects/week 1.md"
    assert path.slash is False


@pytest.mark.parametrize("given", ["/memories", "/memories/"])
def test_the_root_has_no_names(given: str) -> None:
    path = parse_path(given)
    assert path.segments == ()
    assert str(path) == "/memories"
    assert path.slash is given.endswith("/")


def test_a_trailing_slash_is_dropped_and_remembered() -> None:
    path = parse_path("/memories/notes/")
    assert path.segments == ("notes",)
    assert str(path) == "/memories/notes"
    assert path.slash is True
    assert path == parse_path("/memories/notes")


def test_a_decomposed_spelling_is_the_composed_path() -> None:
    decomposed = parse_path("/memories/re\u0301sume\u0301.md")
    assert decomposed == parse_path("/memories/r\u00e9sum\u00e9.md")
    assert str(decomposed) == "/memories/r\u00e9sum\u00e9.md"
    assert decomposed.segments == ("r\u00e9sum\u00e9.md",)


def test_compatible_and_case_different_spellings_are_other_paths() -> None:
    names = ["x2", "x\u00b2", "X2", "x\uff12", "x%32", "~x2", "$x2"]
    assert len({parse_path(f"/memories/{name}") for name in names}) == len(names)


def test_what_was_accepted_is_remembered() -> None:
    first = parse_path("/memories/again/twice.md")
    assert parse_path("/memories/again/twice.md") is first


# ---------------------------------------------------------------- outside the root


@pytest.mark.parametrize(
    "given",
    [
        "",
        "/",
        "memories",
        "memories/a",
        "/memorie",
        "/memoriesX",
        "/memories.md",
        "/memories\u0301",
        "/memories\u0301/a",
        "/Memories/a",
        "//memories/a",
        "/./memories/a",
        " /memories/a",
        "\ud800/memories/a",
        "/etc/passwd",
        "/memories\\a",
        "\\memories\\a",
        "/memories%2fa",
        "%2fmemories/a",
        "/\uff4demories/a",
        "/memories\uff0fa",
        "C:/memories/a",
        "file:///memories/a",
    ],
)
def test_a_path_outside_the_root_gets_the_fixed_answer(given: str) -> None:
    assert reason(given) is None


def test_a_path_outside_the_root_is_outside_however_long_it_is() -> None:
    assert reason("/elsewhere/" + "a" * 5000) is None


# ---------------------------------------------------------------- empty and dot segments


@pytest.mark.parametrize(
    "rest",
    [
        "//",
        "/a//b",
        "/a//",
        "//a",
        "/.",
        "/./",
        "/./a",
        "/a/.",
        "/..",
        "/../",
        "/../a",
        "/a/..",
        "/a/../b",
        "/...",
        "/....",
        "/..a",
        "/..;/a",
        "/.. /a",
        "/..\\a",
        "/..\x00",
    ],
)
def test_an_empty_or_dot_segment_gets_the_fixed_answer(rest: str) -> None:
    assert reason("/memories" + rest) is None


@pytest.mark.parametrize(
    "name", [".a", ".a.", "a.", "a..", "a...b", "a..b", ".a..b", "-", "_", "~"]
)
def test_other_dots_are_part_of_the_name(name: str) -> None:
    assert parse_path(f"/memories/{name}/{name}").segments == (name, name)


# ---------------------------------------------------------------- lengths


def test_a_path_of_1024_bytes_is_accepted_and_one_of_1025_is_not() -> None:
    quarter = "/" + "a" * 255
    longest = "/memories" + quarter * 4
    assert len(longest) - len("/memories") == 1024
    assert str(parse_path(longest)) == longest
    assert reason("/memories" + quarter * 3 + "/" + "a" * 254 + "/b") == TOO_LONG


def test_a_trailing_slash_counts_as_a_byte() -> None:
    quarter = "/" + "a" * 255
    assert reason("/memories" + quarter * 4 + "/") == TOO_LONG
    assert parse_path("/memories" + quarter * 3 + "/" + "a" * 254 + "/").slash


def test_a_path_is_measured_in_bytes_not_in_characters() -> None:
    names = "/".join(["\u6f22" * 85] * 4)
    assert len(names.encode()) == 1023
    assert len(parse_path(f"/memories/{names}").segments) == 4
    assert reason(f"/memories/{names}/b") == TOO_LONG


def test_a_path_is_measured_after_it_was_composed() -> None:
    # One character of 2 bytes, written as a letter and two marks.
    spelled = unicodedata.normalize("NFD", "\u01d6")
    assert len(spelled) == 3
    name = "\u01d6" * 127
    path = parse_path("/memories" + f"/{spelled * 127}" * 4)
    assert path.segments == (name,) * 4
    assert reason("/memories" + f"/{spelled * 127}" * 4 + "/aaaa") == TOO_LONG


def test_a_path_that_can_never_fit_is_refused_before_it_is_composed() -> None:
    # 3,072 characters could still be 1,024 bytes; one more could not.
    assert reason("/memories/" + "e\u0301" * 1535 + "e") == TOO_LONG
    assert reason("/memories/" + "e\u0301" * 1536) == TOO_LONG


def test_a_name_of_255_bytes_is_accepted_and_one_of_256_is_not() -> None:
    assert parse_path("/memories/" + "a" * 255).name == "a" * 255
    assert reason("/memories/" + "a" * 256) == NAME_TOO_LONG
    assert parse_path("/memories/" + "\u6f22" * 85).name == "\u6f22" * 85
    assert reason("/memories/" + "\u6f22" * 85 + "a") == NAME_TOO_LONG


def test_20_names_are_accepted_and_21_are_not() -> None:
    assert len(parse_path("/memories" + "/d" * 20).segments) == 20
    assert len(parse_path("/memories" + "/d" * 20 + "/").segments) == 20
    assert reason("/memories" + "/d" * 21) == TOO_DEEP


# ---------------------------------------------------------------- characters


@pytest.mark.parametrize(
    "hidden",
    [
        "\x00",
        "\t",
        "\n",
        "\x1f",
        "\x7f",
        "\x80",
        "\x9f",
        "\xad",
        "\u034f",
        "\u061c",
        "\u115f",
        "\u17b4",
        "\u180b",
        "\u180e",
        "\u200b",
        "\u200d",
        "\u2028",
        "\u2029",
        "\u202e",
        "\u2065",
        "\u3164",
        "\ud800",
        "\udfff",  # noqa: PT014  (the rule takes all surrogates for one)
        "\ufdd0",
        "\ufe00",
        "\ufe0d",
        "\ufeff",
        "\uffa0",
        "\ufff0",
        "\ufffe",
        "\uffff",
        "\U0001fffe",
        "\U000e0041",
        "\U000e0100",
        "\U0010ffff",
    ],
)
@pytest.mark.parametrize("name", ["{}", "a{}", "{}a", "a{}b"])
def test_a_character_that_nobody_sees_is_refused_wherever_it_stands(hidden: str, name: str) -> None:
    assert reason("/memories/" + name.format(hidden)) == HIDDEN


@pytest.mark.parametrize("style", ["\ufe0e", "\ufe0f"])
def test_the_style_of_an_emoji_is_allowed(style: str) -> None:
    assert parse_path(f"/memories/\u2764{style}.md").name == f"\u2764{style}.md"


@pytest.mark.parametrize("name", ["a\\b", "\\", "\\\\server", "a\\"])
def test_a_backslash_is_refused(name: str) -> None:
    assert reason("/memories/" + name) == BACKSLASH


@pytest.mark.parametrize("space", [" ", "\xa0", "\u1680", "\u2003", "\u202f", "\u205f", "\u3000"])
def test_white_space_is_refused_at_the_ends_of_a_name_only(space: str) -> None:
    assert reason(f"/memories/{space}a") == SPACE_FIRST
    assert reason(f"/memories/a{space}") == SPACE_LAST
    assert reason(f"/memories/{space}/a") == SPACE_FIRST
    assert parse_path(f"/memories/a{space}b").segments


@pytest.mark.parametrize("name", ["C:", "c:x", "z:/x", "A:x.md"])
def test_a_drive_is_refused(name: str) -> None:
    assert reason("/memories/" + name) == DRIVE


@pytest.mark.parametrize("name", ["ab:c", "1:2", ":a", "\u00e9:x", "10:00", "-c:x"])
def test_a_colon_elsewhere_is_part_of_the_name(name: str) -> None:
    assert parse_path("/memories/" + name).name == name


@pytest.mark.parametrize(
    "name",
    [
        ".git",
        ".GIT",
        ".Git",
        ".git.",
        ".git...",
        ".git .",
        ".git:x",
        ".git::$INDEX_ALLOCATION",
        ".git. :x",
        "git~1",
        "GIT~1",
        "gIt~23",
        "git~0",
        "git~1.",
        "git~1:x",
    ],
)
def test_the_spellings_of_a_git_directory_are_refused(name: str) -> None:
    assert reason("/memories/" + name) == GIT
    assert reason(f"/memories/a/{name}/config") == GIT


@pytest.mark.parametrize(
    "name",
    [
        "git",
        ".gitignore",
        ".git-x",
        ".git2",
        "a.git",
        "x.git.",
        "git~",
        "git~x",
        "git~1x",
        "git~\u0661",
        "agit~1",
        ".g\u0131t",
    ],
)
def test_other_names_with_git_in_them_are_allowed(name: str) -> None:
    assert parse_path("/memories/" + name).name == name


# ---------------------------------------------------------------- encodings


@pytest.mark.parametrize("name", ["%2e", "a%2fb", "a%5cb", "%00", "%c0%ae", "%u002e", "\uff0e"])
def test_a_name_that_hides_structure_gets_the_fixed_answer(name: str) -> None:
    assert reason(f"/memories/{name}") is None
    assert reason(f"/memories/a/{name}/b") is None


@pytest.mark.parametrize("name", ["100%.md", "a%20b.md", "50%25off.md", "%41.md", "%"])
def test_a_percent_sign_that_hides_nothing_is_literal(name: str) -> None:
    assert parse_path(f"/memories/{name}").name == name


# ---------------------------------------------------------------- order, hostile values


def test_the_shape_of_a_name_is_told_before_what_its_encoding_hides() -> None:
    assert reason("/memories/%2e ") == SPACE_LAST


def test_the_first_bad_name_is_the_one_that_is_told() -> None:
    assert reason("/memories/a /../b") == SPACE_LAST
    assert reason("/memories/../a ") is None


class Liar(str):
    """A string that pretends to be another one."""

    __slots__ = ()

    def startswith(self, *args: object) -> bool:
        return True

    def __eq__(self, other: object) -> bool:
        return True

    def __hash__(self) -> int:
        return hash("/memories")

    def __str__(self) -> str:
        return "/memories"

    def __len__(self) -> int:
        return 9


def test_a_subclass_of_str_counts_for_what_it_holds() -> None:
    parse_path("/memories")
    with pytest.raises(BadPath) as caught:
        parse_path(Liar("/etc/passwd"))
    assert type(caught.value.given) is str
    assert caught.value.given == "/etc/passwd"
    assert parse_path(Liar("/memories/a.md")).segments == ("a.md",)


@pytest.mark.parametrize("given", [None, 5, b"/memories", ["/memories"], {"path": "/memories"}])
def test_what_is_no_string_is_the_mistake_of_a_program(given: object) -> None:
    with pytest.raises(Misuse, match=r"^A path has to be a str\.$"):
        parse_path(given)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]


def test_a_huge_path_costs_nothing() -> None:
    # Normalising or encoding it would take about a second and 100 MB.
    huge = "/memories/" + "e\u0301" * 20_000_000
    for _ in range(1000):
        assert reason(huge) == TOO_LONG


def kept_paths() -> int:
    return sum(type(thing) is MemoryPath for thing in gc.get_objects())


def test_only_so_many_paths_are_remembered_and_no_long_spellings() -> None:
    before = kept_paths()
    for number in range(3000):
        assert parse_path(f"/memories/{number}.md") == MemoryPath.of((f"{number}.md",))
    assert kept_paths() <= before + 1024
    before = kept_paths()
    spelled = unicodedata.normalize("NFD", "\u01d6" * 120)
    for number in range(100):
        assert parse_path(f"/memories/{number}" + f"/{spelled}" * 4).segments[1] == "\u01d6" * 120
    assert kept_paths() == before
    # Still in use, and still right.
    assert parse_path("/memories/0.md").segments == ("0.md",)
