"""Text that speaks to the agent as an instruction would: found, never changed.

Four marks. ``instruction``: the text tells the reader to drop its orders, to take new ones, to hide
something from the user or to send something away. ``role``: it pretends to be another turn or the
system. ``hidden``: it has characters that nobody sees. ``encoded``: one of the others, in base64,
hex, ROT13 or entities. A mark is a reason to look, not a proof.
"""

from __future__ import annotations

import binascii
import re
from codecs import decode as decoded_by
from collections.abc import Iterator
from typing import Final, NamedTuple

from memoranda.detect.words import Words
from memoranda.lazy_pattern import lazy_pattern

INSTRUCTION: Final = "instruction"
ROLE: Final = "role"
HIDDEN: Final = "hidden"
ENCODED: Final = "encoded"

MARKS: Final = (INSTRUCTION, ROLE, HIDDEN, ENCODED)

_ORDERS: Final = (
    r"(?:instructions?|prompts?|rules?|orders?|guidelines?|directives?|constraints?|safety)"
)
_OLD: Final = r"(?:previous|prior|above|earlier|preceding|your|system|existing|original|initial)"


class _Phrase(NamedTuple):
    """A pattern, and how many characters before and after its word it is looked for."""

    pattern: re.Pattern[str]
    before: int = 0
    after: int = 100


def _phrase(pattern: str, before: int = 0, after: int = 100) -> _Phrase:
    return _Phrase(lazy_pattern("(?i)" + pattern), before, after)


_IGNORE: Final = _phrase(
    # English, French, Spanish, German
    rf"\bignor(?:e|ing) (?:\w+ ){{0,2}}?(?:{_OLD}|all|any|these|those|other)(?: \w+){{0,3}}? {_ORDERS}"
    r"|\bignor(?:e|ing) (?:everything|all|anything)(?: \w+){0,2}? (?:above|before|said|told)"
    r"|\bignor(?:e[zrs]?|a[dr]?) (?:(?:toutes?|todas?|todos) )?(?:les|vos|tes|ces|las|los|tus|sus|estas)"
    r"(?: \w+){0,2}? (?:instruc|consigne|r\u00e8gle|regla|\u00f3rden|orden|ordre|indicaci|directri)\w*"
    r"|\bignorier\w*(?: \w+){0,3}? (?:anweisung|regel|vorgabe|instruktion|befehl|prompt)\w*",
    before=1,
)
_DROP: Final = _phrase(
    rf"\b(?:disregard|forget)(?: \w+){{0,2}}? {_OLD}(?: \w+){{0,3}}? {_ORDERS}"
    r"|\b(?:disregard|forget) (?:everything|all|anything)(?: \w+){0,2}? (?:above|before|said|told)",
    before=1,
)
_PROMPT: Final = _phrase(
    r"\b(?:reveal|print|show|repeat|output|leak|send|disclose)(?: \w+){0,3}? (?:system|initial"
    r"|hidden|original) (?:prompt|instructions?)"
    r"|\b(?:new|updated|real|actual|hidden|secret) (?:system )?(?:instructions?|prompt)(?: \w+)?"
    r" ?: ",
    before=50,
    after=30,
)
_TELL: Final = _phrase(
    r"\b(?:do not|don't|never|without)(?: ever)? tell(?:ing)?(?: \w+){0,2}? (?:the )?user\b",
    before=12,
    after=40,
)
_PERSONA: Final = _phrase(r"you are now (?:an? |in |the |no longer |free|DAN)", after=30)
_AGENT: Final = _phrase(
    r"\b(?:ai|assistants?|claude|models?|agents?|chatbots?|llms?)[^.\n]{0,30}? reading this[^.\n]"
    r"{0,20}? (?:must|should|has to|have to|shall)\b",
    before=60,
    after=60,
)
_GERMAN: Final = _phrase(
    r"\b(?:vergiss|missachte)\w*(?: \w+){0,3}? (?:anweisung|regel|vorgabe|instruktion|befehl)\w*"
    r"|\b(?:sag|erz\u00e4hl|verrat|zeig)\w*(?: \w+){0,2}? dem (?:benutzer|nutzer|anwender)\w*"
    r" (?:nichts|nicht|davon)",
    before=30,
    after=60,
)
_SPANISH: Final = _phrase(
    r"\bolvid\w*(?: \w+){0,3}? (?:instruccion|regla|orden|indicacion|directriz)\w*"
    r"|\bno (?:le |les )?(?:digas|cuentes|menciones)(?: \w+){0,4}? al usuario",
    before=50,
    after=60,
)
_FRENCH: Final = _phrase(
    r"\boubli\w*(?: \w+){0,3}? (?:instruction|consigne|r\u00e8gle|ordre|directive)\w*"
    r"|\bne (?:dis|dites|r\u00e9v\u00e8le)\w*(?: \w+){0,3}? (?:\u00e0 )?l[' \u2019]?utilisateur",
    before=50,
    after=60,
)
_RUSSIAN: Final = _phrase(
    r"(?:\u0438\u0433\u043d\u043e\u0440\u0438\u0440|\u0437\u0430\u0431\u0443\u0434\u044c)\w*"
    r"(?: \w+){0,3}? (?:\u0438\u043d\u0441\u0442\u0440\u0443\u043a\u0446|\u043f\u0440\u0430\u0432"
    r"\u0438\u043b|\u0443\u043a\u0430\u0437\u0430\u043d)\w*"
    r"|\u043d\u0435 \u0433\u043e\u0432\u043e\u0440\u0438\w*(?: \w+){0,3}?"
    r" \u043f\u043e\u043b\u044c\u0437\u043e\u0432\u0430\u0442\w*",
    before=4,
)
_EAST_ASIAN: Final = _phrase(  # no blanks between the words
    r"(?:\u5ffd\u7565|\u65e0\u89c6|\u7121\u8996)[^\n\u3002]{0,12}?(?:\u6307\u4ee4|\u6307\u793a"
    r"|\u63d0\u793a|\u89c4\u5219|\u8981\u6c42)|\u4e0d\u8981\u544a\u8bc9[^\n\u3002]{0,4}?"
    r"\u7528\u6237|(?:\u6307\u793a|\u547d\u4ee4|\u30d7\u30ed\u30f3\u30d7\u30c8|\u30eb\u30fc"
    r"\u30eb)[^\n\u3002]{0,8}?(?:\u7121\u8996|\u5fd8\u308c)|"
    r"(?:\uc9c0\uc2dc|\uba85\ub839|\uaddc\uce59)[^\n.]{0,8}?\ubb34\uc2dc",
    before=14,
    after=20,
)

_PHRASES: Final[dict[str, _Phrase]] = {
    "ignor": _IGNORE,
    "disregard": _DROP,
    "forget ": _DROP,
    "prompt": _PROMPT,
    "instruc": _PROMPT,
    "tell": _TELL,
    "you are now": _PERSONA,
    "reading this": _AGENT,
    "vergiss": _GERMAN,
    "nutzer": _GERMAN,
    "olvid": _SPANISH,
    "usuario": _SPANISH,
    "oubli": _FRENCH,
    "utilisateur": _FRENCH,
    "\u0433\u043d\u043e\u0440\u0438\u0440": _RUSSIAN,
    "\u0430\u0431\u0443\u0434\u044c": _RUSSIAN,
    "\u043d\u0435 \u0433\u043e\u0432\u043e\u0440\u0438": _RUSSIAN,
    "\u5ffd\u7565": _EAST_ASIAN,
    "\u65e0\u89c6": _EAST_ASIAN,
    "\u7121\u8996": _EAST_ASIAN,
    "\u4e0d\u8981\u544a\u8bc9": _EAST_ASIAN,
    "\u5fd8\u308c": _EAST_ASIAN,
    "\ubb34\uc2dc": _EAST_ASIAN,
}
"""By a word that every text has in which the phrase stands."""

_ROTATED: Final = decoded_by("ignor", "rot13").encode()

_WORDS: Final = Words((_ROTATED, *(word.encode() for word in _PHRASES if word.isascii())))
_FOREIGN_WORDS: Final = tuple(word.encode() for word in _PHRASES if not word.isascii())

_TELLING: Final = Words(
    b"ignor disreg forget prompt instruc system olvid oubli vergiss vtabe".split()
)
"""Words of the phrases that a name may hold: it has no blanks, so no phrase of several words."""

_ROLES: Final = lazy_pattern(
    rb"(?i)<\|(?:im_start|im_end|system|user|assistant|endoftext|eot_id|start_header_id)\|>"
    rb"|\[/?(?:INST|SYSTEM)\]|<</?SYS>>"
    rb"|^[ \t>#*]{0,6}(?:system|assistant)(?: (?:message|prompt|override))?\*{0,2}:[ \t]*"
    rb"(?=(?:you|ignore|from now|new|the (?:user|assistant)|do|never|always|override)\b)"
    rb"|</?(?:system|system[-_](?:prompt|message|instructions?|reminder)|antml:\w+|function_results)>",
    0x8,  # re.MULTILINE: a turn begins a line
)
# Seen by a model and not by people. A joiner inside an emoji, or one between letters of a script
# that needs it, is none of these.
_HIDDEN: Final = lazy_pattern(
    "[\U000e0001\U000e0020-\U000e007f]{4,}|[\u200b\u2060\u2061-\u2064\ufeff]{3,}"
    "|(?:\\w[\u200b\u200c\u200d\u2060\ufeff]){4,}|[\u202a-\u202e\u2066-\u2069]|[\ufe00-\ufe0e]{4,}"
    "|[\U000e0100-\U000e01ef]{2,}"
)
_FLAG: Final = lazy_pattern("\U0001f3f4[\U000e0030-\U000e0039\U000e0061-\U000e007a]{1,6}\U000e007f")
_INVISIBLE: Final = lazy_pattern(
    "[\u200b-\u200f\u2060-\u2064\ufeff\u00ad\u202a-\u202e\u2066-\u2069]"
)

_ANGLE, _BRACKET, _COLON, _AMPERSAND, _BACKSLASH, _TWO = b"<[:&\\2"
"""Signs as numbers, which are looked for in a tenth of the time that a ``bytes`` takes."""

_BASE64: Final = lazy_pattern(rb"[A-Za-z0-9+/_-]{24,}={0,2}")
_HEX: Final = lazy_pattern(rb"(?:[0-9a-fA-F]{2}[ :]?){20,}|(?:\\x[0-9a-fA-F]{2}){12,}")
_ENTITIES: Final = lazy_pattern(rb"(?:&#x?[0-9a-fA-F]{2,6};){6,}")
_RUN_SIGNS: Final = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz+/_-"
_AS_RUN: Final = bytes(97 if byte in _RUN_SIGNS else 32 for byte in range(256))
_A_LONG_RUN: Final = b"a" * 24
_MOST_DECODED: Final = 64
"""How many encoded pieces of one text are looked into."""


def may_tell(name: str) -> bool:
    """Whether the words of an ASCII name can earn a mark: most names hold none that do."""
    return _TELLING.are_in(name.lower().encode())


def injection_marks(data: bytes) -> tuple[str, ...]:
    """Which of ``MARKS`` a text earns, in their order; bytes that are no UTF-8 are looked over.

    2 KB of prose take about 20 microseconds.
    """
    lower = data.lower()
    has_words = _WORDS.are_in(lower)
    marks = _plain_marks(data, lower, has_words=has_words)
    if (has_words and _is_rotated(data, lower)) or _has_encoded(data):
        marks.add(ENCODED)
    return tuple(mark for mark in MARKS if mark in marks) if marks else ()


def _marks_of(data: bytes) -> set[str]:
    lower = data.lower()
    return _plain_marks(data, lower, has_words=_WORDS.are_in(lower))


def _plain_marks(data: bytes, lower: bytes, *, has_words: bool) -> set[str]:
    marks: set[str] = set()
    plain = data.isascii()
    if not plain:
        has_words = has_words or any(word in lower for word in _FOREIGN_WORDS)
    if has_words and _instructs(data.decode(errors="replace")):
        marks.add(INSTRUCTION)
    if _may_have_roles(lower) and _ROLES.search(data):
        marks.add(ROLE)
    if not plain:
        text = data.decode(errors="replace")
        if _HIDDEN.search(_FLAG.sub("", text.removeprefix("\ufeff"))):
            marks.add(HIDDEN)
        visible = _INVISIBLE.sub("", text)
        if INSTRUCTION not in marks:
            # What hidden characters cut in pieces, and what they spell by themselves.
            spelled = "".join(chr(ord(sign) - 0xE0000) for sign in text if _is_tag(sign))
            if _instructs(spelled) or (visible != text and _instructs(visible)):
                marks.add(INSTRUCTION)
    return marks


def _instructs(text: str) -> bool:
    """Whether one of the phrases stands in a text, over the ends of lines too."""
    text = " ".join(text.split())
    lower = text.lower()
    if len(lower) != len(text):  # a letter whose small form is two: places would not agree
        text = lower
    for word, (pattern, before, after) in _PHRASES.items():
        at = lower.find(word)
        while at >= 0:
            if pattern.search(text, max(at - before, 0), at + after):
                return True
            at = lower.find(word, at + len(word))
    return False


def _may_have_roles(lower: bytes) -> bool:
    if _ANGLE in lower and any(
        sign in lower for sign in (b"<|", b"<<", b"system", b"function_results", b"antml:")
    ):
        return True
    if _BRACKET in lower and any(
        sign in lower for sign in (b"[inst", b"[system", b"[/inst", b"[/system")
    ):
        return True
    return _COLON in lower and (b"system" in lower or b"assistant:" in lower)


def _is_tag(sign: str) -> bool:
    return 0xE0020 <= ord(sign) <= 0xE007E


def _is_rotated(data: bytes, lower: bytes) -> bool:
    if lower.find(_ROTATED) < 0:
        return False
    turned = decoded_by(data.decode("latin-1"), "rot13").encode("latin-1")
    return bool(_marks_of(turned))


def _has_encoded(data: bytes) -> bool:
    for each in _decoded(data):  # noqa: SIM110 - a generator costs as much as a search
        if _marks_of(each) - {HIDDEN}:
            return True
    return False


def _decoded(data: bytes) -> Iterator[bytes]:
    """What stands in base64, hex or entities in a text, as far as it can be read."""
    left = _MOST_DECODED
    if _AMPERSAND in data and b"&#" in data:
        from html import unescape

        for found in _ENTITIES.finditer(data):
            yield unescape(found[0].decode()).encode()
    has_runs = data.translate(_AS_RUN).find(_A_LONG_RUN) >= 0
    if has_runs:
        for found in _BASE64.finditer(data):
            left -= 1
            if left < 0:
                return
            text = found[0].rstrip(b"=").translate(bytes.maketrans(b"-_", b"+/"))
            whole = text[: len(text) - (len(text) % 4 == 1)]
            made = binascii.a2b_base64(whole + b"=" * (-len(whole) % 4))
            if _is_text(made):
                yield made
    has_pairs = _TWO in data and data.find(b" 20 ") >= 0
    if has_runs or has_pairs or (_BACKSLASH in data and b"\\x" in data):
        for found in _HEX.finditer(data):
            digits = bytes(byte for byte in found[0].replace(b"\\x", b"") if byte not in b" :")
            made = binascii.a2b_hex(digits[: len(digits) // 2 * 2])
            if _is_text(made):
                yield made


def _is_text(data: bytes) -> bool:
    """Whether decoded bytes are words, and not chance."""
    return b" " in data and all(byte >= 32 or byte in b"\t\n\r" for byte in data)
