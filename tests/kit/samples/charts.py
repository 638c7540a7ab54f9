"""A desk with something in every chart."""

import random
from dataclasses import replace

from kit.samples.desk import NOW, sample_state
from kit.samples.research import research_sample
from service_tui.desk.slices.account import EquityPoint
from service_tui.desk.slices.agents import AgentDetailView, ReasonedTradeView
from service_tui.desk.slices.markets import TapeTradeView
from service_tui.desk.slices.supervision import SupervisionView
from service_tui.desk.slices.trades import TradeView
from service_tui.desk.state import DeskState
from service_tui.outcome import NO, YES
from service_tui.terms import Action, Side, TradeStatus, Venue
from service_tui.units import ONE, Micros, Timestamp

SPAN_S = 86_400


def _trade(place: int, skill: str, rng: random.Random, venue: Venue = Venue.SIM) -> TradeView:
    is_sale = place % 3 == 2
    return TradeView(
        trade_id=f"c-{skill}-{place}",
        market_id=f"m-{place}",
        question="Will it rain at dawn?",
        side=Side.YES if place % 2 else Side.NO,
        action=(Action.SELL if is_sale else Action.BUY).value,
        shares=Micros(20 * ONE),
        cost=Micros(10 * ONE),
        average=round(rng.uniform(0.05, 0.95), 3),
        price_before=None,
        price_after=None,
        venue=venue,
        status=TradeStatus.FILLED,
        reasoning="",
        source="",
        at=Timestamp(NOW - 600 * place),
        pnl=Micros(rng.randrange(-4 * ONE, 6 * ONE)) if is_sale else None,
        skill_slug=skill,
    )


def _own_trade(market_id: str, trade: TapeTradeView) -> TradeView:
    """The fill behind a trade of the tape: a cent better than the price after it."""
    better = -0.01 if trade.action is Action.BUY else 0.01
    return replace(
        _trade(0, "", random.Random(0)),
        trade_id=f"own-{trade.at}",
        market_id=market_id,
        side=trade.side,
        action=trade.action.value,
        shares=trade.shares,
        average=round(trade.price + better, 3),
        at=trade.at,
    )


def past_of(agent_id: str, skills: tuple[str, ...], seed: int) -> AgentDetailView:
    """Thirty trades a skill, two thirds of them buys in resolved markets."""
    rng = random.Random(seed)
    trades = tuple(
        ReasonedTradeView(
            trade,
            skill,
            outcome=None if trade.pnl is not None else YES if rng.random() < 0.5 else NO,
        )
        for skill in skills
        for place in range(30)
        for trade in (_trade(place, skill, rng),)
    )
    return AgentDetailView(agent_id, trades, ())


def charted_state() -> DeskState:
    """Prices with own trades, an equity that fell, two agents' trades, and a sweep."""
    state, rng = sample_state(), random.Random(8)
    account, detail = state.account, state.detail
    assert account is not None
    assert detail is not None
    tape = tuple(
        TapeTradeView(
            Timestamp(NOW - 90 * place),
            account.name if place % 7 == 0 else "heron",
            Side.YES if place % 2 else Side.NO,
            Action.BUY if place % 3 else Action.SELL,
            Micros(rng.randrange(1, 80) * ONE),
            round(rng.uniform(0.3, 0.7), 3),
        )
        for place in range(30)
    )
    equity, level = [], 10_000.0
    for place in range(120):
        level += rng.gauss(0.5, 12)
        equity.append(EquityPoint(Timestamp(NOW - 300 * (120 - place)), Micros(round(level * ONE))))
    return replace(
        state,
        preferences={"welcome": "seen"},
        detail=replace(detail, span_s=SPAN_S, trades=tape),
        trades=tuple(
            _own_trade(detail.market_id, trade) for trade in tape if trade.trader == account.name
        ),
        equity=tuple(equity),
        supervision=SupervisionView(
            pasts=(
                past_of("a-2", ("mean-reversion", "gauge-watcher"), 3),
                past_of("a-3", ("gauge-watcher", ""), 4),
            ),
            pasts_at=NOW,
        ),
        research=research_sample(),
    )
