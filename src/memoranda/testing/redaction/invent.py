"""Invented secrets, put together when they are needed.

Nothing here was ever valid, and no file holds a whole one: scanners of code hosts would take it for
real. A template says what a format looks like: ``<alnum:36>`` stands for 36 random characters.
"""

from __future__ import annotations

import base64
import json
import re
import zlib
from random import Random
from string import ascii_letters, ascii_lowercase, ascii_uppercase, digits
from typing import Final, NamedTuple

ALPHABETS: Final = {
    "lower": ascii_lowercase,
    "upper": ascii_uppercase,
    "alpha": ascii_letters,
    "digit": digits,
    "hex": "0123456789abcdef",
    "HEX": "0123456789ABCDEF",
    "alnum": ascii_letters + digits,
    "lownum": ascii_lowercase + digits,
    "upnum": ascii_uppercase + digits,
    "base32": ascii_uppercase + "234567",
    "base64": ascii_letters + digits + "+/",
    "url64": ascii_letters + digits + "-_",
    "bech32": "QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L",
    "mixed": ascii_letters + digits + "!%*+-=?_~",
}

_MARK: Final = re.compile(r"<(\w+):(\d+)>")
_BASE62: Final = digits + ascii_uppercase + ascii_lowercase
_OPEN, _CLOSE = "\u27e6", "\u27e7"


class Labelled(NamedTuple):
    """A text and the characters in it that may not be kept: start and end (exclusive) of each."""

    text: str
    secrets: tuple[tuple[int, int], ...]


def expand(template: str, random: Random) -> str:
    """The template with every ``<alphabet:count>`` replaced by so many random characters."""

    def fill(found: re.Match[str]) -> str:
        count = int(found[2])
        if found[1] in _MADE:
            return _MADE[found[1]](random, count)
        alphabet = ALPHABETS[found[1]]
        made = "".join(random.choice(alphabet) for _ in range(count))
        if count >= 8 and len(alphabet) > 32:
            # Random enough to hold a digit, as nearly all real ones do.
            at = random.randrange(1, count - 1)
            made = made[:at] + random.choice(digits) + made[at + 1 :]
        return made

    return _MARK.sub(fill, template)


def labelled(template: str, random: Random) -> Labelled:
    """The expanded template; what stands between the double brackets is its secret."""
    text, secrets = "", list[tuple[int, int]]()
    for number, part in enumerate(re.split(f"[{_OPEN}{_CLOSE}]", expand(template, random))):
        if number % 2:
            secrets.append((len(text), len(text) + len(part)))
        text += part
    return Labelled(text, tuple(secrets))


def base62(number: int, width: int) -> str:
    """A number in base 62, padded with zeros."""
    made = ""
    while number:
        number, digit = divmod(number, 62)
        made = _BASE62[digit] + made
    return made.rjust(width, "0")


def _with_crc(random: Random, count: int) -> str:
    """Random characters whose last six are the CRC-32 of the others, as GitHub's tokens have it."""
    body = expand(f"<alnum:{count - 6}>", random)
    return body + base62(zlib.crc32(body.encode()), 6)


def _jwt(random: Random, count: int) -> str:
    """A signed token with a payload and a signature of ``count`` random characters."""
    payload = {"sub": expand("<lower:8>", random), "iat": random.randrange(10**9, 2 * 10**9)}
    parts = [
        base64.urlsafe_b64encode(json.dumps(part).encode()).rstrip(b"=").decode()
        for part in ({"alg": "HS256", "typ": "JWT"}, payload)
    ]
    return ".".join((*parts, expand(f"<url64:{count}>", random)))


def _pem_body(random: Random, count: int) -> str:
    """``count`` lines of base64, 64 characters each."""
    return "\n".join(expand("<base64:64>", random) for _ in range(count))


def _escaped_pem_body(random: Random, count: int) -> str:
    """The same in one line, as JSON has it."""
    return _pem_body(random, count).replace("\n", "\\n")


def _basic(random: Random, count: int) -> str:
    """A user and a password of ``count`` characters for HTTP's basic authentication."""
    return base64.b64encode(expand(f"deploy:<alnum:{count}>", random).encode()).decode()


def _uuid(random: Random, count: int) -> str:
    """A random UUID."""
    return expand("<hex:8>-<hex:4>-4<hex:3>-a<hex:3>-<hex:12>", random)


def _luhn(random: Random, count: int) -> str:
    """``count`` digits beginning with 4 whose last one is Luhn's check digit."""
    body = "4" + expand(f"<digit:{count - 2}>", random)
    return body + str(-_luhn_sum(body + "0") % 10)


def _no_luhn(random: Random, count: int) -> str:
    """The same with a wrong check digit."""
    made = _luhn(random, count)
    return made[:-1] + str((int(made[-1]) + random.randrange(1, 10)) % 10)


def _luhn_sum(number: str) -> int:
    odd = [int(digit) for digit in number[-1::-2]]
    even = [int(digit) * 2 for digit in number[-2::-2]]
    return sum(odd) + sum(digit - 9 if digit > 9 else digit for digit in even)


def _iban(random: Random, count: int) -> str:
    """A German account number of 22 characters with right check digits, in groups if ``count``."""
    account = expand("<digit:18>", random)
    check = 98 - int(f"{account}131400") % 97
    made = f"DE{check:02d}{account}"
    return " ".join(re.findall(".{1,4}", made)) if count else made


_MADE: Final = {
    "basic": _basic,
    "crc": _with_crc,
    "iban": _iban,
    "jwt": _jwt,
    "luhn": _luhn,
    "noluhn": _no_luhn,
    "pem": _pem_body,
    "pemline": _escaped_pem_body,
    "uuid": _uuid,
}
