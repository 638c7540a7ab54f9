"""The simulated chain at work: transactions come into blocks and do what their contracts do.

A redemption behaves as the real contracts do: one of a losing side, or a second one, succeeds,
pays 0 and burns what is there.
"""

from typing import Final, NamedTuple

from service_tui.engine.books.catalogue import condition_of
from service_tui.engine.books.venues import Times, Venues
from service_tui.engine.chain.chain import Chain, Tx, gas_of
from service_tui.engine.chain.redemption import AccountPosition
from service_tui.engine.chain_events import CallKind, ChainCall, PlannedOutcome, TxMined, TxStatus
from service_tui.engine.events import Event, PositionRedeemed
from service_tui.terms import Side, Venue
from service_tui.units import Micros, sum_of

SIDES: Final = (Side.YES, Side.NO)
"""In the order of the contract's outcome slots. Source: wire reference, 6.6."""

UNSETTLED: Final = "result for condition not received yet"
TOO_MUCH: Final = "SafeMath: subtraction overflow"
NOT_APPROVED: Final = "ERC1155: need operator approval for 3rd party transfers"
"""Words of the real contracts. Source: conditional tokens and ERC-1155, as deployed."""


class TokenBurn(NamedTuple):
    """Shares of one side that a redemption takes."""

    side: Side
    shares: Micros


class CallResult(NamedTuple):
    """What a call does: why it reverts, or where it burns what."""

    why: str = ""
    found: AccountPosition | None = None
    burns: tuple[TokenBurn, ...] = ()

    def payout(self) -> Micros:
        """Money that it brings."""
        if self.found is None:
            return Micros(0)
        holding = self.found.holding
        return sum_of(holding.brings(burn.side, burn.shares) for burn in self.burns)


def produce_blocks(chain: Chain, venues: Venues, times: Times) -> list[Event]:
    """Put on the chain what is due: each transaction of an address after the one before it.

    Returns:
        The events, already applied.
    """
    events: list[Event] = []
    for tx in chain.due(times[0]) if chain.txs else ():
        sent = tx.sent
        if sent.planned is PlannedOutcome.DROP:
            lost = TxMined(sent.tx_hash, sent.agent_id, times[0], TxStatus.DROPPED, 0, 0, 0)
            chain.apply(lost)
            events.append(lost)
            continue
        fee, wallet = cost_of(tx, chain.pace.gas_price), chain.wallets[sent.sender.lower()]
        # One whose gas is too little now waits, as on a real chain, until there is enough again.
        if wallet.nonce == sent.nonce and wallet.gas >= fee:
            events += _execute(chain, venues, tx, times)
    return events


def cost_of(tx: Tx, gas_price: int) -> int:
    """Wei that a transaction burns at a price of gas, which its own bound caps."""
    return min(tx.sent.gas, gas_of(tx.sent.call)) * min(gas_price, tx.sent.max_fee)


def _execute(chain: Chain, venues: Venues, tx: Tx, times: Times) -> list[Event]:
    """Carry out one transaction: gas is burned whatever comes of it."""
    sent, fee = tx.sent, cost_of(tx, chain.pace.gas_price)
    outcome = _outcome_of(chain, venues, tx)
    payout = outcome.payout()
    events: list[Event] = [*_burned(venues, outcome, tx, times)]
    mined = TxMined(
        sent.tx_hash,
        sent.agent_id,
        times[0],
        TxStatus.FAILED if outcome.why else TxStatus.CONFIRMED,
        max(sent.due, 0),
        min(sent.gas, gas_of(sent.call)),
        fee,
        payout,
        outcome.why,
    )
    chain.apply(mined)
    return [*events, mined]


def _burned(venues: Venues, outcome: CallResult, tx: Tx, times: Times) -> list[PositionRedeemed]:
    """Take the shares, and pay for those that pay."""
    if outcome.found is None:
        return []
    account, holding = outcome.found
    position = holding.position
    events = [
        PositionRedeemed(
            tx.sent.agent_id,
            account.venue,
            position.market_id,
            burn.side,
            burn.shares,
            position.on(burn.side).cost_of(burn.shares),
            holding.brings(burn.side, burn.shares),
            *times,
            tx.sent.tx_hash,
            venues.wallets.get(tx.sent.agent_id),
        )
        for burn in outcome.burns
    ]
    for event in events:
        venues.apply(event)
    return events


def _outcome_of(chain: Chain, venues: Venues, tx: Tx) -> CallResult:
    """What a transaction does, with the fault that was ordered for it."""
    sent = tx.sent
    if sent.planned is PlannedOutcome.REVERT:
        return CallResult("execution reverted")
    if sent.gas < gas_of(sent.call):
        return CallResult("out of gas")
    return CallResult() if sent.call.approval else outcome_of(chain, venues, sent.sender, sent.call)


def outcome_of(chain: Chain, venues: Venues, sender: str, call: ChainCall) -> CallResult:
    """What a redemption by an address would do now; nothing changes."""
    wallet = chain.wallet(sender)
    found = None
    # ours: the relay takes nothing of a wallet that is not linked, so that it burns nothing either.
    if wallet is not None and venues.is_linked(wallet.agent_id, sender):
        found = _of_condition(venues, wallet.agent_id, call.condition)
    if wallet is None or found is None:
        # A condition of which the address holds nothing: there is nothing to burn.
        return CallResult()
    by_adapter = call.kind is CallKind.REDEEM_ADAPTER
    if found.holding.outcome is None:
        return CallResult(UNSETTLED)
    if by_adapter and call.operator not in wallet.approvals:
        return CallResult(NOT_APPROVED)
    # Tokens of a negative-risk question have another collateral: each contract finds its own only.
    if by_adapter is not found.holding.neg_risk:
        return CallResult(TOO_MUCH) if by_adapter else CallResult()
    return _by_amounts(found, call) if by_adapter else _by_sets(found, call)


def _by_sets(found: AccountPosition, call: ChainCall) -> CallResult:
    """The standard contract burns all of the outcomes that are named."""
    burns = (
        TokenBurn(side, found.holding.on_chain(side))
        for slot, side in enumerate(SIDES)
        if 1 << slot in call.numbers
    )
    return CallResult("", found, tuple(burn for burn in burns if burn.shares))


def _by_amounts(found: AccountPosition, call: ChainCall) -> CallResult:
    """The adapter burns the amounts that are named, and reverts where there are less."""
    burns = [
        TokenBurn(side, Micros(amount)) for side, amount in zip(SIDES, call.numbers, strict=False)
    ]
    if any(burn.shares > found.holding.on_chain(burn.side) for burn in burns):
        return CallResult(TOO_MUCH)
    return CallResult("", found, tuple(burn for burn in burns if burn.shares))


def _of_condition(venues: Venues, agent_id: str, condition: str) -> AccountPosition | None:
    """What an agent holds of a condition of the chain."""
    account = venues.account(agent_id, Venue.EVM)
    for market_id, holding in account.holdings.items():
        if condition_of(market_id) == condition.lower():
            return AccountPosition(account, holding)
    return None
