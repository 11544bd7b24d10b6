"""``python -m memoranda``: the command line."""

from __future__ import annotations

import sys

from memoranda.cli.main import main

sys.exit(main())
