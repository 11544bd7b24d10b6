"""PostgreSQL: how many calls a write takes, and that a guess is never mistaken for what is there."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from memoranda.drive import run_now
from memoranda.errors import AlreadyExists, IsADirectory, NoMatch, NotADirectory, NotFound
from memoranda.stores.base import Context, Edit, Expect, IfContent, Move, Put, Remove
from memoranda.stores.postgres.backend import PostgresBackend
from memoranda.testing.promises.steps import append, p, replace_all, tree
from memoranda.text.splice import Splice
from tests.stores.postgres_server import url_for

AGENT = Context(actor="agent", command="test")


class Counted:
    """A store whose calls to the server are counted."""

    def __init__(self, url: str) -> None:
        self.backend = PostgresBackend(url)
        self.store: Any = run_now(self.backend.for_user("acme"))
        self.calls = 0
        port: Any = self.backend.port
        run, transact = port.run, port.transact

        async def counting_run(*arguments: Any) -> Any:
            self.calls += 1
            return await run(*arguments)

        async def counting_transact(*arguments: Any, **named: Any) -> Any:
            self.calls += 10
            return await transact(*arguments, **named)

        port.run, port.transact = counting_run, counting_transact

    def apply(self, *changes: Any) -> int:
        """Do a batch; gives how many calls that took, ten for a transaction."""
        self.calls = 0
        run_now(self.store.apply(changes, AGENT))
        return self.calls

    def tree(self) -> dict[str, bytes]:
        return run_now(tree(self.store))


@pytest.fixture
def mine(tmp_path: Path) -> Any:
    made = Counted(url_for(tmp_path))
    made.apply(Put(p("/a.md"), b"one"), Put(p("/d/b.md"), b"b"))
    yield made
    assert run_now(made.store.verify()).problems == ()
    run_now(made.backend.close())


@pytest.fixture
def theirs(tmp_path: Path, mine: Counted) -> Any:
    made = Counted(url_for(tmp_path))
    yield made
    run_now(made.backend.close())


def test_the_last_writer_makes_and_edits_with_one_call(mine: Counted) -> None:
    assert mine.apply(Put(p("/new.md"), b"x", Expect.ABSENT)) == 1
    assert mine.apply(Edit(p("/new.md"), append(b"y"))) == 1
    assert mine.apply(Edit(p("/a.md"), replace_all(b"two"))) == 1
    assert mine.apply(Put(p("/a.md"), b"three"), Put(p("/e/f.md"), b"f", Expect.ABSENT)) == 1
    assert mine.apply(Edit(p("/a.md"), append(b"!"), IfContent(_sha(b"three")))) == 1
    assert mine.apply(Move(p("/d"), p("/g"))) == 2
    assert mine.tree() == {
        "/a.md": b"three!", "/new.md": b"xy", "/e/f.md": b"f", "/g/b.md": b"b",
    }  # fmt: skip


def test_a_second_writer_is_noticed_whatever_was_guessed(mine: Counted, theirs: Counted) -> None:
    theirs.apply(Edit(p("/a.md"), append(b" theirs")))
    mine.apply(Edit(p("/a.md"), append(b" mine")))
    assert mine.tree()["/a.md"] == b"one theirs mine"
    theirs.apply(Remove(p("/a.md")))
    with pytest.raises(NotFound):
        mine.apply(Edit(p("/a.md"), append(b" mine")))
    theirs.apply(Put(p("/taken.md"), b"theirs"))
    with pytest.raises(AlreadyExists):
        mine.apply(Put(p("/taken.md"), b"mine", Expect.ABSENT))
    assert mine.tree() == theirs.tree() == {"/d/b.md": b"b", "/taken.md": b"theirs"}


def test_what_is_taken_for_free_and_is_not_is_refused_as_ever(mine: Counted) -> None:
    # Nothing of these is remembered: the first writer only knows what it wrote last.
    for number in range(20):
        mine.apply(Put(p(f"/many/{number}.md"), b"x", Expect.ABSENT))
    for path, refusal in (
        ("/a.md", AlreadyExists),
        ("/d", IsADirectory),
        ("/many", IsADirectory),
        ("/d/b.md/below", NotADirectory),
        ("/a.md/below/it", NotADirectory),
    ):
        with pytest.raises(refusal):
            mine.apply(Put(p(path), b"x", Expect.ABSENT))
        assert mine.apply(Put(p("/many/0.md"), path.encode())) >= 1
    assert len(mine.tree()) == 22


def test_an_edit_that_refuses_is_asked_again_on_what_is_there(mine: Counted) -> None:
    seen: list[bytes] = []

    def refuse(old: bytes) -> Splice:
        seen.append(old)
        raise NoMatch(p("/a.md"))

    with pytest.raises(NoMatch):
        mine.apply(Edit(p("/a.md"), refuse))
    assert seen == [b"one", b"one"]


def _sha(content: bytes) -> str:
    from hashlib import sha256

    return sha256(content).hexdigest()
