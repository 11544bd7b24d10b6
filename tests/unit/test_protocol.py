"""What models are told about the tool: words and schemas for any set of its commands."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import pytest

from memoranda import protocol
from memoranda.command import RefusedInput, parse
from memoranda.errors import Misuse, UnknownCommand
from memoranda.protocol import COMMANDS, CommandName
from memoranda.testing.conformance.malformed import COMPLETE

SETS = [chosen for count in range(1, 7) for chosen in combinations(COMMANDS, count)]


def test_the_commands_are_those_that_a_memory_executes() -> None:
    for name in COMMANDS:
        assert parse({"command": name, **COMPLETE[name]}).name == name
    assert set(COMMANDS) == set(COMPLETE)


@pytest.mark.parametrize("commands", SETS, ids="-".join)
def test_a_schema_names_what_its_commands_take_and_nothing_else(
    commands: tuple[CommandName, ...],
) -> None:
    optional: dict[str, set[str]] = {"view": {"view_range"}, "str_replace": {"new_str"}}
    taken, needed = {"command"}, {"command", *COMPLETE[commands[0]]}
    for name in commands:
        taken |= COMPLETE[name].keys() | optional.get(name, set())
        needed &= {"command", *COMPLETE[name]} - optional.get(name, set())
    plain, strict = protocol.input_schema(commands), protocol.strict_schema(commands)
    assert set(plain["properties"]) == set(strict["properties"]) == taken
    assert set(plain["required"]) == needed
    assert set(strict["required"]) == taken
    for schema in (plain, strict):
        assert schema["additionalProperties"] is False
        assert schema["properties"]["command"]["enum"] == list(commands)
    nullable = {
        name for name, field in strict["properties"].items() if isinstance(field["type"], list)
    }
    assert nullable == taken - needed


def test_a_schema_is_the_callers_to_change() -> None:
    schema = protocol.strict_schema()
    schema["properties"]["path"]["type"] = "spoiled"
    assert protocol.input_schema()["properties"]["path"]["type"] == "string"


@pytest.mark.parametrize("commands", SETS, ids="-".join)
def test_the_words_name_the_commands_that_are_offered_and_no_others(
    commands: tuple[CommandName, ...],
) -> None:
    told = protocol.description(commands)
    assert [name for name in COMMANDS if f"- {name}: " in told] == list(commands)
    prompt = protocol.prompt(commands)
    assert "/memories" in prompt
    assert ("view /memories" in prompt) == ("view" in commands)
    assert ("note what a later conversation needs" in prompt) == ("create" in commands)
    assert ("passwords" in prompt) == ("create" in commands)


def test_a_set_of_commands_comes_in_the_usual_order_each_once() -> None:
    assert protocol.checked(["delete", "view", "view"]) == ("view", "delete")
    assert protocol.checked("view") == ("view",)


@pytest.mark.parametrize("commands", [[], ["sing"], "vie", ["view", "VIEW"]])
def test_a_set_without_commands_or_with_unknown_ones_is_misuse(commands: Any) -> None:
    with pytest.raises(Misuse, match="one or more of: view, create"):
        protocol.checked(commands)


def test_a_refusal_stays_a_refusal() -> None:
    refused = RefusedInput("", UnknownCommand("sing"))
    assert parse(refused) is refused
