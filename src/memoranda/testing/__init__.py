"""The test kit that Memoranda ships: for those who write stores, layers or handlers.

- ``memoranda.testing.store_suite``: prove a backend or a layer against the store contract.
- ``memoranda.testing.model``: random operations against a plain-dict oracle (hypothesis).
- ``memoranda.testing.faults``: stores that are slow, fail, crash or take notes.
- ``memoranda.testing.tool_suite``: prove any handler of Claude's memory tool.

Nothing here is imported by the rest of Memoranda.
"""

from __future__ import annotations

import sys

# A failing promise should show the values it compared, in other people's projects too; pytest
# rewrites the asserts of installed modules only when told, and only before they are imported.
if "pytest" in sys.modules:
    sys.modules["pytest"].register_assert_rewrite("memoranda.testing.promises")
