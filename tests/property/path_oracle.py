"""The path policy a second time: slow, literal, and sharing nothing with the code it judges.

Where ``memoranda.path`` has patterns and tables, this walks characters and bytes and asks
``unicodedata`` and ``urllib``.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator
from urllib.parse import unquote_to_bytes

FORMAT_SINCE_UNICODE_15 = range(0x13430, 0x13440)


def names_of(given: str) -> tuple[str, ...] | None:
    """The names of an accepted path, None for a refused one."""
    try:
        given.encode()
    except UnicodeEncodeError:
        return None
    text = unicodedata.normalize("NFC", given)
    if text in ("/memories", "/memories/"):
        return ()
    if text[:10] != "/memories/" or len(text[9:].encode()) > 1024:
        return None
    if text[-1] == "/":
        text = text[:-1]
    names = tuple(text[10:].split("/"))
    if len(names) > 20 or not all(is_good(name) for name in names):
        return None
    return names


def is_good(name: str) -> bool:
    if name in ("", ".") or name[:2] == ".." or len(name.encode()) > 255:
        return False
    if "\\" in name or any(is_hidden(character) for character in name):
        return False
    if name.strip() != name:
        return False
    if name[1:2] == ":" and name[0] in "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ":
        return False
    return not is_git(name) and not any(is_structural(form) for form in forms(name))


def is_hidden(character: str) -> bool:
    code = ord(character)
    return (
        unicodedata.category(character) in ("Cc", "Cf", "Cs", "Zl", "Zp")
        or code % 0x10000 >= 0xFFFE
        or 0xFDD0 <= code <= 0xFDEF
        or code in FORMAT_SINCE_UNICODE_15
        or code in (0x34F, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x2065, 0x3164, 0xFFA0)
        or 0x180B <= code <= 0x180F
        or 0xFFF0 <= code <= 0xFFF8
        or 0xFE00 <= code <= 0xFE0D
        or 0xE0000 <= code <= 0xE0FFF
    )


def is_git(name: str) -> bool:
    plain = name.split(":", maxsplit=1)[0].rstrip(". ")
    lower = "".join(chr(ord(c) + 32) if "A" <= c <= "Z" else c for c in plain)
    if lower == ".git":
        return True
    return lower[:4] == "git~" and lower[4:] != "" and all(c in "0123456789" for c in lower[4:])


def forms(name: str) -> Iterator[bytes]:
    """The name and what repeated decoding makes of it; b"/" after too many rounds."""
    form = name.encode()
    yield form
    for _ in range(8):
        decoded = decode(form)
        if decoded == form:
            return
        form = decoded
        yield form
    if decode(form) != form:
        yield b"/"


def decode(form: bytes) -> bytes:
    out = b""
    while form:
        digits = form[2:6]
        if form[:2] in (b"%u", b"%U") and len(digits) == 4 and is_hex(digits):
            out += chr(int(digits, 16)).encode("utf-8", "surrogatepass")
            form = form[6:]
        elif form[:1] == b"%" and len(form) > 2 and is_hex(form[1:3]):
            out += unquote_to_bytes(form[:3])
            form = form[3:]
        else:
            out += form[:1]
            form = form[1:]
    return out


def is_hex(digits: bytes) -> bool:
    return all(digit in b"0123456789abcdefABCDEF" for digit in digits)


def is_structural(form: bytes) -> bool:
    if b"/" in form or b"\\" in form:
        return True
    for byte, following in zip(form, [*form[1:], None], strict=True):
        if byte in (0xC0, 0xC1):
            return True
        first = {0xE0: 0xA0, 0xF0: 0x90, 0xF8: 0x88, 0xFC: 0x84}.get(byte)
        if first is not None and following is not None and following < first:
            return True
    text = form.decode("utf-8", "replace")
    if any(unicodedata.category(character) == "Cc" for character in text):
        return True
    for shape in (text, unicodedata.normalize("NFKC", text)):
        for part in shape.replace("\\", "/").split("/"):
            if part == "." or part.startswith(".."):
                return True
    return False
