"""Processes and threads at the same files: no update is lost, no file is torn or overwritten."""

from __future__ import annotations

import pytest

from tests.harness.runs import run
from tests.stores.bucket_server import bucket_url
from tests.stores.postgres_server import postgres_url

STORES = ["folder", "sqlite", "postgres", "bucket"]


@pytest.fixture(autouse=True)
def server(request: pytest.FixtureRequest) -> None:
    """Up before the run, so that its processes find one."""
    if request.getfixturevalue("handler") == "postgres":
        postgres_url()
    if request.getfixturevalue("handler") == "bucket":
        bucket_url()
    if request.getfixturevalue("handler") == "remote":
        request.getfixturevalue("memory_server")


@pytest.mark.parametrize("handler", STORES)
@pytest.mark.parametrize(("processes", "threads"), [("2", "2"), ("1", "4")])
def test_writers_that_race_lose_nothing(handler: str, processes: str, threads: str) -> None:
    size = ["--procs", processes, "--threads", threads]
    run("race", handler, *size, "--seconds", "2", "--rounds", "15", seconds=280)


@pytest.mark.full
@pytest.mark.parametrize("handler", STORES)
@pytest.mark.parametrize(("processes", "threads"), [("4", "4"), ("1", "8")])
def test_many_writers_that_race_for_longer_lose_nothing(
    handler: str, processes: str, threads: str
) -> None:
    run("race", handler, "--procs", processes, "--threads", threads, seconds=1800)


@pytest.mark.parametrize("handler", STORES)
def test_threads_of_one_process_may_share_a_memory(handler: str) -> None:
    size = ["--procs", "1", "--threads", "8", "--shared-handler"]
    run("race", handler, *size, "--seconds", "2", "--rounds", "15", seconds=280)


@pytest.mark.parametrize("handler", ["git"])
def test_writers_to_a_repository_that_race_lose_nothing(handler: str) -> None:
    size = ["--procs", "2", "--threads", "2"]
    run("race", handler, *size, "--seconds", "2", "--rounds", "5", seconds=280)


@pytest.mark.full
@pytest.mark.parametrize("handler", ["git"])
@pytest.mark.parametrize("shared", [["--procs", "4"], ["--procs", "1", "--shared-handler"]])
def test_many_writers_to_a_repository_lose_nothing(handler: str, shared: list[str]) -> None:
    run("race", handler, *shared, "--threads", "4", seconds=1800)


@pytest.mark.full
@pytest.mark.parametrize("handler", ["remote"])
@pytest.mark.parametrize("shared", [["--procs", "4"], ["--procs", "1", "--shared-handler"]])
def test_many_writers_to_a_memory_server_lose_nothing(handler: str, shared: list[str]) -> None:
    run("race", handler, *shared, "--threads", "4", "--rounds", "15", seconds=1800)
