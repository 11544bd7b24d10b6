"""The six commands as data, and how a raw input becomes one.

``parse`` reads what Claude sent, once; after it nothing re-validates a path or a field.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import ClassVar, Final, TypeAlias, cast

from memoranda.errors import (
    BadPath,
    MissingParameter,
    PathFault,
    Refused,
    UnknownCommand,
    WrongParameter,
)
from memoranda.lazy_pattern import lazy_pattern
from memoranda.light_dataclasses import dataclass
from memoranda.path import MemoryPath, parse_path


@dataclass(frozen=True, slots=True)
class View:
    """Show a file, or lines ``view_range`` (1-based, inclusive, end -1: to the last) of it, or
    list a directory."""

    name: ClassVar[str] = "view"
    path: MemoryPath
    view_range: tuple[int, int] | None = None


@dataclass(frozen=True, slots=True)
class Create:
    """Make a file with ``file_text``."""

    name: ClassVar[str] = "create"
    path: MemoryPath
    file_text: str


@dataclass(frozen=True, slots=True)
class StrReplace:
    """Replace the one place of ``old_str`` by ``new_str``; "" deletes it."""

    name: ClassVar[str] = "str_replace"
    path: MemoryPath
    old_str: str
    new_str: str = ""


@dataclass(frozen=True, slots=True)
class Insert:
    """Insert ``insert_text`` after line ``insert_line``; 0 is the top."""

    name: ClassVar[str] = "insert"
    path: MemoryPath
    insert_line: int
    insert_text: str


@dataclass(frozen=True, slots=True)
class Delete:
    """Delete a file, or a directory with all below it."""

    name: ClassVar[str] = "delete"
    path: MemoryPath


@dataclass(frozen=True, slots=True)
class Rename:
    """Give the file or directory at ``old_path`` the new path ``new_path``."""

    name: ClassVar[str] = "rename"
    old_path: MemoryPath
    new_path: MemoryPath


@dataclass(frozen=True, slots=True)
class RefusedInput:
    """An input that is no command: it travels through the layers, which count it like any other.

    ``name`` is the command it named, "" where it named none of the six.
    """

    name: str
    error: Refused


Command: TypeAlias = View | Create | StrReplace | Insert | Delete | Rename


"""Why a path of a file is refused that is given with a trailing slash."""

_Fields: TypeAlias = dict[object, object]
_Reader: TypeAlias = Callable[[_Fields], Command]

# The contract's bound for a number sent as a string.
_DIGITS: Final = lazy_pattern(r"-?[0-9]{1,18}")

# Wide enough for every whole float, and narrow enough to be printed: Python refuses to turn
# integers of more than 4,300 digits into text.
_MAX_INTEGER_BITS: Final = 1024

# Longer JSON text is no pair of line numbers, and could be nested too deep to read.
_MAX_PAIR_CHARS: Final = 100


def parse(raw: object) -> Command | RefusedInput:
    """The command that ``raw``, the input of a tool call, asks for.

    Reads as tolerantly as the tool contract says and never guesses between two readings. Raises
    nothing, whatever ``raw`` is: what is no command comes back with the reason. Where no command
    is named at all that is ``MissingParameter`` of the parameter ``command`` and no command. What an
    adapter refused already stays refused, and is counted and audited like any other refusal.
    Pure; looks at no field that the command doesn't use.
    """
    if type(raw) is RefusedInput:
        return raw
    name = ""
    try:
        if type(raw) is dict:
            fields = cast("_Fields", raw)
        else:
            fields = _plain_dict(raw)
        name, read = _command(fields)
        return read(fields)
    except Refused as error:
        return RefusedInput(name, error)


def _plain_dict(raw: object) -> _Fields:
    if isinstance(raw, dict):
        fields = cast("_Fields", raw)
        # A subclass may answer anything when asked; this is what it holds.
        return dict(dict[object, object].items(fields))
    raise MissingParameter("", "command")


def _command(fields: _Fields) -> tuple[str, _Reader]:
    given = fields.get("command")
    if given is None:
        raise MissingParameter("", "command")
    if not isinstance(given, str):
        raise UnknownCommand(given)
    name = str.__str__(given)
    read = _READERS.get(name)
    if read is None:
        raise UnknownCommand(name)
    return name, read


def _view(fields: _Fields) -> View:
    path = parse_path(_string(fields, "view", "path"))
    given = fields.get("view_range")
    return View(path, None if given is None else _line_range(given))


def _create(fields: _Fields) -> Create:
    return Create(_file_path(fields, "create"), _text(fields, "create", "file_text"))


def _str_replace(fields: _Fields) -> StrReplace:
    path = _file_path(fields, "str_replace")
    old_str = _text(fields, "str_replace", "old_str")
    if fields.get("new_str") is None:
        return StrReplace(path, old_str)
    return StrReplace(path, old_str, _text(fields, "str_replace", "new_str"))


def _insert(fields: _Fields) -> Insert:
    path = _file_path(fields, "insert")
    given = fields.get("insert_line")
    if given is None:
        raise MissingParameter("insert", "insert_line")
    line = _integer(given)
    if line is None:
        raise WrongParameter("insert", "insert_line", "an integer")
    return Insert(path, line, _text(fields, "insert", "insert_text", instead="new_str"))


def _delete(fields: _Fields) -> Delete:
    return Delete(parse_path(_string(fields, "delete", "path")))


def _rename(fields: _Fields) -> Rename:
    old_path = parse_path(_string(fields, "rename", "old_path", instead="path"))
    return Rename(old_path, parse_path(_string(fields, "rename", "new_path")))


_READERS: Final[dict[str, _Reader]] = {
    View.name: _view,
    Create.name: _create,
    StrReplace.name: _str_replace,
    Insert.name: _insert,
    Delete.name: _delete,
    Rename.name: _rename,
}


def _file_path(fields: _Fields, command: str) -> MemoryPath:
    """The path of a file; only a directory's may end with a slash, and the root is one."""
    given = _string(fields, command, "path")
    path = parse_path(given)
    if path.slash and not path.is_root:
        raise BadPath(given, PathFault.FILE_WITH_SLASH)
    return path


def _text(fields: _Fields, command: str, parameter: str, instead: str = "") -> str:
    """Text to be stored or looked for, so one that is UTF-8."""
    text = _string(fields, command, parameter, instead)
    if not text.isascii():
        try:
            text.encode()
        except UnicodeEncodeError:
            wanted = "text without unpaired surrogates"
            raise WrongParameter(command, parameter, wanted) from None
    return text


def _string(fields: _Fields, command: str, parameter: str, instead: str = "") -> str:
    """A required string; of the field ``instead`` where ``parameter`` is left out."""
    given = fields.get(parameter)
    if given is None and instead:
        given = fields.get(instead)
    if type(given) is str:
        return given
    if isinstance(given, str):
        return str.__str__(given)
    if given is None:
        raise MissingParameter(command, parameter)
    raise WrongParameter(command, parameter, "a string")


def _integer(given: object) -> int | None:
    """A whole number in one of the forms that models send, or None; booleans are no numbers."""
    if type(given) is int:
        return given if given.bit_length() <= _MAX_INTEGER_BITS else None
    if type(given) is float:
        return int(given) if given.is_integer() else None
    if type(given) is str and _DIGITS.fullmatch(given):
        return int(given)
    return None


def _line_range(given: object) -> tuple[int, int]:
    """The pair of line numbers in ``given``, a list or a JSON string that holds one."""
    if type(given) is str and len(given) <= _MAX_PAIR_CHARS:
        given = _json(given)
    if type(given) is list or type(given) is tuple:
        pair = cast("Sequence[object]", given)
        if len(pair) == 2:
            start, end = _integer(pair[0]), _integer(pair[1])
            if start is not None and end is not None:
                return start, end
    raise WrongParameter("view", "view_range", "a list of two integers, [start, end]")


def _json(text: str) -> object:
    import json

    try:
        return json.loads(text)
    except ValueError:
        return None
