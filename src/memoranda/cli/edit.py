"""``memoranda edit``: a memory in your editor."""

from __future__ import annotations

import os
import shlex
import subprocess
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from memoranda.cli.shared.json_shapes import version_shape
from memoranda.cli.shared.options import AsJson, StoreUrl, UserName
from memoranda.cli.shared.output import note, print_json, say
from memoranda.cli.shared.place import find_place
from memoranda.errors import AlreadyExists, Conflict, MemorandaError, Misuse, NotFound

if TYPE_CHECKING:
    from memoranda.memory import Memory
    from memoranda.operations.read_memory import StoredMemory
    from memoranda.stores.base import Version

_USUAL: Final = "vi"


def edit(
    path: Annotated[str, typer.Argument(metavar="PATH", help="The memory; a new one is made.")],
    editor: Annotated[
        str | None,
        typer.Option("--editor", metavar="COMMAND", help="Else VISUAL, EDITOR, vi."),
    ] = None,
    store: StoreUrl = None,
    user: UserName = None,
    as_json: AsJson = False,
) -> None:
    """Edit a memory in your editor.

    What you save becomes a version. If somebody changed the memory meanwhile, nothing is overwritten: your text is kept in a file, and you are told where.

    Example: memoranda edit /memories/notes.md
    """
    command = editor or os.environ.get("VISUAL") or os.environ.get("EDITOR") or _USUAL
    with find_place(store, user, quiet=as_json).open(expected=False) as memory:
        try:
            stored = memory.read(path)
        except NotFound:
            stored = None
        before = b"" if stored is None else stored.content
        # A directory of its own, readable by nobody else: the text may be private.
        with tempfile.TemporaryDirectory(prefix="memoranda-") as folder:
            file = Path(folder) / (Path(path).name or "memory")
            file.write_bytes(before)
            _run(command, file)
            after = file.read_bytes()
        if after == before:
            note("Nothing was changed.")
            version = None
        else:
            version = _saved(memory, path, after, stored)
    if as_json:
        print_json({"changed": version is not None, **_shape(version)})
    elif version is not None:
        say(f"{version.operation}  {version.path}  {version.id}")


def _run(command: str, file: Path) -> None:
    try:
        words = shlex.split(command)
        # The person's own editor, on a file of ours; no shell reads the name.
        ended = subprocess.run([*words, str(file)], check=False).returncode  # noqa: S603
    except (OSError, ValueError) as error:
        raise Misuse(
            f"The editor {command!r} can't be run: set VISUAL or EDITOR, or use --editor."
        ) from error
    if ended != 0:
        raise Misuse(f"The editor ended with {ended}, so nothing was changed.")
    if not file.is_file():
        raise Misuse("The editor left no file, so nothing was changed.")


def _saved(memory: Memory, path: str, text: bytes, stored: StoredMemory | None) -> Version:
    """The new version. A text that can't become one is kept in a file before that is raised."""
    try:
        if stored is None:
            return memory.write(path, text, if_absent=True)
        return memory.write(path, text, if_version=stored.version_id)
    except MemorandaError as error:
        kept = _kept(text)
        note(f"Your text is kept in {kept}.")
        if isinstance(error, Conflict | AlreadyExists | NotFound):
            raise Conflict(
                "Somebody changed this memory while you edited it, so nothing was overwritten."
            ) from error
        raise


def _kept(text: bytes) -> str:
    descriptor, name = tempfile.mkstemp(prefix="memoranda-", suffix=".txt")
    with os.fdopen(descriptor, "wb") as file:
        file.write(text)
    return name


def _shape(version: Version | None) -> dict[str, object]:
    return {} if version is None else version_shape(version)
