"""Every field of a policy says which of two values is the stricter one."""

from __future__ import annotations

from typing import Any

import pytest

from memoranda.policies.approval import Approval
from memoranda.policies.expiry import Expiry
from memoranda.policies.fields import BY_KEY, FIELDS, STRICTER, policy_of
from memoranda.policies.mount import Mount
from memoranda.policies.policy import Policy
from memoranda.policies.rules import Rule, Setting, Where, strictest

EXAMPLES: dict[str, tuple[Any, Any]] = {
    "policy.on_exists": ("overwrite", "error"),
    "policy.read_only": (False, True),
    "policy.expiry": ((), (Expiry(age_days=1),)),
    "policy.approval": ((), (Approval(),)),
    "policy.telemetry": (False, True),
    "policy.mounts": ((), (Mount(path="/memories/team", user="team"),)),
    "limits.file_bytes": (None, 5),
    "limits.store_bytes": (7, 5),
    "limits.files": (None, 5),
    "limits.view_chars": (7, 5),
    "limits.image_bytes": (7, 5),
    "limits.commands_per_minute": (None, 5),
    "retention.keep_days": (0, 5),
    "retention.keep_newest": (7, 5),
    "retention.budget_bytes": (None, 5),
    "audit.reads": ("batched", "strict"),
    "redaction.credential": ("mask", "refuse"),
    "redaction.email": ("off", "mask"),
    "redaction.phone": ("off", "mask"),
    "redaction.card": ("off", "refuse"),
    "redaction.iban": ("mask", "refuse"),
    "redaction.national_id": ("off", "mask"),
    "redaction.other": ("off", "refuse"),
    "redaction.kingfisher": (False, True),
    "redaction.detectors": ((), (len,)),
    "injection.mode": ("flag", "review"),
    "injection.frame_views": (False, True),
}
"""For each field a lax value and a stricter one."""


def test_every_field_has_its_rule_and_its_example() -> None:
    keys = {field.key for field in FIELDS}
    assert set(STRICTER) == keys, "say in STRICTER which of two values is the stricter one"
    assert set(EXAMPLES) == keys


@pytest.mark.parametrize("key", sorted(EXAMPLES))
def test_the_stricter_value_wins_from_either_side(key: str) -> None:
    lax, strict = EXAMPLES[key]
    for one, other in ((lax, strict), (strict, lax), (strict, strict)):
        assert STRICTER[key](one, other) == strict
    assert STRICTER[key](lax, lax) == lax
    assert policy_of({key: strict}) != policy_of({key: lax})


def test_no_limit_meets_no_limit_in_no_limit() -> None:
    assert STRICTER["limits.files"](None, None) is None
    assert STRICTER["retention.keep_days"](0, 0) == 0


def test_the_defaults_are_those_of_a_policy() -> None:
    assert policy_of({}) == Policy()
    assert BY_KEY["limits.files"].default == 2_000
    assert not BY_KEY["redaction.detectors"].is_data


def test_what_wins_brings_its_origin_along() -> None:
    held = strictest(
        [
            {"limits.files": Setting(5, "a"), "policy.read_only": Setting(True, "a")},
            {"limits.files": Setting(3, "b"), "policy.read_only": Setting(True, "b")},
            {"redaction.detectors": Setting((len,), "a")},
            {"redaction.detectors": Setting((str,), "b")},
        ]
    )
    assert held == {
        "limits.files": Setting(3, "b"),
        "policy.read_only": Setting(True, "a"),
        "redaction.detectors": Setting((len, str), "a; b"),
    }


def test_a_rule_fits_where_all_its_patterns_do() -> None:
    rule = Rule({}, backend="*memory", user="a*")
    assert rule.fits(Where("./memory", user="ada"))
    assert not rule.fits(Where("./memory", user="Ada"))
    assert not rule.fits(Where("./other", user="ada"))
    assert not rule.fits(Where("./memory", store="memstore_a"))
