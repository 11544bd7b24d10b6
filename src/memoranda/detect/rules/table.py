"""All rules, in the order in which they are asked."""

from __future__ import annotations

from typing import Final

from memoranda.detect.rules.personal import PERSONAL
from memoranda.detect.rules.places import PLACES
from memoranda.detect.rules.tokens import TOKENS

RULES: Final = (*TOKENS, *PLACES, *PERSONAL)
"""The first rule that finds a place names it; a rule that begins before it goes first."""
