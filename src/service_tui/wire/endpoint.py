"""The type of an endpoint: method, path, bodies, plan."""

from dataclasses import dataclass
from typing import Final, Generic, TypeVar

from service_tui.terms import PersonRole, Plan
from service_tui.wire.base import WireModel

SDK: Final = "/api/sdk"
DESK: Final = "/api/desk"

OF_ALL_AGENTS: Final = 8
"""Times the usual bounds of an answer about every agent of a desk: some thousands of agents."""

Answer = TypeVar("Answer", bound=WireModel)
Answer_co = TypeVar("Answer_co", bound=WireModel, covariant=True)


@dataclass(frozen=True, slots=True)
class Endpoint(Generic[Answer_co]):
    """An endpoint of the service.

    `asks` is the body, `query` the parameters behind the question mark, both None where there
    are none. `keyless` needs no key; `role` is the least one of an operator who may call it, None
    where it is not the operators'.
    `key_helps` marks a keyless one that knows more of a caller with a key. The answer of one that
    `streams` is not one body but many, as server-sent events, and has no end.
    `once` moves money: repeated under the same Idempotency-Key, it is carried out once. `price` is
    what each call costs, micros of USDC; 0 is free. `refuses` is the status of one that is only
    here to say in a plain sentence that this service has no such thing; 0 for every other.
    A POST that is `bodyless` has no payload by the reference: without a body and with an empty one
    it is carried out as with `{}`. Source: decisions, "Payload none".
    `room` is how many times the usual bounds its answer may be: ours, of the desk's own lists that
    are of one moment, and so of one answer, however many agents there are.
    """

    method: str
    path: str
    answers: type[Answer_co]
    request: type[WireModel] | None = None
    query: type[WireModel] | None = None
    plan: Plan = Plan.FREE
    keyless: bool = False
    role: PersonRole | None = None
    key_helps: bool = False
    streams: bool = False
    summary: str = ""
    once: bool = False
    price: int = 0
    refuses: int = 0
    bodyless: bool = False
    room: int = 1

    @property
    def operator(self) -> bool:
        """True when the call wants an operator's key."""
        return self.role is not None

    @property
    def reads(self) -> bool:
        """True when the call changes nothing and may be repeated."""
        return self.method == "GET"
