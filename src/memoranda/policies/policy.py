"""What an application sets: the rules of one memory."""

from __future__ import annotations

from typing import Final, Literal, TypeAlias, cast, get_args

from memoranda.errors import Misuse
from memoranda.light_dataclasses import dataclass
from memoranda.policies.approval import Approval
from memoranda.policies.audit import Auditing
from memoranda.policies.expiry import Expiry
from memoranda.policies.injection import InjectionMarks
from memoranda.policies.limits import Limits
from memoranda.policies.mount import Mount, check_mounts
from memoranda.policies.redaction import Redaction
from memoranda.stores.base import Retention

OnExists: TypeAlias = Literal["error", "overwrite"]

_ROWS: Final = {"expiry": Expiry, "approval": Approval, "mounts": Mount}
_PARTS: Final = {"limits": Limits, "redaction": Redaction, "injection": InjectionMarks}


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """The rules of one memory. Never changes; ``dataclasses.replace`` makes another.

    ``limits`` bounds sizes, counts and speed. ``on_exists`` says what ``create`` does at a file
    that exists: ``"error"`` tells Claude, ``"overwrite"`` replaces the content (the old one stays
    in history). ``read_only`` refuses every change, by Claude and by programs. ``retention`` says
    how much history stays, in whole days, versions and bytes; without it everything younger than 30
    days and the newest 10 versions, in up to ten times the bytes that the memory may hold.
    ``audit`` says what becomes of views in the audit, ``expiry`` which memories a sweep removes:
    those that any of its rules is about.
    ``redaction`` says what happens to secrets and personal data in what is written, ``injection``
    what happens to text that speaks to the agent as an instruction would. ``approval`` says which
    writes wait for a person: those that any of its rules is about. ``mounts`` shows other stores under
    paths of this one. ``telemetry`` gives spans and metrics of commands to OpenTelemetry.

    Raises ``Misuse`` for values that can't be.
    """

    limits: Limits = Limits()
    on_exists: OnExists = "error"
    read_only: bool = False
    retention: Retention | None = None
    audit: Auditing = Auditing()
    expiry: tuple[Expiry, ...] = ()
    redaction: Redaction = Redaction()
    injection: InjectionMarks = InjectionMarks()
    approval: tuple[Approval, ...] = ()
    mounts: tuple[Mount, ...] = ()
    telemetry: bool = False

    @property
    def asks_people(self) -> bool:
        """Whether there are writes that wait for a person."""
        return bool(self.approval) or self.injection.mode == "review"

    def __post_init__(self) -> None:
        for name, kind in _PARTS.items():
            part: object = getattr(self, name)
            if type(part) is not kind:
                raise Misuse(f"Policy: {name} is {part!r}; it has to be a {kind.__name__} object.")
        if self.on_exists not in get_args(OnExists):
            raise Misuse(
                f'Policy: on_exists is {self.on_exists!r}; it has to be "error" or "overwrite".'
            )
        for name in ("read_only", "telemetry"):
            given: object = getattr(self, name)
            if type(given) is not bool:
                raise Misuse(f"Policy: {name} is {given!r}; it has to be True or False.")
        if self.retention is not None:
            _check(self.retention)
        for name, kind in _ROWS.items():
            rows: object = getattr(self, name)
            if type(rows) is not tuple or not all(
                type(row) is kind for row in cast("tuple[object, ...]", rows)
            ):
                raise Misuse(f"Policy: {name} has to be a tuple of {kind.__name__} objects.")
        check_mounts(self.mounts)
        if type(self.audit) is not Auditing:
            raise Misuse(f"Policy: audit is {self.audit!r}; it has to be an Auditing object.")


def _check(retention: Retention) -> None:
    if type(retention) is not Retention:
        raise Misuse(f"Policy: retention is {retention!r}; it has to be a Retention object.")
    budget = retention.budget_bytes
    for name, value, least in (
        ("keep_days", retention.keep_days, 0),
        ("keep_newest", retention.keep_newest, 1),
        ("budget_bytes", 1 if budget is None else budget, 1),
    ):
        if type(value) is not int or value < least:
            raise Misuse(
                f"Retention: {name} is {value!r}; it has to be a whole number of {least} or more."
            )
