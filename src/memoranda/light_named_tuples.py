"""``typing.NamedTuple`` for a third of the start-up time.

The standard one compiles the annotation of each field, which nobody asks here. What it makes is the
same: classes of ``collections.namedtuple``, which type checkers see as they are written.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

__all__ = ["NamedTuple"]

if TYPE_CHECKING:
    from typing import NamedTuple
else:
    from collections import namedtuple

    class _Making(type):
        def __new__(cls, name, bases, namespace):
            if not bases:
                return super().__new__(cls, name, bases, namespace)
            fields = namespace.get("__annotations__", {})
            defaults = {field: namespace[field] for field in fields if field in namespace}
            assert tuple(defaults) == tuple(fields)[len(fields) - len(defaults) :]
            made = namedtuple(  # noqa: PYI024 - it is what this is for
                name, fields, defaults=defaults.values(), module=namespace["__module__"]
            )
            made.__annotations__ = fields
            for key, value in namespace.items():
                if key not in fields and key not in _OF_THE_CLASS:
                    setattr(made, key, value)
            return made

    _OF_THE_CLASS = frozenset({"__module__", "__annotations__", "__dict__", "__weakref__"})

    class NamedTuple(metaclass=_Making):
        """Fields are annotated, those with a default last; methods and properties as they come."""
