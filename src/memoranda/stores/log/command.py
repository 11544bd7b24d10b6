"""One command on one store: a batch of changes, done in memory, all or nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memoranda.errors import (
    AlreadyExists,
    Conflict,
    FileTooLarge,
    IsADirectory,
    MemorandaError,
    MemoryFull,
    Misuse,
    MoveIntoItself,
    NotADirectory,
    NotFound,
    ReadOnly,
    RootRefused,
    TooManyFiles,
    UnknownId,
)
from memoranda.path import MemoryPath
from memoranda.stores.base import Edit, Expect, IfVersion, Move, Put
from memoranda.stores.log import events, ids
from memoranda.stores.log.drafts import Drafts
from memoranda.stores.log.edit_failed import EditFailed
from memoranda.stores.log.room import check_room
from memoranda.stores.log.text import Text

if TYPE_CHECKING:
    from memoranda.stores.base import (
        Change,
        Context,
        EditFunction,
        Precondition,
        Remove,
    )
    from memoranda.stores.log.contents import Contents
    from memoranda.stores.log.node import Node
    from memoranda.stores.log.store_log import Image
    from memoranda.stores.log.tree import Found, Tree
    from memoranda.text.splice import Splice


class Command:
    """The changes of one ``apply``. Whoever runs it undoes tree and contents if it raises."""

    __slots__ = ("_given", "archived", "at", "begins", "contents", "context", "drafts", "tree")

    def __init__(
        self, tree: Tree, contents: Contents, context: Context, at: int, *, archived: bool
    ) -> None:
        self.tree = tree
        self.contents = contents
        self.context = context
        self.at = at
        self.archived = archived
        self.begins = tree.next_number
        self.drafts = Drafts(tree)
        self._given: int | None = None
        """The number of the memory that is about to come in from another store."""

    def do(self, change: Change) -> None:
        """Do one change after those before it."""
        if isinstance(change, Edit):
            self._edit(change)
        elif isinstance(change, Put):
            self.put(change)
        elif isinstance(change, Move):
            self._move(change)
        else:
            self._remove(change)

    def check_ceiling(self, files_before: int, bytes_before: int) -> None:
        """Refuse the batch if it added more than the store may hold."""
        ceiling = self.context.ceiling
        files, total = self.tree.root.files or 0, self.tree.root.total
        total -= files * ceiling.beside_bytes
        bytes_before -= files_before * ceiling.beside_bytes
        if ceiling.total_bytes is not None and total > max(bytes_before, ceiling.total_bytes):
            raise MemoryFull(bytes_before, ceiling.total_bytes)
        if ceiling.files is not None and files > max(files_before, ceiling.files):
            raise TooManyFiles(files_before)

    # ---- the changes

    def put(self, put: Put, image: Image | None = None) -> None:
        """Make or replace a memory; ``image`` tells that its text lies in the tree already."""
        path = put.path
        if path.is_root:
            raise RootRefused
        self._check_writable(path)
        found = self.tree.walk(path)
        if found.blocker is not None:
            raise NotADirectory(self._path_of_blocker(found, path))
        node = found.node
        if node is not None and node.is_directory:
            raise IsADirectory(path)
        self._check(put.expect, path, found)
        if put.keep_id is not None:
            returning = self._returning(put.keep_id, path, found)
            if returning is not None:
                self._bring_in(returning, put, found, image)
                return
        if node is None:
            self._bring_in(None, put, found, image)
        elif node.size != len(put.content) or node.sha != Text(put.content).sha256():
            self._check_size(path, node.size, len(put.content))
            text = Text.replacing(self.contents.read(node), put.content)
            self._rewrite(node, found, path, text, image)
        elif image is not None:
            self.tree.touch(node)
            self.contents.set_image(node, image)

    def _edit(self, edit: Edit) -> None:
        path = edit.path
        self._check_writable(path)
        found = self.tree.walk(path)
        node = found.node
        if node is not None and node.is_directory:
            raise IsADirectory(path)
        self._check(edit.expect, path, found)
        if node is None:
            raise NotFound(path)
        old = self.contents.read(node)
        splice = _asked(edit.edit, old)
        if splice is not None:
            self._check_size(path, len(old), splice.size_after(len(old)))
            self._rewrite(node, found, path, Text.spliced(old, splice), None)

    def _remove(self, remove: Remove) -> None:
        path = remove.path
        if path.is_root:
            raise RootRefused
        found = self.tree.walk(path)
        self._check(remove.expect, path, found)
        node = found.node
        if node is None:
            raise NotFound(path)
        tree, drafts = self.tree, self.drafts
        place = node.parent, node.name
        if drafts.began(node) and not node.is_directory:
            tree.detach(node, found.chain, tree.number())
            tree.remove(node, tree.next_number)
            drafts.cancel(node)
            self.contents.cancel(node)
            return
        draft = drafts.renew(node, path)
        if draft is None:
            event = self._event(node, events.DELETED)
            event.oparent, event.oname = place
            drafts.add(event, node, path)
        else:
            event = draft.event
            event.op, event.parent, event.name = events.DELETED, None, None
            event.size, event.sha, draft.text = None, None, None
        tree.detach(node, found.chain, event.seq)
        tree.remove(node, event.seq)
        self.contents.forget(node)

    def _move(self, move: Move) -> None:
        source, target = move.source, move.target
        if source.is_root:
            raise RootRefused
        self._check_writable(source)
        found = self.tree.walk(source)
        self._check(move.expect, source, found)
        node = found.node
        if node is None:
            raise NotFound(source)
        place = node.parent, node.name
        to = self.tree.walk(target)
        if to.node is not None:
            raise AlreadyExists(target)
        if node.is_directory and target.is_below(source):
            raise MoveIntoItself(source)
        if to.blocker is not None and to.blocker is not node:
            raise NotADirectory(self._path_of_blocker(to, target))
        if node.is_directory:
            check_room(self.tree, node, source, target)
        chain = self.tree.make_parents(to.chain, target, self.at)
        draft = self.drafts.renew(node, target)
        if draft is None:
            event = self._event(node, events.MODIFIED)
            event.oparent, event.oname = place
            self.drafts.add(event, node, target)
        else:
            event = draft.event
        event.parent = chain[-1].id
        event.name = target.name + "/" if node.is_directory else target.name
        self.tree.detach(node, found.chain, event.seq)
        self.tree.move(node, chain[-1], event.name)
        self.tree.attach(node, chain)

    # ---- their parts

    def _bring_in(
        self, returning: Node | None, put: Put, found: Found, image: Image | None
    ) -> None:
        """A memory comes to a free place: a new one, or one that was there before."""
        tree, path, text = self.tree, put.path, Text(put.content)
        self._check_size(path, 0, text.size)
        chain = tree.make_parents(found.chain, path, self.at)
        parent = chain[-1]
        if returning is None:
            seq = tree.number()
            number, self._given = self._given or seq, None
            node = tree.make_file(parent, path.name, number, self.at)
            event = self._event(node, events.CREATED, seq)
        else:
            node = returning
            event = self._event(node, events.CREATED if node.gone is None else events.REVIVED)
            event.oparent, event.oname = node.parent, node.name
            tree.move(node, parent, path.name)
        node.size, node.sha = text.size, text.sha256()
        event.parent, event.name = parent.id, path.name
        event.size, event.sha = node.size, node.sha
        tree.attach(node, chain)
        self.drafts.add(event, node, path, text)
        self.contents.set(node, text, image)

    def _rewrite(
        self, node: Node, found: Found, path: MemoryPath, text: Text, image: Image | None
    ) -> None:
        tree = self.tree
        tree.touch(node)
        tree.resize(node, found.chain, text.size)
        node.sha = text.sha256()
        self.contents.set(node, text, image)
        draft = self.drafts.of(node)
        if draft is None:
            event = self._event(node, events.MODIFIED)
            event.oparent, event.oname = event.parent, event.name = node.parent, node.name
            self.drafts.add(event, node, path, text)
        else:
            event = draft.event
            if draft.text is not None:
                text = text.after(draft.text)
            draft.text = text
        event.size, event.sha = node.size, node.sha

    def _event(self, node: Node, op: int, seq: int | None = None) -> events.Event:
        context = self.context
        return events.Event(
            seq=self.tree.number() if seq is None else seq,
            batch=self.begins,
            at=self.at,
            actor=context.actor,
            command=context.command,
            trace=context.trace_id,
            node=node.id,
            op=op,
            size=None if node.is_directory or op == events.DELETED else node.size,
            sha=None if node.is_directory or op == events.DELETED else node.sha,
        )

    def _returning(self, keep_id: str, path: MemoryPath, found: Found) -> Node | None:
        """The removed memory that a Put brings back; None if it lives at the path already."""
        tree = self.tree
        number = ids.node_of(tree.log, keep_id)
        node = None if number is None else tree.get(number)
        if node is None and number is not None and self._comes_from_elsewhere(number):
            if found.node is not None:
                raise AlreadyExists(path)
            self._given = number
            return None
        if node is None or node.is_directory:
            raise UnknownId("memory")
        if node is found.node:
            return None
        if found.node is not None:
            raise AlreadyExists(path)
        living_at = tree.path_of(node)
        if living_at is not None:
            raise AlreadyExists(living_at)
        return node

    def _comes_from_elsewhere(self, number: int) -> bool:
        """Whether a batch may bring in a memory that this store never had."""
        return self.context.at_ns is not None and number < self.begins

    def _check_writable(self, path: MemoryPath) -> None:
        if self.archived:
            raise ReadOnly(path)

    def _check_size(self, path: MemoryPath, before: int, after: int) -> None:
        limit, beside = self.context.ceiling.file_bytes, self.context.ceiling.beside_bytes
        if limit is not None and after > max(before, limit + beside):
            raise FileTooLarge(path, after - beside, limit)

    def _check(self, expect: Precondition, path: MemoryPath, found: Found) -> None:
        if expect is Expect.ANY:
            return
        node = found.node
        if expect is Expect.ABSENT:
            if node is not None:
                raise AlreadyExists(path)
            return
        if node is None:
            raise NotFound(path)
        if node.is_directory:
            raise IsADirectory(path)
        if isinstance(expect, IfVersion):
            seq = max(node.head, *(above.head for above in found.chain))
            if ids.version_id(self.tree.log, seq, node.id) != expect.version_id:
                raise Conflict("The memory has a newer version.")
        elif node.sha is None or node.sha.hex() != expect.sha256:
            raise Conflict("The memory has another content.")

    @staticmethod
    def _path_of_blocker(found: Found, path: MemoryPath) -> MemoryPath:
        return MemoryPath.of(path.segments[: len(found.chain)])


def _asked(edit: EditFunction, old: bytes) -> Splice | None:
    """What a caller's function wants changed; None for nothing."""
    try:
        splice = edit(old)
        if not 0 <= splice.start <= splice.end <= len(old):
            raise Misuse("The edit replaces bytes that are not there.")
        return splice if splice.changes(old) else None
    except MemorandaError:
        raise
    except Exception as error:
        raise EditFailed(error) from error
