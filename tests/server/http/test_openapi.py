"""The document under `/openapi.json`."""

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
import pytest
from openapi_spec_validator import OpenAPIV31SpecValidator

from kit.service.stage import open_stage
from service_tui.server.embedded import BASE_URL
from service_tui.server.http import openapi
from service_tui.server.http.openapi import schema_of
from service_tui.terms import Plan
from service_tui.wire.base import WireModel
from service_tui.wire.endpoint import Endpoint
from service_tui.wire.endpoints.public import ALL, PLACE_TRADE


async def document_of(path: Path) -> dict[str, Any]:
    async with open_stage(path) as stage:
        async with httpx.AsyncClient(transport=stage.sim.transport, base_url=BASE_URL) as client:
            response = await client.get("/openapi.json")
        assert response.status_code == 200
        return response.json()


@pytest.mark.slow
async def test_the_document_names_the_address_it_was_requested_at(
    tmp_path: Path,
) -> None:
    async with open_stage(tmp_path) as stage:
        said: list[str] = []
        for address in (BASE_URL, "http://127.0.0.1:8017", "http://localhost:8018"):
            transport = stage.sim.transport
            async with httpx.AsyncClient(transport=transport, base_url=address) as client:
                said.append((await client.get("/openapi.json")).text)
            assert json.loads(said[-1])["servers"] == [{"url": address}]
        assert said[1] == said[0].replace(BASE_URL, "http://127.0.0.1:8017")


def references(part: object) -> list[str]:
    """Every reference in a document, wherever it stands."""
    if isinstance(part, dict):
        own = [part["$ref"]] if isinstance(part.get("$ref"), str) else []
        return own + [found for entry in part.values() for found in references(entry)]
    if isinstance(part, list):
        return [found for entry in part for found in references(entry)]
    return []


def resolve(document: dict[str, Any], reference: str) -> object:
    assert reference.startswith("#/")
    found: Any = document
    for step in reference[2:].split("/"):
        found = found[step.replace("~1", "/").replace("~0", "~")]
    return found


@pytest.mark.slow
async def test_the_document_is_valid_and_an_order_in_it_has_a_market_and_a_side(
    tmp_path: Path,
) -> None:
    document = await document_of(tmp_path)
    OpenAPIV31SpecValidator(document).validate()
    body = document["paths"][PLACE_TRADE.path]["post"]["requestBody"]
    order = body["content"]["application/json"]["schema"]
    assert {"market_id", "side", "action", "amount"} <= set(order["properties"])
    # Generators make a type of each branch, which holds what is in the branch alone.
    assert not {"oneOf", "anyOf"} & set(order)


@pytest.mark.slow
async def test_the_document_describes_every_endpoint_and_resolves(tmp_path: Path) -> None:
    document = await document_of(tmp_path)
    assert document["openapi"].startswith("3.")
    described = {
        (method.upper(), path)
        for path, operations in document["paths"].items()
        for method in operations
    }
    assert described == {(one.method, one.path) for one in ALL}
    assert references(document)
    for reference in references(document):
        assert resolve(document, reference)
    assert "$defs" not in str(document)
    names = [
        operation["operationId"]
        for operations in document["paths"].values()
        for operation in operations.values()
    ]
    assert len(set(names)) == len(ALL)
    for endpoint in ALL:
        check(document["paths"][endpoint.path][endpoint.method.lower()], endpoint)


def check(operation: dict[str, Any], endpoint: Endpoint[WireModel]) -> None:
    """One operation against its endpoint: summary, body, parameters, answers."""
    assert operation["summary"] == endpoint.summary != ""
    responses = operation["responses"]
    assert {"200", "403", "503"} <= set(responses)
    assert ("401" in responses) is not endpoint.keyless
    assert ("413" in responses) is (endpoint.request is not None)
    assert all(one["description"] for one in responses.values())
    assert operation["description"]
    schemes = {name for one in operation["security"] for name in one}
    expected = {"operator"} if endpoint.operator else {"bearer", "header"}
    assert schemes == (set() if endpoint.keyless else expected)
    parameters = operation.get("parameters", [])
    in_path = {one["name"]: one for one in parameters if one["in"] == "path"}
    assert set(in_path) == set(re.findall(r"{(\w+)}", endpoint.path))
    assert all(one["required"] is True for one in in_path.values())
    headers = [one["name"] for one in parameters if one["in"] == "header"]
    assert headers == (["Idempotency-Key"] if endpoint.once else [])
    fields = endpoint.request.model_fields if endpoint.request is not None else {}
    is_about_one = "{" in endpoint.path or bool({"name", "person"} & set(fields))
    governs = endpoint.operator and not endpoint.reads and is_about_one
    moves_world = endpoint.method == "POST" and "/desk/world/" in endpoint.path
    is_state = endpoint.once or governs or moves_world or endpoint.refuses == 409
    assert ("409" in operation["responses"]) == is_state
    assert ("429" in operation["responses"]) == (not endpoint.operator)
    in_query = {one["name"] for one in parameters if one["in"] == "query"}
    asked = endpoint.query.model_fields if endpoint.query else {}
    assert in_query == set(asked)
    assert all(one["schema"] for one in parameters)
    kind = "text/event-stream" if endpoint.streams else "application/json"
    assert set(operation["responses"]["200"]["content"]) == {kind}
    if endpoint.request is None:
        assert "requestBody" not in operation
        return
    assert operation["requestBody"]["required"] is not endpoint.bodyless
    schema = operation["requestBody"]["content"]["application/json"]["schema"]
    assert set(schema["properties"]) == set(endpoint.request.model_fields)


def test_references_of_a_body_are_written_out() -> None:
    request = PLACE_TRADE.request
    assert request is not None
    schema: Any = schema_of(request)
    assert references(schema) == []
    assert schema["properties"]["side"]["enum"] == ["yes", "no"]
    assert schema["properties"]["action"]["default"] == "buy"
    assert schema["properties"]["order_type"]["anyOf"][0]["enum"] == ["GTC", "GTD", "FOK", "FAK"]
    assert schema["required"] == ["market_id", "side"]


def test_an_operation_tells_its_parameters_its_stream_and_who_may_call(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    schema = {"properties": {"limit": {}, "since": {}}, "required": ["since"]}
    monkeypatch.setattr(openapi, "schema_of", lambda _: schema)
    one = replace(
        PLACE_TRADE, path="/api/sdk/things/{thing_id}", query=WireModel, once=True, plan=Plan.PRO
    )
    described: Any = openapi.description_of(one)
    assert [(each["in"], each["name"], each["required"]) for each in described["parameters"]] == [
        ("path", "thing_id", True), ("query", "limit", False), ("query", "since", True),
        ("header", "Idempotency-Key", False),
    ]  # fmt: skip
    assert (described["x-plan"], described["tags"]) == ("pro", ["thing"])
    assert described["security"] == [{"bearer": []}, {"header": []}]
    assert described["requestBody"]["content"] == {"application/json": {"schema": schema}}
    plain = openapi.description_of(replace(one, query=None, once=False, path="/health"))
    assert "parameters" not in plain
    item: Any = openapi.stream_of(one)["schema"]
    assert item["properties"]["data"]["contentSchema"] == {"$ref": "#/components/schemas/TradeBody"}
