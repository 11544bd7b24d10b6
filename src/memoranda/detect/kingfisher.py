"""A second opinion: the scanner library Kingfisher, where the extra ``secrets`` is installed.

It knows formats by the hundred. It runs in this process, looks nothing up and keeps nothing: its
validator, which would try a secret out at its vendor, is never made, and its cache of rules is off.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from typing import Final

from memoranda.detect.finding import Detector, Finding
from memoranda.errors import Misuse

TIMEOUT_SECONDS: Final = 5.0
"""A text that takes longer is not stored."""


@cache
def kingfisher_detector() -> Detector:
    """The detector; one for all, since loading its rules takes half a second.

    Raises ``Misuse`` where the library is not installed.
    """
    try:
        from kingfisher_sdk import Rules, Scanner
    except ImportError as error:
        raise Misuse(
            "Redaction: kingfisher needs the extra: pip install 'memoranda[secrets]'."
        ) from error
    # Without dedup=False a secret that was found once would be let through the second time. What
    # lies in base64 is reported at the outer text, so it may be looked for.
    scanner = Scanner(Rules(cache=False), base64=True, dedup=False, redact=False)

    def find(text: str) -> Iterable[Finding]:
        data = text.encode(errors="surrogateescape")
        for found in scanner.scan(data, timeout=TIMEOUT_SECONDS):
            if not found.visible:  # the other half of a pair: an account's id, say
                continue
            start, end = found.location["start_offset"], found.location["end_offset"]
            # It counts bytes.
            first = len(data[:start].decode(errors="surrogateescape"))
            size = len(data[start:end].decode(errors="surrogateescape"))
            yield Finding(first, first + size, "credential", "a secret")

    return find
