"""An order without a fill is no buy, and a redemption is no sale: everywhere."""

import re
from dataclasses import replace

import pytest

from kit.samples.desk import NOW, sample_state
from kit.samples.fleet import fleet_state, trade_of
from service_tui.console.forms.report import report_text
from service_tui.console.screens.agents.detail import history_text
from service_tui.console.screens.portfolio.detail import own_trades
from service_tui.console.view_context import ViewContext
from service_tui.desk.audit.exports import trade_rows
from service_tui.desk.audit.report import day_reports, results_by_skill
from service_tui.desk.audit.report_rows import report_markdown
from service_tui.desk.audit.why import why_position
from service_tui.desk.slices.agents import AgentDetailView, ReasonedTradeView
from service_tui.desk.slices.trades import Deal, TradeView
from service_tui.terms import Action, TradeStatus
from service_tui.units import ONE, Micros

NOTHING = Micros(0)


def row(action: str, **other: object) -> TradeView:
    return replace(trade_of(1).trade, action=action, **other)


BOUGHT = row("buy", trade_id="b", cost=Micros(6 * ONE), pnl=None)
RESTS = row("buy", trade_id="o", shares=NOTHING, cost=NOTHING, status=TradeStatus.SUBMITTED)
SOLD = row("sell", trade_id="s", cost=Micros(7 * ONE), pnl=Micros(ONE))
PAID = row("redeem", trade_id="p", cost=Micros(12 * ONE), pnl=Micros(5 * ONE))
LOST = row("redeem", trade_id="l", cost=NOTHING, pnl=Micros(-3 * ONE))
EVERY = (RESTS, BOUGHT, SOLD, PAID, LOST)
PAST = AgentDetailView("a-2", tuple(ReasonedTradeView(one) for one in EVERY), ())


@pytest.mark.parametrize(
    ("trade", "deal", "did"),
    [
        (BOUGHT, Deal.BUY, "buy"),
        (RESTS, Deal.ORDER, "buy order"),
        (SOLD, Deal.SALE, "sell"),
        (PAID, Deal.PAYOUT, "payout"),
        (LOST, Deal.PAYOUT, "payout"),
        (replace(RESTS, action=Action.SELL.value), Deal.ORDER, "sell order"),
    ],
)
def test_a_row_of_the_history_is_what_it_did(trade: TradeView, deal: Deal, did: str) -> None:
    assert (trade.deal, trade.did) == (deal, did)


def test_the_report_counts_buys_sales_and_payouts_apart() -> None:
    state = fleet_state()
    reports = day_reports(state, NOW, {"a-2": PAST})
    day = next(one for one in reports if one.agent.agent_id == "a-2").monies[0]
    assert (day.buys, day.bought, day.sales, day.sold) == (1, 6 * ONE, 1, 7 * ONE)
    assert (day.payouts, day.paid, day.realized) == (2, 12 * ONE, 3 * ONE)
    said = report_markdown(reports)
    assert "1 buy for 6.00, 1 sale for 7.00, 2 payouts of 12.00; realized +3.00" in said
    page = report_text(
        replace(state, supervision=replace(state.supervision, pasts=(PAST,))), NOW, first="a-2"
    )
    assert re.search(r"payouts +2 for 12\.00", page.plain)
    assert [one["deal"] for one in trade_rows(state, {"a-2": PAST})] == [
        "order", "buy", "sell", "payout", "payout",
    ]  # fmt: skip


def test_an_order_without_a_fill_is_told_as_an_order() -> None:
    state = fleet_state()
    state = replace(state, supervision=replace(state.supervision, detail=PAST))
    agent = next(one for one in state.fleet.agents if one.agent_id == "a-2")
    said = history_text(agent, ViewContext.of(state, NOW, 100)).plain
    assert "buy order YES submitted" in said
    assert "payout YES 12.00" in said
    state = sample_state()
    held = state.positions[0]
    here = tuple(
        replace(one, market_id=held.market_id, side=held.side, venue=held.venue) for one in EVERY
    )
    state = replace(state, trades=here)
    assert "buy order" in own_trades(held, ViewContext.of(state, NOW)).plain
    # The order came last; what explains the position is the buy.
    fill = next(one for one in why_position(state, held).links if one.name == "fill")
    assert [one.value for one in fill.values if one.label == "for"] == [BOUGHT.cost]


def trades_of(*rows: tuple[str, str, float]) -> AgentDetailView:
    """A history, given oldest first: action, skill and shares of each trade."""
    trades: list[ReasonedTradeView] = []
    for place, (action, skill, shares) in enumerate(rows):
        moved = {
            "trade_id": f"t{place}",
            "at": NOW - 90 + place,
            "shares": Micros(round(shares * ONE)),
            "pnl": None if action == "buy" else Micros(ONE),
        }
        trades.append(ReasonedTradeView(row(action, **moved), skill))
    return AgentDetailView("a-2", tuple(trades[::-1]), ())


def test_an_exit_belongs_to_the_skill_that_bought_as_on_the_service() -> None:
    def found(past: AgentDetailView) -> dict[str, tuple[int, int]]:
        return {
            one.skill_slug: (one.trades_count, one.pnl // ONE) for one in results_by_skill([past])
        }

    stopped = trades_of(("buy", "reactor", 5), ("buy", "", 5), ("sell", "", 5), ("sell", "", 5))
    assert found(stopped) == {"": (2, 1), "reactor": (2, 1)}
    # Whoever sells what another skill bought.
    sold = trades_of(("buy", "reactor", 5), ("sell", "gauge", 5))
    assert found(sold) == {"reactor": (2, 1)}
    unknown = trades_of(("sell", "gauge", 5), ("redeem", "", 5))
    assert found(unknown) == {"gauge": (1, 1), "": (0, 1)}
