"""What a person is told about an error, and what they can do about it."""

from __future__ import annotations

from typing import Final

from memoranda.errors import (
    AlreadyExists,
    BadPath,
    Conflict,
    Corrupt,
    EmptyOldString,
    FileTooLarge,
    IsADirectory,
    ManyMatches,
    MemorandaError,
    MemoryFull,
    NoMatch,
    NotFound,
    NotText,
    OtherContents,
    ReadOnly,
    StoreExists,
    TooManyFiles,
    Unavailable,
    UnknownId,
)
from memoranda.reply import path_fault

_ADVICE: Final[dict[type[MemorandaError], str]] = {
    AlreadyExists: "Choose another path, or delete what is there first.",
    BadPath: "A path looks like this: /memories/notes/today.md",
    Conflict: "Look at what changed (memoranda history), then try again.",
    Corrupt: "Run: memoranda verify. It says what is wrong and what to do, step by step.",
    EmptyOldString: "Say which text is to be replaced.",
    FileTooLarge: "Split it, or raise file_bytes under [limits] in memoranda.toml.",
    IsADirectory: "memoranda view lists what is in it.",
    MemoryFull: "Delete something, or raise store_bytes under [limits] in memoranda.toml.",
    NoMatch: "memoranda view shows what is there; the text has to match exactly.",
    NotFound: "memoranda view lists what there is.",
    NotText: "memoranda view --raw gives its bytes.",
    ReadOnly: "It can be viewed and exported.",
    TooManyFiles: "Delete something, or raise files under [limits] in memoranda.toml.",
    Unavailable: "Nothing is lost. Mend the cause, then try again.",
    StoreExists: "Nothing is ever put over a store: use another place, or erase what is there.",
    OtherContents: "Use another place, or erase what is there first.",
}
_WHERE_IDS_ARE: Final = {
    "key": "memoranda keys list shows the ids of keys.",
    "proposal": "memoranda proposals list shows the ids of proposals.",
    "store": "memoranda users shows whose memories there are, and their ids.",
}
_OTHER_IDS: Final = "memoranda history shows the ids of versions, memoranda users those of stores."


def said_by(error: MemorandaError) -> str:
    """What went wrong, in a sentence."""
    return path_fault(error.reason) if isinstance(error, BadPath) else str(error)


def advice_for(error: MemorandaError) -> str:
    """One line on what to do, or nothing where the error says it itself."""
    if isinstance(error, ManyMatches):
        lines = ", ".join(str(line) for line in error.lines)
        return f"It is on lines {lines}. Give more of the text around the place that is meant."
    if isinstance(error, UnknownId):
        return _WHERE_IDS_ARE.get(error.kind, _OTHER_IDS)
    return _ADVICE.get(type(error), "")
