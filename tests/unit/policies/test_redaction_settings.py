"""What can be set about redaction and injection marks."""

from __future__ import annotations

from typing import Any

import pytest

from memoranda.errors import Misuse
from memoranda.policies.injection import InjectionMarks
from memoranda.policies.policy import Policy
from memoranda.policies.redaction import KINDS, Redaction

FIELDS = (*KINDS, "other")


def test_credentials_are_masked_and_personal_data_stays_unless_asked_for() -> None:
    redaction = Redaction()
    assert redaction.kinds == ("credential",)
    assert redaction.mode_of("credential") == "mask"
    assert {redaction.mode_of(kind) for kind in KINDS[1:]} == {"off"}
    assert not redaction.kingfisher
    assert redaction.detectors == ()


def test_a_kind_that_only_a_detector_knows_follows_other() -> None:
    assert Redaction().mode_of("name") == "mask"
    assert Redaction(other="refuse").mode_of("name") == "refuse"


def test_off_looks_for_nothing_and_everything_for_all() -> None:
    assert Redaction.off().kinds == ()
    assert Redaction.everything("refuse").kinds == KINDS
    assert {Redaction.everything().mode_of(kind) for kind in FIELDS} == {"mask"}


@pytest.mark.parametrize("name", FIELDS)
@pytest.mark.parametrize("value", ["on", "", None, True, "MASK", ["mask"]])
def test_a_mode_that_cannot_be_is_refused_with_its_field(name: str, value: object) -> None:
    given: dict[str, Any] = {name: value}
    with pytest.raises(Misuse, match=rf"^Redaction: {name} is .*\"off\", \"mask\" or \"refuse\""):
        Redaction(**given)


@pytest.mark.parametrize(
    ("name", "value", "says"),
    [
        ("kingfisher", 1, "True or False"),
        ("detectors", [len], "a tuple of functions"),
        ("detectors", ("len",), "a tuple of functions"),
    ],
)
def test_other_values_that_cannot_be_are_refused_with_their_field(
    name: str, value: object, says: str
) -> None:
    given: dict[str, Any] = {name: value}
    with pytest.raises(Misuse, match=rf"^Redaction: {name} .*{says}"):
        Redaction(**given)


@pytest.mark.parametrize(
    ("name", "value", "says"),
    [("mode", "mask", '"off", "flag" or "review"'), ("frame_views", "yes", "True or False")],
)
def test_marks_that_cannot_be_are_refused_with_their_field(
    name: str, value: object, says: str
) -> None:
    given: dict[str, Any] = {name: value}
    with pytest.raises(Misuse, match=rf"^InjectionMarks: {name} is .*{says}"):
        InjectionMarks(**given)


@pytest.mark.parametrize(
    ("name", "says"), [("redaction", "Redaction object"), ("injection", "InjectionMarks object")]
)
def test_a_policy_takes_them_as_objects_only(name: str, says: str) -> None:
    given: dict[str, Any] = {name: "mask"}
    with pytest.raises(Misuse, match=rf"^Policy: {name} is .*{says}"):
        Policy(**given)
