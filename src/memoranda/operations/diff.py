"""What differs between two versions, as a unified diff."""

from __future__ import annotations

from typing import Final

from memoranda.errors import ContentGone, UnknownId
from memoranda.stores.base import Store, Version

NOWHERE: Final = "/dev/null"
"""How a diff names the side on which there is nothing."""


async def diff(store: Store, a: str, b: str | None = None, *, context_lines: int = 3) -> str:
    """The unified diff from version ``a`` to version ``b``, or to what its memory holds now.

    Empty if the contents are equal; a removed memory counts as empty. Lines end at LF only. Where
    one of the two is not UTF-8, one line says that they differ. Reads two versions.

    Raises ``UnknownId`` and, for a version that was redacted, ``ContentGone``.
    """
    old = await store.version(a)
    new = await _present(store, old) if b is None else await store.version(b)
    return unified(_content(old), _content(new), _name(old), _name(new), context_lines)


def unified(
    old_bytes: bytes, new_bytes: bytes, old_name: str, new_name: str, context_lines: int = 3
) -> str:
    """The unified diff of two contents under these names, as ``diff`` gives it."""
    if old_bytes == new_bytes:
        return ""
    try:
        old_text, new_text = old_bytes.decode(), new_bytes.decode()
    except UnicodeDecodeError:
        return f"Binary contents {old_name} and {new_name} differ\n"
    from difflib import unified_diff

    lines = unified_diff(_lines(old_text), _lines(new_text), old_name, new_name, n=context_lines)
    return "".join(
        line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines
    )


async def _present(store: Store, version: Version) -> Version:
    """The head of a version's memory; the removal of one that is gone."""
    try:
        return await store.version((await store.locate(version.memory_id)).version_id)
    except UnknownId:
        return version._replace(operation="deleted", content=None, id="")


def _content(version: Version) -> bytes:
    if version.operation == "deleted":
        return b""
    if version.content is None:
        raise ContentGone
    return version.content


def _name(version: Version) -> str:
    if version.operation == "deleted":
        return NOWHERE
    return f"{version.path}\t{version.id}"


def _lines(text: str) -> list[str]:
    lines = text.split("\n")
    last = lines.pop()
    lines = [f"{line}\n" for line in lines]
    return [*lines, last] if last else lines
