"""Has the right check digits, looks random, is a placeholder: what a pattern can't tell.

All are pure and take the bytes that a rule found.
"""

from __future__ import annotations

from math import log2
from typing import Final
from zlib import crc32

from memoranda.lazy_pattern import lazy_pattern

_BASE62: Final = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

_PLACEHOLDER: Final = lazy_pattern(
    rb"(?i)your|example|change.?me|placeholder|redacted|dummy|sample|insert|replace|xxxx|\*\*\*|"
    rb"\.\.\.|<|\$|\{\{|%\(|^%\w+%$|^\{|^\[|^todo$|^fixme$|foobar|^test$|^fake|^my[-_]"
)
_WORDS: Final = frozenset(
    b"password passwd pass pwd passphrase secret token key apikey none null nil true false "
    b"undefined string str bytes int text required optional user username admin root guest "
    b"postgres mysql default empty hidden unset unknown encrypted hashed stored env vault "
    b"bearer basic digest value".split()
)
_REFERENCE: Final = lazy_pattern(
    rb"(?i)[A-Z][A-Z_]*|[a-z_]\w*(?:\.[a-z_]\w*)+|\w+(?:\.\w+)*[\(\[].*|(?:https?|file)://.*|"
    rb"(?:~|\.{1,2})?/[\w./-]+|!\w+"
)
_DATE: Final = lazy_pattern(rb"\d{4}-\d\d-\d\d")
_UPPER_NAME: Final = lazy_pattern(rb"[A-Z][A-Z_]*|[a-z_]\w*(?:\.[A-Za-z_]\w*)+")
_PART: Final = lazy_pattern(rb"[-_.:/@ ]+")
_TERM: Final = lazy_pattern(
    rb"(?i)(?:sha\d+|md[45]|base\d\d|o?auth\d?|utf\d*|argon\d\w*|bcrypt\d?|scrypt|pbkdf2|hs\d+|"
    rb"rs\d+|es\d+|aes\d*|ed25519|x509|rsa\d*|p\d{3}|[a-z]?v\d+|s3|ec2|k8s|i18n|http2?|ipv[46]|"
    rb"\d?fa|tls\d*|ssl\d*|cl100k|1password|\d{1,4}|[a-z]+)"
)


def entropy(data: bytes) -> float:
    """Shannon's entropy of the bytes, in bits a byte; 0 for none."""
    size = len(data)
    counts = [data.count(byte) for byte in set(data)]
    return -sum(count / size * log2(count / size) for count in counts)


def is_random(data: bytes) -> bool:
    """Whether characters are as mixed as those of a key: many different ones, and no placeholder."""
    return len(set(data)) >= 8 and entropy(data) >= 2.9 and not is_placeholder(data)


def is_key(data: bytes) -> bool:
    """Whether a value of unknown format is random like a key: letters and digits, no words."""
    return (
        len(data) >= 16
        and _has_letter(data)
        and _has_digit(data)
        and entropy(data) >= 3.0
        and not is_placeholder(data)
        and not is_reference(data)
        and not _is_slug(data)
    )


def is_password(data: bytes) -> bool:
    """Whether a value that is called a password can be one: no word, name, call or placeholder."""
    if len(data) < 6 or is_placeholder(data) or is_reference(data) or _is_slug(data):
        return False
    return _has_digit(data) or _has_symbol(data) or (len(data) >= 16 and entropy(data) >= 3.6)


def is_spoken_password(data: bytes) -> bool:
    """The same in a sentence, where words stand as well."""
    return (
        len(data) >= 6
        and _has_letter(data)
        and _has_digit(data)
        and not is_placeholder(data)
        and not is_reference(data)
        and not _is_slug(data)
    )


def is_placeholder(data: bytes) -> bool:
    """Whether a value stands for another one, or is none: ``your-key``, ``${KEY}``, ``****``."""
    return (
        _PLACEHOLDER.search(data) is not None
        or data.lower() in _WORDS
        or len(set(data.lower())) <= 2
    )


def is_no_placeholder(data: bytes) -> bool:
    """Whether a value stands for itself."""
    return not is_placeholder(data)


def is_reference(data: bytes) -> bool:
    """Whether a value is the name, path, address or call that the real one comes from."""
    if _UPPER_NAME.fullmatch(data) or _DATE.match(data):
        return True
    return _REFERENCE.fullmatch(data) is not None and not _has_digit(data)


def _is_slug(data: bytes) -> bool:
    """Words, terms and small numbers with signs between them: ``at-least-12-characters``."""
    parts = [part for part in _PART.split(data) if part]
    return all(_is_word(part) for part in parts)


def _is_word(part: bytes) -> bool:
    return _TERM.fullmatch(part) is not None and not (
        part.isalpha() and len(part) >= 12 and entropy(part) > 3.4 and not _is_cased(part)
    )


def _is_cased(part: bytes) -> bool:
    return part.islower() or part.isupper() or part.istitle()


def _has_digit(data: bytes) -> bool:
    return any(48 <= byte <= 57 for byte in data)


def _has_letter(data: bytes) -> bool:
    return any(65 <= byte | 32 <= 122 and byte | 32 >= 97 for byte in data)


def _has_symbol(data: bytes) -> bool:
    return any(byte in b"!#%&*+=?^~@|$" for byte in data)


# ---------------------------------------------------------------- check sums


def has_github_crc(token: bytes) -> bool:
    """Whether the last six characters are the CRC-32 of those between prefix and them, or all look
    random: GitHub may change the sum, and half a token is worth hiding too."""
    body = token.split(b"_", 1)[-1]
    number = crc32(body[:-6])
    made = b""
    while number:
        number, digit = divmod(number, 62)
        made = _BASE62[digit : digit + 1] + made
    return made.rjust(6, b"0") == body[-6:] or is_random(body)


def digits_of(data: bytes) -> list[int]:
    """The decimal digits in the bytes."""
    return [byte - 48 for byte in data if 48 <= byte <= 57]


def luhn(data: bytes) -> bool:
    """Whether the digits pass Luhn's check, and are not all the same."""
    digits = digits_of(data)
    doubled = [digit * 2 - 9 * (digit > 4) for digit in digits[-2::-2]]
    return (sum(digits[-1::-2]) + sum(doubled)) % 10 == 0 and len(set(digits)) > 1


def card(data: bytes) -> bool:
    """Whether the digits are a payment card's: 13 to 19, Luhn's check."""
    return 13 <= len(digits_of(data)) <= 19 and luhn(data)


_IBAN_LENGTHS: Final = {
    code: int(length)
    for code, length in (
        entry.split("=")
        for entry in [
            "AD=24",
            "AE=23",
            "AL=28",
            "AT=20",
            "AZ=28",
            "BA=20",
            "BE=16",
            "BG=22",
            "BH=22",
            "BR=29",
            "BY=28",
            "CH=21",
            "CR=22",
            "CY=28",
            "CZ=24",
            "DE=22",
            "DK=18",
            "DO=28",
            "EE=20",
            "EG=29",
            "ES=24",
            "FI=18",
            "FO=18",
            "FR=27",
            "GB=22",
            "GE=22",
            "GI=23",
            "GL=18",
            "GR=27",
            "GT=28",
            "HR=21",
            "HU=28",
            "IE=22",
            "IL=23",
            "IQ=23",
            "IS=26",
            "IT=27",
            "JO=30",
            "KW=30",
            "KZ=20",
            "LB=28",
            "LC=32",
            "LI=21",
            "LT=20",
            "LU=20",
            "LV=21",
            "MC=27",
            "MD=24",
            "ME=22",
            "MK=19",
            "MR=27",
            "MT=31",
            "MU=30",
            "NL=18",
            "NO=15",
            "PK=24",
            "PL=28",
            "PS=29",
            "PT=25",
            "QA=29",
            "RO=24",
            "RS=22",
            "SA=24",
            "SC=31",
            "SE=24",
            "SI=19",
            "SK=24",
            "SM=27",
            "ST=25",
            "SV=28",
            "TL=23",
            "TN=24",
            "TR=26",
            "UA=29",
            "VA=22",
            "VG=24",
            "XK=20",
        ]
    )
}


def iban(data: bytes) -> bool:
    """Whether country, length and the two check digits (modulo 97) are those of an IBAN."""
    text = data.decode("ascii", "replace").replace(" ", "").upper()
    if _IBAN_LENGTHS.get(text[:2]) != len(text) or not text.isalnum():
        return False
    return int("".join(str(int(sign, 36)) for sign in text[4:] + text[:4])) % 97 == 1


# ---------------------------------------------------------------- national ids


def us_ssn(data: bytes) -> bool:
    """United States: areas 000, 666 and from 900, group 00 and serial 0000 were never given out."""
    area, group, serial = (int(part) for part in data.split(b"-"))
    return area not in (0, 666) and area < 900 and group > 0 and serial > 0


def spanish_dni(data: bytes) -> bool:
    """Spain: the letter is the number modulo 23; X, Y and Z begin a foreigner's."""
    text = data.upper().replace(b"-", b"")
    number = text[:-1].translate(bytes.maketrans(b"XYZ", b"012"))
    return b"TRWAGMYFPDXBNJZSQVHLCKE"[int(number) % 23] == text[-1]


_ODD: Final = (1, 0, 5, 7, 9, 13, 15, 17, 19, 21, 2, 4, 18, 20, 11, 3, 6, 8, 12, 14, 16, 10, 22, 25)
_ODD_LETTERS: Final = dict(zip("ABCDEFGHIJKLMNOPQRSTUVWX", _ODD, strict=True)) | {"Y": 24, "Z": 23}


def italian_code(data: bytes) -> bool:
    """Italy: the last letter is a sum over the others, odd and even places weighed apart."""
    text = data.decode().upper()
    total = 0
    for place, sign in enumerate(text[:15]):
        value = int(sign) if sign.isdigit() else ord(sign) - 65
        total += value if place % 2 else _ODD_LETTERS[chr(65 + value)]
    return chr(65 + total % 26) == text[15]


def brazilian_cpf(data: bytes) -> bool:
    """Brazil: two check digits, modulo 11; never eleven times the same."""
    digits = digits_of(data)
    if len(set(digits)) == 1:
        return False
    for count in (9, 10):
        total = sum(
            digit * weight for digit, weight in zip(digits, range(count + 1, 1, -1), strict=False)
        )
        if total * 10 % 11 % 10 != digits[count]:
            return False
    return True


def french_nir(data: bytes) -> bool:
    """France: the key is 97 minus the number modulo 97; Corsica's 2A and 2B count as 19 and 18."""
    text = data.replace(b" ", b"").upper()
    number = text[:13].replace(b"2A", b"19").replace(b"2B", b"18")
    return int(number) % 97 + int(text[13:]) == 97


def german_tax_id(data: bytes) -> bool:
    """Germany: ISO 7064 modulo 11, 10; one digit of the first ten comes twice or three times."""
    digits = digits_of(data)
    counts = sorted(digits[:10].count(digit) for digit in set(digits[:10]))
    if counts[-1] not in (2, 3) or (len(counts) > 1 and counts[-2] != 1) or digits[0] == 0:
        return False
    product = 10
    for digit in digits[:10]:
        product = ((digit + product) % 10 or 10) * 2 % 11
    return (11 - product) % 10 == digits[10]


def nhs_number(data: bytes) -> bool:
    """United Kingdom, health service: modulo 11 with weights 10 to 2."""
    digits = digits_of(data)
    total = sum(d * w for d, w in zip(digits, range(10, 1, -1), strict=False))
    return (11 - total % 11) % 11 == digits[9] and len(set(digits)) > 1


def dutch_bsn(data: bytes) -> bool:
    """Netherlands: the sum with weights 9 to 2 and -1 divides by 11."""
    digits = digits_of(data)
    weights = (9, 8, 7, 6, 5, 4, 3, 2, -1)
    return sum(d * w for d, w in zip(digits, weights, strict=True)) % 11 == 0 and any(digits)


def polish_pesel(data: bytes) -> bool:
    """Poland: weights 1 3 7 9, modulo 10; months carry the century."""
    digits = digits_of(data)
    weights = (1, 3, 7, 9, 1, 3, 7, 9, 1, 3, 1)
    month, day = (digits[2] * 10 + digits[3]) % 20, digits[4] * 10 + digits[5]
    total = sum(d * w for d, w in zip(digits, weights, strict=True))
    return total % 10 == 0 and 1 <= month <= 12 and 1 <= day <= 31


def swedish_number(data: bytes) -> bool:
    """Sweden: a date and four digits, Luhn's check over the last ten."""
    digits = digits_of(data)[-10:]
    month, day = digits[2] * 10 + digits[3], digits[4] * 10 + digits[5]
    return 1 <= month <= 12 and 1 <= day % 60 <= 31 and luhn(bytes(d + 48 for d in digits))


_VERHOEFF_D: Final = [
    "0123456789",
    "1234067895",
    "2340178956",
    "3401289567",
    "4012395678",
    "5987604321",
    "6598710432",
    "7659821043",
    "8765932104",
    "9876543210",
]
_VERHOEFF_P: Final = [
    "0123456789",
    "1576283094",
    "5803796142",
    "8916043527",
    "9453126870",
    "4286573901",
    "2793806415",
    "7046913258",
]


def aadhaar(data: bytes) -> bool:
    """India: Verhoeff's check; never begins with 0 or 1."""
    digits, check = digits_of(data), 0
    for place, digit in enumerate(reversed(digits)):
        check = int(_VERHOEFF_D[check][int(_VERHOEFF_P[place % 8][digit])])
    return check == 0 and digits[0] > 1


def chinese_id(data: bytes) -> bool:
    """China: ISO 7064 modulo 11-2 over a region, a date and a serial number."""
    text = data.decode().upper()
    month, day = int(text[10:12]), int(text[12:14])
    total = sum(int(sign) * 2 ** (17 - place) for place, sign in enumerate(text[:17]))
    return "10X98765432"[total % 11] == text[17] and 1 <= month <= 12 and 1 <= day <= 31
