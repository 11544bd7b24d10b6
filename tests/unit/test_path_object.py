"""What a checked path can tell, and the two other ways to make one."""

from __future__ import annotations

import copy
import dataclasses
import pickle

import pytest

from memoranda.errors import BadPath, Misuse, PathFault
from memoranda.path import ROOT, MemoryPath, is_allowed_name, parse_path


def test_paths_with_the_same_names_are_one_path() -> None:
    parsed = parse_path("/memories/a/b.md/")
    made = MemoryPath.of(("a", "b.md"))
    assert parsed == made
    assert parsed.text == made.text == "/memories/a/b.md"
    assert parse_path("/memories/a/b.md").text == "/memories/a/b.md"
    assert hash(parsed) == hash(made)
    assert parsed != MemoryPath.of(("a", "b.md", "c"))
    assert len({parsed, made, ROOT}) == 2
    assert len({hash(MemoryPath.of((name,))) for name in "abcdefgh"}) > 1  # or a dict were a list


def test_a_path_can_not_be_changed() -> None:
    path = parse_path("/memories/a")
    with pytest.raises(dataclasses.FrozenInstanceError):
        path.text = "/etc"  # type: ignore[misc]  # pyright: ignore[reportAttributeAccessIssue]
    assert not hasattr(path, "__dict__")


def test_a_path_survives_copying_and_pickling() -> None:
    path = parse_path("/memories/a/b/")
    for twin in (copy.copy(path), copy.deepcopy(path), pickle.loads(pickle.dumps(path))):
        assert (twin.segments, twin.text, twin.slash) == (path.segments, path.text, path.slash)


def test_the_repr_of_a_path_names_no_text_twice() -> None:
    assert repr(parse_path("/memories/a/")) == "MemoryPath(segments=('a',), slash=True)"


def test_a_path_made_of_names_prints_as_it_would_be_parsed() -> None:
    assert str(MemoryPath.of(())) == "/memories"
    assert str(MemoryPath.of(("a", "b.md"))) == "/memories/a/b.md"
    assert MemoryPath.of(("a",)).slash is False


def test_only_the_root_is_the_root() -> None:
    assert ROOT.is_root
    assert parse_path("/memories/") == ROOT
    assert not parse_path("/memories/memories").is_root


def test_a_path_knows_its_name_and_its_parent() -> None:
    path = parse_path("/memories/a/b.md")
    assert path.name == "b.md"
    assert path.parent == parse_path("/memories/a")
    assert str(path.parent) == "/memories/a"
    assert path.parent.parent == ROOT
    assert ROOT.parent == ROOT
    with pytest.raises(IndexError):
        _ = ROOT.name


def test_a_child_is_one_name_longer() -> None:
    assert ROOT.child("a").child("b.md") == parse_path("/memories/a/b.md")
    assert str(ROOT.child("a").child("b.md")) == "/memories/a/b.md"
    assert parse_path("/memories/a/").child("b").slash is False


def test_a_path_is_below_its_ancestors_and_not_below_itself() -> None:
    path = parse_path("/memories/a/b/c")
    assert path.is_below(ROOT)
    assert path.is_below(parse_path("/memories/a"))
    assert path.is_below(parse_path("/memories/a/b"))
    assert not path.is_below(path)
    assert not path.is_below(parse_path("/memories/a/b/c/d"))
    assert not path.is_below(parse_path("/memories/a/bb"))
    assert not path.is_below(parse_path("/memories/b"))
    assert not parse_path("/memories/ab").is_below(parse_path("/memories/a"))
    assert not ROOT.is_below(ROOT)


# ---------------------------------------------------------------- store paths


@pytest.mark.parametrize("given", ["/a", "/a/b.md", "/memories/a.md", "/100%.md", "/\u00e9.md"])
def test_a_store_path_is_the_path_without_the_root(given: str) -> None:
    path = MemoryPath.from_store_path(given)
    assert path == parse_path("/memories" + given)
    assert path.store_path == given
    assert path.slash is False


def test_the_store_path_of_the_root_is_a_slash() -> None:
    assert ROOT.store_path == "/"


NO_SLASH = PathFault.NO_FIRST_SLASH
SLASH = PathFault.LAST_SLASH
NOT_NFC = PathFault.NOT_NORMALIZED
TOO_LONG = PathFault.PATH_TOO_LONG


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        ("", NO_SLASH),
        ("a.md", NO_SLASH),
        ("a/b.md", NO_SLASH),
        ("\\a", NO_SLASH),
        ("/", SLASH),
        ("/a/", SLASH),
        ("//", SLASH),
        ("/../", SLASH),
        ("/e\u0301.md", NOT_NFC),
        ("/\u212b.md", NOT_NFC),
        ("/" + "\u6f22" * 400, TOO_LONG),
        ("/" + "a" * 1024, TOO_LONG),
        ("/" + "e\u0301" * 600, TOO_LONG),
        ("/a ", PathFault.SPACE_LAST),
        ("/a//b", None),
        ("/../a", None),
        ("/%2e%2e/a", None),
    ],
)
def test_a_store_path_is_held_to_the_strict_form(given: str, reason: PathFault | None) -> None:
    with pytest.raises(BadPath) as caught:
        MemoryPath.from_store_path(given)
    assert caught.value.reason == reason
    assert caught.value.given == given
    assert caught.value.__suppress_context__ or caught.value.__context__ is None


def test_a_store_path_of_1024_bytes_is_accepted() -> None:
    longest = ("/" + "a" * 255) * 4
    assert MemoryPath.from_store_path(longest).store_path == longest


def test_a_huge_store_path_costs_nothing() -> None:
    huge = "/" + "a" * 100_000_000
    for _ in range(1000):
        with pytest.raises(BadPath):
            MemoryPath.from_store_path(huge)


def test_a_store_path_that_is_no_string_is_the_mistake_of_a_program() -> None:
    with pytest.raises(Misuse):
        MemoryPath.from_store_path(b"/a")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]


# ---------------------------------------------------------------- names on a disk


@pytest.mark.parametrize("name", ["a.md", ".hidden", "100%.md", "\u00e9", "a b", "a" * 255])
def test_a_name_that_a_path_could_have_is_allowed(name: str) -> None:
    assert is_allowed_name(name) is True


@pytest.mark.parametrize(
    "name",
    [
        "",
        ".",
        "..",
        "..a",
        "a/b",
        "/",
        "a%2fb",
        "a\\b",
        "a\n",
        " a",
        "C:x",
        ".git",
        "e\u0301",
        "\u212b",
        "a" * 256,
        "\udcff",
        "caf\udce9",
    ],
)
def test_a_name_that_no_path_has_is_not_allowed(name: str) -> None:
    assert is_allowed_name(name) is False
