"""Questions that are listed in the middle of their life, at the price of the tape's time."""

import pytest

from kit.engine.topics import TOPICS
from service_tui.engine.agents.agents import Agent
from service_tui.engine.books.catalogue import importable_at
from service_tui.engine.errors import DayImports
from service_tui.engine.events import AgentRegistered, Ticked
from service_tui.engine.importing import import_listings
from service_tui.engine.limits import PLANS
from service_tui.engine.tape.belief import belief
from service_tui.engine.tick import advance
from service_tui.engine.world import World
from service_tui.terms import Plan
from service_tui.units import ONE, Micros, Timestamp

AT = Timestamp(1_800_000_000.0)


def ahead() -> tuple[World, Agent]:
    """A world whose tape is some hours ahead of the wall, and an agent of it."""
    world = World(7, AT, TOPICS)
    advance(world, AT)
    world.did([Ticked(AT, Timestamp(AT + 7_200), ())])
    registered = AgentRegistered("ada", AT, "ada", "", "hash", "reef", Plan.FREE, Micros(ONE))
    world.register(registered)
    return world, world.agents["ada"]


@pytest.mark.slow
def test_an_imported_market_opens_at_the_price_of_the_tapes_time() -> None:
    world, agent = ahead()
    at = Timestamp(world.at + 1)
    assert world.world_at - at > 3_600
    moved = (
        one
        for one in importable_at(world.tape, world.world_at)
        if abs(belief(one, world.world_at) - belief(one, at)) > 0.02
    )
    listing = next(moved)
    (event,) = import_listings(world, agent, [listing], at)
    assert (event.at, event.world_at) == (at, world.world_at)
    price = world.markets[listing.market_id].price()
    assert price == pytest.approx(belief(listing, world.world_at), abs=0.01)


def test_an_event_is_one_import_however_many_outcomes_it_has() -> None:
    world, agent = ahead()
    listings = importable_at(world.tape, world.world_at)[:4]
    events = import_listings(world, agent, listings, world.at)
    assert [event.listing for event in events] == [*listings]
    assert [event.charged_to for event in events] == ["ada", "", "", ""]
    assert agent.imports_today(world.at) == 1


def test_imports_end_with_those_of_the_plan_and_nothing_is_listed_then() -> None:
    world, agent = ahead()
    allowed = PLANS[Plan.FREE].imports_per_day
    first, *others = importable_at(world.tape, world.world_at)
    for listing in others[:allowed]:
        import_listings(world, agent, [listing], world.at)
    with pytest.raises(DayImports, match=f"reached: {allowed} markets"):
        import_listings(world, agent, [first], world.at)
    assert first.market_id not in world.markets
    import_listings(world, agent, [first], world.at, unlimited=True)
    assert first.market_id in world.markets
