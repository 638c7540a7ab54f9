"""What `/openapi.json` says of an endpoint: its body, its query and the ids in its path.

Knows the endpoint table and JSON schemas. Must not know handlers.
Used by app when it is asked for; answers are described by FastAPI itself.
"""

import re
from typing import Final

from pydantic import JsonValue

from service_tui.server.idempotency import HEADER
from service_tui.wire.base import WireModel
from service_tui.wire.endpoints import Endpoint

Schema = dict[str, JsonValue]

_KEY_SCHEMA: Final[Schema] = {
    "type": "string",
    "minLength": 1,
    "maxLength": 128,
    "description": "repeated within 24 hours, it brings the first answer and nothing is done twice",
}
_ID: Final = re.compile(r"{(\w+)}")


def description_of(endpoint: Endpoint[WireModel]) -> Schema:
    """The part of an operation that the endpoint's models know."""
    parameters: list[JsonValue] = [
        _parameter("path", name, {"type": "string"}, required=True)
        for name in _ID.findall(endpoint.path)
    ]
    if endpoint.query is not None:
        schema = schema_of(endpoint.query)
        properties = schema["properties"]
        if isinstance(properties, dict):
            parameters += [
                _parameter("query", *pair, required=False) for pair in properties.items()
            ]
    if endpoint.once:
        parameters.append(_parameter("header", HEADER, _KEY_SCHEMA, required=False))
    described: Schema = {"parameters": parameters} if parameters else {}
    if endpoint.asks is not None:
        content: JsonValue = {"application/json": {"schema": schema_of(endpoint.asks)}}
        described["requestBody"] = {"required": True, "content": content}
    return described


def schema_of(model: type[WireModel]) -> Schema:
    """A model's schema without references: it stands where `$defs` would mean something else."""
    schema: Schema = model.model_json_schema(by_alias=True)
    known = schema.pop("$defs", {})
    return {name: _inlined(part, known) for name, part in schema.items()}


def _inlined(part: JsonValue, known: JsonValue) -> JsonValue:
    """A part of a schema with every reference replaced by what it names."""
    if isinstance(part, list):
        return [_inlined(entry, known) for entry in part]
    if not isinstance(part, dict):
        return part
    whole = {name: _inlined(entry, known) for name, entry in part.items()}
    named = whole.pop("$ref", None)
    if isinstance(named, str) and isinstance(known, dict):
        meant = _inlined(known[named.rpartition("/")[2]], known)
        whole = meant | whole if isinstance(meant, dict) else whole
    return whole


def _parameter(place: str, name: str, schema: JsonValue, *, required: bool) -> JsonValue:
    return {"name": name, "in": place, "required": required, "schema": schema}
