"""The slice of the reactor: what a listing, a ticket, a trade and a choice make of its signals."""

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

from kit.samples.desk import NOW, sample_state
from service_tui.desk.changes import Changed, Loaded
from service_tui.desk.slices import reactor as room
from service_tui.desk.slices.markets import MarketView
from service_tui.desk.slices.notices import NoticeKind
from service_tui.desk.slices.reactor import (
    EXPIRED,
    NOTICES_MAX,
    SWITCHED_OFF,
    BreakerView,
    KnownWalletView,
    Policy,
    ReactorBarred,
    ReactorConfigView,
    ReactorSeen,
    ReactorView,
    SignalsSeen,
    SignalState,
    SignalView,
    Tally,
    WalletChoice,
    WalletChosen,
    added,
    marked,
    news_of,
    reduce_reactor,
    state_of,
    tallies,
    ticket_text,
    with_ticket,
    with_trades,
)
from service_tui.desk.slices.tickets import NO_TRACE, TicketState, TicketView
from service_tui.desk.slices.trades import TradeView
from service_tui.outcome import NO, YES, Outcome
from service_tui.terms import MarketStatus, Side, TradeStatus, Venue
from service_tui.units import ONE, Micros, Probability, Timestamp

ADA, BEN, CEE = ("0x" + letter * 40 for letter in "abc")
PENDING, SKIPPED, MIRRORED = SignalState.PENDING, SignalState.SKIPPED, SignalState.MIRRORED
SIGNAL = SignalView(
    "s1", "tx1", ADA, "ada", "m1", "Will it?", Side.NO, Venue.SIM, Micros(120 * ONE), 0.4,
    Micros(8 * ONE), 0.45, Timestamp(NOW - 20), Timestamp(NOW + 40),
)  # fmt: skip
CONFIG = ReactorConfigView(
    (ADA, BEN), Micros(0), Micros(ONE), 0.5, Micros(50 * ONE), Venue.SIM, enabled=True,
    price_buffer=0.02,
)  # fmt: skip


def signal(name: str = "s1", **other: Any) -> SignalView:
    return replace(SIGNAL, signal_id=name, **other)


def known(address: str, label: str) -> KnownWalletView:
    return KnownWalletView(address, label, Venue.SIM, 9, Micros(ONE), 3, 1, Micros(ONE), None)


# -- one signal ---------------------------------------------------------------------------------


def test_what_a_mirror_pays_is_measured_against_its_source() -> None:
    bare = signal()
    assert (bare.drift, bare.is_too_dear, bare.fill_price, bare.slippage, bare.pnl) == (
        None, False, None, None, None,
    )  # fmt: skip
    one = signal(price_now=0.5, shares=Micros(20 * ONE), cost=Micros(9 * ONE))
    assert one.drift == pytest.approx(0.1)
    assert (one.is_too_dear, one.fill_price, one.pnl) == (True, 0.45, ONE)
    assert one.slippage == pytest.approx(0.05)
    assert not signal(price_now=0.45).is_too_dear
    assert signal(price_now=0.5).pnl is None
    assert signal(shares=Micros(ONE)).pnl is None


@pytest.mark.parametrize(
    ("late_s", "age", "left", "part"),
    [(0, 20, 40, 2 / 3), (40, 60, 0, 0), (90, 110, 0, 0), (-20, 0, 60, 1), (-50, 0, 90, 1)],
)
def test_the_life_of_a_signal_goes_from_whole_to_nothing(
    late_s: float, age: float, left: float, part: float
) -> None:
    now = Timestamp(NOW + late_s)
    one = signal()
    assert (one.age_s(now), one.left_s(now), one.left_part(now)) == (age, left, pytest.approx(part))
    assert signal(expires_at=SIGNAL.at).left_part(now) == 0.0


@pytest.mark.parametrize(
    ("state", "ticket", "late_s", "may"),
    [
        (PENDING, "", 0, True), (PENDING, "", 40, False), (PENDING, "t", 39, True),
        (SKIPPED, "", 0, True), (SKIPPED, "t", 0, False), (MIRRORED, "", 0, False),
        (SignalState.FAILED, "", 0, False),
    ],
)  # fmt: skip
def test_a_person_mirrors_what_was_not_tried_and_lives(
    state: SignalState, ticket: str, late_s: float, *, may: bool
) -> None:
    assert signal(state=state, ticket_id=ticket).can_mirror(Timestamp(NOW + late_s)) is may


@pytest.mark.parametrize(
    ("breaker", "paused", "left"),
    [
        (BreakerView(), False, None),
        (BreakerView(paused_at=NOW), True, None),
        (BreakerView(paused_at=NOW, resets_at=Timestamp(NOW + 5)), True, 5),
        (BreakerView(paused_at=NOW, resets_at=NOW), False, 0),
        (BreakerView(resets_at=Timestamp(NOW - 5)), False, 0),
    ],
)
def test_a_breaker_holds_back_until_it_resets(
    breaker: BreakerView, left: float | None, *, paused: bool
) -> None:
    assert (breaker.is_paused(NOW), breaker.left_s(NOW)) == (paused, left)


# -- wallets ------------------------------------------------------------------------------------


def test_what_was_done_with_signals_is_counted_by_wallet() -> None:
    early = Timestamp(NOW - 500)
    bought = signal(
        "s2", state=MIRRORED, shares=Micros(20 * ONE), cost=Micros(9 * ONE), price_now=0.5, at=NOW
    )
    unpriced = signal("s3", state=MIRRORED, shares=Micros(10 * ONE), cost=Micros(4 * ONE))
    rest = (
        signal("s4", state=SKIPPED), signal("s5", state=SignalState.FAILED), signal("s6", at=early),
    )  # fmt: skip
    sums = tallies((bought, unpriced, *rest, signal("s7", wallet=BEN)), {CEE: Tally(5)})
    assert sums[ADA] == Tally(
        5, 2, 1, 1, spent=Micros(13 * ONE), shares=Micros(30 * ONE), source_cost=Micros(12 * ONE),
        pnl=Micros(ONE), last_at=NOW,
    )  # fmt: skip
    assert (sums[BEN].signals_count, sums[CEE]) == (1, Tally(5))
    assert sums[ADA].slippage == pytest.approx(1 / 30)
    assert sums[ADA].pnl_pct == pytest.approx(1 / 13)
    assert (Tally().slippage, Tally().pnl_pct) == (None, None)
    twice = added(sums[ADA], bought)
    assert (twice.signals_count, twice.mirrored_count, twice.skipped_count, twice.failed_count) == (
        6, 3, 1, 1,
    )  # fmt: skip
    assert (twice.spent, twice.shares, twice.source_cost, twice.pnl, twice.last_at) == (
        22 * ONE, 50 * ONE, 20 * ONE, 2 * ONE, NOW,
    )  # fmt: skip
    assert added(replace(twice, last_at=Timestamp(NOW + 9)), bought).last_at == NOW + 9


def test_a_wallet_is_shown_with_its_choice_its_record_and_its_sums() -> None:
    reactor = ReactorView(
        CONFIG, signals=(signal(wallet=BEN),), choices={ADA: WalletChoice(ADA, "own", Policy.AUTO)},
        known={ADA: known(ADA, "theirs"), CEE: known(CEE, "cee")}, labels={BEN: "by the service"},
        past={"0xpast": Tally(2)},
    )  # fmt: skip
    shown = reactor.wallets()
    assert [(one.address, one.label, one.policy, one.is_followed) for one in shown] == [
        (ADA, "own", Policy.AUTO, True), (BEN, "by the service", Policy.ASK, True),
        ("0xpast", "", Policy.ASK, False), (CEE, "cee", Policy.ASK, False),
    ]  # fmt: skip
    assert [one.tally.signals_count for one in shown] == [0, 1, 2, 0]
    assert reactor.wallet(ADA) == shown[0]
    assert (shown[0].known, shown[1].known) == (reactor.known[ADA], None)
    assert (shown[0].short, replace(shown[0], label="").short) == ("own", f"{ADA[:6]}…{ADA[-4:]}")
    assert reactor.known[ADA].win_rate == 0.75


@pytest.mark.parametrize(
    ("spent", "left"), [(None, None), (Micros(20 * ONE), 30 * ONE), (Micros(60 * ONE), 0)]
)
def test_the_rest_of_the_day_is_what_is_surely_left(spent: Micros | None, left: int | None) -> None:
    assert ReactorView(CONFIG, day_spent=spent).day_left == left
    assert ReactorView(day_spent=spent).day_left is None


# -- facts --------------------------------------------------------------------------------------


def listing(*signals: SignalView, **other: Any) -> SignalsSeen:
    return SignalsSeen(NOW, signals, **other)


def listed(reactor: ReactorView, *signals: SignalView, **other: Any) -> ReactorView:
    return reduce_reactor(reactor, listing(*signals, **other))


def test_new_signals_come_before_the_known_ones_the_newest_first() -> None:
    reactor = listed(ReactorView(signals=(signal("s1"),)), signal("s2"), signal("s3"), signal("s1"))
    assert [one.signal_id for one in reactor.signals] == ["s3", "s2", "s1"]


def test_a_listing_tells_names_spending_and_what_could_not_be_read() -> None:
    before = ReactorView(labels={BEN: "old"}, day_spent=Micros(ONE), dropped=4, broken="x")
    breaker = BreakerView(2)
    after = listed(
        before, signal(label=""), labels={ADA: "new"}, breaker=breaker, day_spent=Micros(2 * ONE),
        dropped=1, broken="no price",
    )  # fmt: skip
    assert (after.labels, after.breaker, after.day_spent) == (
        {BEN: "old", ADA: "new"}, breaker, 2 * ONE,
    )  # fmt: skip
    assert (after.dropped, after.broken, after.signals[0].label) == (1, "no price", "new")
    assert listed(after, day_spent=Micros(0)).day_spent == 0
    again = listed(after)
    assert (again.breaker, again.day_spent, again.dropped, again.broken) == (
        breaker, 2 * ONE, 0, "",
    )  # fmt: skip


def test_a_signal_that_is_listed_again_changes_but_not_its_times_nor_its_end() -> None:
    older = signal(price_now=0.41)
    newer = signal(amount=Micros(5 * ONE), at=NOW, expires_at=Timestamp(NOW + 99))
    (shown,) = listed(ReactorView(signals=(older,)), newer).signals
    assert (shown.amount, shown.at, shown.expires_at, shown.price_now) == (
        5 * ONE, older.at, older.expires_at, 0.41,
    )  # fmt: skip
    ended = signal(state=MIRRORED)
    assert listed(ReactorView(signals=(ended,)), newer).signals == (replace(ended, label=""),)


@pytest.mark.parametrize(
    ("expires_s", "breaker", "detail"),
    [
        (0, BreakerView(), EXPIRED), (1, BreakerView(), room._ELSEWHERE),
        (1, BreakerView(paused_at=NOW), room._PAUSED), (0, BreakerView(paused_at=NOW), EXPIRED),
    ],
)  # fmt: skip
def test_a_signal_that_is_listed_no_more_says_why(
    expires_s: float, breaker: BreakerView, detail: str
) -> None:
    waits = signal(expires_at=Timestamp(NOW + expires_s))
    done = signal("s2", state=MIRRORED)
    reactor = listed(ReactorView(signals=(waits, done), breaker=breaker))
    assert [(one.state, one.detail) for one in reactor.signals] == [
        (SKIPPED, detail), (MIRRORED, ""),
    ]  # fmt: skip


def test_signals_of_a_wallet_that_is_off_are_skipped_as_they_come() -> None:
    off = {ADA: WalletChoice(ADA, policy=Policy.OFF)}
    first, second = listed(ReactorView(choices=off), signal("s1", wallet=BEN), signal("s2")).signals
    assert (first.state, first.detail) == (SKIPPED, SWITCHED_OFF)
    assert (second.state, second.detail) == (PENDING, "")


def test_a_reactor_that_is_paused_lists_nothing_so_that_nothing_waits() -> None:
    reactor = ReactorView(signals=(signal("s1"), signal("s2", state=MIRRORED)), barred="x")
    on = reduce_reactor(reactor, ReactorSeen(CONFIG))
    assert (on.config, on.barred, on.signals) == (CONFIG, "", reactor.signals)
    off = reduce_reactor(on, ReactorSeen(replace(CONFIG, enabled=False), BreakerView(1)))
    assert [(one.state, one.detail) for one in off.signals] == [
        (SKIPPED, room._DISABLED), (MIRRORED, ""),
    ]  # fmt: skip
    assert (off.breaker, off.is_enabled, on.is_enabled) == (BreakerView(1), False, True)
    assert reduce_reactor(off, ReactorSeen(CONFIG)).breaker == BreakerView(1)
    spent = reduce_reactor(on, ReactorSeen(CONFIG, day_spent=Micros(0)))
    assert spent.day_spent == 0
    assert reduce_reactor(spent, ReactorSeen(CONFIG)).day_spent == 0
    barred = reduce_reactor(on, ReactorBarred("needs pro"))
    assert (barred.barred, barred.is_enabled) == ("needs pro", False)


def test_a_name_is_that_of_the_person_before_that_of_the_service() -> None:
    reactor = ReactorView(signals=(signal(), signal("s2", wallet=BEN, label="")))
    named = reduce_reactor(reactor, WalletChosen(WalletChoice(ADA, "own")))
    assert [one.label for one in named.signals] == ["own", ""]
    loaded = reduce_reactor(
        named, Loaded(KnownWalletView, (known(ADA, "theirs"), known(BEN, "ben")))
    )
    assert [one.label for one in loaded.signals] == ["own", "ben"]
    assert set(loaded.known) == {ADA, BEN}
    assert loaded.signals[0] is named.signals[0]


def test_a_row_replaces_its_own_and_a_new_one_comes_first() -> None:
    reactor = ReactorView(signals=(signal("s1"), signal("s2")))
    changed = signal("s2", amount=Micros(1))
    after = reduce_reactor(reactor, Changed(changed))
    assert after.signals == (signal("s1"), changed)
    assert reduce_reactor(after, Changed(signal("s3"))).signals[0] == signal("s3")
    assert reduce_reactor(after, Changed(BreakerView(2))).breaker == BreakerView(2)
    with pytest.raises(TypeError):
        reduce_reactor(reactor, "no fact")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("waiting", "kept"),
    [
        ("", "new s0 s1"), ("s3", "new s0 s3"), ("s2 s3", "new s2 s3"), ("s1 s2 s3", "s1 s2 s3"),
        ("s0 s1 s2 s3", "s0 s1 s2 s3"),
    ],
)  # fmt: skip
def test_of_many_signals_the_oldest_that_ended_are_counted_alone(
    monkeypatch: pytest.MonkeyPatch, waiting: str, kept: str
) -> None:
    monkeypatch.setattr(room, "SIGNALS_MAX", 3)
    names = [f"s{place}" for place in range(4)]
    signals = tuple(
        signal(name, state=PENDING if name in waiting.split() else MIRRORED) for name in names
    )
    full = ReactorView(signals=signals, past={ADA: Tally(7)})
    after = reduce_reactor(full, Changed(signal("new", state=SKIPPED)))
    assert [one.signal_id for one in after.signals] == kept.split()
    gone = 5 - len(kept.split())
    assert after.past[ADA].signals_count == 7 + gone
    assert after.past[ADA].skipped_count == ("new" not in kept)


# -- marks --------------------------------------------------------------------------------------


def market(price: float, outcome: Outcome | None = None) -> MarketView:
    known = next(iter(sample_state().markets.values()))
    status = MarketStatus.ACTIVE if outcome is None else MarketStatus.RESOLVED
    return replace(
        known, price=Probability(price), outcome=outcome, status=status, question="Asked?"
    )


def test_signals_are_at_the_price_of_now_and_at_one_or_nothing_once_it_is_final() -> None:
    reactor = ReactorView(signals=(signal(question=""),))
    (one,) = marked(reactor, {"m1": market(0.3)}, ()).signals
    assert (one.price_now, one.question) == (pytest.approx(0.7), "Asked?")
    assert marked(ReactorView(signals=(one,)), {"m1": market(0.3)}, ()).signals[0] is one
    unlisted = ReactorView(signals=(signal(price_now=0.4),))
    assert marked(unlisted, {}, ()) is unlisted
    for outcome, price in ((YES, 0.0), (NO, 1.0), (Outcome.at(0.25), 0.75)):
        over: Any = SimpleNamespace(market_id="m1", outcome=outcome)
        other: Any = SimpleNamespace(market_id="m1", outcome=None)
        assert marked(unlisted, {}, (other, over)).signals[0].price_now == price
        final = marked(unlisted, {"m1": market(0.3, outcome)}, ()).signals[0]
        assert final.price_now == price
        # Nobody can mirror it any more.
        assert (final.state, final.detail) == (SignalState.SKIPPED, "the market has ended")
    closed = replace(market(0.3), status=MarketStatus.CLOSED)
    assert not marked(unlisted, {"m1": closed}, ()).waiting
    empty = ReactorView()
    assert marked(empty, {"m1": market(0.3)}, ()) is empty


# -- tickets and trades -------------------------------------------------------------------------


def ticket(state: TicketState, name: str = "t1", **other: Any) -> TicketView:
    return TicketView(name, "mirror", "m1", "mirror", state, NOW, NOW, outcome="bought", **other)


@pytest.mark.parametrize(
    ("state", "shown"),
    [
        (TicketState.DONE, MIRRORED), (TicketState.REFUSED, SignalState.FAILED),
        (TicketState.FAILED, SignalState.FAILED), (TicketState.UNKNOWN, SignalState.UNKNOWN),
    ],
)  # fmt: skip
def test_a_signal_ends_as_its_mirrors_ticket(state: TicketState, shown: SignalState) -> None:
    reactor = ReactorView(signals=(signal("s0"), signal(ticket_id="t1")))
    after = with_ticket(reactor, ticket(state))
    assert [one.state for one in after.signals] == [PENDING, shown]
    assert after.signals[1].detail == ticket_text(ticket(state))
    assert with_ticket(after, ticket(state)) is after
    assert with_ticket(reactor, ticket(state, "t9")) is reactor
    assert with_ticket(reactor, ticket(TicketState.SENT)) is reactor
    assert with_ticket(reactor, ticket(state, "")) is reactor
    assert state_of(ticket(TicketState.QUEUED)) is SignalState.MIRRORING


def test_a_mirror_whose_outcome_is_unknown_is_never_sent_twice() -> None:
    text = ticket_text(ticket(TicketState.UNKNOWN))
    assert text == f"bought; {room.NEVER_AGAIN}"
    gone = replace(ticket(TicketState.UNKNOWN), outcome=NO_TRACE)
    assert (state_of(gone), ticket_text(gone)) == (
        SignalState.FAILED, f"{NO_TRACE}: not mirrored",
    )  # fmt: skip
    refused = ticket(TicketState.REFUSED, fix="look")
    assert ticket_text(refused).startswith("bought")
    assert ticket_text(refused).endswith("look")


def trade(ref: str, shares: int = 3, cost: int = 1, **other: Any) -> TradeView:
    given = TradeView(
        trade_id="", market_id="m1", question="", side=Side.NO, action="buy",
        shares=Micros(shares * ONE), cost=Micros(cost * ONE), average=None, price_before=None,
        price_after=None, venue=Venue.SIM, status=TradeStatus.FILLED, reasoning="", source="",
        at=NOW, pnl=None, client_ref=ref,
    )  # fmt: skip
    return replace(given, **other)


def sale(shares: int, cost: int, **other: Any) -> TradeView:
    return trade("", shares, cost, **{"action": "sell", **other})


def test_what_a_mirror_bought_is_taken_from_its_own_trade() -> None:
    lacks, filled = (
        signal(state=MIRRORED, ticket_id="t1"),
        signal("s2", state=MIRRORED, ticket_id="t2", shares=Micros(9)),
    )
    waits = signal("s3", ticket_id="t3")
    reactor = ReactorView(signals=(lacks, filled, waits))
    after = with_trades(reactor, (trade("t2"), trade("t1", 0), trade("t3"), trade("t1")))
    assert [(one.shares, one.cost) for one in after.signals] == [
        (3 * ONE, ONE), (9, 0), (0, 0),
    ]  # fmt: skip
    assert with_trades(reactor, (trade("t1", 0), trade("t9"))) is reactor
    assert with_trades(after, (trade("t1"),)) is after


MINE = signal(
    state=MIRRORED, ticket_id="t1", shares=Micros(10 * ONE), cost=Micros(5 * ONE), price_now=0.9
)
SALES: dict[str, tuple[tuple[TradeView, ...], int, int, int | None]] = {
    "nothing was sold": ((trade("t1", 10, 5),), 0, 0, 4 * ONE),
    "all of it": ((sale(10, 3), trade("t1", 10, 5)), 10, 3, -2 * ONE),
    "a part": ((sale(4, 2), trade("t1", 10, 5)), 4, 2, 12 * ONE // 5),
    "in two parts": ((sale(6, 2), sale(4, 2), trade("t1", 10, 5)), 10, 4, -ONE),
    "with others held": ((sale(10, 6), trade("t1", 10, 5), trade("", 10, 5)), 5, 3, 5 * ONE // 2),
    "what came after": ((trade("", 10, 5), sale(10, 3), trade("t1", 10, 5)), 10, 3, -2 * ONE),
    "what went before": ((trade("t1", 10, 5), sale(10, 3), trade("", 10, 5)), 0, 0, 4 * ONE),
    "a buy of long ago": ((sale(10, 3),), 10, 3, -2 * ONE),
    "more than is known": ((sale(20, 6), trade("t1", 10, 5)), 10, 3, -2 * ONE),
    "less the fee": (
        (sale(10, 3, fee=Micros(ONE)), trade("t1", 10, 5)), 10, 2, -3 * ONE,
    ),
    "of the other side": ((sale(10, 3, side=Side.YES), trade("t1", 10, 5)), 0, 0, 4 * ONE),
    "on another venue": ((sale(10, 3, venue=Venue.EVM), trade("t1", 10, 5)), 0, 0, 4 * ONE),
    "a payout is no sale": ((sale(10, 3, action="redeem"), trade("t1", 10, 5)), 0, 0, 4 * ONE),
}  # fmt: skip


@pytest.mark.parametrize("name", SALES)
def test_the_pnl_of_a_mirror_ends_with_the_sale_of_its_shares(name: str) -> None:
    trades, sold, proceeds, pnl = SALES[name]
    after = with_trades(ReactorView(signals=(MINE,)), trades)
    (one,) = after.signals
    assert (one.sold, one.proceeds, one.pnl) == (sold * ONE, proceeds * ONE, pnl)
    assert tallies(after.signals, {})[ADA].pnl == pnl
    # Heard again, or when the trades are too old to be listed, it stays.
    assert with_trades(after, trades) is after
    assert with_trades(after, ()) is after
    if sold == 10:
        assert replace(one, price_now=0.1).pnl == replace(one, price_now=None).pnl == pnl


# -- news ---------------------------------------------------------------------------------------


def news(before: ReactorView, fact: Any) -> list[tuple[str, str, NoticeKind]]:
    return [*news_of(before, reduce_reactor(before, fact), fact)]


def test_each_new_signal_that_waits_for_the_person_is_told_the_oldest_first() -> None:
    auto = {BEN: WalletChoice(BEN, policy=Policy.AUTO)}
    before = ReactorView(signals=(signal("s0"),), choices=auto, labels={ADA: "ada"})
    said = news(
        before, listing(
            signal("s0"), signal("s1"), signal("s2", wallet=BEN),
            signal("s3", wallet=CEE, question="", side=Side.YES),
        ),
    )  # fmt: skip
    assert [(tone, kind) for tone, _, kind in said] == [("info", NoticeKind.SIGNAL)] * 2
    assert said[0][1] == "ada bought 120.00 NO at 0.400, Will it?"
    assert said[1][1].startswith(f"{CEE} bought 120.00 YES at ")
    assert said[1][1].endswith(", m1")


@pytest.mark.parametrize(
    ("wallets", "whose"),
    [((ADA, ADA, ADA, ADA), "one wallet"), ((ADA, BEN, ADA, CEE), "3 wallets")],
)
def test_many_new_signals_are_told_in_one_sentence(wallets: list[str], whose: str) -> None:
    signals = [signal(f"s{place}", wallet=wallet) for place, wallet in enumerate(wallets)]
    (said,) = news(ReactorView(), listing(*signals))
    assert said[1] == f"4 signals of {whose}; see Reactor"
    assert len(news(ReactorView(), listing(*signals[:NOTICES_MAX]))) == NOTICES_MAX


def test_a_signal_that_ended_and_waits_again_is_no_news() -> None:
    ended = ReactorView(signals=(signal("s1", state=SKIPPED),))
    again = replace(ended, signals=(signal("s1"), signal("s2")))
    said = [*news_of(ended, again, listing())]
    assert [text for _, text, kind in said if kind is NoticeKind.SIGNAL] == [
        f"{SIGNAL.label} bought 120.00 NO at 0.400, Will it?"
    ]


def test_a_signal_that_cannot_be_read_is_told_once() -> None:
    before = ReactorView(broken="no price", dropped=1)
    assert news(before, listing(dropped=2, broken="no price")) == []
    ((tone, text, _),) = news(before, listing(dropped=2, broken="no side"))
    assert (tone, text) == ("warn", "signal skipped: no side")


def test_a_breaker_that_opens_or_closes_and_a_bar_are_told_once() -> None:
    opened = BreakerView(3, paused_at=NOW)
    ((tone, text, _),) = news(ReactorView(), Changed(opened))
    assert tone == "bad"
    assert text.startswith(
        "reactor circuit breaker open after 3 failures in a row: signals skipped"
    )
    is_open = ReactorView(CONFIG, breaker=opened)
    assert news(is_open, Changed(replace(opened, skipped=9))) == []
    assert [one[:2] for one in news(is_open, Changed(BreakerView()))] == [
        ("good", "reactor circuit breaker closed")
    ]
    bar = ReactorBarred("needs pro")
    assert [one[:2] for one in news(ReactorView(CONFIG), bar)] == [("bad", "reactor: needs pro")]
    assert news(ReactorView(), bar) == []
    assert news(ReactorView(CONFIG, barred="needs pro"), bar) == []


def test_what_is_listed_no_more_was_skipped_by_the_breaker_of_the_same_answer() -> None:
    paused = BreakerView(3, paused_at=NOW, resets_at=Timestamp(NOW + 60))
    before = ReactorView(signals=(signal("s1", expires_at=Timestamp(NOW + 30)),))
    (skipped,) = listed(before, breaker=paused).signals
    (other,) = listed(before, breaker=BreakerView()).signals
    assert skipped.detail.startswith("circuit breaker open")
    assert not other.detail.startswith("circuit breaker open")
