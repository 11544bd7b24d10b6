"""Settings from the file ``memoranda.toml`` and the environment (``docs/reference/settings.md``).

What is not understood is an error that names the place and says how to mend it: a setting with a
slip in its name must not leave a limit off.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any, Final, cast

from memoranda.errors import Misuse
from memoranda.policies.fields import FIELDS, PolicyField, policy_of
from memoranda.policies.limits import API_STORE_FILES
from memoranda.policies.policy import Policy
from memoranda.policies.rules import Rule, Setting, Where, strictest

FILE_NAME: Final = "memoranda.toml"
PREFIX: Final = "MEMORANDA_"
STORE_VARIABLE: Final = "MEMORANDA_STORE"
USER_VARIABLE: Final = "MEMORANDA_USER"

NO_LIMIT: Final = "none"
"""What lifts a limit in the file and the environment; TOML has no null."""

RULES: Final = "rules"
SERVER: Final = "server"
_TEXTS: Final = ("store", "user", "workspace", "actor")
_WHERE: Final = ("backend", "store", "user")
_SETTABLE: Final = tuple(each for each in FIELDS if each.is_data)
_ROWS: Final = tuple(each for each in _SETTABLE if each.rows is not None)
_TABLES: Final = (
    *dict.fromkeys(each.table for each in _SETTABLE),
    *(each.name for each in _ROWS),
)
_NOT_IN_FILES: Final = frozenset({"policy"})
"""Fields of rows that follow from the rest of the file."""

_BUILT_IN: Final = "built in"


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """What is set; None where nothing is, and the caller has a default of its own.

    ``policy`` is what holds where no rule for a backend, a store or a user says more;
    ``policy_for`` is what holds for one memory.
    """

    store: str | None = None
    user: str | None = None
    workspace: str | None = None
    actor: str | None = None
    policy: Policy = field(default_factory=Policy)
    values: Mapping[str, Setting] = field(default_factory=dict[str, Setting], compare=False)
    rules: tuple[Rule, ...] = ()
    server: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """The table of that name as it stands; the server reads it."""

    def policy_for(self, backend: str, user: str | None = None, store: str | None = None) -> Policy:
        """What holds for the memory of ``user``, or the store with the id ``store``, at the URL
        ``backend``: where several rules say something, the stricter one."""
        policy = self._policy(backend, user, store)
        if not policy.mounts:
            return policy
        # What holds for a mounted store holds through the mount, too; what it mounts itself is not
        # seen through it.
        mounts = (
            replace(
                mount,
                policy=replace(
                    self._policy(mount.url or backend, mount.user, mount.store_id), mounts=()
                ),
            )
            for mount in policy.mounts
        )
        return replace(policy, mounts=tuple(mounts))

    def _policy(self, backend: str, user: str | None, store: str | None) -> Policy:
        settings = self.explain(backend, user, store)
        return policy_of(
            {key: each.value for key, each in settings.items() if each.origin != _BUILT_IN}
        )

    def explain(
        self, backend: str, user: str | None = None, store: str | None = None
    ) -> dict[str, Setting]:
        """Every value that holds for one memory, and where it was set, by ``table.name``."""
        where = Where(backend, user, store)
        fitting = [rule.values for rule in self.rules if rule.fits(where)]
        held = strictest([self.values, *fitting])
        if store is not None:
            held.setdefault("limits.files", Setting(API_STORE_FILES, "built in, for such stores"))
        return {
            each.key: held.get(each.key, Setting(each.default, _BUILT_IN)) for each in _SETTABLE
        }


def load_settings(
    folder: str | os.PathLike[str] = ".", environ: Mapping[str, str] = os.environ
) -> Settings:
    """The settings of ``memoranda.toml`` in ``folder``, if there is one, and of the environment.

    The environment (``MEMORANDA_STORE``, ``MEMORANDA_USER``, and ``MEMORANDA_LIMITS_FILES`` for
    ``files`` of ``[limits]``) goes before the file; empty variables count as not set. Raises
    ``Misuse`` for a file that can't be read, for names that are none and for values that can't be;
    it names the place and says what to write instead.
    """
    table = _read(Path(folder, FILE_NAME))
    _check_names(table, (*_TEXTS, *_TABLES, RULES, SERVER), FILE_NAME)
    texts = {name: _text(table, name, FILE_NAME) for name in _TEXTS}
    texts["store"] = environ.get(STORE_VARIABLE) or texts["store"]
    texts["user"] = environ.get(USER_VARIABLE) or texts["user"]
    of_file = _values(table, FILE_NAME)
    _check_values(of_file, FILE_NAME)
    values = {**of_file, **_of_environment(environ)}
    policy = policy_of({key: each.value for key, each in values.items()})
    return Settings(
        **texts,
        policy=policy,
        values=values,
        rules=_rules(table),
        server=_table(table, SERVER, FILE_NAME),
    )


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


def _values(table: dict[str, Any], place: str) -> dict[str, Setting]:
    """What the policy's tables in ``table`` set."""
    found: dict[str, Setting] = {}
    for name in dict.fromkeys(each.table for each in _SETTABLE):
        known = tuple(each.name for each in _SETTABLE if each.table == name and not each.rows)
        given = _table(table, name, place)
        where = f"{place}, [{name}]"
        _check_names(given, known, where)
        found |= {f"{name}.{key}": Setting(_lifted(each), where) for key, each in given.items()}
    for each in _ROWS:
        if each.name in table:
            where = f"{place}, [[{each.name}]]"
            found[each.key] = Setting(_rows(each, table[each.name], where), where)
    return found


def _rows(of: PolicyField, given: object, place: str) -> tuple[Any, ...]:
    """An array of tables, each a value of the dataclass."""
    assert of.rows is not None  # who asks chose such a field
    if not isinstance(given, list):
        raise Misuse(f"{place}: it has to be an array of tables, each with [[{of.name}]] above.")
    known = tuple(each.name for each in fields(of.rows) if each.name not in _NOT_IN_FILES)
    made: list[Any] = []
    for row in cast("list[object]", given):
        if not isinstance(row, dict):
            raise Misuse(f"{place}: it has to be an array of tables.")
        table = cast("dict[str, Any]", row)
        _check_names(table, known, place)
        try:
            made.append(of.rows(**{name: _lifted(value) for name, value in table.items()}))
        except (Misuse, TypeError) as error:
            said = str(error) if isinstance(error, Misuse) else f"needs {', '.join(known)}."
            raise Misuse(f"{place}: {said}") from error
    return tuple(made)


def _check_values(values: Mapping[str, Setting], place: str) -> None:
    try:
        policy_of({key: each.value for key, each in values.items()})
    except Misuse as error:
        advice = str(error).replace("None to lift", f'"{NO_LIMIT}" to lift')
        raise Misuse(f"{place}: {advice}") from error


def _rules(table: dict[str, Any]) -> tuple[Rule, ...]:
    given: Any = table.get(RULES, [])
    if not isinstance(given, list):
        raise Misuse(f"{FILE_NAME}: {RULES} has to be an array of tables: [[{RULES}]].")
    return tuple(_rule(row, number) for number, row in enumerate(cast("list[object]", given), 1))


def _rule(row: object, number: int) -> Rule:
    place = f"{FILE_NAME}, [[{RULES}]] number {number}"
    if not isinstance(row, dict):
        raise Misuse(f"{place}: it has to be a table.")
    table = cast("dict[str, Any]", row)
    _check_names(table, (*_WHERE, *_TABLES), place)
    patterns = {name: _text(table, name, place) for name in _WHERE}
    if not any(patterns.values()):
        raise Misuse(f"{place}: it says for nobody; give it a pattern: {', '.join(_WHERE)}.")
    values = _values(table, place)
    _check_values(values, place)
    return Rule(values, **patterns)


def _of_environment(environ: Mapping[str, str]) -> dict[str, Setting]:
    names = {
        f"{PREFIX}{each.table}_{each.name}".upper(): each.key
        for each in _SETTABLE
        if each.rows is None
    }
    tables = tuple(f"{PREFIX}{table}_".upper() for table in _TABLES)
    found: dict[str, Setting] = {}
    for name, text in environ.items():
        if name in names and text:
            value = Setting(_of_text(text), name)
            _check_values({names[name]: value}, name)
            found[names[name]] = value
        elif name.startswith(tables) and text:
            raise Misuse(f"The variable {name} is no setting. {_advice(name, tuple(names))}")
    return found


def _of_text(text: str) -> object:
    """A value as it would stand in the file."""
    if text in {"true", "false"}:
        return text == "true"
    if text.removeprefix("-").isascii() and text.removeprefix("-").isdigit():
        return int(text) if len(text) < 20 else text
    return _lifted(text)


def _lifted(value: object) -> object:
    return None if value == NO_LIMIT else value


def _table(table: dict[str, Any], name: str, place: str) -> dict[str, Any]:
    value: object = table.get(name, {})
    if not isinstance(value, dict):
        raise Misuse(f"{place}: {name} is {value!r}; it has to be a table: [{name}].")
    return cast("dict[str, Any]", value)


def _text(table: dict[str, Any], name: str, place: str) -> str | None:
    value: object = table.get(name)
    if value is not None and (not isinstance(value, str) or not value):
        raise Misuse(f'{place}: {name} is {value!r}; it has to be a text: {name} = "...".')
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
