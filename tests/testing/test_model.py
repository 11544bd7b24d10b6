"""The state machine: an honest store runs it to the end, spoiled ones don't."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, settings

from memoranda.errors import MemorandaError
from memoranda.stores.base import Backend, Capabilities
from memoranda.testing.faults import SuspendingStore, WrappingBackend
from memoranda.testing.model import run_machine
from memoranda.testing.oracle import Oracle, PlainChange
from tests.testing.broken import BROKEN
from tests.testing.dict_store import DictBackend
from tests.testing.test_store_suite import DictSuite

QUICK = settings(
    # A spoiled store is found long before; what is tried first hangs on which modules are loaded.
    max_examples=600,
    stateful_step_count=15,
    deadline=None,
    database=None,
    derandomize=True,
    phases=[Phase.generate],
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
)


def test_an_honest_store_agrees_with_the_oracle() -> None:
    run_machine(DictSuite)


class SuspendingSuite(DictSuite):
    suspends = True

    async def open_backend(self, home: Path) -> Backend:
        return WrappingBackend(
            await super().open_backend(home),
            lambda store: SuspendingStore(store, lambda: asyncio.sleep(0)),
            suspends=True,
        )


class PoorBackend(DictBackend):
    capabilities = Capabilities(durable=False, time_travel=False)


class PoorSuite(DictSuite):
    backend_class = PoorBackend


@pytest.mark.parametrize("suite", [SuspendingSuite, PoorSuite])
def test_the_machine_runs_on_stores_that_suspend_or_can_do_less(suite: type[DictSuite]) -> None:
    run_machine(suite, settings(QUICK, max_examples=10))


@pytest.mark.parametrize(
    "name",
    [
        "RemovesWhatBeginsAlike",
        "MovesOneLevel",
        "MakesVersionsOfNothing",
        "OverwritesWhenMoving",
        "AppliesOneByOne",
        "GivesANewIdOnReplacing",
        "MakesIdsOfPaths",
        "NeverRevives",
        "CountsHiddenBytes",
        "CountsWhatIsGone",
        "OrdersListsBySegments",
        "ListsThePresentAtAnyTime",
        "MovesDirectoriesWithoutVersions",
        "NotesOneDeletionADirectory",
        "ForgetsOnClosing_everything_is_there_after_opening_anew",
    ],
)
def test_the_machine_finds_what_is_spoiled(name: str) -> None:
    suite = type("Suite", (DictSuite,), {"backend_class": BROKEN[name].backend})
    # Hypothesis reports several distinct failures as a group.
    with pytest.raises(Exception) as caught:
        run_machine(suite, QUICK)
    wanted = AssertionError | ExceptionGroup | ValueError | MemorandaError
    assert isinstance(caught.value, wanted), caught.value


def test_the_oracle_refuses_as_the_contract_says() -> None:
    oracle = Oracle()
    oracle.accept(oracle.attempt([("put", "/d/a", b"x"), ("put", "/f", b"y")]))
    cases: list[tuple[PlainChange, set[str]]] = [
        (("put", "/", b""), {"RootRefused"}),
        (("put", "/d", b""), {"IsADirectory"}),
        (("put", "/f/x", b""), {"NotADirectory"}),
        (("make", "/f", b""), {"AlreadyExists"}),
        (("append", "/none", b""), {"NotFound"}),
        (("rewrite", "/d", b""), {"IsADirectory"}),
        (("remove", "/", b""), {"RootRefused"}),
        (("remove", "/none", b""), {"NotFound"}),
        (("move", ("/", "/x"), b""), {"RootRefused"}),
        (("move", ("/none", "/f"), b""), {"NotFound", "AlreadyExists"}),
        (("move", ("/d", "/d/e"), b""), {"MoveIntoItself"}),
        (("move", ("/d", "/f/e"), b""), {"NotADirectory"}),
        (("move", ("/f", "/f/e"), b""), set()),
        (("move", ("/f", "/"), b""), {"AlreadyExists"}),
    ]
    for change, objections in cases:
        assert oracle.attempt([change]).objections == objections, change
