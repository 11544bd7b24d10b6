"""What can befall a folder store, event by event, as data.

Tests name what they show with ``@pytest.mark.fault("ROW-07")``; ``test_fault_coverage.py`` holds the
list and the tests against each other, both ways. ``ROW`` are the rows of the failure table of
``docs/formats/folder.md`` and its remarks, ``BAD`` what else has to end in a clear error or a repair.
An entry that no test can show says why.
"""

from __future__ import annotations

from typing import Final, NamedTuple


class Fault(NamedTuple):
    """One event, what is to come of it, and why no test shows it (empty: one does)."""

    id: str
    event: str
    outcome: str
    not_shown: str = ""


FAULTS: Final = (
    Fault("ROW-01", "A kill before the commit.", "The old state; temporary files are swept."),
    Fault(
        "ROW-02",
        "A kill after the commit, before or amid the renames.",
        "Never uncommitted text; the next turn does the rest.",
    ),
    Fault(
        "ROW-03",
        "A power cut leaves any mix of old, new, empty and cut files.",
        "Every acknowledged state comes back; no version by external.",
    ),
    Fault(
        "ROW-04",
        "A full or read-only disk before the commit.",
        "The old state and a clear error; it goes on when there is room.",
    ),
    Fault(
        "ROW-05",
        "The disk refuses what follows the commit.",
        "Success; reads come from the log, later turns try again.",
    ),
    Fault(
        "ROW-06",
        "A person saves while a command runs.",
        "Theirs stays and is adopted; the command runs again on it.",
    ),
    Fault(
        "ROW-07", "A person keeps writing into a replaced file.", "A late version; ours is head."
    ),
    Fault(
        "ROW-08",
        "A folder is copied, restored or moved, with or without its times.",
        "The same; images are noted anew, no version.",
    ),
    Fault("ROW-09", "Copied live, the tree older than the database.", "The log's text."),
    Fault(
        "ROW-10",
        "Copied live, the database older than the tree, or without its -wal.",
        "The newer text is adopted.",
    ),
    Fault(
        "ROW-11",
        "A copy in which a person put an old text before the first opening.",
        "The head wins; both are in history.",
    ),
    Fault("ROW-12", "A person puts an old text into a store in order.", "Theirs wins."),
    Fault("ROW-13", "history.db deleted while the store is closed.", "The tree is adopted anew."),
    Fault(
        "ROW-14",
        "history.db deleted while the store is open.",
        "Written again from the open connection.",
    ),
    Fault(
        "ROW-15",
        "An old history.db beside a newer -wal, torn pages.",
        "Set aside, what makes a whole history salvaged, the tree adopted.",
    ),
    Fault(
        "ROW-16",
        "The clock steps.",
        "Nothing: images compare by equality, times never go back, nothing is let go at once.",
    ),
    Fault(
        "ROW-17",
        "A host that folds case or Unicode forms of names.",
        "A second name of one file is refused; nothing is mixed up.",
    ),
    Fault("ROW-18", "A network disk.", "One process at a time has the store."),
    Fault(
        "ROW-19",
        "A network disk that several machines use.",
        "Refused, as to a second process of one machine.",
        "Needs a second machine: what refuses is the network disk's own flock between its clients,"
        " which ROW-18 shows between processes. Where a disk gives the lock to two machines all the"
        " same, nothing of ours can tell; the page advises Postgres.",
    ),
    Fault(
        "ROW-20",
        "A synchronised folder replaces files under an open store.",
        "Documented as unsafe.",
        "No promise is made, so there is none to show.",
    ),
    Fault(
        "ROW-21",
        "Somebody reads for long while others write.",
        "Writers go on; the -wal grows meanwhile and is cut to 4 MB after it.",
    ),
    Fault(
        "ROW-22",
        "A crash amid a move to another store or mount.",
        "Both are there, never none.",
        "No command moves between stores: there are no mounts yet.",
    ),
    Fault("BAD-01", "A malformed command.", "An error that says how to do it; nothing changes."),
    Fault("BAD-02", "A full disk.", "Clear error, old state, goes on when there is room."),
    Fault("BAD-03", "A read-only disk.", "Views as ever; changes are refused as read-only."),
    Fault(
        "BAD-04",
        "No descriptor is left.",
        "Clear errors, old or new state as answered, goes on when there are some.",
    ),
    Fault("BAD-05", "A process is killed at any operation.", "Nothing acknowledged is lost."),
    Fault("BAD-06", "A torn -wal.", "What was synced is there; the rest is adopted or salvaged."),
    Fault("BAD-07", "A deleted history.db.", "The tree is adopted anew."),
    Fault("BAD-08", "A plain file is cut short.", "A person's change, and the log has the rest."),
    Fault(
        "BAD-09", "A file that is not UTF-8.", "Kept byte for byte; views say that it is no text."
    ),
    Fault("BAD-10", "A folder that belongs to somebody else.", "Clear error, nothing is touched."),
    Fault(
        "BAD-11",
        "Two processes with different versions of the format.",
        "The one that does not know the format writes nothing and says so.",
    ),
    Fault("BAD-12", "Corruption of any kind is planted.", "Verify finds it and says what to do."),
    Fault("BAD-13", "A fault ends.", "The store goes on without being opened anew."),
)
