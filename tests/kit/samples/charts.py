"""A desk with something in every chart."""

import random
from dataclasses import replace

from kit.samples.desk import NOW, sample_state
from kit.samples.research import research_sample
from service_tui.desk.slices.fleet import AgentDetailView, ReasonedTradeView, SupervisionView
from service_tui.desk.slices.records import EquityPoint, TapeTradeView, TradeView
from service_tui.desk.state import DeskState
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


def past_of(agent_id: str, skills: tuple[str, ...], seed: int) -> AgentDetailView:
    """Thirty trades a skill, two thirds of them buys in resolved markets."""
    rng = random.Random(seed)
    trades = tuple(
        ReasonedTradeView(
            trade,
            skill,
            outcome=None if trade.pnl is not None else (rng.random() < 0.5),
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
