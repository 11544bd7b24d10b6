"""What programs look at, and what they are refused, goes into the audit like Claude's commands."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Coroutine
from functools import wraps
from typing import TYPE_CHECKING, Any, Concatenate, Final, ParamSpec, Protocol, TypeVar

from memoranda.errors import AwaitsApproval, Conflict, Corrupt, Refused, Unavailable
from memoranda.policies.audit import shown_path
from memoranda.stores.audit import OUTCOME, PATH, PROPOSAL
from memoranda.stores.base import VersionFilter

if TYPE_CHECKING:
    from memoranda.core import Core

VERSION: Final = "version"
"""Key of a draft: the version that was asked for."""

T = TypeVar("T")
P = ParamSpec("P")
_NOTED: Final = (Refused, Conflict, Unavailable, Corrupt)


class _HasCore(Protocol):
    @property
    def core(self) -> Core: ...


S = TypeVar("S", bound=_HasCore)
Method = Callable[Concatenate[S, P], Awaitable[T]]
Noted = Callable[Concatenate[S, P], Coroutine[Any, Any, T]]


def noted(
    command: str, *, reads: bool = False, about: int = 0
) -> Callable[[Method[S, P, T]], Noted[S, P, T]]:
    """A method whose refusals, and if it ``reads`` its successes too, are noted as ``command``.

    Argument number ``about`` says what it is about: a path, an id or a filter. What
    changes something is an entry by itself.
    """

    def decorate(method: Method[S, P, T]) -> Noted[S, P, T]:
        @wraps(method)
        async def run(self: S, /, *args: P.args, **kwargs: P.kwargs) -> T:
            core = self.core
            try:
                result = await method(self, *args, **kwargs)
            except AwaitsApproval:  # the layer that made it wait has noted it
                raise
            except _NOTED as error:
                draft = {**_about(args[about]), OUTCOME: error.code}
                await (await core.trail()).note(core.context(command), draft)
                raise
            if reads:
                trail = await core.trail()
                if trail.keeps_reads:
                    about_what = trail.hidden(_about(args[about]))
                    await trail.read(core.context(command), about_what)
            return result

        return run

    return decorate


def _about(asked: object) -> dict[str, Any]:
    if isinstance(asked, VersionFilter):
        asked = asked.path
    if asked is None:
        return {}
    text = shown_path(asked)
    if text.startswith("prop_"):
        return {PROPOSAL: text}
    return {VERSION if text.startswith("memver_") else PATH: text}
