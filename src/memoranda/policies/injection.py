"""Text that tries to instruct the agent: the settings of ``policies/mark.py``."""

from __future__ import annotations

from typing import Literal, TypeAlias, get_args

from memoranda.errors import Misuse
from memoranda.light_dataclasses import dataclass

MarkMode: TypeAlias = Literal["off", "flag", "review"]
"""``flag`` stores the text and notes its marks in the audit entry of the change; ``review`` has the
write wait for a person as a proposal."""


@dataclass(frozen=True, slots=True, kw_only=True)
class InjectionMarks:
    """What happens to text that speaks to the agent as an instruction would.

    Nothing is changed in it. ``frame_views`` puts a note before each file that is shown, which says
    that what follows is data: it costs Claude some tokens a view.

    Raises ``Misuse`` for values that can't be.
    """

    mode: MarkMode = "flag"
    frame_views: bool = False

    def __post_init__(self) -> None:
        if self.mode not in get_args(MarkMode):
            raise Misuse(
                f'InjectionMarks: mode is {self.mode!r}; it has to be "off", "flag" or "review".'
            )
        if type(self.frame_views) is not bool:
            raise Misuse(
                f"InjectionMarks: frame_views is {self.frame_views!r}; it has to be True or False."
            )
