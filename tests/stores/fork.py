"""A fork that runs one function and ends."""

from __future__ import annotations

import os
import traceback
import warnings
from collections.abc import Callable


def in_a_child(work: Callable[[], None]) -> int:
    """Run something in a fork; its exit status."""
    with warnings.catch_warnings():
        # The test runner's threads are none that hold anything of ours.
        warnings.simplefilter("ignore", DeprecationWarning)
        child = os.fork()
    if child == 0:
        try:
            work()
        except BaseException:  # noqa: BLE001 - a child must not go on into the runner's code
            traceback.print_exc()
            os._exit(1)
        os._exit(0)
    _, status = os.waitpid(child, 0)
    return os.waitstatus_to_exitcode(status)
