"""What holds for every command: settings, errors, exit codes, terminals, pipes, speed."""

from __future__ import annotations

import importlib.metadata
import json
import os
import pwd
import re
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from memoranda.cli.main import COMMANDS, GROUPS
from memoranda.errors import MemorandaError
from memoranda.memory import Memory
from tests.cli.command_line import (
    PROGRAM,
    as_program,
    at_terminal,
    create,
    done,
    environment,
    json_of,
    refused,
    run,
)
from tests.house.test_import_cost import HEAVY, loaded_by

FILE = "/memories/a.md"


# ---------------------------------------------------------------- which memory


def test_store_and_user_may_stand_before_or_after_the_command() -> None:
    done("--store", "one", "--user", "ada", "create", FILE, "x")
    assert Path("one/stores/ada/memories/a.md").exists()
    done("--store", "one", "create", FILE, "x", "--user", "bob")
    assert Path("one/stores/bob/memories/a.md").exists()
    done("--store", "one", "create", FILE, "x", "--store", "two")
    assert Path("two/stores/default/memories/a.md").exists()


def test_what_is_typed_goes_before_the_environment_and_that_before_the_file(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    Path("memoranda.toml").write_text('store = "in-file"\nuser = "filed"\n')
    done("create", FILE, "x")
    assert Path("in-file/stores/filed/memories/a.md").exists()
    monkeypatch.setenv("MEMORANDA_STORE", "in-environment")
    monkeypatch.setenv("MEMORANDA_USER", "envy")
    done("create", FILE, "x")
    assert Path("in-environment/stores/envy/memories/a.md").exists()
    done("create", FILE, "x", "--store", "typed", "--user", "ada")
    assert Path("typed/stores/ada/memories/a.md").exists()


def test_a_workspace_of_the_file_is_used() -> None:
    Path("memoranda.toml").write_text('workspace = "eu"\n')
    create(FILE)
    assert json_of("users")["stores"][0]["user"] == "default"
    Path("memoranda.toml").unlink()
    assert json_of("users") == {"stores": []}


def test_other_kinds_of_storage_are_named_by_url() -> None:
    create(FILE, "x", "--store", "sqlite:///notes.db")
    assert "1 memory" in done("verify", "--store", "sqlite:///notes.db")


def test_a_setting_that_is_none_ends_with_9() -> None:
    Path("memoranda.toml").write_text('stor = "x"\n')
    code, message = refused("view")
    assert code == 9
    assert "Did you mean store?" in message


def test_an_account_without_a_name_is_called_cli(monkeypatch: pytest.MonkeyPatch) -> None:
    def nobody(_: int) -> Any:
        raise KeyError

    monkeypatch.setattr(pwd, "getpwuid", nobody)
    create(FILE)
    assert json_of("history")["versions"][0]["actor"] == "cli"


def test_an_account_with_an_odd_name_is_spelled_as_actors_are(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    name = pwd.struct_passwd(("CORP\\añ da", "x", 1, 1, "", "/", "/bin/sh"))

    def somebody(_: int) -> pwd.struct_passwd:
        return name

    monkeypatch.setattr(pwd, "getpwuid", somebody)
    create(FILE)
    assert json_of("history")["versions"][0]["actor"] == "user_CORP-a--da"


# ---------------------------------------------------------------- errors


def test_errors_are_json_where_the_answer_would_have_been() -> None:
    code, message = refused("view", FILE, "--json")
    assert code == 3
    assert json.loads(message) == {
        "error": {
            "code": "not_found",
            "message": "/memories/a.md does not exist.",
            "advice": "memoranda view lists what there is.",
        }
    }


def failing(monkeypatch: pytest.MonkeyPatch, error: Exception) -> None:
    def fail(_: Memory) -> None:
        raise error

    monkeypatch.setattr(Memory, "usage", fail)


def test_every_class_of_error_ends_with_its_own_exit_code(monkeypatch: pytest.MonkeyPatch) -> None:
    kinds: list[type[MemorandaError]] = [MemorandaError, *MemorandaError.__subclasses__()]
    for kind in kinds:
        failing(monkeypatch, kind("Something is wrong."))
        code, message = refused("usage", "--json")
        assert code == kind.exit_code
        assert json.loads(message)["error"]["code"] == kind.code


def test_what_nobody_foresaw_is_one_sentence_without_its_inside(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    create(FILE)
    failing(monkeypatch, ZeroDivisionError("secret detail"))
    assert refused("usage") == (
        1,
        (
            "Error: Something unexpected happened; this is a bug of Memoranda, or of the machine.\n"
            "memoranda --debug COMMAND shows where. Please report it.\n"
        ),
    )


def test_a_traceback_is_shown_to_who_asks_for_it(monkeypatch: pytest.MonkeyPatch) -> None:
    create(FILE)
    failing(monkeypatch, ZeroDivisionError("a detail"))
    result = run("--debug", "usage")
    assert result.exit_code == 1
    assert "Traceback (most recent call last):" in result.stderr
    assert "ZeroDivisionError: a detail" in result.stderr


def test_a_failure_inside_a_command_of_claude_is_told_without_a_log_line() -> None:
    Path("kept.db").write_bytes(b"this is no database" * 1000)
    result = as_program("--store", "sqlite:///kept.db", "replace", FILE, "t", "u")
    assert result.returncode in {7, 8}
    assert result.stdout == b""
    assert b"Traceback" not in result.stderr
    assert b"A memory command failed" not in result.stderr
    assert result.stderr.startswith(b"Error: ")
    assert str(Path.cwd()).encode() not in result.stderr


def test_a_url_that_cannot_be_is_refused_without_repeating_it() -> None:
    code, message = refused("view", "--store", "nonesuch://ada:password@host/x")
    assert code == 9
    assert "password" not in message


def test_names_on_the_command_line_cannot_command_a_terminal() -> None:
    for arguments in (
        ["view", FILE, "\x1b[2J.md"],
        ["view", "--\x1b[2J"],
        ["--\x1b[2J"],
        ["\x1b[2J"],
        ["view", "\x1b[2J"],
        ["view", "/memories/\x1b[2J"],
        ["users", "--store", "\x1b[2J\x07"],
        ["create", FILE, "--file", "\x1b[2J"],
        ["view", "--user", "\x1b[2J"],
        ["conformance", "\x1b[2J:x"],
    ):
        result = run(*arguments)
        assert "\x1b" not in result.output
        assert "\x07" not in result.output


def test_who_forgets_the_two_dashes_is_reminded() -> None:
    code, message = refused("create", FILE, "- an item")
    assert code == 2
    assert "(A text that begins with a dash comes after --.)" in message


# ---------------------------------------------------------------- terminals, pipes, interruptions


def test_a_reader_that_goes_away_is_no_error() -> None:
    create(FILE, "x" * 200_000)
    program = subprocess.Popen(
        [*PROGRAM, "view", FILE, "--raw"],
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert program.stdout is not None
    assert program.stderr is not None
    assert program.stdout.read(1) == b"x"
    program.stdout.close()
    assert program.stderr.read() == b""
    program.stderr.close()
    assert program.wait() == 1


def interrupt(program: subprocess.Popen[bytes]) -> None:
    """Ctrl-C, again where the first one hit right before a system call: Python waits it out."""
    while True:
        program.send_signal(signal.SIGINT)
        try:
            program.wait(5)
            return
        except subprocess.TimeoutExpired:
            continue


def test_an_interrupt_ends_quietly_with_130() -> None:
    program = subprocess.Popen(
        [*PROGRAM, "--debug", "create", FILE, "-"],
        env=environment(),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    with program:
        assert program.stdin is not None
        assert program.stderr is not None
        # More than a pipe holds: once it is written, the program is reading.
        program.stdin.write(b"x" * 1_000_000)
        program.stdin.flush()
        interrupt(program)
        assert program.stderr.read() == b""
    assert program.returncode == 130
    assert not Path("memory").exists()


def test_an_interrupt_at_a_question_ends_with_130() -> None:
    create("/memories/d/a.md")
    assert at_terminal("delete", "/memories/d", interrupt_at=b"[y/N]").exit_code == 130
    assert "a.md" in done("view")


def test_an_encoding_without_umlauts_changes_no_byte() -> None:
    create(FILE, "héllo\n")
    result = as_program("view", FILE, "--raw", more={"PYTHONIOENCODING": "ascii", "LC_ALL": "C"})
    assert (result.stdout, result.stderr) == ("héllo\n".encode(), b"")
    refusal = as_program("view", "/memories/é", more={"PYTHONIOENCODING": "ascii", "LC_ALL": "C"})
    assert refusal.returncode == 3
    assert b"Traceback" not in refusal.stderr


def test_what_goes_into_a_pipe_has_no_colours_and_is_not_wrapped() -> None:
    create("/memories/" + "long" * 50, "word " * 100)
    for arguments in (["history"], ["search", "word"], ["users"], ["usage"], ["verify"]):
        result = as_program(*arguments, more={"COLUMNS": "40", "FORCE_COLOR": "1"})
        assert result.stderr == b""
        assert b"\x1b" not in result.stdout
    assert len(as_program("history").stdout.splitlines()) == 1


# ---------------------------------------------------------------- help


def test_the_command_line_says_what_it_can_do() -> None:
    for arguments in (["--help"], ["-h"], []):
        result = run(*arguments)
        assert "Memoranda keeps an AI agent's memory" in result.output
        listed = re.findall(r"^  ([a-z-]+)  +[A-Z]", result.output.split("Commands:")[1], re.M)
        assert listed == [*COMMANDS, *GROUPS]
        assert "..." not in result.output.split("Commands:")[1]


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_help_with_an_example(command: str) -> None:
    text = done(command, "--help")
    example = re.search(r"^  Example: memoranda ([\w-]+)", text, re.M)
    assert example is not None
    assert example[1] == command
    without_json = {"demo", "chat", "mcp", "serve"}
    assert ("--json" in text) == (command not in without_json)


def test_help_loads_nothing_that_only_commands_need() -> None:
    show_help = (
        "import contextlib, io\n"
        "from memoranda.cli.main import app\n"
        "with contextlib.redirect_stdout(io.StringIO()) as shown: "
        "app(['--help'], standalone_mode=False)\n"
        "assert 'Commands:' in shown.getvalue()"
    )
    # Coverage and the like load things at start-up of their own accord.
    loaded = loaded_by(show_help) - loaded_by("pass")
    assert loaded & (HEAVY - {"typer"}) == set()
    for name in ("memory", "core", "stores", "adapters", "operations", "testing.tool_suite"):
        assert f"memoranda.{name}" not in loaded
    assert "apsw" not in loaded


def test_the_version_is_printed(monkeypatch: pytest.MonkeyPatch) -> None:

    def version(_: str) -> str:
        return "1.2.3"

    monkeypatch.setattr("importlib.metadata.version", version)
    assert done("--version") == "memoranda 1.2.3\n"


def test_a_source_that_is_not_installed_has_no_version(monkeypatch: pytest.MonkeyPatch) -> None:
    def version(name: str) -> str:
        raise importlib.metadata.PackageNotFoundError(name)

    monkeypatch.setattr("importlib.metadata.version", version)
    assert done("--version") == "memoranda, run from its source\n"


def test_the_program_is_found_by_its_module() -> None:
    found = subprocess.run(
        [sys.executable, "-m", "memoranda", "--help"],
        env=environment(),
        capture_output=True,
        check=True,
    )
    assert b"Commands:" in found.stdout
    assert os.listdir() == []
