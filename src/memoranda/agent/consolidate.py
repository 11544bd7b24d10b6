"""An agent tidies a copy of a memory; what it changed is accepted by a person or by rules.

    found = consolidate(Anthropic(), memory, model="claude-sonnet-5-5")
    print(found.diff)
    found.apply(memory)

Nothing is lost: the copy lies in RAM, accepted changes are ordinary versions by the memory's actor,
and a memory that somebody changed meanwhile is left alone.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from importlib.resources import files
from secrets import token_hex
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple, TypeAlias

from memoranda.agent.hooks import Hooks
from memoranda.agent.loop import Agent
from memoranda.agent.outcome import UsageTotals
from memoranda.errors import Conflict, Misuse, NotFound, Refused
from memoranda.memory import Memory
from memoranda.operations.diff import NOWHERE, unified
from memoranda.policies.limits import Limits
from memoranda.policies.policy import Policy
from memoranda.stores.base import Entry

if TYPE_CHECKING:
    from anthropic import Anthropic

DEFAULT_BUDGET_TOKENS: Final = 500_000
CHARS_A_TOKEN: Final = 4
"""A rule of thumb for how much context a text takes; for the report only."""

_REQUEST: Final = "Tidy this memory now."

Kind: TypeAlias = Literal["created", "changed", "removed"]
Stop: TypeAlias = Literal["done", "budget", "unfinished", "refused"]
"""Why the agent stopped: it had done, the budget of tokens was used up, a bound of the loop was
reached, or Claude refused."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """What a consolidation may do without a person.

    ``protect`` are globs of paths that may not be changed (``/memories/legal/*``; ``*`` also
    matches ``/``). ``most_removed`` is the largest share of the memories, 0 to 1, that may go.
    ``has_to_shrink``: the result has to be smaller than what was there.
    """

    protect: tuple[str, ...] = ()
    most_removed: float = 0.5
    has_to_shrink: bool = True


class Change(NamedTuple):
    """One memory that would change: its path, contents before and after (None: there is none),
    and the version that it was made from."""

    path: str
    before: bytes | None
    after: bytes | None
    version_id: str | None

    @property
    def kind(self) -> Kind:
        """What happens to the memory."""
        if self.before is None:
            return "created"
        return "removed" if self.after is None else "changed"

    @property
    def diff(self) -> str:
        """A unified diff; one line where a content is no text."""
        old_name = NOWHERE if self.before is None else self.path
        new_name = NOWHERE if self.after is None else self.path
        return unified(self.before or b"", self.after or b"", old_name, new_name)


class Applied(NamedTuple):
    """Paths that were changed, and those that were left alone, each with the reason."""

    changed: tuple[str, ...]
    left: tuple[tuple[str, str], ...]


class Size(NamedTuple):
    """How much a memory holds; ``tokens`` is about what it takes of a context."""

    files: int
    bytes: int

    @property
    def tokens(self) -> int:
        """About so many, four bytes each."""
        return self.bytes // CHARS_A_TOKEN


@dataclass(frozen=True)
class Consolidation:
    """What an agent would change, and what it said about it."""

    changes: tuple[Change, ...]
    before: Size
    after: Size
    said: str
    stop: Stop
    usage: UsageTotals
    complaints: tuple[str, ...] = field(default=())
    """Which rules the changes break; with one a person has to decide."""

    @property
    def is_acceptable(self) -> bool:
        """Whether the agent came to its end, and the rules leave nothing to a person."""
        return self.stop == "done" and not self.complaints

    @property
    def diff(self) -> str:
        """All changes as one unified diff."""
        return "".join(change.diff for change in self.changes)

    def apply(self, memory: Memory, paths: Iterable[str] | None = None) -> Applied:
        """Make the changes, all or those at ``paths``, in the memory that they were made for.

        One write a change, each only if the memory is still what the agent saw: what somebody
        changed meanwhile, and what a rule of the memory refuses, is left alone and named. Contents
        are written before others are removed, so that no fact is without a place in between.
        """
        wanted = None if paths is None else set(paths)
        unknown = set[str]() if wanted is None else wanted - {one.path for one in self.changes}
        if unknown:
            raise Misuse(f"There is no change at {', '.join(sorted(unknown))}.")
        chosen = [one for one in self.changes if wanted is None or one.path in wanted]
        changed: list[str] = []
        left: list[tuple[str, str]] = []
        for change in sorted(chosen, key=lambda one: one.after is None):
            try:
                _make(memory, change)
            except (Conflict, NotFound):
                left.append((change.path, "somebody changed it meanwhile"))
            except Refused as error:
                left.append((change.path, str(error)))
            else:
                changed.append(change.path)
        return Applied(tuple(changed), tuple(left))


def consolidate(
    client: Anthropic,
    memory: Memory,
    *,
    model: str,
    rules: Rules = Rules(),
    budget_tokens: int = DEFAULT_BUDGET_TOKENS,
    target_bytes: int | None = None,
    hooks: Hooks | None = None,
) -> Consolidation:
    """Have an agent tidy a copy of ``memory``, and say what it would change.

    The agent stops once it has used ``budget_tokens``, input and output together; what it had
    changed by then is shown. ``target_bytes`` is what the memory should shrink to; the agent is
    told, nothing enforces it. Reads every memory once. Raises the SDK's errors, and what
    ``Memory.read`` raises.
    """
    seen = _contents(memory)
    with Memory.open(f"memory:{token_hex(8)}", policy=_UNLIMITED) as copy:
        for path, (content, _) in seen.items():
            copy.write(path, content)
        said, stop, usage = _tidied(
            client, copy, model, budget_tokens, target_bytes, hooks or Hooks()
        )
        after = {path: content for path, (content, _) in _contents(copy).items()}
    changes = tuple(_changes(seen, after))
    sizes = _size(content for content, _ in seen.values()), _size(after.values())
    complaints = tuple(_complaints(rules, changes, *sizes))
    return Consolidation(changes, *sizes, said, stop, usage, complaints)


_UNLIMITED: Final = Policy(limits=Limits.unlimited())


class _BudgetUsedUp(Exception):
    """Raised by a hook to end the run."""


def _tidied(
    client: Anthropic,
    copy: Memory,
    model: str,
    budget_tokens: int,
    target_bytes: int | None,
    hooks: Hooks,
) -> tuple[str, Stop, UsageTotals]:
    usage = UsageTotals()

    def counted(message: Any) -> None:
        nonlocal usage
        usage = usage.plus(message.usage)
        hooks.on_message(message)

    def within_budget(request: dict[str, Any]) -> None:
        if usage.input_tokens + usage.output_tokens >= budget_tokens:
            raise _BudgetUsedUp
        hooks.on_request(request)

    target = "" if target_bytes is None else f"Try to end with {target_bytes:,} bytes in all.\n"
    prompt = files("memoranda.agent").joinpath("consolidation.md").read_text(encoding="utf-8")
    watched = Hooks(
        on_request=within_budget,
        on_text=hooks.on_text,
        on_restart=hooks.on_restart,
        on_message=counted,
        on_call=hooks.on_call,
        on_result=hooks.on_result,
    )
    agent = Agent(
        client,
        copy,
        model=model,
        system=prompt.replace("{target}\n", target),
        max_tokens=8192,
        max_turns=200,
        hooks=watched,
    )
    try:
        outcome = agent.run(_REQUEST)
    except _BudgetUsedUp:
        return "", "budget", usage
    stops: dict[str, Stop] = {"end_turn": "done", "stop_sequence": "done", "refusal": "refused"}
    return outcome.text, stops.get(outcome.stop, "unfinished"), usage


def _contents(memory: Memory) -> dict[str, tuple[bytes, str]]:
    """Every memory's content and version, by its path."""
    found: dict[str, tuple[bytes, str]] = {}
    for entry in memory.list():
        if isinstance(entry, Entry):
            try:
                stored = memory.read(str(entry.path))
            except NotFound:
                continue  # somebody removed it meanwhile
            found[str(entry.path)] = stored.content, stored.version_id
    return found


def _changes(seen: dict[str, tuple[bytes, str]], after: dict[str, bytes]) -> Iterable[Change]:
    for path in sorted({*seen, *after}):
        before, version_id = seen.get(path, (None, None))
        if before != after.get(path):
            yield Change(path, before, after.get(path), version_id)


def _size(contents: Iterable[bytes]) -> Size:
    sizes = [len(content) for content in contents]
    return Size(len(sizes), sum(sizes))


def _complaints(
    rules: Rules, changes: tuple[Change, ...], before: Size, after: Size
) -> Iterable[str]:
    for change in changes:
        if any(fnmatchcase(change.path, glob) for glob in rules.protect):
            yield f"{change.path} is protected, and would be {change.kind}."
    n_removed = sum(change.kind == "removed" for change in changes)
    if n_removed > rules.most_removed * before.files:
        yield f"{n_removed:,} of {before.files:,} memories would be removed."
    if changes and rules.has_to_shrink and after.bytes >= before.bytes:
        yield f"The memory would not shrink: {before.bytes:,} bytes become {after.bytes:,}."


def _make(memory: Memory, change: Change) -> None:
    if change.after is None:
        memory.remove(change.path, if_version=change.version_id)
    elif change.version_id is None:
        memory.write(change.path, change.after, if_absent=True)
    else:
        memory.write(change.path, change.after, if_version=change.version_id)
