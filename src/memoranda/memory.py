"""``Memory``: one user's memory, for synchronous programs. ``AsyncMemory`` is its twin."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Literal, Self

from memoranda.drive import BackgroundLoop, SyncDriver, run_now
from memoranda.opening import DEFAULT_ACTOR, core_of_store, open_core
from memoranda.path import ROOT_TEXT
from memoranda.stores.base import VersionFilter
from memoranda.tenant import DEFAULT_WORKSPACE

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Sequence
    from datetime import datetime

    from memoranda.core import Core
    from memoranda.operations.changed import Changed
    from memoranda.operations.export import Exported, Progress
    from memoranda.operations.import_folder import Imported, Layout
    from memoranda.operations.read_memory import StoredMemory
    from memoranda.operations.restore import Restored, RestorePreview
    from memoranda.operations.sweep import Swept
    from memoranda.policies.policy import Policy
    from memoranda.policies.proposal import Proposal
    from memoranda.reply import Block, ToolResult
    from memoranda.stores.base import (
        AuditEntry,
        AuditHead,
        AuditReport,
        Directory,
        Entry,
        Hit,
        Hold,
        Page,
        Problem,
        Removal,
        Report,
        Store,
        Usage,
        Version,
        VersionPage,
    )


class Memory:
    """One user's memory: executes what Claude sends, and lets programs read, write and look back.

    Make one with ``open``. Use it from as many threads as you like, also where an event loop runs:
    over a local store no call waits for anything but the disk. All memories of one URL in a
    process share one backend.

    Programs' methods take paths as people write them (``/memories/a/b.md``) and go through the
    same policies as Claude's commands. They may raise ``BadPath`` for a path that the policy of
    paths refuses, ``Unavailable``, ``Corrupt``, and ``Misuse`` for an argument of the wrong type
    and once the memory is closed; what else they raise is a ``Refused`` that each names, or a limit
    (``FileTooLarge``, ``MemoryFull``, ``TooManyFiles``, ``ReadOnly``), or ``AwaitsApproval``: the
    write waits for a person. Whatever is raised, nothing has changed. Changes are durable when a
    method returns.
    """

    def __init__(self, core: Core, drive: SyncDriver, end: Callable[[], None]) -> None:
        """Use ``open`` or ``of_store``."""
        self._core = core
        self._drive = drive
        self._end = end

    # ---- opening and closing

    @classmethod
    def open(
        cls,
        url: str,
        user: str | None = None,
        *,
        workspace: str = DEFAULT_WORKSPACE,
        store_id: str | None = None,
        policy: Policy | None = None,
        actor: str = DEFAULT_ACTOR,
    ) -> Self:
        """The memory of ``user`` at ``url``, which is a folder's path or a URL.

        A user's memory comes into being at its first change; without ``user`` it is that of the
        user ``default``. ``store_id`` (``memstore_...``) opens a store that was made through the
        API instead. ``actor`` is who the history says did it: 1 to 128 of
        ``A-Z a-z 0-9 . _ @ : + | -``. ``policy`` defaults to ``Policy()``.

        Raises ``Misuse`` for names and URLs that can't be, before any storage is touched,
        ``UnknownId`` for a ``store_id`` that is not there, ``Unavailable`` and ``Corrupt``.
        Close it, or use it in a ``with``; what is still open at the end of the process is closed.
        """
        core, shared = open_core(url, user, workspace, store_id, policy, actor)
        memory = cls(core, shared.drive, shared.end)
        try:
            memory._drive(core.store())
        except BaseException:
            memory.close()
            raise
        return memory

    @classmethod
    def of_store(
        cls, store: Store, *, policy: Policy | None = None, actor: str = DEFAULT_ACTOR
    ) -> Self:
        """The memory in a store that you made yourself; closing the memory leaves it open."""
        loop = BackgroundLoop()
        core = core_of_store(store, policy, actor)
        return cls(core, loop.run if store.suspends else run_now, loop.close)

    def close(self) -> None:
        """Let go of the memory; the last one of a URL closes its backend and writes what waits.

        A second call does nothing. Whatever runs in other threads may raise ``Misuse``.
        """
        self._drive(self._core.close())
        self._end()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # ---- what Claude sends

    def execute(self, command: object, *, trace_id: str | None = None) -> ToolResult:
        """Do what the ``input`` of a tool call says; the text (or blocks) to answer, and whether
        it is an error.

        Takes whatever the model sent and raises nothing for it: malformed input, refusals and
        failing storage are answers that say how to go on, and then nothing has changed.
        ``trace_id`` is kept with the versions. Raises ``Misuse`` once the memory is closed.
        """
        return self._drive(self._core.execute(command, trace_id))

    def tool_result(self, block: object) -> Block:
        """The ``tool_result`` block for a ``tool_use`` block, to be sent in the next request.

        ``block`` is a dict or an object of an SDK. Its id is the trace id. Raises ``Misuse`` for a
        block without an id, since no answer could name it, and once the memory is closed.
        """
        return self._drive(self._core.tool_result(block))

    # ---- reading

    def read(self, path: str) -> StoredMemory:
        """The memory at ``path``: content, ids, hash and times, all of one version. Two reads.

        Raises ``NotFound`` and ``IsADirectory``.
        """
        return self._drive(self._core.programs.read(path))

    def list(
        self,
        prefix: str = ROOT_TEXT,
        *,
        depth: Literal[0, 1] = 0,
        at: str | datetime | None = None,
    ) -> tuple[Entry | Directory, ...]:
        """Everything beneath ``prefix`` without contents, hidden names too, sorted by path.

        Depth 0 lists all memories; depth 1 the children of ``prefix``, with what lies deeper as
        ``Directory`` entries. ``at`` lists what was there right after the batch of a version id, or
        at an aware time. A prefix with nothing beneath gives nothing. One read a thousand entries.
        """
        return self._drive(self._core.programs.list(prefix, depth, at))

    def page(
        self,
        prefix: str = ROOT_TEXT,
        *,
        depth: Literal[0, 1] = 0,
        after: str | None = None,
        limit: int = 100,
        at: str | datetime | None = None,
    ) -> Page:
        """As ``list``, one page of at most ``limit`` entries; ``after`` is the page before's."""
        return self._drive(self._core.programs.page(prefix, depth, after, limit, at))

    def search(self, text: str, prefix: str = ROOT_TEXT, *, limit: int = 50) -> tuple[Hit, ...]:
        """Memories beneath ``prefix`` that hold every word of ``text`` (a quoted part is one word),
        ignoring case, with the 1-based lines; at most ``limit``, sorted by path.

        Raises ``Unsupported`` where the backend can't search.
        """
        return self._drive(self._core.programs.search(text, prefix, limit))

    def usage(self) -> Usage:
        """How many files, bytes and versions there are. Reads counters, walks nothing."""
        return self._drive(self._core.programs.usage())

    # ---- writing

    def write(
        self,
        path: str,
        content: str | bytes,
        *,
        if_version: str | None = None,
        if_sha256: str | None = None,
        if_absent: bool = False,
        notice: Callable[[Removal], None] | None = None,
    ) -> Version:
        """Make the memory at ``path`` hold ``content``; the version that does, without its content.

        Text is stored as UTF-8. Equal content makes no version: the present one is returned. At
        most one condition: the head is version ``if_version``, the content has hash ``if_sha256``
        (else ``Conflict``, or ``NotFound`` if nothing is there), or nothing is there
        (``AlreadyExists``). ``notice`` is told what was masked. Raises ``IsADirectory``, ``NotADirectory`` and ``RootRefused``.
        """
        return self._drive(
            self._core.programs.write(path, content, if_version, if_sha256, if_absent, notice)
        )

    def move(
        self, source: str, target: str, *, if_version: str | None = None
    ) -> tuple[Version, ...]:
        """Give the memory or directory at ``source`` the path ``target``, which has to be free.

        Ids stay. Returns a version for a memory, and what costs nothing for a directory. Raises
        ``NotFound``, ``AlreadyExists``, ``RootRefused``, ``MoveIntoItself``, ``NotADirectory``,
        ``MovedNameTooLong``, and ``Conflict`` if the head is not ``if_version``.
        """
        return self._drive(self._core.programs.move(source, target, if_version))

    def remove(self, path: str, *, if_version: str | None = None) -> tuple[Version, ...]:
        """Remove the memory at ``path``, or the directory with all beneath it; history stays.

        Raises ``NotFound``, ``RootRefused``, and ``Conflict`` if the head is not ``if_version``.
        """
        return self._drive(self._core.programs.remove(path, if_version))

    # ---- history

    def history(self, path: str = ROOT_TEXT, *, limit: int | None = 100) -> tuple[Version, ...]:
        """The newest ``limit`` versions (None: all) of every memory that was ever at ``path`` or
        beneath it, newest first, without contents. Empty for a path that never was."""
        return self._drive(self._core.programs.history(path, limit))

    def marks(self, versions: Sequence[Version]) -> dict[str, tuple[str, ...]]:
        """Which of some versions hold text that instructs the agent: their marks, by version id.

        As the audit says of the memory's own store; one read a batch. See ``InjectionMarks``.
        """
        return self._drive(self._core.programs.marks(versions))

    def versions(
        self,
        where: VersionFilter = VersionFilter(),
        *,
        after: str | None = None,
        limit: int = 100,
    ) -> VersionPage:
        """A page of versions that fit ``where``, newest first, without contents."""
        return self._drive(self._core.programs.versions(where, after, limit))

    def changed(self, after: int | None = None, *, adopt: bool = True) -> Changed:
        """What changed since the ``seq`` of the last look, whoever changed it; None: where to begin.

        With ``adopt`` also what people saved into files meanwhile, which looks at all of them.
        """
        return self._drive(self._core.programs.changed(after, adopt))

    def version(self, version_id: str) -> Version:
        """One version (``memver_...``) with its content. Raises ``UnknownId``."""
        return self._drive(self._core.programs.version(version_id))

    def diff(self, a: str, b: str | None = None, *, context_lines: int = 3) -> str:
        """The unified diff from version ``a`` to version ``b``, or to what its memory holds now.

        Empty if nothing differs. Raises ``UnknownId``, and ``ContentGone`` if one was redacted.
        """
        return self._drive(self._core.programs.diff(a, b, context_lines))

    def restore(self, path: str = ROOT_TEXT, *, to: str | datetime) -> Restored:
        """Make ``path`` (a memory, a directory, all by default) what it was, in one batch.

        ``to`` is a version id or an aware time. A version of this very memory brings back its
        content; any other version stands for the state right after its batch. What came since is
        removed, what was removed comes back under its id. History only grows, so a restore can be
        undone. Memories whose content of then was redacted stay as they are and are reported.

        Raises ``UnknownId``, ``ContentGone``, ``Unsupported``, ``Conflict``. Holds all contents that
        come back in memory.
        """
        return self._drive(self._core.programs.restore(path, to))

    def preview_restore(self, path: str = ROOT_TEXT, *, to: str | datetime) -> RestorePreview:
        """What ``restore`` would do now, by path; changes nothing and reads no contents.

        Raises what ``restore`` raises before it changes anything.
        """
        return self._drive(self._core.programs.preview_restore(path, to))

    def undo(self, path: str = ROOT_TEXT) -> tuple[Version, ...]:
        """Take back the last batch that touched ``path`` (all by default), whole.

        Undoing twice brings back what was undone. Raises ``Conflict`` if a later change is in the
        way, and ``ContentGone``. Nothing to undo gives no versions.
        """
        return self._drive(self._core.programs.undo(path))

    def redact(self, version_id: str) -> Version:
        """Blank a version's content, path, size and hash for good.

        Raises ``UnknownId``, ``Unsupported``, and ``NotRedactable`` for the head of a live memory.
        """
        return self._drive(self._core.programs.redact(version_id))

    # ---- upkeep

    def export(
        self,
        directory: str | os.PathLike[str],
        *,
        prefix: str = ROOT_TEXT,
        replace: bool = False,
        progress: Progress | None = None,
    ) -> Exported:
        """Write the memories as plain files into a folder of the host, made if it is missing.

        All of one moment. A folder that isn't empty raises ``BadFolder`` unless ``replace``, which
        replaces files of the same names and leaves others. No link is followed.
        ``progress(done, total)`` is called after each file.
        """
        return self._drive(self._core.programs.export(directory, prefix, replace, progress))

    def import_(
        self,
        directory: str | os.PathLike[str],
        *,
        prefix: str = ROOT_TEXT,
        replace: bool = False,
        dry_run: bool = False,
        layout: Layout = "auto",
        progress: Progress | None = None,
    ) -> Imported:
        """Take in the files of a folder of the host, also of the official SDK's own tool's.

        Files whose memory exists with another content stay outside unless ``replace``. Whatever
        stays outside is in the result's ``refused``, with a reason: names that the policy of paths
        refuses, links and devices, what a limit refuses. ``dry_run`` writes nothing. Done in
        batches; importing again goes on. Raises ``BadFolder``.
        """
        return self._drive(
            self._core.programs.import_(directory, prefix, replace, dry_run, layout, progress)
        )

    def verify(self) -> Report:
        """Check everything against everything; ``.ok``, and what is wrong with its remedy. Reads
        all there is."""
        return self._drive(self._core.programs.verify())

    def repair(self) -> Report:
        """Mend the damage that ``verify`` finds, as far as the backend can, and verify again.

        A folder sets a damaged database aside (the report says where), takes over its history
        where that is whole, and goes on from the files as they lie. Without damage, and where a
        backend can't repair, the same as ``verify``.
        """
        return self._drive(self._core.programs.repair())

    def notices(self) -> tuple[Problem, ...]:
        """What was found damaged and set aside when this process opened the store: mostly nothing."""
        return self._drive(self._core.programs.notices())

    def sweep(self, *, dry_run: bool = False, progress: Progress | None = None) -> Swept:
        """Remove the memories whose time is over, by the policy's ``expiry``; says which.

        Normal removals by the actor ``expiry``, in batches, which can be restored while history is
        kept. What a hold covers stays. ``dry_run`` removes nothing. ``progress(done, total)`` is
        called after each batch. After more than 30 days without an entry in the audit the clock may
        have jumped: that round removes nothing. Raises ``Unsupported``.
        """
        return self._drive(self._core.programs.sweep(time.time_ns(), dry_run, progress))

    # ---- what waits for a person

    def proposals(self) -> tuple[Proposal, ...]:
        """The writes that wait for a person, oldest first, without contents; each with its state.

        Raises ``Unsupported`` for a memory of ``of_store``. One read a proposal, and one a memory.
        """
        return self._drive(self._core.review.proposals())

    def proposal(self, proposal_id: str) -> Proposal:
        """One of them (``prop_...``), with the contents to be written. Raises ``UnknownId``."""
        return self._drive(self._core.review.proposal(proposal_id))

    def proposal_diff(self, proposal_id: str, *, context_lines: int = 3) -> str:
        """What a proposal would change, as a unified diff against what it was made from.

        Raises ``UnknownId``, and ``ContentGone`` if that was redacted since.
        """
        return self._drive(self._core.review.diff(proposal_id, context_lines))

    def approve(self, proposal_id: str) -> tuple[Version, ...]:
        """Do what a proposal says, all of it or nothing, through every layer; then it is gone.

        The versions are by this memory's ``actor``: open it as the person who decides. Their audit
        entries say who proposed it. Raises ``NotApprovable`` if anything that it was made from has
        changed since or its time is over, ``UnknownId``, and what the layers refuse.
        """
        return self._drive(self._core.review.approve(proposal_id))

    def reject(self, proposal_id: str, *, reason: str = "") -> Proposal:
        """Take a proposal away, contents and all; the audit says who did and why. Returns it.

        Raises ``UnknownId``.
        """
        return self._drive(self._core.review.reject(proposal_id, reason))

    def expire_proposals(self, *, dry_run: bool = False) -> tuple[Proposal, ...]:
        """Take away the proposals whose time is over, but for what a hold covers; returns them.
        ``dry_run`` leaves them."""
        return self._drive(self._core.review.expire(time.time_ns(), dry_run))

    # ---- holds, audit, erasure

    def hold(self, path: str = ROOT_TEXT, *, reason: str = "") -> Hold:
        """Hold a path (all by default): nothing of it expires, its history stays, and the memory
        can't be erased, until the hold is lifted. It is about what lies there or last lay there;
        what is moved elsewhere is not held any more.

        Raises ``UnknownId`` for a memory that nobody has written yet, ``Unsupported``.
        """
        return self._drive(self._core.programs.hold(path, reason))

    def holds(self) -> tuple[Hold, ...]:
        """What is held, in the order of the paths. Raises ``Unsupported``."""
        return self._drive(self._core.programs.holds())

    def lift_hold(self, path: str = ROOT_TEXT) -> bool:
        """Lift the hold of exactly this path; whether there was one. Raises ``UnknownId`` and
        ``Unsupported``.
        """
        return self._drive(self._core.programs.lift(path))

    def audit(self, *, after: int | None = None, limit: int = 100) -> tuple[AuditEntry, ...]:
        """What was done and refused, oldest first: the newest ``limit`` entries, or those after
        entry number ``after`` (0: from the beginning), up to ``limit`` and what was written
        together with the last one. Raises ``Unsupported``.
        """
        return self._drive(self._core.programs.audit(after, limit))

    def verify_audit(self, *, anchors: Sequence[AuditHead] = ()) -> AuditReport:
        """Check that no entry of the audit is missing, changed or in another order; ``.ok``.

        The report's ``head`` is an anchor: kept in a second place and given back here as one of
        ``anchors``, it also tells that the end was cut off or written anew. Reads all entries.
        Raises ``Unsupported``.
        """
        return self._drive(self._core.programs.verify_audit(anchors))

    def erase_path(self, path: str) -> int:
        """Erase what is and ever was at ``path`` and beneath it, for good: contents, history, what
        waits for a person, and the path in the audit, whose chain still holds. How many versions.

        Names of directories stay. Raises ``NotFound`` for a path that never was, ``Held``,
        ``Unsupported`` where the backend can't, ``Misuse`` for the root.
        """
        return self._drive(self._core.programs.erase_path(path))

    def erase(self, *, confirm: str) -> None:
        """Erase the memory, history and all, for good: nothing of it stays readable.

        ``confirm`` is the name of the user (or the store's id), else ``Misuse``. The memory stays
        usable and begins anew.
        """
        self._drive(self._core.erase(confirm))
