"""Turns refusals and faults into statuses and bodies; no other module does."""

import math
import re
from collections.abc import Collection, Sequence
from difflib import get_close_matches
from typing import Final

from pydantic import ValidationError

from service_tui.engine.errors import LimitReached, NotAllowed, NotClaimed, NotFound, Refusal
from service_tui.server.http.payments import VERSION, offer_for
from service_tui.units import Micros, NotMicrosError, micros
from service_tui.wire.base import WireModel
from service_tui.wire.endpoint import (
    SDK,
)
from service_tui.wire.errors import ErrorBody, ValidationBody, ValidationItem

STATUS: Final[tuple[tuple[type[Refusal], int], ...]] = (
    (NotFound, 404),
    (NotAllowed, 403),
    (LimitReached, 429),
)
"""Status of a refusal outside `POST /trade`, first match wins, else 400."""

X402_PRICE: Final = "$0.005"
"""Of one call above the rate. Source: spec, "Limits", pay-per-call."""

FIXES: Final = {
    f"{SDK}/agent/register": f"{SDK}/agents/register",
    f"{SDK}/agents/create": f"{SDK}/agents/register",
    f"{SDK}/register": f"{SDK}/agents/register",
    f"{SDK}/agent/me/settings": f"{SDK}/agents/me/settings",
    f"{SDK}/agent/settings": f"{SDK}/agents/me/settings",
    f"{SDK}/agent": f"{SDK}/agents/me",
    f"{SDK}/agents": f"{SDK}/agents/me",
    f"{SDK}/me": f"{SDK}/agents/me",
    f"{SDK}/market/import": f"{SDK}/markets/import",
    f"{SDK}/import": f"{SDK}/markets/import",
    f"{SDK}/market": f"{SDK}/markets",
    f"{SDK}/position/expiring": f"{SDK}/positions/expiring",
    f"{SDK}/monitor": f"{SDK}/positions/monitors",
    f"{SDK}/position": f"{SDK}/positions",
    f"{SDK}/trade/batch": f"{SDK}/trades/batch",
    f"{SDK}/batch": f"{SDK}/trades/batch",
    f"{SDK}/trade/history": f"{SDK}/trades",
    f"{SDK}/trade": f"{SDK}/trade",
    f"{SDK}/buy": f"{SDK}/trade",
    f"{SDK}/sell": f"{SDK}/trade",
    f"{SDK}/order": f"{SDK}/orders/open",
    f"{SDK}/user": f"{SDK}/user/settings",
    f"{SDK}/alerts": f"{SDK}/risk-alerts",
    f"{SDK}/reactor/signals": f"{SDK}/reactor/pending",
    f"{SDK}/reactor": f"{SDK}/reactor/config",
    f"{SDK}/autoresearch": f"{SDK}/autoresearch/experiments",
    f"{SDK}/experiments": f"{SDK}/autoresearch/experiments",
    f"{SDK}/backtest": f"{SDK}/autoresearch/backtest",
    f"{SDK}/wallet/derive": f"{SDK}/wallet/credentials/derive-via-proxy",
    f"{SDK}/auto-redeem": f"{SDK}/redeem",
}
"""Begins of wrong paths that outdated clients send, also with an s behind, and the right ones; the
first that matches counts, of those that this service has."""

_SEGMENTS: Final = re.compile(r"/(?:api|sdk|v\d+)(?=/)")
"""What stands before the names of things, in any order that somebody may remember."""

_TYPE_NAME: Final = re.compile(r"[\[\](<>]|\A(?:str|int|float|bool|none|nullable)\Z")
"""Parts of a validator's place that name a type, not a field."""

_CHOICE: Final = re.compile(r"Input should be '[^']*'(?:(?:,| or) '[^']*')*\Z")
"""Message that lists the values which a field accepts."""

Item = tuple[tuple[str | int, ...], str, str]
"""A field, what is wrong with it, and the kind of fault."""

_ITEMS: Final = r"Input should have at \1 \2"
_PLAIN: Final = (
    (re.compile(r"<\w+(?:\.\w+)+: ('[^']*')>"), r"\1"),
    (re.compile(r" or instance of \w+"), ""),
    (re.compile(r"a valid dictionary"), "an object"),
    (re.compile(r"\AValue error, "), ""),
    (re.compile(r"\bNone\b"), "null"),
    (re.compile(r"\bvalid (?:tuple|list|set|frozenset)\b"), "valid array"),
    (re.compile(r"\A\w+ should have at (least|most) (\d+ items?) after validation"), _ITEMS),
    (re.compile(r" after validation\b"), ""),
)
"""Words of the validator's own language, and those of the wire."""

PATH_MAX: Final = 200
"""Letters of a wrong path that are looked at; a longer one is like none of ours."""


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
    """A 401 with what to check."""
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


def throttled(limit: int, wait_s: float, url: str, *, grows: bool) -> Denied:
    """A 429: calls a minute, when the next may come, and where one would pay for this one.

    `grows` is True where a larger plan has more of these calls.
    """
    counted = f"{limit} calls a minute are"
    return Denied(
        429,
        ErrorBody(
            error="Rate limit exceeded",
            detail=f"{counted} included in the plan" if grows else f"{counted} answered",
            fix=_wait(wait_s) + ("; a larger plan has more calls a minute" if grows else ""),
            limit=limit,
            x402_url=url,
            x402_price=X402_PRICE,
            x402_version=VERSION,
            accepts=(offer_for(url),),
        ),
        _retry_after(wait_s),
    )


def scarce(limit: int, span: str, wait_s: float, url: str) -> Denied:
    """A 429 of what is counted beside the rate: so many in a `span`, on every plan.

    It offers no payment: one more of these is not for sale.
    """
    return Denied(
        429,
        ErrorBody(
            error="Rate limit exceeded",
            detail=f"{limit} of these {span} are answered",
            fix=_wait(wait_s),
            limit=limit,
            # The interface names it for each 429.
            x402_url=url,
        ),
        _retry_after(wait_s),
    )


def _wait(wait_s: float) -> str:
    return f"wait {_whole(wait_s)} s and try again"


def _retry_after(wait_s: float) -> dict[str, str]:
    return {"Retry-After": str(_whole(wait_s))}


def _whole(wait_s: float) -> int:
    return max(1, math.ceil(wait_s))


def from_refusal(refusal: Refusal) -> Denied:
    """An engine's no, outside the trade endpoint."""
    status = next((status for kind, status in STATUS if isinstance(refusal, kind)), 400)
    return denied(status, refusal.error, refusal.fix)


def invalid(error: ValidationError, where: str) -> Denied:
    """A 422 in the usual shape; what was sent is not repeated, it could be a secret."""
    items = [
        ((where, *_place_of(item["loc"])), plain(item["msg"]), item["type"])
        for item in error.errors(include_input=False, include_url=False, include_context=False)
    ]
    # Several kinds of a field that accepts more than one come to the same in plain words.
    return invalid_items(_in_one_choice(list(dict.fromkeys(items))))


def _in_one_choice(items: Sequence[Item]) -> list[Item]:
    """The same items; a field that is one of several kinds of choices names all of them at once."""
    found: list[Item] = []
    for place, message, kind in items:
        last = found[-1] if found else None
        if last is not None and last[0] == place and all(map(_CHOICE.match, (last[1], message))):
            choices = [word for one in (last[1], message) for word in re.findall(r"'[^']*'", one)]
            merged = f"Input should be {', '.join(choices[:-1])} or {choices[-1]}"
            found[-1] = (place, merged, last[2])
        else:
            found.append((place, message, kind))
    return found


def _place_of(loc: tuple[int | str, ...]) -> tuple[int | str, ...]:
    """A place without the names of types that stand in it for a field of several kinds."""
    return tuple(part for part in loc if isinstance(part, int) or not _TYPE_NAME.search(part))


def plain(message: str) -> str:
    """A message of the validator without the names of classes and of members of enums."""
    for pattern, words in _PLAIN:
        message = pattern.sub(words, message)
    return message


def invalid_items(items: Sequence[Item]) -> Denied:
    """A 422 from fields, messages and types."""
    rows = tuple(ValidationItem(loc=loc, msg=msg, type=kind) for loc, msg, kind in items[:50])
    first = rows[0] if rows else None
    named = ".".join(str(part) for part in first.loc[1:]) if first else ""
    whole = f"the {first.loc[0]}" if first else "the body"
    fix = f"correct {named or whole}: {first.msg}" if first else "correct the body"
    return Denied(422, ValidationBody(detail=rows, fix=fix))


def sent_micros(place: tuple[str | int, ...], value: float) -> Micros:
    """An amount that was sent, in whole micros.

    Raises:
        Denied: 422 for more decimals than a micro.
    """
    try:
        return micros(value)
    except NotMicrosError as error:
        raise invalid_items([(place, str(error), "decimal")]) from error


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
        denial = denied(405, f"{method} is not allowed on {path}", f"use {' or '.join(allowed)}")
        denial.headers = {"Allow": ", ".join(allowed)}
        return denial
    near = _near(path, known) if len(path) <= PATH_MAX else None
    fix = f"did you mean {near}?" if near else "see /openapi.json for the paths of this service"
    return denied(404, f"there is no {path} here", fix)


def _near(path: str, known: Collection[str]) -> str | None:
    """The path of this service that was most likely meant."""
    bare = re.sub("/+", "/", path).rstrip("/").lower()
    rest = bare
    while found := _SEGMENTS.match(rest):
        rest = rest[found.end() :]
    whole = SDK + rest
    for one in (bare, whole):
        if any(_fits(one, path) for path in known):
            return one
    for wrong, right in FIXES.items():
        if right in known and re.match(rf"{wrong}s?(?:/|\Z)", whole):
            return right
    return next(iter(get_close_matches(whole, known, n=1, cutoff=0.85)), None)


def _fits(path: str, known: str) -> bool:
    """Whether a path is one of the table's, with something in the place of each id."""
    here, there = path.split("/"), known.split("/")
    return len(here) == len(there) and all(
        part == name or (part and name.startswith("{"))
        for part, name in zip(here, there, strict=True)
    )
