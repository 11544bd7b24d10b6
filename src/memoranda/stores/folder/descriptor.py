"""Open files that close themselves when the last one who uses them lets go."""

from __future__ import annotations

import os
from collections.abc import Callable


class Descriptor:
    """A file descriptor's owner.

    A store may be closed (too many are open) while another thread reads in it. The reader holds
    the owner, so the number can't be closed, and given to another tenant's file, under its hands.
    """

    __slots__ = ("number",)

    def __init__(self, number: int) -> None:
        self.number = number

    # Bound here: at the end of the interpreter modules are emptied before the last objects go.
    def __del__(self, close: Callable[[int], None] = os.close) -> None:
        number, self.number = self.number, -1
        if number >= 0:
            try:
                close(number)
            except OSError:
                # Somebody closed it over our head (a program that becomes a daemon closes all
                # there are). Raised here it would only be printed, with nobody to answer it.
                pass

    def close(self) -> None:
        """Close it at once: nobody else has it."""
        self.__del__()
