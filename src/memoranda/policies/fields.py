"""Every field of a policy as data: where it is set, and which of two values is the stricter one.

``STRICTER`` has a line for each field; a test fails for one that has none. What is stricter is a
decision, not a derivation: fewer, smaller and less kept is stricter, and so is more looked at.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from types import NoneType
from typing import Any, Final, NamedTuple, TypeAlias, get_args, get_origin, get_type_hints

from memoranda.policies.policy import Policy

Stricter: TypeAlias = Callable[[Any, Any], Any]

POLICY_TABLE: Final = "policy"
"""The table of the fields that are the policy's own; the others' table is that of their part."""


def _least(one: int | None, other: int | None) -> int | None:
    """The smaller limit; None lifts one."""
    return min((limit for limit in (one, other) if limit is not None), default=None)


def _shortest(one: int, other: int) -> int:
    """The smaller number of days; 0 is for ever."""
    return min(one, other) or max(one, other)


def _either(one: bool, other: bool) -> bool:
    return one or other


def _both(one: tuple[Any, ...], other: tuple[Any, ...]) -> tuple[Any, ...]:
    return (*one, *(each for each in other if each not in one))


def _strictest(*from_lax_to_strict: str) -> Stricter:
    def stricter(one: str, other: str) -> str:
        return max(one, other, key=from_lax_to_strict.index)

    return stricter


_MODE: Final = _strictest("off", "mask", "refuse")

STRICTER: Final[Mapping[str, Stricter]] = {
    "policy.on_exists": _strictest("overwrite", "error"),
    "policy.read_only": _either,
    "policy.expiry": _both,
    "policy.approval": _both,
    "policy.mounts": _both,
    "policy.telemetry": _either,
    "limits.file_bytes": _least,
    "limits.store_bytes": _least,
    "limits.files": _least,
    "limits.view_chars": _least,
    "limits.image_bytes": _least,
    "limits.commands_per_minute": _least,
    "retention.keep_days": _shortest,
    "retention.keep_newest": _least,
    "retention.budget_bytes": _least,
    "audit.reads": _strictest("off", "batched", "strict"),
    "redaction.credential": _MODE,
    "redaction.email": _MODE,
    "redaction.phone": _MODE,
    "redaction.card": _MODE,
    "redaction.iban": _MODE,
    "redaction.national_id": _MODE,
    "redaction.other": _MODE,
    "redaction.kingfisher": _either,
    "redaction.detectors": _both,
    "injection.mode": _strictest("off", "flag", "review"),
    "injection.frame_views": _either,
}
"""By table and name: the stricter of two values."""


class PolicyField(NamedTuple):
    """One field: its table, its name, what kind of value it has, and its default.

    ``rows`` is the dataclass of which the value is a tuple, where it is one. ``is_data`` is False
    of what no file can hold: functions.
    """

    table: str
    name: str
    default: Any
    rows: type | None = None
    is_data: bool = True

    @property
    def key(self) -> str:
        """``table.name``."""
        return f"{self.table}.{self.name}"


def _part(hint: Any) -> type | None:
    """The dataclass that a field holds, or may hold."""
    for kind in (hint, *get_args(hint)):
        if isinstance(kind, type) and kind is not NoneType and dataclasses.is_dataclass(kind):
            return kind
    return None


def _fields() -> tuple[tuple[PolicyField, ...], dict[str, type]]:
    found: list[PolicyField] = []
    parts: dict[str, type] = {}
    hints, default = get_type_hints(Policy), Policy()
    for field in dataclasses.fields(Policy):
        hint, value = hints[field.name], getattr(default, field.name)
        part = _part(hint)
        if part is None:
            found.append(PolicyField(POLICY_TABLE, field.name, value))
        elif get_origin(hint) is tuple:
            found.append(PolicyField(POLICY_TABLE, field.name, value, part))
        else:
            parts[field.name] = part
            built_in = part() if value is None else value
            for below in dataclasses.fields(part):
                one = getattr(built_in, below.name)
                is_data = not isinstance(one, tuple)
                found.append(PolicyField(field.name, below.name, one, is_data=is_data))
    return tuple(found), parts


FIELDS, PARTS = _fields()
"""All fields in their order; and the dataclass of each part, by its table."""

BY_KEY: Final[Mapping[str, PolicyField]] = {field.key: field for field in FIELDS}


def policy_of(values: Mapping[str, Any]) -> Policy:
    """The policy with these values, by table and name; what is left out has its default.

    Raises ``Misuse`` for values that can't be.
    """
    tables: dict[str, dict[str, Any]] = {}
    for key, value in values.items():
        field = BY_KEY[key]
        tables.setdefault(field.table, {})[field.name] = value
    own = tables.pop(POLICY_TABLE, {})
    return Policy(**own, **{table: PARTS[table](**given) for table, given in tables.items()})
