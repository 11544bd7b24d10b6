"""Limits: what can be set, and that every batch carries them to the store."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import pytest

from memoranda.drive import run_now
from memoranda.errors import FileTooLarge, MemoryFull, Misuse, TooManyFiles
from memoranda.path import parse_path
from memoranda.policies.limits import Limits, LimitSize
from memoranda.stores.base import Ceiling, Context, Put
from tests.stand_ins import fresh_store

NAMES = [each.name for each in fields(Limits)]


def test_the_defaults_are_those_that_the_documentation_promises() -> None:
    limits = Limits()
    assert limits.ceiling == Ceiling(total_bytes=10_485_760, files=2_000, file_bytes=262_144)
    assert (limits.view_chars, limits.image_bytes) == (16_000, 5_242_880)
    assert limits.commands_per_minute is None


def test_unlimited_lifts_every_limit_but_the_one_that_is_the_apis() -> None:
    limits = Limits.unlimited()
    assert limits.ceiling == Ceiling()
    assert limits.view_chars is None
    assert limits.commands_per_minute is None
    assert limits.image_bytes == Limits().image_bytes


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("value", [0, -1, True, 1.5, "10", 10.0])
def test_a_value_that_cannot_be_is_refused_with_its_name(name: str, value: object) -> None:
    given: dict[str, Any] = {name: value}
    with pytest.raises(Misuse, match=rf"^Limits: {name} is .*; it has to be a whole number of 1"):
        Limits(**given)


@pytest.mark.parametrize("name", NAMES)
def test_one_is_the_smallest_value(name: str) -> None:
    given: dict[str, Any] = {name: 1}
    assert getattr(Limits(**given), name) == 1


def test_what_can_be_lifted_says_so_and_the_image_limit_cannot() -> None:
    given: dict[str, Any] = {"image_bytes": None}
    with pytest.raises(Misuse, match=r"1 or more\.$"):
        Limits(**given)
    with pytest.raises(Misuse, match="or None to lift the limit"):
        Limits(files=0)


@pytest.mark.parametrize(
    ("ceiling", "error"),
    [
        (Ceiling(file_bytes=3), FileTooLarge),
        (Ceiling(total_bytes=7), MemoryFull),
        (Ceiling(files=1), TooManyFiles),
    ],
)
def test_the_store_refuses_what_ends_above_a_limit(
    ceiling: Ceiling, error: type[Exception]
) -> None:
    inner = fresh_store()
    store = LimitSize(inner, ceiling)
    a, b = parse_path("/memories/a"), parse_path("/memories/b")
    run_now(store.apply([Put(a, b"123")], Context()))
    with pytest.raises(error):
        run_now(store.apply([Put(a, b"1234"), Put(b, b"1234")], Context()))
    assert run_now(inner.read(a)).data == b"123"


def test_who_does_the_batch_stays_in_its_context() -> None:
    store = LimitSize(fresh_store(), Ceiling(files=5))
    who = Context(actor="user_7", command="write", trace_id="t-1")
    (made,) = run_now(store.apply([Put(parse_path("/memories/a"), b"x")], who))
    assert (made.actor, made.command, made.trace_id) == ("user_7", "write", "t-1")


@pytest.mark.parametrize(
    ("layer", "brought", "error"),
    [
        (Ceiling(files=1), Ceiling(files=9), TooManyFiles),
        (Ceiling(files=9), Ceiling(files=1), TooManyFiles),
        (Ceiling(files=9), Ceiling(file_bytes=1), FileTooLarge),
        (Ceiling(total_bytes=3), Ceiling(), MemoryFull),
    ],
)
def test_of_the_layers_limits_and_those_of_a_batch_the_stricter_hold(
    layer: Ceiling, brought: Ceiling, error: type[Exception]
) -> None:
    store = LimitSize(fresh_store(), layer)
    changes = [Put(parse_path(f"/memories/{name}"), b"12") for name in "ab"]
    with pytest.raises(error):
        run_now(store.apply(changes, Context(ceiling=brought)))
