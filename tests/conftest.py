"""What every test runs under: a clean environment, and no long test unless it is asked for."""

from __future__ import annotations

import os

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--full", action="store_true", help="also run the tests that take minutes")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out the long tests; ``make check-full`` asks for them."""
    if config.getoption("--full"):
        return
    long = [item for item in items if item.get_closest_marker("full")]
    if long:
        config.hook.pytest_deselected(items=long)
        items[:] = [item for item in items if not item.get_closest_marker("full")]


@pytest.fixture(autouse=True)
def clean_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """The settings of whoever runs the tests say nothing about the code."""
    for name in [name for name in os.environ if name.startswith(("MEMORANDA_", "ANTHROPIC_"))]:
        monkeypatch.delenv(name)
