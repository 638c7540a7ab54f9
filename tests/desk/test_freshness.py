"""How old the known data is, and whether it may be traded on."""

from dataclasses import replace

import pytest

from kit.samples.desk import NOW, sample_state
from service_tui.desk.freshness import (
    TRADED_ON,
    age_s,
    is_answered,
    leashes_known,
    untradable,
)
from service_tui.desk.reasons import Fix, Reason
from service_tui.desk.slices.service import Phase
from service_tui.desk.slices.topics import Topic
from service_tui.desk.state import DeskState
from service_tui.terms import Action
from service_tui.units import Timestamp

STATE = replace(sample_state(8), polls={Topic.MARKETS: 2.0, Topic.ACCOUNT: 10.0})
BUY = TRADED_ON[Action.BUY]


def seen(**other: float) -> DeskState:
    times = {**STATE.seen, **{Topic(name): Timestamp(at) for name, at in other.items()}}
    return replace(STATE, seen=times)


def test_each_order_needs_what_it_takes_from() -> None:
    assert TRADED_ON == {
        Action.BUY: (Topic.MARKETS, Topic.ACCOUNT),
        Action.SELL: (Topic.MARKETS, Topic.POSITIONS),
    }


def test_all_topics_must_have_been_answered() -> None:
    some = replace(STATE, seen={Topic.MARKETS: NOW})
    assert is_answered(some, Topic.MARKETS)
    assert not is_answered(some, Topic.MARKETS, Topic.FLEET)
    assert is_answered(some)


@pytest.mark.parametrize(
    ("embedded", "topics", "known"),
    [(True, (), False), (True, (Topic.FLEET,), True), (False, (), True)],
)
def test_leashes_of_the_embedded_service_are_known_once_it_told_them(
    topics: tuple[Topic, ...], *, embedded: bool, known: bool
) -> None:
    service = replace(STATE.service, embedded=embedded)
    state = replace(STATE, service=service, seen=dict.fromkeys(topics, NOW))
    assert leashes_known(state) is known


def test_an_age_is_a_distance_and_unknown_before_the_first_answer() -> None:
    assert age_s(seen(markets=NOW - 7), Topic.MARKETS, NOW) == 7
    assert age_s(seen(markets=NOW + 7), Topic.MARKETS, NOW) == 7
    assert age_s(replace(STATE, seen={}), Topic.MARKETS, NOW) is None


@pytest.mark.parametrize(
    ("markets_s", "account_s", "reason"),
    [
        (10.0, 50.0, None),
        (10.1, 50.0, "markets 10 s old, too old to trade"),
        (-10.1, 50.0, "markets 10 s old, too old to trade"),
        (10.0, 50.6, "account 51 s old, too old to trade"),
        (99.0, 99.0, "markets 99 s old, too old to trade"),
    ],
)
def test_what_is_older_than_five_of_its_periods_is_not_traded_on(
    markets_s: float, account_s: float, reason: str | None
) -> None:
    state = seen(markets=NOW - markets_s, account=NOW - account_s)
    wanted = None if reason is None else Reason(reason, Fix.READ_NOW)
    assert untradable(state, BUY, NOW) == wanted


def test_what_was_never_read_or_is_not_polled_is_not_traded_on() -> None:
    unread = replace(STATE, seen={Topic.MARKETS: NOW})
    assert untradable(unread, BUY, NOW) == Reason("account not loaded yet", Fix.READ_NOW)
    unpolled = replace(STATE, polls={Topic.MARKETS: 2.0})
    assert untradable(unpolled, BUY, NOW) == Reason("account not loaded yet", Fix.READ_NOW)
    assert untradable(STATE, (), NOW) is None


@pytest.mark.parametrize(
    ("phase", "reason"),
    [
        (Phase.CONNECTING, "still connecting: wait for the first answer"),
        (Phase.OFFLINE, "the service cannot be reached: nothing is sent until it answers"),
        (Phase.UNAUTHORIZED, "the service refuses this key: no trading"),
    ],
)
def test_the_connection_is_told_before_any_age(phase: Phase, reason: str) -> None:
    state = replace(STATE, service=replace(STATE.service, phase=phase), seen={}, from_cache=True)
    assert untradable(state, BUY, NOW) == Reason(reason)
    bare = replace(state, service=replace(state.service, read_only=True))
    why = Reason("this desk is read-only: no orders", Fix.WRITABLE_DESK)
    assert untradable(bare, BUY, NOW) == why


def test_what_the_last_session_knew_is_not_traded_on() -> None:
    state = replace(STATE, from_cache=True)
    why = Reason("data from the last session: wait for the first answer")
    assert untradable(state, BUY, NOW) == why
