"""A server that runs for long: no error, and no memory or descriptor that is not given back."""

from __future__ import annotations

import os
import shutil
import sys

import pytest

from tests.server.live import new_home, url_of
from tests.server.soak import soak

SECONDS = float(os.environ.get("MEMORANDA_SOAK_SECONDS", "90"))
"""An hour is the run before a release: ``MEMORANDA_SOAK_SECONDS=3600``."""


@pytest.mark.full
@pytest.mark.skipif(sys.platform != "linux", reason="only Linux says how much memory others have")
def test_memory_stays_flat_and_nothing_fails() -> None:
    home = new_home()
    try:
        found = soak(url_of("folder", home), SECONDS, 0.0)
    finally:
        shutil.rmtree(home, ignore_errors=True)
    assert found.errors == []
    assert found.samples[-1].requests > SECONDS * 20
    assert found.growth() < 1.15, found.samples
    descriptors = [sample.descriptors for sample in found.samples[len(found.samples) // 4 :]]
    assert max(descriptors) <= min(descriptors) + 16
