"""Each part of a snapshot comes back with all that it held, each value with its type."""

import json
from collections import deque
from typing import Any, Final

import pytest

from kit.engine.bare import AT, bare_world, listed
from kit.engine.topics import TOPICS
from kit.engine.whole import typed, whole
from service_tui.engine.agents.agents import ClosedPosition
from service_tui.engine.agents.leash import Leash
from service_tui.engine.codec.errors import NewerJournalError
from service_tui.engine.codec.events import dumps
from service_tui.engine.codec.snapshot import FORMAT, fields_of, world_of
from service_tui.engine.events import (
    Breached,
    ExperimentLogged,
    PendingEnded,
    SessionBegun,
    Settlement,
    TradePending,
)
from service_tui.engine.notify.price_alerts import PriceAlert
from service_tui.engine.notify.webhooks import Webhook
from service_tui.engine.reactor.reactor import ReactorState
from service_tui.engine.reactor.wallet_records import WalletRecord
from service_tui.engine.research.research import KEPT
from service_tui.engine.risk.alerts import RiskAlert
from service_tui.engine.risk.monitors import MonitoredSide
from service_tui.engine.world import World
from service_tui.records import Named
from service_tui.terms import AlertStatus, Plan, Venue
from service_tui.units import Micros, Timestamp

SETTINGS: Final = {"take_profit_pct": 0.5, "plan": Plan.PRO, "owner": "zoë"}


@pytest.fixture(scope="module")
def filled() -> World:
    """A world in which each part holds something."""
    world = bare_world("ada", "bea", **SETTINGS)
    listed(world, "m1", home=Venue.EVM)
    ada = world.agents["ada"]
    ada.leashes = {"": whole(Leash), "weather": whole(Leash, empty=True)}
    ada.closed = [whole(ClosedPosition), whole(ClosedPosition, empty=True)]
    world.plan, world.halt.since = Plan.ELITE, Timestamp(AT - 7)
    _fill_reactor(world)
    _fill_requests(world)
    for number, status in enumerate((AlertStatus.PENDING, AlertStatus.EXECUTED), 1):
        alert = whole(RiskAlert)
        alert.breach = whole(Breached)._replace(alert_id=f"a{number}", agent_id="ada")
        alert.status = status
        if status is AlertStatus.PENDING:
            world.risk.alerts.add(alert)
        else:
            world.risk.alerts.remember(alert)
    world.risk.alert_count = 2
    return world


def _fill_reactor(world: World) -> None:
    reactor = world.reactor
    reactor.states = {"ada": whole(ReactorState), "bea": whole(ReactorState, empty=True)}
    reactor.recent = {"0x1": (whole(Settlement), Timestamp(AT - 3))}
    reactor.records.by_address = {"0xAb": whole(WalletRecord)}
    reactor.mirrors.spent = {("ada", Venue.SOL): (3, Micros(4)), ("bea", Venue.SIM): (5, Micros(6))}
    reactor.mirrors.done = {"ada": {"0x1": Micros(9)}}


def _fill_requests(world: World) -> None:
    """What agents asked for, and what the person has to decide."""
    pending = world.pending_trades
    pending.count = 3
    waits = (whole(TradePending), whole(TradePending, empty=True)._replace(pending_id="h2"))
    pending.waiting = {one.pending_id: one for one in waits}
    pending.ended.append((whole(TradePending), whole(PendingEnded)))
    alerts, webhooks = world.price_alerts, world.webhooks
    alerts.count, webhooks.count = 4, 5
    one: PriceAlert = whole(PriceAlert, empty=True)
    alerts.waiting = {one.placed.alert_id: one}
    alerts.triggered.append(whole(PriceAlert))
    webhook: Webhook = whole(Webhook)
    webhooks.by_id = {webhook.placed.webhook_id: webhook}
    world.research.count = 6
    results = (whole(ExperimentLogged), whole(ExperimentLogged, empty=True))
    world.research.by_agent = {"ada": deque(results, maxlen=KEPT)}
    begun = whole(SessionBegun)._replace(agent_id="ada")
    world.research.begun = {begun.agent_id: {begun.skill: begun}}


def parts(world: World) -> Named:
    """What is compared, by its name."""
    reactor, pending, alerts = world.reactor, world.pending_trades, world.price_alerts
    found: dict[str, Any] = {
        "plan": world.plan,
        "halt": world.halt.since,
        "leashes": [one.leashes for one in world.agents.values()],
        "closed": [one.closed for one in world.agents.values()],
        "settings": [one.settings for one in world.agents.values()],
        "states": reactor.states,
        "recent": reactor.recent,
        "records": reactor.records.by_address,
        "spent": list(reactor.mirrors.spent.items()),
        "done": reactor.mirrors.done,
        "waiting trades": (pending.count, pending.waiting),
        "decided trades": list(pending.ended),
        "waiting alerts": (alerts.count, alerts.waiting),
        "triggered alerts": list(alerts.triggered),
        "webhooks": (world.webhooks.count, world.webhooks.by_id),
        "begun": world.research.begun,
        "experiments": {key: list(rows) for key, rows in world.research.by_agent.items()},
        "risk": (world.risk.alert_count, world.risk.alerts.pending, world.risk.alerts.ended),
    }
    return {name: typed(value) for name, value in found.items()}


def read_back(fields: Named) -> World:
    return world_of(json.loads(dumps(fields)), TOPICS)


def test_each_part_comes_back_whole(filled: World) -> None:
    read = read_back(fields_of(filled))
    assert parts(read) == parts(filled)
    assert dumps(fields_of(read)) == dumps(fields_of(filled))
    assert read.research.count == filled.research.count


def test_a_market_and_its_book_come_back_with_what_was_traded_and_taken() -> None:
    world = bare_world("ada")
    market = listed(world, "m1", home=Venue.EVM)
    market.volumes, market.last_sample_at = {1: 5, 2: 7}, Timestamp(AT + 3)
    world.venues.book("m1").take(9, [(Micros(400_000), Micros(3))])
    read = read_back(fields_of(world))
    assert read.markets["m1"].volumes == {1: 5, 2: 7}
    assert read.markets["m1"].last_sample_at == AT + 3
    book = read.venues.book("m1")
    assert (book.taken_number, book.taken) == (9, {400_000: 3})
    # A newer refresh forgets it.
    book.take(10, [])
    assert book.taken == {}


def test_what_was_read_back_is_bounded_as_before(filled: World) -> None:
    read = read_back(fields_of(filled))
    assert read.research.by_agent["ada"].maxlen == KEPT
    assert read.pending_trades.ended.maxlen == filled.pending_trades.ended.maxlen
    assert read.price_alerts.triggered.maxlen == filled.price_alerts.triggered.maxlen


def test_an_alert_that_waits_is_found_by_its_side_again(filled: World) -> None:
    read = read_back(fields_of(filled))
    watched: MonitoredSide = read.risk.alerts.pending["a1"].watched
    assert [one.watched for one in read.risk.alerts.of("ada")] == [watched]
    read.risk.alerts.drop_market(watched.market_id, AT)
    assert not read.risk.alerts.pending


def test_what_nobody_chose_is_left_out_as_in_the_snapshots_of_before() -> None:
    world = bare_world()
    assert {"plan", "halted_at"}.isdisjoint(fields_of(world))
    world.plan, world.halt.since = Plan.FREE, AT
    fields = fields_of(world)
    assert (fields["plan"], fields["halted_at"]) == (Plan.FREE, AT)


@pytest.mark.parametrize("part", ["price_alerts", "webhooks"])
def test_alerts_and_webhooks_are_written_from_the_first_of_either_on(part: str) -> None:
    world = bare_world()
    assert "notify" not in fields_of(world)
    getattr(world, part).count = 1
    read = read_back(fields_of(world))
    assert getattr(read, part).count == 1


def test_a_closed_position_from_before_it_named_its_sources_is_read() -> None:
    world = bare_world()
    world.agents["ada"].closed = [whole(ClosedPosition)]
    fields = json.loads(dumps(fields_of(world)))
    del fields["agents"][0]["closed"][0]["sources"]
    [closed] = world_of(fields, TOPICS).agents["ada"].closed
    assert closed.sources is None
    assert typed(closed.side) == typed(whole(ClosedPosition).side)


def test_a_snapshot_from_before_there_were_venues_grants_their_first_cash() -> None:
    world = bare_world()
    fields = json.loads(dumps(fields_of(world)))
    fields["ledger"] = {
        name: held for name, held in fields["ledger"].items() if name in {"agent:ada", "issuer"}
    }
    del fields["venues"]
    read = world_of(fields, TOPICS)
    for venue in (Venue.EVM, Venue.SOL):
        assert read.venues.cash("ada", venue) == world.venues.cash("ada", venue) > 0


def test_a_snapshot_of_the_next_format_is_known_for_a_newer_one() -> None:
    fields = json.loads(dumps(fields_of(bare_world())))
    assert world_of(dict(fields) | {"format": FORMAT}, TOPICS).seed == fields["seed"]
    with pytest.raises(NewerJournalError):
        world_of(dict(fields) | {"format": FORMAT + 1}, TOPICS)
