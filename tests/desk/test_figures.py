"""One frame shows one moment: what stands on several screens is one figure."""

import copy
import random
from dataclasses import replace

import pytest

from kit.samples.desk import NOW, market, sample_state
from kit.samples.fleet import limits_of
from kit.samples.risk import monitor_of
from service_tui.desk.changes import Changed, Loaded
from service_tui.desk.facts import (
    AccountSeen,
    MarketsSeen,
    PositionsSeen,
)
from service_tui.desk.figures import (
    agreed,
    equity_points,
    guard_counts,
    is_counting,
    open_news,
    own_agent,
    pnl_points,
    price_points,
)
from service_tui.desk.reduce import reduce
from service_tui.desk.slices.agents import AgentDetailView, AgentLimitsView, AgentView
from service_tui.desk.slices.buy_limits import SkillDaySpend
from service_tui.desk.slices.risk import MonitorView
from service_tui.desk.slices.tickets import TicketState
from service_tui.desk.slices.topics import Topic
from service_tui.desk.state import DeskState
from service_tui.terms import MarketStatus, Venue, win_rate
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


# -- one figure, whoever was read last


def own_row(state: DeskState) -> AgentView:
    row = own_agent(state)
    assert row is not None
    return row


@pytest.mark.parametrize("missing", ["account", "fleet"])
def test_without_account_or_fleet_there_is_no_own_agent(missing: str) -> None:
    assert own_agent(replace(STATE, **{missing: None})) is None
    other = replace(STATE.account, agent_id="nobody")
    assert own_agent(replace(STATE, account=other)) is None


@pytest.mark.parametrize(
    "same", ["account", "fleet", "briefing", "positions", "limits", "buy_limits"]
)
def test_each_reading_makes_the_figures_agree_again(same: str) -> None:
    own, *others = STATE.fleet.agents
    odd = replace(STATE, fleet=replace(STATE.fleet, agents=(replace(own, cash=Micros(1)), *others)))
    # The fleet itself is newer than the account in its counts alone.
    value = getattr(odd, same)
    other = dict(value) if isinstance(value, dict) else copy.copy(value)
    other = (*value[1:],) if same == "positions" else other
    after = agreed(odd, replace(odd, **{same: other}))
    assert own_row(after).cash == STATE.account.cash
    assert agreed(odd, replace(odd, stars=frozenset({"a"}))).fleet is odd.fleet


def used_of(**other: object) -> AgentLimitsView:
    given = {
        "buys_today": 31, "buys_resting": 4, "day_spent": Micros(77 * ONE),
        "skills": (("gauge", Micros(9 * ONE)), ("news", Micros(ONE))),
    }  # fmt: skip
    return limits_of(**{**given, **other})


def with_row(used: AgentLimitsView | None, **other: object) -> DeskState:
    """The state after the fleet was read with this use of the own agent."""
    before = replace(STATE, **other)
    own, *others = before.fleet.agents
    agents = (replace(own, limits=used), *others)
    return agreed(before, replace(before, fleet=replace(before.fleet, agents=agents)))


def test_the_day_of_the_row_that_was_read_last_is_that_of_the_limits() -> None:
    state = with_row(used_of())
    assert (state.limits.day_trades, state.limits.day_resting) == (31, 4)
    assert state.limits.day_spent == 77 * ONE
    assert (state.buy_limits.day_buys, state.buy_limits.day_resting) == (31, 4)
    assert state.buy_limits.day_spent == 77 * ONE
    assert state.buy_limits.skills == (
        SkillDaySpend("gauge", Micros(9 * ONE)),
        SkillDaySpend("news", Micros(ONE)),
    )
    assert own_row(state).limits == used_of()


def test_a_row_without_limits_changes_none() -> None:
    state = with_row(None)
    assert (state.limits, state.buy_limits) == (STATE.limits, STATE.buy_limits)
    assert own_row(state).limits is None


def test_limits_that_count_no_buys_stay_as_they_are() -> None:
    limits = replace(STATE.limits, day_trades=None)
    buy_limits = replace(STATE.buy_limits, day_buys=None)
    state = with_row(used_of(), limits=limits, buy_limits=buy_limits)
    assert state.limits == limits
    assert state.buy_limits == buy_limits
    assert own_row(state).limits == used_of()
    state = with_row(used_of(), limits=None, buy_limits=None)
    assert (state.limits, state.buy_limits) == (None, None)


def test_limits_that_were_read_last_are_those_of_the_row() -> None:
    before = with_row(used_of())
    later = replace(
        before.buy_limits,
        day_buys=33,
        day_resting=1,
        day_spent=Micros(80 * ONE),
        skills=(SkillDaySpend("gauge", Micros(12 * ONE)),),
    )
    row = own_row(agreed(before, replace(before, buy_limits=later)))
    assert row.limits == used_of(
        buys_today=33,
        buys_resting=1,
        day_spent=Micros(80 * ONE),
        skills=(("gauge", Micros(12 * ONE)),),
    )


@pytest.mark.parametrize(
    ("field", "unknown_of"),
    [("cash", "equity"), ("equity", "equity"), ("total_pnl", "total_pnl"), ("day_pnl", "day_pnl")],
)
def test_a_figure_that_the_account_has_not_stays_the_rows(field: str, unknown_of: str) -> None:
    own, *others = STATE.fleet.agents
    mine = replace(own, **{field: Micros(123)})
    before = replace(STATE, fleet=replace(STATE.fleet, agents=(mine, *others)))
    known = replace(before.account, name="again")
    assert getattr(own_row(agreed(before, replace(before, account=known))), field) == getattr(
        known, field
    )
    without = replace(known, **{unknown_of: None})
    assert getattr(own_row(agreed(before, replace(before, account=without))), field) == 123


def test_the_positions_of_the_row_are_counted_once_they_were_read() -> None:
    own, *others = STATE.fleet.agents
    mine = replace(own, positions_count=99)
    before = replace(STATE, fleet=replace(STATE.fleet, agents=(mine, *others)))
    fewer = STATE.positions[:2]
    assert own_row(agreed(before, replace(before, positions=fewer))).positions_count == 99
    after = agreed(before, replace(before, positions=fewer, positions_read=True))
    assert own_row(after).positions_count == 2


def test_a_row_that_agrees_is_the_same_object() -> None:
    state = agreed(STATE, replace(STATE, account=replace(STATE.account, name="again")))
    again = agreed(state, replace(state, account=replace(state.account, name="more")))
    assert again.fleet is state.fleet


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"total_pnl": None}, "pnl_percent"),
        ({"start": Micros(0)}, "pnl_percent"),
        ({"win_rate": None}, "win_rate"),
    ],
)
def test_a_standing_keeps_what_the_account_does_not_know(
    change: dict[str, object], field: str
) -> None:
    standing = replace(STATE.briefing.standing, pnl_percent=12.5, win_rate=0.125)
    before = replace(STATE, briefing=replace(STATE.briefing, standing=standing))
    account = replace(before.account, **change)
    after = agreed(before, replace(before, account=account))
    assert getattr(after.briefing.standing, field) == getattr(standing, field)
    none = replace(standing, **{field: None})
    before = replace(before, briefing=replace(before.briefing, standing=none))
    after = agreed(before, replace(before, account=replace(before.account, name="again")))
    assert getattr(after.briefing.standing, field) is None


# -- the end of a line


def test_a_line_of_prices_ends_now_while_the_market_is_open() -> None:
    one, detail = STATE.markets[STATE.detail.market_id], STATE.detail
    points = ((Timestamp(NOW - 9), 0.3), (Timestamp(NOW - 8), 0.2), (Timestamp(NOW - 5), 0.4))
    detail = replace(detail, points=points)
    one = replace(one, price=Probability(0.45), status=MarketStatus.ACTIVE)
    assert price_points(one, detail, Timestamp(NOW)) == (*points, (NOW, 0.45))
    assert price_points(one, detail, Timestamp(NOW - 7)) == (*points, (NOW - 5, 0.45))
    assert price_points(replace(one, status=MarketStatus.RESOLVED), detail, NOW) == points


def test_a_line_of_equity_ends_in_that_of_the_account() -> None:
    points = tuple((point.at, point.equity) for point in STATE.equity)
    state = replace(STATE, from_cache=False)
    assert len(points) > 1
    assert equity_points(state, NOW) == (*points, (NOW, state.account.equity))
    assert equity_points(replace(state, from_cache=True), NOW) == points
    assert equity_points(replace(state, account=None), NOW) == points
    unknown = replace(state.account, equity=None)
    assert equity_points(replace(state, account=unknown), NOW) == points


def test_a_line_of_an_agents_pnl_ends_in_that_of_its_row() -> None:
    own = own_row(STATE)
    points = tuple((Timestamp(NOW - ago), Micros(ago)) for ago in (9, 8, 5))
    seen = AgentDetailView(own.agent_id, (), (), points=points)
    assert pnl_points(own, seen, NOW) == (*points, (NOW, own.total_pnl))
    assert pnl_points(own, seen, Timestamp(NOW - 7)) == (*points, (NOW - 5, own.total_pnl))
    assert pnl_points(own, None, NOW) == ()
    assert pnl_points(own, replace(seen, points=()), NOW) == ()


@pytest.mark.parametrize(
    ("settled_at", "read_at", "state", "expected"),
    [
        (NOW, NOW - 1, TicketState.DONE, True),
        (NOW, NOW, TicketState.DONE, False),
        (NOW, None, TicketState.DONE, True),
        (None, None, TicketState.DONE, False),
        (NOW, None, TicketState.SENT, False),
    ],
)
def test_an_order_counts_until_the_positions_are_read(
    settled_at: float | None, read_at: float | None, state: TicketState, *, expected: bool
) -> None:
    ticket = replace(STATE.tickets[0], market_id="m-1", state=state, settled_at=settled_at)
    seen = {} if read_at is None else {Topic.POSITIONS: Timestamp(read_at)}
    assert is_counting(replace(STATE, tickets=(ticket,), seen=seen), "m-1") is expected


def test_what_is_guarded_has_shares_and_watches_still() -> None:
    here = replace(STATE, positions=(), on_venues=())
    for monitor, counts in (
        (monitor_of(), (1, 1)),
        (monitor_of(shares=Micros(0)), (0, 0)),
        (monitor_of(is_spent=True), (0, 0)),
    ):
        risk = replace(here.risk, monitors=(monitor,))
        assert guard_counts(replace(here, risk=risk)) == counts
    held = replace(STATE.positions[0], venue=Venue.EVM, status=MarketStatus.ACTIVE)
    risk = replace(here.risk, monitors=())
    for real, count in (
        (held, 1),
        (replace(held, shares=Micros(0)), 0),
        (replace(held, status=MarketStatus.RESOLVED), 0),
    ):
        assert guard_counts(replace(here, risk=risk, on_venues=(real,))) == (0, count)


def test_news_of_a_market_that_is_not_known_have_no_time_left() -> None:
    first = STATE.briefing.new_markets[0]
    briefing = replace(STATE.briefing, new_markets=(first,))
    assert open_news(briefing, replace(STATE, markets={}), NOW) == ((first, None),)
    one = replace(STATE.markets[first.market_id], status=MarketStatus.ACTIVE)
    for ends, expected in (
        (None, ((first, None),)),
        (Timestamp(NOW + 60), ((first, 60.0),)),
        (Timestamp(NOW), ()),
    ):
        known = {first.market_id: replace(one, resolves_at=ends)}
        assert open_news(briefing, replace(STATE, markets=known), NOW) == expected
    over = {first.market_id: replace(one, resolves_at=None, status=MarketStatus.RESOLVED)}
    assert open_news(briefing, replace(STATE, markets=over), NOW) == ()


def test_the_counts_of_the_row_are_those_of_the_account() -> None:
    state = told(wins=5, losses=3, trades_count=11)
    account = state.account
    assert (account.wins, account.losses, account.trades_count) == (5, 3, 11)
    assert account.win_rate == 5 / 8


@pytest.mark.parametrize("missing", ["account", "fleet", "briefing"])
def test_what_is_not_known_yet_hinders_nothing(missing: str) -> None:
    before = replace(STATE, **{missing: None})
    after = replace(before, limits=replace(STATE.limits, paused=True))
    assert agreed(before, after).limits == after.limits
    assert getattr(agreed(before, after), missing) is None


def test_the_pnl_is_in_percent_of_the_start_down_to_the_last_micro() -> None:
    account = replace(STATE.account, start=Micros(1), total_pnl=Micros(1))
    after = agreed(STATE, replace(STATE, account=account))
    assert after.briefing.standing.pnl_percent == 100.0


def test_a_position_and_its_monitor_count_as_one() -> None:
    held = STATE.positions[0]
    monitor = monitor_of(held.market_id, side=held.side, venue=held.venue, shares=Micros(1))
    state = replace(STATE, positions=(held, STATE.positions[1]), on_venues=())
    risk = replace(state.risk, monitors=(monitor,))
    assert guard_counts(replace(state, risk=risk)) == (1, 2)
    least = replace(held, venue=Venue.EVM, status=MarketStatus.ACTIVE, shares=Micros(1))
    bare = replace(state, positions=(), on_venues=(least,), risk=replace(risk, monitors=()))
    assert guard_counts(bare) == (0, 1)


def test_one_order_among_others_counts() -> None:
    done = replace(
        STATE.tickets[0], market_id="m-1", state=TicketState.DONE, settled_at=Timestamp(NOW)
    )
    other = replace(done, market_id="m-2", ticket_id="t-2")
    state = replace(STATE, tickets=(other, done), seen={})
    assert is_counting(state, "m-1")
    assert not is_counting(state, "m-3")
