"""Every rule finds its examples, whole, and none of its counterexamples."""

from __future__ import annotations

import re
from random import Random

import pytest

from memoranda.detect.rules.rule import Rule
from memoranda.detect.rules.table import RULES
from memoranda.detect.scanner import RUN_BYTES, Scanner
from memoranda.policies.redaction import KINDS
from memoranda.testing.redaction.invent import expand

SEEDS = range(10)

by_id = pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.id)


def of_scope(*scopes: str) -> pytest.MarkDecorator:
    rules = [rule for rule in RULES if rule.scope in scopes]
    return pytest.mark.parametrize("rule", rules, ids=lambda rule: rule.id)


def alone(rule: Rule) -> Scanner:
    return Scanner([rule.kind], [rule])


def test_there_are_rules_of_every_kind_and_no_two_share_an_id() -> None:
    assert {rule.kind for rule in RULES} == set(KINDS)
    assert len({rule.id for rule in RULES}) == len(RULES) >= 60


@by_id
def test_a_rule_finds_its_examples(rule: Rule) -> None:
    assert rule.examples
    for example in rule.examples:
        for seed in SEEDS:
            text = expand(example, Random(seed))
            for around in ("{}", "see {} there", "a\n{}\nb"):
                assert alone(rule).find(around.format(text).encode()), text


@by_id
def test_a_rule_finds_no_counterexample(rule: Rule) -> None:
    assert rule.counterexamples or rule.kind == "national_id"
    for example in rule.counterexamples:
        for seed in SEEDS:
            text = expand(example, Random(seed))
            assert alone(rule).find(text.encode()) == [], text


@by_id
def test_a_rule_says_what_it_finds_and_where_its_form_is_described(rule: Rule) -> None:
    assert re.match(r"an? \S", rule.what)
    assert rule.source.startswith("https://")
    assert all(literal == literal.lower() or rule.scope == "block" for literal in rule.literals)


@of_scope("run", "line")
def test_a_rule_that_is_not_about_blocks_finds_within_a_line(rule: Rule) -> None:
    for example in rule.examples:
        text = expand(example, Random(1)).encode()
        (first, *_) = alone(rule).find(b"\n" + text + b"\n")
        assert b"\n" not in (b"\n" + text + b"\n")[first.start : first.end]


@of_scope("run")
def test_a_token_is_found_by_what_stands_in_its_own_long_run(rule: Rule) -> None:
    run = re.compile(rb"[\w.%-]{" + str(RUN_BYTES).encode() + rb",}", re.ASCII)
    for example in rule.examples:
        for seed in SEEDS:
            text = expand(example, Random(seed)).encode()
            for hit in alone(rule).find(text):
                runs = b" ".join(run.findall(text[hit.start : hit.end].lower()))
                assert any(literal.encode() in runs for literal in rule.literals), text


def test_no_hostile_text_keeps_a_rule_busy() -> None:
    # Measured in steps of the same machine: eight times the text may take no 40 times as long.
    from time import process_time

    scanner = Scanner(KINDS)
    hostile = [
        b"-----BEGIN RSA PRIVATE KEY-----",
        b"password=",
        b"password: (",
        b"secret_access_key=",
        b"https://a:",
        b"https://",
        b"eyJ" + b"a" * 20 + b".",
        b"curl -u ",
        b"AKIA",
        b"sk-",
        b"a@a.",
        b"+1 2",
        b"1 ",
        b"4111-",
        b"GB29 NWBK ",
        b"token is ",
        b"&sig=" + b"a" * 30,
        b"key `",
        b"aa_",
    ]
    for piece in hostile:
        times: list[float] = []
        for size in (8_000, 64_000):
            text = piece * (size // len(piece))
            scanner.find(text)
            begin = process_time()
            scanner.find(text)
            times.append(process_time() - begin)
        assert times[1] < max(40 * times[0], 0.25), piece
