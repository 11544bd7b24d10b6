"""What Claude reads where a policy, another writer or the storage stands in the way."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence

import pytest

from memoranda import reply
from memoranda.command import Command, Create, Delete, Insert, Rename, StrReplace, View
from memoranda.drive import run_now
from memoranda.errors import (
    AwaitsApproval,
    Conflict,
    Corrupt,
    Misuse,
    ReadOnly,
    Refused,
    SecretFound,
    TooManyCommands,
    TooManyProposals,
    Unavailable,
    Unsupported,
)
from memoranda.path import MemoryPath, parse_path
from memoranda.retry import GIVE_UP_AFTER_SECONDS, apply_with_retry, blocking_pause
from memoranda.stores.base import (
    Change,
    Content,
    Context,
    Edit,
    Outline,
    Put,
    Store,
    Version,
    WrapperStore,
)
from memoranda.tool import Tool
from tests.spec.handler import Handler, Settings, done, failed

FILE = "/memories/a"
PATH = parse_path(FILE)


@pytest.mark.spec("POLICY-01")
def test_a_file_over_its_limit_is_refused_with_both_sizes(ask_with: Settings) -> None:
    ask = ask_with(file_bytes=2048)
    refusal = failed(
        f"Error: {FILE} would be 2.1K, over the limit of 2.0K for one memory file. "
        "Split it or shorten it."
    )
    assert ask("create", path=FILE, file_text="x" * 2150) == refusal
    assert ask.listed() == []
    ask.make(FILE, "x" * 2047 + "y")
    assert ask("str_replace", path=FILE, old_str="y", new_str="y" * 103) == refusal
    assert ask("insert", path=FILE, insert_line=1, insert_text="z" * 101) == refusal
    assert ask.kept(FILE) == b"x" * 2047 + b"y"


@pytest.mark.spec("POLICY-01")
def test_a_size_a_little_over_the_limit_is_not_rounded_to_it(ask_with: Settings) -> None:
    ask = ask_with(file_bytes=256 * 1024)
    assert ask("create", path=FILE, file_text="x" * (256 * 1024 + 1)) == failed(
        f"Error: {FILE} would be 262145B, over the limit of 262144B for one memory file. "
        "Split it or shorten it."
    )


@pytest.mark.spec("POLICY-02")
def test_a_full_memory_says_what_is_used_and_what_to_do(ask_with: Settings) -> None:
    ask = ask_with(store_bytes=2048)
    ask.make(FILE, "x" * 1536)
    assert ask("create", path="/memories/b", file_text="x" * 513) == failed(
        "Error: This memory is full: 1.5K of 2.0K used. "
        "Delete or shorten files that are no longer needed, then try again."
    )
    assert not ask("delete", path=FILE).is_error
    ask.make("/memories/b", "x" * 513)


@pytest.mark.spec("POLICY-03")
def test_too_many_files_are_refused_with_their_count(ask_with: Settings) -> None:
    ask = ask_with(files=2)
    ask.make(FILE, "")
    ask.make("/memories/b", "")
    assert ask("create", path="/memories/c", file_text="") == failed(
        "Error: This memory already holds 2 files, the limit. "
        "Merge or delete files, then try again."
    )
    assert not ask("rename", old_path=FILE, new_path="/memories/c").is_error


COMMANDS: list[Command] = [
    View(PATH),
    Create(PATH, "x"),
    StrReplace(PATH, "x", "y"),
    Insert(PATH, 0, "x"),
    Delete(PATH),
    Rename(PATH, parse_path("/memories/b")),
]


class Failing(WrapperStore):
    """A store whose every use by the tool raises ``error``."""

    def __init__(self, inner: Store, error: Callable[[], Exception]) -> None:
        super().__init__(inner)
        self.error = error

    async def read(self, path: MemoryPath, start: int = 0, length: int | None = None) -> Content:
        raise self.error()

    async def outline(self, directory: MemoryPath, line_chars: int) -> Outline:
        raise self.error()

    async def apply(self, changes: Sequence[Change], context: Context) -> tuple[Version, ...]:
        raise self.error()


def answer(store: Store, command: Command) -> reply.ToolResult:
    return run_now(Tool(store).run(command, Context()))


@pytest.mark.spec("POLICY-04")
@pytest.mark.parametrize("command", COMMANDS[1:], ids=lambda command: command.name)
def test_a_read_only_path_says_so(store: Store, command: Command) -> None:
    failing = Failing(store, lambda: ReadOnly(PATH))
    assert answer(failing, command) == failed(f"Error: {FILE} is read-only.")


@pytest.mark.spec("POLICY-05")
@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command.name)
def test_too_many_commands_are_told_how_long_to_wait(store: Store, command: Command) -> None:
    failing = Failing(store, lambda: TooManyCommands(17))
    assert answer(failing, command) == failed(
        "Error: Too many memory commands. Wait 17 seconds, then try again."
    )


@pytest.mark.spec("POLICY-06")
def test_a_refused_secret_names_its_kinds_and_lines() -> None:
    error = SecretFound(("an API key", "a password"), (3, 7))
    assert reply.refusal(error, Create(PATH, "x")) == (
        "Error: Not saved: the text holds what looks like an API key, a password (line 3, 7). "
        "Save it without the secret."
    )


@pytest.mark.spec("POLICY-06")
def test_a_secret_in_a_name_is_refused_without_the_name() -> None:
    error = SecretFound(("an API key",))
    assert reply.refusal(error, Create(PATH, "x")) == (
        "Error: Not saved: the name holds what looks like an API key. "
        "Choose a name without the secret."
    )


@pytest.mark.spec("POLICY-07")
def test_a_masked_secret_adds_a_note_to_the_success_text() -> None:
    assert reply.created(PATH) + reply.secrets_removed(2, "an API key") == (
        "File created successfully at: /memories/a\n"
        "Note: 2 secret(s) were removed before saving: an API key."
    )


@pytest.mark.spec("POLICY-08")
@pytest.mark.parametrize("command", COMMANDS[1:], ids=lambda command: command.name)
def test_a_write_that_waits_for_approval_says_so_and_is_no_error(
    store: Store, command: Command
) -> None:
    waiting = Failing(store, lambda: AwaitsApproval(PATH, "prop_1"))
    assert answer(waiting, command) == done(
        "Saved for review: /memories/a changes when a person approves it."
    )


@pytest.mark.spec("POLICY-12")
def test_a_write_that_can_not_even_wait_says_how_many_do(store: Store) -> None:
    full = Failing(store, lambda: TooManyProposals(100))
    assert answer(full, Delete(PATH)) == failed(
        "Error: Not saved: 100 changes already wait for review, the limit. "
        "Try again when a person has decided about them."
    )


@pytest.mark.spec("POLICY-09", "INPUT-20")
@pytest.mark.parametrize("command", [*COMMANDS, View(parse_path("/memories"))], ids=repr)
@pytest.mark.parametrize("error", [Unavailable, Corrupt])
def test_failing_storage_is_one_text_that_tells_nothing(
    store: Store, command: Command, error: type[Exception]
) -> None:
    failing = Failing(store, lambda: error("disk full: /var/lib/acme/history.db"))
    assert answer(failing, command) == failed(
        "Error: The memory is unavailable right now. Try again later."
    )


def test_a_bug_of_the_calling_program_is_not_hidden(store: Store) -> None:
    failing = Failing(store, lambda: Misuse("The memory is closed."))
    with pytest.raises(Misuse):
        answer(failing, View(PATH))


def test_a_refusal_without_a_text_of_its_own_says_what_it_is(store: Store) -> None:
    failing = Failing(store, lambda: Unsupported("moving"))
    assert answer(failing, Delete(PATH)) == failed("Error: This backend does not support moving.")


class Refusal(Refused):
    """A refusal of somebody's own layer."""


def test_a_refusal_of_an_outside_layer_is_an_answer_too(store: Store) -> None:
    failing = Failing(store, lambda: Refusal("Not on a Sunday."))
    assert answer(failing, Delete(PATH)) == failed("Error: Not on a Sunday.")


# ---------------------------------------------------------------- lost races


class Losing(WrapperStore):
    """A store in which another writer comes first ``times`` times, whatever is written."""

    def __init__(self, inner: Store, times: float) -> None:
        super().__init__(inner)
        self.times = times
        self.attempts = 0

    async def apply(self, changes: Sequence[Change], context: Context) -> tuple[Version, ...]:
        self.attempts += 1
        if self.attempts <= self.times:
            raise Conflict("another writer was faster")
        return await self.inner.apply(changes, context)


class Clock:
    """Time that passes only in pauses."""

    def __init__(self) -> None:
        self.now = 1000.0
        self.pauses: list[float] = []

    def __call__(self) -> float:
        return self.now

    async def pause(self, seconds: float) -> None:
        self.pauses.append(seconds)
        self.now += seconds


@pytest.mark.spec("POLICY-11")
@pytest.mark.parametrize("command", COMMANDS[1:], ids=lambda command: command.name)
def test_a_lost_race_is_run_again(store: Store, command: Command) -> None:
    if not isinstance(command, Create):
        run_now(store.apply([Put(PATH, b"x")], Context()))
    losing = Losing(store, 5)
    tool = Tool(losing, pause=Clock().pause)
    assert not run_now(tool.run(command, Context())).is_error
    assert losing.attempts == 6


@pytest.mark.spec("POLICY-10")
def test_a_race_lost_for_ten_seconds_is_answered_as_failing_storage(store: Store) -> None:
    run_now(store.apply([Put(PATH, b"x")], Context()))
    clock = Clock()
    losing = Losing(store, float("inf"))
    with pytest.raises(Conflict):
        run_now(apply_with_retry(losing, [Put(PATH, b"y")], Context(), clock.pause, clock))
    assert GIVE_UP_AFTER_SECONDS <= clock.now - 1000 <= GIVE_UP_AFTER_SECONDS + 0.5
    assert losing.attempts == len(clock.pauses) + 1
    # Even if every pause were as long as it may get, there are enough attempts; none is a rush.
    assert 20 <= losing.attempts <= 1000
    assert max(clock.pauses) <= 0.5
    assert len(set(clock.pauses)) > 1
    always = Failing(store, lambda: Conflict("another writer was faster"))

    async def give_up(seconds: float) -> None:
        raise Conflict("time is up")

    tool = Tool(always, pause=give_up)
    assert run_now(tool.run(Insert(PATH, 0, "y"), Context())) == failed(
        "Error: The memory is unavailable right now. Try again later."
    )


def test_the_pause_of_a_blocking_store_blocks() -> None:
    run_now(blocking_pause(0))


@pytest.mark.spec("POLICY-11", "REPLACE-01")
def test_the_snippet_is_that_of_the_last_run_of_an_edit(store: Store) -> None:
    """An edit may run several times; what the file held at the last run is what was changed."""
    ask = Handler(store, "sync")
    ask.make(FILE, "a\nold\n")
    tries = iter([b"other\nold\n", b"first\nsecond\nold\n"])

    class Overtaken(WrapperStore):
        async def apply(self, changes: Sequence[Change], context: Context) -> tuple[Version, ...]:
            for overtaking in tries:
                (change,) = changes
                assert isinstance(change, Edit)
                change.edit(run_now(self.inner.read(PATH)).data)
                await self.inner.apply([Put(PATH, overtaking)], Context(actor="external"))
            return await self.inner.apply(changes, context)

    result = run_now(Tool(Overtaken(store)).run(StrReplace(PATH, "old", "new"), Context()))
    assert result == done(
        "The memory file has been edited. "
        "Here is the snippet showing the change (with line numbers):\n"
        "     1\tfirst\n     2\tsecond\n     3\tnew"
    )
    assert ask.kept(FILE) == b"first\nsecond\nnew\n"


@pytest.mark.spec("POLICY-11")
def test_inserts_of_many_threads_are_all_kept(ask: Handler) -> None:
    count = 8
    ask.make(FILE, "base\n")
    gate = threading.Barrier(count)
    answers: list[reply.ToolResult] = []

    def run(number: int) -> None:
        gate.wait(30)
        answers.append(ask("insert", path=FILE, insert_line=0, insert_text=f"w{number}\n"))

    threads = [threading.Thread(target=run, args=(number,)) for number in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert answers == [done(f"The file {FILE} has been edited.")] * count
    lines = ask.kept(FILE).decode().split()
    assert lines[-1] == "base"
    assert sorted(lines[:-1]) == [f"w{number}" for number in range(count)]
