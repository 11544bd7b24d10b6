"""Mounts: the settings of ``policies/mounts.py``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Literal, TypeAlias, get_args

from memoranda.errors import MemorandaError, Misuse
from memoranda.light_dataclasses import dataclass
from memoranda.path import MemoryPath, parse_path
from memoranda.tenant import DEFAULT_WORKSPACE

if TYPE_CHECKING:
    from memoranda.policies.policy import Policy

MountAccess: TypeAlias = Literal["read_only", "read_write"]

MOST_MOUNTS: Final = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class Mount:
    """Another store, shown under ``path`` of this memory: that of ``user``, or ``store_id``, in
    ``workspace`` at ``url`` (the memory's own backend for None).

    ``access`` is ``"read_only"`` or ``"read_write"``. ``policy`` is the mounted store's own, by
    which each access to it is judged; without one the default. In ``memoranda.toml`` it is what
    holds there for that store.

    Raises ``Misuse`` for values that can't be.
    """

    path: str
    url: str | None = None
    user: str | None = None
    store_id: str | None = None
    workspace: str = DEFAULT_WORKSPACE
    access: MountAccess = "read_only"
    policy: Policy | None = None

    def __post_init__(self) -> None:
        try:
            point = parse_path(self.path)
        except MemorandaError as error:
            raise Misuse(
                f"Mount: path is {self.path!r}; it has to be a path of a memory."
            ) from error
        if point.is_root:
            raise Misuse("Mount: path has to lie beneath /memories.")
        for name in ("url", "user", "store_id", "workspace"):
            value: object = getattr(self, name)
            if not (value is None and name != "workspace") and type(value) is not str:
                raise Misuse(f"Mount: {name} has to be a text.")
        if (self.user is None) == (self.store_id is None):
            raise Misuse("Mount: a store is named by user or by store_id.")
        if self.access not in get_args(MountAccess):
            raise Misuse(
                f'Mount: access is {self.access!r}; it has to be "read_only" or "read_write".'
            )

    @property
    def point(self) -> MemoryPath:
        """``path``, checked."""
        point = parse_path(self.path)
        return MemoryPath.of(point.segments)


def check_mounts(mounts: tuple[Mount, ...]) -> None:
    """Raise ``Misuse`` for too many of them, for one within another, and for a store with mounts of
    its own: what is shown would depend on who looks, and could go in circles."""
    if len(mounts) > MOST_MOUNTS:
        raise Misuse(f"Policy: there are {len(mounts)} mounts; up to {MOST_MOUNTS} are possible.")
    points = [mount.point for mount in mounts]
    for number, point in enumerate(points):
        for other in points[:number]:
            if point == other or point.is_below(other) or other.is_below(point):
                raise Misuse(f"Policy: the mounts {other} and {point} lie within one another.")
    for mount in mounts:
        if mount.policy is not None and mount.policy.mounts:
            raise Misuse(f"Policy: the store at the mount {mount.point} has mounts of its own.")
