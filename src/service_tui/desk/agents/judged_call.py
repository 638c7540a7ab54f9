"""Rebuilds a skill's call from the fields that were checked; nothing is forwarded as received.

# ours: a name that this program does not know is refused in a sentence. Another service may read it
as a size, and a limit that is left out silently would protect nobody.
"""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Generic, TypeVar
from urllib.parse import parse_qsl, quote, urlencode

from pydantic import AliasChoices, ValidationError

from service_tui.desk.agents.proxy_calls import SkillCall, fields_of, is_plain
from service_tui.terms import ID_PATTERN
from service_tui.wire.base import WireModel
from service_tui.wire.endpoint import SDK, Endpoint
from service_tui.wire.endpoints.public import (
    ALL,
    CANCEL_ALL_ORDERS,
    CANCEL_ORDER,
    DELETE_MONITOR,
    END_RISK_ALERT,
    SET_MONITOR,
)

LOWERING: Final = (SET_MONITOR, DELETE_MONITOR, CANCEL_ORDER, CANCEL_ALL_ORDERS, END_RISK_ALERT)
"""Calls other than trades that a skill may make, because they lower risk."""

NAMED_MAX: Final = 80
QUERY_MAX: Final = 64
"""Letters of a name that is told back, and parameters of a call."""

_READS: Final = tuple(
    one
    for one in ALL
    if one.reads and one.path.startswith(f"{SDK}/") and not (one.operator or one.streams)
)
_SEGMENT: Final = re.compile(ID_PATTERN)
_VENUE: Final = "venue"

Model = TypeVar("Model", bound=WireModel)


class NotJudgedError(Exception):
    """A call that cannot be judged as it is spelt; one plain sentence."""


@dataclass(frozen=True, slots=True)
class JudgedBody(Generic[Model]):
    """A body as it was judged, and the same as it leaves."""

    value: Model
    fields: Mapping[str, object]


@dataclass(frozen=True, slots=True)
class JudgedCall:
    """A call that a leash knows, as it leaves. `lowers_risk`: it is no reading."""

    call: tuple[str, str, bytes]
    endpoint: Endpoint[WireModel]
    query: Mapping[str, str]
    lowers_risk: bool


def judged_call(call: SkillCall) -> JudgedCall | None:
    """Rebuild a reading, or a call that lowers risk.

    Returns:
        What leaves; None for every call that a leash does not let pass.

    Raises:
        NotJudgedError: the call is known, and a name in it is not, or comes twice.
    """
    path, _, asked = call.target.partition("?")
    if not is_plain(call.target):
        return None
    known = (one for one in (*_READS, *LOWERING) if one.method == call.method)
    fitting = [one for one in known if _fits(one.path, path)]
    if not fitting:
        return None
    # A path that is spelt out means more than one with an id in its place.
    endpoint = min(fitting, key=lambda one: one.path.count("{"))
    query = _query_of(endpoint, asked)
    target = f"{path}?{urlencode(query, quote_via=quote)}" if query else path
    body = b""
    if endpoint.request is not None:
        body = json.dumps(judged_body(endpoint.request, call.body).fields).encode()
    left = (endpoint.method, target, body)
    return JudgedCall(left, endpoint, query, endpoint in LOWERING)


def judged_body(model: type[Model], raw: bytes) -> JudgedBody[Model]:
    """Judge a body by its model, and rebuild it from there.

    Returns:
        Both; a venue keeps the word by which it was named, as services differ in it.

    Raises:
        NotJudgedError: a name is unknown, or it is no such body.
    """
    # Read once: what a second reader would make of a name that comes twice cannot differ.
    fields = fields_of(raw)
    _check_names("field", fields, model)
    try:
        value = model.model_validate_json(json.dumps(fields))
    except (ValidationError, ValueError, RecursionError) as error:
        raise NotJudgedError("malformed body") from error
    made: dict[str, object] = value.model_dump(mode="json", by_alias=True, exclude_unset=True)
    if _VENUE in made:
        made[_VENUE] = fields[_VENUE]
    return JudgedBody(value, made)


def _fits(template: str, path: str) -> bool:
    """True if a path is that of an endpoint, with an id for each name in braces."""
    parts, given = template.split("/"), path.split("/")
    return len(parts) == len(given) and all(
        _SEGMENT.fullmatch(one) is not None if part.startswith("{") else part == one
        for part, one in zip(parts, given, strict=True)
    )


def _query_of(endpoint: Endpoint[WireModel], asked: str) -> Mapping[str, str]:
    try:
        pairs = parse_qsl(asked, keep_blank_values=True, max_num_fields=QUERY_MAX)
    except ValueError as error:
        raise NotJudgedError(f"more than {QUERY_MAX} parameters") from error
    _check_names("parameter", [name for name, _ in pairs], endpoint.query)
    query = dict(pairs)
    if len(query) != len(pairs):
        raise NotJudgedError("a parameter comes twice")
    return query


def _check_names(
    what: str, names: Sequence[str] | Mapping[str, object], model: type[WireModel] | None
) -> None:
    known = _names_of(model) if model is not None else frozenset[str]()
    unknown = next((name for name in names if name not in known), None)
    if unknown is not None:
        raise NotJudgedError(f"unknown {what} not passed on: {unknown[:NAMED_MAX]!r}")


def _names_of(model: type[WireModel]) -> frozenset[str]:
    """Every name under which a field of a body is read."""
    names = set(model.model_fields)
    for one in model.model_fields.values():
        alias = one.validation_alias
        choices = alias.choices if isinstance(alias, AliasChoices) else (alias,)
        names.update(each for each in choices if isinstance(each, str))
    return frozenset(names)
