"""Snapshots of the world: whole, and refused if a part is missing."""

import json
from contextlib import suppress
from typing import Final

import pytest

from kit.engine.topics import TOPICS
from service_tui.engine.amm.exchange import Order
from service_tui.engine.codec.errors import JournalError
from service_tui.engine.codec.events import dumps
from service_tui.engine.codec.snapshot import FORMAT, fields_of, world_of
from service_tui.engine.errors import Refusal
from service_tui.engine.events import AgentRegistered, KeyRotated, PlanSet
from service_tui.engine.tick import advance, change_speed
from service_tui.engine.world import World
from service_tui.records import Named
from service_tui.terms import Action, MarketStatus, Plan, Side
from service_tui.units import ONE, Micros, Timestamp

AT: Final = Timestamp(1_800_000_000.0)


def live(world: World, seconds: range) -> None:
    """Some seconds of a world in which an agent trades each of them."""
    agent = world.agents["ada"]
    for second in seconds:
        advance(world, Timestamp(AT + second))
        markets = [
            one
            for one in world.markets.values()
            if one.status(world.world_at) is MarketStatus.ACTIVE
        ]
        market_id = markets[second % len(markets)].market_id
        side = list(Side)[second % 2]
        with suppress(Refusal):
            fill = world.place(
                Order(agent, market_id, side, Action.BUY, Micros(30 * ONE)), world.at
            )
            if second % 3:
                half = Micros(fill.shares // 20 * 10)
                world.place(Order(agent, market_id, side, Action.SELL, half), world.at)


@pytest.fixture(scope="module")
def lived() -> str:
    """A world with trades, sales, closed positions and settings, as text."""
    world = World(7, AT, TOPICS)
    advance(world, AT)
    world.register(
        AgentRegistered(
            "ada", AT, "Ada", "an agent", "hash", "reef-1", Plan.PRO, Micros(10_000 * ONE)
        )
    )
    live(world, range(1, 25))
    change_speed(world, 60, Timestamp(AT + 25))
    live(world, range(26, 40))
    advance(world, Timestamp(AT + 1_000))
    world.change(world.agents["ada"], {"trading_paused": False, "max_trade": 5 * ONE}, world.at)
    assert world.agents["ada"].closed
    assert world.agents["ada"].positions
    return dumps(fields_of(world))


@pytest.mark.slow
def test_a_snapshot_is_text_and_comes_back_whole(lived: str) -> None:
    assert dumps(fields_of(world_of(json.loads(lived), TOPICS))) == lived


@pytest.mark.slow
def test_a_world_read_back_trades_on_identically(lived: str) -> None:
    first, second = world_of(json.loads(lived), TOPICS), world_of(json.loads(lived), TOPICS)
    seconds = range(1_001, 1_020)
    live(first, seconds)
    # Once more through the text on the way.
    live(second, range(1_001, 1_010))
    second = world_of(json.loads(dumps(fields_of(second))), TOPICS)
    live(second, range(1_010, 1_020))
    assert dumps(fields_of(first)) == dumps(fields_of(second))
    assert first.ledger.total() == 0


def test_agents_are_found_again_by_the_hash_of_their_key(lived: str) -> None:
    world = world_of(json.loads(lived), TOPICS)
    assert world.by_key_hash("hash") is world.agents["ada"]
    assert world.agents["ada"].settings.plan is Plan.PRO


@pytest.mark.slow
def test_a_new_key_and_a_chosen_plan_are_kept(lived: str) -> None:
    world = world_of(json.loads(lived), TOPICS)
    assert world.plan is None
    world.decide(KeyRotated("ada", world.at, "fresh"))
    world.decide(PlanSet(world.at, Plan.ELITE))
    again = world_of(json.loads(dumps(fields_of(world))), TOPICS)
    assert again.plan is Plan.ELITE
    assert again.by_key_hash("hash") is None
    assert again.by_key_hash("fresh") is again.agents["ada"]


def test_a_snapshot_of_a_newer_program_is_refused(lived: str) -> None:
    with pytest.raises(JournalError, match="newer program"):
        world_of(json.loads(lived) | {"format": FORMAT + 1}, TOPICS)


BROKEN: Final[dict[str, Named]] = {
    "money from nowhere": {"ledger": {"agent:ada": 1}},
    "half a micro": {"ledger": {"agent:ada": 0.5, "issuer": -0.5}},
    "no markets": {"markets": None},
    "an empty market": {"markets": [{}]},
    "an empty agent": {"agents": [{}]},
    "another shape": {"agents": 3},
}


@pytest.mark.parametrize("changes", BROKEN.values(), ids=BROKEN)
def test_a_snapshot_that_is_not_whole_is_named_and_not_traded_on(
    lived: str, changes: Named
) -> None:
    with pytest.raises(JournalError, match="the snapshot cannot be read"):
        world_of(json.loads(lived) | changes, TOPICS)


LATER: Final = {"venues", "risk", "reactor", "chain", "research", "holding"}
PARTS: Final = set(fields_of(World(7, AT, TOPICS))) - LATER
"""All but the parts that snapshots of the first version do not have."""


@pytest.mark.parametrize("name", sorted(PARTS))
def test_a_snapshot_without_one_of_its_parts_is_refused(lived: str, name: str) -> None:
    fields = json.loads(lived)
    del fields[name]
    with pytest.raises(JournalError, match="the snapshot cannot be read"):
        world_of(fields, TOPICS)


def test_a_snapshot_from_before_the_limits_still_reads(lived: str) -> None:
    fields = json.loads(lived)
    agent = fields["agents"][0]
    for name in ("imports_day", "day_imports", "failed"):
        del agent[name]
    del agent["sdk_version"], agent["sdk_seen_at"]
    for position in agent["positions"]:
        for side in position[2:]:
            del side[4:]
    read = world_of(fields, TOPICS).agents["ada"]
    assert (read.day_imports, read.failed, read.sdk_version) == (0, {}, None)
    assert read.positions
    assert all(one.yes.bought_at == 0 for one in read.positions.values())


def test_settings_that_a_newer_program_added_take_their_defaults(lived: str) -> None:
    fields = json.loads(lived)
    del fields["agents"][0]["settings"]["auto_redeem_enabled"]
    assert world_of(fields, TOPICS).agents["ada"].settings.auto_redeem_enabled is True


def test_trades_of_agents_that_an_older_program_kept_on_the_tape_alone_are_none(lived: str) -> None:
    fields = json.loads(lived)
    for row in fields["markets"]:
        row.pop("filled", None)
    assert all(not market.filled for market in world_of(fields, TOPICS).markets.values())
