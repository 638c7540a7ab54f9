"""Every figure that stands on two screens, in a header, a list, a chart, a report or an export, is
read from one state and compared."""

import csv
import io
from collections.abc import Iterable, Mapping
from dataclasses import replace

from kit.samples.desk import NOW, sample_state
from kit.samples.fleet import limits_of, sample_supervision
from kit.samples.guarded import guarded_state
from service_tui.console import formats
from service_tui.console.forms.report import report_text
from service_tui.console.needs import needs
from service_tui.console.parts.explained import account_numbers, market_numbers, position_numbers
from service_tui.console.screens.agents.detail import describe, fleet_bits
from service_tui.console.screens.agents.table import AGENTS
from service_tui.console.screens.markets.detail import headline
from service_tui.console.screens.markets.table import MARKETS as TABLE
from service_tui.console.screens.monitors.detail import guarded_text
from service_tui.console.screens.overview.detail import briefing_text
from service_tui.console.screens.portfolio.detail import account_figures, position_body
from service_tui.console.screens.portfolio.table import OPEN
from service_tui.console.view_context import ViewContext
from service_tui.console.widgets.columns import Column
from service_tui.console.widgets.top_bar import approval_bits, money_bits, world_bits
from service_tui.desk.audit.exports import day_in_markdown, files_of
from service_tui.desk.audit.report import day_reports, known_pasts
from service_tui.desk.buy_limits import buy_limits
from service_tui.desk.changes import Changed
from service_tui.desk.facts import AccountSeen, MarketsSeen
from service_tui.desk.figures import own_agent, pnl_points, price_points
from service_tui.desk.reduce import reduce
from service_tui.desk.slices.agents import AgentDetailView
from service_tui.desk.slices.buy_limits import BuyLimit
from service_tui.desk.slices.markets import MarketView
from service_tui.desk.slices.tickets import NO_TRACE, NOT_FOUND, TicketState
from service_tui.desk.slices.topics import Topic
from service_tui.desk.state import DeskState
from service_tui.units import ONE, Micros, Probability, Timestamp

WIDE = 200


def moved(state: DeskState) -> tuple[MarketView, ...]:
    """The markets a moment later: every price has moved."""
    return tuple(
        replace(one, price=Probability(round(0.05 + 0.9 * one.price, 4)))
        for one in state.markets.values()
    )


def one_state() -> DeskState:
    """A desk in which fleet, account, briefing and markets were read at four different moments."""
    known = sample_state()
    own, *others = known.fleet.agents
    own = replace(
        own,
        wins=1, losses=2, trades_count=9, equity=Micros(1), total_pnl=Micros(2), day_pnl=Micros(3),
        limits=limits_of(buys_today=11, buys_resting=4, buys_max=500),
    )  # fmt: skip
    points = ((Timestamp(NOW - 60), Micros(5 * ONE)),)
    detail = AgentDetailView(own.agent_id, (), (), points=points, at=Timestamp(NOW - 60))
    state = replace(
        known,
        seen=dict.fromkeys(Topic, NOW),
        positions_read=True,
        risk=guarded_state().risk,
        supervision=replace(sample_supervision(), detail=detail),
    )
    facts = (
        AccountSeen(known.account),
        Changed(known.limits),
        Changed(replace(known.fleet, agents=(own, *others))),
        Changed(known.briefing, 0),
        MarketsSeen(moved(known)),
    )
    for fact in facts:
        state = reduce(state, fact)
    return state


STATE = one_state()
OWN = own_agent(STATE)
VIEW = ViewContext.of(STATE, NOW)


def text_of(parts: Iterable[object]) -> str:
    return "  ".join(str(getattr(part, "text", part)) for part in parts)


def cells(columns: Iterable[Column], row: object) -> Mapping[str, str]:
    return {column.id: str(column.cell(row, VIEW)).strip() for column in columns}


def exported(name: str) -> list[dict[str, str]]:
    content = files_of(STATE, NOW, known_pasts(STATE))[name]
    return list(csv.DictReader(io.StringIO(content)))


ROW = cells(AGENTS.columns, OWN)
HEAD = text_of(money_bits(STATE, NOW))
ACCOUNT = {label: str(value) for label, value in account_figures(STATE.account, masked=False)}
EXPLAINED = {one.name: str(one.value) for one in account_numbers(STATE, NOW)}
DETAIL = describe(OWN, VIEW).plain
REPORTED = next(
    one for one in day_reports(STATE, NOW, known_pasts(STATE)) if one.agent.is_own
).monies[0]
EXPORTED = next(one for one in exported("agents.csv") if one["agent"] == OWN.agent_id)


def rounded(text: str) -> float:
    return round(float(text.replace(",", "")), 2)


def test_the_equity_is_one_figure() -> None:
    equity = formats.money(STATE.account.equity).plain
    assert equity in HEAD
    assert ACCOUNT["equity $"] == EXPLAINED["equity, $SIM"] == ROW["equity"] == equity
    assert f"equity       {equity}" in DETAIL
    assert REPORTED.equity == STATE.account.equity == OWN.equity
    assert rounded(EXPORTED["equity"]) == rounded(equity)
    every = sum(one.equity for one in STATE.fleet.agents)
    assert formats.money(Micros(every)).plain in text_of(fleet_bits(VIEW))


def test_the_pnl_of_the_day_is_one_figure() -> None:
    today = formats.pnl(STATE.account.day_pnl).plain
    assert today in HEAD
    assert ACCOUNT["day P&L $"] == EXPLAINED["day P&L, $SIM"] == ROW["today"] == today
    assert f"P&L today    {today}" in DETAIL
    assert REPORTED.day_pnl == STATE.account.day_pnl
    assert rounded(EXPORTED["day_pnl"]) == rounded(today)
    assert today in report_text(STATE, NOW).plain
    every = sum(one.day_pnl for one in STATE.fleet.agents)
    assert formats.pnl(Micros(every), arrow=True).plain in text_of(fleet_bits(VIEW))


def test_the_pnl_is_one_figure_in_list_chart_head_and_report() -> None:
    total = formats.pnl(STATE.account.total_pnl).plain
    assert ACCOUNT["total P&L $"] == EXPLAINED["total P&L, $SIM"] == ROW["pnl"] == total
    assert f"P&L          {total}" in DETAIL
    assert pnl_points(OWN, STATE.supervision.detail, NOW)[-1][1] == STATE.account.total_pnl
    assert REPORTED.total_pnl == STATE.account.total_pnl
    assert rounded(EXPORTED["total_pnl"]) == rounded(total)
    percent = 100 * STATE.account.total_pnl / STATE.account.start
    said = f"{percent:+.2f} %"
    assert said in briefing_text(ViewContext.of(STATE, NOW, WIDE), lines=1).plain


def test_the_win_rate_is_one_figure() -> None:
    rate = STATE.account.win_rate
    assert rate == OWN.win_rate == STATE.briefing.standing.win_rate == 1 / 3
    assert ACCOUNT["win rate"] == EXPLAINED["win rate"] == formats.percent(rate).plain
    assert ROW["won"] == formats.percent(rate, 0).plain
    assert AGENTS.compared["won"](OWN, VIEW) == 100 * rate
    head = briefing_text(ViewContext.of(STATE, NOW, WIDE), lines=1).plain
    assert f"win rate {formats.percent(rate, 0).plain}" in head


def test_cash_positions_and_trades_are_one_figure() -> None:
    cash = formats.money(STATE.account.cash).plain
    assert f"cash {cash}" in HEAD
    assert ACCOUNT["cash $"] == cash
    assert f"cash         {cash}" in DETAIL
    assert ROW["held"] == str(len(STATE.positions))
    assert REPORTED.positions == len(STATE.positions)
    assert STATE.account.trades_count == OWN.trades_count == 9
    held = [one for one in exported("positions.csv") if one["agent"] == OWN.agent_id]
    assert len(held) == len((*STATE.positions, *STATE.closed, *STATE.on_venues))


def test_the_buys_and_the_spend_of_the_day_are_one_figure() -> None:
    buys = OWN.limits.buys_today
    assert buys == STATE.limits.day_trades == STATE.buy_limits.day_buys == 11
    resting = OWN.limits.buys_resting
    assert resting == STATE.limits.day_resting == STATE.buy_limits.day_resting == 4
    # Buys that rest keep a place in the limit and stand apart: nothing was bought by them.
    assert f"buys {buys}/500 today +{resting} open" in text_of(world_bits(STATE, NOW))
    assert f"buys today {buys} + {resting} resting of 500" in " ".join(DETAIL.split())
    (rail,) = (one for one in buy_limits(STATE, NOW, ()) if one.limit_kind is BuyLimit.DAY_BUYS)
    assert (rail.used, rail.reserved) == (buys + resting, resting)
    assert ROW["buys"] == f"{buys}/500"
    assert OWN.limits.day_spent == STATE.limits.day_spent == STATE.buy_limits.day_spent
    assert tuple((one.slug, one.spent) for one in STATE.buy_limits.skills) == OWN.limits.skills


def test_a_price_is_one_figure_in_list_headline_chart_and_position() -> None:
    watched = STATE.markets[STATE.detail.market_id]
    open_market = next(one for one in STATE.markets.values() if one.is_open)
    price = formats.price(open_market.price).plain
    columns = TABLE.columns
    assert cells(columns, open_market)["price"] == price
    assert str(market_numbers(open_market, STATE, NOW)[0].value) == price
    points = price_points(open_market, replace(STATE.detail, points=((NOW, 0.1),)), NOW)
    assert points[-1][1] == open_market.price
    no = formats.price(1 - watched.price).plain
    assert no in headline(watched, NOW).plain
    for held in (one for one in STATE.positions if STATE.markets[one.market_id].is_open):
        shown = formats.price(STATE.markets[held.market_id].price_of(held.side)).plain
        assert formats.price(held.mark_price).plain == shown
        assert shown in position_body(held, ViewContext.of(STATE, NOW, 100)).plain
        explained = {one.name: str(one.value) for one in position_numbers(held, STATE, NOW)}
        assert explained["mark value, $SIM"] == formats.money(held.mark_value).plain


def test_no_amount_of_a_position_is_read_while_amounts_are_masked() -> None:
    view = ViewContext.of(STATE, NOW, 100)
    given = {"shares": 11, "cost": 22, "mark_value": 33, "exit_value": 44, "unrealized": 55,
             "realized": 66}  # fmt: skip
    held = replace(STATE.positions[0], **{name: Micros(one * ONE) for name, one in given.items()})
    shown = position_body(held, view).plain
    masked = position_body(held, replace(view, masked=True)).plain
    for one in given.values():
        assert f"{one}.00" in shown
        assert f"{one}.00" not in masked


def test_what_is_guarded_and_what_waits_are_counts_of_what_is_listed() -> None:
    words = guarded_text(STATE).plain.lstrip("! ").split()
    watched = {one.key for one in STATE.risk.monitors if one.shares > 0}
    protected, every = words[0].split("/")
    assert int(protected) == len(watched)
    assert int(every) == len({one.key for one in STATE.positions} | watched)
    waiting = len(STATE.supervision.pending_trades)
    assert f"& {waiting} approvals" in text_of(approval_bits(STATE, NOW))
    reported = day_reports(STATE, NOW, known_pasts(STATE))
    assert sum(one.waiting for one in reported) == waiting


def test_the_value_of_the_positions_is_one_figure_in_list_head_explanation_and_export() -> None:
    value = Micros(sum(held.mark_value for held in STATE.positions))
    assert STATE.account.mark_equity == STATE.account.cash + value
    equity = next(one for one in account_numbers(STATE, NOW) if one.name == "at mark, $SIM")
    inputs = {label: str(shown) for label, shown in equity.inputs}
    assert inputs["cash, $SIM"] == formats.money(STATE.account.cash).plain == ACCOUNT["cash $"]
    assert inputs["mark value, $SIM"] == formats.money(value).plain
    columns = OPEN.columns
    rows = {one["market"]: one for one in exported("positions.csv") if one["agent"] == OWN.agent_id}
    for held in STATE.positions:
        shown = formats.money(held.mark_value).plain
        assert cells(columns, held)["value"] == shown
        assert shown in position_body(held, ViewContext.of(STATE, NOW, 100)).plain
        assert rounded(rows[held.market_id]["mark_value"]) == rounded(shown)


def test_the_summary_of_the_day_and_its_table_have_the_figures_of_the_head() -> None:
    summary = files_of(STATE, NOW, known_pasts(STATE))["day.md"]
    row = next(line for line in summary.splitlines() if line.startswith(f"| {OWN.name} |"))
    table = [cell.strip() for cell in row.strip("|").split("|")]
    heads = next(line for line in summary.splitlines() if line.startswith("| name |"))
    named = dict(zip([cell.strip() for cell in heads.strip("|").split("|")], table, strict=True))
    assert rounded(named["equity"]) == rounded(EXPORTED["equity"])
    assert rounded(named["day_pnl"]) == rounded(EXPORTED["day_pnl"])
    assert rounded(named["total_pnl"]) == rounded(EXPORTED["total_pnl"])
    assert named["positions"] == EXPORTED["positions"] == str(len(STATE.positions))


def test_what_waits_is_one_count_in_head_list_report_and_export() -> None:
    held = STATE.supervision.pending_trades
    assert f"& {len(held)} approvals" in text_of(approval_bits(STATE, NOW))
    waits = [one for one in needs(STATE, NOW) if one.key.startswith("held")]
    assert len(waits) == len(held)
    summary = files_of(STATE, NOW, known_pasts(STATE))["day.md"]
    assert f"{len(held)} trades need approval." in summary
    assert sum(one["status"] == "waiting" for one in exported("approvals.csv")) == len(held)
    reports = day_reports(STATE, NOW, known_pasts(STATE))
    assert sum(one.waiting for one in reports) == len(held)
    alone = replace(STATE, supervision=replace(STATE.supervision, pending_trades=held[:1]))
    assert "1 trade needs approval." in day_in_markdown(alone, NOW, known_pasts(alone))


def test_what_is_under_way_is_one_count_in_head_and_list() -> None:
    flying = [one for one in STATE.tickets if one.in_flight]
    assert f"{len(flying)} order pending" in text_of(world_bits(STATE, NOW))
    assert STATE.in_flight == len(flying)


def test_an_order_that_was_searched_in_vain_is_not_pending() -> None:
    sent = replace(STATE.tickets[0], state=TicketState.UNKNOWN, settled_at=None)
    searching = replace(STATE, tickets=(sent,))
    assert "1 order pending" in text_of(world_bits(searching, NOW))
    for outcome in (NO_TRACE, NOT_FOUND):
        head = text_of(world_bits(replace(STATE, tickets=(replace(sent, outcome=outcome),)), NOW))
        assert "0 orders pending" in head
        assert "1 order of unknown outcome" in head


def test_the_change_of_a_young_market_is_since_it_opened() -> None:
    market = next(one for one in STATE.markets.values() if one.change is not None)
    day = Timestamp(NOW - 86_400)
    assert "pt in 24 h" in headline(replace(market, opens_at=day), NOW).plain
    assert "pt in 24 h" in headline(replace(market, opens_at=None), NOW).plain
    young = headline(replace(market, opens_at=Timestamp(day + 1)), NOW).plain
    assert "pt since opening" in young
