"""Work over many sessions: what is counted, what is told, what is warned of."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from typing import Any

import pytest

from memoranda import AsyncMemory, Memory, Misuse
from memoranda.agent import AsyncSessions, Sessions
from memoranda.agent.sessions import FEATURES, PROGRESS, STATE
from memoranda.agent.templates import NAMES, template
from memoranda.errors import Conflict

CHECKLIST = """\
# Features

    - [x] an example (verified: in the mind)

- [ ] sign-in: a user signs in
- [x] search: finds a note by a word (verified: searched for "tea", saw 2 notes)
- [X] export
- [x] (verified: )
-[x] no feature
"""


def state(**changed: object) -> str:
    """The state of sessions as it is kept, with something changed."""
    kept: dict[str, object] = {"template": "coding-agent", "sessions": 1, "is_open": True}
    return json.dumps({**kept, "began_at": None, "log_at_begin": None, "unlogged": [], **changed})


@pytest.fixture
def memory(tmp_path: Any) -> Any:
    with Memory.open(str(tmp_path / "memory")) as memory:
        yield memory


@pytest.fixture
def sessions(memory: Memory) -> Sessions:
    sessions = Sessions(memory)
    sessions.seed("coding-agent")
    return sessions


# ---------------------------------------------------------------- templates


@pytest.mark.parametrize("name", NAMES)
def test_a_template_seeds_its_files_and_keeps_what_is_there(name: str, memory: Memory) -> None:
    memory.write("/memories/" + next(iter(template(name).files)), "mine")
    seeded = Sessions(memory).seed(name)
    assert len(seeded.kept) == 1
    assert memory.read(seeded.kept[0]).text == "mine"
    for path in seeded.written:
        assert memory.read(path).text == template(name).files[path.removeprefix("/memories/")]
        assert path in template(name).guidance or "/memories/" in template(name).guidance


@pytest.mark.parametrize("name", NAMES)
def test_the_guidance_names_every_file_of_its_template(name: str) -> None:
    chosen = template(name)
    assert chosen.summary
    for file in chosen.files:
        assert file in chosen.guidance


@pytest.mark.parametrize("name", NAMES)
def test_nothing_in_a_template_is_taken_for_a_secret_or_an_instruction(
    name: str, memory: Memory
) -> None:
    Sessions(memory).seed(name)
    for entry in memory.audit(limit=100):
        assert not entry.details


def test_an_unknown_template_is_refused_by_name(memory: Memory) -> None:
    with pytest.raises(Misuse, match=r"no template 'x'; there are coding-agent, support"):
        Sessions(memory).seed("x")


# ---------------------------------------------------------------- sessions


def test_the_first_session_lays_the_ground_and_later_ones_get_their_bearings(
    sessions: Sessions, memory: Memory
) -> None:
    with pytest.raises(Misuse, match="needs the task"):
        sessions.begin()
    first = sessions.begin(task="Build a notes app with {braces}.")
    assert first.number == 1
    assert "This is the first session" in first.prompt
    assert first.prompt.rstrip().endswith("Build a notes app with {braces}.")
    memory.write(PROGRESS, "# Progress\n\n## Session 1\nSet up.\n")
    assert "entry for session 1 " in sessions.closing_prompt()
    assert sessions.end().is_logged
    second = sessions.begin()
    assert second.number == 2
    assert second.prompt.startswith("This is session 2.")


def test_a_session_that_ends_without_a_word_in_the_log_is_warned_of_until_there_is_one(
    sessions: Sessions, memory: Memory
) -> None:
    memory.write(FEATURES, CHECKLIST)
    sessions.begin(task="x")
    assert any("has not updated the progress log yet" in one for one in sessions.status().warnings)
    ended = sessions.end()
    assert not ended.is_logged
    assert "Session 1 ended without an update of the progress log." in ended.warnings
    sessions.begin()
    memory.write("/memories/other.md", "work")
    assert not sessions.end().is_logged
    warnings = sessions.status().warnings
    assert [one for one in warnings if "ended without" in one] == [
        f"Session {number} ended without an update of the progress log." for number in (1, 2)
    ]
    memory.write(PROGRESS, "## Session 2\nAll of it.\n")
    assert [one for one in sessions.status().warnings if "log" in one] == []


def test_a_session_that_was_killed_shows_when_the_next_one_begins(
    sessions: Sessions, memory: Memory
) -> None:
    sessions.begin(task="x")
    sessions.begin()
    memory.write(PROGRESS, "## Session 2\n")
    assert sessions.end().is_logged
    sessions.begin()
    assert sessions.begin().number == 4
    assert "Session 3 ended without an update of the progress log." in sessions.status().warnings


def test_ending_what_never_began_is_refused(sessions: Sessions, memory: Memory) -> None:
    with pytest.raises(Misuse, match="No session has begun"):
        sessions.end()


@pytest.mark.parametrize("name", [None, "support"])
def test_a_memory_without_a_layout_for_sessions_is_refused(
    name: str | None, memory: Memory
) -> None:
    if name:
        Sessions(memory).seed(name)
    with pytest.raises(Misuse, match=r"no layout yet|has no sessions"):
        Sessions(memory).begin(task="x")


# ---------------------------------------------------------------- status


def test_features_are_open_done_or_verified(sessions: Sessions, memory: Memory) -> None:
    memory.write(FEATURES, CHECKLIST)
    memory.write(PROGRESS, "# Progress\n\n## Session 2\nB\n\n### More\nC\n\n## Session 1\nA\n")
    status = sessions.status()
    assert [(one.text, one.state) for one in status.features] == [
        ("sign-in: a user signs in", "open"),
        ("search: finds a note by a word", "verified"),
        ("export", "done"),
        ("(verified: )", "done"),
    ]
    assert status.features[1].evidence == 'searched for "tea", saw 2 notes'
    assert (status.done, status.verified) == (3, 1)
    assert status.newest_entry == "## Session 2\nB\n\n### More\nC"
    assert [one for one in status.warnings if "export" in one] == [
        "Marked as done without a word on how it was verified: export"
    ]


def test_an_empty_memory_has_a_status(tmp_path: Any) -> None:
    with Memory.open("memory:status") as memory:
        status = Sessions(memory).status()
    assert (status.template, status.sessions, status.features, status.warnings) == (None, 0, (), ())


def test_a_lost_checklist_is_warned_of_and_bytes_that_are_no_text_are_no_features(
    sessions: Sessions, memory: Memory
) -> None:
    sessions.begin(task="x")
    memory.write(FEATURES, b"\xff- [x] no")
    assert f"{FEATURES} has no checklist." in sessions.status().warnings
    memory.remove(FEATURES)
    assert f"{FEATURES} has no checklist." in sessions.status().warnings


@pytest.mark.parametrize(
    "spoiled",
    [
        "no json",
        "[]",
        "{}",
        "[" * 100_000,
        state(sessions="1"),
        state(is_open=1),
        state(unlogged=["1"]),
        state(unlogged=3),
        state(began_at="yesterday"),
        state(began_at=5),
        state(template="other"),
        state(template=[]),
    ],
)
def test_a_state_that_somebody_spoiled_is_said_to_be(
    spoiled: str, sessions: Sessions, memory: Memory
) -> None:
    memory.write(STATE, spoiled)
    with pytest.raises(Misuse, match="Restore an older version"):
        sessions.status()


def test_the_state_is_not_listed_to_claude(sessions: Sessions, memory: Memory) -> None:
    shown = memory.execute({"command": "view", "path": "/memories"}).content
    assert "session.json" not in str(shown)


# ---------------------------------------------------------------- at once, and awaited


def test_two_who_begin_at_once_get_numbers_of_their_own(
    sessions: Sessions, memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    write: Callable[..., Any] = Memory.write
    once = iter([True])

    def slow(self: Memory, path: str, *rest: Any, **more: Any) -> Any:
        if path == STATE and next(once, False):
            assert Sessions(memory).begin(task="other").number == 1
        return write(self, path, *rest, **more)

    monkeypatch.setattr(Memory, "write", slow)
    assert sessions.begin(task="x").number == 2


def test_a_state_that_changes_all_the_time_is_a_conflict(
    sessions: Sessions, monkeypatch: pytest.MonkeyPatch
) -> None:
    def never(*_: Any, **__: Any) -> None:
        raise Conflict("busy")

    monkeypatch.setattr(Memory, "write", never)
    with pytest.raises(Conflict, match="all the time"):
        sessions.begin(task="x")


def test_the_asynchronous_twin_does_the_same() -> None:
    async def go() -> None:
        async with AsyncMemory.open("memory:async-sessions") as memory:
            sessions = AsyncSessions(memory)
            assert len((await sessions.seed("coding-agent")).written) == 3
            assert (await sessions.begin(task="x")).number == 1
            assert "session 1" in await sessions.closing_prompt()
            assert not (await sessions.end()).is_logged
            assert (await sessions.status()).sessions == 1

    asyncio.run(go())
