"""The file of a backup: made anew and private, or a pipe."""

from __future__ import annotations

import os
import sys
from collections.abc import Generator, Sequence
from contextlib import contextmanager, suppress
from typing import BinaryIO, Final

from memoranda.cli.shared import age
from memoranda.errors import BadFolder, Unavailable

PIPE: Final = "-"


@contextmanager
def writing(name: str, recipients: Sequence[str]) -> Generator[BinaryIO]:
    """The file to write a backup into (``-``: standard output), for its owner only, durable at the end;
    removed where anything fails. A file that is there raises ``BadFolder``."""
    if name == PIPE:
        with _maybe_encrypted(sys.stdout.buffer, recipients) as out:
            yield out
        sys.stdout.buffer.flush()
        return
    try:
        made = os.open(
            name, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600
        )
    except FileExistsError:
        raise BadFolder("There is a file of this name; choose another one.") from None
    except OSError as error:
        raise BadFolder(f"The file can't be made: {error.strerror}.") from None
    try:
        with os.fdopen(made, "wb") as file:
            os.fchmod(made, 0o600)
            with _maybe_encrypted(file, recipients) as out:
                yield out
            file.flush()
            os.fsync(made)
    except OSError as error:
        _remove(name)
        raise Unavailable(f"The backup can't be written: {error.strerror}.") from error
    except BaseException:
        _remove(name)
        raise


@contextmanager
def reading(name: str, identities: Sequence[str]) -> Generator[BinaryIO]:
    """The backup to read (``-``: standard input)."""
    if name == PIPE:
        with _maybe_decrypted(sys.stdin.buffer, identities) as source:
            yield source
        return
    try:
        opened = os.open(name, os.O_RDONLY | os.O_CLOEXEC)
    except OSError as error:
        raise BadFolder(f"The file can't be read: {error.strerror}.") from None
    with os.fdopen(opened, "rb") as file, _maybe_decrypted(file, identities) as source:
        yield source


@contextmanager
def _maybe_encrypted(out: BinaryIO, recipients: Sequence[str]) -> Generator[BinaryIO]:
    if recipients:
        with age.encrypted(out, recipients) as sink:
            yield sink
    else:
        yield out


@contextmanager
def _maybe_decrypted(source: BinaryIO, identities: Sequence[str]) -> Generator[BinaryIO]:
    if identities:
        with age.decrypted(source, identities) as plain:
            yield plain
    else:
        yield source


def _remove(name: str) -> None:
    with suppress(OSError):
        os.unlink(name)
