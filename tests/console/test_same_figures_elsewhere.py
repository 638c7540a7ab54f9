"""Figures of reactor, redemption and research are the same in head, list, detail and export."""

from dataclasses import replace

import pytest

from kit.samples.desk import NOW, sample_state
from kit.samples.fleet import fleet_state
from kit.samples.guarded import guarded_state
from kit.samples.reactor import reactor_state
from kit.samples.research import research_sample
from kit.samples.wallet import redemption_of
from service_tui.console import formats
from service_tui.console.forms.explain import Explanation
from service_tui.console.parts.explained import account_numbers, position_numbers
from service_tui.console.screens.agents.detail import explain_agent
from service_tui.console.screens.monitors.detail import explain_monitor
from service_tui.console.screens.orders.detail import explain_ticket
from service_tui.console.screens.orders.fills import explain_fill
from service_tui.console.screens.reactor.detail import explain_row, state_text
from service_tui.console.screens.reactor.table import FEED
from service_tui.console.screens.redemption.detail import describe, paid, sums_bits
from service_tui.console.screens.redemption.table import QUEUE
from service_tui.console.screens.research.detail import session_head
from service_tui.console.screens.research.table import EXPERIMENTS
from service_tui.console.view_context import ViewContext
from service_tui.console.widgets.columns import Column
from service_tui.desk.audit.exports import TABLES
from service_tui.terms import Action
from service_tui.units import ONE, Micros, Timestamp

WIDE = 200
VIEW = ViewContext.of(sample_state(), NOW)


def cells(columns: tuple[Column[object], ...], row: object) -> list[str]:
    return [str(column.cell(row, VIEW)).strip() for column in columns]


def test_the_day_and_each_mirror_of_the_reactor_are_one_figure() -> None:
    state = reactor_state()
    view = ViewContext.of(state, NOW, WIDE)
    head = state_text(view).plain
    assert formats.money(state.reactor.day_spent).plain in head
    spent = state.reactor.config.daily_cap - state.reactor.day_left
    assert spent == state.reactor.day_spent
    for row in state.reactor.signals[:4]:
        explained = {one.name: str(one.value) for one in explain_row(row, view)}
        listed = [str(column.cell(row, view)).strip() for column in FEED.columns]
        assert explained["mirror, $"] in listed


def test_what_is_ready_to_redeem_is_the_sum_of_its_rows() -> None:
    state = replace(sample_state(), redemption=redemption_of())
    view = ViewContext.of(state, NOW)
    head = "  ".join(bit.text.plain for bit in sums_bits(view))
    ready = state.redemption.ready
    assert ready
    assert f"{len(ready)} ready" in head
    for row in state.redemption.rows:
        told = "".join(part.plain for part in describe(row, view))
        assert paid(row.amount, row.money, view).plain in told
        listed = cells(QUEUE.columns, row)
        assert any(formats.money(row.amount).plain in cell for cell in listed)


def test_the_best_of_a_session_is_one_figure_in_head_list_and_export() -> None:
    state = replace(sample_state(), research=research_sample())
    columns = EXPERIMENTS.columns
    exported = {(one["session"], one["number"]): one for one in TABLES["experiments"](state)}
    for row in state.research.experiments:
        kept = exported[row.session, row.number]
        assert (kept["metric"], kept["change"]) == (row.metric, row.change)
        assert formats.percent_change(row.change).plain in cells(columns, row)
    (session, *_) = state.research.sessions
    best = next(
        one
        for one in state.research.experiments
        if (one.session, one.number) == (session.name, session.best_number)
    )
    assert best.metric == session.best
    assert cells(columns, best)[2] in session_head(session, NOW).plain


GUARDED = guarded_state()
TRAILING = replace(
    GUARDED.risk.monitors[1],
    stop_loss_pct=0.2,
    take_profit_pct=0.5,
    trailing_stop_points=0.03,
    peak=0.15,
    trail_price=0.12,
    exit_at=Timestamp(NOW + 7_260),
)
SOLD = next(fill for fill in GUARDED.fills if fill.action is Action.SELL)
HELD = replace(GUARDED.positions[0], realized=Micros(7 * ONE))
AGENT = fleet_state().fleet.agents[1]
TICKET = replace(
    GUARDED.tickets[0],
    opened_at=Timestamp(NOW - 9),
    sent_at=Timestamp(NOW - 7),
    settled_at=Timestamp(NOW - 4),
)

MADE_OF: dict[str, tuple[tuple[Explanation, ...], dict[str, tuple[str, ...]]]] = {
    "a monitor": (
        explain_monitor(TRAILING, ViewContext.of(GUARDED, NOW)),
        {
            "stop price": ("0.128", "entry 0.160", "reference 0.160", "stop 20.00%"),
            "trailing stop price": ("0.120", "highest mark 0.150", "distance 3pt"),
            "time stop": ("15 Jan 10:01 UTC", "time left 2h 01m"),
            "target price": ("0.240", "entry 0.160", "target 50.00%"),
            "distance": (
                "0.138",
                "mark 0.138",
                "distance to stop 31%",
                "sale price 0.134",
                "distance to target 100%",
            ),
            "sale value, $": ("16.72", "shares 125.09", "mark 0.138"),
            "if stopped out, $": ("15.30", "shares 125.09", "stop price 0.128"),
        },
    ),
    "a sale": (
        explain_fill(SOLD, VIEW),
        {
            "price": ("0.412", "amount 26.19", "shares 51.20", "filled, wall 07:59:39"),
            "P&L": ("+3.10", "proceeds 26.19", "average cost 23.09"),
        },
    ),
    "a buy": (
        explain_fill(replace(SOLD, action=Action.BUY), VIEW),
        {"price": ("0.412", "amount 26.19", "shares 51.20", "filled, wall 07:59:39")},
    ),
    "a position": (
        position_numbers(HELD, GUARDED, NOW),
        {
            "average": ("0.268", "cost of the open shares, $SIM 54.14", "shares 202.32"),
            "mark value, $SIM": ("66.26", "shares 202.32", "price of the side 0.328"),
            "sale value, $SIM": ("64.27", "shares 202.32", "mark value, $SIM 66.26"),
            "unrealized P&L, $SIM": (
                "+12.12",
                "mark value, $SIM 66.26",
                "cost of the open shares, $SIM 54.14",
            ),
            "realized P&L, $SIM": ("+7.00",),
        },
    ),
    "the account": (
        account_numbers(GUARDED, NOW),
        {
            "equity, $SIM": ("8,960.90", "cash, $SIM 8,214.33", "sale value, $SIM 746.57"),
            "at mark, $SIM": ("8,983.99", "cash, $SIM 8,214.33", "mark value, $SIM 769.66"),
            "total P&L, $SIM": (
                "-118.40",
                "realized, $SIM -66.91",
                "unrealized, $SIM -28.40",
                "selling, $SIM -23.09",
            ),
            "day P&L, $SIM": ("+41.20",),
            "win rate": ("54.0%", "with a gain 0", "with a loss 0"),
        },
    ),
    "an agent": (
        explain_agent(AGENT, VIEW),
        {"P&L, $SIM": ("-50.00", "equity 8,320.90", "cash 6,904.33")},
    ),
    "an order": (
        explain_ticket(TICKET, VIEW),
        {
            "took, ms": (
                "3,000",
                "opened, wall 07:59:51",
                "sent, wall 07:59:53",
                "settled, wall 07:59:56",
            )
        },
    ),
}


@pytest.mark.parametrize("name", MADE_OF)
def test_an_explained_figure_is_made_of_its_own_inputs(name: str) -> None:
    explained, expected = MADE_OF[name]
    shown = {
        one.name: (str(one.value), *(f"{label} {value}" for label, value in one.inputs))
        for one in explained
    }
    assert shown == expected
