"""Spoiled stores, one file for each file of promises; importing this registers them all."""

from __future__ import annotations

import importlib
import pkgutil

from tests.testing.broken.registry import BROKEN

for found in pkgutil.iter_modules(__path__, f"{__name__}."):
    importlib.import_module(found.name)

__all__ = ["BROKEN"]
