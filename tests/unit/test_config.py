"""Settings: what is said is used, what is not understood is an error that helps."""

from __future__ import annotations

from pathlib import Path

import pytest

from memoranda.config import FILE_NAME, Settings, load_settings
from memoranda.errors import Misuse
from memoranda.policies.audit import Auditing
from memoranda.policies.limits import Limits
from memoranda.policies.policy import Policy
from memoranda.stores.base import Retention


def load(folder: Path, text: str, **environ: str) -> Settings:
    (folder / FILE_NAME).write_text(text)
    return load_settings(folder, environ)


def test_without_file_and_environment_nothing_is_set(tmp_path: Path) -> None:
    assert load_settings(tmp_path, {}) == Settings()
    assert Settings().policy == Policy()


def test_the_file_sets_everything(tmp_path: Path) -> None:
    settings = load(
        tmp_path,
        """
        store = "./memory"
        user = "acme"
        workspace = "staging"
        actor = "support-bot"

        [policy]
        on_exists = "overwrite"
        read_only = true

        [limits]
        file_bytes = 1_000
        store_bytes = "none"
        files = 5
        view_chars = "none"
        image_bytes = 7
        commands_per_minute = 60

        [retention]
        keep_days = 90
        keep_newest = 3
        budget_bytes = "none"
        """,
    )
    limits = Limits(
        file_bytes=1_000,
        store_bytes=None,
        files=5,
        view_chars=None,
        image_bytes=7,
        commands_per_minute=60,
    )
    assert settings == Settings(
        store="./memory",
        user="acme",
        workspace="staging",
        actor="support-bot",
        policy=Policy(
            limits=limits,
            on_exists="overwrite",
            read_only=True,
            retention=Retention(keep_days=90, keep_newest=3),
        ),
    )


def test_what_the_file_leaves_out_has_its_default(tmp_path: Path) -> None:
    assert load(tmp_path, "[limits]\nfiles = 5\n").policy == Policy(limits=Limits(files=5))


def test_the_environment_goes_before_the_file(tmp_path: Path) -> None:
    text = 'store = "./memory"\nuser = "acme"\nactor = "bot"\n'
    settings = load(tmp_path, text, MEMORANDA_STORE="memory:", MEMORANDA_USER="other")
    assert (settings.store, settings.user, settings.actor) == ("memory:", "other", "bot")
    settings = load(tmp_path, text, MEMORANDA_STORE="", MEMORANDA_USER="")
    assert (settings.store, settings.user) == ("./memory", "acme")


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("store = 5", 'memoranda.toml: store is 5; it has to be a text: store = "...".'),
        ('user = ""', "memoranda.toml: user is ''; it has to be a text: user = \"...\"."),
        ("limits = 5", "memoranda.toml: limits is 5; it has to be a table: [limits]."),
        ("usr = 'a'", "memoranda.toml: 'usr' is no setting. Did you mean user?"),
        (
            "colour = 1",
            (
                "memoranda.toml: 'colour' is no setting. "
                "There are: store, user, workspace, actor, limits, policy, retention, audit, "
                "redaction, injection, expiry, approval, mounts, rules, server."
            ),
        ),
        (
            "[limits]\nfile_byte = 1",
            "memoranda.toml, [limits]: 'file_byte' is no setting. Did you mean file_bytes?",
        ),
        (
            "[policy]\nx = 1",
            "memoranda.toml, [policy]: 'x' is no setting. There are: on_exists, read_only, telemetry.",
        ),
        (
            "[retention]\nkeep_day = 1",
            "memoranda.toml, [retention]: 'keep_day' is no setting. Did you mean keep_days?",
        ),
        (
            "[retention]\nkeep_days = -1",
            (
                "memoranda.toml: Retention: keep_days is -1; "
                "it has to be a whole number of 0 or more."
            ),
        ),
        (
            "[limits]\nfiles = 0",
            (
                "memoranda.toml: Limits: files is 0; it has to be a whole number of 1 or more, "
                'or "none" to lift the limit.'
            ),
        ),
        (
            '[limits]\nimage_bytes = "none"',
            (
                "memoranda.toml: Limits: image_bytes is None; "
                "it has to be a whole number of 1 or more."
            ),
        ),
        (
            "[policy]\non_exists = 1",
            'memoranda.toml: Policy: on_exists is 1; it has to be "error" or "overwrite".',
        ),
    ],
)
def test_what_cannot_be_is_an_error_with_its_place_and_what_to_write(
    tmp_path: Path, text: str, says: str
) -> None:
    with pytest.raises(Misuse) as refused:
        load(tmp_path, text)
    assert str(refused.value) == says


@pytest.mark.parametrize("raw", [b"store = ", b"store = '\xff'"])
def test_what_is_no_toml_is_an_error(tmp_path: Path, raw: bytes) -> None:
    (tmp_path / FILE_NAME).write_bytes(raw)
    with pytest.raises(Misuse, match=r"^memoranda\.toml is no TOML: "):
        load_settings(tmp_path, {})


def test_a_file_that_cannot_be_read_is_an_error(tmp_path: Path) -> None:
    (tmp_path / FILE_NAME).mkdir()
    with pytest.raises(Misuse, match=r"^memoranda\.toml can't be read: Is a directory\.$"):
        load_settings(tmp_path, {})


def test_the_working_directory_and_the_real_environment_are_looked_at_by_default(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / FILE_NAME).write_text('user = "acme"\n')
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MEMORANDA_STORE", "memory:")
    settings = load_settings()
    assert (settings.store, settings.user) == ("memory:", "acme")


RULES = """
[limits]
files = 50

[[rules]]
user = "trial-*"
[rules.limits]
files = 5
store_bytes = 1_000_000
[rules.redaction]
email = "mask"

[[rules]]
backend = "postgresql://*"
[rules.limits]
files = 100
[rules.policy]
read_only = true

[[rules]]
store = "memstore_a*"
[rules.audit]
reads = "strict"
"""


def test_rules_hold_for_whom_they_name_and_the_stricter_value_wins(tmp_path: Path) -> None:
    settings = load(tmp_path, RULES)
    assert settings.policy == Policy(limits=Limits(files=50))
    assert settings.policy_for("./memory", "ada") == settings.policy
    trial = settings.policy_for("./memory", "trial-7")
    assert (trial.limits.files, trial.limits.store_bytes) == (5, 1_000_000)
    assert trial.redaction.email == "mask"
    elsewhere = settings.policy_for("postgresql://db/x", "ada")
    assert (elsewhere.limits.files, elsewhere.read_only) == (50, True)
    both = settings.policy_for("postgresql://db/x", "trial-7")
    assert (both.limits.files, both.read_only) == (5, True)
    store = settings.policy_for("./memory", store="memstore_abc")
    assert (store.audit.reads, store.limits.files) == ("strict", 50)


def test_a_store_of_the_api_may_hold_more_where_nobody_said_how_much(tmp_path: Path) -> None:
    assert load(tmp_path, "").policy_for("./memory", store="memstore_1").limits.files == 10_000


def test_each_value_says_where_it_was_set(tmp_path: Path) -> None:
    settings = load(tmp_path, RULES, MEMORANDA_LIMITS_VIEW_CHARS="none")
    origins = {
        key: (each.value, each.origin)
        for key, each in settings.explain("./memory", "trial-7").items()
    }
    assert origins["limits.files"] == (5, "memoranda.toml, [[rules]] number 1, [limits]")
    assert origins["limits.view_chars"] == (None, "MEMORANDA_LIMITS_VIEW_CHARS")
    assert origins["limits.file_bytes"] == (262_144, "built in")


def test_the_environment_sets_the_policy_too(tmp_path: Path) -> None:
    settings = load(
        tmp_path,
        "[limits]\nfiles = 3\n[retention]\nkeep_days = 5\n",
        MEMORANDA_LIMITS_FILES="7",
        MEMORANDA_POLICY_READ_ONLY="true",
        MEMORANDA_AUDIT_READS="off",
        MEMORANDA_LIMITS_STORE_BYTES="",
    )
    assert settings.policy == Policy(
        limits=Limits(files=7),
        read_only=True,
        audit=Auditing(reads="off"),
        retention=Retention(keep_days=5),
    )


@pytest.mark.parametrize(
    ("name", "value", "says"),
    [
        ("MEMORANDA_LIMITS_FILE", "5", "is no setting. Did you mean MEMORANDA_LIMITS_FILES?"),
        ("MEMORANDA_LIMITS_FILES", "many", "MEMORANDA_LIMITS_FILES: Limits: files is 'many'"),
        ("MEMORANDA_LIMITS_FILES", "0", "whole number of 1 or more"),
        ("MEMORANDA_LIMITS_FILES", "9" * 5000, "whole number of 1 or more"),
        ("MEMORANDA_POLICY_READ_ONLY", "yes", "it has to be True or False"),
    ],
)
def test_a_variable_that_can_not_be_is_an_error(
    tmp_path: Path, name: str, value: str, says: str
) -> None:
    with pytest.raises(Misuse) as refused:
        load(tmp_path, "", **{name: value})
    assert says in str(refused.value)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("rules = 5", "memoranda.toml: rules has to be an array of tables: [[rules]]."),
        ("rules = [5]", "memoranda.toml, [[rules]] number 1: it has to be a table."),
        (
            "[[rules]]\n[rules.limits]\nfiles = 5",
            (
                "memoranda.toml, [[rules]] number 1: it says for nobody; "
                "give it a pattern: backend, store, user."
            ),
        ),
        (
            "[[rules]]\nuser = 5",
            'memoranda.toml, [[rules]] number 1: user is 5; it has to be a text: user = "...".',
        ),
        (
            "[[rules]]\nuser = 'a'\n[[rules]]\nusers = 'b'",
            "memoranda.toml, [[rules]] number 2: 'users' is no setting. Did you mean user?",
        ),
        (
            "[[rules]]\nuser = 'a'\n[rules.limits]\nfiles = 0",
            (
                "memoranda.toml, [[rules]] number 1: Limits: files is 0; "
                'it has to be a whole number of 1 or more, or "none" to lift the limit.'
            ),
        ),
        (
            "[[rules]]\nuser = 'a'\n[rules.limits]\nfile = 0",
            (
                "memoranda.toml, [[rules]] number 1, [limits]: 'file' is no setting. "
                "Did you mean files?"
            ),
        ),
    ],
)
def test_a_rule_that_can_not_be_is_an_error(tmp_path: Path, text: str, says: str) -> None:
    with pytest.raises(Misuse) as refused:
        load(tmp_path, text)
    assert str(refused.value) == says


def test_a_mounted_store_has_the_rules_that_the_file_says_of_it(tmp_path: Path) -> None:
    (tmp_path / "memoranda.toml").write_text(
        "[[rules]]\nuser = 'ada'\n[[rules.mounts]]\npath = '/memories/team'\nuser = 'team'\n"
        "[[rules]]\nuser = 'team'\n[rules.limits]\nfiles = 7\n"
        "[[rules.mounts]]\npath = '/memories/x'\nuser = 'x'\n"
    )
    settings = load_settings(tmp_path, {})
    (mount,) = settings.policy_for("./memory", "ada").mounts
    assert mount.policy is not None
    assert (mount.policy.limits.files, mount.policy.mounts) == (7, ())
    assert settings.policy_for("./memory", "bob").mounts == ()


def test_the_rules_of_a_mounted_store_are_not_set_in_its_table(tmp_path: Path) -> None:
    (tmp_path / "memoranda.toml").write_text(
        "[[mounts]]\npath = '/memories/team'\nuser = 'team'\npolicy = 'x'\n"
    )
    with pytest.raises(Misuse, match=r"\[\[mounts\]\]: 'policy' is no setting"):
        load_settings(tmp_path, {})
