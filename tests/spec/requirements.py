"""What the tool contract and the path policy ask for, sentence by sentence, as data.

Tests name what they show with ``@pytest.mark.spec("VIEW-07")``; ``test_coverage.py`` holds the
list and the tests against each other, both ways. The basis of a requirement is

- ``doc``: Anthropic's published page on the memory tool fixes it, texts to the letter;
- ``sdk``: the page is silent, and Anthropic's own Python tool does it so;
- ``ours``: Memoranda's decision, which a decision record may change.

``docs/tool-contract.md`` and ``docs/paths.md`` tell the same as a story.
"""

from __future__ import annotations

from typing import Final, Literal, NamedTuple, TypeAlias

Basis: TypeAlias = Literal["doc", "sdk", "ours"]


class Requirement(NamedTuple):
    """One behaviour: its stable id, what has to be, and who says so."""

    id: str
    text: str
    basis: Basis


def _section(prefix: str, *sentences: tuple[str, Basis]) -> tuple[Requirement, ...]:
    return tuple(
        Requirement(f"{prefix}-{number:02}", text, basis)
        for number, (text, basis) in enumerate(sentences, 1)
    )


TOOL: Final = _section(
    "TOOL",
    ("The tool's entry is its type, `memory_20250818`, and its name, `memory`.", "doc"),
    ("An entry takes `cache_control` and the other optional fields of a tool.", "doc"),
    ("The tool needs no beta header and asks for none.", "doc"),
    ("Claude gets the memory protocol from the API, so no prompt of ours is sent.", "doc"),
)

INPUT: Final = _section(
    "INPUT",
    ("A command is a JSON object with `command` and that command's fields.", "doc"),
    ("Fields that the command doesn't know are ignored.", "ours"),
    ("An unknown command is answered `Error: unknown command {command}`.", "doc"),
    ("The unknown command is shown escaped and cut to 256 characters, as a path is.", "ours"),
    ("A missing required field is an error that names the command and the field.", "ours"),
    ("A field of the wrong type is an error that names the command and the field.", "ours"),
    ("A malformed command changes nothing, so the corrected call works.", "ours"),
    ("A whole float counts as an integer.", "ours"),
    ("A string of digits, at most 18, counts as an integer.", "ours"),
    ("A boolean is never an integer.", "ours"),
    ("`view_range` may be a JSON string that holds the pair.", "ours"),
    ("`null` for an optional field counts as left out.", "ours"),
    ("`insert` takes `new_str` when `insert_text` is absent.", "ours"),
    ("`rename` takes `path` when `old_path` is absent.", "ours"),
    ("Where two readings are possible, none is guessed: the field's own name counts.", "ours"),
    ("A string with an unpaired surrogate is an error and changes nothing.", "ours"),
    ("U+0000 in content is kept.", "ours"),
    ("Every error is a tool result with `is_error: true`.", "doc"),
    ("Nothing that the model sends makes the handler raise.", "ours"),
    ("No result holds a real path, a tenant, an exception's repr or a storage term.", "ours"),
)

TEXT: Final = _section(
    "TEXT",
    ("Content is kept byte for byte, whatever it is: BOM, CR, CRLF, tabs, blanks.", "ours"),
    ("The Unicode form of content is kept; nothing is normalised.", "ours"),
    ("Lines end at LF and nowhere else.", "ours"),
    ("A final LF ends the last line and begins no further one.", "ours"),
    ("The empty text has no line.", "ours"),
    ("In a file whose line ends are all CRLF, inserted text takes CRLF.", "ours"),
    ("In a file whose line ends are all CRLF, replaced text takes CRLF.", "ours"),
    ("In a file whose line ends are all CRLF, an `old_str` with LF matches.", "ours"),
    ("A file without line ends, or with both kinds, takes texts byte for byte.", "ours"),
)

VIEW_DIRECTORY: Final = _section(
    "LIST",
    ("A listing begins with the fixed sentence that names the directory.", "doc"),
    ("Its first line is the directory itself; each line is size, tab, path.", "doc"),
    ("It goes two levels below the directory.", "doc"),
    ("Names that start with a dot are left out with all below them.", "doc"),
    ("`node_modules` is left out with all below it.", "doc"),
    ("Directories end in a slash, the first line does not.", "sdk"),
    ("Lines are ordered by code point of the printed path, with the slash.", "ours"),
    ("A size below 1,024 bytes is written `512B`.", "ours"),
    ("A larger size has one decimal and K, M or G.", "ours"),
    ("A directory's size is the sum of the files beneath it, at any depth.", "ours"),
    ("What is left out of a listing is left out of its sizes.", "ours"),
    ("The empty root is the header and one line, never an error.", "doc"),
    ("A listing is cut after whole lines at the view cap, its own lines counted.", "ours"),
    ("A cut listing ends in a note of how many of how many items are shown.", "ours"),
    ("`view_range` on a directory is ignored.", "doc"),
    ("A directory that is hidden itself can be listed by its path.", "ours"),
)

VIEW: Final = _section(
    "VIEW",
    ("A file's view begins with the fixed sentence that names the file.", "doc"),
    ("Each line is its number, right-aligned in six places, a tab, and the line.", "doc"),
    ("Lines are counted from 1.", "doc"),
    ("Lines are joined by LF; nothing follows the last one.", "doc"),
    ("A file of no lines shows one empty line 1.", "ours"),
    ("A file of more than 999,999 lines is an error of fixed wording.", "doc"),
    ("The limit of lines holds for ranged views too.", "ours"),
    ("`view_range` [s, e] shows lines s to e, both included.", "doc"),
    ("An end of -1 is the last line.", "doc"),
    ("A start below 1 counts as 1.", "ours"),
    ("An end past the file counts as its last line.", "ours"),
    ("A start past the last line is an error of fixed wording.", "ours"),
    ("An end below -1 is the same error.", "ours"),
    ("An end before the start, and not -1, is the same error.", "ours"),
    ("A file of no lines counts as one empty line for the range.", "ours"),
    ("A view shows at most 16,000 characters of the file, LFs included.", "doc"),
    ("The line numbers don't count for the cap.", "ours"),
    ("The cap is a setting.", "ours"),
    ("A capped view is cut at a line end, then come a blank line and a note.", "ours"),
    ("The note says which lines are shown of how many, and the range that continues.", "ours"),
    ("A ranged view is capped the same way.", "ours"),
    ("A line longer than the cap shows its first characters and a note of both counts.", "ours"),
    ("Nothing is cut inside a code point.", "ours"),
    ("A file whose shown bytes are not UTF-8 is an error of fixed wording.", "ours"),
    ("Bytes that are not shown may be anything.", "ours"),
    ("A missing path is an error of fixed wording, without `Error: `.", "doc"),
)

IMAGE: Final = _section(
    "IMAGE",
    ("A `.png`, `.jpg` or `.jpeg` file is shown as one base64 image block.", "doc"),
    ("A text block before it names the path.", "ours"),
    ("A picture over the API's limit of 5 MB is not shown as one.", "ours"),
    ("The limit is a setting.", "ours"),
    ("Bytes that are not that format are shown as text if they are UTF-8.", "ours"),
    ("Bytes that are neither that format nor UTF-8 are an error.", "ours"),
    ("No image block ever holds other bytes than a picture's.", "ours"),
    ("The ending counts in any case of letters.", "ours"),
)

CREATE: Final = _section(
    "CREATE",
    ("A created file is answered with the fixed sentence.", "doc"),
    ("Parents are made on the way.", "sdk"),
    ("An existing file is an error of fixed wording and stays as it is.", "doc"),
    ("With `on_exists` set to overwrite, the file is replaced as if it were new.", "doc"),
    ("The default of `on_exists` is error.", "ours"),
    ("A directory at the path is an error that says so.", "ours"),
    ("So is the root, with a trailing slash or without.", "ours"),
    ("A parent that is a file is an error that names it.", "ours"),
)

STR_REPLACE: Final = _section(
    "REPLACE",
    ("A replacement is answered with the fixed sentence and a numbered snippet.", "doc"),
    ("The snippet goes from 2 lines before the change to 2 after it.", "sdk"),
    ("The changed lines come first in the cap.", "ours"),
    ("Context lines are cut to 200 characters.", "ours"),
    ("Context lines are dropped where the cap needs it.", "ours"),
    ("A left-out `new_str` deletes `old_str`.", "doc"),
    ("A missing file is an error of fixed wording.", "doc"),
    ("A directory, the root too, is answered as a missing file.", "doc"),
    ("A text that is not there is an error of fixed wording.", "doc"),
    ("A text that is there more than once is an error of fixed wording.", "doc"),
    ("Places that overlap count as several.", "ours"),
    ("The error lists the distinct lines on which the text begins, ascending.", "ours"),
    ("An empty `old_str` is an error of fixed wording.", "ours"),
    ("Equal strings succeed once found and unique, and store nothing.", "ours"),
    ("Equal strings that are absent or ambiguous are the usual errors.", "ours"),
    ("Both strings are literal: no pattern, no groups, no tab expansion.", "ours"),
    ("A file that is not UTF-8 can't be edited: an error of fixed wording.", "ours"),
)

INSERT: Final = _section(
    "INSERT",
    ("An insertion is answered with the fixed sentence.", "doc"),
    ("The text goes after line `insert_line`; 0 is the top.", "doc"),
    ("One final LF of the text is optional.", "doc"),
    ("Further final LFs are blank lines.", "ours"),
    ("An empty text is one blank line.", "ours"),
    ("After a last line without LF one is added before the text.", "ours"),
    ("In the middle, the file keeps its final LF or the lack of it.", "ours"),
    ("At the end, the file ends in LF if the text does.", "ours"),
    ("At the end, a text without LF leaves the end as it was.", "ours"),
    ("A missing file is an error of fixed wording.", "doc"),
    ("A directory, the root too, is answered as a missing file.", "doc"),
    ("A line out of range is an error of fixed wording.", "doc"),
    ("A file that is not UTF-8 can't be edited: an error of fixed wording.", "ours"),
)

DELETE: Final = _section(
    "DELETE",
    ("A deletion is answered with the fixed sentence.", "doc"),
    ("A directory goes with all below it, and nothing beside it.", "doc"),
    ("A missing path is an error of fixed wording.", "doc"),
    ("The root, with a trailing slash or without, is an error of fixed wording.", "sdk"),
    ("Other spellings of the root are refused paths.", "ours"),
)

RENAME: Final = _section(
    "RENAME",
    ("A rename is answered with the fixed sentence.", "doc"),
    ("A directory takes all below it along.", "doc"),
    ("Missing parents of the destination are made.", "sdk"),
    ("A missing source is an error of fixed wording.", "doc"),
    ("A destination that exists as a file is an error of fixed wording.", "doc"),
    ("So is one that exists as a directory.", "doc"),
    ("So is the root.", "ours"),
    ("So is the source itself.", "ours"),
    ("A destination is never overwritten, not even in a race.", "ours"),
    ("The root as source is an error of fixed wording.", "sdk"),
    ("A directory moved below itself is an error of fixed wording.", "ours"),
    ("A parent of the destination that is a file is an error that names it.", "ours"),
    ("A moved name that would break a limit is an error that names it.", "ours"),
    ("A failed rename leaves nothing behind, no new parents either.", "ours"),
)

DIRECTORIES: Final = _section(
    "DIR",
    ("A directory exists while a file lies beneath it.", "ours"),
    ("The root always exists.", "ours"),
    ("Deleting or moving a directory's last file makes it vanish.", "ours"),
)

POLICY: Final = _section(
    "POLICY",
    ("A file over its limit is refused with both sizes and what to do.", "ours"),
    ("A store over its bytes is refused with both sizes and what to do.", "ours"),
    ("A store with too many files is refused with the count and what to do.", "ours"),
    ("A read-only path, or an archived store, says that it is read-only.", "ours"),
    ("Too many commands are refused with the seconds to wait.", "ours"),
    ("A refused secret names its kinds and lines.", "ours"),
    ("A masked secret adds a note to the success text.", "ours"),
    ("A write that waits for approval says so and is no error.", "ours"),
    ("Failing storage is one fixed text.", "ours"),
    ("A write that keeps losing races for 10 seconds is answered the same.", "ours"),
    ("A write that loses a race is run again and nothing is lost.", "ours"),
    ("A write is refused where too many wait for approval already.", "ours"),
    ("A mounted memory, and what it lies in, can't be deleted or renamed.", "ours"),
    ("A file can't be renamed from one memory to another.", "ours"),
)

PATH: Final = _section(
    "PATH",
    ("A path that doesn't encode to UTF-8 is refused.", "ours"),
    ("Paths are in NFC; NFC-equal spellings are one file.", "ours"),
    ("Nothing else is normalised: no NFKC, no case, no decoding, no `~` or `$VAR`.", "ours"),
    ("A path has at most 1,024 bytes behind `/memories`, in NFC.", "ours"),
    ("A path is `/memories` or starts with `/memories/`; case matters.", "ours"),
    ("One trailing slash is dropped and says directory.", "ours"),
    ("A path has at most 20 segments.", "ours"),
    ("A segment isn't empty, isn't `.`, and doesn't start with `..`.", "ours"),
    ("A segment has at most 255 bytes.", "ours"),
    ("A segment holds no backslash, control or invisible character.", "ours"),
    ("The emoji variation selectors U+FE0E and U+FE0F are allowed.", "ours"),
    ("A segment doesn't begin or end with white space.", "ours"),
    ("A segment doesn't start with a drive.", "ours"),
    ("A segment isn't `.git` or a name that a host reads as it.", "ours"),
    ("A segment that decodes to structure is refused.", "ours"),
    ("Otherwise the literal segment is the name: what was written is what is listed.", "ours"),
    ("`view`, `delete` and `rename`'s source take a trailing slash on a directory.", "ours"),
    ("On anything else the slash stays in the text that nothing is there.", "ours"),
    ("`create`, `str_replace` and `insert` refuse a trailing slash.", "ours"),
    ("`rename`'s destination takes a trailing slash only from a directory.", "ours"),
    ("`/memories` can be viewed also when empty, and with a slash.", "ours"),
    ("A refused path is answered as missing, in the command's own words.", "ours"),
    ("Either path of a rename is named where it is the refused one.", "ours"),
    ("A sentence after a text without full stop gets one between.", "ours"),
    ("Outside the root, dot segments and encodings get one fixed sentence.", "ours"),
    ("The shape of a name gets a sentence with the reason.", "ours"),
    ("`{path}` of an accepted path is its canonical form.", "ours"),
    ("`{path}` of a refused one is what was given, escaped and cut to 256.", "ours"),
)

DISK: Final = _section(
    "DISK",
    ("What a path meets on the disk that is no file of its own is answered as absence.", "ours"),
    ("That holds for every command, word for word.", "ours"),
    ("It holds for what a name on the way is, too.", "ours"),
    ("It is not listed.", "ours"),
    ("Several hard links to a file are fine.", "ours"),
    ("Files on their way in never lie among the user's files.", "ours"),
    ("What a killed write left behind is swept when the store is used again.", "ours"),
    ("Files have mode 0600 and directories 0700, whatever the umask.", "ours"),
    ("No answer, log line or exception shows a host path, a class name or a stack.", "ours"),
)

TENANT: Final = _section(
    "TENANT",
    ("A user's id is 1 to 128 letters, digits or `. _ @ : + | -`, not first a mark.", "ours"),
    ("Case matters and nothing is normalised.", "ours"),
    ("Ids that begin with `memstore_` are kept for stores made through the API.", "ours"),
    ("Any other id is refused before any storage is touched.", "ours"),
    ("On disk a user's directory is readable, and the id can be read from it.", "ours"),
    ("An id whose directory would be longer than 200 bytes is kept by its hash.", "ours"),
    ("No two users share a directory, on a host that folds case either.", "ours"),
    ("No user reaches another's files, whatever the ids and the paths.", "ours"),
    ("The model's input has no say in whose memory it is.", "ours"),
)

REQUIREMENTS: Final = (
    *TOOL,
    *INPUT,
    *TEXT,
    *VIEW_DIRECTORY,
    *VIEW,
    *IMAGE,
    *CREATE,
    *STR_REPLACE,
    *INSERT,
    *DELETE,
    *RENAME,
    *DIRECTORIES,
    *POLICY,
    *PATH,
    *DISK,
    *TENANT,
)
