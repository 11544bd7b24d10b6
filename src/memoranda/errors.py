"""Every exception that Memoranda raises.

    MemorandaError
    |-- Refused                  the caller (Claude, a person, a program) can change the request
    |   |-- BadCommand           the input is not one of the six commands
    |   |   |-- UnknownCommand
    |   |   |-- MissingParameter
    |   |   `-- WrongParameter
    |   |-- BadPath              the path policy refuses the path
    |   |-- NotFound             nothing lives at the path
    |   |-- UnknownId            no store, memory or version has this id
    |   |   `-- UnknownUser      nothing is kept of this user
    |   |-- AlreadyExists        something lives at the path already
    |   |-- IsADirectory         a file was wanted, the path is a directory
    |   |-- NotADirectory        a parent of the path is a file
    |   |-- RootRefused          the command can't be done to the root
    |   |-- MoveIntoItself       a directory can't move below itself
    |   |-- MovedNameTooLong     a move would make a path longer than the policy allows
    |   |-- EmptyOldString       str_replace without anything to look for
    |   |-- NoMatch              the text to replace is not there
    |   |-- ManyMatches          the text to replace is there more than once
    |   |-- LineOutOfRange       insert_line names no line
    |   |-- BadViewRange         view_range names no lines
    |   |-- TooManyLines         more lines than a view can number
    |   |-- NotText              the bytes are not UTF-8
    |   |-- FileTooLarge         one file would pass its limit
    |   |-- MemoryFull           the store would pass its byte limit
    |   |-- TooManyFiles         the store would pass its file limit
    |   |-- ReadOnly             the path or the store can't be written
    |   |-- Held                 a hold keeps it
    |   |-- TooManyCommands      the rate limit is used up
    |   |-- SecretFound          what would be stored holds a secret, and the policy refuses it
    |   |-- StoreExists          a store is where a new one was to come
    |   |-- OtherContents        a store holds something else than what is copied into it
    |   |-- NotRedactable        a version that may not be redacted (the head of a live memory)
    |   |-- ContentGone          a version's content was redacted
    |   |-- RefusedByServer      the server of a remote store has a rule against it
    |   |-- BadFolder            a folder to export to or import from can't be used so
    |   `-- Unsupported          this backend can't do what was asked
    |-- Conflict                 another writer was faster; read again and retry
    |   `-- PreconditionFailed   the content is not what the caller took it for
    |-- Unavailable              storage can't answer now; nothing is lost, try later
    |-- Corrupt                  stored data fails its checks
    |   `-- DamagedBackup        the file of a backup does
    `-- Misuse                   the calling program is wrong; never shown to Claude
        `-- StoreSuspended       a store waits that said it never does

An error carries data, not prose for Claude: the texts that Claude reads are made from it in
``reply.py``. ``str(error)`` is for programs and people; it names memory paths, never host paths,
tenants or contents.
"""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING, ClassVar

if TYPE_CHECKING:
    from memoranda.path import MemoryPath


class MemorandaError(Exception):
    """The root of everything raised on purpose.

    ``code`` is stable and machine-readable, ``http_status`` is what the HTTP API answers,
    ``exit_code`` what the command line ends with.
    """

    code: ClassVar[str] = "error"
    http_status: ClassVar[int] = 500
    exit_code: ClassVar[int] = 1


# ---------------------------------------------------------------- refused


class Refused(MemorandaError):
    """The request can't be done as it is; nothing has changed; a changed request may succeed."""

    code = "refused"
    http_status = 400
    exit_code = 2


class BadCommand(Refused):
    """The input is not a well-formed command."""

    code = "bad_command"


class UnknownCommand(BadCommand):
    """``command`` names none of the six commands; ``given`` is what came, unescaped."""

    code = "unknown_command"

    def __init__(self, given: object) -> None:
        super().__init__(
            "The command is none of view, create, str_replace, insert, delete, rename."
        )
        self.given = given


class MissingParameter(BadCommand):
    """A required field of ``command`` is absent or null."""

    code = "missing_parameter"

    def __init__(self, command: str, parameter: str) -> None:
        super().__init__(f"The command {command} needs the parameter {parameter}.")
        self.command = command
        self.parameter = parameter


class WrongParameter(BadCommand):
    """A field of ``command`` has a type or value that can't be read; ``wanted`` says which can."""

    code = "wrong_parameter"

    def __init__(self, command: str, parameter: str, wanted: str) -> None:
        super().__init__(f"The parameter {parameter} of {command} has to be {wanted}.")
        self.command = command
        self.parameter = parameter
        self.wanted = wanted


class PathFault(Enum):
    """What is wrong with the shape of a path. ``reply.py`` has a sentence for each."""

    HIDDEN_CHARACTER = "hidden_character"
    BACKSLASH = "backslash"
    NAME_TOO_LONG = "name_too_long"
    SPACE_FIRST = "space_first"
    SPACE_LAST = "space_last"
    DRIVE_LETTER = "drive_letter"
    GIT_DIRECTORY = "git_directory"
    PATH_TOO_LONG = "path_too_long"
    PATH_TOO_DEEP = "path_too_deep"
    FILE_WITH_SLASH = "file_with_slash"
    NO_FIRST_SLASH = "no_first_slash"
    LAST_SLASH = "last_slash"
    NOT_NORMALIZED = "not_normalized"


class BadPath(Refused):
    """The path policy refuses a path.

    ``given`` is the path as it came (escape it before showing it). ``reason`` is None where one
    fixed answer serves for all (outside the root, dot segments, encodings), else what is wrong with
    the shape of a name, which says nothing about the store.
    """

    code = "bad_path"

    def __init__(self, given: str, reason: PathFault | None = None) -> None:
        what = "outside of the memory" if reason is None else reason.value.replace("_", " ")
        super().__init__(f"The path can't be used: {what}.")
        self.given = given
        self.reason = reason


class AboutPath(Refused):
    """A refusal about one checked path."""

    said: ClassVar[str] = "{path} is refused."

    def __init__(self, path: MemoryPath) -> None:
        super().__init__(self.said.format(path=path))
        self.path = path


class NotFound(AboutPath):
    """Nothing lives at ``path``, or what lives there may not be shown."""

    code = "not_found"
    http_status = 404
    exit_code = 3
    said = "{path} does not exist."


class UnknownId(Refused):
    """No store, memory or version has this id, or it belongs to somebody else."""

    code = "unknown_id"
    http_status = 404
    exit_code = 3

    def __init__(self, kind: str) -> None:
        super().__init__(f"There is no {kind} with this id.")
        self.kind = kind


class UnknownUser(UnknownId):
    """A user of this name has no store yet."""

    def __init__(self) -> None:
        super().__init__("store")
        self.args = ("This user has no memory here.",)


class AlreadyExists(AboutPath):
    """``path`` is taken: by a memory, or as a directory."""

    code = "already_exists"
    http_status = 409
    exit_code = 4
    said = "{path} already exists."


class IsADirectory(AboutPath):
    """A file was wanted and ``path`` is a directory."""

    code = "is_a_directory"
    said = "{path} is a directory."


class NotADirectory(AboutPath):
    """``path`` is a file where a directory is needed (a parent of the path asked for)."""

    code = "not_a_directory"
    http_status = 409
    said = "{path} is a file, not a directory."


class RootRefused(Refused):
    """The root itself can't be created, edited, deleted or renamed."""

    code = "root_refused"

    def __init__(self) -> None:
        super().__init__("This can't be done to /memories itself.")


class MoveIntoItself(AboutPath):
    """A directory can't be moved below itself; ``path`` is the source."""

    code = "move_into_itself"
    said = "{path} can't be moved into itself."


class MovedNameTooLong(AboutPath):
    """Moving ``source`` would give a file below it the too long ``path`` (a text)."""

    code = "moved_name_too_long"

    def __init__(self, source: MemoryPath, path: str) -> None:
        super().__init__(source)
        self.args = (f"Moving {source} would make a path that is too long.",)
        self.source = source
        self.too_long = path


class EmptyOldString(Refused):
    """``old_str`` is empty, so there is nothing to look for."""

    code = "empty_old_string"

    def __init__(self) -> None:
        super().__init__("The text to replace is empty.")


class NoMatch(AboutPath):
    """The text to replace does not stand in ``path``."""

    code = "no_match"
    said = "The text to replace is not in {path}."


class ManyMatches(AboutPath):
    """The text to replace starts in several places; ``lines`` are their distinct lines, 1-based,
    the first of them if there are ``more``."""

    code = "many_matches"
    said = "The text to replace is in {path} more than once."

    def __init__(self, path: MemoryPath, lines: tuple[int, ...], *, more: bool = False) -> None:
        super().__init__(path)
        self.lines = lines
        self.more = more


class LineOutOfRange(Refused):
    """``insert_line`` is outside [0, ``n_lines``]."""

    code = "line_out_of_range"

    def __init__(self, line: int, n_lines: int) -> None:
        super().__init__(f"Line {line} is outside 0 to {n_lines}.")
        self.line = line
        self.n_lines = n_lines


class BadViewRange(Refused):
    """``view_range`` [``start``, ``end``] names no lines of a file of ``n_lines`` lines."""

    code = "bad_view_range"

    def __init__(self, start: int, end: int, n_lines: int) -> None:
        super().__init__(f"Lines {start} to {end} are not within 1 to {n_lines}.")
        self.start = start
        self.end = end
        self.n_lines = n_lines


class TooManyLines(AboutPath):
    """``path`` has more lines than a view can number (999,999)."""

    code = "too_many_lines"
    said = "{path} has too many lines to be shown."


class NotText(AboutPath):
    """The bytes of ``path`` that are needed are not UTF-8."""

    code = "not_text"
    said = "{path} is not UTF-8 text."


class FileTooLarge(AboutPath):
    """``path`` would hold ``size_bytes``, over ``limit_bytes`` for one file."""

    code = "file_too_large"
    http_status = 413
    exit_code = 5

    def __init__(self, path: MemoryPath, size_bytes: int, limit_bytes: int) -> None:
        super().__init__(path)
        self.args = (f"{path} would be {size_bytes} bytes, over the limit of {limit_bytes}.",)
        self.size_bytes = size_bytes
        self.limit_bytes = limit_bytes


class MemoryFull(Refused):
    """The store holds ``used_bytes`` of ``limit_bytes`` and the change would pass the limit."""

    code = "memory_full"
    exit_code = 5

    def __init__(self, used_bytes: int, limit_bytes: int) -> None:
        super().__init__(f"The memory is full: {used_bytes} of {limit_bytes} bytes are used.")
        self.used_bytes = used_bytes
        self.limit_bytes = limit_bytes


class TooManyFiles(Refused):
    """The store holds ``count`` files, its limit, and the change would add one."""

    code = "too_many_files"
    exit_code = 5

    def __init__(self, count: int) -> None:
        super().__init__(f"The memory holds {count} files, its limit.")
        self.count = count


class ReadOnly(AboutPath):
    """``path`` can't be written: a read-only path, mount or an archived store."""

    code = "read_only"
    http_status = 403
    exit_code = 6
    said = "{path} is read-only."


class MountPoint(AboutPath):
    """``path`` shows another memory, so it, and what it lies in, can't be removed or moved."""

    code = "mount_point"
    http_status = 403
    exit_code = 6
    said = "{path} shows another memory; it can't be removed or moved."


class AcrossMounts(AboutPath):
    """A batch would change several memories at once: ``path`` in one, ``target``, if it is a move,
    in another."""

    code = "across_mounts"
    said = "{path} and what else would change are kept in different memories."

    def __init__(self, path: MemoryPath, target: MemoryPath | None = None) -> None:
        super().__init__(path)
        self.target = target


class Held(Refused):
    """A hold keeps what would go; lift it first (``memoranda hold lift``)."""

    code = "held"
    http_status = 409
    exit_code = 6

    def __init__(self) -> None:
        super().__init__("A hold keeps this. Lift it first.")


class TooManyCommands(Refused):
    """The rate limit is used up; the next command is allowed in ``seconds`` (rounded up)."""

    code = "too_many_commands"
    http_status = 429
    exit_code = 5

    def __init__(self, seconds: int) -> None:
        super().__init__(f"Too many commands; wait {seconds} seconds.")
        self.seconds = seconds


class SecretFound(Refused):
    """What would be stored holds what may not be kept.

    ``whats`` says what it looks like, ``lines`` are the 1-based lines of the text that would result;
    none where the name of the file holds it. Neither names nor text are in the error.
    """

    code = "secret_found"

    def __init__(self, whats: tuple[str, ...], lines: tuple[int, ...] = ()) -> None:
        where = f"line {', '.join(map(str, lines))}" if lines else "the name"
        super().__init__(f"What looks like {', '.join(whats)} would be stored ({where}).")
        self.whats = whats
        self.lines = lines


class AwaitsApproval(AboutPath):
    """A write at ``path`` waits for a person as the proposal ``proposal_id``; nothing has changed.

    Claude reads that it waits, which is no error.
    """

    code = "awaits_approval"
    # Not 202, which clients read as done, nor 409, which they repeat.
    http_status = 403
    exit_code = 6
    said = "{path} changes when a person approves it."

    def __init__(self, path: MemoryPath, proposal_id: str) -> None:
        super().__init__(path)
        self.args = (f"{self.args[0]} It waits as {proposal_id}.",)
        self.proposal_id = proposal_id
        self.besides = ""
        """What Claude is told with it: what was taken out before it was kept."""


class TooManyProposals(Refused):
    """As many writes as may wait for a person (``count``) wait already."""

    code = "too_many_proposals"
    exit_code = 5

    def __init__(self, count: int) -> None:
        super().__init__(f"{count} writes wait for a person already; somebody has to decide first.")
        self.count = count


class NotApprovable(Refused):
    """A proposal can't be approved any more: what it was made from has changed (``is_stale``), or
    its time is over. Reject it; what it says can still be read."""

    code = "not_approvable"
    http_status = 409
    exit_code = 4

    def __init__(self, *, is_stale: bool) -> None:
        why = (
            "What it was made from has changed since" if is_stale else "The proposal's time is over"
        )
        super().__init__(f"{why}. Reject it, or write the memory yourself.")
        self.is_stale = is_stale


class StoreExists(Refused):
    """There is a store with this id, or of this user, where a new one was to come."""

    code = "store_exists"
    http_status = 409
    exit_code = 4

    def __init__(self) -> None:
        super().__init__("There is a store with this id or of this user already.")


class OtherContents(Refused):
    """What is to be copied can't come into a store that holds something else, or that others have
    written to since."""

    code = "other_contents"
    http_status = 409
    exit_code = 4

    def __init__(self) -> None:
        super().__init__("The target holds a store of this user or id with other contents.")


class NotRedactable(Refused):
    """The head version of a live memory can't be redacted: write a newer one or delete it first."""

    code = "not_redactable"

    def __init__(self) -> None:
        super().__init__(
            "The newest version of a live memory can't be redacted. "
            "Write a newer version or delete the memory first."
        )


class ContentGone(Refused):
    """A version's content was redacted, so there is nothing to compare with or to restore."""

    code = "content_gone"
    http_status = 410
    exit_code = 3

    def __init__(self) -> None:
        super().__init__("The content of this version was redacted.")


class BadFolder(Refused):
    """A folder of the host can't be exported to or imported from; ``reason`` says why and what to
    do, without naming it."""

    code = "bad_folder"

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class RefusedByServer(AboutPath):
    """The server that keeps a remote store has a rule against this: a limit, a path, a secret that it
    found. It says only that; its own log has more."""

    code = "refused_by_server"
    said = "The memory server has a rule against what would be stored at {path}."


class Unsupported(Refused):
    """This backend lacks a capability; ``wanted`` names it. Raised before anything starts."""

    code = "unsupported"
    http_status = 400

    def __init__(self, wanted: str) -> None:
        super().__init__(f"This backend does not support {wanted}.")
        self.wanted = wanted


# ---------------------------------------------------------------- the others


class Conflict(MemorandaError):
    """A precondition failed because another writer was faster; nothing changed; read and retry."""

    code = "conflict"
    http_status = 409
    exit_code = 4


class PreconditionFailed(Conflict):
    """The content is not what the caller took it for: the same request can't succeed any more."""

    code = "precondition_failed"

    def __init__(self) -> None:
        super().__init__("The content of the memory does not have this hash.")


class Unavailable(MemorandaError):
    """Storage can't answer now (disk full, lock, network); nothing acknowledged is lost."""

    code = "unavailable"
    http_status = 503
    exit_code = 7


class Corrupt(MemorandaError):
    """Stored data fails a check; ``memoranda verify`` tells more."""

    code = "corrupt"
    http_status = 500
    exit_code = 8


class DamagedBackup(Corrupt):
    """A file is no backup, or one that is damaged or cut off; no store is concerned."""


class Misuse(MemorandaError):
    """The calling program is wrong: a closed memory, a bad URL, a bad user id."""

    code = "misuse"
    http_status = 500
    exit_code = 9


class StoreSuspended(Misuse):
    """A store whose class says ``suspends = False`` waited for an event loop."""

    code = "store_suspended"

    def __init__(self) -> None:
        super().__init__(
            "A store that says it never suspends did. Let its class say `suspends = True`."
        )
