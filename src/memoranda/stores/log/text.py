"""A content in slices, so that a large file that is edited is never copied to be stored."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from memoranda.digests import sha256
from memoranda.stores.log.delta import common_prefix, common_suffix

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

    @classmethod
    def replacing(cls, old: bytes, new: bytes) -> Text:
        """``new`` in place of ``old``, compared at both ends."""
        before = common_prefix(old, new)
        after = common_suffix(old, new, min(len(old), len(new)) - before)
        return cls(new, same_before=before, same_after=after)

    def after(self, earlier: Text) -> Text:
        """The same content, compared with what ``earlier`` was compared with; this one was
        compared with ``earlier``."""
        text = Text(
            *self.parts,
            same_before=min(self.same_before, earlier.same_before),
            same_after=min(self.same_after, earlier.same_after),
        )
        text._sha = self._sha
        return text

    def middle(self) -> Text:
        """What lies between the ends that stayed the same."""
        before, end = self.same_before, self.size - self.same_after
        parts = self.parts
        if len(parts) == 3 and (len(parts[0]), len(parts[2])) == (before, self.same_after):
            return Text(parts[1])
        return Text(memoryview(self.whole())[before:end])

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
            digest = sha256(self.parts[0] if self.parts else b"")
            for part in self.parts[1:]:
                digest.update(part)
            self._sha = digest.digest()
        return self._sha
