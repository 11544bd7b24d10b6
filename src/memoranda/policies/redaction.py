"""What is taken out of memories before it is kept: the settings of ``policies/redact.py``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Literal, TypeAlias, get_args

from memoranda.errors import Misuse
from memoranda.light_dataclasses import dataclass

if TYPE_CHECKING:
    from memoranda.detect.finding import Detector

RedactionMode: TypeAlias = Literal["off", "mask", "refuse"]
"""``off`` keeps the text as it is; ``mask`` puts ``[REDACTED:kind]`` in its place; ``refuse``
stores nothing and tells Claude why."""

KINDS: Final = ("credential", "email", "phone", "card", "iban", "national_id")
"""The kinds that the built-in rules find, each a field of ``Redaction``."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Redaction:
    """What happens to secrets and personal data in what is written, for each kind.

    ``credential``: keys, tokens and passwords of services; ``card``: payment cards with the right
    check digit; ``iban``: bank accounts; ``national_id``: personal numbers of states, with the
    right check digit. ``other`` holds for whatever further kinds ``detectors`` find: functions from
    a text to findings (``memoranda.detect.finding.Detector``), asked beside the built-in rules.
    ``kingfisher`` asks the scanner of the extra ``secrets`` as well.

    A file name can't be masked: one that holds what is masked or refused is refused.

    Raises ``Misuse`` for values that can't be.
    """

    credential: RedactionMode = "mask"
    email: RedactionMode = "off"
    phone: RedactionMode = "off"
    card: RedactionMode = "off"
    iban: RedactionMode = "off"
    national_id: RedactionMode = "off"
    other: RedactionMode = "mask"
    kingfisher: bool = False
    detectors: tuple[Detector, ...] = ()

    def __post_init__(self) -> None:
        for name in (*KINDS, "other"):
            value: object = getattr(self, name)
            if value not in get_args(RedactionMode):
                raise Misuse(
                    f'Redaction: {name} is {value!r}; it has to be "off", "mask" or "refuse".'
                )
        if type(self.kingfisher) is not bool:
            raise Misuse(
                f"Redaction: kingfisher is {self.kingfisher!r}; it has to be True or False."
            )
        if type(self.detectors) is not tuple or not all(map(callable, self.detectors)):
            raise Misuse("Redaction: detectors has to be a tuple of functions.")

    @classmethod
    def off(cls) -> Redaction:
        """Nothing is looked for."""
        return cls(credential="off")

    @classmethod
    def everything(cls, mode: RedactionMode = "mask") -> Redaction:
        """All kinds, personal data too."""
        return cls(
            credential=mode,
            email=mode,
            phone=mode,
            card=mode,
            iban=mode,
            national_id=mode,
            other=mode,
        )

    def mode_of(self, kind: str) -> RedactionMode:
        """What happens to a kind; ``other`` for one that is no field."""
        mode: RedactionMode = getattr(self, kind if kind in KINDS else "other")
        return mode

    @property
    def kinds(self) -> tuple[str, ...]:
        """The built-in kinds that are looked for."""
        return tuple(kind for kind in KINDS if getattr(self, kind) != "off")

    @property
    def looks(self) -> bool:
        """Whether anything is looked for at all."""
        return bool(self.kinds or self.detectors or self.kingfisher)
