"""Each row that needs the person: when it is there, what it says, and where Enter goes."""

from dataclasses import replace
from typing import Any

import pytest

from kit.samples.desk import NOW, sample_state
from kit.samples.fleet import leash_of
from kit.samples.reactor import reactor
from kit.samples.risk import alert_of, price_alert_of
from service_tui.console import formats
from service_tui.console.freshness import world_now
from service_tui.console.needs_fleet import of_fleet
from service_tui.console.needs_positions import (
    MOVED_FROM,
    MOVED_MAX,
    RESOLVES_WITHIN_S,
    SETTLED_FOR_S,
    of_positions,
)
from service_tui.console.needs_risk import (
    BRIEFED_WITHIN_S,
    PRICE_ALERT_LISTED_S,
    UNSOLD_FOR_S,
    is_last,
    last_alerts,
    of_risk,
    waiting_signals,
)
from service_tui.console.ranking import LAST_S, Need
from service_tui.desk.slices.reactor import BreakerView, Policy, SignalState, WalletChoice
from service_tui.desk.slices.redemption import (
    AutoView,
    ChainRunState,
    RedemptionRow,
    RedemptionView,
    RunView,
    Stage,
)
from service_tui.desk.slices.risk import AlertState
from service_tui.desk.slices.topics import Topic
from service_tui.desk.state import DeskState
from service_tui.outcome import NO, VOID, YES
from service_tui.terms import AgentStatus, MarketStatus, Side, Venue
from service_tui.units import ONE, Micros, Probability, Timestamp

BASE = sample_state(6)
CALM = replace(
    BASE, positions=(), closed=(), redemption=RedemptionView(), world=None, from_cache=False,
    risk=replace(BASE.risk, alerts=(), price_alerts=(), briefing_late=""),
    reactor=replace(BASE.reactor, signals=(), breaker=BreakerView()),
)  # fmt: skip


def at(seconds: float) -> Timestamp:
    return Timestamp(NOW + seconds)


def of(state: DeskState, now: Timestamp = NOW) -> list[Need]:
    return [*of_positions(state, now), *of_risk(state, now)]


def held(**other: Any) -> Any:
    one = BASE.positions[0]
    given = {
        "status": MarketStatus.ACTIVE, "resolves_at": at(9e6), "opened_at": at(-9e5),
        "cost": Micros(10 * ONE), "unrealized": Micros(0), "realized": Micros(0), **other,
    }  # fmt: skip
    return replace(one, **given)


def with_positions(*rows: Any, **other: Any) -> DeskState:
    return replace(CALM, positions=rows, markets={}, **other)


# -- redeeming ----------------------------------------------------------------------------------


ROW = RedemptionRow(
    "m1", "Will it?", Side.NO, Venue.EVM, Stage.READY, Micros(9 * ONE), Micros(4 * ONE),
    Micros(8 * ONE),
)  # fmt: skip


def redeeming(*runs: RunView, auto: AutoView | None = None) -> DeskState:
    view = RedemptionView((ROW,), runs=runs, auto=auto or AutoView())
    return replace(CALM, redemption=view)


@pytest.mark.parametrize(
    ("auto", "note"),
    [
        (AutoView(), "in USDC.e"),
        (AutoView(on_service=True, allowed=True, paused="gas too low"), "in USDC.e: gas too low"),
    ],
)
def test_winnings_that_nobody_redeems_are_listed(auto: AutoView, note: str) -> None:
    (one,) = of(redeeming(auto=auto))
    assert (one.key, one.word, one.row, one.screen) == (
        "redeem:m1:no", "redeem", "m1:no", "redemption",
    )  # fmt: skip
    assert (one.act, one.verb, one.money, one.note) == (
        "redemption.redeem", "Redeem", 8 * ONE, note,
    )  # fmt: skip
    assert (one.is_real, one.is_dismissable, one.can_be_muted) == (True, True, False)


def test_winnings_that_redeem_themselves_need_nobody() -> None:
    assert of(redeeming(auto=AutoView(on_service=True, allowed=True))) == []


def test_a_redemption_without_a_receipt_is_listed_however_it_was_begun() -> None:
    run = RunView(
        "m1", Side.NO, Venue.EVM, "Will it?", ChainRunState.UNCONFIRMED, amount=Micros(7 * ONE)
    )
    (one,) = of(redeeming(run, auto=AutoView(on_service=True, allowed=True)))
    assert (one.key, one.word, one.money, one.act) == (
        "unconfirmed:m1:no", "unconfirmed", 7 * ONE, "",
    )  # fmt: skip
    assert (one.otherwise, one.note, one.is_real, one.is_dismissable) == (
        "looked up until it is confirmed", "in USDC.e", True, False,
    )  # fmt: skip
    (fixed,) = of(redeeming(replace(run, fix="look")))
    assert fixed.note.startswith("in USDC.e: ")
    assert of(redeeming(replace(run, state=ChainRunState.RUNNING))) == []


# -- positions ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("left_s", "is_there"),
    [(RESOLVES_WITHIN_S, True), (RESOLVES_WITHIN_S + 1, False), (0, True), (-5, True)],
)
def test_a_position_is_listed_shortly_before_its_market_resolves(
    left_s: float, *, is_there: bool
) -> None:
    one = held(resolves_at=at(left_s), mark_value=Micros(6 * ONE))
    rows = of(with_positions(one))
    assert len(rows) == is_there
    if is_there:
        (need,) = rows
        assert (need.key, need.word, need.act, need.row) == (
            f"resolves {one.key}", "resolves", "portfolio.sell", one.key,
        )  # fmt: skip
        assert (need.left_s, need.money, need.otherwise) == (
            max(0, left_s), 6 * ONE, "held to resolution",
        )  # fmt: skip
    assert of(with_positions(replace(one, status=MarketStatus.CLOSED))) == []
    assert of(with_positions(replace(one, resolves_at=None))) == []


@pytest.mark.parametrize(
    ("embedded", "speed", "pace"), [(True, 60, 60), (True, 0, 1), (False, 60, 1), (True, None, 1)]
)
def test_the_time_left_is_that_of_the_person(
    speed: int | None, pace: float, *, embedded: bool
) -> None:
    world = None if speed is None or BASE.world is None else replace(BASE.world, speed=speed)
    service = replace(CALM.service, embedded=embedded)
    state = replace(CALM, service=service, world=world)
    soon = held(resolves_at=Timestamp(world_now(state, NOW) + 60.0))
    (one,) = (need for need in of(replace(state, positions=(soon,))) if "resolves" in need.key)
    assert one.left_s == pytest.approx(60.0 / pace)


def moved(part: float, **other: Any) -> Any:
    return held(unrealized=Micros(round(10 * ONE * part)), **other)


@pytest.mark.parametrize(
    ("part", "tone"), [(0.16, "profit"), (-0.16, "loss"), (MOVED_FROM, ""), (-MOVED_FROM, "")]
)
def test_a_position_that_moved_far_since_its_purchase_is_listed(part: float, tone: str) -> None:
    rows = of(with_positions(moved(part)))
    assert [one.tone for one in rows] == ([tone] if tone else [])
    if tone:
        assert (rows[0].kind, rows[0].note, rows[0].word) == (
            "positions moved", "since purchase", "moved",
        )  # fmt: skip
        assert rows[0].figure.plain.strip().startswith("+" if part > 0 else "-")
        awaiting = of(with_positions(moved(part, status=MarketStatus.CLOSED)))
        assert awaiting[0].note == "since purchase, awaiting resolution"


DAYS = "price change in 24 h"


@pytest.mark.parametrize(
    ("side", "day_ago", "age_s", "notes"),
    [
        (Side.YES, 0.4, 9e5, [DAYS]), (Side.NO, 0.6, 9e5, [DAYS]), (Side.YES, 0.49, 9e5, []),
        (Side.YES, 0.4, 86_399, []), (Side.YES, 0.4, 86_400, [DAYS]), (Side.YES, None, 9e5, []),
        (Side.YES, 0.0, 9e5, []), (Side.NO, 1.0, 9e5, []),
        (Side.YES, 1.0, 9e5, []), (Side.NO, 0.0, 9e5, []),
    ],
)  # fmt: skip
def test_a_price_that_moved_in_a_day_counts_for_who_held_it_all_that_day(
    side: Side, day_ago: float | None, age_s: float, notes: list[str]
) -> None:
    one = held(side=side, opened_at=at(-age_s))
    market = replace(
        next(iter(BASE.markets.values())), market_id=one.market_id, price=Probability(0.5),
        price_24h_ago=day_ago, status=MarketStatus.ACTIVE,
    )  # fmt: skip
    state = replace(CALM, positions=(one,), markets={one.market_id: market})
    assert [row.note for row in of(state)] == notes


def test_only_the_largest_moves_are_listed() -> None:
    rows = [moved(0.2 + place / 100, market_id=f"m{place}") for place in range(MOVED_MAX + 3)]
    found = [one for one in of(with_positions(*rows)) if one.word == "moved"]
    assert [one.row for one in found] == [one.key for one in reversed(rows)][:MOVED_MAX]


@pytest.mark.parametrize(
    ("ago_s", "is_there"),
    [(0, True), (SETTLED_FOR_S, True), (SETTLED_FOR_S + 1, False), (-1, False)],
)
def test_what_was_settled_is_listed_for_a_while(ago_s: float, *, is_there: bool) -> None:
    one = held(
        status=MarketStatus.RESOLVED, outcome=NO, resolves_at=at(-ago_s),
        realized=Micros(-2 * ONE),
    )  # fmt: skip
    rows = of(replace(CALM, closed=(one,)))
    assert len(rows) == is_there
    for need in rows:
        assert (need.key, need.tone, need.glyph, need.money) == (
            f"settled {one.key}", "loss", "▼", -2 * ONE,
        )  # fmt: skip
        assert need.note.startswith("resolved NO; ")
        assert (need.is_dismissable, need.kind) == (True, "positions settled")
    won = replace(one, realized=Micros(1), outcome=YES)
    for need in of(replace(CALM, closed=(won,))):
        assert (need.tone, need.glyph, need.note[:12]) == ("profit", "▲", "resolved YES")
    # NO has won as well where it is the outcome.
    for need in of(replace(CALM, closed=(replace(won, side=Side.NO, outcome=NO),))):
        assert (need.tone, need.note[:11]) == ("profit", "resolved NO")
    even = replace(one, realized=Micros(0), outcome=VOID)
    for need in of(replace(CALM, closed=(even,))):
        assert (need.tone, need.glyph, need.note[:13]) == ("muted", "·", "resolved void")
    for need in of(replace(CALM, closed=(one,), preferences={"privacy": "on"})):
        assert "2.00" not in need.figure.plain
    for nothing in ({"shares": Micros(0)}, {"outcome": None}, {"resolves_at": None}):
        assert of(replace(CALM, closed=(replace(one, **nothing),))) == []


# -- alerts -------------------------------------------------------------------------------------


def with_alerts(*alerts: Any, **other: Any) -> DeskState:
    return replace(CALM, risk=replace(CALM.risk, alerts=alerts), **other)


@pytest.mark.parametrize(
    ("left_s", "last"), [(LAST_S + 1, False), (LAST_S, True), (1, True), (0, False)]
)
def test_an_alert_is_red_in_its_last_minutes(left_s: float, *, last: bool) -> None:
    alert = alert_of(expires_at=at(left_s))
    assert is_last(alert, NOW) is last
    (one,) = of(with_alerts(alert))
    assert (one.is_last, one.word, one.glyph) == (
        (True, "LAST 10m", "!") if last else (False, "alert", "▼")
    )
    assert (one.left_s, one.act, one.row, one.screen) == (
        left_s, "monitors.exit", alert.alert_id, "monitors",
    )  # fmt: skip
    state = with_alerts(alert)
    assert last_alerts(state, NOW) == (frozenset({alert.exit_name}) if last else frozenset())
    assert last_alerts(replace(state, from_cache=True), NOW) == frozenset()


def test_what_is_at_stake_is_what_a_sale_would_bring_now_else_at_the_trigger() -> None:
    alert = alert_of(trigger_price=0.25, shares=Micros(8 * ONE))
    (one,) = of(with_alerts(alert))
    assert one.money == 2 * ONE
    (unknown,) = of(with_alerts(replace(alert, trigger_price=None)))
    assert unknown.money is None
    known = held(
        market_id=alert.market_id, side=alert.side, venue=alert.venue, exit_value=Micros(3 * ONE)
    )
    needs = [row for row in of(with_alerts(alert, positions=(known,), markets={}))
             if row.screen == "monitors"]  # fmt: skip
    assert [row.money for row in needs] == [3 * ONE]


@pytest.mark.parametrize(
    ("venue", "real"), [(Venue.SIM, False), (Venue.EVM, True), (Venue.SOL, True)]
)
@pytest.mark.parametrize("state", list(AlertState))
def test_an_alert_that_sold_nothing_is_listed_for_a_day(
    state: AlertState, venue: Venue, *, real: bool
) -> None:
    alert = alert_of(state=state, venue=venue, expires_at=at(-UNSOLD_FOR_S))
    rows = of(with_alerts(alert))
    unsold = state in {AlertState.EXPIRED, AlertState.MISSED}
    assert len(rows) == (unsold or state.is_open)
    assert all(one.is_real is real for one in rows)
    if unsold:
        (one,) = rows
        assert (one.word, one.tone, one.otherwise) == (
            state.value, "loss", "the position stays open",
        )  # fmt: skip
        assert (one.row, one.is_dismissable) == (alert.alert_id, True)
        assert one.note.startswith("nothing sold; ")
        assert one.figure == formats.age(alert.expires_at, NOW)
        assert one.figure.plain
        assert of(with_alerts(replace(alert, expires_at=at(-UNSOLD_FOR_S - 1)))) == []


@pytest.mark.parametrize(
    ("age_s", "tone", "left_s"),
    [(BRIEFED_WITHIN_S, "warn", None), (BRIEFED_WITHIN_S + 1, "breach", 0.0), (None, "warn", None)],
)
def test_a_briefing_that_is_late_is_told_and_overdue_after_half_an_hour(
    age_s: float | None, tone: str, left_s: float | None
) -> None:
    seen = {} if age_s is None else {Topic.BRIEFING: at(-age_s)}
    risk = replace(CALM.risk, briefing_late="late by 9 min")
    (one,) = of(replace(CALM, risk=risk, seen=seen))
    assert (one.key, one.tone, one.left_s, one.what) == ("briefing", tone, left_s, "late by 9 min")
    assert (one.act, one.screen) == ("app.refresh", "settings")


@pytest.mark.parametrize(
    ("ago_s", "is_there"),
    [(0, True), (PRICE_ALERT_LISTED_S, True), (PRICE_ALERT_LISTED_S + 1, False), (None, False)],
)
def test_a_price_alert_is_listed_for_an_hour_after_it_fired(
    ago_s: float | None, *, is_there: bool
) -> None:
    alert = price_alert_of(triggered_at=None if ago_s is None else at(-ago_s), triggered_price=0.61)
    rows = of(replace(CALM, risk=replace(CALM.risk, price_alerts=(alert,))))
    assert len(rows) == is_there
    for one in rows:
        assert (one.key, one.row, one.kind) == (
            f"price {alert.alert_id}", alert.alert_id, "price alerts fired",
        )  # fmt: skip
        assert "0.61" in one.figure.plain
        assert one.what.startswith(alert.describe())


# -- signals ------------------------------------------------------------------------------------


REACTOR = reactor(BASE)


def with_signals(**other: Any) -> DeskState:
    pending = next(one for one in REACTOR.signals if one.state is SignalState.PENDING)
    signal = replace(pending, expires_at=at(30), price_now=None)
    view = replace(REACTOR, signals=(signal,), breaker=BreakerView(), choices={}, **other)
    return replace(CALM, reactor=view)


def test_a_signal_that_waits_for_the_person_is_listed_until_it_expires() -> None:
    state = with_signals()
    (signal,) = state.reactor.signals
    (one,) = of(state)
    assert (one.key, one.row, one.act, one.money) == (
        f"signal {signal.signal_id}", signal.signal_id, "reactor.mirror", signal.amount,
    )  # fmt: skip
    assert (one.left_s, one.note, one.otherwise) == (30, "", "expires")
    dear = replace(signal, price_now=signal.price_max + 0.01)
    (told,) = of(replace(state, reactor=replace(state.reactor, signals=(dear,))))
    assert told.note == "price above the mirror limit"
    assert waiting_signals(state, at(30)) == ()
    for policy, count in ((Policy.AUTO, 0), (Policy.OFF, 0), (Policy.ASK, 1)):
        chosen = {signal.wallet: WalletChoice(signal.wallet, policy=policy)}
        view = replace(state.reactor, choices=chosen)
        assert len(waiting_signals(replace(state, reactor=view), NOW)) == count


@pytest.mark.parametrize("resets_at", [None, at(90)])
def test_a_breaker_that_holds_signals_back_is_told_until_it_resets(
    resets_at: Timestamp | None,
) -> None:
    state = with_signals()
    view = replace(
        state.reactor, signals=(), breaker=BreakerView(3, paused_at=NOW, resets_at=resets_at)
    )
    (one,) = of(replace(state, reactor=view))
    assert (one.key, one.act, one.screen, one.left_s) == (
        "breaker", "reactor.reset", "reactor", None if resets_at is None else 90,
    )  # fmt: skip
    assert of(replace(state, reactor=replace(view, barred="no plan"))) == []
    later = [need.key for need in of(replace(state, reactor=view), at(91))]
    assert later == ([] if resets_at else ["breaker"])


# -- agents -------------------------------------------------------------------------------------


@pytest.mark.parametrize("privacy", ["on", "off"])
def test_an_agent_without_cash_is_listed_with_what_it_has_left(privacy: str) -> None:
    assert BASE.fleet is not None
    agent = replace(BASE.fleet.agents[0], status=AgentStatus.BROKE, cash=Micros(31 * ONE // 100))
    fleet = replace(BASE.fleet, agents=(agent,))
    state = replace(BASE, preferences={"privacy": privacy}, fleet=fleet)
    (one,) = (need for need in of_fleet(state, NOW) if need.row == agent.agent_id)
    assert (one.key, one.row, one.word) == (f"broke {agent.agent_id}", agent.agent_id, "broke")
    assert ("0.31" in one.figure.plain) is (privacy == "off")


@pytest.mark.parametrize("is_own", [True, False])
def test_an_agent_not_approved_for_real_money_needs_nobody(*, is_own: bool) -> None:
    assert BASE.fleet is not None
    agent = replace(
        BASE.fleet.agents[0], status=AgentStatus.UNCLAIMED, claimed=False, is_own=is_own
    )
    found = of_fleet(replace(BASE, fleet=replace(BASE.fleet, agents=(agent,))), NOW)
    assert [one.key for one in found if one.row == agent.agent_id] == []


# -- budgets ------------------------------------------------------------------------------------


def test_a_budget_that_is_nearly_spent_names_its_agent_its_skill_and_what_is_left() -> None:
    assert BASE.fleet is not None
    known = BASE.fleet.agents[1]
    leashes = (
        leash_of(known.agent_id, skill_slug="gauge"), leash_of("a-gone"),
        leash_of("a-calm", spent=Micros(80 * ONE)), leash_of("a-free", budget=None),
    )  # fmt: skip
    alone = replace(BASE.supervision, pending_trades=(), needs=(), runs=(), leashes=leashes)
    rows = [
        one
        for one in of_fleet(replace(BASE, supervision=alone), NOW)
        if one.key.startswith("budget ")
    ]
    assert [(one.row, one.screen, one.money) for one in rows] == [
        (known.agent_id, "agents", 100 * ONE), ("a-gone", "agents", 100 * ONE),
    ]  # fmt: skip
    assert (rows[0].agent, rows[0].verb) == (known.name, "Raise budget")
    assert rows[0].what == "gauge: daily budget nearly spent"
    # An agent that is not listed has its id for a name.
    assert (rows[1].agent, rows[1].what) == ("a-gone", "daily budget nearly spent")
