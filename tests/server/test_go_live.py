"""The nudge towards real money: when it comes, to whom, and what it says to do."""

from typing import Any

import pytest

from kit.engine.bare import bare_world
from service_tui.engine.books.venues import VenueAccount
from service_tui.server.go_live import go_live_of
from service_tui.terms import Venue
from service_tui.wire.endpoints.public import PATCH_SETTINGS, PLACE_TRADE

HERE = "http://127.0.0.1:9"


def nudge(since: int, now: int, traded_on: Venue | None = None, **settings: Any) -> Any:
    world = bare_world("ada", **settings)
    agent = world.agents["ada"]
    agent.trades_count = now
    if traded_on is not None:
        account = VenueAccount("ada", traded_on, trades_count=1)
        world.venues.accounts["ada", traded_on] = account
    return go_live_of(world, agent, HERE, since=since)


@pytest.mark.parametrize(
    ("since", "now", "comes"),
    [
        (9, 10, True),
        (10, 11, False),
        (8, 9, False),
        (9, 30, True),
        (49, 50, True),
        (249, 250, True),
    ],
)
def test_it_comes_with_the_trade_that_passes_a_milestone(
    since: int, now: int, *, comes: bool
) -> None:
    found = nudge(since, now)
    assert (found is not None) is comes
    if comes:
        assert (found.sim_trades, found.reason) == (now, f"{now} trades on sim")


@pytest.mark.parametrize("venue", [Venue.EVM, Venue.SOL])
def test_who_trades_for_real_or_may_needs_none(venue: Venue) -> None:
    assert nudge(9, 10, venue) is None
    assert nudge(9, 10, real_trading_enabled=True) is None


@pytest.mark.parametrize("claimed", [True, False])
def test_it_names_each_step_with_its_call(*, claimed: bool) -> None:
    steps = nudge(9, 10, claimed=claimed).steps
    claim, rest = ((), steps) if claimed else (steps[:1], steps[1:])
    assert [one.method for one in claim] == ([] if claimed else ["GET"])
    assert all(one.url.startswith(HERE) for one in steps)
    assert [(one.actor, one.method) for one in rest] == [
        ("owner", "POST"), ("agent", PATCH_SETTINGS.method), ("agent", PLACE_TRADE.method),
    ]  # fmt: skip
    assert [one.body for one in rest] == [
        None, {"sdk_real_trading_enabled": True}, {"venue": Venue.EVM.value},
    ]  # fmt: skip
    assert rest[1].url == f"{HERE}{PATCH_SETTINGS.path}"
    assert rest[2].url == f"{HERE}{PLACE_TRADE.path}"
