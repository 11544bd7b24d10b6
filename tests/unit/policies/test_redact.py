"""What becomes of secrets in what is written, and what is said about them."""

from __future__ import annotations

import logging
import traceback
from collections.abc import Iterable
from pathlib import Path
from random import Random

import pytest

from memoranda import Limits, Memory, Policy, Redaction, Refused
from memoranda.detect.finding import Finding
from memoranda.drive import run_now
from memoranda.errors import FileTooLarge, ReadOnly, SecretFound
from memoranda.path import parse_path
from memoranda.policies.redact import RedactSecrets
from memoranda.policies.redactor import (
    _REMEMBERED_NAMES,  # pyright: ignore[reportPrivateUsage]
    MOST_ROUNDS,
    Redactor,
)
from memoranda.policies.stack import around_store
from memoranda.stores.base import Context, Edit, Put, Removal
from memoranda.testing.redaction.invent import expand
from memoranda.text.splice import Splice
from tests.stand_ins import LostARace, fresh_store

TOKEN = expand("ghp_<crc:36>", Random(7))
MASK = "[REDACTED:credential]"
PATH = "/memories/a.md"
REFUSING = Policy(redaction=Redaction(credential="refuse"))
NOTE = "\nNote: 1 secret(s) were removed before saving: a GitHub token."


def memory_with(policy: Policy | None = None) -> Memory:
    return Memory.of_store(fresh_store(), policy=policy)


def ask(memory: Memory, command: str, **fields: object) -> tuple[str, bool]:
    content, is_error = memory.execute({"command": command, "path": PATH, **fields})
    assert isinstance(content, str)
    return content, is_error


def kept(memory: Memory, path: str = PATH) -> str:
    return memory.read(path).content.decode()


# ---------------------------------------------------------------- what Claude is told


def test_a_created_file_is_masked_and_claude_is_told() -> None:
    memory = memory_with()
    said = ask(memory, "create", file_text=f"CI uses {TOKEN} now\n")
    assert said == (f"File created successfully at: {PATH}{NOTE}", False)
    assert kept(memory) == f"CI uses {MASK} now\n"


def test_the_snippet_of_a_replacement_shows_what_is_stored() -> None:
    memory = memory_with()
    ask(memory, "create", file_text="one\ntwo\nthree\n")
    said, is_error = ask(memory, "str_replace", old_str="two", new_str=f"two {TOKEN}!")
    assert not is_error
    assert said == (
        "The memory file has been edited. "
        "Here is the snippet showing the change (with line numbers):\n"
        f"     1\tone\n     2\ttwo {MASK}!\n     3\tthree{NOTE}"
    )
    assert kept(memory) == f"one\ntwo {MASK}!\nthree\n"


def test_an_insertion_is_masked_and_claude_is_told() -> None:
    memory = memory_with()
    ask(memory, "create", file_text="one\n")
    said, is_error = ask(memory, "insert", insert_line=1, insert_text=f"{TOKEN}\n{TOKEN}\n")
    assert not is_error
    assert said == (
        f"The file {PATH} has been edited."
        "\nNote: 2 secret(s) were removed before saving: a GitHub token."
    )
    assert kept(memory) == f"one\n{MASK}\n{MASK}\n"


def test_a_secret_put_together_by_two_edits_is_found() -> None:
    memory = memory_with()
    ask(memory, "create", file_text=f"key {TOKEN[:15]}|\n")
    assert kept(memory) == f"key {TOKEN[:15]}|\n"
    said, is_error = ask(memory, "str_replace", old_str="|", new_str=TOKEN[15:])
    assert not is_error
    assert said.endswith(NOTE)
    assert TOKEN[15:] not in said
    assert kept(memory) == f"key {MASK}\n"


def test_a_key_whose_lines_come_one_by_one_is_found() -> None:
    memory = memory_with()
    random = Random(3)
    lines = ["-----BEGIN EC PRIVATE KEY-----"] + [expand("<base64:64>", random) for _ in range(3)]
    ask(memory, "create", file_text="the key:\n")
    for number, line in enumerate([*lines, "-----END EC PRIVATE KEY-----"], 1):
        ask(memory, "insert", insert_line=number, insert_text=line)
    assert not any(line in kept(memory) for line in lines[1:])


def test_a_refused_secret_is_not_stored_and_its_line_is_named() -> None:
    memory = memory_with(REFUSING)
    said, is_error = ask(memory, "create", file_text=f"a\nb\n{TOKEN}\n")
    assert is_error
    assert said == (
        "Error: Not saved: the text holds what looks like a GitHub token (line 3). "
        "Save it without the secret."
    )
    assert memory.usage().files == 0
    ask(memory, "create", file_text="a\nb\nc\n")
    said, _ = ask(memory, "str_replace", old_str="c", new_str=f"c\n{TOKEN}")
    assert "(line 4)" in said
    assert kept(memory) == "a\nb\nc\n"


def test_a_name_that_holds_a_secret_is_refused_and_not_repeated() -> None:
    memory = memory_with()
    memory.write(PATH, "x")
    target = f"/memories/{TOKEN}.md"
    wanted = (
        "Error: Not saved: the name holds what looks like a GitHub token. "
        "Choose a name without the secret."
    )
    created = memory.execute({"command": "create", "path": target, "file_text": "x"})
    renamed = memory.execute({"command": "rename", "old_path": PATH, "new_path": target})
    assert tuple(created) == tuple(renamed) == (wanted, True)
    with pytest.raises(SecretFound):
        memory.move(PATH, target)


def test_masking_twice_changes_nothing_and_tells_nothing() -> None:
    memory = memory_with()
    ask(memory, "create", file_text=f"password: {MASK}\n")
    said = ask(memory, "str_replace", old_str="password", new_str="Password")
    assert "Note:" not in said[0]
    assert kept(memory) == f"Password: {MASK}\n"


def test_an_edit_that_only_puts_a_masked_secret_back_makes_no_version() -> None:
    memory = memory_with()
    ask(memory, "create", file_text=f"key {MASK}\n")
    said = ask(memory, "str_replace", old_str=MASK, new_str=TOKEN)
    assert said[0].endswith(NOTE)
    assert len(memory.history()) == 1


# ---------------------------------------------------------------- programs


def test_what_programs_write_is_masked_too() -> None:
    memory = memory_with()
    version = memory.write(PATH, f"x {TOKEN}")
    assert kept(memory) == f"x {MASK}"
    assert memory.write(PATH, f"x {TOKEN}").id == version.id
    with pytest.raises(SecretFound) as caught:
        memory_with(REFUSING).write(PATH, f"x\n{TOKEN}")
    assert (caught.value.whats, caught.value.lines) == (("a GitHub token",), (2,))
    assert isinstance(caught.value, Refused)


def test_a_restored_version_from_before_the_policy_is_masked() -> None:
    store = fresh_store()
    careless = Memory.of_store(store, policy=Policy(redaction=Redaction.off()))
    old = careless.write(PATH, f"old {TOKEN}")
    careless.write(PATH, "new")
    careful = Memory.of_store(store)
    careful.restore(PATH, to=old.id)
    assert kept(careful) == f"old {MASK}"


def test_imported_files_are_masked(tmp_path_factory: pytest.TempPathFactory) -> None:
    folder = tmp_path_factory.mktemp("import")
    (folder / "a.md").write_text(f"x {TOKEN}\n")
    memory = memory_with()
    assert len(memory.import_(folder).written) == 1
    assert kept(memory) == f"x {MASK}\n"


def test_an_edit_leaves_alone_what_it_does_not_touch() -> None:
    store = fresh_store()
    Memory.of_store(store, policy=Policy(redaction=Redaction.off())).write(PATH, f"{TOKEN}\nb\n")
    memory = Memory.of_store(store)
    ask(memory, "str_replace", old_str="b", new_str="c")
    assert kept(memory) == f"{TOKEN}\nc\n"
    ask(memory, "insert", insert_line=0, insert_text="top")
    assert kept(memory) == f"top\n{MASK}\nc\n"


@pytest.mark.parametrize("beginning", [b"\x89PNG\r\n\x1a\n", b"\xff\xd8\xff\xe0"])
def test_a_picture_is_not_looked_into(beginning: bytes) -> None:
    content = beginning + TOKEN.encode()
    memory = memory_with()
    memory.write("/memories/a.png", content)
    assert memory.read("/memories/a.png").content == content


def test_bytes_that_are_no_text_are_masked_and_otherwise_kept() -> None:
    memory = memory_with()
    memory.write(PATH, b"\xff\x00 " + TOKEN.encode() + b" \xfe")
    assert memory.read(PATH).content == b"\xff\x00 " + MASK.encode() + b" \xfe"


# ---------------------------------------------------------------- modes and detectors


def test_each_kind_follows_its_own_mode() -> None:
    policy = Policy(redaction=Redaction(credential="off", email="mask", iban="refuse"))
    memory = memory_with(policy)
    memory.write(PATH, f"{TOKEN} ada@example.com")
    assert kept(memory) == f"{TOKEN} [REDACTED:email]"
    with pytest.raises(SecretFound):
        memory.write(PATH, "DE89 3704 0044 0532 0130 00")


def names(text: str) -> Iterable[Finding]:
    """Ada is a name; so is everything outside of the text."""
    at = text.find("Ada")
    return [] if at < 0 else [Finding(at, at + 3, "name"), Finding(-5, 0, "x"), Finding(9, 9, "x")]


def test_a_detector_of_ones_own_is_asked_and_its_kind_named() -> None:
    memory = memory_with(Policy(redaction=Redaction(detectors=(names,))))
    said = ask(memory, "create", file_text="ünser Ada und ein ü\n")
    assert said[0].endswith("1 secret(s) were removed before saving: name.")
    assert kept(memory) == "ünser [REDACTED:name] und ein ü\n"
    ask(memory, "str_replace", old_str="ü\n", new_str="Ada\n")
    assert kept(memory) == "ünser [REDACTED:name] und ein [REDACTED:name]\n"


def test_a_kind_that_is_no_word_is_called_other() -> None:
    def shouting(text: str) -> list[Finding]:
        return [Finding(0, 1, "A]\n[B")] if text.startswith("x") else []

    memory = memory_with(Policy(redaction=Redaction(detectors=(shouting,))))
    memory.write(PATH, "xy")
    assert kept(memory) == "[REDACTED:other]y"


def test_a_detector_that_never_has_enough_comes_to_an_end() -> None:
    def greedy(text: str) -> list[Finding]:
        return [] if text.startswith("/") else [Finding(len(text) - 1, len(text), "tail")]

    memory = memory_with(Policy(redaction=Redaction(detectors=(greedy,))))
    memory.write(PATH, "abc")
    assert kept(memory) == "ab[REDACTED:tail]"


def test_a_detector_that_tells_one_thing_at_a_time_is_asked_again_up_to_a_limit() -> None:
    def stingy(text: str) -> list[Finding]:
        at = text.find("~")
        return [] if at < 0 else [Finding(at, at + 1, "tilde")]

    memory = memory_with(Policy(redaction=Redaction(detectors=(stingy,))))
    mask = "[REDACTED:tilde]"
    memory.write(PATH, "a~b~c")
    assert kept(memory) == f"a{mask}b{mask}c"
    memory.write(PATH, "~" * (MOST_ROUNDS + 1))
    assert kept(memory) == mask * MOST_ROUNDS + "~"


def test_an_edit_that_leaves_a_picture_is_not_looked_into() -> None:
    memory = memory_with()
    memory.write(PATH, "top\n")
    picture = "GIF89a " + TOKEN
    ask(memory, "str_replace", old_str="top\n", new_str=picture)
    assert kept(memory) == picture


@pytest.mark.parametrize("beginning", ["GIF8", "RIFF"])
def test_a_line_that_begins_as_a_picture_does_hides_nothing(beginning: str) -> None:
    memory = memory_with()
    memory.write(PATH, "top\nx\nend\n")
    ask(memory, "str_replace", old_str="x", new_str=f"{beginning} {TOKEN}")
    assert kept(memory) == f"top\n{beginning} {MASK}\nend\n"
    ask(memory, "insert", insert_line=3, insert_text=f"{beginning} {TOKEN}\n")
    assert kept(memory) == f"top\n{beginning} {MASK}\nend\n{beginning} {MASK}\n"


def test_more_names_than_are_remembered_are_judged_all_the_same() -> None:
    redactor = Redactor(Redaction())
    for number in range(_REMEMBERED_NAMES + 1):
        redactor.check_name(parse_path(f"/memories/{number}.md"))
    with pytest.raises(SecretFound):
        redactor.check_name(parse_path(f"/memories/{TOKEN}.md"))


def test_of_findings_that_overlap_one_that_is_refused_wins() -> None:
    def broad(text: str) -> list[Finding]:
        return [Finding(0, len(text), "note")] if "@" in text else []

    policy = Policy(redaction=Redaction(email="refuse", detectors=(broad,)))
    with pytest.raises(SecretFound, match="an email address"):
        memory_with(policy).write(PATH, "by ada@example.com")


# ---------------------------------------------------------------- the layer


def test_a_notice_comes_once_the_batch_is_stored_and_not_before() -> None:
    store = RedactSecrets(fresh_store(), Redaction())
    seen: list[Removal] = []
    context = Context(notice=seen.append)
    path = parse_path(PATH)

    async def edits() -> None:
        await store.apply([Put(path, b"a"), Put(path, TOKEN.encode())], context)

    run_now(edits())
    assert seen == [Removal(path, ("a GitHub token",))]
    broken = Edit(parse_path("/memories/none"), lambda old: Splice(0, 0, TOKEN.encode()))
    with pytest.raises(Refused):
        run_now(store.apply([Put(path, TOKEN.encode() + b"!"), broken], context))
    assert len(seen) == 1


def test_only_the_last_run_of_an_edit_counts() -> None:
    store = RedactSecrets(LostARace(fresh_store()), Redaction())
    seen: list[Removal] = []
    path = parse_path(PATH)
    run_now(store.apply([Put(path, b"")], Context()))
    for first, second in ((TOKEN, "harmless"), ("harmless", TOKEN)):
        runs = iter([first.encode(), second.encode()])
        edit = Edit(path, lambda old, runs=runs: Splice(0, len(old), next(runs)))  # type: ignore[misc]
        run_now(store.apply([edit], Context(notice=seen.append)))
    assert [removal.whats for removal in seen] == [("a GitHub token",)]


def test_limits_are_those_of_what_is_stored() -> None:
    # Outside of the limits, the layer makes a text longer or shorter before it is measured.
    long = expand("-----BEGIN PRIVATE KEY-----\n<pem:40>\n-----END PRIVATE KEY-----\n", Random(1))
    policy = Policy(limits=Limits(file_bytes=100))
    memory = memory_with(policy)
    memory.write(PATH, long)
    assert len(memory.read(PATH).content) <= 100
    short = "password: " + "x1y2z3 "
    with pytest.raises(FileTooLarge):
        memory_with(Policy(limits=Limits(file_bytes=20))).write(PATH, short)


def test_what_is_read_only_is_not_judged() -> None:
    store = around_store(
        fresh_store(), Policy(read_only=True, redaction=Redaction(credential="refuse"))
    )
    with pytest.raises(ReadOnly):
        run_now(store.apply([Put(parse_path(PATH), TOKEN.encode())], Context()))


def test_neither_errors_nor_logs_nor_tracebacks_hold_the_secret(
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.DEBUG)
    memory = memory_with(REFUSING)
    with pytest.raises(SecretFound) as caught:
        memory.write(PATH, f"x {TOKEN}")
    said = "".join(traceback.format_exception(caught.value)) + repr(caught.value.args) + caplog.text
    assert TOKEN not in said
    with pytest.raises(SecretFound) as in_name:
        memory.write(f"/memories/{TOKEN}", "x")
    assert TOKEN not in str(in_name.value) + repr(vars(in_name.value))


def test_a_detector_that_breaks_refuses_the_write_without_telling_why() -> None:
    def breaking(text: str) -> list[Finding]:
        raise ValueError(text)

    memory = memory_with(Policy(redaction=Redaction(detectors=(breaking,))))
    said = ask(memory, "create", file_text=f"x {TOKEN}")
    assert said == ("Error: The memory is unavailable right now. Try again later.", True)
    assert memory.usage().files == 0


def test_a_program_is_told_what_was_masked(tmp_path: Path) -> None:
    secret = "ghp_" + "R4nd0mT0k3nV4lu3" * 2 + "1a2B"
    memory = Memory.of_store(fresh_store())
    told: list[Removal] = []
    memory.write("/memories/a.md", secret, notice=told.append)
    memory.write("/memories/b.md", "tea", notice=told.append)
    assert [(str(one.path), one.whats) for one in told] == [("/memories/a.md", ("a GitHub token",))]
    (tmp_path / "c.md").write_text(secret)
    (tmp_path / "d.md").write_text("tea")
    imported = memory.import_(tmp_path)
    assert [(str(one.path), one.whats) for one in imported.masked] == [
        ("/memories/c.md", ("a GitHub token",))
    ]
