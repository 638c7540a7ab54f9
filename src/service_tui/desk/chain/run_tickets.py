"""Redemptions as rows of the blotter: subject, market, amount, hash and end. Pure.

A run stands in a journal of its own, step by step; a second row of the same in the journal of
orders could only disagree with it.
"""

from typing import Final

from service_tui.desk.slices.redemption import ChainRunState, RunView, Step
from service_tui.desk.slices.tickets import TicketState, TicketView
from service_tui.units import Timestamp, decimal

KIND: Final = "redeem"

_STATES: Final = {
    ChainRunState.RUNNING: TicketState.QUEUED,
    ChainRunState.UNCONFIRMED: TicketState.UNKNOWN,
    ChainRunState.REPORTING: TicketState.SENT,
    ChainRunState.DONE: TicketState.DONE,
    ChainRunState.REFUSED: TicketState.REFUSED,
    ChainRunState.FAILED: TicketState.FAILED,
}
"""What a run is called among orders; one that waits for the person's yes is none yet."""


def run_tickets(runs: tuple[RunView, ...]) -> tuple[TicketView, ...]:
    """The rows of these runs.

    Returns:
        One for each that was ordered, in the same order; its reference is the transaction's hash.
    """
    return tuple(_ticket(run) for run in runs if run.state in _STATES)


def _ticket(run: RunView) -> TicketView:
    state, sent_at = _STATES[run.state], run.at(Step.BROADCAST)
    if state is TicketState.QUEUED and (sent_at is not None or run.managed):
        state = TicketState.SENT
    opened_at = run.opened_at
    if opened_at is None:
        # A run that an earlier version of this program wrote down.
        opened_at = run.steps[0].at if run.steps else Timestamp(0.0)
    amount = f" for {decimal(run.amount):,.2f} {run.money}" if run.amount else ""
    return TicketView(
        ticket_id=f"{KIND}:{run.key}",
        kind=KIND,
        market_id=run.market_id,
        what=f"redeem {run.side.value.upper()}{amount}",
        state=state,
        opened_at=opened_at,
        sent_at=sent_at,
        settled_at=run.settled_at,
        outcome=run.words,
        fix=run.fix,
        client_ref=run.tx_hash,
        amount=run.amount,
        question=run.question,
    )
