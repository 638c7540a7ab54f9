"""The worst price of an approval: what is offered, what is typed, and who holds the other side."""

from dataclasses import replace

import pytest

from kit.samples.desk import sample_state
from kit.samples.fleet import fleet_state, pending_trade_of
from service_tui.console.fields import FieldError
from service_tui.console.forms.approval_bound import (
    bound_as_typed,
    first_bound,
    is_beyond,
    other_side_text,
    read_bound,
)
from service_tui.desk.slices.supervision import OtherSideView
from service_tui.terms import Action, Side, Venue
from service_tui.units import Micros

STATE = sample_state()
MINE = STATE.positions[0]
SHARES = Micros(30_210_000)


@pytest.mark.parametrize(
    ("fields", "bound"),
    [
        ({"price_limit": 0.47, "asked": 0.4}, 0.47),
        ({"asked": 0.4}, 0.408),
        ({"asked": 0.4, "action": Action.SELL}, 0.392),
        # Nobody wrote down what it cost when it was requested: the price of now.
        ({"asked": None, "average": 0.5, "price": 0.45}, 0.51),
        ({"asked": None, "average": None, "price": 0.45}, 0.459),
        ({"asked": None, "average": None, "price": None}, None),
        ({"asked": 0.995}, 0.999),
    ],
)
def test_the_offered_price_is_the_own_limit_or_what_was_seen_and_a_little(
    fields: dict[str, float], bound: float | None
) -> None:
    assert first_bound(pending_trade_of(**fields)) == bound


def test_a_price_is_read_as_it_is_written() -> None:
    assert read_bound(bound_as_typed(0.4284)) == 0.4284
    assert (read_bound(" "), bound_as_typed(None)) == (None, "")


@pytest.mark.parametrize("text", ["0", "1", "-0.4", "0.47555", "nan", "47", "0,47", "off"])
def test_what_is_no_price_is_refused_with_the_fix(text: str) -> None:
    with pytest.raises(FieldError, match="price"):
        read_bound(text)


@pytest.mark.parametrize(
    ("action", "bound", "beyond"),
    [
        (Action.BUY, 0.42, False),
        (Action.BUY, 0.4199, True),
        (Action.SELL, 0.42, False),
        (Action.SELL, 0.4201, True),
        (Action.BUY, None, False),
    ],
)
def test_the_price_of_now_is_the_average_of_the_whole(
    action: Action, bound: float | None, *, beyond: bool
) -> None:
    assert is_beyond(pending_trade_of(action=action, average=0.42), bound) is beyond


def test_who_holds_the_other_side_is_named_and_you_first() -> None:
    state = fleet_state()
    assert state.fleet is not None
    own = next(one for one in state.fleet.agents if one.is_own)
    others = (
        OtherSideView("a-9", "heron", Micros(5_000_000)),
        OtherSideView(own.agent_id, own.name, SHARES),
    )
    trade = pending_trade_of(side=Side.NO, other_side=others)
    shown = other_side_text(trade, state).plain
    assert shown == "you hold YES 30.21, heron holds YES 5.00"
    assert other_side_text(pending_trade_of(), state).plain == ""
    private = replace(state, preferences={**state.preferences, "privacy": "on"})
    assert "30.21" not in other_side_text(trade, private).plain


def test_without_word_of_the_service_your_own_positions_count() -> None:
    trade = pending_trade_of(market_id=MINE.market_id, side=MINE.side.other, venue=MINE.venue)
    assert other_side_text(trade, STATE).plain.startswith(f"you hold {MINE.side.value.upper()} ")
    same = replace(trade, side=MINE.side)
    assert "you hold" not in other_side_text(same, replace(STATE, positions=(MINE,))).plain
    other_venue = Venue.SOL if MINE.venue is not Venue.SOL else Venue.SIM
    assert other_side_text(replace(trade, venue=other_venue), STATE).plain == ""
