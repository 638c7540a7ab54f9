"""Builds the HTTP request of an endpoint, without its key."""

import json
import re
from collections.abc import Mapping
from typing import Final, Literal, TypeAlias
from urllib.parse import urlencode

import httpx

from service_tui.client.errors import Called, MalformedError
from service_tui.client.reply import is_list
from service_tui.terms import VENUE_ALIASES, Venue
from service_tui.version import VERSION
from service_tui.wire.base import WireModel
from service_tui.wire.endpoint import Endpoint
from service_tui.wire.text import line

_SEGMENT: Final = re.compile(r"(?!\.+\Z)[A-Za-z0-9_:.\-]{1,256}")
"""An id as one segment of a path; dots alone would climb. Source: failures, T-18.

The longest are those of signals, with a hash, an address and a token of 78 digits.
"""

_KEY: Final = re.compile(r"[A-Za-z0-9_:.\-]{1,128}")

Names: TypeAlias = Literal["neutral", "public"]
"""How venues are called towards the service. Source: wire reference, section 0."""

VENUE_FIELDS: Final = frozenset({"venue", "import_source"})
_PUBLIC: Final = {venue.value: name for name, venue in VENUE_ALIASES.items()} | {
    Venue.SIM.value: Venue.SIM.value
}

_HEADERS: Final = {
    "Accept": "application/json",
    # A small compressed body can unfold to any size (measured: 292 kB to 302 MB).
    "Accept-Encoding": "identity",
    "User-Agent": f"service-tui/{VERSION}",
}


def called_of(endpoint: Endpoint[WireModel], path: Mapping[str, str]) -> Called:
    """Method and path of a call, with its ids filled in.

    Returns:
        Method and path.

    Raises:
        MalformedError: an id that is none; ids come from services, so this is their fault.
    """
    for name, part in path.items():
        if not _SEGMENT.fullmatch(part):
            called = Called(endpoint.method, endpoint.path)
            raise MalformedError(f"{name} '{line(part, 40)}' is no id; nothing was sent", called)
    return Called(endpoint.method, endpoint.path.format_map(path))


def request_of(  # noqa: PLR0913  (the parts of a request)
    base: httpx.URL,
    endpoint: Endpoint[WireModel],
    called: Called,
    *,
    body: WireModel | None = None,
    query: WireModel | None = None,
    idempotency_key: str | None = None,
    names: Names = "neutral",
) -> httpx.Request:
    """HTTP request of a call.

    Returns:
        The request with every header but the key's.

    Raises:
        ValueError: body, query or idempotency key are not what the endpoint takes.
    """
    for given, expected in ((body, endpoint.request), (query, endpoint.query)):
        if given is not None and (expected is None or not isinstance(given, expected)):
            raise ValueError(f"{called.path} does not take a {type(given).__name__}")
    target = f"{base}{called.path}"
    if query is not None and (pairs := pairs_of(query, names)):
        target = f"{target}?{urlencode(pairs)}"
    request = httpx.Request(
        called.method, target, headers=_HEADERS, content=_content_of(body, names)
    )
    if body is not None:
        request.headers["Content-Type"] = "application/json"
    if idempotency_key is not None:
        if not _KEY.fullmatch(idempotency_key):
            raise ValueError("the idempotency key is no id")
        request.headers["Idempotency-Key"] = idempotency_key
    return request


def _content_of(body: WireModel | None, names: Names) -> bytes | None:
    if body is None:
        return None
    tree = _tree_of(body, names)
    return json.dumps(tree, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode()


def pairs_of(query: WireModel, names: Names = "neutral") -> list[tuple[str, str]]:
    """Names and values behind the question mark; what is None is left out."""
    return [(name, _word(value)) for name, value in _tree_of(query, names).items()]


def _tree_of(model: WireModel, names: Names) -> Mapping[str, object]:
    """Fields that are not None, with venues in the names that the service knows."""
    sends_null = model.sends_null
    tree: dict[str, object] = model.model_dump(
        mode="json", exclude_none=not sends_null, exclude_unset=sends_null, by_alias=True
    )
    for name in VENUE_FIELDS & tree.keys() if names == "public" else ():
        tree[name] = _PUBLIC.get(str(tree[name]), tree[name])
    return tree


def _word(value: object) -> str:
    # ours: booleans in lower case and lists joined by commas, as most services read them.
    if isinstance(value, bool):
        return "true" if value else "false"
    return ",".join(_word(entry) for entry in value) if is_list(value) else str(value)
