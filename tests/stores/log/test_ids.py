"""Ids can be read back by the store that gave them, and by nobody else."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from memoranda.stores.log import ids
from memoranda.stores.log.store_log import NUMBER_BITS, StoreLog
from tests.stores.log.rig import START_NS, Rig

MINE = Rig(7).log
OTHER = StoreLog(MINE.db, 7, "other", bytes(32))
NUMBERS = st.integers(1, 2**NUMBER_BITS - 1)
SHAPE = re.compile(r"01[0-9A-Za-z]{24}")


@given(NUMBERS, NUMBERS)
def test_a_version_id_gives_back_its_event_and_node(seq: int, node: int) -> None:
    numbers = (MINE.base + seq, MINE.base + node)
    version = ids.version_id(MINE, *numbers)
    prefix, _, rest = version.partition("_")
    assert prefix == "memver"
    assert SHAPE.fullmatch(rest)
    assert ids.event_of(MINE, version) == numbers
    assert ids.event_of(OTHER, version) is None


@given(NUMBERS)
def test_a_memory_id_gives_back_its_node(node: int) -> None:
    memory = ids.memory_id(MINE, MINE.base + node)
    prefix, _, rest = memory.partition("_")
    assert prefix == "mem"
    assert SHAPE.fullmatch(rest)
    assert ids.node_of(MINE, memory) == MINE.base + node
    assert ids.node_of(OTHER, memory) is None


def test_the_root_is_no_memory() -> None:
    assert ids.node_of(MINE, ids.memory_id(MINE, MINE.base)) is None


@given(st.tuples(NUMBERS, NUMBERS), st.tuples(NUMBERS, NUMBERS))
def test_version_ids_sort_as_their_events_do(a: tuple[int, int], b: tuple[int, int]) -> None:
    first = ids.version_id(MINE, MINE.base + a[0], MINE.base + a[1])
    second = ids.version_id(MINE, MINE.base + b[0], MINE.base + b[1])
    assert (first < second) == (a < b)


@given(st.text(max_size=40))
def test_garbage_is_no_id(text: str) -> None:
    for given_text in (text, "mem_01" + text, "memver_01" + text):
        assert ids.node_of(MINE, given_text) is None
        assert ids.event_of(MINE, given_text) is None


@given(NUMBERS, st.integers(9, 32), st.sampled_from("0Az\u00fc-"))
def test_one_changed_character_makes_an_id_unknown(node: int, at: int, character: str) -> None:
    version = ids.version_id(MINE, MINE.base + node, MINE.base + node)
    changed = version[:at] + character + version[at + 1 :]
    if changed != version:
        assert ids.event_of(MINE, changed) is None


def test_store_ids_are_new_each_time_and_sort_by_their_millisecond() -> None:
    made = [ids.new_store_id(START_NS + number * 10**6) for number in range(100)]
    assert made == sorted(made)
    assert all(SHAPE.fullmatch(one.removeprefix("memstore_")) for one in made)
    assert ids.new_store_id(START_NS) != ids.new_store_id(START_NS)
    assert len(ids.new_store_id()) == len(made[0])
