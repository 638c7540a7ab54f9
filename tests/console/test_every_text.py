"""Every cell, order, search, detail and explanation of a desk with something on every screen.

Kept as text beside the pictures, which show the same at three sizes: these are made by functions,
within milliseconds, and hold what no size has room for.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import fields, replace
from typing import Any, NamedTuple

import pytest

from kit.console.limit_draft import open_order
from kit.console.screens import MADE
from kit.console.texts import (
    assert_text,
    cells,
    explained,
    explanations,
    lines_of,
    of_record,
    orders,
    told,
)
from kit.samples.attention import everything
from kit.samples.filled import filled
from kit.samples.whole import whole_desk
from service_tui.console.forms.explain import Explanation
from service_tui.console.moments import moments
from service_tui.console.needs import needs
from service_tui.console.parts.explained import market_numbers, position_numbers
from service_tui.console.parts.table_screen import TableScreen
from service_tui.console.screens.agents import detail as of_agents
from service_tui.console.screens.agents.table import AGENTS
from service_tui.console.screens.approvals import detail as of_approvals
from service_tui.console.screens.approvals.table import APPROVALS
from service_tui.console.screens.log import detail as of_log
from service_tui.console.screens.markets import detail as of_markets
from service_tui.console.screens.markets.table import MARKETS
from service_tui.console.screens.monitors import detail as of_monitors
from service_tui.console.screens.monitors.table import ALERTS, EXITS, MONITORS, PRICE_ALERTS
from service_tui.console.screens.orders import detail as of_orders
from service_tui.console.screens.orders.fills import FILLS, describe_fill, explain_fill
from service_tui.console.screens.orders.table import BLOTTER
from service_tui.console.screens.portfolio import detail as of_portfolio
from service_tui.console.screens.portfolio.orders import ORDERS, describe_order
from service_tui.console.screens.portfolio.table import CLOSED, OPEN
from service_tui.console.screens.reactor import detail as of_reactor
from service_tui.console.screens.reactor.mirror import Preview
from service_tui.console.screens.reactor.table import FEED, WALLETS
from service_tui.console.screens.redemption import detail as of_redemption
from service_tui.console.screens.redemption.table import QUEUE
from service_tui.console.screens.research import detail as of_research
from service_tui.console.screens.research.table import EXPERIMENTS
from service_tui.console.screens.settings import detail as of_settings
from service_tui.console.screens.settings.table import SettingRow, settings
from service_tui.console.screens.wallet import text as of_wallet
from service_tui.console.table_spec import TableSpec
from service_tui.console.view_context import ViewContext
from service_tui.desk.slices.agents import AgentView, FillView
from service_tui.desk.slices.log import ActionView
from service_tui.desk.slices.markets import MarketView
from service_tui.desk.slices.orders import OpenOrderView
from service_tui.desk.slices.positions import PositionView
from service_tui.desk.slices.reactor import SignalView, SourceWalletView
from service_tui.desk.slices.redemption import RedemptionRow
from service_tui.desk.slices.research import ExperimentView
from service_tui.desk.slices.risk import AlertView, ExitView, MonitorView, PriceAlertView
from service_tui.desk.slices.supervision import PendingTradeView
from service_tui.desk.slices.tickets import TicketView
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


class Kind(NamedTuple):
    """A kind of row: what it is, where it is found, its tables, and what is told of one."""

    record: type
    rows: Callable[[DeskState], Sequence[Any]]
    tables: tuple[TableSpec[Any], ...]
    describe: Callable[[Any, ViewContext], Sequence[Any]]
    explain: Callable[[Any, ViewContext], Iterable[Explanation]] = lambda *_: ()


KINDS = {
    "position": Kind(
        PositionView,
        lambda state: state.positions,
        (OPEN,),
        lambda row, view: of_portfolio.describe(row, view, is_closed=False),
        lambda row, view: position_numbers(row, view.state, view.now),
    ),
    "closed": Kind(
        PositionView,
        lambda state: state.closed,
        (CLOSED,),
        lambda row, view: of_portfolio.describe(row, view, is_closed=True),
    ),
    "order": Kind(OpenOrderView, lambda state: state.orders, (ORDERS,), describe_order),
    "monitor": Kind(
        MonitorView,
        lambda state: state.risk.monitors,
        (MONITORS,),
        of_monitors.describe,
        of_monitors.explain_monitor,
    ),
    "alert": Kind(AlertView, lambda state: state.risk.alerts, (ALERTS,), of_monitors.describe),
    "exit": Kind(ExitView, lambda state: state.risk.exits, (EXITS,), of_monitors.describe),
    "price alert": Kind(
        PriceAlertView,
        lambda state: state.risk.price_alerts,
        (PRICE_ALERTS,),
        of_monitors.describe,
    ),
    "ticket": Kind(
        TicketView,
        lambda state: state.tickets,
        (BLOTTER,),
        lambda row, view: (of_orders.describe(row, view),),
        of_orders.explain_ticket,
    ),
    "fill": Kind(
        FillView,
        lambda state: state.fills,
        (FILLS,),
        lambda row, view: (describe_fill(row, view),),
        explain_fill,
    ),
    "signal": Kind(
        SignalView,
        lambda state: state.reactor.signals,
        (FEED,),
        lambda row, view: of_reactor.describe(row, view, Preview()),
        of_reactor.explain_row,
    ),
    "wallet": Kind(
        SourceWalletView,
        lambda state: state.reactor.wallets(),
        (WALLETS,),
        lambda row, view: of_reactor.describe(row, view, Preview()),
        of_reactor.explain_row,
    ),
    "redemption": Kind(
        RedemptionRow,
        lambda state: state.redemption.rows,
        (QUEUE,),
        of_redemption.describe,
        of_redemption.explain_row,
    ),
    "trade": Kind(
        PendingTradeView,
        lambda state: state.supervision.pending_trades,
        (APPROVALS,),
        of_approvals.describe,
        of_approvals.explain_approval,
    ),
    "agent": Kind(
        AgentView,
        lambda state: () if state.fleet is None else state.fleet.agents,
        (AGENTS,),
        lambda row, view: (of_agents.describe(row, view), of_agents.history_text(row, view)),
        of_agents.explain_agent,
    ),
    "entry": Kind(
        ActionView,
        lambda state: state.log.entries,
        (),
        lambda row, view: (of_log.entry_text(row, view.state, view.now),),
        of_log.explain_entry,
    ),
    "experiment": Kind(
        ExperimentView,
        lambda state: state.research.experiments,
        (EXPERIMENTS,),
        lambda row, view: of_research.describe(
            STATE.research.sessions[0], row, view, is_wide=view.width > 80
        ),
        lambda row, view: of_research.explain_experiment(row, STATE.research.sessions[0], view),
    ),
    "setting": Kind(
        SettingRow,
        lambda state: settings(ViewContext.of(state, NOW), "night"),
        (),
        lambda row, view: (
            of_settings.describe(row, view),
            of_settings.describe_shortly(row, view),
        ),
    ),
    "market": Kind(
        MarketView,
        lambda state: [*state.markets.values()],
        (MARKETS,),
        lambda row, view: (
            of_markets.headline(row, view.now, view.width),
            of_markets.holdings(view.state, row.market_id, view.width),
            of_markets.rules(row, view.state.detail, view.width),
        ),
        lambda row, view: market_numbers(row, view.state, view.now),
    ),
}

KNOWN = {"agent_id": "a-2", "market_id": STATE.positions[1].market_id, "skill_slug": "momentum"}
"""Ids that the desk knows, so that what belongs to a row is found."""

ANY = [kind for kind in KINDS if kind not in {"setting", "closed"}]


def details(view: ViewContext) -> Iterator[str]:
    """What the panes say of each row."""
    for name, kind in KINDS.items():
        for row in kind.rows(view.state)[:10]:
            yield f"-- {name}"
            yield from told(kind.describe(row, view))


def of_any(kind: Kind) -> Iterator[str]:
    """The cells and the details of rows whose every field has a value of its own."""
    names = {one.name for one in fields(kind.record)}
    known = {name: value for name, value in KNOWN.items() if name in names}
    for seed in range(12):
        row = filled(kind.record, seed, **(known if seed % 3 else {}))
        view = VIEW if seed % 2 else NARROW
        yield f"-- {seed}"
        for spec in kind.tables:
            yield from cells(spec, row, view)
            yield from orders(spec, (row,), view)
        yield from told(kind.describe(row, view))
        yield from explained(kind.explain(row, view))


@pytest.mark.parametrize("kind", ANY)
def test_what_is_told_of_any_row_is_the_same(kind: str) -> None:
    assert_text(f"texts/any_{kind.replace(' ', '_')}", of_any(KINDS[kind]))


def above(view: ViewContext) -> Iterator[str]:
    """What stands above the lists, and the wallet."""
    state, now, width = view.state, view.now, view.width
    yield from told(of_agents.fleet_bits(view), "agents ")
    yield from told(of_approvals.totals(state.supervision.pending_trades, view), "approvals ")
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


@pytest.mark.slow
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
