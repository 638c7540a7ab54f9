"""An agent's buys, sales and payouts in one form for every venue."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from service_tui.engine.chain_events import WalletLinked
from service_tui.engine.events import Fill, OrderFilled, OrderPlaced
from service_tui.outcome import Outcome
from service_tui.server.past.history import (
    FILL,
    LOST,
    ORDER,
    ORDER_FILL,
    PAYOUT,
    SETTLED,
    WALLET,
    Paid,
    Past,
    SettledSide,
)
from service_tui.terms import SIGNAL_RANGES, Action, Side, Venue
from service_tui.units import Micros, Timestamp, figure_within

FILLS: Final = (FILL, ORDER, ORDER_FILL)
ALL: Final = (*FILLS, PAYOUT, SETTLED, LOST)
"""Kinds of rows that record fills and everything else that closes a position."""

WITH_WALLETS: Final = (*ALL, WALLET)
"""The same, and whose holdings they are of."""


@dataclass(frozen=True, slots=True)
class AgentFill:
    """Shares for money. `money` is what left or came, the fee included; `price` is without it.

    `price_before` and `price_after` are of the side, None where a resting order was met. `wallet`
    is the address that traded on the EVM venue, empty for the managed wallet and elsewhere.
    """

    trade_id: str
    venue: Venue
    market_id: str
    side: Side
    action: Action
    shares: Micros
    money: Micros
    price: float
    at: Timestamp
    skill: str
    reasoning: str
    price_before: float | None = None
    price_after: float | None = None
    signals: Mapping[str, str | float | int] = field(default_factory=dict[str, str | float | int])
    wallet: str = ""

    def signal(self, name: str) -> float | None:
        """A figure of the trader's signal data, one of `SIGNAL_RANGES`; None if it sent none."""
        return figure_within(self.signals.get(name), SIGNAL_RANGES[name])


@dataclass(frozen=True, slots=True)
class AgentPayout:
    """One side of a market whose outcome is confirmed, and what all of it brings."""

    venue: Venue
    market_id: str
    side: Side
    at: Timestamp
    outcome: Outcome
    payout: Micros


def in_one_form(past: Iterable[Past]) -> list[AgentFill | AgentPayout]:
    """The past of an agent, which is given oldest first and stays so."""
    placed: dict[str, OrderPlaced] = {}
    found: list[AgentFill | AgentPayout] = []
    for one, wallet in _by_wallet(tuple(past)):
        match one:
            case Fill():
                found.append(_of_sim(one))
            case OrderPlaced():
                placed[one.order_id] = one
                if one.shares:
                    found.append(_of_wallet(_at_once(one), wallet))
            case OrderFilled():
                if (met := _while_it_rested(one, placed.get(one.order_id))) is not None:
                    found.append(_of_wallet(met, wallet))
            case Paid() | SettledSide():
                paid = one.payout
                venue = one.venue if isinstance(one, SettledSide) else Venue.SIM
                found.append(
                    AgentPayout(venue, one.market_id, paid.side, one.at, one.outcome, paid.payout)
                )
            case _:
                # A redemption brings what was counted when the outcome was confirmed.
                continue
    return found


def _by_wallet(past: Sequence[Past]) -> Iterator[tuple[Past, str]]:
    """The same past, each with the wallet that was linked then."""
    # Up to the first change all is of the wallet that was left then: money had followed the agent.
    changes = (one.left for one in past if isinstance(one, WalletLinked))
    wallet, has_changed = next((left for left in changes if left is not None), ""), False
    for one in past:
        if isinstance(one, WalletLinked) and (has_changed or one.left is not None):
            has_changed, wallet = True, one.address.lower()
        yield one, wallet


def _of_wallet(fill: AgentFill, wallet: str) -> AgentFill:
    return replace(fill, wallet=wallet) if wallet and fill.venue is Venue.EVM else fill


def _of_sim(fill: Fill) -> AgentFill:
    return AgentFill(
        trade_id=fill.trade_id,
        venue=Venue.SIM,
        market_id=fill.market_id,
        side=fill.side,
        action=fill.action,
        shares=fill.shares,
        money=fill.money,
        price=_price(fill.money, fill.shares),
        at=fill.at,
        skill=fill.note.skill_slug,
        reasoning=fill.note.reasoning,
        price_before=fill.price_before,
        price_after=fill.price_after,
        signals=fill.note.signal_data or {},
    )


def _at_once(order: OrderPlaced) -> AgentFill:
    """What an order met when it came: who takes pays the fee."""
    fee = order.fee if order.action is Action.BUY else -order.fee
    return AgentFill(
        trade_id=order.order_id,
        venue=order.venue,
        market_id=order.market_id,
        side=order.side,
        action=order.action,
        shares=order.shares,
        money=Micros(order.money + fee),
        price=_price(order.money, order.shares),
        at=order.at,
        skill=order.note.skill_slug,
        reasoning=order.note.reasoning,
        price_before=order.price_before,
        price_after=order.price_after,
        signals=order.note.signal_data or {},
    )


def _while_it_rested(filled: OrderFilled, order: OrderPlaced | None) -> AgentFill | None:
    """Later fills of an order; None where neither row has what was traded."""
    venue, side, action = filled.venue, filled.side, filled.action
    if order is not None:
        venue, side, action = order.venue, order.side, order.action
    if venue is None or side is None or action is None:
        return None
    return AgentFill(
        trade_id=filled.order_id,
        venue=venue,
        market_id=filled.market_id,
        side=side,
        action=action,
        shares=filled.shares,
        money=filled.money,
        price=_price(filled.money, filled.shares),
        at=filled.at,
        skill=order.note.skill_slug if order is not None else filled.skill_slug,
        reasoning=order.note.reasoning if order is not None else "",
        signals=(order.note.signal_data if order is not None else None) or {},
    )


def _price(money: Micros, shares: Micros) -> float:
    """The average, which dust may carry a hair above what a share can pay."""
    return min(1.0, money / shares)
