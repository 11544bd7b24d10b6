"""Settings of the server: arguments, then the environment, then the file; all of them documented."""

from __future__ import annotations

import re
import tomllib
from dataclasses import fields
from pathlib import Path

import pytest

from memoranda.config import load_settings
from memoranda.errors import Misuse
from memoranda.server.settings import ServerSettings, server_settings
from tests.docs.snippets import blocks
from tests.house.repository import DOCS
from tests.server.live import Api, new_home, serving, url_of


def test_the_guide_has_every_setting_with_its_usual_value() -> None:
    page = (DOCS / "guide" / "server.md").read_text()
    (table,) = [block.text for block in blocks(page) if block.info == "toml"]
    said = tomllib.loads(table)["server"]
    made = ServerSettings()
    usual = {each.name: getattr(made, each.name) for each in fields(made)}
    assert said == {**usual, "trusted_proxies": list(made.trusted_proxies)}


def test_arguments_go_before_the_environment_and_that_before_the_file(tmp_path: Path) -> None:
    (tmp_path / "memoranda.toml").write_text('[server]\nport = 1\nthreads = 2\nhost = "::1"\n')
    table = load_settings(tmp_path, environ={}).server
    environ = {"MEMORANDA_SERVER_PORT": "3", "MEMORANDA_SERVER_THREADS": "4",
               "MEMORANDA_SERVER_TRUSTED_PROXIES": "10.0.0.0/8, ::1",
               "MEMORANDA_SERVER_STRICT_BETA": "true"}  # fmt: skip
    made = server_settings(table, environ, port=5, host=None)
    assert (made.port, made.threads, made.host) == (5, 4, "::1")
    assert made.trusted_proxies == ("10.0.0.0/8", "::1")
    assert made.strict_beta is True


@pytest.mark.parametrize(
    "table",
    [{"port": "8080"}, {"port": -1}, {"port": True}, {"threads": 0}, {"host": ""}, {"hots": "x"},
     {"strict_beta": 1}, {"trusted_proxies": ["x"]}, {"unknown_fields": "keep"}],
)  # fmt: skip
def test_what_cant_be_is_refused_by_name(table: dict[str, object]) -> None:
    with pytest.raises(Misuse) as refused:
        server_settings(table, {})
    assert re.search(next(iter(table)), str(refused.value))


def test_unknown_fields_may_be_ignored() -> None:

    with serving(url_of("sqlite", new_home()), ServerSettings(unknown_fields="ignore")) as live:
        api = Api(live, "default")
        assert api.done("POST", "/v1/memory_stores", json={"name": "n", "more": 1})["name"] == "n"
        api.close()
