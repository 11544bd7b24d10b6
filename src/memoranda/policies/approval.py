"""Approval: the settings of ``policies/await_approval.py``."""

from __future__ import annotations

from memoranda.errors import Misuse
from memoranda.light_dataclasses import dataclass
from memoranda.path import MemoryPath


@dataclass(frozen=True, slots=True, kw_only=True)
class Approval:
    """Which writes wait for a person: those that make, change, remove or move a memory at a path
    like ``path``, and those that move one to it.

    ``path`` is a pattern over the whole printed path (``/memories/rules/*``): ``*`` stands for
    anything, slashes too, ``?`` for one character, ``[...]`` for one of some; case matters. What
    nobody has decided about for ``expires_days`` (whole days of 1 or more) can't be approved any
    more.

    Raises ``Misuse`` for values that can't be.
    """

    path: str = "/memories/*"
    expires_days: int = 30

    def __post_init__(self) -> None:
        if type(self.path) is not str or not self.path.startswith("/memories"):
            raise Misuse(f"Approval: path is {self.path!r}; it has to begin with /memories.")
        if type(self.expires_days) is not int or self.expires_days < 1:
            raise Misuse(
                f"Approval: expires_days is {self.expires_days!r}; "
                "it has to be a whole number of 1 or more."
            )

    def fits(self, path: MemoryPath) -> bool:
        """Whether the rule is about this path."""
        from fnmatch import fnmatchcase  # few policies have such a rule

        return fnmatchcase(path.text, self.path)
