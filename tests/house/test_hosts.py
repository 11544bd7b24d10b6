"""No file names the host of a package registry: which one serves is the machine's setting."""

from __future__ import annotations

import re

from tests.house.repository import tracked

# Spelled so that this file does not name them either.
HOSTS = re.compile(
    rb"py[p]i\.(org|python)|pythonh[o]sted|npm[j]s\.(org|com)|yarnp[k]g|deb\.d[e]bian|crates\.[i]o"
    rb"|registry\.[a-z-]+\.[a-z]{2,}|--(extra-)?index[-]url\s+\S|--find[-]links"
)


def test_no_file_names_the_host_of_a_package_registry() -> None:
    named = [
        f"{path}: {found.group()!r}"
        for path in tracked()
        if (found := HOSTS.search(path.read_bytes()))
    ]
    assert named == []
