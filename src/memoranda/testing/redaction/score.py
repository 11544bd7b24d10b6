"""Precision and recall of redaction, on the invented corpus and on documentation that is here."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from importlib.metadata import distributions
from random import Random
from typing import Final, NamedTuple

from memoranda.detect.finding import Finding
from memoranda.testing.redaction.invent import Labelled, labelled
from memoranda.testing.redaction.lookalikes import LOOK_ALIKES, PERSONAL_LOOK_ALIKES
from memoranda.testing.redaction.secrets import CREDENTIALS, PERSONAL, UNRULED

SEED: Final = 20261130
ROUNDS: Final = 5
"""How many secrets of each format are invented."""

Find = Callable[[str], Iterable[Finding]]


class Score(NamedTuple):
    """How one kind of text did: ``found`` of ``wanted`` secrets, and what was ``false`` alarm.

    ``missed`` names the formats of which one was not found, or not whole.
    """

    wanted: int
    found: int
    false: int
    missed: tuple[str, ...] = ()

    @property
    def recall(self) -> float:
        """The part of the secrets that was found whole."""
        return self.found / self.wanted if self.wanted else 1.0

    @property
    def precision(self) -> float:
        """The part of what was found that is a secret."""
        return self.found / (self.found + self.false) if self.found + self.false else 1.0


class Benign(NamedTuple):
    """Text without a secret: how much of it there was, and what was found all the same.

    ``alarms`` has the name of the text and the character at which each one stands.
    """

    texts: int
    chars: int
    alarms: tuple[tuple[str, int], ...]


def score_secrets(find: Find, templates: dict[str, str], seed: int = SEED) -> Score:
    """How ``find`` does on secrets of the formats of ``templates``."""
    random, wanted, found, false = Random(seed), 0, 0, 0  # noqa: S311 - repeatable on purpose
    missed: dict[str, None] = {}
    for _ in range(ROUNDS):
        for name, template in templates.items():
            sample = labelled(template, random)
            findings = list(find(sample.text))
            false += sum(not _touches(each, sample) for each in findings)
            for start, end in sample.secrets:
                wanted += 1
                if _covered(start, end, findings):
                    found += 1
                else:
                    missed[name] = None
    return Score(wanted, found, false, tuple(missed))


def score_lookalikes(
    find: Find, templates: Sequence[str] = LOOK_ALIKES, seed: int = SEED
) -> Benign:
    """What ``find`` takes for a secret among texts that only look so."""
    random = Random(seed)  # noqa: S311 - repeatable on purpose
    texts = [
        (template, labelled(template, random).text) for _ in range(ROUNDS) for template in templates
    ]
    return score_benign(find, texts)


def score_benign(find: Find, texts: Iterable[tuple[str, str]]) -> Benign:
    """What ``find`` finds in named texts that hold no secret."""
    count, chars = 0, 0
    alarms: list[tuple[str, int]] = []
    for name, text in texts:
        count += 1
        chars += len(text)
        alarms += [(name, each.start) for each in find(text)]
    return Benign(count, chars, tuple(alarms))


def installed_documentation() -> Iterator[tuple[str, str]]:
    """The README, licences and notes of every package that is installed beside this one."""
    seen: set[str] = set()
    for distribution in distributions():
        name = distribution.metadata["Name"] or ""
        if name in seen or name == "memoranda":
            continue
        seen.add(name)
        for file in distribution.files or ():
            ending = file.name.rsplit(".", 1)[-1].lower()
            if ending in ("md", "rst", "txt") or file.name in ("METADATA", "LICENSE", "NOTICE"):
                try:
                    yield f"{name}: {file}", file.read_text(encoding="utf-8")
                except (OSError, UnicodeDecodeError):
                    continue


def _touches(finding: Finding, sample: Labelled) -> bool:
    return any(finding.start < end and finding.end > start for start, end in sample.secrets)


def _covered(start: int, end: int, findings: Sequence[Finding]) -> bool:
    """Whether the findings hide all of the characters but at most a closing one."""
    hidden = sum(
        min(each.end, end) - max(each.start, start)
        for each in findings
        if each.start < end and each.end > start
    )
    return hidden >= end - start - 1


__all__ = [
    "CREDENTIALS",
    "LOOK_ALIKES",
    "PERSONAL",
    "PERSONAL_LOOK_ALIKES",
    "ROUNDS",
    "SEED",
    "UNRULED",
    "Benign",
    "Score",
    "installed_documentation",
    "score_benign",
    "score_lookalikes",
    "score_secrets",
]
