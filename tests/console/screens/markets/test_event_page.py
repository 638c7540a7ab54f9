"""The page of an event by its keys: outcomes, the sum of YES, what a set pays, related markets."""

from dataclasses import replace

import pytest

from kit.console.doors import Running, running, seen_before
from kit.samples.guarded import guarded_state
from service_tui.console.formats import NOT_KNOWN
from service_tui.desk.commands.trading import BuySet
from service_tui.desk.slices.team import TeamView
from service_tui.desk.state import DeskState
from service_tui.terms import Action, PersonRole, Side, Venue
from service_tui.units import ONE, Micros, Probability, Timestamp

BARE = seen_before(guarded_state())


def with_event(depth: Micros | None = Micros(500 * ONE)) -> DeskState:
    """The two most traded open markets as outcomes of one event."""
    ranked = sorted(
        (one for one in BARE.markets.values() if one.is_open), key=lambda one: -(one.volume or 0)
    )
    made = [
        replace(
            one,
            event_id="e-1",
            event_name="Which of [bold]two",
            price=Probability(price),
            liquidity=depth,
        )
        for one, price in zip(ranked[:2], (0.3, 0.4), strict=True)
    ]
    return replace(BARE, markets={**BARE.markets, **{one.market_id: one for one in made}})


async def test_the_page_sums_the_outcomes_and_says_what_is_certain_only_if() -> None:
    async with running(with_event(), first="markets", size=(100, 40)) as seen:
        await seen.press("ctrl+e")
        text = seen.text
        assert "Which of [bold]two" in text
        assert "sum of YES  0.7000  2 outcomes listed" in text
        assert "100 YES of each" in text
        assert "pays 100.00" in text
        assert "Certain only if exactly one" in text
        assert "draws each outcome by itself" in " ".join(text.split())


async def test_the_outcomes_of_a_history_are_not_said_to_be_drawn() -> None:
    state = with_event()
    assert state.world is not None
    recorded = replace(state, world=replace(state.world, history="oslo"))
    async with running(recorded, first="markets", size=(100, 40)) as seen:
        await seen.press("ctrl+e")
        assert "Certain only if exactly one" in seen.text
        assert "draws each outcome" not in " ".join(seen.text.split())


async def test_enter_shows_the_market_under_the_cursor() -> None:
    async with running(with_event(), first="markets", size=(100, 40)) as seen:
        first = seen.app.front.current_row()
        await seen.press("ctrl+e", "k", "enter")
        row = seen.app.front.current_row()
        assert row != first
        assert seen.app.front.state.markets[row].event_id == "e-1"


async def test_where_nobody_says_the_depth_a_set_has_no_price() -> None:
    async with running(with_event(depth=None), first="markets", size=(80, 24)) as seen:
        await seen.press("ctrl+e")
        assert "100 YES of each" in seen.text
        assert f"costs {NOT_KNOWN} $" in seen.text


async def test_a_question_that_stands_alone_says_so() -> None:
    async with running(BARE, first="markets", size=(80, 24)) as seen:
        await seen.press("ctrl+e")
        assert "stands alone" in seen.text


# -- a set ----------------------------------------------------------------------------------------


def sets(seen: Running) -> list[BuySet]:
    return [one for one in seen.doors.submitted if isinstance(one, BuySet)]


async def test_one_question_lists_every_leg_and_the_total_and_enter_buys_them() -> None:
    async with running(with_event(), first="markets", size=(100, 40)) as seen:
        await seen.press("ctrl+e", "b")
        await seen.until(lambda: "Buy a set" in seen.text)
        await seen.press("ctrl+u", *"10")
        assert "total about" in seen.text
        assert "pays 10.00" in seen.text
        assert sum("│  YES " in line for line in seen.lines) == 2
        words = " ".join(seen.text.replace("│", " ").split())
        assert "not filled ends the set" in words
        await seen.press("enter")
        (order,) = sets(seen)
        assert [(leg.side, leg.action, leg.venue) for leg in order.legs] == [
            (Side.YES, Action.BUY, Venue.SIM)
        ] * 2
        # At 0.40 and 0.30, slippage included, in whole cents.
        assert [leg.amount / ONE for leg in order.legs] == [4.03, 3.03]


@pytest.mark.parametrize(
    ("change", "typed", "why"),
    [
        ({}, "0", "Enter a positive amount"),
        ({}, "1e9", "digits"),
        ({}, "100000", "cash left by pending orders"),
        ({"stale": True}, "10", "too old to trade"),
        ({"depth": None}, "10", "the depth of"),
        ({"poor": True}, "100", "more than the cash"),
    ],
)
async def test_what_cannot_be_bought_whole_is_not_begun(
    change: dict[str, object], typed: str, why: str
) -> None:
    state = with_event() if "depth" not in change else with_event(depth=None)
    if change.get("poor"):
        state = replace(state, account=replace(state.account, cash=Micros(75 * ONE)))
    async with running(state, first="markets", size=(100, 40)) as seen:
        await seen.press("ctrl+e", "b", "ctrl+u", *typed)
        if change.get("stale"):
            seen.clock[0] += 3_600
            await seen.bring(replace(state))
        await seen.press("enter")
        assert why in " ".join(seen.text.replace("│", " ").split())
        assert not sets(seen)


async def test_a_question_alone_has_no_set_and_a_replay_and_a_lesser_role_buy_none() -> None:
    async with running(BARE, first="markets", size=(100, 40)) as seen:
        await seen.press("ctrl+e", "b")
        assert "A set has at least two outcomes" in seen.text
    observer = TeamView("ada", PersonRole.OBSERVER, "w")
    for state in (
        replace(with_event(), rewound_to=Timestamp(1.0)),
        replace(with_event(), team=observer),
    ):
        async with running(state, first="markets", size=(100, 40)) as seen:
            await seen.press("ctrl+e", "b", "enter")
            assert not sets(seen)


async def test_masked_amounts_of_a_set_are_masked() -> None:
    state = with_event()
    masked = replace(state, preferences={**state.preferences, "privacy": "on"})
    async with running(masked, first="markets", size=(100, 40)) as seen:
        await seen.press("ctrl+e", "b", "ctrl+u", *"10")
        assert "total about" in seen.text
        assert "4.03" not in seen.text
