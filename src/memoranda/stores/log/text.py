"""A content in slices, so that a large file that is edited is never copied to be stored."""

from __future__ import annotations

from hashlib import sha256
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from memoranda.text.splice import Splice

Slice: TypeAlias = bytes | memoryview


class Text:
    """A whole content as slices in order; ``whole`` joins them, at most once.

    ``same_before`` and ``same_after`` tell how many bytes at the start and the end are those of
    the content that it replaces (0 where nobody knows).
    """

    __slots__ = ("_sha", "parts", "same_after", "same_before", "size")

    def __init__(self, *parts: Slice, same_before: int = 0, same_after: int = 0) -> None:
        self.parts: tuple[Slice, ...] = parts
        self.size = sum(map(len, parts))
        self.same_before = same_before
        self.same_after = same_after
        self._sha: bytes | None = None

    @classmethod
    def spliced(cls, old: bytes, splice: Splice) -> Text:
        """``old`` after an edit, without copying what stays."""
        view = memoryview(old)
        return cls(
            view[: splice.start],
            splice.middle,
            view[splice.end :],
            same_before=splice.start,
            same_after=len(old) - splice.end,
        )

    def whole(self) -> bytes:
        """The content in one piece."""
        parts = self.parts
        if len(parts) == 1 and isinstance(parts[0], bytes):
            return parts[0]
        joined = b"".join(parts)
        self.parts = (joined,)
        return joined

    def sha256(self) -> bytes:
        """The SHA-256 of the content, 32 bytes; computed once, without joining."""
        if self._sha is None:
            digest = sha256()
            for part in self.parts:
                digest.update(part)
            self._sha = digest.digest()
        return self._sha
