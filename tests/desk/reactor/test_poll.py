"""One reading of the reactor: what is asked, in which case, and what became known."""

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from kit.desk.offline import Offline
from kit.samples.desk import NOW, sample_state
from service_tui.client.errors import (
    Called,
    NotFoundError,
    PlanRequiredError,
    RefusalReason,
    UnreachableError,
)
from service_tui.desk.changes import Loaded
from service_tui.desk.reactor.poll import (
    CONFIG_EVERY_S,
    IDLE_S,
    NO_REACTOR,
    PRO_ONLY,
    ReactorWatch,
    period_s,
    read_signals,
    seen_of,
)
from service_tui.desk.reactor.translate import breaker_view, config_view, known_wallets
from service_tui.desk.slices.reactor import (
    BreakerView,
    KnownWalletView,
    ReactorBarred,
    ReactorSeen,
    ReactorView,
    SignalsSeen,
)
from service_tui.terms import Side, Venue
from service_tui.units import Micros, Timestamp
from service_tui.wire.endpoints.desk import DESK_WALLETS
from service_tui.wire.endpoints.public import PENDING_SIGNALS, REACTIONS, REACTOR
from service_tui.wire.reactor import (
    BreakerBody,
    KnownWalletBody,
    KnownWalletsBody,
    PendingBody,
    ReactionBody,
    ReactionsBody,
    ReactionsQuery,
    ReactorConfigBody,
    SignalBody,
)

WALLET = "0x" + "1a" * 20
CALLED = Called("GET", "/api/sdk/reactor")
AHEAD_S = 4.0
PAUSED = BreakerBody(
    state="paused", failures=5, paused_at=datetime.fromtimestamp(NOW - 60, UTC), skipped=2
)
CONFIG = ReactorConfigBody(
    wallets=(WALLET,), min_size=1.0, max_size=50.0, mirror_fraction=0.25, daily_cap=30.0,
    venue=Venue.SIM, enabled=True, price_buffer=0.05, breaker=PAUSED, daily_spent=7.25,
)  # fmt: skip
SIGNAL = SignalBody(
    tx_hash="0xab", venue=Venue.SIM, taker_wallet=WALLET, taker_size=120.0, taker_price=0.4,
    market_id="m-4", market_title="Will it?", side=Side.NO, amount=7.0, taker_label="ada",
    created_at=datetime.fromtimestamp(NOW - 20, UTC),
)  # fmt: skip
PENDING = PendingBody(
    reactor_signals=(SIGNAL, SIGNAL.model_copy(update={"taker_size": 0.0, "tx_hash": "0xcd"})),
    breaker=BreakerBody(failures=3),
    daily_spent=8.5,
)
WALLETS = KnownWalletsBody(wallets=(KnownWalletBody(address=WALLET, label="ada", venue=Venue.EVM),))
LISTED = known_wallets(WALLETS.wallets)
REACTED = ReactionsBody(
    reactions=(
        ReactionBody(decision="failed", created_at=datetime.fromtimestamp(NOW - 10, UTC)),
        ReactionBody(decision="failed", created_at=datetime.fromtimestamp(NOW - 90, UTC)),
    )
)


def desk(*, embedded: bool = True, reactor: ReactorView | None = None, **answers: Any) -> Offline:
    state = sample_state(8)
    state = replace(
        state,
        service=replace(state.service, embedded=embedded),
        reactor=reactor or ReactorView(),
    )
    given = {"config": CONFIG, "pending": PENDING, "wallets": WALLETS, "reactions": REACTED}
    given |= answers
    kinds = {"config": REACTOR, "pending": PENDING_SIGNALS, "wallets": DESK_WALLETS,
             "reactions": REACTIONS}  # fmt: skip
    on = Offline(state, {kinds[name]: answer for name, answer in given.items()}, skew_s=AHEAD_S)
    on.dropped = 1
    return on


def read_before(**other: Any) -> ReactorView:
    return ReactorView(config=config_view(CONFIG), **other)


async def test_a_first_reading_brings_the_config_the_wallets_and_the_signals() -> None:
    on, watch = desk(), ReactorWatch()
    facts, latency_s = await read_signals(on.ports, watch)
    seen, wallets, signals = facts
    paused = breaker_view(PAUSED, AHEAD_S)
    assert seen == ReactorSeen(config_view(CONFIG), paused, Micros(7_250_000))
    assert wallets == Loaded(KnownWalletView, LISTED)
    assert isinstance(signals, SignalsSeen)
    assert [one.signal_id for one in signals.signals] == ["0xab"]
    assert signals.signals[0].at == NOW - 20 + AHEAD_S
    assert (signals.at, signals.day_spent) == (NOW, 8_500_000)
    assert signals.breaker == BreakerView(failures=3)
    assert signals.labels == {LISTED[0].address: "ada"}
    # One that no page could hold, and one that makes no order.
    assert signals.dropped == 2
    assert signals.broken
    assert latency_s == 0.01
    assert watch.config_at == 0.0
    assert [one.endpoint for one in on.asked] == [REACTOR, DESK_WALLETS, PENDING_SIGNALS]
    assert on.asked[2].query is not None
    assert on.asked[2].query.model_dump() == {"caps": "maker"}


@pytest.mark.parametrize(("age_s", "asked"), [(CONFIG_EVERY_S - 0.1, 1), (CONFIG_EVERY_S, 3)])
async def test_the_config_is_read_again_once_it_is_old(age_s: float, asked: int) -> None:
    on, watch = desk(reactor=read_before()), ReactorWatch(config_at=0.0)
    await on.clock.advance(age_s)
    await read_signals(on.ports, watch)
    assert len(on.asked) == asked
    assert watch.config_at == (0.0 if asked == 1 else age_s)


async def test_a_config_that_was_never_read_or_is_off_is_read_each_time() -> None:
    off = CONFIG.model_copy(update={"enabled": False})
    unread = desk(reactor=ReactorView())
    await read_signals(unread.ports, ReactorWatch(config_at=0.0))
    assert unread.asked[0].endpoint is REACTOR
    never = desk(reactor=read_before())
    await read_signals(never.ports, ReactorWatch())
    assert never.asked[0].endpoint is REACTOR
    on = desk(reactor=ReactorView(config=config_view(off)), config=off)
    facts, latency_s = await read_signals(on.ports, ReactorWatch(config_at=0.0))
    # Nobody makes signals: none are asked for.
    assert [one.endpoint for one in on.asked] == [REACTOR, DESK_WALLETS]
    assert [type(one) for one in facts] == [ReactorSeen, Loaded]
    assert latency_s == 0.01


async def test_only_the_embedded_service_is_asked_for_wallets_and_the_same_are_no_news() -> None:
    elsewhere = desk(embedded=False)
    facts, _ = await read_signals(elsewhere.ports, ReactorWatch())
    assert [type(one) for one in facts] == [ReactorSeen, SignalsSeen]
    assert DESK_WALLETS not in [one.endpoint for one in elsewhere.asked]
    known = {one.address: one for one in LISTED}
    again = desk(reactor=read_before(known=known))
    facts, _ = await read_signals(again.ports, ReactorWatch())
    assert [type(one) for one in facts] == [ReactorSeen, SignalsSeen]
    older = {LISTED[0].address: replace(LISTED[0], trades_count=99)}
    newer = desk(reactor=read_before(known=older))
    facts, _ = await read_signals(newer.ports, ReactorWatch())
    assert facts[1] == Loaded(KnownWalletView, LISTED)
    away = desk(wallets=UnreachableError("away", CALLED))
    facts, _ = await read_signals(away.ports, ReactorWatch())
    assert [type(one) for one in facts] == [ReactorSeen, SignalsSeen]


async def test_a_breaker_that_is_not_told_is_counted_by_the_reactions() -> None:
    silent = PENDING.model_copy(update={"breaker": None, "daily_spent": None})
    on = desk(reactor=read_before(), pending=silent)
    facts, _ = await read_signals(on.ports, ReactorWatch(config_at=0.0))
    (signals,) = facts
    assert isinstance(signals, SignalsSeen)
    assert (signals.breaker, signals.day_spent) == (BreakerView(failures=2), None)
    assert on.asked[1].query == ReactionsQuery()
    # What failed before the person closed it counts no more, by this desk's clock.
    for reset_at, failures in ((NOW - 10 + AHEAD_S, 0), (NOW - 10 + AHEAD_S - 1, 1)):
        on = desk(reactor=read_before(), pending=silent)
        watch = ReactorWatch(config_at=0.0, breaker_reset_at=Timestamp(reset_at))
        facts, _ = await read_signals(on.ports, watch)
        assert facts[0].breaker == BreakerView(failures=failures)  # type: ignore[union-attr]
    refused = (
        NotFoundError(RefusalReason("no path", "", ""), CALLED, status=404),
        PlanRequiredError(RefusalReason("no plan", "", ""), CALLED, status=403),
    )
    for error in refused:
        on = desk(reactor=read_before(), pending=silent, reactions=error)
        facts, _ = await read_signals(on.ports, ReactorWatch(config_at=0.0))
        assert facts[0].breaker is None  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("error", "problem"),
    [
        (PlanRequiredError(RefusalReason("no plan", "buy one", ""), CALLED, status=403),
         "no plan — buy one"),
        (PlanRequiredError(RefusalReason("no plan", "", ""), CALLED, status=403),
         f"no plan — {PRO_ONLY}"),
        (NotFoundError(RefusalReason("no path", "look", ""), CALLED, status=404), NO_REACTOR),
    ],
)  # fmt: skip
async def test_no_reactor_is_no_failure_and_its_reason_is_told(
    error: Exception, problem: str
) -> None:
    on = desk(config=error)
    assert await read_signals(on.ports, ReactorWatch()) == ([ReactorBarred(problem)], None)
    assert len(on.asked) == 1


async def test_a_service_that_is_away_is_a_failure_and_the_config_is_not_taken_as_read() -> None:
    on, watch = desk(config=UnreachableError("away", CALLED)), ReactorWatch(config_at=None)
    with pytest.raises(UnreachableError):
        await read_signals(on.ports, watch)
    assert watch.config_at is None


async def test_without_a_known_skew_the_service_s_times_are_taken_as_they_are() -> None:
    on = desk()
    on.ports.client.skew_s = None  # type: ignore[misc]
    facts, _ = await read_signals(on.ports, ReactorWatch())
    assert facts[0] == seen_of(CONFIG, config_view(CONFIG), 0.0)
    assert facts[2].signals[0].at == NOW - 20  # type: ignore[union-attr]


def test_the_pause_before_the_next_reading_is_that_of_what_is_read() -> None:
    on = read_before()
    off = replace(on, config=replace(config_view(CONFIG), enabled=False))
    assert period_s(on, 2.0, 60.0) == 2.0
    assert period_s(off, 2.0, 60.0) == IDLE_S
    assert period_s(ReactorView(), 2.0, 60.0) == IDLE_S
    assert period_s(replace(on, barred="no plan"), 2.0, 60.0) == 60.0
