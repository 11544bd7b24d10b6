"""``python -m memoranda``: the command line."""

from __future__ import annotations

from memoranda.cli.main import main

main()
