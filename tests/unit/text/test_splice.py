from __future__ import annotations

from hypothesis import given

from tests.unit.text.naive import changes, splice_of


@given(changes())
def test_a_splice_replaces_its_stretch(change: tuple[str, int, int, str]) -> None:
    old, start, end, middle = change
    splice = splice_of(*change)
    new = (old[:start] + middle + old[end:]).encode()
    assert splice.apply(old.encode()) == new
    assert splice.size_after(len(old.encode())) == len(new)


@given(changes())
def test_a_splice_knows_whether_it_changes_anything(change: tuple[str, int, int, str]) -> None:
    old, start, end, middle = change
    assert splice_of(*change).changes(old.encode()) is (old[start:end] != middle)
