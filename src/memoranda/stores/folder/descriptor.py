"""Open files that close themselves when the last one who uses them lets go."""

from __future__ import annotations

import os


class Descriptor:
    """A file descriptor's owner.

    A store may be closed (too many are open) while another thread reads in it. The reader holds
    the owner, so the number can't be closed, and given to another tenant's file, under its hands.
    """

    __slots__ = ("number",)

    def __init__(self, number: int) -> None:
        self.number = number

    def __del__(self) -> None:
        os.close(self.number)
