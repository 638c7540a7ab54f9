"""Parts of a briefing: what needs attention, what is new, and how an agent does."""

from datetime import UTC, datetime
from typing import Any

import pytest

from kit.engine.bare import AT, HOUR, bare_world, listed
from service_tui.engine.position import Position
from service_tui.server.results.by_source import SourceSums
from service_tui.server.routes import briefing
from service_tui.terms import Venue
from service_tui.units import ONE, Micros, Timestamp
from service_tui.wire.base import moment
from service_tui.wire.positions import PositionBody, PositionSideBody

NOW = datetime.fromtimestamp(AT, UTC)


def held(cost: float, value: float, left_s: float | None = 9e6) -> PositionBody:
    side: dict[str, Any] = {
        "side": "no", "shares": 7.0, "cost_basis": cost, "avg_cost": None, "mark_price": 0.5,
        "current_value": value, "exit_value": 0.0, "realized_pnl": 0.0, "opened_at": NOW,
        "unrealized_pnl": 0.0,
    }  # fmt: skip
    resolves_at = None if left_s is None else moment(Timestamp(AT + left_s))
    return PositionBody(
        market_id="m1", question="Q?", shares_yes=0.0, shares_no=7.0, current_price=0.4,
        resolves_at=resolves_at, venue=Venue.EVM, sides=(PositionSideBody(**side),),
    )  # fmt: skip


def test_a_position_that_moved_far_is_told_with_its_move() -> None:
    (row,) = briefing._venue_attention([held(8.0, 4.0, None)], NOW)
    assert row.model_dump(exclude_defaults=True) == {
        "market_id": "m1",
        "question": "Q?",
        "side": "no",
        "shares": 7.0,
        "current_price": 0.4,
        "pnl": -4.0,
        "move_pct": -0.5,
    }


MOVE, SOON_S = briefing.MOVE_PCT, briefing.SOON_S


@pytest.mark.parametrize(
    ("value", "left_s", "is_told"),
    [
        (8.0, SOON_S, False),
        (8.0, SOON_S - 1, True),
        (8.0 * (1 + MOVE), 9e6, False),
        (8.0 * (1 + MOVE) + 0.01, 9e6, True),
        (8.0 * (1 - MOVE) - 0.01, 9e6, True),
    ],
)
def test_attention_is_for_what_moved_far_or_ends_soon(
    *, value: float, left_s: float, is_told: bool
) -> None:
    assert bool(briefing._venue_attention([held(8.0, value, left_s)], NOW)) is is_told


def test_what_cost_nothing_has_not_moved() -> None:
    (row,) = briefing._venue_attention([held(0.0, 3.0, 60.0)], NOW)
    assert (row.move_pct, row.pnl, row.time_to_resolution) == (0.0, 3.0, "1m")


def test_each_source_has_its_positions_and_all_of_its_result() -> None:
    sums = {"news": SourceSums(2, Micros(9), Micros(3 * ONE), Micros(-ONE), 5)}
    (block,) = briefing._by_skill(sums).values()
    assert (block.positions, block.total_pnl) == (2, 2.0)


def test_new_markets_are_the_open_ones_listed_since_the_newest_first() -> None:
    world = bare_world()
    for name, listed_s, changes in (
        ("old", -61, {}),
        ("first", -60, {}),
        ("last", -10, {"opens_at": AT - 5}),
        ("beside", -10, {"opens_at": AT - 9}),
        ("closed", -5, {"resolves_at": AT}),
    ):
        listed(world, name, **changes).listed_at = Timestamp(AT + listed_s)
    found = briefing._new_markets(world, Timestamp(AT - 60))
    assert [one.market_id for one in found] == ["last", "beside", "first"]
    assert (found[0].question, found[0].time_to_resolution) == ("Does last end well?", "1h 0m")
    assert found[0].opportunity_score == 0.8
    for number in range(briefing.NEW_MAX + 3):
        listed(world, f"m{number}").listed_at = AT
    assert len(briefing._new_markets(world, Timestamp(AT - HOUR))) == briefing.NEW_MAX


def test_an_agent_is_ranked_by_what_it_made() -> None:
    world = bare_world("ada", "bea", "cyd", "dan")
    for name, dollars in (("ada", 500), ("bea", 900), ("cyd", 500), ("dan", -3)):
        world.agents[name].realized = Micros(dollars * ONE)
    ada = world.agents["ada"]
    world.ledger.transfer("issuer", "agent:ada", Micros(500 * ONE))
    ada.win_count, ada.loss_count = 3, 1
    told = briefing._performance(world, ada)
    assert told.model_dump(exclude_defaults=True) == {
        "total_pnl": 500.0,
        "pnl_percent": 5.0,
        "win_rate": 0.75,
        "rank": 2,
        "total_agents": 4,
    }


def test_who_began_with_nothing_has_no_percentage() -> None:
    world = bare_world()
    listed(world)
    agent = world.agents["ada"]
    agent.positions["m1"] = Position("ada", "m1")
    world.ledger.transfer("agent:ada", "issuer", Micros(10_000 * ONE))
    assert briefing._performance(world, agent).pnl_percent is None
