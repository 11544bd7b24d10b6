"""kill -9 at any moment leaves every acknowledged command in place, and a memory that verifies."""

from __future__ import annotations

import pytest

from tests.harness.runs import run
from tests.stores.bucket_server import bucket_url
from tests.stores.postgres_server import postgres_url


@pytest.mark.parametrize("handler", ["folder", "sqlite"])
def test_a_killed_process_loses_nothing_acknowledged(handler: str) -> None:
    said = run("crash", handler, "--rounds", "25", seconds=280)
    assert "verify() run 25 times" in said


def test_a_killed_client_of_postgres_loses_nothing_acknowledged() -> None:
    postgres_url()
    said = run("crash", "postgres", "--rounds", "6", seconds=280)
    assert "verify() run 6 times" in said


@pytest.mark.full
def test_two_hundred_killed_clients_of_postgres_lose_nothing_acknowledged() -> None:
    postgres_url()
    said = run("crash", "postgres", "--rounds", "200", "--seed", "full", seconds=3600)
    assert "verify() run 200 times" in said


def test_a_killed_client_of_a_bucket_loses_nothing_acknowledged() -> None:
    bucket_url()
    said = run("crash", "bucket", "--rounds", "20", seconds=280)
    assert "verify() run 20 times" in said


@pytest.mark.full
def test_two_hundred_killed_clients_of_a_bucket_lose_nothing_acknowledged() -> None:
    bucket_url()
    said = run("crash", "bucket", "--rounds", "200", "--seed", "full", seconds=3600)
    assert "verify() run 200 times" in said


@pytest.mark.full
def test_two_hundred_killed_writers_to_repositories_lose_nothing_acknowledged() -> None:
    said = run("crash", "git", "--rounds", "200", "--seed", "full", seconds=3600)
    assert "verify() run 200 times" in said


@pytest.mark.full
@pytest.mark.parametrize("handler", ["folder", "sqlite"])
def test_five_hundred_kills_lose_nothing_acknowledged(handler: str) -> None:
    said = run("crash", handler, "--rounds", "500", "--seed", "full", seconds=3600)
    assert "verify() run 500 times" in said
