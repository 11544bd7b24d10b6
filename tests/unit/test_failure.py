"""What the answer to a failed command remembers."""

from __future__ import annotations

import pytest

from memoranda import reply
from memoranda.errors import Corrupt, NotFound
from memoranda.memory import Memory
from memoranda.path import MemoryPath
from memoranda.reply import Failure, ToolResult
from memoranda.stores.base import Outline, WrapperStore
from tests.stand_ins import fresh_store


def test_the_answer_to_a_refused_command_remembers_the_refusal() -> None:
    with Memory.open("memory:") as memory:
        answer = memory.execute({"command": "view", "path": "/memories/none.md"})
    assert isinstance(answer, Failure)
    assert isinstance(answer.error, NotFound)


def test_it_equals_the_plain_answer_and_unpacks_like_it() -> None:
    answer = reply.unavailable(Corrupt("torn"))
    assert answer == ToolResult(answer.content, True)
    assert tuple(answer) == (answer.content, True)


class FailingStore(WrapperStore):
    """A store whose listings fail."""

    def __init__(self, error: Exception) -> None:
        super().__init__(fresh_store())
        self.error = error

    async def outline(self, directory: MemoryPath, line_chars: int) -> Outline:
        raise self.error


@pytest.mark.parametrize(("raised", "known"), [(Corrupt("torn"), True), (OSError(5, "x"), False)])
def test_the_answer_of_a_failing_store_remembers_what_is_ours(
    raised: Exception, known: bool
) -> None:
    with Memory.of_store(FailingStore(raised)) as memory:
        answer = memory.execute({"command": "view", "path": "/memories"})
    assert isinstance(answer, Failure)
    assert answer.error is (raised if known else None)
