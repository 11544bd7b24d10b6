"""From what an application says to a memory that is ready: URL, user, policy, actor."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from memoranda import arguments
from memoranda.core import Core
from memoranda.drive import suspending_pause
from memoranda.errors import Misuse
from memoranda.lazy_pattern import lazy_pattern
from memoranda.light_named_tuples import NamedTuple
from memoranda.policies.limits import API_STORE_FILES, Limits
from memoranda.policies.policy import Policy
from memoranda.retry import blocking_pause
from memoranda.shared_backends import SharedBackend, acquire
from memoranda.store_source import GivenStore, StoreOfUser, StoreSource, StoreWithId
from memoranda.stores.base import Store
from memoranda.stores.companions import RESERVED
from memoranda.stores.open import open_backend, open_suspending, suspends_for
from memoranda.tenant import DEFAULT_WORKSPACE, Tenant, check_tenant, directory_of_store

if TYPE_CHECKING:
    from memoranda.mounting import MountSource

DEFAULT_USER: Final = "default"
DEFAULT_ACTOR: Final = "agent"

_ACTOR: Final = lazy_pattern(r"[A-Za-z0-9][A-Za-z0-9._@:+|-]{0,127}")


class Opening(NamedTuple):
    """A memory's core, and the backend that it shares with others."""

    core: Core
    shared: SharedBackend


def open_core(
    url: str,
    user: str | None = None,
    workspace: str = DEFAULT_WORKSPACE,
    store_id: str | None = None,
    policy: Policy | None = None,
    actor: str = DEFAULT_ACTOR,
    *,
    awaited: bool = False,
) -> Opening:
    """The core for the store of ``user`` at ``url``, or for the API's store ``store_id``.

    All that is said is checked before any storage is touched; the store itself is opened at its
    first use. ``awaited``: the caller has an event loop, so a backend that can suspends.
    """
    _check_actor(actor)
    if store_id is None:
        policy = _checked(policy, Policy())
        tenant = _tenant(DEFAULT_USER if user is None else user, workspace)
        shared = shared_backend(url, awaited=awaited)
        source: StoreSource = StoreOfUser(shared, tenant)
    elif user is None:
        policy = _checked(policy, Policy(limits=Limits(files=API_STORE_FILES)))
        workspace = _tenant(DEFAULT_USER, workspace).workspace
        directory_of_store(arguments.text("store_id", store_id))
        shared = shared_backend(url, awaited=awaited)
        source = StoreWithId(shared, store_id, workspace)
    else:
        raise Misuse("A store is named by user or by store_id, not by both.")
    suspends = shared.backend.suspends
    mounts = mounts_of(policy, url, awaited=awaited and suspends) if policy.mounts else ()
    return Opening(_core(source, policy, actor, mounts, suspends=suspends), shared)


def mounts_of(policy: Policy, url: str | None, *, awaited: bool) -> tuple[MountSource, ...]:
    """Where the mounted stores come from, each to be released once. A store without a URL lies where the memory's own does."""
    from memoranda.mounting import MountSource

    found: list[MountSource] = []
    for mount in policy.mounts:
        where = mount.url or url
        if where is None:
            raise Misuse(f"The mount {mount.point} needs a url: the memory's own has none.")
        tenant = _tenant(mount.user or DEFAULT_USER, mount.workspace)
        if mount.store_id is None:
            source: StoreSource = StoreOfUser(shared_backend(where, awaited=awaited), tenant)
        else:
            directory_of_store(mount.store_id)
            shared = shared_backend(where, awaited=awaited)
            source = StoreWithId(shared, mount.store_id, tenant.workspace)
        found.append(MountSource(mount, source))
    return tuple(found)


def _tenant(user: str, workspace: str) -> Tenant:
    tenant = check_tenant(user, workspace)
    if tenant.workspace in RESERVED:
        raise Misuse(f"The workspace {tenant.workspace} is Memoranda's own.")
    return tenant


def shared_backend(url: str, *, awaited: bool) -> SharedBackend:
    """The backend of ``url`` in this process, to be released once; see ``open_core``."""
    if awaited and type(url) is str and suspends_for(url):
        return acquire(url, open_suspending, "suspending")
    return acquire(url, open_backend)


def core_of_store(store: Store, policy: Policy | None = None, actor: str = DEFAULT_ACTOR) -> Core:
    """The core for a store that the program made and keeps."""
    _check_store(store)
    _check_actor(actor)
    policy = _checked(policy, Policy())
    mounts = mounts_of(policy, None, awaited=store.suspends) if policy.mounts else ()
    return _core(GivenStore(store), policy, actor, mounts, suspends=store.suspends)


def _core(
    source: StoreSource,
    policy: Policy,
    actor: str,
    mounts: Sequence[MountSource],
    *,
    suspends: bool,
) -> Core:
    return Core(source, policy, actor, suspending_pause if suspends else blocking_pause, mounts)


def _checked(policy: Policy | None, default: Policy) -> Policy:
    if policy is None:
        return default
    if type(policy) is not Policy:
        raise Misuse("policy has to be a Policy object.")
    return policy


def _check_store(store: object) -> None:
    if not isinstance(store, Store):
        raise Misuse("store has to be a Store; a backend has one for each user.")


def _check_actor(actor: str) -> None:
    if type(actor) is not str or not _ACTOR.fullmatch(actor):
        raise Misuse(
            "The name of an actor is 1 to 128 of A-Z a-z 0-9 . _ @ : + | -, "
            "the first a letter or a digit."
        )
