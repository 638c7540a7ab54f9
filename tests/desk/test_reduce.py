"""The reducer: every fact, and the state and notices it leads to."""

from dataclasses import replace
from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kit.examples import examples
from kit.samples import fleet as supervised
from kit.samples import wallet as chained
from kit.samples.desk import NOW, market, position, sample_state
from kit.samples.evaluations import evaluation_of
from kit.samples.reactor import reactor
from kit.samples.research import backtest_of, experiment_of, session_of
from kit.samples.risk import alert_of, exit_of, monitor_of, price_alert_of
from service_tui.desk import reduce as reducing
from service_tui.desk.changes import Changed, Loaded, Removed, changed
from service_tui.desk.facts import (
    AccountSeen,
    Acted,
    Fact,
    FillsRead,
    FillsReceived,
    Listening,
    LookedUp,
    MarketsSeen,
    Noticed,
    OrdersSeen,
    PositionsSeen,
    PreferenceSet,
    Served,
    ServiceAnswered,
    ServiceFailed,
    StarSet,
    WorldSeen,
)
from service_tui.desk.reduce import (
    EQUITY_MAX,
    FILLS_MAX,
    KINDS,
    NOTICES_MAX,
    TICKETS_MAX,
    capped,
    reduce,
)
from service_tui.desk.reduce_risk import news_of
from service_tui.desk.slices.account import EquityPoint, LimitsView
from service_tui.desk.slices.agents import (
    AgentDetailView,
    AgentNeedKind,
    AgentNeedView,
    FillView,
    FleetView,
    ReturnsView,
    RevealedView,
)
from service_tui.desk.slices.briefing import BriefingView
from service_tui.desk.slices.buy_limits import BuyLimitsView
from service_tui.desk.slices.drill import DrillPhase, DrillView
from service_tui.desk.slices.halt import HaltView
from service_tui.desk.slices.holdings import HoldingsView
from service_tui.desk.slices.log import LogEvent, LogView
from service_tui.desk.slices.markets import DetailView
from service_tui.desk.slices.orders import OpenOrderView
from service_tui.desk.slices.positions import remark
from service_tui.desk.slices.quote import QuoteView
from service_tui.desk.slices.reactor import (
    BreakerView,
    KnownWalletView,
    Policy,
    ReactorBarred,
    ReactorSeen,
    SignalsSeen,
    SignalState,
    SignalView,
    WalletChoice,
    WalletChosen,
)
from service_tui.desk.slices.redemption import AutoChanged, ChainRunState, QueueSeen, RunView
from service_tui.desk.slices.research import (
    BacktestRequested,
    BacktestSeen,
    DiffView,
    EvaluationsSeen,
    FilesSeen,
    ResearchSeen,
    Source,
)
from service_tui.desk.slices.risk import (
    AlertsSeen,
    AlertState,
    AlertView,
    BriefingLate,
    MonitorView,
    PriceAlertView,
    RiskView,
)
from service_tui.desk.slices.service import Phase
from service_tui.desk.slices.supervision import (
    AgentAlertView,
    LeashView,
    LogTailView,
    PastsSeen,
    PendingTradesSeen,
    SkillRunState,
    SkillRunView,
    SkillView,
    SupervisionView,
    news_of_fleet,
)
from service_tui.desk.slices.team import TeamView
from service_tui.desk.slices.tickets import TicketState, TicketView
from service_tui.desk.slices.topics import Topic
from service_tui.desk.slices.trades import TradeView
from service_tui.desk.slices.wallet import PayView, WalletView
from service_tui.desk.slices.webhooks import WebhooksView
from service_tui.desk.state import DeskState
from service_tui.outcome import NO, YES
from service_tui.terms import (
    Action,
    AgentAlertKind,
    MarketStatus,
    PendingStatus,
    PersonRole,
    Side,
    Venue,
)
from service_tui.units import ONE, Micros, Probability, Timestamp

SAMPLE = replace(sample_state(40), reactor=reactor(sample_state(40)))
STATE = reduce(SAMPLE, PositionsSeen(SAMPLE.positions))
MARKETS = tuple(STATE.markets.values())
SIGNALS, CONFIG, BREAKER = STATE.reactor.signals, STATE.reactor.config, STATE.reactor.breaker
NOWHERE = DeskState(service=replace(STATE.service, phase=Phase.CONNECTING, last_ok_at=None))

times = st.floats(0, 4e9).map(Timestamp)
money = st.integers(-(10**15), 10**15).map(Micros)
texts = st.text(max_size=6)
seen_markets = st.lists(
    st.builds(
        lambda view, price, status: replace(view, price=Probability(price), status=status),
        st.sampled_from(MARKETS),
        st.floats(0, 1),
        st.sampled_from(MarketStatus),
    ),
    max_size=6,
).map(tuple)
held = st.lists(
    st.builds(
        lambda view, side, shares, cost: replace(
            position(view, side, _Rng()), shares=Micros(shares), cost=Micros(cost)
        ),
        st.sampled_from(MARKETS),
        st.sampled_from(Side),
        st.integers(0, 10**12),
        st.integers(0, 10**12),
    ),
    max_size=4,
    unique_by=lambda view: view.key,
).map(tuple)
tickets = st.builds(
    TicketView,
    ticket_id=st.integers(0, 30).map(str),
    kind=st.just("trade"),
    market_id=st.just("m"),
    what=texts,
    state=st.sampled_from(TicketState),
    opened_at=times,
)
accounts = st.builds(
    lambda cash, equity, day: replace(STATE.account, cash=cash, equity=equity, day_open=day),
    money,
    money,
    st.none() | money,
)
sources = st.sampled_from([
    Source(),
    Source((session_of(),)),
    Source((session_of(count=3),), (experiment_of(2), experiment_of(1))),
])


def order_of(name: str, filled: int) -> OpenOrderView:
    """An order of ten shares or fewer that rests, and has been met so far."""
    left, got = Micros((10 - filled) * ONE), Micros(filled * ONE)
    return OpenOrderView(
        name, "tr-1", "m1", "Will it?", Side.YES, Action.BUY, Venue.EVM, left, got, 0.4, left, NOW
    )


FACTS = {
    MarketsSeen: st.builds(MarketsSeen, seen_markets, st.booleans(), st.integers(0, 9)),
    PositionsSeen: st.builds(
        PositionsSeen, held, st.none() | held, st.integers(0, 9), st.none() | money
    ),
    AccountSeen: st.builds(AccountSeen, accounts),
    (Changed, LimitsView): st.just(Changed(STATE.limits)),
    (Changed, BuyLimitsView): st.just(Changed(STATE.buy_limits)),
    (Changed, HoldingsView): st.builds(
        Changed, st.just(HoldingsView((), (), NOW, NOW)), st.integers(0, 9)
    ),
    (Changed, BriefingView): st.builds(
        Changed, st.just(BriefingView(NOW, warnings=("so",))), st.integers(0, 9)
    ),
    (Loaded, TradeView): st.builds(lambda n: Loaded(TradeView, STATE.trades, n), st.integers(0, 9)),
    WorldSeen: st.just(WorldSeen(STATE.world, STATE.news)),
    (Changed, DetailView): st.just(Changed(STATE.detail)),
    (Changed, QuoteView): st.builds(lambda n: Changed(QuoteView(n, ok=True)), st.integers(0, 9)),
    (Changed, TicketView): st.builds(Changed, tickets),
    ServiceAnswered: st.builds(
        ServiceAnswered,
        st.sampled_from(Topic),
        times,
        st.floats(0, 9),
        st.none() | st.floats(-1e9, 1e9),
    ),
    LookedUp: st.builds(LookedUp, texts),
    ServiceFailed: st.builds(
        ServiceFailed, st.sampled_from(Topic), times, texts, st.booleans(), st.booleans()
    ),
    Served: st.builds(Served, texts, st.booleans()),
    (Changed, EquityPoint): st.builds(Changed, st.builds(EquityPoint, times, money)),
    StarSet: st.builds(StarSet, texts, st.booleans()),
    PreferenceSet: st.builds(PreferenceSet, texts, texts),
    (Changed, FleetView): st.just(Changed(STATE.fleet)),
    FillsRead: st.builds(
        FillsRead,
        st.lists(
            st.builds(lambda fill: replace(fill, seq=0), st.sampled_from(STATE.fills)), max_size=6
        ).map(tuple),
    ),
    FillsReceived: st.builds(
        FillsReceived,
        st.lists(
            st.builds(
                lambda fill, seq, price: replace(fill, seq=seq, price_after=price),
                st.sampled_from(STATE.fills),
                st.integers(0, 900),
                st.floats(0, 1),
            ),
            max_size=5,
        ).map(tuple),
    ),
    (Changed, RevealedView): st.sampled_from([
        Removed(RevealedView),
        Changed(RevealedView("a-1", "heron", is_key=True, secret="s")),  # noqa: S106
    ]),
    Listening: st.builds(Listening, st.booleans()),
    Noticed: st.builds(Noticed, st.just("info"), texts),
    (Loaded, MonitorView): st.builds(
        lambda rows, dropped: Loaded(MonitorView, rows, dropped),
        st.lists(st.sampled_from(MARKETS).map(lambda m: monitor_of(m.market_id))).map(tuple),
        st.integers(0, 9),
    ),
    (Changed, MonitorView): st.just(Changed(monitor_of())),
    (Removed, MonitorView): st.just(Removed(MonitorView, monitor_of().key)),
    AlertsSeen: st.builds(
        AlertsSeen,
        times,
        st.sampled_from([(), (alert_of(),), (alert_of(), alert_of("a2"))]),
        st.just((alert_of("a3", state=AlertState.EXPIRED),)),
        st.just((exit_of(),)),
    ),
    (Changed, AlertView): st.builds(
        lambda state: Changed(alert_of(state=state, attempts=1)), st.sampled_from(AlertState)
    ),
    (Changed, PriceAlertView): st.just(Changed(price_alert_of())),
    (Removed, PriceAlertView): st.just(Removed(PriceAlertView, "p1")),
    BriefingLate: st.builds(BriefingLate, texts),
    ReactorSeen: st.builds(
        lambda on: ReactorSeen(replace(CONFIG, enabled=on), BREAKER), st.booleans()
    ),
    ReactorBarred: st.builds(ReactorBarred, texts),
    SignalsSeen: st.builds(
        SignalsSeen, times, st.lists(st.sampled_from(SIGNALS)).map(tuple), dropped=st.integers(0, 9)
    ),
    (Changed, SignalView): st.builds(
        lambda one, state: Changed(replace(one, state=state)),
        st.sampled_from(SIGNALS),
        st.sampled_from(SignalState),
    ),
    (Changed, BreakerView): st.builds(Changed, st.builds(BreakerView, st.integers(0, 9))),
    (Loaded, KnownWalletView): st.just(
        Loaded(KnownWalletView, tuple(STATE.reactor.known.values()))
    ),
    WalletChosen: st.builds(
        lambda one, policy: WalletChosen(WalletChoice(one.wallet, "x", policy)),
        st.sampled_from(SIGNALS),
        st.sampled_from(Policy),
    ),
    (Changed, TeamView): st.builds(
        Changed, st.builds(TeamView, texts, st.sampled_from(PersonRole), texts, leader=texts)
    ),
    (Changed, WebhooksView): (
        st.just(Removed(WebhooksView))
        | st.builds(Changed, st.builds(WebhooksView, st.just(()), times, texts))
    ),
    (Changed, HaltView): (
        st.just(Removed(HaltView)) | st.builds(Changed, st.builds(HaltView, times))
    ),
    OrdersSeen: st.builds(
        lambda names, filled, dropped, gone: OrdersSeen(
            tuple(order_of(name, filled) for name in names), dropped, frozenset(gone)
        ),
        st.sampled_from([(), ("o1",), ("o1", "o2")]),
        st.integers(0, 9),
        st.integers(0, 1),
        st.sampled_from([(), ("o1",)]),
    ),
    (Removed, OpenOrderView): st.sampled_from([
        Removed(OpenOrderView, "o1"),
        Removed(OpenOrderView, "o9"),
    ]),
    (Changed, LogView): st.sampled_from([
        Changed(LogView()),
        Changed(LogView(count=3, problem="broken")),
    ]),
    Acted: st.builds(Acted, texts, st.sampled_from(LogEvent), texts, texts),
    (Loaded, LeashView): st.sampled_from([
        Loaded(LeashView, ()),
        Loaded(LeashView, (supervised.leash_of(),)),
    ]),
    PendingTradesSeen: st.builds(
        lambda waits, status: PendingTradesSeen(
            tuple(supervised.pending_trade_of(name) for name in waits),
            (supervised.pending_trade_of("h2", status=status),),
        ),
        st.sampled_from([(), ("h1",), ("h1", "h3")]),
        st.sampled_from(PendingStatus),
    ),
    (Changed, AgentDetailView): st.sampled_from([
        Removed(AgentDetailView),
        Changed(AgentDetailView("a-2", (), (), "it is gone")),
    ]),
    (Loaded, SkillView): st.just(Loaded(SkillView, supervised.sample_supervision().skills)),
    (Changed, SkillRunView): st.builds(
        lambda name, state: Changed(supervised.run_of(name, state=state)),
        st.sampled_from(["r1", "r2"]),
        st.sampled_from(SkillRunState),
    ),
    (Removed, SkillRunView): st.sampled_from([
        Removed(SkillRunView, "r1"),
        Removed(SkillRunView, "r9"),
    ]),
    (Changed, LogTailView): st.sampled_from([
        Removed(LogTailView),
        Changed(LogTailView("r1", ("so",))),
    ]),
    (Loaded, AgentNeedView): st.builds(
        lambda kinds: Loaded(
            AgentNeedView,
            tuple(AgentNeedView(kind, "a-3", "moss-runner", f"n-{kind.value}") for kind in kinds),
        ),
        st.lists(st.sampled_from(AgentNeedKind), unique=True, max_size=3),
    ),
    (Loaded, AgentAlertView): st.builds(
        lambda kinds: Loaded(
            AgentAlertView,
            tuple(
                AgentAlertView(f"aa-{kind.value}", "a-3", "moss-runner", kind, Micros(5 * ONE))
                for kind in kinds
            ),
        ),
        st.lists(st.sampled_from(AgentAlertKind), unique=True, max_size=3),
    ),
    (Loaded, ReturnsView): st.sampled_from([
        Loaded(ReturnsView, ()),
        Loaded(ReturnsView, (ReturnsView("a-3", ((Timestamp(1.0), Micros(5)),), 0.5),)),
    ]),
    PastsSeen: st.builds(
        PastsSeen,
        st.sampled_from([(), (AgentDetailView("a-2", (), ()),)]),
        at=st.floats(0, 9e9).map(Timestamp),
    ),
    QueueSeen: st.builds(
        QueueSeen,
        st.sampled_from([(), chained.redemption_of().rows]),
        st.integers(0, 9),
    ),
    (Changed, RunView): st.builds(
        lambda index, state: Changed(chained.run_of(index, state=state)),
        st.integers(0, 3),
        st.sampled_from(ChainRunState),
    ),
    AutoChanged: st.builds(
        AutoChanged,
        st.none() | st.booleans(),
        st.none() | st.booleans(),
        st.none() | texts,
        st.none() | st.booleans(),
    ),
    (Changed, WalletView): st.just(Changed(chained.wallet_of())),
    (Changed, PayView): st.builds(Changed, st.builds(PayView, st.none() | money, money)),
    ResearchSeen: st.builds(ResearchSeen, sources, st.booleans()),
    FilesSeen: st.builds(FilesSeen, sources),
    EvaluationsSeen: st.just(EvaluationsSeen((evaluation_of(),))),
    BacktestRequested: st.builds(BacktestRequested, st.integers(0, 9)),
    BacktestSeen: st.builds(
        BacktestSeen, st.integers(0, 9), st.sampled_from([None, backtest_of()]), texts
    ),
    (Changed, DiffView): st.sampled_from([
        Removed(DiffView),
        Changed(DiffView("k", "c0ffee", "+ a line")),
    ]),
    (Changed, DrillView): st.builds(
        lambda phase, title: Changed(DrillView("crash", title, "Look.", 10, phase)),
        st.sampled_from(DrillPhase),
        texts,
    ),
}


class _Rng:
    """Chance without chance: hypothesis draws what matters."""

    def uniform(self, low: float, high: float) -> float:
        return (low + high) / 2

    def gauss(self, mean: float, _: float) -> float:
        return mean


def test_every_fact_there_is_is_tried() -> None:
    named = {one for one in FACTS if not isinstance(one, tuple)}
    assert named | {Loaded, Changed, Removed} == set(get_args(Fact))
    assert {one[1] for one in FACTS if isinstance(one, tuple)} == KINDS


@pytest.mark.slow
@examples(20)
@given(
    st.sampled_from([STATE, NOWHERE, replace(STATE, from_cache=True, seen={})]),
    st.lists(st.one_of(*FACTS.values()), max_size=25),
)
def test_whatever_becomes_known_the_state_stays_sound(state: DeskState, facts: list[Fact]) -> None:
    for fact in facts:
        after = reduce(state, fact)
        assert after == reduce(state, fact)
        assert_sums(after)
        assert_lists(state, after, fact)
        assert_phase(state, after, fact)
        assert set(state.preferences) <= set(after.preferences)
        assert state.from_cache or not after.from_cache
        state = after


def assert_sums(state: DeskState) -> None:
    account = state.account
    if account is None:
        return
    if account.equity is None:
        # Cash alone is no equity: nothing that is made of positions is known before they are.
        assert state.awaited is not None or not (state.positions_read or state.positions)
        made = (account.total_pnl, account.realized, account.unrealized, account.mark_equity)
        assert made == (None,) * 4
        return
    assert account.mark_equity == account.cash + sum(view.mark_value for view in state.positions)
    assert account.unrealized == sum(view.unrealized for view in state.positions)
    assert account.realized + account.unrealized == account.mark_equity - account.start
    assert account.total_pnl == account.equity - account.start
    exits = [view.exit_value for view in state.positions]
    assert account.is_at_mark is (None in exits)
    assert account.equity == (account.mark_equity if None in exits else account.cash + sum(exits))


def assert_lists(before: DeskState, after: DeskState, fact: Fact) -> None:
    assert len(after.notices) <= NOTICES_MAX
    assert len(after.equity) <= EQUITY_MAX
    unknown = {one.ticket_id for one in before.tickets if one.state is TicketState.UNKNOWN}
    ticket = changed(fact, TicketView)
    if ticket is not None:
        unknown.discard(ticket.ticket_id)
        assert ticket in after.tickets
    assert unknown <= {one.ticket_id for one in after.tickets}
    if before.quote is not None:
        assert after.quote.request_id >= before.quote.request_id


def assert_phase(before: DeskState, after: DeskState, fact: Fact) -> None:
    old, new = before.service.phase, after.service.phase
    last = before.notices[-1].notice_id if before.notices else 0
    more = (after.notices[-1].notice_id if after.notices else 0) - last
    first_answer = (old, new) == (Phase.CONNECTING, Phase.ONLINE)
    is_breaker = changed(fact, BreakerView) is not None
    if is_breaker or isinstance(fact, AlertsSeen | SignalsSeen | ReactorSeen | ReactorBarred):
        # One for each alert that is new, or came to its end; signals are told together.
        assert 0 <= more <= 5
        return
    if isinstance(fact, OrdersSeen):
        # One for each order that was met, or is gone.
        assert 0 <= more <= 2
        return
    if isinstance(fact, PendingTradesSeen) or changed(fact, SkillRunView) is not None:
        # One for each trade that waits now or was decided by nobody, and for a run that fell over.
        assert 0 <= more <= 5
        return
    assert more == (isinstance(fact, Noticed) or (old is not new and not first_answer))
    assert isinstance(fact, ServiceAnswered | ServiceFailed) or old is new
    if isinstance(fact, ServiceAnswered):
        assert (new, after.seen[fact.topic]) == (Phase.ONLINE, fact.at)


# -- money --------------------------------------------------------------------------------------


def test_a_price_move_marks_positions_and_moves_the_sums_with_them() -> None:
    one = STATE.positions[0]
    view = STATE.markets[one.market_id]
    moved = replace(view, price=Probability(1.0 - view.price))
    after = reduce(STATE, MarketsSeen((moved,), complete=False))
    marked = after.position(one.key)
    gain = marked.mark_value - one.mark_value
    sold = marked.exit_value - one.exit_value
    assert marked.mark_price == moved.price_of(one.side)
    assert marked.mark_value == int(one.shares * marked.mark_price)
    assert marked.unrealized == marked.mark_value - one.cost
    assert after.account.mark_equity - STATE.account.mark_equity == gain
    # The position is no longer sold at the price of before: what selling brings moves, too.
    assert after.account.equity - STATE.account.equity == sold
    assert after.account.day_pnl - STATE.account.day_pnl == sold
    assert after.account.total_pnl - STATE.account.total_pnl == sold


def test_cash_and_positions_of_one_answer_are_taken_in_together() -> None:
    after = reduce(STATE, PositionsSeen((), cash=Micros(7)))
    assert (after.account.cash, after.account.equity, after.positions) == (7, 7, ())
    assert reduce(STATE, PositionsSeen(())).account.cash == STATE.account.cash


def test_a_list_that_was_read_as_empty_is_empty_and_one_that_was_not_read_stays() -> None:
    held = STATE.positions[0]
    known = replace(
        STATE, closed=(replace(held, market_id="over"),), is_cash_disputed=True,
        on_venues=(replace(held, venue=Venue.EVM),),
    )  # fmt: skip
    kept = reduce(known, PositionsSeen(STATE.positions))
    assert (kept.closed, kept.on_venues) == (known.closed, known.on_venues)
    gone = reduce(known, PositionsSeen(STATE.positions, closed=(), on_venues=()))
    assert (gone.closed, gone.on_venues, gone.is_cash_disputed) == ((), (), False)
    # The first reading is no move: no figure of cash has to follow it.
    first = replace(STATE, positions=(), positions_read=False, awaited=None)
    assert reduce(first, PositionsSeen(STATE.positions)).awaited is None


def test_cash_of_an_account_read_before_a_fill_does_not_stand_beside_positions_after_it() -> None:
    filled = reduce(STATE, PositionsSeen(STATE.positions, cash=Micros(7 * ONE)))
    late = reduce(filled, AccountSeen(replace(STATE.account, cash=Micros(99 * ONE))))
    assert (late.account.cash, late.account.equity) == (7 * ONE, filled.account.equity)
    assert late.account.day_pnl == filled.account.day_pnl


def test_cash_of_an_account_read_after_a_fill_waits_for_the_positions() -> None:
    before = reduce(STATE, PositionsSeen(STATE.positions, cash=STATE.account.cash))
    early = reduce(before, AccountSeen(replace(STATE.account, cash=Micros(7 * ONE))))
    assert early.account.cash == STATE.account.cash
    assert early.account.equity == before.account.equity
    both = reduce(early, PositionsSeen((), cash=Micros(7 * ONE)))
    assert (both.account.cash, both.account.equity) == (7 * ONE, 7 * ONE)


def test_sums_are_unknown_until_cash_and_positions_are_of_one_moment() -> None:
    # This service states no cash beside the positions: the one is read, then the other.
    bought = AccountSeen(replace(STATE.account, cash=Micros(7 * ONE)))
    for first, then in ((bought, PositionsSeen(())), (PositionsSeen(()), bought)):
        read = reduce(STATE, PositionsSeen(STATE.positions))
        assert read.account.equity is not None
        half = reduce(read, first)
        assert (half.account.equity, half.account.day_pnl) == (None, None)
        assert reduce(half, MarketsSeen(MARKETS)).account.equity is None
        whole = reduce(half, then)
        assert (whole.account.cash, whole.account.equity) == (7 * ONE, 7 * ONE)


def test_the_same_reading_twice_makes_no_sum_of_two_moments() -> None:
    bought = AccountSeen(replace(STATE.account, cash=Micros(7 * ONE)))
    for first, then in ((bought, PositionsSeen(())), (PositionsSeen(()), bought)):
        state = reduce(STATE, PositionsSeen(STATE.positions))
        for _ in range(3):
            state = reduce(state, first)
            assert state.account.equity is None
        assert reduce(state, then).account.equity == 7 * ONE


def test_cash_that_an_account_states_twice_is_newer_than_that_beside_the_positions() -> None:
    read = reduce(STATE, PositionsSeen(STATE.positions, cash=Micros(500 * ONE)))
    moved = AccountSeen(replace(STATE.account, cash=Micros(7 * ONE)))
    once = reduce(read, moved)
    assert (once.account.cash, once.account.equity) == (500 * ONE, read.account.equity)
    twice = reduce(once, moved)
    assert (twice.account.cash, twice.account.equity) == (7 * ONE, None)
    assert reduce(twice, moved).account.equity is None
    assert reduce(twice, PositionsSeen((), cash=Micros(7 * ONE))).account.equity == 7 * ONE


def test_another_agent_with_the_same_cash_has_no_equity_from_the_one_before() -> None:
    for cash in (None, STATE.account.cash):
        before = reduce(STATE, PositionsSeen(STATE.positions, cash=cash))
        after = reduce(before, AccountSeen(replace(STATE.account, agent_id="agent-9")))
        assert (after.account.cash, after.account.equity) == (STATE.account.cash, None)
        again = reduce(after, AccountSeen(replace(STATE.account, agent_id="agent-9")))
        assert again.account.equity is None
        assert reduce(again, PositionsSeen((), cash=cash)).account.equity == STATE.account.cash


def test_another_agent_does_not_inherit_the_cash_of_the_one_before() -> None:
    before = reduce(STATE, PositionsSeen(STATE.positions, cash=STATE.account.cash))
    other = replace(STATE.account, agent_id="agent-9", cash=Micros(3 * ONE))
    after = reduce(before, AccountSeen(other))
    assert (after.account.cash, after.account.equity) == (3 * ONE, None)


def test_a_market_that_closes_at_its_last_price_closes_the_position_as_well() -> None:
    one = STATE.positions[0]
    view = replace(STATE.markets[one.market_id], status=MarketStatus.CLOSED)
    state = replace(STATE, positions=(remark(one, replace(view, status=MarketStatus.ACTIVE)),))
    after = reduce(state, MarketsSeen((view,), complete=False))
    assert after.positions[0].status is MarketStatus.CLOSED
    assert after.positions[0].mark_value == state.positions[0].mark_value


def test_what_did_not_change_keeps_its_object() -> None:
    same = tuple(replace(view) for view in MARKETS)
    after = reduce(STATE, MarketsSeen(same))
    assert all(after.markets[name] is view for name, view in STATE.markets.items())


def test_a_whole_list_forgets_what_is_not_on_it_and_a_part_does_not() -> None:
    assert set(reduce(STATE, MarketsSeen(MARKETS[:2])).markets) == {"m-00000", "m-00001"}
    assert len(reduce(STATE, MarketsSeen(MARKETS[:2], complete=False)).markets) == 40


def test_dropped_rows_are_counted_by_topic_and_forgotten_when_all_is_well() -> None:
    state = reduce(STATE, MarketsSeen(MARKETS, dropped=3))
    state = reduce(state, PositionsSeen((), dropped=2))
    state = reduce(state, Loaded(TradeView, (), dropped=1))
    assert state.service.dropped_rows == 6
    assert reduce(state, MarketsSeen(MARKETS)).service.dropped_rows == 3


# -- tickets, quotes, notices, curve ------------------------------------------------------------


def ticket(number: int, state: TicketState = TicketState.DONE) -> TicketView:
    return TicketView(f"k{number}", "trade", "m", "buy", state, Timestamp(float(number)))


def test_the_oldest_ends_are_forgotten_and_no_open_one() -> None:
    many = tuple(ticket(number) for number in range(TICKETS_MAX + 20, 0, -1))
    open_ends = (ticket(-1, TicketState.UNKNOWN), ticket(-2, TicketState.SENT))
    kept = capped((*many, *open_ends))
    assert len(kept) == TICKETS_MAX
    assert kept[-2:] == open_ends
    assert kept[:-2] == many[: TICKETS_MAX - 2]
    state = reduce(replace(STATE, tickets=kept), Changed(ticket(9_999)))
    assert len(state.tickets) == TICKETS_MAX
    assert state.tickets[0].ticket_id == "k9999"
    assert state.tickets[-2:] == open_ends


def test_a_changed_ticket_keeps_its_place() -> None:
    state = replace(STATE, tickets=tuple(ticket(n, TicketState.SENT) for n in (3, 2, 1)))
    after = reduce(state, Changed(ticket(2)))
    assert [one.ticket_id for one in after.tickets] == ["k3", "k2", "k1"]
    assert after.in_flight == 2


@pytest.mark.slow
def test_the_curve_keeps_its_ends_and_its_order_when_it_grows_too_long() -> None:
    state = replace(STATE, equity=())
    for number in range(EQUITY_MAX + 500):
        point = EquityPoint(Timestamp(float(number)), Micros(number))
        state = reduce(state, Changed(point))
        assert len(state.equity) <= EQUITY_MAX
    assert state.equity[0].at == 0
    assert state.equity[-1].at == EQUITY_MAX + 499
    assert list(state.equity) == sorted(state.equity, key=lambda point: point.at)


# -- the service --------------------------------------------------------------------------------


def failed(at: float, topic: Topic = Topic.MARKETS, **how: bool) -> ServiceFailed:
    return ServiceFailed(topic, Timestamp(at), "no route", **how)


def answered(at: float, topic: Topic = Topic.MARKETS) -> ServiceAnswered:
    return ServiceAnswered(topic, Timestamp(at), 0.01)


def after_all(state: DeskState, *facts: Fact) -> DeskState:
    for fact in facts:
        state = reduce(state, fact)
    return state


def test_an_outage_is_one_notice_and_its_end_another() -> None:
    state = after_all(NOWHERE, answered(NOW), failed(NOW + 6), failed(NOW + 7), failed(NOW + 30))
    assert state.service.phase is Phase.OFFLINE
    assert [notice.tone for notice in state.notices] == ["bad"]
    state = after_all(state, answered(NOW + 31), answered(NOW + 32))
    assert state.service.phase is Phase.ONLINE
    assert state.service.problem == ""
    assert [notice.tone for notice in state.notices] == ["bad", "good"]


def test_one_path_that_fails_while_others_answer_is_no_outage() -> None:
    state = after_all(NOWHERE, answered(NOW))
    for second in range(40):
        state = after_all(state, failed(NOW + second, Topic.BRIEFING), answered(NOW + second + 1))
    assert state.service.phase is Phase.ONLINE
    assert state.notices == ()
    assert state.service.problem == "no route"
    assert reduce(state, answered(NOW + 99, Topic.BRIEFING)).service.problem == ""


def test_a_clock_that_was_set_back_does_not_hide_an_outage() -> None:
    state = after_all(NOWHERE, answered(NOW), failed(NOW - 3_600))
    assert state.service.phase is Phase.OFFLINE


def test_a_service_that_never_answered_is_offline_at_the_first_failure() -> None:
    assert after_all(NOWHERE, failed(NOW)).service.phase is Phase.OFFLINE


def test_an_orderly_no_is_no_outage() -> None:
    state = after_all(NOWHERE, answered(NOW), failed(NOW + 60, offline=False))
    assert state.service.phase is Phase.ONLINE
    assert state.service.problem == "no route"


def test_a_refused_key_stays_the_problem_until_something_is_answered() -> None:
    refused = ServiceFailed(Topic.MARKETS, NOW, "check the key", unauthorized=True, offline=False)
    state = after_all(NOWHERE, answered(NOW), refused, refused, failed(NOW + 60))
    assert state.service.phase is Phase.UNAUTHORIZED
    assert state.service.problem == "check the key"
    assert [notice.text for notice in state.notices] == ["check the key"]
    assert after_all(state, answered(NOW + 61)).service.phase is Phase.ONLINE


@pytest.mark.parametrize("first", [Topic.MARKETS, Topic.POSITIONS])
def test_what_was_cached_counts_as_old_until_markets_and_positions_came(first: Topic) -> None:
    other = Topic.POSITIONS if first is Topic.MARKETS else Topic.MARKETS
    state = replace(STATE, from_cache=True, seen={})
    state = after_all(state, answered(NOW, Topic.WORLD), answered(NOW, first))
    assert state.from_cache
    state = after_all(state, answered(NOW + 1, other))
    assert not state.from_cache
    assert state.seen == {Topic.WORLD: NOW, first: NOW, other: NOW + 1}


def test_a_failure_does_not_touch_what_was_known_or_when() -> None:
    after = reduce(STATE, failed(NOW + 60))
    assert replace(after, service=STATE.service, notices=STATE.notices) == STATE


def test_reducing_changes_nothing_that_it_was_given() -> None:
    before = sample_state(20)
    for fact in (
        MarketsSeen((market(3, _Chance()),)),
        StarSet("x", on=True),
        PreferenceSet("theme", "paper"),
        answered(NOW + 1),
    ):
        reduce(before, fact)
    assert before == sample_state(20)


class _Chance(_Rng):
    def betavariate(self, *_: float) -> float:
        return 0.5

    def lognormvariate(self, *_: float) -> float:
        return 1.0

    def random(self) -> float:
        return 0.5


def test_the_grace_is_longer_than_two_pauses_of_the_busiest_poller() -> None:
    assert reducing.OFFLINE_AFTER_S > 2 * 2.0


def test_rows_of_the_queue_that_are_none_are_counted_like_any_other() -> None:
    after = reduce(STATE, QueueSeen((), dropped=3))
    assert after.service.dropped_rows == STATE.service.dropped_rows + 3
    assert reduce(after, QueueSeen(())).service.dropped_rows == STATE.service.dropped_rows


def test_several_waiting_trades_are_one_notice_that_says_how_many() -> None:
    one, two = (
        supervised.pending_trade_of("h1"),
        supervised.pending_trade_of("h2", agent_name="moss", side=Side.NO),
    )
    before = SupervisionView()
    (alone,) = news_of_fleet(before, replace(before, pending_trades=(one,)))
    assert alone[1].startswith("approval needed, heron: BUY YES, 25.00 $SIM")
    (both,) = news_of_fleet(before, replace(before, pending_trades=(one, two)))
    assert both[1].startswith("2 approvals needed, newest: moss: BUY NO, 25.00 $SIM")
    after = replace(before, pending_trades=(one,))
    assert list(news_of_fleet(after, after)) == []


def test_a_request_whose_market_ended_is_said_to_have_lapsed() -> None:
    one, two = supervised.pending_trade_of("h1"), supervised.pending_trade_of("h2")
    before = replace(SupervisionView(), pending_trades=(one, two))
    over = replace(one, status=PendingStatus.EXPIRED, reason="the market ended")
    late = replace(two, status=PendingStatus.EXPIRED, reason="approval timed out")
    texts = [text for _, text, _ in news_of_fleet(before, replace(before, decided=(over, late)))]
    assert texts == [
        "heron's request lapsed, the market ended: BUY YES, 25.00 $SIM, Will it rain at dawn?",
        "approval expired: heron: BUY YES, 25.00 $SIM, Will it rain at dawn?",
    ]


def test_an_order_that_was_met_or_is_gone_is_told_once_and_one_cancelled_here_never() -> None:
    resting = reduce(STATE, OrdersSeen((order_of("o1", 0), order_of("o2", 0))))
    assert resting.notices == STATE.notices, "what rests at first is no news"
    met = reduce(resting, OrdersSeen((order_of("o1", 4), order_of("o2", 0))))
    assert met.notices[-1].text.endswith("4.00 filled, 6.00 left")
    assert reduce(met, OrdersSeen(met.orders)).notices == met.notices
    cancelled = reduce(reduce(met, Removed(OpenOrderView, "o1")), OrdersSeen((order_of("o2", 0),)))
    assert cancelled.notices == met.notices
    gone = reduce(met, OrdersSeen((order_of("o2", 0),)))
    assert "no longer open" in gone.notices[-1].text


def test_an_order_whose_row_cannot_be_read_is_not_told_as_ended() -> None:
    resting = reduce(STATE, OrdersSeen((order_of("o1", 0), order_of("o2", 0))))
    garbled = reduce(resting, OrdersSeen((order_of("o2", 4),), dropped=1))
    assert {order.order_id: order.filled for order in garbled.orders} == {"o2": 4 * ONE, "o1": 0}
    assert garbled.notices[-1].text.endswith("4.00 filled, 6.00 left")
    assert len(garbled.notices) == len(resting.notices) + 1
    read = reduce(garbled, OrdersSeen((order_of("o2", 4),)))
    assert [order.order_id for order in read.orders] == ["o2"]
    assert "no longer open" in read.notices[-1].text


def test_an_order_cancelled_here_does_not_come_back_by_a_listing_that_was_on_its_way() -> None:
    both = (order_of("o1", 0), order_of("o2", 0))
    cancelled = reduce(reduce(STATE, OrdersSeen(both)), Removed(OpenOrderView, "o1"))
    late = reduce(cancelled, OrdersSeen(both))
    assert [order.order_id for order in late.orders] == ["o2"]
    # A garbled one proves nothing.
    garbled = reduce(late, OrdersSeen((), 1, late.gone_orders))
    assert [order.order_id for order in garbled.orders] == ["o2"]
    assert garbled.gone_orders == {"o1"}
    # One asked for since the cancel is believed: what it names does rest.
    named = reduce(late, OrdersSeen(both, 0, late.gone_orders))
    assert [order.order_id for order in named.orders] == ["o1", "o2"]
    lacking = reduce(late, OrdersSeen(both[1:], 0, late.gone_orders))
    assert not lacking.gone_orders
    assert lacking.notices == STATE.notices


BUSY = sample_state(6)
MARKET = next(
    one.market_id
    for one in BUSY.positions
    if one.venue is Venue.SIM and BUSY.markets[one.market_id].status is MarketStatus.ACTIVE
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
    state = replace(BUSY, fills=())
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
    state = reduce(replace(BUSY, fills=(first,)), FillsReceived((second,)))
    assert state.fills == (second, first)


def test_the_oldest_fills_are_forgotten() -> None:
    state = replace(BUSY, fills=tuple(fill(seq) for seq in range(FILLS_MAX, 0, -1)))
    state = reduce(state, FillsReceived((fill(FILLS_MAX + 1),)))
    assert [one.seq for one in state.fills] == [*range(FILLS_MAX + 1, 1, -1)]


def test_a_fill_that_the_history_had_before_is_not_shown_twice() -> None:
    past = (
        fill(0, trade_id="t5"),
        fill(0, trade_id="t5", shares=Micros(1)),
        fill(0, trade_id="t4"),
    )
    state = reduce(replace(BUSY, fills=past), FillsReceived((fill(5),)))
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
    before = BUSY.markets[MARKET].price
    state = reduce(BUSY, FillsReceived((fill(1, **other),)))
    assert state.markets[MARKET].price == pytest.approx(before if price is None else price)
    assert state.fills[0].seq == 1
    held = next(one for one in state.positions if one.market_id == MARKET)
    assert held.mark_price == pytest.approx(state.markets[MARKET].price_of(held.side))


def test_the_history_of_an_agent_takes_the_place_of_what_was_read_of_it_before() -> None:
    streamed = (fill(7), fill(0, trade_id="old"), fill(0, trade_id="his", agent_id="ben"))
    read = (fill(0, trade_id="t7"), fill(0, trade_id="new", at=Timestamp(NOW + 9)))
    state = reduce(replace(BUSY, fills=streamed), FillsRead(read))
    assert [one.trade_id for one in state.fills] == ["new", "t7", "his"]
    assert [one.seq for one in state.fills] == [0, 7, 0]


# -- outcomes -----------------------------------------------------------------------------------


def outcome(side: Side, realized: int, *, won: bool) -> Any:
    held = next(one for one in BUSY.positions)
    return replace(
        held,
        side=side,
        status=MarketStatus.RESOLVED,
        outcome=YES if won else NO,
        realized=Micros(realized * ONE),
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
    held = replace(BUSY.positions[0], side=Side.YES)
    state = replace(BUSY, positions=(held,), closed=(), notices=(), from_cache=False)
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
    state = reduce(replace(BUSY, quote=None), Changed(newer))
    assert state.quote is newer
    assert reduce(state, Changed(older)).quote is newer
    same = QuoteView(5, ok=False)
    assert reduce(state, Changed(same)).quote is same
    with pytest.raises(TypeError):
        reduce(state, Removed(QuoteView, "5"))


def test_a_single_row_stands_in_its_field_until_it_is_removed() -> None:
    limits = LimitsView.__new__(LimitsView)
    state = reduce(BUSY, Changed(limits))
    assert state.limits is limits
    assert reduce(state, Removed(LimitsView, "")).limits is None
    with pytest.raises(TypeError):
        reduce(state, Loaded(LimitsView, ()))


@pytest.mark.parametrize(
    ("kind", "topic"), [(BriefingView, Topic.BRIEFING), (DetailView, Topic.DETAIL)]
)
def test_what_could_not_be_read_of_a_single_row_is_counted(kind: Any, topic: Topic) -> None:
    row = BUSY.briefing if kind is BriefingView else BUSY.detail
    row = row or kind.__new__(kind)
    state = reduce(BUSY, Changed(row, dropped=3))
    assert state.service.dropped[topic] == 3
    assert reduce(state, Changed(row)).service.dropped[topic] == 0


def test_a_list_of_monitors_stands_at_the_prices_of_now_and_counts_what_it_lost() -> None:
    held = replace(BUSY.positions[0], mark_price=0.43)
    known = monitor_of(held.market_id, side=held.side, venue=held.venue, mark=0.11)
    state = replace(BUSY, positions=(held,))
    after = reduce(state, Loaded(MonitorView, (known,), 2))
    (monitor,) = after.risk.monitors
    assert (monitor.key, monitor.mark) == (held.key, 0.43)
    assert after.service.dropped[Topic.MONITORS] == 2


@pytest.mark.parametrize("is_first", [True, False])
def test_a_new_alert_is_told_and_those_of_the_first_briefing_in_one_line(*, is_first: bool) -> None:
    seen = {topic: at for topic, at in BUSY.seen.items() if topic is not Topic.BRIEFING}
    seen |= {Topic.MONITORS: NOW} if is_first else {Topic.BRIEFING: NOW}
    state = replace(BUSY, notices=(), seen=seen, risk=RiskView())
    lost = alert_of("a-1", state=AlertState.MISSED)
    fact = AlertsSeen(NOW, (), (lost,), ())
    after = reduce(state, fact)
    expected = [one.text for one in news_of(state.risk, after.risk, is_first=is_first)]
    assert [one.text for one in after.notices] == expected
    assert expected
    other = next(iter(news_of(state.risk, after.risk, is_first=not is_first)))
    assert other.text != expected[0]


def test_rows_that_could_not_be_read_are_counted_only_where_that_changes() -> None:
    state = reduce(BUSY, MarketsSeen((), dropped=2))
    assert state.service.dropped == {**BUSY.service.dropped, Topic.MARKETS: 2}
    assert reduce(state, MarketsSeen((), dropped=2)).service is state.service


def ticket_part(name: str, state: TicketState = TicketState.DONE) -> TicketView:
    return TicketView(name, "trade", MARKET, "buy", state, NOW, NOW)


def test_an_order_that_was_cancelled_here_is_gone_and_known_to_be() -> None:
    order = OpenOrderView.__new__(OpenOrderView)
    object.__setattr__(order, "order_id", "o1")
    other = OpenOrderView.__new__(OpenOrderView)
    object.__setattr__(other, "order_id", "o2")
    state = reducing.without_order(
        replace(BUSY, orders=(order, other), gone_orders=frozenset({"o0"})),
        Removed(OpenOrderView, "o1"),
    )
    assert ([one.order_id for one in state.orders], state.gone_orders) == (["o2"], {"o0", "o1"})
    with pytest.raises(TypeError):
        reducing.without_order(BUSY, Loaded(OpenOrderView, ()))


def test_the_curve_grows_point_by_point_and_is_thinned_in_its_older_half(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(reducing, "EQUITY_MAX", 8)
    state = replace(BUSY, equity=())
    for place in range(8):
        state = reduce(state, Changed(EquityPoint(Timestamp(float(place)), Micros(place))))
    assert [point.at for point in state.equity] == [*range(8)]
    state = reduce(state, Changed(EquityPoint(Timestamp(8.0), Micros(8))))
    assert [point.at for point in state.equity] == [0, 2, 4, 5, 6, 7, 8]
    with pytest.raises(TypeError):
        reduce(BUSY, Removed(EquityPoint, ""))


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

    state = replace(BUSY, team=team(before), notices=())
    told = reduce(state, Changed(team(after)))
    assert told.team == team(after)
    assert [one.text.startswith("another process leads north: tern") for one in told.notices] == (
        [True] if is_told else []
    )


def test_pay_per_call_and_the_wallet_do_not_take_each_others_place() -> None:
    pay = PayView.__new__(PayView)
    state = reduce(BUSY, Changed(pay))
    assert state.wallet.pay is pay
    wallet = WalletView(address="0x1")
    after = reduce(state, Changed(wallet))
    assert (after.wallet.address, after.wallet.pay) == ("0x1", pay)
    with pytest.raises(TypeError):
        reduce(BUSY, Removed(WalletView, ""))


# -- answers and failures -----------------------------------------------------------------------


def with_service(**other: Any) -> DeskState:
    return replace(BUSY, service=replace(BUSY.service, **other), notices=())


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
    service = replace(BUSY.service, phase=Phase.ONLINE, last_ok_at=None, failures={})
    state = replace(BUSY, service=service)
    phases: list[Phase] = []
    for topic in (Topic.MARKETS, Topic.POSITIONS, Topic.ACCOUNT):
        fact = ServiceFailed(topic, NOW, "no such path", offline=False, status=404)
        state = reduce(state, fact)
        phases.append(state.service.phase)
        assert (state.service.problem_of, state.service.problem_status) == (topic, 404)
    assert phases == [Phase.ONLINE, Phase.ONLINE, Phase.OFFLINE]


def test_a_signal_whose_market_left_the_list_is_worth_what_it_resolved_to() -> None:
    one, *_ = reactor(BUSY).signals
    gone = replace(one, market_id="gone", side=Side.YES, price_now=0.4)
    over = replace(BUSY.positions[0], market_id="gone", outcome=YES)
    state = replace(BUSY, closed=(over,), reactor=replace(reactor(BUSY), signals=(gone,)))
    after = reduce(state, Changed(BreakerView(1, 5)))
    assert after.reactor.signals[0].price_now == 1.0
