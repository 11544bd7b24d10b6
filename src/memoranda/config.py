"""Settings from the file ``memoranda.toml`` and the environment (``docs/reference/settings.md``).

What is not understood is an error that names the place and says how to mend it: a setting with a
slip in its name must not leave a limit off.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, Final, cast

from memoranda.errors import Misuse
from memoranda.policies.limits import Limits
from memoranda.policies.policy import Policy
from memoranda.stores.base import Retention

FILE_NAME: Final = "memoranda.toml"
STORE_VARIABLE: Final = "MEMORANDA_STORE"
USER_VARIABLE: Final = "MEMORANDA_USER"

NO_LIMIT: Final = "none"
"""What lifts a limit in the file; TOML has no null."""

_TEXTS: Final = ("store", "user", "workspace", "actor")
_POLICY: Final = ("on_exists", "read_only")
_LIMITS: Final = tuple(each.name for each in fields(Limits))
_RETENTION: Final = tuple(each.name for each in fields(Retention))


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """What is set; None where nothing is, and the caller has a default of its own."""

    store: str | None = None
    user: str | None = None
    workspace: str | None = None
    actor: str | None = None
    policy: Policy = field(default_factory=Policy)


def load_settings(
    folder: str | os.PathLike[str] = ".", environ: Mapping[str, str] = os.environ
) -> Settings:
    """The settings of ``memoranda.toml`` in ``folder``, if there is one, and of the environment.

    ``MEMORANDA_STORE`` and ``MEMORANDA_USER`` go before the file; empty ones count as not set.
    Raises ``Misuse`` for a file that can't be read, for names that are none and for values that
    can't be; it names the place and says what to write instead.
    """
    table = _read(Path(folder, FILE_NAME))
    _check_names(table, (*_TEXTS, "policy", "limits", "retention"), FILE_NAME)
    texts = {name: _text(table, name) for name in _TEXTS}
    texts["store"] = environ.get(STORE_VARIABLE) or texts["store"]
    texts["user"] = environ.get(USER_VARIABLE) or texts["user"]
    return Settings(**texts, policy=_policy(table))


def _read(path: Path) -> dict[str, Any]:
    import tomllib

    try:
        with path.open("rb") as file:
            return tomllib.load(file)
    except FileNotFoundError:
        return {}
    except OSError as error:
        raise Misuse(f"{FILE_NAME} can't be read: {error.strerror}.") from error
    except ValueError as error:  # no TOML, or no UTF-8
        raise Misuse(f"{FILE_NAME} is no TOML: {error}.") from error


def _policy(table: dict[str, Any]) -> Policy:
    limits = _table(table, "limits")
    _check_names(limits, _LIMITS, f"{FILE_NAME}, [limits]")
    rules = _table(table, "policy")
    _check_names(rules, _POLICY, f"{FILE_NAME}, [policy]")
    kept = _table(table, "retention")
    _check_names(kept, _RETENTION, f"{FILE_NAME}, [retention]")
    retention = Retention(**_lifted(kept)) if kept else None
    try:
        return Policy(limits=Limits(**_lifted(limits)), retention=retention, **rules)
    except Misuse as error:
        advice = str(error).replace("None to lift", f'"{NO_LIMIT}" to lift')
        raise Misuse(f"{FILE_NAME}: {advice}") from error


def _lifted(table: dict[str, Any]) -> dict[str, Any]:
    return {name: None if value == NO_LIMIT else value for name, value in table.items()}


def _table(table: dict[str, Any], name: str) -> dict[str, Any]:
    value: object = table.get(name, {})
    if not isinstance(value, dict):
        raise Misuse(f"{FILE_NAME}: {name} is {value!r}; it has to be a table: [{name}].")
    return cast("dict[str, Any]", value)


def _text(table: dict[str, Any], name: str) -> str | None:
    value: object = table.get(name)
    if value is not None and (not isinstance(value, str) or not value):
        raise Misuse(f'{FILE_NAME}: {name} is {value!r}; it has to be a text: {name} = "...".')
    return value


def _check_names(table: dict[str, Any], known: tuple[str, ...], place: str) -> None:
    for name in table:
        if name not in known:
            raise Misuse(f"{place}: {name!r} is no setting. {_advice(name, known)}")


def _advice(name: str, known: tuple[str, ...]) -> str:
    from difflib import get_close_matches

    for close in get_close_matches(name, known, n=1):
        return f"Did you mean {close}?"
    return f"There are: {', '.join(known)}."
