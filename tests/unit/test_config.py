"""Settings: what is said is used, what is not understood is an error that helps."""

from __future__ import annotations

from pathlib import Path

import pytest

from memoranda.config import FILE_NAME, Settings, load_settings
from memoranda.errors import Misuse
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
                "There are: store, user, workspace, actor, policy, limits, retention."
            ),
        ),
        (
            "[limits]\nfile_byte = 1",
            "memoranda.toml, [limits]: 'file_byte' is no setting. Did you mean file_bytes?",
        ),
        (
            "[policy]\nx = 1",
            "memoranda.toml, [policy]: 'x' is no setting. There are: on_exists, read_only.",
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
