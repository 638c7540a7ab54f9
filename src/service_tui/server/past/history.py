"""The agent's past, from rows of the journal: fills, orders and payouts as trades of the wire."""

import json
from collections.abc import Mapping
from types import MappingProxyType
from typing import Final, NamedTuple

from service_tui.engine.chain_events import WalletLinked
from service_tui.engine.codec.events import fields_of_payout
from service_tui.engine.events import (
    Fill,
    MarketResolved,
    OrderFilled,
    OrderPlaced,
    Payout,
    PositionRedeemed,
)
from service_tui.engine.world import World
from service_tui.outcome import Outcome
from service_tui.records import read
from service_tui.server.ends import ended_fields
from service_tui.storage.ended_markets import EndedHead
from service_tui.terms import Action, Venue
from service_tui.units import Micros, Timestamp, decimal
from service_tui.wire.base import moment
from service_tui.wire.trades import TradeRow

FILL: Final = "fill"
PAYOUT: Final = "payout"
SETTLED: Final = "settled"
LOST: Final = "lost"
SOLD_OUT: Final = "sold_out"
"""Kinds of rows that belong to an agent. A payout row repeats a part of `resolved` for its owner,
so does a settled row for who holds shares of the market on a real venue, a lost row for who holds
those that pay nothing there, and a sold-out row for who had sold all of a side before, on whichever
venue. Older programs wrote settled rows for those that pay nothing as well."""

REPEATED: Final = frozenset({PAYOUT, SETTLED, LOST, SOLD_OUT})
"""Rows that a replay skips, because `resolved` rows contain the same."""

ORDER: Final = "order"
ORDER_FILL: Final = "order_fill"
ORDER_END: Final = "order_end"
REDEEMED: Final = "redeemed"
"""Kinds of the real venues' rows; what an order meets while it rests, and its end, are no rows of
the history by themselves."""

WALLET: Final = "wallet"
"""Another wallet was linked: fills before and after it are of different holdings."""

SIM_KINDS: Final = (FILL, PAYOUT)
VENUE_KINDS: Final = (ORDER, REDEEMED, LOST)
KINDS: Final = (*SIM_KINDS, *VENUE_KINDS)
"""What makes up an agent's history."""


class Paid(NamedTuple):
    """A payout with the market and time that its event had."""

    market_id: str
    at: Timestamp
    outcome: Outcome
    payout: Payout


class SettledSide(NamedTuple):
    """A side of a position on a real venue whose outcome is confirmed; redeemed later, if it pays.

    Or a side that was sold whole before, on whichever venue: the payout has no shares.

    `payout.realized_before` is the P&L of earlier sales of the same side.
    """

    market_id: str
    at: Timestamp
    outcome: Outcome
    venue: Venue
    payout: Payout


def payout_fields(event: MarketResolved, payout: Payout) -> list[object]:
    """What a payout row holds."""
    return [event.market_id, event.at, event.outcome, fields_of_payout(payout)]


def owned_rows(event: MarketResolved) -> list[tuple[str, Venue, Payout, list[object]]]:
    """Rows of a resolution for each agent: kind, venue, payout, fields."""
    everywhere = [(Venue.SIM, payout) for payout in event.payouts]
    found: list[tuple[str, Venue, Payout, list[object]]] = []
    for venue, payout in (*everywhere, *event.settled):
        head: list[object] = [event.market_id, event.at, event.outcome, venue.value]
        settled = [*head, fields_of_payout(payout)]
        if not payout.shares:
            found.append((SOLD_OUT, venue, payout, settled))
        elif venue is Venue.SIM:
            found.append((PAYOUT, venue, payout, payout_fields(event, payout)))
        else:
            found.append((SETTLED if payout.payout else LOST, venue, payout, settled))
    return found


Over = Mapping[str, EndedHead]
"""Markets that ended, by id, of a page of the history."""

Past = Fill | Paid | OrderPlaced | OrderFilled | PositionRedeemed | SettledSide | WalletLinked
"""What one row of an agent's was made from."""


def past_of(kind: str, body: str) -> Past:
    """A row of the agent's past."""
    return read(_MADE_OF[kind], json.loads(body))


_MADE_OF: Final[dict[str, type[Past]]] = {
    FILL: Fill,
    PAYOUT: Paid,
    ORDER: OrderPlaced,
    ORDER_FILL: OrderFilled,
    REDEEMED: PositionRedeemed,
    SETTLED: SettledSide,
    LOST: SettledSide,
    SOLD_OUT: SettledSide,
    WALLET: WalletLinked,
}


def trade_row(past: Fill | Paid, world: World, over: Over = MappingProxyType({})) -> TradeRow:
    """One row of the trade history on sim; `over` are markets that ended, by id."""
    if isinstance(past, Fill):
        return _fill_row(past, world, over)
    return _paid_row(past, question_in(world, past.market_id, over))


def question_in(world: World, market_id: str, over: Over) -> str:
    """The question of a market; empty where it is not known."""
    head = over.get(market_id)
    return world.question_of(market_id) if head is None else head.question


def _fill_row(fill: Fill, world: World, over: Over) -> TradeRow:
    market, head = world.markets.get(fill.market_id), over.get(fill.market_id)
    sold = fill.action is Action.SELL
    return TradeRow(
        id=fill.trade_id,
        trade_id=fill.trade_id,
        market_id=fill.market_id,
        market_question=question_in(world, fill.market_id, over),
        side=fill.side,
        action=fill.action.value,
        shares=decimal(fill.shares),
        cost=decimal(fill.money),
        price_before=fill.price_before,
        price_after=fill.price_after,
        avg_price=min(1.0, fill.money / fill.shares),
        source=fill.note.source or None,
        skill_slug=fill.note.skill_slug or None,
        reasoning=fill.note.reasoning or None,
        signal_data=fill.note.signal_data,
        created_at=moment(fill.at),
        pnl=decimal(fill.realized) if sold else None,
        **ended_fields(None if head is None else Outcome.of(head.outcome)),
        # A market that is forgotten here was resolved long ago.
        resolved=market is None or market.resolved_at is not None,
    )


def _paid_row(paid: Paid, question: str) -> TradeRow:
    payout = paid.payout
    price = min(1.0, payout.payout / payout.shares) if payout.shares else 0.0
    trade_id = f"{paid.market_id}-{payout.side.value}-payout"
    return TradeRow(
        id=trade_id,
        trade_id=trade_id,
        market_id=paid.market_id,
        market_question=question,
        side=payout.side,
        action="redeem",
        shares=decimal(payout.shares),
        cost=decimal(payout.payout),
        # The shares were worth this before and after: no field of a price is empty.
        price_before=price,
        price_after=price,
        avg_price=price,
        created_at=moment(paid.at),
        pnl=decimal(Micros(payout.payout - payout.cost)),
        **ended_fields(paid.outcome),
        resolved=True,
    )
