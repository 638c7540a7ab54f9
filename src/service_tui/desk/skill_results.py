"""What the trades of each skill came to: P&L, hits, calibration, and the edge that was kept. Pure.

Knows views of trades. Must not know wire, network, time.
Used by the pollers, and by the reports.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Final

from service_tui.desk.records_fleet import ReasonedTradeView, SkillResultView
from service_tui.terms import Action, Side
from service_tui.units import Micros

NO_SKILL: Final = ""
"""Slug of the trades that name no skill."""


@dataclass(slots=True)
class _Sums:
    """What is added up for one skill."""

    count: int = 0
    pnl: int = 0
    wins: int = 0
    losses: int = 0
    sure: list[tuple[float, bool]] = field(default_factory=list[tuple[float, bool]])
    edges: list[float] = field(default_factory=list[float])
    slips: list[float] = field(default_factory=list[float])


def skill_results(trades: Sequence[ReasonedTradeView]) -> tuple[SkillResultView, ...]:
    """Results by skill; a sale or a payout belongs to the skill that last bought there before it.

    Args:
        trades: newest first, as the service lists them.

    Returns:
        One result a skill, the busiest first.
    """
    sums: dict[str, _Sums] = {}
    buyers: dict[tuple[str, Side], str] = {}
    for one in reversed(trades):
        trade = one.trade
        place = trade.market_id, trade.side
        if trade.action == Action.BUY.value:
            buyers[place] = one.skill_slug
            _add_buy(sums.setdefault(one.skill_slug, _Sums()), one)
            continue
        slug = one.skill_slug or buyers.get(place, NO_SKILL)
        own = sums.setdefault(slug, _Sums())
        own.count += trade.action == Action.SELL.value
        if trade.pnl is not None:
            own.pnl += trade.pnl
            own.wins += trade.pnl > 0
            own.losses += trade.pnl < 0
    ranked = sorted(sums.items(), key=lambda item: (-item[1].count, item[0]))
    return tuple(_result(slug, own) for slug, own in ranked)


def _add_buy(own: _Sums, one: ReasonedTradeView) -> None:
    trade = one.trade
    own.count += 1
    if trade.average is not None and trade.price_before is not None:
        own.slips.append(trade.average - trade.price_before)
    if (edge := _number(one, "edge")) is not None:
        own.edges.append(edge)
    confidence = _number(one, "confidence")
    if confidence is not None and 0 <= confidence <= 1 and one.outcome is not None:
        own.sure.append((confidence, one.outcome is (trade.side is Side.YES)))


def _number(one: ReasonedTradeView, name: str) -> float | None:
    """A figure of a trade's signal data, None where it is none."""
    value = one.signal_data.get(name)
    return float(value) if isinstance(value, int | float) else None


def _result(slug: str, own: _Sums) -> SkillResultView:
    return SkillResultView(
        skill_slug=slug,
        trades_count=own.count,
        pnl=Micros(own.pnl),
        wins=own.wins,
        losses=own.losses,
        confidence=_mean(confidence for confidence, _ in own.sure),
        hit_rate=_mean(float(hit) for _, hit in own.sure),
        edge=_mean(own.edges),
        slippage=_mean(own.slips),
    )


def _mean(values: Iterable[float]) -> float | None:
    known = list(values)
    return sum(known) / len(known) if known else None
