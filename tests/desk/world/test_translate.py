"""The summary of an absence, from the wire."""

from datetime import UTC, datetime, timedelta

from service_tui.desk.world.translate import world_view
from service_tui.units import ONE
from service_tui.wire.world import WorldBody

AT = datetime(2027, 1, 15, 8, 0, tzinfo=UTC)


def test_what_happened_meanwhile_comes_with_the_world() -> None:
    resolved = {
        "at": AT,
        "market_id": "m",
        "question": "?",
        "outcome": True,
        "payout": 12.5,
        "pnl": -3.0,
    }
    body = WorldBody(
        now=AT,
        wall_at=AT,
        speed=10,
        seed=7,
        open_count=3,
        meanwhile={
            "closed_at": AT,
            "opened_at": AT + timedelta(hours=1),
            "world_elapsed_s": 36_000.0,
            "resolved_count": 1,
            "listed_count": 2,
            "resolved": (resolved,),
            "equity_before": 100.0,
        },
    )
    world = world_view(body)
    assert world.time_at(world.wall_at + 2) == world.now + 20
    assert world.time_at(world.wall_at - 9) == world.now
    assert world.meanwhile.resolved[0].payout == 12_500_000
    assert world.meanwhile.resolved[0].pnl == -3 * ONE
    assert (world.meanwhile.equity_before, world.meanwhile.equity_after) == (100 * ONE, None)
