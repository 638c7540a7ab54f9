"""Every cell, order, search, detail and explanation of a desk with something on every screen.

Kept as text beside the pictures, which show the same at three sizes: these are made by functions,
within milliseconds, and hold what no size has room for.
"""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from kit.console.limit_draft import open_order
from kit.console.screens import MADE
from kit.console.texts import assert_text, explanations, lines_of, of_record, told
from kit.samples.attention import everything
from kit.samples.whole import whole_desk
from service_tui.console.moments import moments
from service_tui.console.needs import needs
from service_tui.console.parts.table_screen import TableScreen
from service_tui.console.screens.agents import detail as of_agents
from service_tui.console.screens.approvals import detail as of_approvals
from service_tui.console.screens.log import detail as of_log
from service_tui.console.screens.markets import detail as of_markets
from service_tui.console.screens.monitors import detail as of_monitors
from service_tui.console.screens.orders import detail as of_orders
from service_tui.console.screens.orders.fills import describe_fill
from service_tui.console.screens.portfolio import detail as of_portfolio
from service_tui.console.screens.portfolio.orders import describe_order
from service_tui.console.screens.reactor import detail as of_reactor
from service_tui.console.screens.reactor.mirror import Preview
from service_tui.console.screens.redemption import detail as of_redemption
from service_tui.console.screens.research import detail as of_research
from service_tui.console.screens.settings import detail as of_settings
from service_tui.console.screens.settings.table import settings
from service_tui.console.screens.wallet import text as of_wallet
from service_tui.console.view_context import ViewContext
from service_tui.desk.state import DeskState
from service_tui.units import Timestamp

STATE = replace(whole_desk(), orders=(open_order(), open_order(order_id="o2")))
NOW = Timestamp(1_800_000_000.0)
VIEW = ViewContext.of(STATE, NOW, 100)
NARROW = ViewContext.of(STATE, NOW, 44)
MASKED = ViewContext.of(
    replace(STATE, preferences={**STATE.preferences, "privacy": "on"}), NOW, 100
)
VIEWS = {"": VIEW, "_masked": MASKED}


@pytest.mark.parametrize("kind", VIEWS)
@pytest.mark.parametrize("screen", MADE, ids=lambda screen: screen.name_in_keys)
def test_the_tables_say_the_same(screen: type[TableScreen[Any]], kind: str) -> None:
    assert_text(f"texts/{screen.name_in_keys}{kind}", lines_of(screen, VIEWS[kind]))


EXPLAINED = [one for one in MADE if one.name_in_keys not in {"attention", "research", "settings"}]


@pytest.mark.parametrize("screen", EXPLAINED, ids=lambda screen: screen.name_in_keys)
def test_the_explanations_say_the_same(screen: type[TableScreen[Any]]) -> None:
    assert_text(f"texts/{screen.name_in_keys}_explained", explanations(screen, VIEW))


def details(view: ViewContext) -> Iterator[str]:
    """What the panes say of each row, and what stands above the lists."""
    state, now, width = view.state, view.now, view.width
    session = state.research.sessions[0]
    assert state.fleet is not None
    for name, rows, describe in (
        (
            "position",
            state.positions,
            lambda row: of_portfolio.describe(row, view, is_closed=False),
        ),
        ("closed", state.closed, lambda row: of_portfolio.describe(row, view, is_closed=True)),
        ("order", state.orders, lambda row: describe_order(row, view)),
        ("monitor", state.risk.monitors, lambda row: of_monitors.describe(row, view)),
        ("alert", state.risk.alerts, lambda row: of_monitors.describe(row, view)),
        ("exit", state.risk.exits, lambda row: of_monitors.describe(row, view)),
        ("price alert", state.risk.price_alerts, lambda row: of_monitors.describe(row, view)),
        ("ticket", state.tickets, lambda row: (of_orders.describe(row, view),)),
        ("fill", state.fills, lambda row: (describe_fill(row, view),)),
        ("signal", state.reactor.signals, lambda row: of_reactor.describe(row, view, Preview())),
        ("wallet", state.reactor.wallets(), lambda row: of_reactor.describe(row, view, Preview())),
        ("redemption", state.redemption.rows, lambda row: of_redemption.describe(row, view)),
        ("trade", state.supervision.held, lambda row: of_approvals.describe(row, view)),
        (
            "agent",
            state.fleet.agents,
            lambda row: (of_agents.describe(row, view), of_agents.history_text(row, view)),
        ),
        ("entry", state.log.entries, lambda row: (of_log.entry_text(row, state, now),)),
        (
            "experiment",
            state.research.experiments,
            lambda row: of_research.describe(session, row, view, is_wide=width > 80),
        ),
        (
            "setting",
            settings(view, "night"),
            lambda row: (of_settings.describe(row, view), of_settings.describe_shortly(row, view)),
        ),
        (
            "market",
            list(state.markets.values()),
            lambda row: (
                of_markets.headline(row, now, width),
                of_markets.holdings(state, row.market_id, width),
                of_markets.rules(row, state.detail, width),
            ),
        ),
    ):
        for place, row in enumerate(rows[:10]):
            yield f"-- {name} {place}"
            yield from told(describe(row))


def above(view: ViewContext) -> Iterator[str]:
    """What stands above the lists, and the wallet."""
    state, now, width = view.state, view.now, view.width
    yield from told(of_agents.fleet_bits(view), "agents ")
    yield from told(of_approvals.totals(state.supervision.held, view), "approvals ")
    yield from told(of_redemption.sums_bits(view), "redemption ")
    yield from told(
        (
            of_monitors.guarded_text(state),
            of_monitors.urgent_text(view),
            of_reactor.state_text(view),
            of_reactor.urgent_text(view),
            of_log.chain_text(state.log, now),
            of_portfolio.venue_lines(state, now, width, masked=view.masked),
            of_research.session_text(state, state.research.sessions[0]),
            of_research.why_line(state, state.research.sessions[0]),
            of_research.run_text(state.research.sessions[0], now),
            *(part for figure in of_portfolio.account_figures(state.account, masked=view.masked)
              for part in figure),
            of_wallet.wallet_text(state),
            of_wallet.checklist_text(state.wallet, width),
            of_wallet.approvals_text(state.wallet),
            of_wallet.approvals_question(state.wallet),
            of_wallet.live_question(state.wallet),
            of_wallet.pay_text(state),
            *of_research.describe_backtest(view),
        )
    )  # fmt: skip
    for row in needs(state, now):
        yield f"-- need {row.key}"
        yield from of_record(row)
    for moment in moments(state)[:40]:
        yield f"-- moment {moment.key}"
        yield from of_record(moment)


@pytest.mark.parametrize(("name", "view"), [("wide", VIEW), ("narrow", NARROW), ("masked", MASKED)])
def test_what_is_told_of_each_row_is_the_same(name: str, view: ViewContext) -> None:
    assert_text(f"texts/details_{name}", details(view))
    assert_text(f"texts/above_{name}", above(view))


def test_a_desk_in_trouble_says_the_same() -> None:
    view = ViewContext.of(replace(everything(), wallet=STATE.wallet, log=STATE.log), NOW, 100)
    assert_text("texts/above_in_trouble", above(view))


def bare() -> DeskState:
    """The desk before the service has answered."""
    return DeskState(service=STATE.service)


def test_before_the_first_answer_nothing_is_called_known() -> None:
    view = ViewContext.of(bare(), NOW, 100)
    lines = (line for screen in MADE for line in lines_of(screen, view))
    assert_text("texts/bare", lines)
