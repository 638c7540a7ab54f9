"""The buy that mirrors a signal: what it is, how much of it, and when it is not placed."""

from dataclasses import replace
from typing import Any

import pytest

from kit.samples.desk import NOW, sample_state
from kit.samples.reactor import reactor
from service_tui.desk.commands.trading import PlaceTrade
from service_tui.desk.reactor.mirror_order import (
    MIRROR,
    MIRROR_SKILL,
    SOURCE,
    cap_of,
    cut_to_day,
    cut_to_shares,
    once_of,
    order_of,
    reaction_of,
    request_of_mirror,
    ticket_id_of,
    ticket_of_mirror,
    why_never,
    why_not_now,
)
from service_tui.desk.slices.buy_limits import SkillDaySpend
from service_tui.desk.slices.reactor import BreakerView, SignalView, to_spend
from service_tui.desk.slices.tickets import NO_TRACE, TicketState, TicketView
from service_tui.desk.slices.topics import Topic
from service_tui.desk.state import DeskState
from service_tui.terms import Action, Side, Venue
from service_tui.units import ONE, Micros, Timestamp

BASE = sample_state(12)
WALLET = "0x" + "1a" * 20
TX = "0x" + "2b" * 32
SIGNAL = SignalView(
    signal_id="s-1",
    tx_hash=TX,
    wallet=WALLET,
    label="ada",
    market_id="m-00001",
    question="Will it?",
    side=Side.NO,
    venue=Venue.SIM,
    size=Micros(120 * ONE),
    price=0.41,
    amount=Micros(8 * ONE),
    price_max=0.44,
    at=Timestamp(NOW - 5),
    expires_at=Timestamp(NOW + 60),
    detail="why it ended",
    name="event-7",
)


def desk(*tickets: TicketView, **config: Any) -> DeskState:
    known = reactor(BASE)
    assert known.config is not None
    given = {"wallets": (WALLET,), "min_size": Micros(120 * ONE), "venue": Venue.SIM, **config}
    whole = replace(
        known,
        barred="",
        config=replace(known.config, **given),
        breaker=BreakerView(),
    )
    limits = replace(BASE.buy_limits, skill_day_max=None)
    seen = {**BASE.seen, Topic.REACTOR: Timestamp(NOW - 10)}
    return replace(BASE, reactor=whole, tickets=tickets, buy_limits=limits, seen=seen)


def mirror(
    amount: int, state: TicketState = TicketState.DONE, age_s: float = 0, **other: Any
) -> TicketView:
    row = ticket_of_mirror(SIGNAL, Timestamp(NOW - age_s))
    return replace(row, amount=Micros(amount * ONE), state=state, **other)


@pytest.mark.parametrize(
    ("now", "amount"),
    [
        (0.20, 2_400_000),
        (0.4167, 5_000_000),
        (0.41, 8_000_000),
        (0.43, 8_000_000),
        (None, 8_000_000),
    ],
)
def test_a_mirror_spends_no_more_than_its_shares_cost_now(now: float | None, amount: int) -> None:
    state = desk(mirror_fraction=0.1, max_size=Micros(50 * ONE))
    elsewhere = replace(state, service=replace(state.service, embedded=False))
    signal = replace(SIGNAL, price_now=now, price=0.41 if now != 0.4167 else 0.67)
    assert cut_to_shares(elsewhere, signal).amount == amount
    # The embedded service bounds the shares itself, to the last one.
    embedded = replace(state, service=replace(state.service, embedded=True))
    assert cut_to_shares(embedded, signal) == signal
    # What it will spend is the same on both.
    if now is not None and now < signal.price:
        assert to_spend(state.reactor.config, signal, now) == amount
    assert to_spend(None, signal, now) == to_spend(state.reactor.config, signal, None)


# -- what is bought -----------------------------------------------------------------------------


def test_a_mirror_buys_what_the_signal_says_and_names_its_wallet() -> None:
    assert order_of(SIGNAL) == PlaceTrade(
        market_id="m-00001",
        side=Side.NO,
        action=Action.BUY,
        venue=Venue.SIM,
        amount=Micros(8 * ONE),
        reasoning="mirror of ada",
        question="Will it?",
    )
    assert order_of(replace(SIGNAL, label="")).reasoning == f"mirror of {WALLET}"


def test_a_mirror_has_one_name_for_ever_in_its_row_its_order_and_its_key() -> None:
    name = ticket_id_of(SIGNAL)
    assert len(name) == len(MIRROR) + 1 + 32
    assert ticket_id_of(replace(SIGNAL, label="x", amount=Micros(1))) == name
    assert ticket_id_of(replace(SIGNAL, signal_id="s-2")) != name
    assert once_of(SIGNAL) == f"{MIRROR}:s-1"
    row = ticket_of_mirror(SIGNAL, NOW)
    assert row == TicketView(
        ticket_id=name,
        kind=MIRROR,
        market_id="m-00001",
        what=f"mirror ada: {order_of(SIGNAL).describe()}",
        state=TicketState.QUEUED,
        opened_at=NOW,
        client_ref=name,
        amount=Micros(8 * ONE),
        question="Will it?",
        holding="m-00001:no",
        venue=Venue.SIM,
    )
    unnamed = ticket_of_mirror(replace(SIGNAL, label=""), NOW)
    assert unnamed.what.startswith(f"mirror {WALLET[:8]}: ")


def test_a_mirror_is_sent_within_its_bound_with_all_that_the_signal_was() -> None:
    request = request_of_mirror(SIGNAL)
    assert (request.market_id, request.side, request.action) == ("m-00001", Side.NO, Action.BUY)
    assert (request.amount, request.price, request.venue) == (8.0, 0.44, Venue.SIM)
    assert (request.source, request.skill_slug) == (SOURCE, MIRROR_SKILL)
    assert request.reasoning == "mirror of ada"
    assert request.signal_data == {
        "signal_source": MIRROR_SKILL,
        "tx_hash": TX,
        "whale_wallet": WALLET,
        "whale_side": "BUY",
        "whale_size": 120.0,
        "whale_price": 0.41,
        "client_ref": ticket_id_of(SIGNAL),
        "signal_id": "event-7",
    }
    for name in ("", TX):
        assert "signal_id" not in (request_of_mirror(replace(SIGNAL, name=name)).signal_data or {})


def test_the_end_of_a_signal_is_reported_with_its_own_figures() -> None:
    body = reaction_of(SIGNAL, "skipped_filter", "tr-1").model_dump()
    expected = {
        "event_tx_hash": TX,
        "decision": "skipped_filter",
        "taker_wallet": WALLET,
        "taker_side": "BUY",
        "taker_price": 0.41,
        "taker_size": 120.0,
        "market_title": "Will it?",
        "outcome": "No",
        "trade_id": "tr-1",
        "reason": "why it ended",
        "signal_id": "event-7",
    }
    assert {name: body[name] for name in expected} == expected
    bare = reaction_of(replace(SIGNAL, name="", question="", detail=""), "skipped_filter")
    assert (bare.trade_id, bare.reason, bare.market_title, bare.signal_id) == (None, None, None, TX)


# -- how much -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("left", "spent", "amount"),
    [
        (None, (), 8 * ONE),
        (8 * ONE, (), 8 * ONE),
        (5 * ONE + 19_999, (), 5 * ONE + 10_000),
        (0, (), 8 * ONE),
        (9_999, (), 8 * ONE),
        (10 * ONE, (mirror(4),), 6 * ONE),
        (10 * ONE, (mirror(4, age_s=11),), 8 * ONE),
        (10 * ONE, (mirror(4, age_s=10),), 6 * ONE),
        (10 * ONE, (mirror(4, TicketState.UNKNOWN, age_s=500),), 6 * ONE),
        (10 * ONE, (mirror(4, TicketState.UNKNOWN, outcome=NO_TRACE),), 8 * ONE),
        (10 * ONE, (mirror(4, TicketState.REFUSED),), 8 * ONE),
        (10 * ONE, (mirror(4, TicketState.FAILED),), 8 * ONE),
        (10 * ONE, (mirror(4, kind="trade"),), 8 * ONE),
        (10 * ONE, (mirror(4), mirror(5)), ONE),
    ],
)
def test_a_mirror_is_cut_to_what_the_day_leaves(
    left: int | None, spent: tuple[TicketView, ...], amount: int
) -> None:
    state = desk(*spent)
    day_left = None if left is None else Micros(left)
    config = state.reactor.config
    assert config is not None
    shown = replace(state, reactor=_with_left(state, day_left))
    assert cut_to_day(shown, SIGNAL) == replace(SIGNAL, amount=Micros(amount))


def _with_left(state: DeskState, left: Micros | None) -> Any:
    known = state.reactor
    assert known.config is not None
    spent = None if left is None else Micros(known.config.daily_cap - left)
    return replace(known, day_spent=spent)


# -- when not -----------------------------------------------------------------------------------


def test_what_is_not_followed_or_too_small_is_never_mirrored_by_itself() -> None:
    state = desk()
    assert why_never(state, SIGNAL) == ""
    assert why_never(state, replace(SIGNAL, wallet="0xother")) == "wallet not on the watchlist"
    small = replace(SIGNAL, size=Micros(120 * ONE - 1))
    assert why_never(state, small) == "below the min size of 120.00 shares"
    nothing = replace(state, reactor=replace(state.reactor, config=None))
    assert why_never(nothing, small) == ""


@pytest.mark.parametrize(("late_s", "text"), [(59.9, ""), (60.0, "signal expired")])
def test_a_signal_is_mirrored_before_it_expires(late_s: float, text: str) -> None:
    reason = why_not_now(desk(), SIGNAL, Timestamp(NOW + late_s))
    assert ("" if reason is None else reason.text) == text


def test_an_open_breaker_holds_signals_back_until_it_closes() -> None:
    state, until = desk(), Timestamp(NOW + 5)
    breaker = BreakerView(5, paused_at=NOW, resets_at=until)
    paused = replace(state, reactor=replace(state.reactor, breaker=breaker))
    reason = why_not_now(paused, SIGNAL, Timestamp(NOW + 4.9))
    assert reason is not None
    assert reason.text == "circuit breaker open"
    assert why_not_now(paused, SIGNAL, until) is None
    endless = replace(breaker, resets_at=None)
    assert endless.is_paused(Timestamp(NOW + 9_999))
    assert not BreakerView(5).is_paused(NOW)


def test_what_keeps_a_signal_from_being_mirrored_now_is_named() -> None:
    state = desk()
    other = why_not_now(desk(venue=Venue.EVM), SIGNAL, NOW)
    assert other is not None
    assert other.text == "signal on sim, reactor set to evm_venue"
    barred = replace(state, reactor=replace(state.reactor, barred="no reactor here"))
    reason = why_not_now(barred, SIGNAL, NOW)
    assert reason is not None
    assert reason.text == "no reactor here"
    unread = replace(state, reactor=replace(state.reactor, config=None))
    reason = why_not_now(unread, SIGNAL, NOW)
    assert reason is not None
    assert reason.text == "reactor config not loaded yet"


@pytest.mark.parametrize(
    ("reported", "ticket", "left"),
    [
        (12, None, None),
        (13, None, "7.00"),
        (0, None, None),
        (10, mirror(3, age_s=-1), "7.00"),
        (10, mirror(3, age_s=1), None),
        (30, None, "0.00"),
    ],
)
def test_a_mirror_keeps_within_the_days_budget_of_its_skill(
    reported: int, ticket: TicketView | None, left: str | None
) -> None:
    state = desk(*(() if ticket is None else (ticket,)))
    skills = (
        SkillDaySpend(MIRROR_SKILL, Micros(reported * ONE)),
        SkillDaySpend("another", Micros(500 * ONE)),
    )
    limits = replace(state.buy_limits, at=NOW, skill_day_max=Micros(20 * ONE), skills=skills)
    reason = why_not_now(replace(state, buy_limits=limits), SIGNAL, NOW)
    if left is None:
        assert reason is None
    else:
        assert reason is not None
        assert reason.text == f"skill {MIRROR_SKILL!r}: only {left} of its daily budget left"


def test_the_cap_of_the_day_is_the_configs_and_unknown_without_one() -> None:
    cap = cap_of(desk(daily_cap=Micros(70 * ONE)), NOW)
    assert cap is not None
    assert (cap.max_micros, cap.kind) == (70 * ONE, MIRROR)
    assert cap.since <= NOW
    assert cap_of(replace(BASE, reactor=replace(BASE.reactor, config=None)), NOW) is None
