"""The files in deploy/ name what the server has: paths, ports, settings, times."""

from __future__ import annotations

import re
from configparser import ConfigParser
from typing import Any

import pytest
import yaml  # type: ignore[import-untyped]

from memoranda.cli.main import COMMANDS
from memoranda.server.app import SURFACES
from memoranda.server.settings import ServerSettings
from tests.house.repository import ROOT

DEPLOY = ROOT / "deploy"
PATHS = {endpoint.path for surface in SURFACES for endpoint in surface.endpoints}
DEFAULT = ServerSettings()


def documents(name: str) -> list[Any]:
    return list(yaml.safe_load_all((DEPLOY / name).read_text()))


def text(name: str) -> str:
    return (DEPLOY / name).read_text()


def test_probes_ask_for_paths_that_the_server_has() -> None:
    container = documents("kubernetes.yaml")[0]["spec"]["template"]["spec"]["containers"][0]
    probed = {container[probe]["httpGet"]["path"] for probe in ("readinessProbe", "livenessProbe")}
    (checked,) = re.findall(r"127\.0\.0\.1:(\d+)(/\w+)", text("Containerfile"))
    assert {*probed, checked[1]} <= PATHS
    assert int(checked[0]) == DEFAULT.port
    assert container["ports"][0]["containerPort"] == DEFAULT.port


def test_every_way_gives_the_server_time_to_end_its_writes() -> None:
    spec = documents("kubernetes.yaml")[0]["spec"]["template"]["spec"]
    service = documents("compose.yaml")[0]["services"]["memoranda"]
    (seconds,) = re.findall(r"^TimeoutStopSec=(\d+)$", text("memoranda.service"), re.M)
    for given in (
        spec["terminationGracePeriodSeconds"],
        int(service["stop_grace_period"].removesuffix("s")),
        int(seconds),
    ):
        assert given > DEFAULT.shutdown_seconds


def test_the_unit_starts_a_command_that_there_is_and_lets_it_do_little() -> None:
    unit = ConfigParser(strict=False, interpolation=None)
    unit.optionxform = str  # type: ignore[method-assign,assignment] # pyright: ignore[reportAttributeAccessIssue]
    unit.read_string(text("memoranda.service"))
    service = dict(unit["Service"])
    assert service["ExecStart"].split()[1] in COMMANDS
    assert service["ProtectSystem"] == "strict"
    assert service["NoNewPrivileges"] == "yes"
    assert service["CapabilityBoundingSet"] == ""


def test_the_container_runs_as_nobody_special_from_pins_with_hashes() -> None:
    container = text("Containerfile")
    assert "USER 10001" in container
    assert "--require-hashes -r requirements/serve.txt" in container
    for copied in re.findall(r"^COPY (?!--from)(.+) \S+$", container, re.M):
        for name in copied.split():
            assert (ROOT / name).exists(), name


@pytest.mark.parametrize("name", ["compose.yaml", "kubernetes.yaml"])
def test_no_secret_stands_in_a_file(name: str) -> None:
    settings = re.sub(r"(?m)^ *#.*$", "", text(name))
    assert not re.search(r"(?i)(password|key|token): *[\"']?[A-Za-z0-9]{6,}", settings)


def test_compose_listens_on_this_host_alone() -> None:
    service = documents("compose.yaml")[0]["services"]["memoranda"]
    assert service["ports"] == [f"127.0.0.1:{DEFAULT.port}:{DEFAULT.port}"]
    assert service["read_only"] is True
