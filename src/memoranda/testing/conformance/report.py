"""What came of a conformance run: each requirement with what was wanted and what was got."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Mapping
from textwrap import wrap
from typing import Any, Final, Literal, NamedTuple, TypeAlias

from memoranda.testing.conformance.requirements import BASES, Basis, Requirement

Verdict: TypeAlias = Literal["kept", "broken", "not tried"]

EVIDENCE_KEPT: Final = 3
"""How many failures of one requirement are shown; the others are counted."""

SHOWN_CHARS: Final = 300


class Evidence(NamedTuple):
    """One check that failed."""

    case: str
    sent: str
    wanted: str
    got: str


class Outcome(NamedTuple):
    """A requirement, whether it is kept, and the first failures where it is not."""

    requirement: Requirement
    verdict: Verdict
    checks: int
    failures: int
    evidence: tuple[Evidence, ...]
    reason: str = ""
    """Why it was not tried."""


class Findings:
    """Collects checks while a run goes on. Safe to use from many threads."""

    def __init__(self, requirements: Mapping[str, Requirement]) -> None:
        self.requirements = requirements
        self.case = ""
        """What is being tried now, for the evidence."""
        self._checks: dict[str, int] = {}
        self._failures: dict[str, int] = {}
        self._evidence: dict[str, list[Evidence]] = {}
        self._reasons: dict[str, str] = {}
        self._lock = threading.Lock()

    def note(self, requirement: str, sent: object, wanted: str, got: object, kept: bool) -> bool:
        """Note one check of ``requirement``; gives ``kept`` back."""
        assert requirement in self.requirements, requirement
        with self._lock:
            self._checks[requirement] = self._checks.get(requirement, 0) + 1
            if not kept:
                self._failures[requirement] = self._failures.get(requirement, 0) + 1
                evidence = self._evidence.setdefault(requirement, [])
                if len(evidence) < EVIDENCE_KEPT:
                    evidence.append(Evidence(self.case, shown(sent), shown(wanted), shown(got)))
        return kept

    def skip(self, requirement: str, reason: str) -> None:
        """Say why a requirement can't be tried on this handler."""
        self._reasons[requirement] = reason

    def outcomes(self) -> Iterable[Outcome]:
        """What came of each requirement, in the order of the contract."""
        for name, requirement in self.requirements.items():
            checks, failures = self._checks.get(name, 0), self._failures.get(name, 0)
            verdict: Verdict = "broken" if failures else "kept" if checks else "not tried"
            reason = "" if checks else self._reasons.get(name, "their sections were left out")
            evidence = tuple(self._evidence.get(name, ()))
            yield Outcome(requirement, verdict, checks, failures, evidence, reason)


class Report(NamedTuple):
    """The outcome of a run. What breaks the page and what differs from us are kept apart."""

    handler: str
    outcomes: tuple[Outcome, ...]

    @property
    def ok(self) -> bool:
        """Whether no requirement is broken."""
        return not any(outcome.verdict == "broken" for outcome in self.outcomes)

    def broken(self, basis: Basis) -> tuple[Outcome, ...]:
        """The broken requirements of one basis."""
        return tuple(
            outcome
            for outcome in self.outcomes
            if outcome.verdict == "broken" and outcome.requirement.basis == basis
        )

    def as_json(self) -> dict[str, Any]:
        """The report as JSON has it: counts by basis, then every requirement."""
        return {
            "handler": self.handler,
            "ok": self.ok,
            "counts": {basis: self._counts(basis) for basis in BASES},
            "requirements": [
                {
                    **outcome.requirement._asdict(),
                    "verdict": outcome.verdict,
                    "checks": outcome.checks,
                    "failures": outcome.failures,
                    "evidence": [one._asdict() for one in outcome.evidence],
                    "reason": outcome.reason,
                }
                for outcome in self.outcomes
            ],
        }

    def render(self) -> str:
        """The report as people read it."""
        lines = [f"Conformance of {self.handler}", ""]
        for basis, name in BASES.items():
            counts = self._counts(basis)
            tried = counts["kept"] + counts["broken"]
            lines.append(f"  {counts['kept']:>3} of {tried:>3} kept: {name}")
        for basis, heading in _HEADINGS.items():
            broken = self.broken(basis)
            if broken:
                lines += ["", heading, *(line for one in broken for line in _lines_of(one))]
        untried = [outcome for outcome in self.outcomes if outcome.verdict == "not tried"]
        for reason in dict.fromkeys(one.reason for one in untried):
            names = ", ".join(one.requirement.id for one in untried if one.reason == reason)
            lines += ["", f"Not tried, since {reason}", *_indented(names)]
        return "\n".join(lines) + "\n"

    def _counts(self, basis: Basis) -> dict[Verdict, int]:
        verdicts = [one.verdict for one in self.outcomes if one.requirement.basis == basis]
        names: tuple[Verdict, ...] = ("kept", "broken", "not tried")
        return {name: verdicts.count(name) for name in names}


_HEADINGS: Final[dict[Basis, str]] = {
    "doc": "Fails the published page",
    "sdk": "Differs from Anthropic's own tool",
    "ours": "Differs from Memoranda's decisions",
}


def _indented(text: str) -> list[str]:
    return wrap(text, 96, initial_indent="  ", subsequent_indent="  ")


def _lines_of(outcome: Outcome) -> Iterable[str]:
    yield f"  {outcome.requirement.id}  {outcome.requirement.text}"
    for one in outcome.evidence:
        yield f"      case    {one.case}"
        yield f"      sent    {one.sent}"
        yield f"      wanted  {one.wanted}"
        yield f"      got     {one.got}"
    more = outcome.failures - len(outcome.evidence)
    if more:
        yield f"      and {more} more"


def shown(thing: object) -> str:
    """A thing on one line, escaped and cut, whatever it holds."""
    text = thing if isinstance(thing, str) else "" if thing is None else str(thing)
    # Hostile paths are what is tested: nothing of them may act on whoever reads the report.
    line = text.encode("unicode_escape", "surrogatepass").decode("ascii")
    return line if len(line) <= SHOWN_CHARS else f"{line[:SHOWN_CHARS]}... ({len(text)} characters)"
