"""What is said about the API is what it does: the OpenAPI document, the reference, the answers."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import BaseModel

from memoranda.server.api import objects
from memoranda.server.api.openapi import document
from memoranda.server.api.surface import DESCRIBED
from memoranda.server.call import Needs
from tests.server.live import Api
from tests.server.reference import PAGE, page


def test_the_reference_is_current() -> None:
    assert PAGE.read_text(encoding="utf-8") == page(), "run: python -m tests.server.reference"


def test_the_document_has_every_endpoint_of_the_api_with_its_role() -> None:
    made = document(DESCRIBED)
    assert made["openapi"] == "3.1.0"
    operations = {
        (method.upper(), path): about
        for path, methods in made["paths"].items()
        for method, about in methods.items()
    }
    assert set(operations) == {(each.method, each.path) for each in DESCRIBED}
    for each in DESCRIBED:
        assert isinstance(each.access, Needs)
        assert each.access.role in operations[each.method, each.path]["description"]
    ids = [about["operationId"] for about in operations.values()]
    assert len(set(ids)) == len(ids) == 15


def test_the_document_is_answered(one_api: Api) -> None:
    assert one_api.done("GET", "/openapi.json") == document(DESCRIBED)


def test_answers_are_as_their_models_say(one_api: Api) -> None:
    def fits(model: type[BaseModel], answer: Any) -> None:
        model.model_validate(answer)
        assert list(answer) == list(model.model_fields)

    store = one_api.store(metadata={"a": "1"})
    made = one_api.memory(store, "/d/a.md")
    fits(objects.MemoryStore, one_api.done("GET", store))
    fits(objects.StorePage, one_api.done("GET", "/v1/memory_stores"))
    fits(objects.Memory, made)
    fits(objects.MemoryPage, one_api.done("GET", f"{store}/memories?depth=1"))
    fits(objects.VersionPage, one_api.done("GET", f"{store}/memory_versions"))
    version = f"{store}/memory_versions/{made['memory_version_id']}"
    fits(objects.MemoryVersion, one_api.done("GET", version))
    block = {"id": "t", "input": {"command": "view", "path": "/memories"}}
    fits(objects.ToolResultBlock, one_api.done("POST", f"{store}/tool", json=block))
    fits(objects.MemoryDeleted, one_api.done("DELETE", f"{store}/memories/{made['id']}"))
    objects.ErrorAnswer.model_validate(one_api.ask("GET", version + "0").json())
    fits(objects.MemoryStoreDeleted, one_api.done("DELETE", store))


@pytest.mark.parametrize(
    ("actor", "kind"),
    [("apikey_1", "api_actor"), ("sesn_1", "session_actor"), ("user_1", "user_actor"),
     ("svac_1", "service_account_actor"), ("agent", "session_actor"), ("external", "user_actor"),
     ("expiry", "service_account_actor")],
)  # fmt: skip
def test_each_of_our_actors_is_one_of_the_apis(actor: str, kind: str) -> None:
    made = objects.actor_object(actor)
    assert made["type"] == kind
    assert actor in made.values()
