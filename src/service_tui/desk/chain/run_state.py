"""Stored state of a transaction run, as JSON in the journal and back."""

import json
from dataclasses import asdict, dataclass, replace
from typing import TypedDict, Unpack

from service_tui.addresses import is_address
from service_tui.desk.slices.redemption import (
    CallView,
    ChainRunState,
    RunProblem,
    RunView,
    StepView,
)
from service_tui.records import read
from service_tui.units import Micros, Timestamp


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
        whole = json.loads(text)
        body = read(TransactionRunState, whole | {"confirmed": whole["confirmed"] is True})
        _check(body)
    except (KeyError, TypeError, AttributeError, RecursionError) as error:
        raise ValueError("unknown transaction record") from error
    return body


def _check(body: TransactionRunState) -> None:
    """Raise where a figure is no count, or what is to be signed is no call."""
    figures: list[object] = [body.begun, body.run.amount]
    if (call := body.to_sign) is not None:
        figures += [call.chain_id, call.nonce, call.gas, call.max_fee, call.max_priority_fee]
        bytes.fromhex(call.data)
        if not is_address(call.to):
            raise ValueError("not an address")
    for figure in figures:
        if not isinstance(figure, int) or isinstance(figure, bool) or figure < 0:
            raise ValueError("not a count")
    for step in body.run.steps:
        float(step.at)
