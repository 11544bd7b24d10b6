"""What a detector gives: where something stands, of which kind it is, and what it is called."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple, Protocol


class Finding(NamedTuple):
    """Characters ``start`` to ``end`` (0-based, end exclusive) of a text.

    ``kind`` is a short word, which is what masked text names (``credential``, ``email``); ``what``
    is what people and Claude are told ("GitHub token"), the kind itself where it is empty. It never
    holds any of the text.
    """

    start: int
    end: int
    kind: str
    what: str = ""


class Detector(Protocol):
    """Finds things in a text. Pure: the same text gives the same findings; keeps and logs nothing.

    Called inside a store's transaction, maybe several times for one write, from any thread. What it
    raises refuses the write.
    """

    def __call__(self, text: str, /) -> Iterable[Finding]:
        """The findings in ``text``, in any order; they may overlap.

        Bytes of a file that are no UTF-8 come as lone surrogates.
        """
        ...
