"""One store of a folder, as its users have it in hand."""

from __future__ import annotations

from contextlib import contextmanager
from functools import cache
from typing import TYPE_CHECKING, ClassVar, Literal, TypeVar

from memoranda.errors import Corrupt, Misuse, NotFound, ReadOnly, UnknownId
from memoranda.path import ROOT
from memoranda.stores.base import (
    LISTING_CHUNK,
    Capabilities,
    Content,
    Context,
    Entry,
    Hit,
    Moment,
    Outline,
    Page,
    Problem,
    Report,
)
from memoranda.stores.folder.faults import Unwritable, as_unavailable
from memoranda.stores.folder.open_tree import Reopen, Unfinished
from memoranda.stores.folder.outline import outline
from memoranda.stores.folder.place import open_places
from memoranda.stores.folder.reading import contents_beneath, read_by_log, read_file
from memoranda.stores.folder.totals import Totals
from memoranda.stores.log.log_store import LogStore, nothing_at

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Sequence

    from memoranda.path import MemoryPath
    from memoranda.stores.base import Change, Moment, Version
    from memoranda.stores.folder.backend import FolderBackend
    from memoranda.stores.folder.jobs import FolderJob
    from memoranda.stores.folder.open_tree import OpenTree
    from memoranda.stores.folder.place import Place
    from memoranda.stores.folder.writer import Writer
    from memoranda.stores.log.store_log import StoreLog
    from memoranda.stores.log.turn import Turn

T = TypeVar("T")


@cache
def _jobs() -> type[FolderJob]:
    """Loaded by who writes, and asked for without the microsecond that an import takes."""
    from memoranda.stores.folder.jobs import FolderJob

    return FolderJob


class FolderStore(LogStore):
    """A handle on one store of a ``FolderBackend``."""

    capabilities: ClassVar[Capabilities] = Capabilities(
        external_edits=True, audits=True, takes_history=True
    )

    def __init__(self, backend: FolderBackend, place: Place) -> None:
        self._backend = backend
        self._place = place
        self._is_closed = False

    @property
    def id(self) -> str:
        """The store's id. A user's store that nobody has made yet has the one that it will get
        unless another process makes it first."""
        if not (self._is_closed or self._backend.is_closed):
            self._writer()
        return self._place.id

    # ---- getting at it

    def _check_open(self) -> None:
        if self._is_closed or self._backend.is_closed:
            raise Misuse("The store is closed.")

    def _tree(self) -> OpenTree | None:
        """What the files are read by."""
        self._check_open()
        return self._place.look(self._backend.clock)

    def _writer(self, *, make: bool = False) -> Writer | None:
        self._check_open()
        return self._place.open(self._backend.clock, make=make)

    @contextmanager
    def _reading(self) -> Generator[StoreLog | None]:
        import apsw

        from memoranda.stores.log import schema
        from memoranda.stores.log.database import NONSENSE, as_ours, damaged

        while True:
            writer = self._writer()
            if writer is None:
                yield None
                return
            with writer.group.alone():
                opened = writer.opened
                if not self._is_still_there(writer):
                    continue
                try:
                    opened.db.execute("BEGIN")
                    try:
                        yield opened.log
                    except apsw.SQLError:
                        schema.check_still_ours(opened.db)
                        raise
                    finally:
                        opened.db.execute("COMMIT")
                except apsw.Error as error:
                    raise as_ours(error) from error
                except (UnknownId, *NONSENSE) as error:
                    if isinstance(error, UnknownId) and error.kind != "store":
                        raise
                    raise damaged() from error  # no row of the root: nobody erased it
                return

    def _is_still_there(self, writer: Writer) -> bool:
        """Whether what is open is the store; if not, it will be opened anew."""
        try:
            writer.opened.lags_now()
        except OSError as error:
            raise as_unavailable(error) from error
        except Reopen:
            self._place.forget(writer.opened)
            return False
        except Unfinished:
            pass  # the log, which is asked now, has it
        return not writer.opened.is_closed

    def _finish(self, opened: OpenTree) -> None:
        """Let the tree follow what somebody committed who died then."""
        writer = self._place.writer
        if writer is None or writer.opened is not opened:
            self._place.forget(opened)  # opening it in full puts it in order
            return
        try:
            writer.catch_up()
        except Reopen:
            self._place.forget(opened)

    def _run(self, job: FolderJob, *, make: bool = False) -> Writer | None:
        """Have a job done; by whom, None if there is no store."""
        while True:
            writer = self._writer(make=make)
            if writer is None:
                return None
            try:
                writer.run(job)
            except Reopen:
                self._place.forget(writer.opened)
            else:
                return writer

    def _turn(
        self, *, looks: tuple[tuple[MemoryPath, bool], ...] = (), adopts_all: bool = False
    ) -> bool:
        """Have a turn that changes nothing but what people did there, and what waits; False if
        there is no store."""
        from memoranda.stores.folder.jobs import FolderJob, nothing

        return self._run(FolderJob(nothing, looks=looks, adopts_all=adopts_all)) is not None

    # ---- reading

    async def read(self, path: MemoryPath, start: int = 0, length: int | None = None) -> Content:
        while True:
            opened = self._tree()
            if opened is None:
                raise nothing_at(path)
            try:
                if not opened.lags_now():
                    return read_file(opened, path, start, length)
            except OSError as error:
                raise as_unavailable(error) from error
            except Reopen:
                self._place.forget(opened)
                continue
            except Unfinished:
                self._finish(opened)
                continue
            return self._read_lagging(path, start, length)

    def _read_lagging(self, path: MemoryPath, start: int, length: int | None) -> Content:
        """Places lag: what they hold comes out of the log, all else out of the tree as ever."""
        with self._reading() as log:
            writer = self._place.writer
            if log is None or writer is None:
                raise nothing_at(path)
            opened = writer.opened
            opened.load_lags()
            try:
                return read_by_log(opened, log, path, start, length)
            except OSError as error:
                raise as_unavailable(error) from error

    async def outline(self, directory: MemoryPath, line_chars: int) -> Outline:
        while True:
            opened = self._tree()
            if opened is None:
                if directory.is_root:
                    return Outline(0, (), 0)
                raise NotFound(directory)
            try:
                if not opened.lags_now():
                    totals = Totals(opened, open_places.gate)
                    try:
                        return outline(opened, totals, directory, line_chars)
                    finally:
                        totals.close()
            except OSError as error:
                raise as_unavailable(error) from error
            except Reopen:
                self._place.forget(opened)
                continue
            except Unfinished:
                self._finish(opened)
                continue
            return await super().outline(directory, line_chars)

    async def stat(self, path: MemoryPath) -> Entry:
        self._turn(looks=((path, False),))
        return await super().stat(path)

    async def list(
        self,
        prefix: MemoryPath,
        *,
        depth: Literal[0, 1] = 0,
        after: str | None = None,
        limit: int = LISTING_CHUNK,
        at: Moment | None = None,
    ) -> Page:
        if after is None and at is None:
            self._adopt_all()
        return await super().list(prefix, depth=depth, after=after, limit=limit, at=at)

    async def search(self, query: str, prefix: MemoryPath, *, limit: int = 50) -> tuple[Hit, ...]:
        from memoranda.stores.log import search

        self._adopt_all()
        with self._reading() as log:
            writer = self._place.writer
            if log is None or writer is None:
                return ()
            contents = contents_beneath(writer.opened, log, prefix)
            return search.hits(search.words_of(query), contents, limit)

    def _adopt_all(self) -> None:
        """Take in whatever people did in the tree."""
        self._turn(adopts_all=True)

    # ---- writing

    async def apply(self, changes: Sequence[Change], context: Context) -> tuple[Version, ...]:
        job = _jobs().applying(changes, context)
        try:
            if self._run(job) is None:
                from memoranda.stores.folder.rehearsal import rehearse

                if not rehearse(changes, context):
                    return ()
                self._run(job, make=True)
        except Unwritable as error:
            raise ReadOnly(ROOT) from error
        return job.versions

    async def record(self, context: Context) -> None:
        self._tree()
        if self._place.records.note(context, self._backend.clock.now_ns()):
            self._write_records()

    async def touch(self, paths: Sequence[MemoryPath], at_ns: int) -> None:
        self._tree()
        records, now = self._place.records, self._backend.clock.now_ns()
        records.use(paths, at_ns, now)
        if records.are_due(now):
            self._write_records()

    def _in_turn(self, work: Callable[[Turn], T]) -> T:
        from memoranda.stores.folder.jobs import FolderJob

        done: list[T] = []

        def do(turn: Turn) -> tuple[Version, ...]:
            done.append(work(turn))
            return ()

        if self._run(FolderJob(do)) is None:
            raise UnknownId("store")
        return done[-1]

    async def flush(self) -> None:
        if self._place.has_records:
            self._flush()

    def _write_records(self) -> None:
        """Write what waits; where nothing can be written, there is nowhere to keep it."""
        try:
            self._flush()
        except Unwritable:
            self._place.records.take()

    def _flush(self) -> None:
        if not self._turn():
            self._place.records.take()  # the same where the store was never made

    def archive(self) -> None:
        """Let nobody write any more but to delete and to redact. Raises ``UnknownId`` where the
        store is gone."""
        from memoranda.stores.folder import meta
        from memoranda.stores.folder.jobs import FolderJob

        def work(turn: Turn) -> tuple[Version, ...]:
            now = self._backend.clock.now_ns()
            meta.put(turn.log.db, meta.ARCHIVED, now)
            turn.audit(Context(command="archive"), now)
            return ()

        writer = self._run(FolderJob(work))
        if writer is None:
            raise UnknownId("store")
        writer.opened.archived = True

    # ---- history

    async def moment(self, at_ns: int) -> Moment:
        self._adopt_all()
        return await super().moment(at_ns)

    async def redact(self, version_id: str, context: Context) -> Version:
        while True:
            writer = self._writer()
            if writer is None:
                raise UnknownId("version")
            try:
                return writer.redact(version_id, context)
            except Reopen:
                self._place.forget(writer.opened)

    async def verify(self) -> Report:
        from memoranda.stores.folder import inspection

        try:
            self._adopt_all()
            with self._reading() as log:
                if log is None:
                    return Report((), (), 0, 0)
                writer = self._place.writer
                assert writer is not None  # it is what we are reading with
                return inspection.inspect(writer.opened, log)
        except Corrupt as damage:
            return inspection.report_of(damage)
        except OSError as error:
            raise as_unavailable(error) from error

    async def repair(self) -> Report:
        """Set a damaged database aside, take over what is whole of it, and adopt the files."""
        from memoranda.stores.folder.inspection import MENDED_BY_REPAIR

        report = await self.verify()
        if not any(problem.code in MENDED_BY_REPAIR for problem in report.problems):
            return report
        self._place.open_anew()
        return await self.verify()

    async def notices(self) -> tuple[Problem, ...]:
        writer = self._place.writer
        return () if writer is None else writer.opened.notices

    async def close(self) -> None:
        is_open = not (self._is_closed or self._backend.is_closed)
        try:
            if is_open and self._place.has_records:
                self._write_records()
        finally:
            self._is_closed = True
