"""``dataclasses`` for a fraction of the start-up time.

The standard module loads ``inspect`` and compiles every method of every class at once: 17 ms of
a cold start, for a first view that makes objects of few classes and compares none. Here a class's
``__init__`` is compiled with its first object. To type checkers, and to whoever asks
``dataclasses``, the classes are dataclasses like any other; programs may use
``dataclasses.replace`` and ``dataclasses.fields``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

__all__ = ["dataclass", "field_names", "replace"]

if TYPE_CHECKING:
    from collections.abc import Callable
    from dataclasses import dataclass, replace
else:

    def dataclass(
        *, slots: bool, frozen: bool = False, eq: bool = True, kw_only: bool = False
    ) -> Callable[[type], type]:
        """Make a class of fields out of one that annotates them, as ``dataclasses`` does.

        Only what is used here: always with slots, no base classes, no ``field()``; annotations are
        texts, as with ``from __future__ import annotations``. A default is shared by all objects.
        """
        assert slots, "objects without slots are not offered"

        def make(written: type) -> type:
            assert written.__bases__ == (object,), "fields are not inherited"
            namespace = dict(written.__dict__)
            for name in ("__dict__", "__weakref__"):
                namespace.pop(name, None)
            kinds = namespace.get("__annotations__", {})
            names = tuple(name for name in kinds if not kinds[name].startswith("ClassVar"))
            namespace["__defaults__"] = {
                name: namespace.pop(name) for name in names if name in namespace
            }
            namespace["__kw_only__"] = kw_only
            namespace["__slots__"] = names
            namespace["__match_args__"] = () if kw_only else names
            if not eq:
                namespace["__eq__"] = object.__eq__
                namespace["__hash__"] = object.__hash__
            elif not frozen:
                namespace["__hash__"] = None
            return type(written.__name__, (Frozen if frozen else Fields,), namespace)

        return make

    def replace(obj: Fields, /, **changes: Any) -> Fields:
        """Another object with some fields changed."""
        # Every layer that a command passes makes another context: 1 us instead of 9.
        kind, names = type(obj), tuple(changes)
        made = _replacers.get((kind, names)) or _compile_replacer(kind, names)
        replaced: Fields = made(obj, *changes.values())
        return replaced


def field_names(described: object) -> tuple[str, ...]:
    """The names of the fields of such a class or object, in order."""
    names: tuple[str, ...] = getattr(described, "__slots__")  # noqa: B009 - of no class we know
    return names


_replacers: Final[dict[tuple[type[Fields], tuple[str, ...]], Callable[..., Any]]] = {}


def _compile_replacer(kind: type[Fields], names: tuple[str, ...]) -> Callable[..., Any]:
    """What makes another object of a class with these fields given, as one would write it by hand.

    The text that is compiled holds names of fields and nothing else.
    """
    unknown = set(names).difference(kind.__slots__)
    if unknown:
        raise TypeError(f"{kind.__name__} has no field {min(unknown)!r}")
    values = [name if name in names else f"_obj.{name}" for name in kind.__slots__]
    if kind.__kw_only__:
        values = [f"{name}={value}" for name, value in zip(kind.__slots__, values, strict=True)]
    scope: dict[str, Any] = {"_kind": kind}
    exec(  # noqa: S102
        f"def replaced(_obj, {', '.join(names)}): return _kind({', '.join(values)})", scope
    )
    replaced: Callable[..., Any] = _replacers.setdefault((kind, names), scope["replaced"])
    return replaced


class _OfTwin:
    """An attribute that ``dataclasses`` looks for, taken from a real one with the same fields."""

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    def __get__(self, _: object, owner: type[Fields]) -> Any:
        from dataclasses import field, make_dataclass

        def described(name: str) -> Any:
            if name not in owner.__defaults__:
                return field()
            return field(default_factory=lambda: owner.__defaults__[name])

        twin = make_dataclass(
            owner.__name__,
            [(name, Any, described(name)) for name in owner.__slots__],
            kw_only=owner.__kw_only__,
        )
        found = getattr(twin, self._name)
        setattr(owner, self._name, found)
        return found


class Fields:
    """What all the classes can do."""

    __defaults__: dict[str, Any]
    __kw_only__: bool
    __slots__: tuple[str, ...] = ()

    __dataclass_fields__ = _OfTwin()
    __dataclass_params__ = _OfTwin()

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        # The first object; every other one finds an __init__ of its class's own.
        _compile_init(type(self))(self, *args, **kwargs)

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        return self.__getstate__() == other.__getstate__()

    def __hash__(self) -> int:
        return hash(self.__getstate__())

    def __repr__(self) -> str:
        said = ", ".join(f"{name}={getattr(self, name)!r}" for name in self.__slots__)
        return f"{type(self).__qualname__}({said})"

    def __getstate__(self) -> tuple[Any, ...]:
        return tuple([getattr(self, name) for name in self.__slots__])

    def __setstate__(self, state: tuple[Any, ...]) -> None:
        for name, value in zip(self.__slots__, state, strict=True):
            object.__setattr__(self, name, value)


class Frozen(Fields):
    """What can't be changed."""

    __slots__ = ()

    def __setattr__(self, name: str, _: object) -> None:
        from dataclasses import FrozenInstanceError

        raise FrozenInstanceError(f"cannot assign to field {name!r}")

    def __delattr__(self, name: str) -> None:
        from dataclasses import FrozenInstanceError

        raise FrozenInstanceError(f"cannot delete field {name!r}")


def _compile_init(made: type[Fields]) -> Any:
    """Give a class the ``__init__`` that one would write by hand, as fast as that.

    The text that is compiled holds names of fields and nothing else.
    """
    names = made.__slots__
    parameters = [
        f"{name}=_defaults[{name!r}]" if name in made.__defaults__ else name for name in names
    ]
    if made.__kw_only__:
        parameters.insert(0, "*")
    how = "_set_{0}(self, {0})" if issubclass(made, Frozen) else "self.{0} = {0}"
    lines = [how.format(name) for name in names]
    if hasattr(made, "__post_init__"):
        lines.append("self.__post_init__()")
    scope: dict[str, Any] = {f"_set_{name}": getattr(made, name).__set__ for name in names}
    scope["_defaults"] = made.__defaults__
    text = f"def __init__(self, {', '.join(parameters)}):\n " + "\n ".join(lines)
    exec(text, scope)  # noqa: S102
    init = scope["__init__"]
    init.__qualname__ = f"{made.__qualname__}.__init__"
    type.__setattr__(made, "__init__", init)
    return init
