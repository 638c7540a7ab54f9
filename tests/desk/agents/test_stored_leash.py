"""What a leash that the desk keeps itself lets pass, holds, refuses and remembers."""

from dataclasses import replace
from typing import Any

import pytest

from service_tui.desk.agents.stored_leash import (
    DAY_S,
    DEADLINE,
    DECIDED_KEPT,
    NO_REASON,
    REFUSED_S,
    LeashRefusal,
    StoredLeash,
)
from service_tui.desk.slices.supervision import LeashView, PendingTradeView
from service_tui.terms import PENDING_SHOWN, Action, LeashMode, PendingStatus, Side, Venue
from service_tui.units import ONE, Micros, Timestamp
from service_tui.wire.trades import TradeRequest

DAY = 20_000
NOW = Timestamp(DAY * DAY_S + 1_000.0)
FIVE = Micros(5 * ONE)


def at(seconds: float) -> Timestamp:
    return Timestamp(NOW + seconds)


def leash(mode: LeashMode = LeashMode.ASK, **other: Any) -> StoredLeash:
    given = {"threshold": FIVE, "budget": Micros(100 * ONE), "wait_s": 90, **other}
    return StoredLeash("a-2", "heron", "gauge", mode, **given)


def order(amount: float = 8.0, **other: Any) -> TradeRequest:
    given = {"market_id": "m1", "side": Side.NO, "action": Action.BUY, "amount": amount, **other}
    return TradeRequest(**given)


def code(verdict: object) -> object:
    return verdict.code if isinstance(verdict, LeashRefusal) else verdict


# -- what passes --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("mode", "buy", "sale", "quote"),
    [
        (LeashMode.OBSERVE, "LEASH_OBSERVE", "LEASH_OBSERVE", True),
        (LeashMode.ASK, False, True, True),
        (LeashMode.AUTO, True, True, True),
    ],
)
def test_each_mode_lets_pass_what_it_says(
    mode: LeashMode, buy: object, sale: object, *, quote: bool
) -> None:
    on, size = leash(mode), Micros(8 * ONE)
    assert code(on.check(order(), size, NOW)) == buy
    # A sale is never held back, whatever size it names.
    sold = order(0.0, action=Action.SELL, shares=4.0)
    assert code(on.check(sold, Micros(500 * ONE), NOW)) == sale
    assert code(on.check(order(dry_run=True), size, NOW)) == quote


def test_a_buy_waits_above_the_threshold_and_passes_at_it() -> None:
    on = leash()
    assert on.check(order(), FIVE, NOW) is True
    assert on.check(order(), Micros(FIVE + 1), NOW) is False


@pytest.mark.parametrize("mode", [LeashMode.ASK, LeashMode.AUTO])
def test_a_buy_fits_the_budget_to_the_last_micro(mode: LeashMode) -> None:
    on = leash(mode, threshold=Micros(1_000 * ONE), day=DAY, spent=Micros(96 * ONE))
    assert on.check(order(), Micros(4 * ONE), NOW) is True
    no = on.check(order(), Micros(4 * ONE + 1), NOW)
    assert no == LeashRefusal(
        "LEASH_BUDGET",
        "daily budget of skill gauge reached: 100.00, 96.00 spent",
        "wait for midnight UTC, or request a larger budget",
    )
    on.budget = None
    assert on.check(order(), Micros(900 * ONE), NOW) is True


def test_a_budget_of_nothing_lets_nothing_be_bought() -> None:
    no = leash(budget=Micros(0)).check(order(), Micros(1), NOW)
    assert isinstance(no, LeashRefusal)
    assert no.text == "daily budget of skill gauge reached: 0.00, 0.00 spent"


def test_an_order_that_is_signed_cannot_wait() -> None:
    signed = order().model_copy(update={"signed_order": object()})
    assert code(leash().check(signed, Micros(8 * ONE), NOW)) == "CANNOT_WAIT"
    assert leash().check(signed, FIVE, NOW) is True


def test_no_more_trades_wait_than_are_shown() -> None:
    on = leash()
    for _ in range(PENDING_SHOWN - 1):
        on.let_wait(order(), FIVE, {}, NOW)
    assert on.check(order(), Micros(8 * ONE), NOW) is False
    on.let_wait(order(), FIVE, {}, NOW)
    assert code(on.check(order(), Micros(8 * ONE), NOW)) == "TOO_MANY_HELD"


@pytest.mark.parametrize(
    ("later_s", "other", "status", "verdict"),
    [
        (0.0, {}, PendingStatus.REFUSED, "REFUSED_BEFORE"),
        (REFUSED_S - 0.5, {}, PendingStatus.REFUSED, "REFUSED_BEFORE"),
        (REFUSED_S, {}, PendingStatus.REFUSED, False),
        (-1.0, {}, PendingStatus.REFUSED, False),
        (1.0, {"side": Side.YES}, PendingStatus.REFUSED, False),
        (1.0, {"market_id": "m2"}, PendingStatus.REFUSED, False),
        (1.0, {"venue": Venue.EVM}, PendingStatus.REFUSED, False),
        (1.0, {}, PendingStatus.EXPIRED, False),
        (1.0, {}, PendingStatus.APPROVED, False),
    ],
)
def test_a_no_of_the_operator_stands_for_an_hour_for_the_same_trade(
    later_s: float, other: dict[str, object], status: PendingStatus, verdict: object
) -> None:
    on = leash()
    pending = on.let_wait(order(), Micros(8 * ONE), {}, NOW)
    on.end(on.take(pending.pending_id).view, status, "no", NOW)  # type: ignore[union-attr]
    assert code(on.check(order(**other), Micros(8 * ONE), at(later_s))) == verdict


# -- what waits ---------------------------------------------------------------------------------


def test_a_trade_that_waits_is_shown_as_it_was_asked_for() -> None:
    on, body = leash(), {"market_id": "m1", "amount": 8.0}
    asked = order(
        8.0,
        venue=Venue.EVM,
        price=0.44,
        reasoning="the gauge rises",
        source="sdk:gauge",
        signal_data={"edge": 0.06},
    )
    pending = on.let_wait(asked, Micros(8 * ONE), body, NOW)
    assert pending == PendingTradeView(
        pending_id="a-2-h1",
        agent_id="a-2",
        agent_name="heron",
        status=PendingStatus.WAITING,
        market_id="m1",
        question="m1",
        venue=Venue.EVM,
        side=Side.NO,
        action=Action.BUY,
        amount=Micros(8 * ONE),
        shares=Micros(0),
        price_limit=0.44,
        price=None,
        average=None,
        reasoning="the gauge rises",
        source="sdk:gauge",
        skill_slug="gauge",
        signal_data={"edge": 0.06},
        created_at=NOW,
        expires_at=at(90),
    )
    assert (on.waiting["a-2-h1"].view, on.waiting["a-2-h1"].body) == (pending, body)
    bare = on.let_wait(order(), FIVE, {}, NOW)
    assert (bare.pending_id, bare.reasoning, bare.source, bare.signal_data) == (
        "a-2-h2",
        "",
        "",
        {},
    )


def test_a_trade_is_taken_once() -> None:
    on = leash()
    pending = on.let_wait(order(), FIVE, {}, NOW)
    taken = on.take(pending.pending_id)
    assert taken is not None
    assert taken.view == pending
    assert on.take(pending.pending_id) is None
    assert on.waiting == {}


def test_a_refusal_keeps_its_reason_and_its_moment() -> None:
    on = leash()
    first, second = on.let_wait(order(), FIVE, {}, NOW), on.let_wait(order(), FIVE, {}, NOW)
    assert on.refuse(first.pending_id, "too early", at(3)) is True
    assert on.refuse(second.pending_id, "", at(4)) is True
    assert on.refuse(first.pending_id, "again", at(5)) is False
    assert on.decided == [
        replace(second, status=PendingStatus.REFUSED, reason=NO_REASON, decided_at=at(4)),
        replace(first, status=PendingStatus.REFUSED, reason="too early", decided_at=at(3)),
    ]


def test_what_was_not_decided_in_time_expires_and_the_rest_waits_on() -> None:
    on = leash()
    first = on.let_wait(order(), FIVE, {}, NOW)
    second = on.let_wait(order(), FIVE, {}, at(1))
    assert on.expire(at(89.5)) is False
    assert set(on.waiting) == {first.pending_id, second.pending_id}
    assert on.expire(at(90)) is True
    assert set(on.waiting) == {second.pending_id}
    assert on.decided == [
        replace(first, status=PendingStatus.EXPIRED, reason=DEADLINE, decided_at=at(90))
    ]
    assert on.expire(at(90.5)) is False


def test_an_approval_comes_too_late_at_the_deadline_or_above_the_budget() -> None:
    on = leash(day=DAY, spent=Micros(95 * ONE))
    pending = on.let_wait(order(), Micros(8 * ONE), {}, NOW)
    assert on.against_approval(pending, FIVE, at(89.5)) is None
    assert on.against_approval(pending, FIVE, at(90)) == (PendingStatus.EXPIRED, DEADLINE)
    no = (PendingStatus.FAILED, "daily budget reached")
    assert on.against_approval(pending, Micros(FIVE + 1), at(1)) == no


def test_an_end_that_is_known_better_takes_the_place_of_the_one_before() -> None:
    on = leash()
    pending, other = on.let_wait(order(), FIVE, {}, NOW), on.let_wait(order(), FIVE, {}, NOW)
    on.end(pending, PendingStatus.UNKNOWN, "no answer", at(1))
    on.end(other, PendingStatus.APPROVED, "approved", at(2), trade_id="t2")
    on.end(pending, PendingStatus.APPROVED, "found", at(3), trade_id="t1")
    assert [(one.pending_id, one.status, one.reason, one.trade_id) for one in on.decided] == [
        (pending.pending_id, PendingStatus.APPROVED, "found", "t1"),
        (other.pending_id, PendingStatus.APPROVED, "approved", "t2"),
    ]
    assert on.is_recorded(pending, PendingStatus.APPROVED, "found")
    assert not on.is_recorded(pending, PendingStatus.APPROVED, "approved")
    assert not on.is_recorded(pending, PendingStatus.UNKNOWN, "found")
    assert not on.is_recorded(other, PendingStatus.APPROVED, "found")


def test_the_oldest_decisions_are_forgotten() -> None:
    on = leash()
    pending = on.let_wait(order(), FIVE, {}, NOW)
    for number in range(DECIDED_KEPT + 1):
        on.end(replace(pending, pending_id=f"h{number}"), PendingStatus.REFUSED, "no", NOW)
    assert [one.pending_id for one in on.decided] == [f"h{n}" for n in range(DECIDED_KEPT, 0, -1)]


# -- what is counted ----------------------------------------------------------------------------


def test_the_leash_is_shown_as_it_was_set_with_what_it_spent_today() -> None:
    on = leash(day=DAY, spent=Micros(7 * ONE))
    assert on.view(NOW) == LeashView(
        "a-2", "gauge", LeashMode.ASK, FIVE, Micros(100 * ONE), 90, Micros(7 * ONE)
    )
    assert on.view(at(DAY_S)).spent == 0
    # A clock that was set back begins no new day.
    assert on.view(at(-DAY_S)).spent == 7 * ONE


def test_money_is_counted_and_given_back_within_its_day() -> None:
    on = leash()
    assert on.count_buy(Micros(9 * ONE), NOW) == 9 * ONE
    assert on.count_buy(Micros(-4 * ONE), NOW) == -4 * ONE
    assert (on.day, on.spent) == (DAY, 5 * ONE)
    # Never below nothing.
    assert on.count_buy(Micros(-9 * ONE), NOW) == -5 * ONE
    assert on.spent == 0


def test_a_buy_that_was_sent_before_midnight_counts_for_the_day_that_is_kept() -> None:
    on = leash(day=DAY + 1, spent=Micros(9 * ONE))
    assert on.count_buy(Micros(1), NOW) == 1
    assert (on.day, on.spent) == (DAY + 1, 9 * ONE + 1)


def test_what_is_given_back_after_midnight_is_not_the_new_days() -> None:
    on = leash(day=DAY + 1, spent=Micros(9 * ONE))
    assert on.count_buy(Micros(-4 * ONE), NOW) == 0
    assert (on.day, on.spent) == (DAY + 1, 9 * ONE)


def test_a_new_day_begins_at_nothing_and_an_old_clock_does_not_end_it() -> None:
    on = leash(day=DAY, spent=Micros(9 * ONE))
    assert on.count_buy(FIVE, at(DAY_S)) == FIVE
    assert (on.day, on.spent) == (DAY + 1, FIVE)
    assert on.count_buy(FIVE, NOW) == FIVE
    assert (on.day, on.spent) == (DAY + 1, 2 * FIVE)
