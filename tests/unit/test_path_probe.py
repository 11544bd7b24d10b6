"""What the probe makes of a name: percent signs, overlong UTF-8, compatible dots."""

from __future__ import annotations

import pytest

from memoranda.path_probe import could_become_structure


@pytest.mark.parametrize(
    "name",
    [
        "a.md",
        ".a",
        "a..",
        "100%",
        "100%.md",
        "%",
        "%%",
        "%2",
        "x%2.md",
        "%zz",
        "%2g.md",
        "%g2.md",
        "%41.md",
        "%2541",
        "a%20b",
        "50%25off",
        "%25",
        "%252",
        "a%2e",
        "a%2e%2e",
        "%2ea",
        "%2541%2e",
        "%7e",
        "%24HOME",
        "%u0041",
        "%u00e9",
        "%U0041",
        "%u002",
        "%u00g0",
        "%u",
        "%ux002e",
        "%ud83d%ude00",
        "%ud800",
        "%c3%a9",
        "%e6%bc%a2",
        "%f0%9f%98%80",
        "\u00e9%41",
        "%ff",
    ],
)
def test_a_name_that_stays_a_name_passes(name: str) -> None:
    assert could_become_structure(name) is False


@pytest.mark.parametrize("separator", ["/", "\\", "%2f", "%2F", "%5c", "%5C", "%252f", "%u002f"])
def test_a_separator_is_found_wherever_it_stands(separator: str) -> None:
    for name in ("{}", "a{}", "{}a", "a{}b", "a%41{}b"):
        assert could_become_structure(name.format(separator)) is True


@pytest.mark.parametrize(
    "control", ["%00", "%09", "%0a", "%0d", "%1f", "%7f", "%c2%80", "%c2%9f", "%u0085", "%u000a"]
)
def test_a_control_character_is_found_wherever_it_stands(control: str) -> None:
    for name in ("{}", "a{}", "{}a", "a{}b"):
        assert could_become_structure(name.format(control)) is True


@pytest.mark.parametrize(
    "name", ["9%de-descuento.md", ".%ff", ".%ff.", "%80", "%85", "%9f.md", "a%dd", "%e9t%e9"]
)
def test_a_stray_byte_is_no_control_character(name: str) -> None:
    assert could_become_structure(name) is False


@pytest.mark.parametrize("name", ["%20", "%c2%a0", "%7e", "%21"])
def test_the_neighbours_of_the_control_characters_pass(name: str) -> None:
    assert could_become_structure(name) is False


@pytest.mark.parametrize(
    "name",
    [
        ".",
        "..",
        "..a",
        "%2e",
        "%2E",
        "%2e%2e",
        ".%2e",
        "%2e.",
        "%2e%2ea",
        "%252e",
        "%25252e%2e",
        "%u002e",
        "%U002E%2e",
        "%%32e",
        "%u00%32e",
        "%u%30%30%32e",
    ],
)
def test_a_dot_segment_is_found_in_every_form(name: str) -> None:
    assert could_become_structure(name) is True


@pytest.mark.parametrize(
    "name",
    [
        "\uff0e",
        "\uff0e\uff0e",
        ".\uff0e",
        "\u2024",
        "\u2025",
        "\u2025x",
        "\u2026",
        "\ufe19",
        "\ufe30",
        "\ufe52\ufe52",
        "a\uff0f\uff0e\uff0e",
        "a\uff0f.",
        "a\uff0f.\uff0fb",
        "a\uff3c\uff0e\uff3cb",
        "a\uff3c..",
        "\uff0e\uff0fa",
        "%ef%bc%8e",
        "%ef%bc%8e%ef%bc%8e",
        "%25ef%25bc%258e",
        "%uff0e",
        "%uff0e%uff0e",
    ],
)
def test_a_compatible_dot_segment_is_found(name: str) -> None:
    assert could_become_structure(name) is True


@pytest.mark.parametrize(
    "name",
    [
        "\uff21\uff0f\uff22",
        "a\uff0f.b",
        "a\uff0fb.",
        "\uff0ea",
        "wait\u2026",
        "a\u2025",
        "a\uff3cb",
        "\u2215..",
        "\u2044..",
        "\u2100",
        "\uff05",
        "\uff052e",
    ],
)
def test_other_compatible_characters_are_literal(name: str) -> None:
    assert could_become_structure(name) is False


@pytest.mark.parametrize(
    "overlong",
    [
        "%c0",
        "%c1",
        "%c0%af",
        "%c0%ae",
        "%c0ae",
        "%c1%9c",
        "%e0%80%ae",
        "%e0%9f%bf",
        "%e0-",
        "%f0%80%80%ae",
        "%f0%8f%bf%bf",
        "%f8%80%80%80%ae",
        "%f8%87%bf%bf%bf",
        "%fc%80%80%80%80%ae",
        "%fc%83%bf%bf%bf%bf",
        "%25c0%25ae",
    ],
)
def test_overlong_utf_8_is_found_wherever_it_stands(overlong: str) -> None:
    for name in ("{}", "a{}", "a{}b"):
        assert could_become_structure(name.format(overlong)) is True


@pytest.mark.parametrize(
    "name",
    [
        "%c2%a1",
        "%bf",
        "%c3",
        "%e0",
        "%e0%a0%80",
        "%e1%80%80",
        "%f0",
        "%f0%90%80%80",
        "%f1%80%80%80",
        "%f8",
        "%f8%88%80%80%80",
        "%fc",
        "%fc%84%80%80%80%80",
        "%e0\u00e9",
    ],
)
def test_the_shortest_forms_of_utf_8_are_not_overlong(name: str) -> None:
    assert could_become_structure(name) is False


def test_eight_rounds_of_decoding_are_followed_and_a_ninth_is_refused() -> None:
    assert could_become_structure("%" + "25" * 7 + "41") is False
    assert could_become_structure("%" + "25" * 8 + "41") is True
    assert could_become_structure("%" + "25" * 7 + "2f") is True
    assert could_become_structure("%" + "25" * 8) is False
    assert could_become_structure("%" + "25" * 9) is True
    assert could_become_structure("%" + "25" * 126) is True
