"""The conformance suite: ours keeps everything, and everything can be broken."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from memoranda.errors import Misuse
from memoranda.testing.conformance.paths import is_harmless
from memoranda.testing.conformance.report import Findings, Report, shown
from memoranda.testing.conformance.requirements import Requirement, requirements, rows
from memoranda.testing.conformance.sandbox import sandbox
from memoranda.testing.conformance.trial import Factory, Grounds
from memoranda.testing.tool_suite import (
    SECTIONS,
    anthropic_sdk,
    anthropic_sdk_async,
    find_factory,
    run_conformance,
)
from tests.spec.requirements import REQUIREMENTS
from tests.testing import handlers
from tests.testing.handlers import Ours

SETTINGS = {
    *("VIEW-18", "IMAGE-04", "CREATE-04"),
    *(f"POLICY-{n:02}" for n in (*range(1, 11), 12, 13, 14)),
}
"""What can only be seen with settings, which a handler that is none of ours hasn't."""

BEHIND_THE_TOOL = ("DISK-", "TENANT-", "TOOL-")
"""Sections on what no command shows: how names lie on disk, who a tenant is, the tool's entry."""

OF_THE_SUITE = {"GUARD-01", "GUARD-02", "GUARD-03", "GUARD-04", "RACE-01", "RACE-02"}
"""What the suite asks besides: the page's safeguards in its own words, and races."""


@pytest.fixture(scope="module")
def ours() -> Report:
    return run_conformance(Ours)


def broken_ids(report: Report) -> set[str]:
    return {one.requirement.id for one in report.outcomes if one.verdict == "broken"}


# ---------------------------------------------------------------- what is asked


def test_the_suite_asks_what_the_contract_asks_in_the_same_words() -> None:
    spec = {one.id: Requirement(one.id, one.basis, one.text) for one in REQUIREMENTS}
    asked = requirements()
    unasked = {name for name in set(spec) - set(asked) if not name.startswith(BEHIND_THE_TOOL)}
    assert unasked == SETTINGS
    assert set(asked) - set(spec) == OF_THE_SUITE
    assert {name: one for name, one in asked.items() if name in spec} == {
        name: one for name, one in spec.items() if name in asked
    }


@pytest.mark.parametrize("name", ["commands.jsonl", "reports.jsonl"])
def test_every_case_names_a_requirement_and_says_what_it_tries(name: str) -> None:
    cases = rows(name)
    assert {case["requirement"] for case in cases} <= set(requirements())
    assert all(case["title"] and case["steps"] for case in cases)
    told = [(case["requirement"], case["title"], json.dumps(case["steps"])) for case in cases]
    assert len(set(told)) == len(told)


# ---------------------------------------------------------------- ours


def test_ours_keeps_every_requirement(ours: Report) -> None:
    assert ours.ok, ours.render()
    assert [one.requirement.id for one in ours.outcomes if one.verdict == "not tried"] == []


def test_a_report_of_ours_is_short_and_says_so(ours: Report) -> None:
    text = ours.render()
    assert text.startswith("Conformance of Ours\n")
    assert "Fails" not in text
    assert "Differs" not in text
    counts = ours.as_json()["counts"]
    assert all(count["broken"] == count["not tried"] == 0 for count in counts.values())
    assert sum(count["kept"] for count in counts.values()) == len(requirements())


def test_texts_may_come_as_blocks() -> None:
    report = run_conformance(handlers.AnswersBlocks, sections=["commands", "limits"])
    assert report.ok, report.render()


# ---------------------------------------------------------------- the SDK's own tool


def test_the_sdks_tool_keeps_its_own_ways_and_fails_of_the_page_what_is_known() -> None:
    sdk = run_conformance(anthropic_sdk)
    assert sdk.broken("sdk") == ()
    assert {one.requirement.id for one in sdk.broken("doc")} == SDK_FAILS_OF_THE_PAGE
    text = sdk.render()
    assert "Fails the published page\n" in text
    assert "Differs from Memoranda's decisions\n" in text
    assert "Differs from Anthropic's own tool" not in text
    json.dumps(sdk.as_json())


SDK_FAILS_OF_THE_PAGE = {
    "INPUT-03",
    "LIST-01",
    "LIST-05",
    "VIEW-16",
    "IMAGE-01",
    "CREATE-03",
    "REPLACE-06",
    "REPLACE-07",
    "REPLACE-08",
    "INSERT-10",
    "INSERT-11",
    "INSERT-12",
    "DELETE-03",
    "RENAME-04",
    "RENAME-05",
    "RENAME-06",
    "GUARD-01",
    "GUARD-02",
    "GUARD-03",
}
"""Of anthropic 2.14.0. Where a newer one does better, take it out and be glad."""


def test_the_sdks_async_tool_is_tried_too(tmp_path: Path) -> None:
    handler = anthropic_sdk_async(str(tmp_path))
    content, is_error = handler({"command": "view", "path": "/memories"})
    assert "/memories" in content
    assert not is_error
    assert handler({"command": "view", "path": "/memories/none"})[1]


# ---------------------------------------------------------------- what is wrong is found

WRONG: list[tuple[Factory, list[str]]] = [
    (handlers.silent, ["commands", "paths", "races", "malformed"]),
    (handlers.stubborn, ["commands", "limits"]),
    (handlers.strange, ["limits"]),
    (handlers.Noisy, ["commands", "limits", "paths"]),
    (handlers.Pictures, ["commands"]),
    (handlers.Raises, ["malformed"]),
    (handlers.ShowsTheHost, ["malformed"]),
    (handlers.Leaks, ["commands"]),
]


def test_every_requirement_can_be_broken() -> None:
    broken: set[str] = set()
    for factory, sections in WRONG:
        broken |= broken_ids(run_conformance(factory, sections=sections))
    assert set(requirements()) - broken == set()


@pytest.mark.parametrize(
    ("factory", "sections", "requirement"),
    [
        (handlers.Raises, ["malformed"], "INPUT-19"),
        (handlers.ShowsTheHost, ["malformed"], "INPUT-20"),
        (handlers.Leaks, ["commands"], "GUARD-04"),
        (handlers.NumbersFromZero, ["commands"], "VIEW-03"),
        (handlers.NumbersFromZero, ["limits"], "VIEW-21"),
        (handlers.LosesUpdates, ["races"], "POLICY-11"),
        (handlers.RefusesEdits, ["races"], "POLICY-11"),
        (handlers.Raises, ["reports"], "RENAME-04"),
        (handlers.silent, ["malformed"], "INPUT-06"),
        (handlers.silent, ["paths"], "PATH-08"),
        (handlers.stubborn, ["paths"], "PATH-16"),
        (handlers.silent, ["reports"], "DELETE-02"),
    ],
)
def test_what_is_wrong_is_found(factory: Factory, sections: list[str], requirement: str) -> None:
    report = run_conformance(factory, sections=sections)
    assert requirement in broken_ids(report)
    (outcome,) = [one for one in report.outcomes if one.requirement.id == requirement]
    assert 0 < len(outcome.evidence) <= 3
    assert outcome.failures >= len(outcome.evidence)
    assert outcome.evidence[0].case
    assert f"  {requirement}  " in report.render()


def test_bytes_are_not_tried_where_nobody_can_plant_them() -> None:
    report = run_conformance(handlers.silent, sections=["commands", "limits"])
    untried = {
        one.requirement.id: one.reason for one in report.outcomes if one.verdict == "not tried"
    }
    for name in ("VIEW-24", "IMAGE-01", "IMAGE-03"):
        assert "plant" in untried[name]
    assert "Not tried, since the handler has no plant(path, content)" in report.render()


# ---------------------------------------------------------------- running it


def test_sections_are_run_as_they_are_chosen_and_named_before() -> None:
    told: list[str] = []
    report = run_conformance(
        handlers.silent, name="mine", sections=["limits", "races"], on_section=told.append
    )
    assert told == ["limits", "races"]
    assert report.handler == "mine"
    assert "Not tried, since their sections were left out\n  INPUT-01, " in report.render()
    (outcome,) = [one for one in report.outcomes if one.requirement.id == "LIST-04"]
    assert (outcome.verdict, outcome.reason) == ("not tried", "their sections were left out")


def test_an_unknown_section_is_misuse() -> None:
    with pytest.raises(Misuse, match="no section nonsense"):
        run_conformance(handlers.silent, sections=["nonsense"])
    assert list(SECTIONS) == ["commands", "reports", "paths", "races", "limits", "malformed"]


def test_a_factory_is_found_by_module_and_name() -> None:
    assert find_factory("memoranda.testing.tool_suite:anthropic_sdk") is anthropic_sdk


def test_a_factory_is_found_in_the_working_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tmp_path.joinpath("my_own_handler.py").write_text("def factory(base_dir):\n    return None\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.path", ["elsewhere"])
    assert find_factory("my_own_handler:factory")("x") is None


@pytest.mark.parametrize(
    ("spec", "why"),
    [
        ("just_a_module", "module:factory"),
        ("there_is_no_such_module:x", "no module there_is_no_such_module"),
        ("memoranda.errors:nothing", "has no nothing"),
        ("memoranda.testing.tool_suite:SECTIONS", "can't be called"),
    ],
)
def test_a_factory_that_is_not_there_is_misuse(spec: str, why: str) -> None:
    with pytest.raises(Misuse, match=why):
        find_factory(spec)


def test_a_trial_closes_its_handler_and_leaves_nothing() -> None:
    with sandbox() as place:
        with Grounds(Ours, place, Findings(requirements())).trial("one") as ground:
            handler = ground.handler
            assert place.base.is_dir()
        assert isinstance(handler, Ours)
        assert handler.closed
        assert not place.base.exists()
    assert not place.top.exists()


def test_a_sandbox_tells_what_was_done_outside_and_puts_it_right() -> None:
    with sandbox() as place:
        place.base.mkdir()
        place.base.joinpath("inside.txt").touch()
        assert place.changes() == []
        parent = place.base.parent
        parent.joinpath("secrets.env").write_text("other")
        parent.joinpath("etc/passwd").unlink()
        parent.joinpath("new.txt").touch()
        assert [(where.rpartition("/")[2], what) for where, what in place.changes()] == [
            ("passwd", "is changed or gone"),
            ("secrets.env", "is changed or gone"),
            ("new.txt", "is new"),
        ]
        assert place.changes() == []


def test_only_paths_that_lead_nowhere_on_this_host_are_written_to(tmp_path: Path) -> None:
    tmp_path.joinpath("real").touch()
    real = str(tmp_path / "real")
    assert not is_harmless(real)
    assert not is_harmless(real.replace("/", "%2f"))
    assert not is_harmless(real.replace("/", "\\"))
    assert not is_harmless(f"/memories/..{real}")
    assert not is_harmless(f"file://{real}")
    assert is_harmless(f"{real}-not")
    assert is_harmless("/memories/none\x00/x")


def test_what_is_shown_is_one_line_and_not_too_long() -> None:
    assert shown("a\nb\u202e\ud800") == "a\\nb\\u202e\\ud800"
    assert shown(None) == ""
    assert shown("x" * 5000) == "x" * 300 + "... (5000 characters)"
