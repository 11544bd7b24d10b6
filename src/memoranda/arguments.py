"""What programs pass to a method, looked at before anything starts: each raises ``Misuse``.

Type checkers tell most of it, but not to everybody, and a wrong value would else surface as a
stranger's error from deep inside, with half of the work done. No message repeats a value.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any, Final, TypeVar

from memoranda.errors import Misuse

MOST: Final = 2**31 - 1
"""More than anything that is counted here; larger counts mean the same."""

T = TypeVar("T")


def any_text(name: str, value: object) -> str:
    """A ``str``, whatever it holds."""
    if not isinstance(value, str):
        raise Misuse(f"{name} has to be a str.")
    return str.__str__(value)  # a subclass may answer anything when asked


def text(name: str, value: object) -> str:
    """A ``str`` that can be written as UTF-8."""
    plain = any_text(name, value)
    if not is_utf8(plain):
        raise Misuse(f"{name} has to be a str without unpaired surrogates.")
    return plain


def optional_text(name: str, value: object) -> str | None:
    """The same, or None."""
    return None if value is None else text(name, value)


def flag(name: str, value: object) -> bool:
    """True or False, not what counts as such."""
    if value is True or value is False:
        return value
    raise Misuse(f"{name} has to be True or False.")


def count(name: str, value: object) -> int:
    """A whole number from 0 on; more than ``MOST`` is ``MOST``."""
    if type(value) is not int or value < 0:
        raise Misuse(f"{name} has to be an int, 0 or more.")
    return min(value, MOST)


def choice(name: str, value: object, allowed: tuple[T, ...]) -> T:
    """One of a few values."""
    for one in allowed:
        if type(value) is type(one) and value == one:
            return one
    raise Misuse(f"{name} has to be one of: {', '.join(map(repr, allowed))}.")


def instance(name: str, value: Any, kind: type[T]) -> T:
    """An object of a class or of one derived from it."""
    if not isinstance(value, kind):
        raise Misuse(f"{name} has to be a {kind.__name__}.")
    return value


def several(name: str, value: object, kind: type[T]) -> tuple[T, ...]:
    """A list or tuple of such objects."""
    if not isinstance(value, (list, tuple)):
        raise Misuse(f"{name} has to be a list or a tuple.")
    return tuple(instance(name, one, kind) for one in value)  # pyright: ignore[reportUnknownVariableType]


def folder(name: str, value: object) -> str:
    """A folder of the host, named by a ``str`` or a ``PathLike`` of one."""
    if not isinstance(value, (str, os.PathLike)):
        raise Misuse(f"{name} has to be a path: a str or an os.PathLike.")
    path: object = os.fspath(value)  # pyright: ignore[reportUnknownVariableType]
    plain = str.__str__(path) if isinstance(path, str) else "\0"
    if "\0" in plain or not _is_name_on_disk(plain):
        raise Misuse(f"{name} has to be a path that the host can have.")
    return plain


def optional_callable(name: str, value: Callable[..., T] | None) -> Callable[..., T] | None:
    """A function, or None."""
    if value is None or callable(value):
        return value
    raise Misuse(f"{name} has to be a function.")


def _is_name_on_disk(path: str) -> bool:
    try:
        os.fsencode(path)
    except UnicodeEncodeError:
        return False
    return True


def is_utf8(value: str) -> bool:
    """Whether a text holds no unpaired surrogate, so that it can be written at all."""
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return True
