"""Maps a status to its error, with the service's text and fix."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Final

import httpx
from pydantic import ValidationError

from service_tui.client.errors import (
    Called,
    InvalidError,
    NotFoundError,
    PlanRequiredError,
    RateLimitedError,
    RefusalReason,
    RefusedError,
    ServiceError,
    UnauthenticatedError,
    unanswered,
    unreadable,
)
from service_tui.client.reply import is_object, tree_of
from service_tui.client.retry import http_date, retry_after
from service_tui.units import Timestamp
from service_tui.wire.errors import ValidationBody
from service_tui.wire.payment import Offers, PayOfferBody
from service_tui.wire.text import line, prose

WAITS: Final[dict[int, float | None]] = {429: 5.0, 503: None}
"""Statuses that may ask for a wait, and the wait when they name none, seconds.

ours: five seconds after a 429, because rates are counted by the minute.
"""

KINDS: Final[dict[int, type[RefusedError]]] = {
    401: UnauthenticatedError,
    403: PlanRequiredError,
    404: NotFoundError,
    405: NotFoundError,
    422: InvalidError,
}
FIXES: Final = {
    401: "check the key: the whole of it, no spaces or line breaks, and of this service",
    403: "see on the settings screen what the plan and the agent's state include",
    404: "see whether it still exists, and whether the base address is right",
    429: "wait, and ask less often",
}
"""Fixes for refusals without advice of the service."""

_CODE: Final = re.compile(r"[A-Z][A-Z0-9_]+")


@dataclass(frozen=True, slots=True)
class RawAnswer:
    """Answer as received. `at` is our clock."""

    status: int
    headers: httpx.Headers = field(repr=False)
    raw: bytes = field(repr=False)
    at: Timestamp
    latency_s: float

    @property
    def server_date(self) -> Timestamp | None:
        """The service's clock, if reported."""
        return http_date(self.headers.get("date"))

    @property
    def retry_after_s(self) -> float | None:
        """Seconds to wait, 1 to 60, of a 429 or 503."""
        if self.status not in WAITS:
            return None
        requested_s = retry_after(self.headers.get("retry-after"), self.server_date or self.at)
        return WAITS[self.status] if requested_s is None else requested_s


def error_of(answer: RawAnswer, called: Called) -> ServiceError | None:
    """The error that an answer's status means; None for a 2xx, which is still to be decoded."""
    match answer.status // 100:
        case 2:
            return None
        case 3:
            return unreadable(_redirect(answer), called)
        case 4:
            return _refused(answer, called)
        case 5:
            return unanswered(
                f"the service failed with status {answer.status}{_own_text(answer)}",
                called,
                status=answer.status,
                retry_after_s=answer.retry_after_s,
            )
        case _:
            return unreadable(f"{answer.status} is no status of the protocol", called)


def _own_text(answer: RawAnswer) -> str:
    """The service's own text of a fault, after a colon; empty without one."""
    reason = reason_of(answer.status, answer.raw).error
    return "" if reason == _phrase(answer.status) else f": {reason}"


def _refused(answer: RawAnswer, called: Called) -> ServiceError:
    if answer.status == HTTPStatus.REQUEST_TIMEOUT and not called.reads:
        # A proxy in between may answer 408 to a request that went through.
        return unanswered("the answer is 408, which leaves the outcome open", called)
    reason = reason_of(answer.status, answer.raw)
    if answer.retry_after_s is not None:
        return RateLimitedError(reason, called, retry_after_s=answer.retry_after_s)
    return KINDS.get(answer.status, RefusedError)(reason, called, status=answer.status)


def reason_of(status: int, raw: bytes) -> RefusalReason:
    """Text, fix and code of a refusal in any known shape; harmless, never empty."""
    tree: Mapping[str, object] = tree_of(raw) or {}
    detail = tree.get("detail")
    inner: Mapping[str, object] = detail if is_object(detail) else {}
    fields = _fields(raw) if status == HTTPStatus.UNPROCESSABLE_ENTITY else ValidationBody()
    error = _first(tree.get("error"), inner.get("error"), inner.get("message"))
    code = _first(
        inner.get("code"), inner.get("error_code"), tree.get("error_code"), tree.get("code")
    )
    if _CODE.fullmatch(error):
        # ours: one word in capitals is a code; the sentence then stands beside it.
        code, error = code or error, ""
    error = error or _first(detail, tree.get("message"), inner.get("message"))
    if fields.detail:
        first = fields.detail[0]
        error = line(f"{'.'.join(str(part) for part in first.loc)}: {first.msg}")
    fix = next((prose(text) for text in _texts(tree, inner) if text.strip()), FIXES.get(status, ""))
    return RefusalReason(
        error=error or code or _phrase(status),
        fix=fix,
        code=code,
        detail=fields.detail,
        x402_url=_first(tree.get("x402_url")) or None,
        x402_price=_first(tree.get("x402_price")) or None,
        accepts=_offers(tree) if status == HTTPStatus.TOO_MANY_REQUESTS else (),
    )


def _offers(tree: Mapping[str, object]) -> tuple[PayOfferBody, ...]:
    """Payment offers of a 429; empty if not in the published shape."""
    try:
        return Offers.model_validate({"accepts": tree.get("accepts") or ()}, strict=False).accepts
    except ValidationError:
        return ()


def _texts(tree: Mapping[str, object], inner: Mapping[str, object]) -> list[str]:
    """Fields where services put their advice, best first."""
    candidates = (tree.get("fix"), inner.get("fix"), tree.get("error_hint"), tree.get("hint"))
    return [text for text in candidates if isinstance(text, str)]


def _fields(raw: bytes) -> ValidationBody:
    """The fields of a 422; none when they are not in the usual shape."""
    try:
        return ValidationBody.model_validate_json(raw)
    except ValidationError:
        return ValidationBody()


def _first(*values: object) -> str:
    """The first of some values that is a text, as one harmless line."""
    return next((text for value in values if isinstance(value, str) and (text := line(value))), "")


def _phrase(status: int) -> str:
    """Standard phrase of a status."""
    known = next((entry.phrase.lower() for entry in HTTPStatus if entry.value == status), "")
    return known or "no reason given"


def _redirect(answer: RawAnswer) -> str:
    """A sentence that names the host of a redirect."""
    if answer.status == HTTPStatus.NOT_MODIFIED:
        return "the service says that nothing has changed, which it was not asked"
    try:
        host = line(httpx.URL(answer.headers.get("location", "")).host)
    except httpx.InvalidURL:
        host = ""
    target = f"to {host}" if host else "elsewhere"
    return f"the service sends us {target}; redirects are never followed, check the base address"
