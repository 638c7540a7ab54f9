"""The content of `/openapi.json`: the service, and each endpoint's request and answers."""

import re
from typing import Final, TypedDict

from pydantic import JsonValue

from service_tui.server.http.idempotency import HEADER
from service_tui.terms import ID_PATTERN, Plan
from service_tui.wire.base import WireModel
from service_tui.wire.endpoint import DESK, Endpoint
from service_tui.wire.errors import ErrorBody, ValidationBody

Schema = dict[str, JsonValue]

_KEY_SCHEMA: Final[Schema] = {
    "type": "string",
    "minLength": 1,
    "maxLength": 128,
    "pattern": "^[ -~]*[!-~][ -~]*$",
    "description": "repeated within 24 hours, it brings the first answer and nothing is done twice",
}
ABOUT: Final = """Trade prediction markets, by programs and for play money.

**Keys.** `POST /api/sdk/agents/register` needs none and shows the key once. Every other call sends
it in one of two headers, exactly as given: `Authorization: Bearer <key>` or `X-API-Key: <key>`.

**Units.** Money is in units of the venue's currency (`$SIM` on `sim`), in an order with at most 2
decimals; shares have at most 5. Prices are probabilities of YES, 0 to 1, unless a field names
another side. Fractions are called `_pct` (0.2 is 20 percent), save where a field says percent.
Moments are ISO 8601 with a zone.

**No.** A request that cannot be served gets a 4xx whose `fix` says what to do. An order that the
venue declines is no error of the request: it answers 200 with `success` false, `error`,
`error_code` and `fix`. An answer of 503 to an order says whether something may have been traded.
"""
"""The text at the top of the document."""

SECURITY: Final[Schema] = {
    "bearer": {"type": "http", "scheme": "bearer", "description": "An agent's key"},
    "header": {
        "type": "apiKey",
        "in": "header",
        "name": "X-API-Key",
        "description": "An agent's key, the other way",
    },
    "operator": {
        "type": "http",
        "scheme": "bearer",
        "description": "The operator key of the data directory: the desk's own",
    },
}
"""Ways to authenticate; an endpoint takes one of two for agents, and the third for the desk."""

_ID: Final = re.compile(r"{(\w+)}")
_ID_SCHEMA: Final[Schema] = {"type": "string", "pattern": rf"^{ID_PATTERN}$"}


PERSON: Final = frozenset({"name", "person"})
"""Fields by which a call of an operator means a person."""

NAMING: Final = frozenset({
    *("market_id", "agent_id", "symbol", "webhook_id", "quote_id"),
    *("polymarket_url", "kalshi_url", "event_ticker"),
})
"""Fields that name something which may not be there."""


class AnswerModel(TypedDict):
    """One answer of an operation: the model of its body, and when it comes."""

    model: type[WireModel]
    description: str


def responses_of(endpoint: Endpoint[WireModel]) -> dict[int | str, AnswerModel]:
    """Every status that an endpoint answers with, and the body behind it."""
    has_body, has_query = endpoint.request is not None, endpoint.query is not None
    fields = {
        name for model in (endpoint.request, endpoint.query) if model for name in model.model_fields
    }
    names_market = "{" in endpoint.path or not NAMING.isdisjoint(fields)
    changes = endpoint.operator and not endpoint.reads
    names_person = changes and not PERSON.isdisjoint(fields)
    governs = changes and ("{" in endpoint.path or names_person)
    moves_world = changes and endpoint.path.startswith(f"{DESK}/world/")
    is_paid = not (endpoint.operator or endpoint.keyless)
    refusals = (
        (400, has_body, "The body ended early, or the request contradicts itself"),
        (401, not endpoint.keyless, "The key is missing, malformed, sent twice, or not known here"),
        (403, True, "Not from this host or page, or not with this plan or in this state"),
        (404, names_market or names_person, "Nothing has this id, nobody this name"),
        (
            409,
            endpoint.once or governs or moves_world,
            "Not in this state, or this key stood for another call",
        ),
        (413, has_body, "The body is too large"),
        (415, has_body, "The body is not JSON"),
        (402, is_paid, "The payment for a call above the rate is not taken"),
        (429, not endpoint.operator, "Too many calls, or a daily limit"),
        (503, True, "The disk refuses; `error` says whether something may have been traded"),
    )
    answers: dict[int | str, AnswerModel] = {
        200: {"model": endpoint.answers, "description": _first_line(endpoint.answers)}
    }
    if endpoint.refuses:
        answers[endpoint.refuses] = {"model": ErrorBody, "description": "Always: see the summary"}
    answers |= {
        status: {"model": ErrorBody, "description": why}
        for status, may_be, why in refusals
        if may_be
    }
    if has_body or has_query or names_market:
        why = "A field is missing, of another type, or out of its range"
        answers[422] = {"model": ValidationBody, "description": why}
    return answers


SCHEMAS: Final = "#/components/schemas/"
"""Where the document keeps the bodies of answers."""


def ref_to(model: type[WireModel]) -> Schema:
    """Point to a body that the document describes once."""
    return {"$ref": SCHEMAS + model.__name__}


def operation_id(endpoint: Endpoint[WireModel]) -> str:
    """The name of an operation, by which generated clients call their methods: it never changes."""
    kind = "answer" if endpoint.streams else "routed"
    return re.sub(r"\W", "_", f"{kind}{endpoint.path}_{endpoint.method.lower()}")


def stream_of(endpoint: Endpoint[WireModel]) -> Schema:
    """The body of a stream: what each event in it is."""
    # ours: 3.1 has no word for a stream of items, and the `itemSchema` of 3.2 is invalid in it.
    one = ref_to(endpoint.answers)
    text: Schema = {"type": "string"}
    event: Schema = {
        "type": "object",
        "required": ["data"],
        "properties": {
            "event": text,
            "id": text,
            "data": {**text, "contentMediaType": "application/json", "contentSchema": one},
        },
    }
    return {"schema": event}


def _first_line(model: type[WireModel]) -> str:
    return (model.__doc__ or "").strip().partition("\n")[0]


def security_of(endpoint: Endpoint[WireModel]) -> list[JsonValue]:
    """The ways in which a caller may authenticate; empty if none is needed."""
    if endpoint.keyless:
        return []
    return [{"operator": []}] if endpoint.operator else [{"bearer": []}, {"header": []}]


def _tag_of(path: str) -> str:
    """The noun under which a path is shown: the first part behind the roots."""
    return path.replace("/api/", "/").removeprefix("/sdk").split("/")[1].removesuffix("s")


def description_of(endpoint: Endpoint[WireModel]) -> Schema:
    """The part of an operation that the endpoint's models know."""
    parameters: list[JsonValue] = [
        _parameter("path", name, dict(_ID_SCHEMA), required=True)
        for name in _ID.findall(endpoint.path)
    ]
    if endpoint.query is not None:
        schema = schema_of(endpoint.query)
        properties = schema["properties"]
        if isinstance(properties, dict):
            needed = schema.get("required")
            parameters += [
                _parameter("query", *pair, required=isinstance(needed, list) and pair[0] in needed)
                for pair in properties.items()
            ]
    if endpoint.once:
        parameters.append(_parameter("header", HEADER, _KEY_SCHEMA, required=False))
    described: Schema = {
        "security": security_of(endpoint),
        "tags": [_tag_of(endpoint.path)],
    }
    if parameters:
        described["parameters"] = parameters
    if endpoint.plan is not Plan.FREE:
        described["x-plan"] = endpoint.plan.value
    if endpoint.request is not None:
        content: JsonValue = {"application/json": {"schema": schema_of(endpoint.request)}}
        described["requestBody"] = {"required": not endpoint.bodyless, "content": content}
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
