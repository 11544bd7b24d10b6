"""From what is found to what is kept: masking, refusing, and how little of an edit to look at."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias

from memoranda.detect.finding import Finding
from memoranda.detect.scanner import scanner_for
from memoranda.errors import SecretFound
from memoranda.lazy_pattern import lazy_pattern
from memoranda.text.lines import line_begin, line_end, newlines_before
from memoranda.text.splice import Splice
from memoranda.text.utf8 import decode

if TYPE_CHECKING:
    from memoranda.detect.finding import Detector
    from memoranda.path import MemoryPath
    from memoranda.policies.redaction import Redaction

MOST_ROUNDS: Final = 8
"""Masking one thing may lay bare another, where two stood side by side: it is looked again, this
often at most."""

MOST_LINES: Final = 20
"""How many lines a refusal names."""

_REMEMBERED_NAMES: Final = 2048

_KIND: Final = lazy_pattern(r"[a-z][a-z0-9_-]{0,31}")

_PICTURES: Final = (b"\x89PNG\r\n\x1a\n", b"\xff\xd8\xff", b"GIF8", b"RIFF")
"""What pictures begin with: masking would break them, and chance looks like anything in them."""


class _Span(NamedTuple):
    start: int
    end: int
    kind: str
    what: str


_Find: TypeAlias = Callable[[bytes], Iterable[_Span]]


class Masked(NamedTuple):
    """A text after masking, what each masked thing was, and how many bytes at its start and its end
    are those of the text before."""

    data: bytes
    whats: tuple[str, ...]
    same_before: int
    same_after: int


class MaskedEdit(NamedTuple):
    """The splice that is stored, and what each masked thing was."""

    splice: Splice
    whats: tuple[str, ...]


class Redactor:
    """A policy's redaction at work. Pure but for what its detectors do; safe to share."""

    def __init__(self, redaction: Redaction) -> None:
        self._mode_of = redaction.mode_of
        self._scanner = scanner_for(redaction.kinds)
        self._others: list[_Find] = [
            _on_bytes(each) for each in (*redaction.detectors, *_second_opinions(redaction))
        ]
        self._good_names: dict[str, None] = {}

    # ---- names

    def check_name(self, path: MemoryPath) -> None:
        """Raise ``SecretFound`` for a path that holds what is masked or refused in a text."""
        name = path.text  # hashed in a tenth of the time that a path takes
        if name in self._good_names:
            return
        spans = self._find(name.encode())
        if spans:
            raise SecretFound(_whats(spans))
        if len(self._good_names) >= _REMEMBERED_NAMES:
            self._good_names.clear()
        self._good_names[name] = None

    def mask_name(self, path: str) -> str:
        """A path with everything masked that is masked or refused in a text."""
        data = path.encode(errors="surrogateescape")
        return decode(_with_masks(data, self._find(data)))

    def findings(self, text: str) -> list[Finding]:
        """What would be masked or refused in a text, sorted, without overlaps."""
        data = text.encode(errors="surrogateescape")
        return [
            Finding(len(decode(data[:start])), len(decode(data[:end])), kind, what)
            for start, end, kind, what in self._find(data)
        ]

    # ---- contents

    def mask(self, data: bytes, before: bytes = b"") -> Masked | None:
        """The text with everything masked; None where there is nothing to mask.

        Raises ``SecretFound`` for what is refused; ``before`` is what stands before the text, for
        the numbers of its lines.
        """
        return None if data.startswith(_PICTURES) else self._masked(data, before)

    def _masked(self, data: bytes, before: bytes) -> Masked | None:
        spans = self._find(data)
        if not spans:
            return None
        self._refuse(data, spans, before)
        size, whats = len(data), list[str]()
        same_before = same_after = size
        for _ in range(MOST_ROUNDS):
            same_before = min(same_before, spans[0].start)
            same_after = min(same_after, len(data) - spans[-1].end)
            whats += [span.what for span in spans]
            data = _with_masks(data, spans)
            spans = self._find(data)
            if not spans:
                break
        return Masked(data, tuple(whats), same_before, same_after)

    def mask_edit(self, old: bytes, splice: Splice) -> MaskedEdit | None:
        """What to store instead of an edit of ``old``; None where it may stay as it is.

        Where ``old`` holds nothing that is masked, the result is that of ``mask`` on the whole new
        text: all that is found lies within a line, or in a block, for which the whole is looked at.
        """
        if not splice.changes(old):
            return None
        begin, end = self._neighbourhood(old, splice)
        part = b"".join((old[begin : splice.start], splice.middle, old[splice.end : end]))
        if (begin, end) != (0, len(old)) and self._scanner.spans_lines(part):
            begin, end = 0, len(old)
            part = splice.apply(old)
        if begin == 0 and part.startswith(_PICTURES):
            return None  # only the beginning of a file makes it a picture
        masked = self._masked(part, old[:begin])
        if masked is None:
            return None
        before = min(masked.same_before, splice.start - begin)
        after = min(masked.same_after, end - splice.end)
        middle = masked.data[before : len(masked.data) - after]
        return MaskedEdit(Splice(begin + before, end - after, middle), masked.whats)

    def _neighbourhood(self, old: bytes, splice: Splice) -> tuple[int, int]:
        """Which bytes of ``old`` have to be looked at with the new ones between."""
        if self._others or self._scanner.spans_lines(old):
            return 0, len(old)
        return line_begin(old, splice.start), line_end(old, splice.end)

    def _find(self, data: bytes) -> list[_Span]:
        """What is masked or refused, sorted and without overlaps."""
        hits = self._scanner.find(data)
        if not hits and not self._others:
            return []
        found = [_Span(hit.start, hit.end, hit.rule.kind, hit.rule.what) for hit in hits]
        if self._others:
            for find in self._others:
                found += (span for span in find(data) if self._mode_of(span.kind) != "off")
            found.sort(key=lambda span: span.start)
        return _merged(found, self._mode_of) if found else found

    def _refuse(self, data: bytes, spans: Sequence[_Span], before: bytes) -> None:
        refused = [span for span in spans if self._mode_of(span.kind) == "refuse"]
        if refused:
            line = before.count(b"\n") + 1
            lines = dict.fromkeys(newlines_before(data, span.start) + line for span in refused)
            raise SecretFound(_whats(refused), tuple(lines)[:MOST_LINES])


def _merged(spans: Sequence[_Span], mode_of: Callable[[str], str]) -> list[_Span]:
    """Spans that overlap become one, named by the first, or by one that is to be refused."""
    merged: list[_Span] = []
    for span in spans:
        if merged and span.start < merged[-1].end:
            last = merged[-1]
            first = span if mode_of(last.kind) != "refuse" == mode_of(span.kind) else last
            merged[-1] = first._replace(start=last.start, end=max(last.end, span.end))
        else:
            merged.append(span)
    return merged


def _with_masks(data: bytes, spans: Sequence[_Span]) -> bytes:
    parts: list[bytes] = []
    at = 0
    for span in spans:
        parts += (data[at : span.start], b"[REDACTED:%s]" % span.kind.encode())
        at = span.end
    return b"".join((*parts, data[at:]))


def _whats(spans: Iterable[_Span]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(span.what for span in spans))


# ---------------------------------------------------------------- other detectors

_MASK: Final = lazy_pattern(r"\[REDACTED:[a-z0-9_-]{1,32}\]")


def _on_bytes(detector: Detector) -> _Find:
    """A detector of text, asked about bytes; what lies in a mask already doesn't count."""

    def find(data: bytes) -> list[_Span]:
        text = decode(data)
        masks = [match.span() for match in _MASK.finditer(text)]
        spans: list[_Span] = []
        for start, end, kind, what in detector(text):
            start, end = max(start, 0), min(end, len(text))
            if start >= end or any(begin <= start and end <= stop for begin, stop in masks):
                continue
            kind = kind if _KIND.fullmatch(kind) else "other"
            first = _bytes_in(text[:start])
            spans.append(_Span(first, first + _bytes_in(text[start:end]), kind, what or kind))
        return spans

    return find


def _bytes_in(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode(errors="surrogateescape"))


def _second_opinions(redaction: Redaction) -> Sequence[Detector]:
    if not redaction.kingfisher:
        return ()
    from memoranda.detect.kingfisher import kingfisher_detector

    return (kingfisher_detector(),)
