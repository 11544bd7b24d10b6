"""Streams through age, the encryption of files: by the library pyrage, in a thread beside ours."""

from __future__ import annotations

import os
from collections.abc import Generator
from contextlib import contextmanager, suppress
from importlib import import_module
from threading import Thread
from typing import TYPE_CHECKING, Any, BinaryIO

from memoranda.errors import Corrupt, Misuse, Unavailable

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


@contextmanager
def encrypted(out: BinaryIO, recipients: Sequence[str]) -> Generator[BinaryIO]:
    """A file to write into: what is written comes encrypted into ``out``. Raises ``Misuse`` for what is
    no recipient (``age1...``)."""
    age = _age()
    try:
        keys = [age.x25519.Recipient.from_str(each) for each in recipients]
    except age.RecipientError:
        raise Misuse("A recipient of age begins with age1; age-keygen makes one.") from None
    reading, writing = os.pipe()
    with os.fdopen(reading, "rb") as source, os.fdopen(writing, "wb") as sink:
        helper = _Helper(lambda: age.encrypt_io(source, out, keys))
        try:
            yield sink
        finally:
            with suppress(BrokenPipeError):
                sink.close()
            helper.join()
    if helper.error is not None:
        raise Unavailable("The backup can't be written.") from helper.error


@contextmanager
def decrypted(source: BinaryIO, identities: Sequence[str]) -> Generator[BinaryIO]:
    """A file to read the plain text of ``source`` from; ``identities`` are files with ``AGE-SECRET-KEY-1...``
    lines. Raises ``Misuse`` for what is no identity, ``Corrupt`` where none of them fits."""
    age = _age()
    keys = [_identity(age, line) for file in identities for line in _lines(file)]
    reading, writing = os.pipe()
    with os.fdopen(reading, "rb") as plain, os.fdopen(writing, "wb") as sink:

        def work() -> None:
            try:
                age.decrypt_io(source, sink, keys)
            finally:
                with suppress(OSError):
                    sink.close()

        helper = _Helper(work)
        try:
            yield plain
        except Corrupt as error:
            plain.close()
            helper.join()
            if helper.error is not None:
                raise Corrupt(
                    "The backup can't be decrypted: it is damaged, or for another identity."
                ) from error
            raise
        finally:
            plain.close()
            helper.join()


class _Helper:
    """A thread that does one thing; ``error`` is what it raised."""

    def __init__(self, work: Callable[[], object]) -> None:
        self.error: Exception | None = None
        self._work = work
        self._thread = Thread(target=self._run, name="memoranda-age")
        self._thread.start()

    def _run(self) -> None:
        try:
            self._work()
        # The library raises its own errors and those of files; whoever joins tells which.
        except Exception as error:  # noqa: BLE001
            self.error = error

    def join(self) -> None:
        """Wait until it is done."""
        self._thread.join()


def _lines(file: str) -> list[str]:
    try:
        with open(file, encoding="ascii") as opened:
            lines = [line.strip() for line in opened]
    except (OSError, UnicodeDecodeError):
        raise Misuse("The file with the identity can't be read.") from None
    return [line for line in lines if line and not line.startswith("#")]


def _identity(age: Any, line: str) -> Any:
    try:
        return age.x25519.Identity.from_str(line)
    except age.IdentityError:
        raise Misuse(
            "An identity of age begins with AGE-SECRET-KEY-1; age-keygen makes one."
        ) from None


def _age() -> Any:
    try:
        return import_module("pyrage")
    except ImportError:
        raise Misuse(
            'Encrypted backups need the extra "backup": pip install "memoranda[backup]"'
        ) from None
