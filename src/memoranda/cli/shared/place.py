"""Which memory a command is about: what was typed, then the environment, then memoranda.toml."""

from __future__ import annotations

import os
from collections.abc import Generator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final, NamedTuple

from memoranda.cli.shared.output import note
from memoranda.tenant import DEFAULT_WORKSPACE, STORE_PREFIX

if TYPE_CHECKING:
    from memoranda.memory import Memory
    from memoranda.policies.policy import Policy
    from memoranda.shared_backends import SharedBackend

DEFAULT_STORE: Final = "./memory"

_ACTOR: Final = "cli"


class Place(NamedTuple):
    """One memory, and the rules under which the command line uses it.

    ``user`` is a user's name or, beginning with ``memstore_``, the id of a store. ``quiet`` leaves
    out the note for people.
    """

    url: str
    user: str
    workspace: str
    policy: Policy
    actor: str
    quiet: bool

    @property
    def is_store(self) -> bool:
        """Whether ``user`` is the id of a store."""
        return self.user.startswith(STORE_PREFIX)

    @contextmanager
    def open(self, *, expected: bool = True) -> Generator[Memory]:
        """The memory, closed at the end. Where it is ``expected`` to be there and isn't, says so:
        a slip in a name looks like an empty memory."""
        from memoranda.memory import Memory

        if expected and not self.quiet and not self.is_store:
            self._say_if_missing()
        with Memory.open(
            self.url,
            None if self.is_store else self.user,
            store_id=self.user if self.is_store else None,
            workspace=self.workspace,
            policy=self.policy,
            actor=self.actor,
        ) as memory:
            yield memory
            for notice in memory.notices():
                note(f"Note: {notice.message} {notice.remedy}")

    @contextmanager
    def backend(self) -> Generator[SharedBackend]:
        """What keeps this memory and others, given back at the end."""
        from memoranda.shared_backends import acquire, release
        from memoranda.stores.open import open_backend

        shared = acquire(self.url, open_backend)
        try:
            yield shared
        finally:
            shared.drive(release(shared))
            shared.end()

    def _say_if_missing(self) -> None:
        with self.backend() as shared:
            found = shared.drive(shared.backend.find_user(self.user, self.workspace))
        if found is None:
            note(f"Note: the user {self.user} has no memory in this store yet.")


def find_place(store: str | None, user: str | None, *, quiet: bool) -> Place:
    """The memory that is meant by these options, what is set, and what is usual, in this order."""
    from memoranda.config import load_settings
    from memoranda.opening import DEFAULT_USER

    settings = load_settings()
    url = store or settings.store or DEFAULT_STORE
    name = user or settings.user or DEFAULT_USER
    is_store = name.startswith(STORE_PREFIX)
    return Place(
        url,
        name,
        settings.workspace or DEFAULT_WORKSPACE,
        settings.policy_for(url, None if is_store else name, name if is_store else None),
        settings.actor or _login_actor(),
        quiet,
    )


def acting() -> str:
    """Who does what the command line does: what is set, else the account that runs it."""
    from memoranda.config import load_settings

    return load_settings().actor or _login_actor()


def _login_actor() -> str:
    """Who the history says did it: the account that runs the command, as the API names users."""
    import pwd
    import re

    try:
        name = pwd.getpwuid(os.getuid()).pw_name
    except KeyError:
        return _ACTOR
    return f"user_{re.sub('[^A-Za-z0-9._@:+|-]', '-', name)[:100]}"
