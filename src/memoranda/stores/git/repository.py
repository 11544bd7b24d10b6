"""One bare repository on disk: objects, the two refs that count, packing.

The only module that knows libgit2. Reading goes through it, also of what people pushed or packed by
their own git; new objects are written as packs of our own (``pack.py`` says why).
"""

from __future__ import annotations

import fcntl
import os
import shutil
import time
from typing import TYPE_CHECKING, Any, Final

from memoranda.errors import Corrupt, Misuse, Unavailable
from memoranda.stores.git import pack, refs
from memoranda.stores.git.log import LOG_REF, MAIN_REF
from memoranda.stores.git.objects import ObjectCache, Objects, TreeCache

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from memoranda.stores.git.objects import Id

PACK_MANY: Final = 24
"""So many packs that can be put together are."""
LARGEST_REPACKED_BYTES: Final = 64 * 1024 * 1024
"""Larger packs are left as they are; ``git gc`` may take them."""
_TRIES: Final = 5

CONFIG: Final = {
    # Pushes arrive as packs, and git does not begin to tidy while somebody waits for its answer.
    "transfer.unpackLimit": "1",
    "receive.autogc": "false",
    "gc.auto": "0",
    # What was acknowledged stays, and the log is ours.
    "receive.denyNonFastForwards": "true",
    "receive.denyDeletes": "true",
    "receive.hideRefs": "refs/memoranda",
    "receive.fsckObjects": "true",
}


class Repository:
    """Safe to use from many threads; a child of a fork makes its own."""

    def __init__(self, path: str) -> None:
        self.path = path
        self._objects_path = os.path.join(path, "objects")
        self._packs_path = os.path.join(self._objects_path, "pack")
        self._odb: Any = None
        self.cache = TreeCache()
        self._recent = ObjectCache()

    def objects(self) -> Objects:
        """Room for new objects, over those that are here."""
        return Objects(self, self.cache)

    # ---- reading

    def load(self, wanted: Id) -> tuple[int, bytes]:
        """Kind and content of an object; raises ``Corrupt``, ``Unavailable``."""
        known = self._recent.get(wanted)
        if known is not None:
            return known
        pygit2 = libgit2()
        name = pygit2.Oid(raw=wanted)
        for attempt in range(_TRIES):
            try:
                kind, data = self._database().read(name)
            except KeyError:
                missing = True
            except (pygit2.GitError, OSError) as error:
                # Somebody put packs together and removed one that we were about to open.
                missing = False
                if attempt == _TRIES - 1:
                    raise Corrupt("An object of the repository can't be read.") from error
            else:
                found = int(kind), data
                self._recent.put(wanted, found)
                return found
            self.forget()
            if not os.path.isdir(self._objects_path):
                break
            if missing and attempt == 1:
                break
        raise Corrupt("An object of the repository is missing.")

    def _database(self) -> Any:
        odb = self._odb
        if odb is None:  # at worst two threads make one each, and one is used
            odb = self._odb = libgit2().Odb(self._objects_path)
        return odb

    def forget(self) -> None:
        """Let go of what libgit2 keeps open and knows of the packs."""
        self._odb = None

    def log(self) -> Id | None:
        """The commit of the last batch; None where there is no repository."""
        return refs.read(self.path, LOG_REF)

    def main(self) -> Id | None:
        """The commit that people see as the branch."""
        return refs.read(self.path, MAIN_REF)

    # ---- writing

    def save(self, new: Mapping[Id, tuple[int, bytes]]) -> None:
        """Keep objects; durable on return."""
        pack.write(self._packs_path, new)
        for name, found in new.items():
            self._recent.put(name, found)

    def tidy(self) -> None:
        """Put many small packs together, unless somebody is at it or there are few.

        Each time those go into one that the next larger one has no less than twice the objects of,
        so that an object is written anew a few times only, however long the history gets.
        """
        stems = self._small_packs()
        if len(stems) < PACK_MANY:
            return
        path = os.path.join(self.path, "memoranda-packing")
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            self._combine(self._small_packs())
        except BlockingIOError:
            return
        finally:
            os.close(descriptor)

    def _small_packs(self) -> list[str]:
        """Names of packs that are worth putting together, without their suffix."""
        counts: list[tuple[int, str]] = []
        for file in os.listdir(self._packs_path):
            stem, suffix = os.path.splitext(file)
            path = os.path.join(self._packs_path, stem)
            if suffix == ".idx" and stem.startswith("pack-") and not os.path.exists(path + ".keep"):
                try:
                    if os.stat(path + ".pack").st_size <= LARGEST_REPACKED_BYTES:
                        counts.append((pack.count_in(path + ".idx"), stem))
                except FileNotFoundError:
                    continue
        counts.sort()
        taken, total = 0, 0
        for index, (count, _) in enumerate(counts):
            if count < 2 * total or index < 2:
                taken = index + 1
            total += count
        return [stem for _, stem in counts[:taken]]

    def _combine(self, stems: list[str]) -> None:
        """One pack of these. What is in them is copied as it is: a matter of milliseconds, where
        libgit2's way, which looks for differences between contents, takes half a second."""
        objects: dict[Id, bytes] = {}
        for stem in stems:
            for name, data in pack.read_packed(self._packs_path, stem):
                if name not in objects:
                    objects[name] = pack.packed(*self.load(name)) if data is None else data
        made = pack.write_packed(self._packs_path, objects)
        pack.sync_directory(self._packs_path)
        pack.remove(self._packs_path, set(stems) - {made})

    def keep_only(self, wanted: Iterable[Id]) -> None:
        """Write these objects anew and remove everything else for good."""
        before = set(os.listdir(self._packs_path))
        self.save({name: self.load(name) for name in wanted})
        old = {os.path.splitext(file)[0] for file in before}
        new = {os.path.splitext(file)[0] for file in set(os.listdir(self._packs_path)) - before}
        if new:
            pack.remove(self._packs_path, old)
            pack.sync_directory(self._packs_path)
        self.forget()

    def sweep(self) -> None:
        """Remove what a writer left that died; only for who holds the lock of the repository."""
        for file in os.listdir(self._packs_path):
            if file.startswith(pack.TEMPORARY):
                os.unlink(os.path.join(self._packs_path, file))


def make(path: str) -> None:
    """A new bare repository; nobody else may open what lies in it, and its name is not durable."""
    pygit2 = libgit2()
    try:
        made = pygit2.init_repository(path, bare=True, initial_head="main")
        for key, value in CONFIG.items():
            made.config[key] = value
        made.free()
        os.chmod(path, 0o700)
        for file in ("HEAD", "config"):
            _sync(os.path.join(path, file))
        pack.sync_directory(path)
    except (pygit2.GitError, OSError) as error:
        shutil.rmtree(path, ignore_errors=True)
        raise Unavailable("A repository can't be made.") from error


def libgit2() -> Any:
    """The library, loaded at its first use; raises ``Misuse`` that names the extra."""
    try:
        import pygit2
    except ImportError as error:
        raise Misuse("git: URLs need the extra: pip install 'memoranda[git]'.") from error
    return pygit2


def _sync(path: str) -> None:
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def pause(seconds: float) -> None:
    """Wait, for a lock of git's own that nobody tells us the end of."""
    time.sleep(seconds)
