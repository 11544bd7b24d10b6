"""Work that goes over many sessions: a layout to begin with, prompts for each, and a look at it all.

    sessions = Sessions(memory)
    sessions.seed("coding-agent")
    prompt = sessions.begin(task="Build a notes app.").prompt
    ...
    ended = sessions.end()

Which session it is and whether its log was updated lies in ``/memories/.session.json``, which views
don't list.
"""

from __future__ import annotations

import json
from contextlib import suppress
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final, NamedTuple, Protocol

from memoranda.agent.checklist import Feature, features, newest_entry
from memoranda.agent.templates import Template, template
from memoranda.drive import run_now
from memoranda.errors import AlreadyExists, Conflict, Misuse, NotFound, NotText

if TYPE_CHECKING:
    from collections.abc import Callable

    from memoranda.async_memory import AsyncMemory
    from memoranda.memory import Memory
    from memoranda.operations.read_memory import StoredMemory
    from memoranda.stores.base import Version

PROGRESS: Final = "/memories/progress.md"
FEATURES: Final = "/memories/features.md"
STATE: Final = "/memories/.session.json"

_TRIES: Final = 20


class Seeded(NamedTuple):
    """Paths that were written, and those that were there already and stay as they are."""

    written: tuple[str, ...]
    kept: tuple[str, ...]


class Session(NamedTuple):
    """A session that has begun: its number from 1, and what to tell the agent first."""

    number: int
    prompt: str


class Ended(NamedTuple):
    """How a session ended: whether the progress log was updated in it, and what is amiss."""

    number: int
    is_logged: bool
    warnings: tuple[str, ...]


class Status(NamedTuple):
    """How the work stands.

    ``sessions`` counts those that began; ``is_open`` says whether the last one has not ended;
    ``logged_at`` is when the progress log was last changed. ``newest_entry`` is the log's.
    """

    template: str | None
    sessions: int
    is_open: bool
    began_at: datetime | None
    logged_at: datetime | None
    features: tuple[Feature, ...]
    newest_entry: str
    warnings: tuple[str, ...]

    @property
    def done(self) -> int:
        """How many features are marked as done, verified or not."""
        return sum(one.state != "open" for one in self.features)

    @property
    def verified(self) -> int:
        """How many of them say how they were checked."""
        return sum(one.state == "verified" for one in self.features)


class AsyncSessions:
    """``Sessions`` over an ``AsyncMemory``, awaited."""

    def __init__(self, memory: AsyncMemory | _Awaited) -> None:
        self._memory: _Asked = memory

    async def seed(self, name: str) -> Seeded:
        """``Sessions.seed``, awaited."""
        chosen = template(name)
        written: list[str] = []
        kept: list[str] = []
        for file, text in chosen.files.items():
            path = f"/memories/{file}"
            try:
                await self._memory.write(path, text, if_absent=True)
            except AlreadyExists:
                kept.append(path)
            else:
                written.append(path)

        def laid_out(state: dict[str, Any]) -> None:
            state["template"] = name

        await self._change(laid_out)
        return Seeded(tuple(written), tuple(kept))

    async def begin(self, *, task: str | None = None) -> Session:
        """``Sessions.begin``, awaited."""
        chosen = await self._template()
        logged = await self._read(PROGRESS)

        def begun(state: dict[str, Any]) -> None:
            if state["sessions"] == 0 and task is None:
                raise Misuse("The first session needs the task: what is to be built.")
            state["unlogged"] = _unlogged(state, logged)
            state["sessions"] += 1
            state["is_open"] = True
            state["began_at"] = datetime.now(UTC).isoformat(timespec="seconds")
            state["log_at_begin"] = None if logged is None else logged.version_id

        number: int = (await self._change(begun))["sessions"]
        if number == 1:
            return Session(1, _filled(chosen.initializer, task=task or ""))
        return Session(number, _filled(chosen.opening, number=str(number)))

    async def closing_prompt(self) -> str:
        """``Sessions.closing_prompt``, awaited."""
        chosen = await self._template()
        state, _ = await self._state()
        return _filled(chosen.closing, number=str(state["sessions"]))

    async def end(self) -> Ended:
        """``Sessions.end``, awaited."""
        logged = await self._read(PROGRESS)

        def ended(state: dict[str, Any]) -> None:
            if not state["is_open"]:
                raise Misuse("No session has begun.")
            state["unlogged"] = _unlogged(state, logged)
            state["is_open"] = False

        state = await self._change(ended)
        number: int = state["sessions"]
        status = await self.status()
        return Ended(number, number not in state["unlogged"], status.warnings)

    async def status(self) -> Status:
        """``Sessions.status``, awaited."""
        state, _ = await self._state()
        logged = await self._read(PROGRESS)
        checklist = await self._read(FEATURES)
        found = features(_text(checklist))
        began_at = state["began_at"]
        return Status(
            state["template"],
            state["sessions"],
            state["is_open"],
            None if began_at is None else datetime.fromisoformat(began_at),
            None if logged is None else logged.updated_at,
            found,
            newest_entry(_text(logged)),
            tuple(_warnings(state, logged, found)),
        )

    async def _template(self) -> Template:
        state, _ = await self._state()
        if state["template"] is None:
            raise Misuse("The memory has no layout yet: seed it with a template first.")
        chosen = template(state["template"])
        if chosen.opening is None:
            raise Misuse(f"The template {chosen.name!r} has no sessions; coding-agent has.")
        return chosen

    async def _read(self, path: str) -> StoredMemory | None:
        with suppress(NotFound):
            return await self._memory.read(path)
        return None

    async def _state(self) -> tuple[dict[str, Any], str | None]:
        stored = await self._read(STATE)
        state: dict[str, Any] = {
            "template": None,
            "sessions": 0,
            "is_open": False,
            "began_at": None,
            "log_at_begin": None,
            "unlogged": [],
        }
        if stored is None:
            return state, None
        try:
            kept = json.loads(stored.content)
            state.update({name: kept[name] for name in state})
            _check(state)
        except (ValueError, TypeError, KeyError, RecursionError) as error:
            raise Misuse(
                f"{STATE} can't be read: somebody wrote something else into it. Restore an older"
                " version (memoranda history shows them), or delete it to count anew."
            ) from error
        return state, stored.version_id

    async def _change(self, change: Callable[[dict[str, Any]], None]) -> dict[str, Any]:
        for _ in range(_TRIES):
            state, version = await self._state()
            change(state)
            text = json.dumps(state, indent=1) + "\n"
            with suppress(Conflict, AlreadyExists, NotFound):
                if version is None:
                    await self._memory.write(STATE, text, if_absent=True)
                else:
                    await self._memory.write(STATE, text, if_version=version)
                return state
        raise Conflict("Others change the state of the sessions all the time.")


class Sessions:
    """The sessions of one memory: seed it, begin and end them, see how the work stands."""

    def __init__(self, memory: Memory) -> None:
        self._async = AsyncSessions(_Awaited(memory))

    def seed(self, name: str) -> Seeded:
        """Write the files of a template; what is there already stays as it is.

        One write a file. Raises ``Misuse`` for an unknown template, and what ``Memory.write``
        raises.
        """
        return run_now(self._async.seed(name))

    def begin(self, *, task: str | None = None) -> Session:
        """Count a session, and say what the agent is to be told first.

        The first one lays the ground and needs ``task``; later ones begin by getting their
        bearings. Raises ``Misuse`` for a memory without a layout that has sessions.
        """
        return run_now(self._async.begin(task=task))

    def closing_prompt(self) -> str:
        """What to tell the agent when its session is to end; let it work on that before ``end``."""
        return run_now(self._async.closing_prompt())

    def end(self) -> Ended:
        """Note that the session ended, and say what is amiss. Raises ``Misuse`` if none began."""
        return run_now(self._async.end())

    def status(self) -> Status:
        """How the work stands. Three reads."""
        return run_now(self._async.status())


class _Asked(Protocol):
    """What the sessions use of a memory."""

    async def read(self, path: str) -> StoredMemory: ...

    async def write(
        self,
        path: str,
        content: str | bytes,
        *,
        if_version: str | None = None,
        if_sha256: str | None = None,
        if_absent: bool = False,
    ) -> Version: ...


class _Awaited:
    """A ``Memory`` where an ``AsyncMemory`` is awaited; it never suspends."""

    def __init__(self, memory: Memory) -> None:
        self._memory = memory

    async def read(self, path: str) -> StoredMemory:
        return self._memory.read(path)

    async def write(
        self,
        path: str,
        content: str | bytes,
        *,
        if_version: str | None = None,
        if_sha256: str | None = None,
        if_absent: bool = False,
    ) -> Version:
        return self._memory.write(
            path, content, if_version=if_version, if_sha256=if_sha256, if_absent=if_absent
        )


def _check(state: dict[str, Any]) -> None:
    """Raise ``ValueError`` for values that can't be: Claude can write the file, too."""
    counted: list[object] = [state["sessions"], *state["unlogged"]]
    if any(type(number) is not int for number in counted) or type(state["is_open"]) is not bool:
        raise ValueError("no state of sessions")
    if state["began_at"] is not None:
        datetime.fromisoformat(state["began_at"])
    if state["template"] is not None:
        try:
            template(state["template"])
        except Misuse as error:
            raise ValueError("no template") from error


def _unlogged(state: dict[str, Any], logged: StoredMemory | None) -> list[int]:
    """Sessions that ended without a word in the log: those known, and the last one if it did.

    One word heals them all: the log is up to date again.
    """
    if not state["sessions"]:
        return []
    version = None if logged is None else logged.version_id
    if version != state["log_at_begin"]:
        return []
    return sorted({*state["unlogged"], state["sessions"]})


def _warnings(
    state: dict[str, Any], logged: StoredMemory | None, found: tuple[Feature, ...]
) -> list[str]:
    warnings: list[str] = []
    unlogged = _unlogged(state, logged)
    if state["is_open"] and state["sessions"] in unlogged:
        unlogged.remove(state["sessions"])
        warnings.append(
            f"Session {state['sessions']} has not updated the progress log yet. If it is over, it"
            " ended without: look at what it did before the next one begins."
        )
    warnings += [f"Session {n} ended without an update of the progress log." for n in unlogged]
    warnings += [
        f"Marked as done without a word on how it was verified: {one.text}"
        for one in found
        if one.state == "done"
    ]
    if state["sessions"] and not found:
        warnings.append(f"{FEATURES} has no checklist.")
    return warnings


def _text(stored: StoredMemory | None) -> str:
    if stored is None:
        return ""
    try:
        return stored.text
    except NotText:
        return ""


def _filled(prompt: str | None, **values: str) -> str:
    assert prompt is not None, "looked at by _template"
    for name, value in values.items():
        prompt = prompt.replace("{" + name + "}", value)
    return prompt
