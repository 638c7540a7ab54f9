"""A day with trades, closed positions and costs, for reports."""

from dataclasses import replace

from kit.console.doors import seen_before
from kit.samples.desk import NOW, sample_state
from kit.samples.fleet import sample_supervision
from service_tui.desk.slices.agents import AgentDetailView, ReasonedTradeView
from service_tui.units import ONE, Micros, Timestamp

PLAIN = seen_before(sample_state())


TRADE = replace(PLAIN.trades[0], at=Timestamp(NOW - 60))


PASTS = tuple(
    AgentDetailView(
        agent.agent_id,
        (
            ReasonedTradeView(
                replace(TRADE, trade_id="t-2", action="sell", cost=Micros(30 * ONE),
                        pnl=Micros((3 - 2 * place) * ONE), reasoning="the price is there"),
                "mean-reversion",
            ),
            ReasonedTradeView(
                replace(TRADE, trade_id="t-1", action="buy", cost=Micros(25 * ONE), pnl=None,
                        reasoning="the gauge rises [red]"),
                "mean-reversion", {"confidence": 0.62},
            ),
        ),
        (),
        "refused with 404" if place == 3 else "",
    )
    for place, agent in enumerate(PLAIN.fleet.agents)
)  # fmt: skip


STATE = replace(
    PLAIN, supervision=replace(sample_supervision(), pasts=PASTS, pasts_at=Timestamp(NOW - 2))
)
