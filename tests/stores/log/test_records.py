"""What waits in memory for the next commit."""

from __future__ import annotations

from memoranda.stores.base import Context
from memoranda.stores.log.records import ENTRIES, LONGEST_WAIT_NS, LOST, MOST_RECORDS, Records

VIEW = Context(command="view")


def filled(number: int) -> Records:
    records = Records()
    for at in range(number):
        records.note(VIEW, at)
    return records


def test_they_are_due_after_a_second_or_when_there_are_many() -> None:
    assert not Records().are_due(10**18)
    assert not filled(1).are_due(LONGEST_WAIT_NS - 1)
    assert filled(1).are_due(LONGEST_WAIT_NS)
    assert not filled(MOST_RECORDS - 1).are_due(MOST_RECORDS)
    assert filled(MOST_RECORDS).are_due(MOST_RECORDS)


def test_what_could_not_be_written_is_tried_again_after_a_second_and_not_at_each_view() -> None:
    records = filled(MOST_RECORDS + 5)
    records.give_back(records.take(), 10**9)
    assert not records.are_due(10**9 + LONGEST_WAIT_NS - 1)
    assert records.are_due(10**9 + LONGEST_WAIT_NS)


def test_entries_that_had_to_be_let_go_are_counted_and_the_count_is_an_entry() -> None:
    records = filled(MOST_RECORDS + 5)
    records.give_back(records.take(), 0)
    for _ in range(3):
        records.note(VIEW, 10**6)
    records.give_back(records.take(), 0)
    notes, _ = records.take()
    lost, at_ns = notes[0]
    assert (lost.command, lost.audit) == (LOST, {ENTRIES: 8})
    assert at_ns == 8
    assert [context for context, _ in notes[1:]] == [VIEW] * MOST_RECORDS
    assert not records.are_waiting
    records.note(VIEW, 1)
    assert records.take() == ([(VIEW, 1)], {})
