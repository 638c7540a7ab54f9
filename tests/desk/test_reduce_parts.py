"""What each kind of fact makes of the state: fills, outcomes, quotes, tickets, single rows."""

from dataclasses import replace
from typing import Any

import pytest

from kit.samples.desk import NOW, sample_state
from kit.samples.reactor import reactor
from kit.samples.risk import alert_of, monitor_of
from service_tui.desk import reduce as reducing
from service_tui.desk.changes import Changed, Loaded, Removed
from service_tui.desk.facts import (
    FillsRead,
    FillsReceived,
    MarketsSeen,
    PositionsSeen,
    ServiceAnswered,
    ServiceFailed,
)
from service_tui.desk.reduce import FILLS_MAX, reduce
from service_tui.desk.slices.account import EquityPoint, LimitsView
from service_tui.desk.slices.agents import FillView
from service_tui.desk.slices.briefing import BriefingView
from service_tui.desk.slices.markets import DetailView
from service_tui.desk.slices.orders import OpenOrderView
from service_tui.desk.slices.quote import QuoteView
from service_tui.desk.slices.reactor import BreakerView
from service_tui.desk.slices.risk import AlertsSeen, AlertState, MonitorView, RiskView
from service_tui.desk.slices.risk_changes import news_of
from service_tui.desk.slices.service import Phase
from service_tui.desk.slices.team import TeamView
from service_tui.desk.slices.tickets import TicketState, TicketView
from service_tui.desk.slices.topics import Topic
from service_tui.desk.slices.wallet import PayView, WalletView
from service_tui.desk.state import DeskState
from service_tui.terms import Action, MarketStatus, PersonRole, Side, Venue
from service_tui.units import ONE, Micros, Timestamp

STATE = sample_state(6)
MARKET = next(
    one.market_id
    for one in STATE.positions
    if one.venue is Venue.SIM and STATE.markets[one.market_id].status is MarketStatus.ACTIVE
)


def fill(seq: int, **other: Any) -> FillView:
    given: dict[str, Any] = {
        "seq": seq, "at": Timestamp(NOW + seq), "agent_id": "ada", "agent_name": "Ada",
        "market_id": MARKET, "question": "Will it?", "venue": Venue.SIM, "side": Side.YES,
        "action": Action.BUY, "shares": Micros(9 * ONE), "price": 0.4, "price_after": 0.42,
        "money": Micros(4 * ONE), "realized": Micros(0), "trade_id": f"t{seq}", **other,
    }  # fmt: skip
    return FillView(**given)


def names(state: DeskState) -> list[str]:
    return [one.key for one in state.fills]


# -- fills --------------------------------------------------------------------------------------


def test_fills_come_newest_first_and_each_counts_once() -> None:
    state = replace(STATE, fills=())
    state = reduce(state, FillsReceived((fill(1), fill(2))))
    assert names(state) == ["t2 2", "t1 1"]
    again = reduce(state, FillsReceived((fill(2), fill(1))))
    assert again.fills is state.fills
    assert names(reduce(state, FillsReceived((fill(2), fill(3), fill(3))))) == [
        "t3 3", "t2 2", "t1 1",
    ]  # fmt: skip


def test_equal_parts_of_one_order_are_fills_of_their_own() -> None:
    first, second = fill(1, trade_id="t"), fill(2, trade_id="t")
    assert first.shares == second.shares
    state = reduce(replace(STATE, fills=(first,)), FillsReceived((second,)))
    assert state.fills == (second, first)


def test_the_oldest_fills_are_forgotten() -> None:
    state = replace(STATE, fills=tuple(fill(seq) for seq in range(FILLS_MAX, 0, -1)))
    state = reduce(state, FillsReceived((fill(FILLS_MAX + 1),)))
    assert [one.seq for one in state.fills] == [*range(FILLS_MAX + 1, 1, -1)]


def test_a_fill_that_the_history_had_before_is_not_shown_twice() -> None:
    past = (
        fill(0, trade_id="t5"),
        fill(0, trade_id="t5", shares=Micros(1)),
        fill(0, trade_id="t4"),
    )
    state = reduce(replace(STATE, fills=past), FillsReceived((fill(5),)))
    assert [(one.trade_id, one.seq, one.shares) for one in state.fills] == [
        ("t5", 5, 9 * ONE), ("t5", 0, 1), ("t4", 0, 9 * ONE),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("other", "price"),
    [
        ({}, 0.42), ({"side": Side.NO}, 0.58), ({"venue": Venue.EVM}, None),
        ({"price_after": 0.0}, None), ({"price_after": 1.0}, None), ({"market_id": "none"}, None),
    ],
)  # fmt: skip
def test_a_fill_for_play_money_moves_the_price_of_its_market(
    other: dict[str, Any], price: float | None
) -> None:
    before = STATE.markets[MARKET].price
    state = reduce(STATE, FillsReceived((fill(1, **other),)))
    assert state.markets[MARKET].price == pytest.approx(before if price is None else price)
    assert state.fills[0].seq == 1
    held = next(one for one in state.positions if one.market_id == MARKET)
    assert held.mark_price == pytest.approx(state.markets[MARKET].price_of(held.side))


def test_the_history_of_an_agent_takes_the_place_of_what_was_read_of_it_before() -> None:
    streamed = (fill(7), fill(0, trade_id="old"), fill(0, trade_id="his", agent_id="ben"))
    read = (fill(0, trade_id="t7"), fill(0, trade_id="new", at=Timestamp(NOW + 9)))
    state = reduce(replace(STATE, fills=streamed), FillsRead(read))
    assert [one.trade_id for one in state.fills] == ["new", "t7", "his"]
    assert [one.seq for one in state.fills] == [0, 7, 0]


# -- outcomes -----------------------------------------------------------------------------------


def outcome(side: Side, realized: int, *, won: bool) -> Any:
    held = next(one for one in STATE.positions)
    return replace(
        held, side=side, status=MarketStatus.RESOLVED, outcome=won, realized=Micros(realized * ONE)
    )


@pytest.mark.parametrize(
    ("realized", "won", "tone", "text"),
    [
        (5, True, "good", "resolved YES: +5.00 with YES, "),
        (-3, False, "warn", "resolved NO: -3.00 with YES, "),
        (0, True, "warn", "resolved YES: +0.00"),
    ],
)  # fmt: skip
def test_an_open_position_that_has_its_outcome_is_told_once(
    realized: int, tone: str, text: str, *, won: bool
) -> None:
    held = replace(STATE.positions[0], side=Side.YES)
    state = replace(STATE, positions=(held,), closed=(), notices=(), from_cache=False)
    over = outcome(Side.YES, realized, won=won)
    fact = PositionsSeen((), closed=(over,))
    after = reduce(state, fact)
    (notice,) = after.notices
    assert (notice.tone, notice.text.startswith(text)) == (tone, True)
    assert notice.text.endswith(held.question) or text.endswith("+0.00")
    assert reduce(after, fact).notices == after.notices
    cached = replace(state, from_cache=True)
    assert reduce(cached, fact).notices == ()
    # One that was never open here, or was known to be over, is no news.
    assert reduce(replace(state, positions=()), fact).notices == ()
    assert reduce(replace(state, closed=(replace(over),)), fact).notices == ()
    unknown = PositionsSeen((), closed=(replace(over, outcome=None),))
    assert reduce(state, unknown).notices == ()


# -- one of a kind ------------------------------------------------------------------------------


def test_an_older_quote_takes_the_place_of_no_newer_one() -> None:
    newer, older = QuoteView(5, ok=True), QuoteView(4, ok=True)
    state = reduce(replace(STATE, quote=None), Changed(newer))
    assert state.quote is newer
    assert reduce(state, Changed(older)).quote is newer
    same = QuoteView(5, ok=False)
    assert reduce(state, Changed(same)).quote is same
    with pytest.raises(TypeError):
        reduce(state, Removed(QuoteView, "5"))


def test_a_single_row_stands_in_its_field_until_it_is_removed() -> None:
    limits = LimitsView.__new__(LimitsView)
    state = reduce(STATE, Changed(limits))
    assert state.limits is limits
    assert reduce(state, Removed(LimitsView, "")).limits is None
    with pytest.raises(TypeError):
        reduce(state, Loaded(LimitsView, ()))


@pytest.mark.parametrize(
    ("kind", "topic"), [(BriefingView, Topic.BRIEFING), (DetailView, Topic.DETAIL)]
)
def test_what_could_not_be_read_of_a_single_row_is_counted(kind: Any, topic: Topic) -> None:
    row = STATE.briefing if kind is BriefingView else STATE.detail
    row = row or kind.__new__(kind)
    state = reduce(STATE, Changed(row, dropped=3))
    assert state.service.dropped[topic] == 3
    assert reduce(state, Changed(row)).service.dropped[topic] == 0


def test_a_list_of_monitors_stands_at_the_prices_of_now_and_counts_what_it_lost() -> None:
    held = replace(STATE.positions[0], mark_price=0.43)
    known = monitor_of(held.market_id, side=held.side, venue=held.venue, mark=0.11)
    state = replace(STATE, positions=(held,))
    after = reduce(state, Loaded(MonitorView, (known,), 2))
    (monitor,) = after.risk.monitors
    assert (monitor.key, monitor.mark) == (held.key, 0.43)
    assert after.service.dropped[Topic.MONITORS] == 2


@pytest.mark.parametrize("is_first", [True, False])
def test_a_new_alert_is_told_and_those_of_the_first_briefing_in_one_line(*, is_first: bool) -> None:
    seen = {topic: at for topic, at in STATE.seen.items() if topic is not Topic.BRIEFING}
    seen |= {Topic.MONITORS: NOW} if is_first else {Topic.BRIEFING: NOW}
    state = replace(STATE, notices=(), seen=seen, risk=RiskView())
    lost = alert_of("a-1", state=AlertState.MISSED)
    fact = AlertsSeen(NOW, (), (lost,), ())
    after = reduce(state, fact)
    expected = [one.text for one in news_of(state.risk, after.risk, is_first=is_first)]
    assert [one.text for one in after.notices] == expected
    assert expected
    other = next(iter(news_of(state.risk, after.risk, is_first=not is_first)))
    assert other.text != expected[0]


def test_rows_that_could_not_be_read_are_counted_only_where_that_changes() -> None:
    state = reduce(STATE, MarketsSeen((), dropped=2))
    assert state.service.dropped == {**STATE.service.dropped, Topic.MARKETS: 2}
    assert reduce(state, MarketsSeen((), dropped=2)).service is state.service


def ticket(name: str, state: TicketState = TicketState.DONE) -> TicketView:
    return TicketView(name, "trade", MARKET, "buy", state, NOW, NOW)


def test_an_order_that_was_cancelled_here_is_gone_and_known_to_be() -> None:
    order = OpenOrderView.__new__(OpenOrderView)
    object.__setattr__(order, "order_id", "o1")
    other = OpenOrderView.__new__(OpenOrderView)
    object.__setattr__(other, "order_id", "o2")
    state = reducing.without_order(
        replace(STATE, orders=(order, other), gone_orders=frozenset({"o0"})),
        Removed(OpenOrderView, "o1"),
    )
    assert ([one.order_id for one in state.orders], state.gone_orders) == (["o2"], {"o0", "o1"})
    with pytest.raises(TypeError):
        reducing.without_order(STATE, Loaded(OpenOrderView, ()))


def test_the_curve_grows_point_by_point_and_is_thinned_in_its_older_half(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(reducing, "EQUITY_MAX", 8)
    state = replace(STATE, equity=())
    for place in range(8):
        state = reduce(state, Changed(EquityPoint(Timestamp(float(place)), Micros(place))))
    assert [point.at for point in state.equity] == [*range(8)]
    state = reduce(state, Changed(EquityPoint(Timestamp(8.0), Micros(8))))
    assert [point.at for point in state.equity] == [0, 2, 4, 5, 6, 7, 8]
    with pytest.raises(TypeError):
        reduce(STATE, Removed(EquityPoint, ""))


@pytest.mark.parametrize(
    ("before", "after", "is_told"),
    [
        (None, (1, "gull"), False), ((1, "gull"), (1, "gull"), False),
        ((1, "gull"), (2, ""), False), ((1, "gull"), (2, "tern"), True),
    ],
)  # fmt: skip
def test_another_leader_is_told(before: Any, after: Any, *, is_told: bool) -> None:
    def team(known: tuple[int, str] | None) -> TeamView | None:
        if known is None:
            return None
        epoch, leader = known
        return TeamView("ada", PersonRole.TRADER, "north", epoch=epoch, leader=leader)

    state = replace(STATE, team=team(before), notices=())
    told = reduce(state, Changed(team(after)))
    assert told.team == team(after)
    assert [one.text.startswith("another process leads north: tern") for one in told.notices] == (
        [True] if is_told else []
    )


def test_pay_per_call_and_the_wallet_do_not_take_each_others_place() -> None:
    pay = PayView.__new__(PayView)
    state = reduce(STATE, Changed(pay))
    assert state.wallet.pay is pay
    wallet = WalletView(address="0x1")
    after = reduce(state, Changed(wallet))
    assert (after.wallet.address, after.wallet.pay) == ("0x1", pay)
    with pytest.raises(TypeError):
        reduce(STATE, Removed(WalletView, ""))


# -- answers and failures -----------------------------------------------------------------------


def with_service(**other: Any) -> DeskState:
    return replace(STATE, service=replace(STATE.service, **other), notices=())


def test_what_the_operators_key_reads_does_not_heal_a_refused_key_of_the_agent() -> None:
    state = with_service(
        phase=Phase.UNAUTHORIZED, failures={Topic.AGENTS: "x", Topic.MARKETS: "y"}, latency_s=9.0
    )
    after = reduce(state, ServiceAnswered(Topic.AGENTS, NOW, 0.1, by_operator=True))
    assert (after.service.phase, after.service.failures, after.service.latency_s) == (
        Phase.UNAUTHORIZED, {Topic.MARKETS: "y"}, 9.0,
    )  # fmt: skip
    assert after.seen[Topic.AGENTS] == NOW
    healed = reduce(state, ServiceAnswered(Topic.AGENTS, NOW, 0.1, 0.5))
    assert (healed.service.phase, healed.service.latency_s, healed.service.skew_s) == (
        Phase.ONLINE, 0.1, 0.5,
    )  # fmt: skip
    assert healed.service.last_ok_at == NOW


def test_the_problem_of_one_topic_stands_until_that_one_answers() -> None:
    state = with_service(
        phase=Phase.ONLINE, problem="broken", problem_of=Topic.TRADES, problem_status=500
    )
    other = reduce(state, ServiceAnswered(Topic.MARKETS, NOW, 0.1))
    assert (other.service.problem, other.service.problem_status) == ("broken", 500)
    own = reduce(state, ServiceAnswered(Topic.TRADES, NOW, 0.1))
    assert (own.service.problem, own.service.problem_of, own.service.problem_status) == (
        "", None, 0,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("by_operator", "phase"), [(False, Phase.UNAUTHORIZED), (True, Phase.ONLINE)]
)
def test_a_refused_key_is_that_of_the_agent(phase: Phase, *, by_operator: bool) -> None:
    state = with_service(phase=Phase.ONLINE, last_ok_at=NOW, failures={})
    fact = ServiceFailed(
        Topic.AGENTS, NOW, "no such key", unauthorized=True, by_operator=by_operator, status=401
    )
    after = reduce(state, fact)
    assert (after.service.phase, after.service.failures) == (phase, {Topic.AGENTS: "no such key"})
    assert (after.service.problem, after.service.problem_of, after.service.problem_status) == (
        "no such key", Topic.AGENTS, 401,
    )  # fmt: skip
    assert [one.tone for one in after.notices] == (["bad"] if phase is Phase.UNAUTHORIZED else [])


def test_a_service_that_refuses_all_that_is_needed_is_as_good_as_away() -> None:
    service = replace(STATE.service, phase=Phase.ONLINE, last_ok_at=None, failures={})
    state = replace(STATE, service=service)
    phases: list[Phase] = []
    for topic in (Topic.MARKETS, Topic.POSITIONS, Topic.ACCOUNT):
        fact = ServiceFailed(topic, NOW, "no such path", offline=False, status=404)
        state = reduce(state, fact)
        phases.append(state.service.phase)
        assert (state.service.problem_of, state.service.problem_status) == (topic, 404)
    assert phases == [Phase.ONLINE, Phase.ONLINE, Phase.OFFLINE]


def test_a_signal_whose_market_left_the_list_is_worth_what_it_resolved_to() -> None:
    one, *_ = reactor(STATE).signals
    gone = replace(one, market_id="gone", side=Side.YES, price_now=0.4)
    over = replace(STATE.positions[0], market_id="gone", outcome=True)
    state = replace(STATE, closed=(over,), reactor=replace(reactor(STATE), signals=(gone,)))
    after = reduce(state, Changed(BreakerView(1, 5)))
    assert after.reactor.signals[0].price_now == 1.0
