"""One frame shows one moment: what stands on several screens is one figure."""

import random
from dataclasses import replace

import pytest

from kit.samples.desk import NOW, market, sample_state
from kit.samples.risk import monitor_of
from service_tui.desk.changes import Changed, Loaded
from service_tui.desk.facts import (
    AccountSeen,
    MarketsSeen,
    PositionsSeen,
)
from service_tui.desk.figures import (
    guard_counts,
    is_counting,
    open_news,
    own_agent,
    pnl_points,
    price_points,
)
from service_tui.desk.reduce import reduce
from service_tui.desk.slices.fleet import AgentDetailView
from service_tui.desk.slices.records import TicketState, Topic
from service_tui.desk.slices.risk import MonitorView
from service_tui.desk.state import DeskState
from service_tui.terms import MarketStatus, win_rate
from service_tui.units import ONE, Micros, Probability, Timestamp

STATE = sample_state()


def told(**counts: int) -> DeskState:
    """The state after the fleet was read with these counts of the own agent."""
    own, *others = STATE.fleet.agents
    agents = (replace(own, **counts), *others)
    return reduce(STATE, Changed(replace(STATE.fleet, agents=agents)))


@pytest.mark.parametrize(("wins", "losses", "rate"), [(0, 0, None), (1, 2, 1 / 3), (0, 4, 0.0)])
def test_the_win_rate_is_that_of_what_gained_or_lost(
    wins: int, losses: int, rate: float | None
) -> None:
    assert win_rate(wins, losses) == rate


def test_the_row_of_the_own_agent_is_its_account() -> None:
    own = own_agent(told())
    account = told().account
    assert (own.equity, own.cash) == (account.equity, account.cash)
    assert (own.total_pnl, own.day_pnl) == (account.total_pnl, account.day_pnl)
    moved = market(0, random.Random(1))
    state = reduce(told(), MarketsSeen((replace(moved, price=Probability(0.61)),)))
    assert own_agent(state).equity == state.account.equity


def test_the_newest_counts_win_whoever_tells_them() -> None:
    state = told(wins=1, losses=2, trades_count=9)
    assert (state.account.win_rate, state.account.trades_count) == (1 / 3, 9)
    later = replace(STATE.account, wins=3, losses=2, win_rate=0.6, trades_count=11)
    state = reduce(state, AccountSeen(later))
    assert (own_agent(state).win_rate, own_agent(state).trades_count) == (0.6, 11)
    # What was closed since does not bring a rate of its own.
    state = reduce(state, PositionsSeen(STATE.positions, STATE.positions[:2], 0, None, ()))
    assert own_agent(state).win_rate == state.account.win_rate == 0.6


def test_the_briefing_has_the_win_rate_and_the_pnl_of_the_account() -> None:
    state = reduce(told(wins=1, losses=2), Changed(STATE.briefing, 0))
    account, standing = state.account, state.briefing.standing
    assert standing.win_rate == account.win_rate == 1 / 3
    assert standing.pnl_percent == pytest.approx(100 * account.total_pnl / account.start)


def test_no_monitor_stands_below_a_count_of_none() -> None:
    monitor = replace(monitor_of(), shares=Micros(5 * ONE))
    state = replace(STATE, positions=(), on_venues=())
    assert guard_counts(reduce(state, Loaded(MonitorView, (monitor,), 0))) == (1, 1)
    held = replace(STATE.positions[0], market_id="m-x")
    state = reduce(replace(state, positions=(held,)), Loaded(MonitorView, (monitor,), 0))
    assert guard_counts(state) == (1, 2)


def test_after_a_fill_nothing_is_held_only_once_positions_were_read() -> None:
    ticket = replace(
        STATE.tickets[0], market_id="m-1", state=TicketState.DONE, settled_at=Timestamp(NOW)
    )
    before = replace(STATE, tickets=(ticket,), seen={Topic.POSITIONS: Timestamp(NOW - 1)})
    assert is_counting(before, "m-1")
    assert not is_counting(before, "m-2")
    after = replace(before, seen={Topic.POSITIONS: Timestamp(NOW + 1)})
    assert not is_counting(after, "m-1")


def test_a_chart_ends_in_the_figure_beside_it() -> None:
    one, detail = STATE.markets[STATE.detail.market_id], STATE.detail
    one = replace(one, price=Probability(0.4321), status=MarketStatus.ACTIVE)
    assert price_points(one, detail, Timestamp(NOW))[-1][1] == 0.4321
    assert price_points(one, replace(detail, points=()), Timestamp(NOW)) == ()
    own = own_agent(told())
    seen = AgentDetailView(own.agent_id, (), (), points=((Timestamp(NOW - 9), Micros(1)),))
    assert pnl_points(own, seen, Timestamp(NOW))[-1] == (NOW, own.total_pnl)
    assert pnl_points(own, replace(seen, agent_id="a-9"), Timestamp(NOW)) == ()


def test_a_briefing_names_no_market_that_is_over() -> None:
    first, second, *_ = STATE.briefing.new_markets
    markets = dict(STATE.markets)
    markets[first.market_id] = replace(
        markets[first.market_id], resolves_at=Timestamp(NOW - 10_800)
    )
    markets[second.market_id] = replace(
        markets[second.market_id],
        resolves_at=Timestamp(NOW + 60),
        status=MarketStatus.ACTIVE,
    )
    state = replace(STATE, markets=markets)
    found = open_news(STATE.briefing, state, NOW)
    assert first.market_id not in {one.market_id for one, _ in found}
    assert (second, 60.0) in found
