"""No, in the words of the wire: refusals and faults become statuses and bodies here only.

Knows engine errors and wire bodies. Must not know a route.
Used by app and routes.
"""

from collections.abc import Collection, Sequence
from typing import Final

from pydantic import ValidationError

from service_tui.engine.errors import LimitReached, NotAllowed, NotClaimed, NotFound, Refusal
from service_tui.wire.base import WireModel
from service_tui.wire.errors import ErrorBody, ValidationBody, ValidationItem

STATUS: Final[tuple[tuple[type[Refusal], int], ...]] = (
    (NotFound, 404),
    (NotAllowed, 403),
    (LimitReached, 429),
)
"""Status of a refusal outside `POST /trade`, first match wins, else 400."""

FIXES: Final = {
    "/api/sdk/agent/register": "/api/sdk/agents/register",
    "/api/sdk/agent": "/api/sdk/agents/me",
    "/api/sdk/market": "/api/sdk/markets",
    "/api/sdk/position": "/api/sdk/positions",
    "/api/sdk/trade/": "/api/sdk/trade",
}
"""Begins of wrong paths that outdated clients send, and the right ones; the first match counts."""


class Denied(Exception):
    """The request itself is refused: a status and a body."""

    def __init__(self, status: int, body: WireModel, headers: dict[str, str] | None = None) -> None:
        super().__init__(f"{status}")
        self.status = status
        self.body = body
        self.headers = headers or {}


def denied(status: int, error: str, fix: str) -> Denied:
    """A refusal of the request with what happened and what to do."""
    return Denied(status, ErrorBody(error=error, detail=error, fix=fix))


def unauthenticated(error: str) -> Denied:
    """A 401 that says what to check."""
    return Denied(
        401,
        ErrorBody(
            error=error,
            detail="Missing or invalid Authorization header",
            fix="send 'Authorization: Bearer <API_KEY>' with the key exactly as given: no spaces, "
            "no line break, and to this host",
        ),
        {"WWW-Authenticate": "Bearer"},
    )


def not_claimed(refusal: NotClaimed, claim_url: str) -> Denied:
    """A 403 with the way out. Source: wire reference, section 7."""
    body = ErrorBody(
        error=refusal.error, detail=refusal.error, fix=refusal.fix, claim_url=claim_url
    )
    return Denied(403, body)


def from_refusal(refusal: Refusal) -> Denied:
    """An engine's no, outside the trade endpoint."""
    status = next((status for kind, status in STATUS if isinstance(refusal, kind)), 400)
    return denied(status, refusal.error, refusal.fix)


def invalid(error: ValidationError, where: str) -> Denied:
    """A 422 in the usual shape; what was sent is not repeated, it could be a secret."""
    items = [
        (item["loc"], item["msg"], item["type"])
        for item in error.errors(include_input=False, include_url=False, include_context=False)
    ]
    return invalid_items([((where, *loc), msg, kind) for loc, msg, kind in items])


def invalid_items(items: Sequence[tuple[tuple[str | int, ...], str, str]]) -> Denied:
    """A 422 from fields, messages and types."""
    rows = tuple(ValidationItem(loc=loc, msg=msg, type=kind) for loc, msg, kind in items[:50])
    first = rows[0] if rows else None
    named = ".".join(str(part) for part in first.loc[1:]) if first else ""
    fix = f"correct {named or 'the body'}: {first.msg}" if first else "correct the body"
    return Denied(422, ValidationBody(detail=rows, fix=fix))


def wrong_path(called: tuple[str, str], allowed: Sequence[str], known: Collection[str]) -> Denied:
    """A 404 or 405 that names the right path.

    Args:
        called: method and path.
        allowed: methods of that path, none where it does not exist.
        known: the paths of this service.

    Returns:
        The refusal.
    """
    method, path = called
    if allowed:
        said = denied(405, f"{method} is not allowed on {path}", f"use {' or '.join(allowed)}")
        said.headers = {"Allow": ", ".join(allowed)}
        return said
    bare = path.rstrip("/")
    near = bare if bare in known else None
    near = near or next((right for wrong, right in FIXES.items() if path.startswith(wrong)), None)
    fix = f"did you mean {near}?" if near else "see /openapi.json for the paths of this service"
    return denied(404, f"there is no {path} here", fix)
