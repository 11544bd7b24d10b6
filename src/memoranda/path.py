"""The one place that accepts or refuses a path (``docs/paths.md`` has the policy).

A path is parsed once, into segments; nothing after this module builds, joins, decodes or
normalises paths, and nothing takes a path as ``str``.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

from memoranda.errors import BadPath, Misuse, PathFault
from memoranda.lazy_pattern import lazy_pattern
from memoranda.light_dataclasses import dataclass
from memoranda.path_probe import could_become_structure

ROOT_TEXT = "/memories"
MAX_PATH_BYTES = 1024
MAX_SEGMENTS = 20
MAX_SEGMENT_BYTES = 255

# n bytes of NFC come from at most 3n characters, so a longer text can't fit; this bounds the work
# that a huge path can cause. https://unicode.org/faq/normalization.html#12
_MAX_GIVEN_CHARS: Final = len(ROOT_TEXT) + 3 * MAX_PATH_BYTES

# Models come back to the same few paths. Only accepted ones are remembered, and none that is
# longer than the limit allows in its usual spelling: at most about 5 MB in all.
_REMEMBERED_PATHS: Final = 1024
_REMEMBERED_CHARS: Final = len(ROOT_TEXT) + MAX_PATH_BYTES

_DRIVE: Final = lazy_pattern(r"[A-Za-z]:")

# Git refuses these in a tree because NTFS takes them all for .git: it ignores case, dots and
# spaces at the end, and a stream name, and git~1 is the short name of .git.
_GIT: Final = lazy_pattern(r"(?:\.git|git~[0-9]+)[. ]*(?::.*)?", re.ASCII | re.IGNORECASE)

# What nearly every path looks like, and what all rules below let pass: names of ASCII letters,
# digits, "_" and "-", with single dots inside, all together no longer than one name may be.
_PLAIN: Final = lazy_pattern(
    r"/memories(?:/[A-Za-z0-9_][A-Za-z0-9_-]*(?:\.[A-Za-z0-9_-]+)*){1,20}", re.ASCII
)


@dataclass(frozen=True, slots=True)
class MemoryPath:
    """A checked path: the names below ``/memories``, in Unicode NFC; no names is the root.

    Two paths are equal when their names are. ``slash`` tells that the path was given with a
    trailing slash, which says "directory"; it takes no part in comparisons.
    """

    segments: tuple[str, ...]
    text: str
    slash: bool = False

    def __eq__(self, other: object) -> bool:
        if type(other) is not MemoryPath:
            return NotImplemented
        return self.segments == other.segments

    def __hash__(self) -> int:
        return hash(self.segments)

    def __repr__(self) -> str:
        return f"MemoryPath(segments={self.segments!r}, slash={self.slash!r})"

    @classmethod
    def of(cls, segments: tuple[str, ...]) -> MemoryPath:
        """The path of names that are known to be good (rows of a store); nothing is checked."""
        return cls(segments, "/".join((ROOT_TEXT, *segments)))

    @classmethod
    def from_store_path(cls, given: str) -> MemoryPath:
        """The path that the HTTP API spells ``/a/b.md``; the strict form of ``parse_path``.

        It starts with a slash, doesn't end with one, isn't ``/`` alone, and is in Unicode NFC
        already. Raises ``BadPath`` about ``given``, as ``parse_path`` does.
        """
        given = _exact(given)
        if not given.startswith("/"):
            raise BadPath(given, PathFault.NO_FIRST_SLASH)
        if given.endswith("/"):
            raise BadPath(given, PathFault.LAST_SLASH)
        if len(given) > MAX_PATH_BYTES:
            raise BadPath(given, PathFault.PATH_TOO_LONG)
        try:
            path = parse_path(ROOT_TEXT + given)
        except BadPath as error:
            raise BadPath(given, error.reason) from None
        if path.store_path != given:
            raise BadPath(given, PathFault.NOT_NORMALIZED)
        return path

    def __str__(self) -> str:
        """The canonical form that Claude reads: ``/memories/a/b.md``, no trailing slash."""
        return self.text

    @property
    def is_root(self) -> bool:
        """Whether this is ``/memories`` itself."""
        return not self.segments

    @property
    def name(self) -> str:
        """The last name; the root has none and raises IndexError."""
        return self.segments[-1]

    @property
    def parent(self) -> MemoryPath:
        """The directory that holds this path; the root is its own parent."""
        return MemoryPath.of(self.segments[:-1])

    @property
    def store_path(self) -> str:
        """The path as the HTTP API spells it: ``/a/b.md``; the root is ``/``."""
        return "/" + "/".join(self.segments)

    def child(self, name: str) -> MemoryPath:
        """The path of ``name`` in this directory; ``name`` is known to be good."""
        return MemoryPath((*self.segments, name), f"{self.text}/{name}")

    def is_below(self, other: MemoryPath) -> bool:
        """Whether this path lies beneath ``other`` (not at it)."""
        n = len(other.segments)
        return len(self.segments) > n and self.segments[:n] == other.segments


ROOT = MemoryPath.of(())


def parse_path(given: str) -> MemoryPath:
    """The path that ``given`` names, the whole policy checked.

    Raises ``BadPath``: without a reason where the path leaves ``/memories``, has an empty or a dot
    segment, or hides structure in an encoding; else with what is wrong with the shape of the name.
    The answer depends on nothing but ``given``. Raises ``Misuse`` if it isn't a ``str``.
    Pure, no I/O; the cost is bounded however long ``given`` is.
    """
    if type(given) is not str:
        given = _exact(given)
    if len(given) > _REMEMBERED_CHARS:
        return _parse(given)
    return _parse_or_recall(given)


def is_allowed_name(name: str) -> bool:
    """Whether ``name``, as found on a disk, can be a segment of a path just as it is.

    Names that are not in Unicode NFC can't: no path reaches them.
    """
    try:
        _check_name(name, name)
    except BadPath:
        return False
    return name.isascii() or _in_nfc(name) == name


def _in_nfc(given: str) -> str:
    # Loaded for who needs it: its table is larger than all else that a first view loads.
    from unicodedata import normalize

    return normalize("NFC", given)


def _exact(given: object) -> str:
    if isinstance(given, str):
        # A subclass may answer anything when asked; this is what it holds.
        return str.__str__(given)
    raise Misuse("A path has to be a str.")


def _parse(given: str) -> MemoryPath:
    if len(given) <= MAX_SEGMENT_BYTES and _PLAIN.fullmatch(given):
        return MemoryPath(tuple(given.split("/")[2:]), given)
    # Before normalising: no character and no mark turns into or joins the root or a slash.
    if given != ROOT_TEXT and not given.startswith(f"{ROOT_TEXT}/"):
        raise BadPath(given)
    if len(given) > _MAX_GIVEN_CHARS:
        raise BadPath(given, PathFault.PATH_TOO_LONG)
    text = given if given.isascii() else _in_nfc(given)
    if len(text.encode(errors="surrogatepass")) - len(ROOT_TEXT) > MAX_PATH_BYTES:
        raise BadPath(given, PathFault.PATH_TOO_LONG)
    slash = text.endswith("/")
    text = text.removesuffix("/")
    segments = tuple(text.split("/")[2:])
    if len(segments) > MAX_SEGMENTS:
        raise BadPath(given, PathFault.PATH_TOO_DEEP)
    for name in segments:
        _check_name(name, given)
    return MemoryPath(segments, text, slash)


_parse_or_recall: Final = lru_cache(_REMEMBERED_PATHS)(_parse)


def _check_name(name: str, given: str) -> None:
    if name in ("", ".") or name.startswith(".."):
        raise BadPath(given)
    reason = _fault_in_shape(name)
    if reason:
        raise BadPath(given, reason)
    if could_become_structure(name):
        raise BadPath(given)


def _fault_in_shape(name: str) -> PathFault | None:
    # Of ASCII, what can be printed is all that can be seen: most names need no look at the table.
    if not (name.isascii() and name.isprintable()):
        from memoranda.invisible import INVISIBLE

        if INVISIBLE.search(name):
            return PathFault.HIDDEN_CHARACTER
    if "\\" in name:
        return PathFault.BACKSLASH
    if len(name.encode()) > MAX_SEGMENT_BYTES:
        return PathFault.NAME_TOO_LONG
    if name[0].isspace():
        return PathFault.SPACE_FIRST
    if name[-1].isspace():
        return PathFault.SPACE_LAST
    if _DRIVE.match(name):
        return PathFault.DRIVE_LETTER
    if _GIT.fullmatch(name):
        return PathFault.GIT_DIRECTORY
    return None
