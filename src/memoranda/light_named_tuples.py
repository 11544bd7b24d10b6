"""``typing.NamedTuple`` for a fraction of the start-up time.

The standard one compiles the annotation of each field, which nobody asks here, and a ``__new__`` for
each class: a first view defines thirty of them and makes objects of ten. What is made here behaves the
same, but compiles its ``__new__`` with its first object.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

__all__ = ["NamedTuple"]

if TYPE_CHECKING:
    from typing import NamedTuple
else:
    from collections import namedtuple

    _WIDEST: Final = namedtuple("_Widest", [f"field{n}" for n in range(32)])  # noqa: PYI024 - see below

    # What reads a field knows only its number, so that all classes can share what one has: it is
    # written in C, and no public name makes another.
    _READERS: Final = tuple(vars(_WIDEST)[field] for field in _WIDEST._fields)

    class _Making(type):
        def __new__(cls, name, bases, namespace):
            if not bases:
                return super().__new__(cls, name, bases, namespace)
            fields = tuple(namespace.get("__annotations__", {}))
            defaults = {field: namespace[field] for field in fields if field in namespace}
            assert tuple(defaults) == fields[len(fields) - len(defaults) :]
            described = {
                "__doc__": f"{name}({', '.join(fields)})",
                "__slots__": (),
                "__match_args__": fields,
                "_fields": fields,
                "_field_defaults": defaults,
            }
            readers = dict(zip(fields, _READERS[: len(fields)], strict=True))
            return type(name, (tuple,), described | _SHARED | namespace | readers)

    class NamedTuple(metaclass=_Making):
        """Fields are annotated, those with a default last; methods and properties as they come."""

    def _new(cls, /, *args, **kwargs):
        # The first object; every other one finds a __new__ of its class's own.
        return _compile_new(cls)(cls, *args, **kwargs)

    def _make(cls, iterable):
        made = tuple.__new__(cls, iterable)
        if len(made) != len(cls._fields):
            raise TypeError(f"Expected {len(cls._fields)} arguments, got {len(made)}")
        return made

    def _replace(self, /, **changes):
        made = self._make(map(changes.pop, self._fields, self))
        if changes:
            raise ValueError(f"Got unexpected field names: {list(changes)!r}")
        return made

    def _asdict(self):
        return dict(zip(self._fields, self, strict=True))

    def _repr(self):
        said = ", ".join(f"{name}={value!r}" for name, value in self._asdict().items())
        return f"{type(self).__name__}({said})"

    def _values(self):
        return tuple(self)

    _SHARED: Final = {
        "__new__": _new,
        "__repr__": _repr,
        "__getnewargs__": _values,
        "__replace__": _replace,
        "_make": classmethod(_make),
        "_replace": _replace,
        "_asdict": _asdict,
    }
    """What all the classes can do, as those of ``collections.namedtuple``."""


def _compile_new(kind: type) -> Any:
    """Give a class the ``__new__`` that one would write by hand, as fast as that.

    The text that is compiled holds names of fields and nothing else.
    """
    owner = next(each for each in kind.__mro__ if "_fields" in vars(each))
    fields, defaults = vars(owner)["_fields"], vars(owner)["_field_defaults"]
    parameters = "".join(
        f", {name}=_defaults[{name!r}]" if name in defaults else f", {name}" for name in fields
    )
    values = "".join(f"{name}, " for name in fields)
    scope: dict[str, Any] = {"_defaults": defaults, "_make": getattr(tuple, "__new__")}  # noqa: B009
    exec(  # noqa: S102
        f"def __new__(_cls{parameters}): return _make(_cls, ({values}))", scope
    )
    new = scope["__new__"]
    new.__qualname__ = f"{owner.__qualname__}.__new__"
    setattr(owner, "__new__", staticmethod(new))  # noqa: B010 - of no class a type checker knows
    return new
