"""Stored state of a transaction run, as JSON in the journal and back."""

import json
from dataclasses import asdict, dataclass, replace
from typing import Any, TypedDict, Unpack

from service_tui.addresses import is_address
from service_tui.desk.slices.redemption import (
    CallView,
    ChainRunState,
    RunProblem,
    RunView,
    Step,
    StepView,
)
from service_tui.terms import Side, Venue
from service_tui.units import Micros, Timestamp

Fields = dict[str, Any]
"""A record's fields as JSON gives them; every use below makes typed values of them."""


class RunChanges(TypedDict, total=False):
    """Fields of a run that change on its way."""

    state: ChainRunState
    steps: tuple[StepView, ...]
    tx_hash: str
    call: CallView | None
    amount: Micros
    reason: RunProblem | None
    words: str
    fix: str
    again_at: Timestamp | None
    managed: bool
    opened_at: Timestamp | None
    settled_at: Timestamp | None


@dataclass(frozen=True, slots=True, kw_only=True)
class SignedCall:
    """The transaction that is to be signed, in figures; `data` is hex."""

    chain_id: int
    nonce: int
    gas: int
    max_fee: int
    max_priority_fee: int
    to: str
    data: str

    @property
    def cost_max(self) -> int:
        """The most that it can cost, wei."""
        return self.gas * self.max_fee


@dataclass(frozen=True, slots=True)
class TransactionRunState:
    """Everything that a run needs after a restart: its view and the transaction to sign.

    `confirmed`: the person has confirmed it, or allows it automatically. `begun`: how often
    the step that comes next was taken up, with no word since that the program lives on with it.
    """

    run: RunView
    to_sign: SignedCall | None = None
    confirmed: bool = False
    begun: int = 0

    def with_run(self, **changes: Unpack[RunChanges]) -> "TransactionRunState":
        """The same with other fields of the run."""
        return replace(self, run=replace(self.run, **changes))


def dump(body: TransactionRunState) -> str:
    """The state as JSON text."""
    return json.dumps(asdict(body), separators=(",", ":"), allow_nan=False)


def load(text: str) -> TransactionRunState:
    """Load the state that `dump` wrote.

    Returns:
        The loaded state.

    Raises:
        ValueError: it was made by something else.
    """
    try:
        whole: Fields = json.loads(text)
        to_sign: Fields | None = whole["to_sign"]
        return TransactionRunState(
            run=_run(whole["run"]),
            to_sign=None if to_sign is None else _signed_call(to_sign),
            confirmed=whole["confirmed"] is True,
            begun=_whole(whole.get("begun", 0)),
        )
    except (KeyError, TypeError, AttributeError, RecursionError) as error:
        raise ValueError("unknown transaction record") from error


def _signed_call(fields: Fields) -> SignedCall:
    call = SignedCall(**fields)
    for figure in (call.chain_id, call.nonce, call.gas, call.max_fee, call.max_priority_fee):
        _whole(figure)
    bytes.fromhex(call.data)
    if not is_address(call.to):
        raise ValueError("not an address")
    return call


def _whole(value: object) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise ValueError("not a count")
    return value


def _run(fields: Fields) -> RunView:
    call: Fields | None = fields["call"]
    reason: str | None = fields["reason"]
    read: Fields = {
        **fields,
        "side": Side(fields["side"]),
        "venue": Venue(fields["venue"]),
        "state": ChainRunState(fields["state"]),
        "steps": tuple(_step(one) for one in fields["steps"]),
        "call": None if call is None else _call(call),
        "reason": None if reason is None else RunProblem(reason),
    }
    _whole(fields["amount"])
    return RunView(**read)


def _step(fields: Fields) -> StepView:
    return StepView(Step(fields["step"]), Timestamp(float(fields["at"])), str(fields["words"]))


def _call(fields: Fields) -> CallView:
    pairs = tuple((name, value) for name, value in fields["arguments"])
    read: Fields = {**fields, "arguments": pairs}
    return CallView(**read)
