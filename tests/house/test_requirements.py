"""The pinned requirements are whole: hashed, without an address, and what the project asks for."""

from __future__ import annotations

import re
import tomllib

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.house.repository import ROOT

FILES = ("run", "dev", "serve")
SERVED = ("backup", "bucket", "cli", "git", "postgres", "sealed", "server")
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())


def pins(name: str) -> dict[str, tuple[Requirement, int]]:
    """Requirement and number of hashes by package name."""
    text = (ROOT / "requirements" / f"{name}.txt").read_text().replace("\\\n", " ")
    found: dict[str, tuple[Requirement, int]] = {}
    for line in text.splitlines():
        requirement, *hashes = re.split(r"\s+--hash=sha256:(?=[0-9a-f]{64})", line.strip())
        parsed = Requirement(requirement)
        found[canonicalize_name(parsed.name)] = (parsed, len(hashes))
    return found


def asked_for(*extras: str) -> list[Requirement]:
    """What pyproject.toml asks for, with these extras."""
    project = PROJECT["project"]
    lines = [*project["dependencies"], *PROJECT["dependency-groups"]["build"]]
    for extra in extras:
        lines += project["optional-dependencies"][extra]
    return [Requirement(line) for line in lines]


@pytest.mark.parametrize("name", FILES)
def test_every_requirement_is_pinned_to_one_version_with_hashes(name: str) -> None:
    loose = [
        key
        for key, (requirement, hashes) in pins(name).items()
        if not re.fullmatch(r"==[^*,]+", str(requirement.specifier)) or not hashes
    ]
    assert loose == []


@pytest.mark.parametrize("name", FILES)
def test_the_pins_hold_no_address_and_no_option_but_hashes(name: str) -> None:
    text = (ROOT / "requirements" / f"{name}.txt").read_text()
    assert "://" not in text
    assert set(re.findall(r"(?<!\S)-\S[\w-]*", text)) == {"--hash"}


@pytest.mark.parametrize(
    ("name", "extras"),
    [("run", ("anthropic", "cli")), ("dev", ("anthropic", "cli", "dev")), ("serve", SERVED)],
)
def test_the_pins_meet_what_the_project_asks_for(name: str, extras: tuple[str, ...]) -> None:
    pinned = pins(name)
    unmet = [
        str(wanted)
        for wanted in asked_for(*extras)
        if not (found := pinned.get(canonicalize_name(wanted.name)))
        or not wanted.specifier.contains(str(found[0].specifier).removeprefix("=="))
    ]
    assert unmet == []


def test_make_pins_for_a_server_what_is_tested_here() -> None:
    (line,) = re.findall(r"^SERVED := (.*)$", (ROOT / "Makefile").read_text(), re.M)
    assert tuple(line.split()) == SERVED


def test_development_runs_with_the_versions_that_are_pinned_for_running() -> None:
    run, dev, serve = pins("run"), pins("dev"), pins("serve")
    assert {key: serve[key][0].specifier for key in serve if key in dev} == {
        key: dev[key][0].specifier for key in serve if key in dev
    }
    # Only the versions: a package that one of the tools needs too may be asked for on more systems.
    assert {key: run[key][0].specifier for key in run} == {
        key: dev[key][0].specifier for key in run
    }
