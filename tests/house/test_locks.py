"""No lock hangs the child of a fork: of each one it is known why not."""

from __future__ import annotations

import ast

from tests.house.repository import SOURCE

WHY = {
    "adapters/source.py": "renewed (after_fork.py)",
    "drive.py": "renewed (after_fork.py); the one of a job is never waited for",
    "policies/rate.py": "renewed (after_fork.py)",
    "shared_backends.py": "all of it is made anew in the child",
    "stores/bucket/cache.py": "renewed (after_fork.py)",
    "stores/bucket/sync_port.py": "renewed (after_fork.py)",
    "stores/folder/backend.py": "held by the thread that forks, and made anew in the child",
    "stores/folder/counters.py": "held inside the gate only, and a fork waits until nobody is there",
    "stores/folder/forking.py": "the gate itself: shut by the thread that forks, made anew after it",
    "stores/folder/index.py": "held by the thread that forks, and made anew in the child",
    "stores/folder/place.py": "made anew in the child, with the places and the set of open ones",
    "stores/git/control.py": "made anew in the child",
    "stores/git/writer.py": "made anew in the child",
    "stores/group_commit.py": "its owner makes a new one in the child",
    "stores/log/records.py": "its owner makes new ones in the child",
    "stores/postgres/sync_port.py": "renewed (after_fork.py)",
    "stores/ram.py": "made anew in the child",
    "stores/reader_pool.py": "its owner makes a new one in the child",
    "stores/remote/sync_port.py": "renewed (after_fork.py)",
    "stores/sqlite.py": "made anew in the child",
    "text/line_index.py": "renewed (after_fork.py)",
}
KINDS = {"Barrier", "BoundedSemaphore", "Condition", "Lock", "RLock", "Semaphore"}


def makes_a_lock(tree: ast.AST) -> bool:
    return any(
        isinstance(node, ast.Call) and ast.unparse(node.func).removeprefix("threading.") in KINDS
        for node in ast.walk(tree)
    )


def test_of_each_lock_it_is_known_why_it_hangs_no_child_of_a_fork() -> None:
    package = SOURCE / "memoranda"
    found = {
        str(path.relative_to(package))
        for path in package.rglob("*.py")
        if makes_a_lock(ast.parse(path.read_text()))
    }
    # The test kit forks nothing but what its own tests do.
    assert {name for name in found if not name.startswith("testing/")} == WHY.keys()
