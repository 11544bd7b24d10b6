"""Personal data: looked for only where somebody asks for it."""

from __future__ import annotations

from typing import Final

from memoranda.detect import checks
from memoranda.detect.rules.rule import Check, Rule


def _number(
    rule_id: str,
    what: str,
    pattern: bytes,
    source: str,
    check: Check,
    examples: tuple[str, ...],
    counterexamples: tuple[str, ...],
) -> Rule:
    """A national number: digits that stand alone and have the right check digits."""
    alone = rb"(?<![\w.,-])(?:" + pattern + rb")(?![\w-]|[.,]\d)"
    return Rule(
        rule_id, "national_id", what, "line", (), alone, source, examples, counterexamples, check
    )


PERSONAL: Final[tuple[Rule, ...]] = (
    Rule(
        "email",
        "email",
        "an email address",
        "line",
        ("@",),
        rb"(?<![\w.+-])(?!git@)[A-Za-z0-9][\w.+%-]{0,63}@(?:[A-Za-z0-9-]{1,63}\.){1,8}"
        rb"(?!\d)[A-Za-z0-9-]{2,24}(?<!-)(?![\w@])",
        "https://datatracker.ietf.org/doc/html/rfc5321#section-4.1.2",
        ("ada@example.com", "ada+notes@mail.example.co.uk"),
        ("git@github.com:acme/blue.git", "@decorator", "npm i @scope/package@1.2.3", "ada@host"),
    ),
    Rule(
        "phone",
        "phone",
        "a phone number",
        "line",
        ("+", "(", "tel", "phone"),
        rb"(?<![\w.+-])(?:\+\d{1,3}[ .-]?(?:\(\d{1,4}\)[ .-]?)?\d(?:[ ./-]?\d){6,12}"
        rb"|\(\d{3}\) ?\d{3}[ .-]\d{4}"
        rb"|(?<=tel: )\d(?:[ .-]?\d){7,13}|(?<=phone: )\d(?:[ .-]?\d){7,13})(?![\w-]|\.\d)",
        "https://www.itu.int/rec/T-REC-E.164",
        ("+49 30 90182000", "+447911123456", "(212) 555-0134", "phone: 030 90182000"),
        ("1.2.3+45 6789", "2026-11-30 16:46:17", "+1", "(2026) 12"),
    ),
    Rule(
        "payment-card",
        "card",
        "a payment card",
        "line",
        (),
        rb"(?<![\w.,-])(?:[2-6]\d{3}([ -]?)\d{4}\1\d{4}\1\d{1,7}|3[47]\d{2}[ -]?\d{6}[ -]?\d{5})"
        rb"(?![\w-]|[.,]\d)",
        "https://www.iso.org/standard/70484.html",
        ("<luhn:16>", "4111 1111 1111 1111", "378282246310005"),
        ("<noluhn:16>", "ISBN 978-3-16-148410-0", "1,234,567,890,123,456"),
        checks.card,
    ),
    Rule(
        "iban",
        "iban",
        "a bank account number",
        "line",
        (),
        rb"(?<![A-Za-z0-9])[A-Z]{2}\d{2}(?:[A-Z0-9]{11,30}|(?: [A-Z0-9]{4}){2,7}(?: [A-Z0-9]{1,3})?)"
        rb"(?![A-Za-z0-9])",
        "https://www.iso.org/standard/81090.html",
        ("<iban:0>", "<iban:1>", "GB29 NWBK 6016 1331 9268 19"),
        ("DE00 0000 0000 0000 0000 00", "AB12CDEFGHIJKLMNOP"),
        checks.iban,
    ),
    _number(
        "us-ssn",
        "a US social security number",
        rb"\d{3}-\d{2}-\d{4}",
        "https://www.ssa.gov/employer/randomization.html",
        checks.us_ssn,
        ("536-22-8765",),
        ("000-12-3456", "666-12-3456", "900-12-3456", "123-45-67890"),
    ),
    _number(
        "es-dni",
        "a Spanish DNI or NIE",
        rb"[XYZ\d]\d{7}-?[A-Z]",
        "https://www.interior.gob.es/",
        checks.spanish_dni,
        ("12345678Z", "X1234567L"),
        ("12345678A",),
    ),
    _number(
        "it-codice-fiscale",
        "an Italian tax code",
        rb"[A-Z]{6}\d{2}[A-EHLMPRST]\d{2}[A-Z]\d{3}[A-Z]",
        "https://www.agenziaentrate.gov.it/",
        checks.italian_code,
        ("RSSMRA85T10A562S",),
        ("RSSMRA85T10A562A",),
    ),
    _number(
        "br-cpf",
        "a Brazilian CPF",
        rb"\d{3}\.\d{3}\.\d{3}-\d{2}",
        "https://www.gov.br/receitafederal/",
        checks.brazilian_cpf,
        ("529.982.247-25",),
        ("529.982.247-26", "111.111.111-11"),
    ),
    _number(
        "fr-nir",
        "a French social security number",
        rb"[12] ?\d{2} ?\d{2} ?(?:\d{2}|2[AB]) ?\d{3} ?\d{3} ?\d{2}",
        "https://www.insee.fr/",
        checks.french_nir,
        ("2 55 08 14 168 025 38",),
        ("2 55 08 14 168 025 39",),
    ),
    _number(
        "de-tax-id",
        "a German tax number",
        rb"[1-9]\d(?: ?\d{3}){3}",
        "https://www.bzst.de/",
        checks.german_tax_id,
        ("86095742719", "86 095 742 719"),
        ("86095742718", "12345678901"),
    ),
    _number(
        "uk-nhs",
        "a UK NHS number",
        rb"\d{3} \d{3} \d{4}",
        "https://www.datadictionary.nhs.uk/attributes/nhs_number.html",
        checks.nhs_number,
        ("943 476 5919",),
        ("943 476 5918",),
    ),
    Rule(
        "nl-bsn",
        "national_id",
        "a Dutch BSN",
        "line",
        ("bsn", "burgerservicenummer"),
        rb"(?i)(?:bsn|burgerservicenummer)[^\w\n]{0,4}(?P<s>\d{9})(?!\d)",
        "https://www.rvig.nl/bsn",
        ("BSN 111222333", "bsn: 111222333"),
        ("BSN 111222334", "111222333"),
        checks.dutch_bsn,
    ),
    _number(
        "pl-pesel",
        "a Polish PESEL",
        rb"\d{11}",
        "https://www.gov.pl/web/gov/czym-jest-numer-pesel",
        checks.polish_pesel,
        ("44051401359",),
        ("44051401358",),
    ),
    _number(
        "se-personnummer",
        "a Swedish personal number",
        rb"(?:19|20)?\d{6}[-+]\d{4}",
        "https://www.skatteverket.se/",
        checks.swedish_number,
        ("811218-9876", "19811218-9876"),
        ("811218-9875", "811318-9876"),
    ),
    _number(
        "in-aadhaar",
        "an Indian Aadhaar number",
        rb"[2-9]\d{3} \d{4} \d{4}",
        "https://uidai.gov.in/",
        checks.aadhaar,
        ("2341 2341 2346",),
        ("2341 2341 2345",),
    ),
    _number(
        "cn-id",
        "a Chinese identity number",
        rb"[1-9]\d{16}[\dX]",
        "https://openstd.samr.gov.cn/",
        checks.chinese_id,
        ("11010519491231002X",),
        ("110105194912310021",),
    ),
)
"""Numbers without a check digit, or with one of ten, need more than ten digits to be told apart."""
