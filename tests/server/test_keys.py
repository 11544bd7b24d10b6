"""Keys: shown once, kept hashed, scoped, expiring, revocable, rotated."""

from __future__ import annotations

import time
from typing import Any

import pytest

from memoranda.drive import run_now
from memoranda.errors import Misuse, UnknownId
from memoranda.server.keys import KIND, Keys
from memoranda.stores.ram import RamBackend

HOUR_NS = 3600 * 10**9


class Clock:
    def __init__(self) -> None:
        self.now = time.time_ns()

    def __call__(self) -> int:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def records() -> Any:
    return RamBackend().records(KIND)


@pytest.fixture
def keys(records: Any, clock: Clock) -> Keys:
    return Keys(records, clock)


def test_a_key_is_found_by_its_secret_and_by_nothing_else(keys: Keys) -> None:
    made = run_now(keys.create(name="bot"))
    other = run_now(keys.create())
    assert run_now(keys.check(made.credential)) == made.key
    head, secret = made.credential[:29], made.credential[30:]
    wrong_id = f"{head[:-1]}{'A' if head[-1] != 'A' else 'B'}_{secret}"
    mixed = f"{head}_{other.credential[30:]}"
    for wrong in ("", "mk_", made.key.id, made.credential[:-1], made.credential + "A", wrong_id,
                  mixed, made.credential.upper(), f" {made.credential}", "\u0000", "é" * 75):  # fmt: skip
        assert run_now(keys.check(wrong)) is None


def test_what_is_kept_does_not_hold_the_secret(keys: Keys, records: Any) -> None:
    made = run_now(keys.create())
    (record,) = run_now(records.list())
    assert made.credential not in record.value
    assert made.credential[30:] not in record.value
    assert made.credential not in repr(made.key)


def test_secrets_are_random_and_long(keys: Keys) -> None:
    secrets = {run_now(keys.create()).credential[30:] for _ in range(50)}
    assert len(secrets) == 50
    assert all(len(secret) == 43 for secret in secrets)


def test_an_expired_key_counts_no_more(keys: Keys, clock: Clock) -> None:
    made = run_now(keys.create(expires_in_seconds=3600))
    clock.now += HOUR_NS - 1
    assert run_now(keys.check(made.credential)) is not None
    clock.now += 1
    assert run_now(keys.check(made.credential)) is None
    with pytest.raises(Misuse):
        run_now(keys.rotate(made.key.id))


def test_a_key_that_a_key_makes_does_not_outlive_it(keys: Keys, clock: Clock) -> None:
    end = clock.now + HOUR_NS
    endless = run_now(keys.create(no_later_than_ns=end))
    shorter = run_now(keys.create(no_later_than_ns=end, expires_in_seconds=60))
    assert (endless.key.expires_at_ns, shorter.key.expires_at_ns) == (end, clock.now + 60 * 10**9)
    with pytest.raises(Misuse):
        run_now(keys.create(no_later_than_ns=end, expires_in_seconds=3601))
    assert len(run_now(keys.list())) == 2


def test_a_revoked_key_counts_no_more_for_good(keys: Keys) -> None:
    made = run_now(keys.create())
    revoked = run_now(keys.revoke(made.key.id))
    assert revoked.revoked_at_ns is not None
    assert run_now(keys.revoke(made.key.id)) == revoked
    assert run_now(keys.check(made.credential)) is None
    with pytest.raises(Misuse):
        run_now(keys.rotate(made.key.id))
    assert [key.id for key in run_now(keys.list())] == [made.key.id]


def test_a_rotated_key_has_a_new_secret_and_the_old_one_its_grace(keys: Keys, clock: Clock) -> None:
    made = run_now(keys.create(role="admin"))
    rotated = run_now(keys.rotate(made.key.id, grace_seconds=3600))
    assert (rotated.key.id, rotated.key.role) == (made.key.id, "admin")
    for credential in (made.credential, rotated.credential):
        assert run_now(keys.check(credential)) == rotated.key
    clock.now += HOUR_NS
    assert run_now(keys.check(made.credential)) is None
    at_once = run_now(keys.rotate(made.key.id))
    assert run_now(keys.check(rotated.credential)) is None
    assert run_now(keys.check(at_once.credential)) is not None


@pytest.mark.parametrize("unknown", ["", "apikey_01", "apikey_" + "0" * 26, "../x", "memstore_1"])
def test_an_unknown_key_can_be_neither_revoked_nor_rotated(keys: Keys, unknown: str) -> None:
    for work in (keys.revoke(unknown), keys.rotate(unknown), keys.get(unknown)):
        with pytest.raises(UnknownId):
            run_now(work)


@pytest.mark.parametrize(
    "about",
    [{"role": "root"}, {"workspace": "a/b"}, {"workspace": "control-records"},
     {"workspace": "sealed-keys"}, {"stores": ()}, {"stores": ("nobody",)}, {"name": "a\n"},
     {"name": "a" * 201}, {"expires_in_seconds": 0}, {"expires_in_seconds": 999_999 * 604_800}],
)  # fmt: skip
def test_a_key_that_cant_be_is_not_made(keys: Keys, about: Any) -> None:
    with pytest.raises(Misuse):
        run_now(keys.create(**about))
    assert run_now(keys.list()) == ()


def test_a_role_may_do_what_those_before_it_may(keys: Keys) -> None:
    made = run_now(keys.create(role="write")).key
    assert (made.may("read"), made.may("write"), made.may("admin")) == (True, True, False)


def test_more_keys_than_a_page_holds_are_all_listed(keys: Keys) -> None:
    for _ in range(3):
        run_now(keys.create())
    assert len(run_now(keys.list())) == 3
