"""Read-only: nothing changes, and the path that would is named."""

from __future__ import annotations

import pytest

from memoranda.drive import run_now
from memoranda.errors import ReadOnly
from memoranda.path import ROOT, parse_path
from memoranda.policies.read_only import RefuseWrites
from memoranda.stores.base import Change, Context, Edit, Move, Put, Remove
from memoranda.text.splice import Splice
from tests.stand_ins import fresh_store

A, B = parse_path("/memories/a"), parse_path("/memories/b")


@pytest.mark.parametrize(
    ("changes", "named"),
    [
        ([Put(A, b"2"), Put(B, b"")], A),
        ([Edit(A, lambda old: Splice(0, 0, b"x"))], A),
        ([Remove(A)], A),
        ([Move(A, B)], A),
        ([], ROOT),
    ],
)
def test_every_change_is_refused(changes: list[Change], named: object) -> None:
    inner = fresh_store()
    run_now(inner.apply([Put(A, b"1")], Context()))
    with pytest.raises(ReadOnly) as refused:
        run_now(RefuseWrites(inner).apply(changes, Context()))
    assert refused.value.path == named
    assert len(run_now(inner.versions()).versions) == 1


def test_redaction_is_refused() -> None:
    inner = fresh_store()
    (old,) = run_now(inner.apply([Put(A, b"1")], Context()))
    run_now(inner.apply([Put(A, b"2")], Context()))
    with pytest.raises(ReadOnly):
        run_now(RefuseWrites(inner).redact(old.id, Context()))
    assert run_now(inner.version(old.id)).content == b"1"


def test_reading_goes_on() -> None:
    inner = fresh_store()
    run_now(inner.apply([Put(A, b"1")], Context()))
    assert run_now(RefuseWrites(inner).read(A)).data == b"1"
