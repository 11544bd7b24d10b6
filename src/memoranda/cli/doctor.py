"""``memoranda doctor``: whether everything is in place, and what to do where it isn't."""

from __future__ import annotations

import os
import shutil
import stat
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal, NamedTuple

import typer

from memoranda.cli.shared.advice import advice_for, said_by
from memoranda.cli.shared.options import AsJson, StoreUrl, UserName
from memoranda.cli.shared.output import counted, print_json, say, table
from memoranda.cli.shared.place import find_place
from memoranda.errors import MemorandaError
from memoranda.text.size import format_size

if TYPE_CHECKING:
    from memoranda.cli.shared.place import Place

_EXTRAS: Final = {
    "anthropic": "anthropic",
    "postgres": "psycopg",
    "bucket": "obstore",
    "git": "pygit2",
    "sealed": "cryptography",
    "secrets": "kingfisher",
    "server": "starlette",
    "mcp": "mcp",
}
"""An extra, and a module by which one sees that it is installed."""

_LITTLE_DISK_BYTES: Final = 512 * 1024 * 1024
_AHEAD_SECONDS: Final = 60


class Check(NamedTuple):
    """One thing that was looked at: how it is, what was seen, and what to do if it isn't well."""

    name: str
    state: Literal["ok", "note", "wrong"]
    seen: str
    remedy: str = ""


def doctor(store: StoreUrl = None, user: UserName = None, as_json: AsJson = False) -> None:
    """Check the installation, the storage and the rules.

    Looks at versions, extras, the storage and whether it answers, disk, permissions, clock, and the policies in force. Changes nothing. Ends with 1 if something is wrong. memoranda verify checks what is kept.

    Example: memoranda doctor
    """
    place = find_place(store, user, quiet=True)
    checks = [*_installation(), *_storage(place), *_rules(place)]
    is_well = all(check.state != "wrong" for check in checks)
    if as_json:
        print_json({"ok": is_well, "checks": [check._asdict() for check in checks]})
    else:
        table([[check.state, check.name, check.seen] for check in checks])
        for check in checks:
            if check.remedy:
                say(f"{check.name}: {check.remedy}")
    if not is_well:
        raise typer.Exit(1)


def _installation() -> Iterator[Check]:
    import platform
    from importlib.metadata import PackageNotFoundError, version
    from importlib.util import find_spec

    try:
        ours = version("memoranda")
    except PackageNotFoundError:
        ours = "run from its source"
    yield Check("memoranda", "ok", ours)
    yield Check("python", "ok", f"{platform.python_version()}, {platform.system()}")
    # apsw carries the SQLite that has its number.
    yield Check("sqlite", "ok", f"apsw {version('apsw')}")
    found = [extra for extra, module in _EXTRAS.items() if find_spec(module) is not None]
    missing = [extra for extra in _EXTRAS if extra not in found]
    seen = f"installed: {', '.join(found) or 'none'}"
    yield Check("extras", "ok", f"{seen}; not: {', '.join(missing)}" if missing else seen)


def _storage(place: Place) -> Iterator[Check]:
    folder = _local(place.url)
    if folder is not None:
        yield from _disk(folder)
    began = time.perf_counter()
    try:
        with place.open(expected=False) as memory:
            used = memory.usage()
            newest = memory.history(limit=1)
    except MemorandaError as error:
        yield Check(
            "storage", "wrong", said_by(error), advice_for(error) or "Mend the cause first."
        )
        return
    took_ms = (time.perf_counter() - began) * 1000
    yield Check("storage", "ok", f"answers, in {took_ms:,.0f} ms")
    yield Check(
        "memory",
        "ok",
        f"{counted(used.files, 'memory', 'memories')}, {format_size(used.size_bytes)} ({place.user})",
    )
    ahead = newest[0].created_at.timestamp() - time.time() if newest else 0.0
    if ahead > _AHEAD_SECONDS:
        yield Check(
            "clock",
            "wrong",
            f"the newest version is {ahead:,.0f} seconds in the future",
            "Set this machine's clock: expiry and restore by time go by it.",
        )
    else:
        yield Check("clock", "ok", "not behind the newest version")


def _local(url: str) -> Path | None:
    """The folder, or the file's folder, that a URL names on this machine."""
    scheme, colon, rest = url.partition(":")
    if scheme == "sealed" and colon:
        return _local(rest)
    if scheme == "sqlite" and colon:
        return Path(rest.removeprefix("///")).parent
    if scheme in {"file", "git"} and colon:
        return Path(rest.removeprefix("//"))
    return Path(url) if not colon or "/" in scheme else None


def _disk(folder: Path) -> Iterator[Check]:
    try:
        found = folder.stat()
    except FileNotFoundError:
        yield Check("folder", "note", "is not there yet; the first change makes it")
        return
    except OSError as error:
        yield Check("folder", "wrong", f"can't be looked at: {error.strerror}")
        return
    mode = stat.S_IMODE(found.st_mode)
    if found.st_uid != os.geteuid():
        yield Check(
            "folder",
            "wrong",
            "belongs to another account",
            "Run as that account, or change its owner.",
        )
    elif mode & 0o077:
        yield Check(
            "folder",
            "note",
            f"others may look in (mode {mode:04o})",
            "What Memoranda makes in it is private; chmod 700 hides the names, too.",
        )
    else:
        yield Check("folder", "ok", f"private (mode {mode:04o})")
    free = shutil.disk_usage(folder).free
    if free < _LITTLE_DISK_BYTES:
        yield Check(
            "disk", "wrong", f"{format_size(free)} free", "Make room: writes will fail soon."
        )
    else:
        yield Check("disk", "ok", f"{format_size(free)} free")


def _rules(place: Place) -> Iterator[Check]:
    policy = place.policy
    limits = policy.limits
    size = "no limit" if limits.store_bytes is None else format_size(limits.store_bytes)
    yield Check("limits", "ok", f"{size}, {limits.files or 'any number of'} files")
    yield Check("redaction", "ok", f"credentials: {policy.redaction.credential}")
    yield Check("rules", "ok", "memoranda policy show lists all that is in force")
