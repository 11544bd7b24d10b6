"""How long the random rounds run."""

from __future__ import annotations

import pytest


@pytest.fixture
def rounds(request: pytest.FixtureRequest) -> range:
    """The seeds of the random rounds: a few for every pull request, many in the full run."""
    return range(1000 if request.config.getoption("--full") else 25)
