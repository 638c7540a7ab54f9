"""Every error that a call can raise.

ServiceError
├── UnreachableError         surely not sent: no connection
├── ReadOnlyError            surely not sent: this client may only read
├── HeldBackError            surely not sent: forbidden at the last moment
├── OutcomeUnknownError      a write that may have been sent, and no answer to believe
├── ServiceFaultError        a read without an answer: silence, dropped line, 5xx; ask again
├── MalformedError           an answer, but not of the protocol
└── RefusedError             an orderly no: status, error, fix, code
    ├── UnauthenticatedError 401
    ├── PlanRequiredError    403
    ├── NotFoundError        404, 405
    ├── InvalidError         422, with the fields
    └── RateLimitedError     429, with the wait
"""

from dataclasses import dataclass

from service_tui.wire.errors import ValidationItem
from service_tui.wire.payment import PayOfferBody


@dataclass(frozen=True, slots=True)
class Called:
    """Method and path of a call, without query or body."""

    method: str
    path: str

    @property
    def reads(self) -> bool:
        """True if the call changes nothing, so that it may be retried."""
        return self.method == "GET"


@dataclass(frozen=True, slots=True)
class RefusalReason:
    """Text, fix and code of a refusal; sanitised, never followed.

    `x402_url`, `x402_price` and the offers in `accepts` are inert: nothing here opens or pays them
    (decisions, "x402").
    """

    error: str
    fix: str = ""
    code: str = ""
    detail: tuple[ValidationItem, ...] = ()
    x402_url: str | None = None
    x402_price: str | None = None
    accepts: tuple[PayOfferBody, ...] = ()


class ServiceError(Exception):
    """A call without a usable answer; `str()` is one sentence that may be shown."""

    def __init__(self, sentence: str, called: Called) -> None:
        super().__init__(f"{sentence} ({called.method} {called.path})")
        self.sentence = sentence
        self.called = called


class UnreachableError(ServiceError):
    """Surely not sent: name, connection or TLS failed before the first byte of the request."""


class ReadOnlyError(ServiceError):
    """Surely not sent: the client was opened for reading only."""


class HeldBackError(ServiceError):
    """Surely not sent: vetoed right before it left."""


class OutcomeUnknownError(ServiceError):
    """A write that may have been carried out: look it up, never send it again."""


class ServiceFaultError(ServiceError):
    """A read without an answer; nothing changed, so it may be retried.

    `status` is None without an answer; `retry_after_s` is the pause that the service requested.
    """

    def __init__(
        self,
        sentence: str,
        called: Called,
        *,
        status: int | None = None,
        retry_after_s: float | None = None,
    ) -> None:
        super().__init__(sentence, called)
        self.status = status
        self.retry_after_s = retry_after_s


class MalformedError(ServiceError):
    """An answer that is not of the protocol: a portal page, a redirect, another shape."""


class RefusedError(ServiceError):
    """An orderly refusal: nothing was done, and `fix` is what to do."""

    def __init__(self, reason: RefusalReason, called: Called, *, status: int) -> None:
        super().__init__(f"refused with {status}: {reason.error}", called)
        self.status = status
        self.reason = reason
        self.error = reason.error
        self.fix = reason.fix
        self.code = reason.code


class UnauthenticatedError(RefusedError):
    """401: the key is missing, wrong, or was refused before.

    `is_revoked`: no call uses the key for now; else this path alone stops.
    """

    def __init__(
        self, reason: RefusalReason, called: Called, *, status: int = 401, is_revoked: bool = False
    ) -> None:
        super().__init__(reason, called, status=status)
        self.is_revoked = is_revoked


class PlanRequiredError(RefusedError):
    """403: the plan or the state of the agent does not include this."""


class NotFoundError(RefusedError):
    """404 or 405: no such thing, or no such path."""


class InvalidError(RefusedError):
    """422: fields of the request are not acceptable; `detail` names them."""

    def __init__(self, reason: RefusalReason, called: Called, *, status: int = 422) -> None:
        super().__init__(reason, called, status=status)
        self.detail = reason.detail


class RateLimitedError(RefusedError):
    """429, or blocked here because of one: retry after `retry_after_s` seconds, 1 to 60."""

    def __init__(
        self, reason: RefusalReason, called: Called, *, retry_after_s: float, status: int = 429
    ) -> None:
        super().__init__(reason, called, status=status)
        self.retry_after_s = retry_after_s
        self.x402_url = reason.x402_url
        self.x402_price = reason.x402_price
        self.accepts = reason.accepts


def unanswered(
    sentence: str,
    called: Called,
    *,
    status: int | None = None,
    retry_after_s: float | None = None,
) -> ServiceError:
    """The error of a call that was sent and brought nothing: harmless for a read only."""
    if called.reads:
        return ServiceFaultError(sentence, called, status=status, retry_after_s=retry_after_s)
    return OutcomeUnknownError(sentence, called)


def unreadable(sentence: str, called: Called) -> ServiceError:
    """The error of an answer that cannot be believed: after a write the outcome is open."""
    return (
        MalformedError(sentence, called) if called.reads else OutcomeUnknownError(sentence, called)
    )
