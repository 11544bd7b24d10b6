"""Check digits, and what counts as a placeholder."""

from __future__ import annotations

from random import Random

import pytest

from memoranda.detect import checks
from memoranda.testing.redaction.invent import expand


@pytest.mark.parametrize(
    ("check", "right"),
    [
        (checks.card, b"4111 1111 1111 1111"),
        (checks.iban, b"DE89370400440532013000"),
        (checks.us_ssn, b"536-22-8765"),
        (checks.spanish_dni, b"X1234567L"),
        (checks.italian_code, b"RSSMRA85T10A562S"),
        (checks.brazilian_cpf, b"529.982.247-25"),
        (checks.french_nir, b"2 55 08 14 168 025 38"),
        (checks.german_tax_id, b"86095742719"),
        (checks.nhs_number, b"943 476 5919"),
        (checks.dutch_bsn, b"111222333"),
        (checks.polish_pesel, b"44051401359"),
        (checks.swedish_number, b"811218-9876"),
        (checks.aadhaar, b"2341 2341 2346"),
        (checks.chinese_id, b"11010519491231002X"),
    ],
)
def test_a_number_passes_its_check_and_no_wrong_last_sign_does(check: object, right: bytes) -> None:
    assert callable(check)
    assert check(right)
    if check is checks.us_ssn:  # has no check digit
        return
    last = right[-1:]
    signs = b"0123456789" if last.isdigit() else b"ABCDEFGHIJKLMNOPQRSTUVWXYZ"
    wrong = [right[:-1] + bytes([sign]) for sign in signs if bytes([sign]) != last]
    assert not any(check(number) for number in wrong)


@pytest.mark.parametrize(
    "placeholder",
    [
        "your-key",
        "${KEY}",
        "<token>",
        "xxxxxxxx",
        "****",
        "changeme",
        "...",
        "{{ key }}",
        "password",
    ],
)
def test_a_placeholder_is_no_secret(placeholder: str) -> None:
    assert checks.is_placeholder(placeholder.encode())
    assert not checks.is_password(placeholder.encode())


@pytest.mark.parametrize(
    "reference",
    ["DB_PASSWORD", "settings.secret", "get_key()", "/run/secrets/key", "2026-11-30T10"],
)
def test_where_a_secret_comes_from_is_no_secret(reference: str) -> None:
    assert checks.is_reference(reference.encode())


@pytest.mark.parametrize("password", ["hunter2", "s3cr3t-Horse", "correct!horse", "Tr0ub4dor&3"])
def test_a_password_is_one(password: str) -> None:
    assert checks.is_password(password.encode())


@pytest.mark.parametrize("words", ["at-least-12-characters", "sha256", "tls-prod", "required"])
def test_words_are_none(words: str) -> None:
    assert not checks.is_password(words.encode())


def test_a_github_token_with_the_right_sum_is_one_whatever_it_looks_like() -> None:
    token = expand("ghp_<crc:36>", Random(1)).encode()
    assert checks.has_github_crc(token)
    assert not checks.has_github_crc(b"ghp_" + b"x" * 36)
    low = b"ghp_" + b"a" * 30
    made = [low + expand("<crc:6>", Random(0)).encode()]
    assert not any(checks.has_github_crc(each) for each in made)


def test_entropy_is_in_bits_a_byte() -> None:
    assert checks.entropy(b"") == 0
    assert checks.entropy(b"aaaa") == 0
    assert checks.entropy(b"abcd") == 2
