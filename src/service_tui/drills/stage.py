"""The world of a scenario: its markets on disk, then its agents, positions and followed wallets."""

import asyncio
import hashlib
import random
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from service_tui.app.topics import load_topics
from service_tui.client.api_keys import ApiKey, ApiKeys
from service_tui.client.client import Client
from service_tui.clock import Clock
from service_tui.credentials.api_keys import DeskKeys
from service_tui.drills.kinds import YOU
from service_tui.drills.scenario import Row, Scenario, ScenarioError
from service_tui.engine.chain_events import WalletLinked
from service_tui.engine.events import NO_NOTE, MarketListed, OrderPlaced
from service_tui.engine.listing import Listing, NewsReport
from service_tui.engine.reactor.wallets import ROSTER, address_of
from service_tui.engine.world import World
from service_tui.folding import folded_name
from service_tui.server.embedded import BASE_URL, Sim
from service_tui.server.world_store import begin
from service_tui.signing.signer import LocalSigner
from service_tui.storage.db.database import Database
from service_tui.terms import Action, Category, LeashMode, OrderType, Side, Venue, WalletKind
from service_tui.units import ONE, Micros, Probability, Timestamp, micros, shares_down
from service_tui.wire.agents import RegisterRequest
from service_tui.wire.endpoints.desk import DESK_CLAIM
from service_tui.wire.endpoints.fleet import DESK_SET_LEASH
from service_tui.wire.endpoints.public import (
    PATCH_REACTOR,
    PATCH_USER_SETTINGS,
    PLACE_TRADE,
    REGISTER,
)
from service_tui.wire.fleet import LeashRequest
from service_tui.wire.reactor import ReactorConfigPatch
from service_tui.wire.settings import UserSettingsPatch
from service_tui.wire.trades import TradeRequest

HOUR_S: Final = 3_600.0
CALM: Final = 0.02
"""Strength of a scripted market's own belief: next to none, its prices are written."""

_CENT: Final = 100
VENUES: Final = {"sim": Venue.SIM, "polymarket": Venue.EVM}


class Actor(NamedTuple):
    """An account of a drill: the person's own, or an agent's."""

    agent_id: str
    client: Client


@dataclass(slots=True)
class DrillStage:
    """A scenario's world at work.

    Attributes:
        scenario: what is played.
        sim: its service.
        clock: wall time.
        operator: the operator's calls.
        actors: by their names, `you` first.
        began: the tape's time at the start of the drill.
    """

    scenario: Scenario
    sim: Sim
    clock: Clock
    operator: Client
    actors: dict[str, Actor]
    began: Timestamp
    ramps: dict[str, "Ramp"] = field(default_factory=dict[str, "Ramp"])

    @property
    def world(self) -> World:
        """The world as it is now."""
        return self.sim.service.world

    def market_id(self, name: str) -> str:
        """The id of a market by its name."""
        return market_id_of(self.scenario, name)

    def times(self, at_s: float) -> tuple[Timestamp, Timestamp]:
        """Wall time, and the tape's at a moment of the drill; neither runs back."""
        world_at = Timestamp(self.began + at_s * self.scenario.speed)
        return Timestamp(max(self.clock.now(), self.world.at)), max(world_at, self.world.world_at)


class Ramp(NamedTuple):
    """A price on its way: from where and when, to where and when, seconds of the drill."""

    start: float
    since: float
    to: float
    until: float

    def price_at(self, at_s: float) -> float:
        """The price at a moment."""
        if at_s >= self.until:
            return self.to
        part = (at_s - self.since) / (self.until - self.since)
        return self.start + (self.to - self.start) * part


def market_id_of(scenario: Scenario, name: str) -> str:
    """The id of a scenario's market, in the shape of a random UUID."""
    text = hashlib.sha256(f"{scenario.name}:{scenario.seed}:{name}".encode()).hexdigest()
    return f"{text[:8]}-{text[8:12]}-4{text[13:16]}-a{text[17:20]}-{text[20:32]}"


async def write_world(database: Database, scenario: Scenario, now: Timestamp) -> None:
    """Write the world of a scenario into a new database: its own markets, and no others."""
    world = World(scenario.seed, now, load_topics())
    for row in scenario.markets:
        world.apply(MarketListed(now, now, _listing(scenario, row, now)))
    await begin(database, world)


def _listing(scenario: Scenario, row: Row, start: Timestamp) -> Listing:
    name = row.text("name")
    own = [event for event in scenario.events if event.values.get("market") == name]
    settle = next((event for event in own if event.kind == "settle"), None)
    resolves_at = Timestamp(start + row.number("hours") * HOUR_S)
    resolved_at = Timestamp(resolves_at + HOUR_S)
    outcome = True
    if settle is not None:
        resolved_at = Timestamp(start + settle.at * scenario.speed)
        resolves_at = Timestamp(resolved_at - settle.number("wait") * scenario.speed)
        outcome = settle.text("outcome") == "yes"
    return Listing(
        market_id=market_id_of(scenario, name),
        slot=-1,
        number=0,
        category=Category.SCIENCE,
        question=row.text("question"),
        criteria=row.text("criteria"),
        tags=("drill", "drill"),
        b=Micros(round(row.number("liquidity")) * ONE),
        start_price=Probability(row.number("price")),
        opens_at=Timestamp(start - HOUR_S),
        resolves_at=resolves_at,
        resolved_at=resolved_at,
        outcome=outcome,
        strength=CALM,
        news=tuple(
            NewsReport(Timestamp(start + event.at * scenario.speed), 0.0, event.text("text"))
            for event in own
            if event.kind == "news"
        ),
        home=VENUES[row.text("venue")],
        subject=name,
    )


def client_of(sim: Sim, clock: Clock, api_keys: ApiKeys) -> Client:
    """A client of the service itself, past every fault of the person's own connection."""
    return Client(sim.transport, BASE_URL, api_keys, clock=clock, rng=random.Random(0))  # noqa: S311  (jitter)


async def set_up(scenario: Scenario, sim: Sim, api_keys: DeskKeys, clock: Clock) -> DrillStage:
    """Bring the agents, the positions and the followed wallets into a scenario's world.

    Returns:
        The stage, before its first second.

    Raises:
        ScenarioError: the world does not take what the scenario begins with.
    """
    operator = client_of(sim, clock, ApiKeys(operator=ApiKey(api_keys.operator, BASE_URL)))
    own = client_of(sim, clock, ApiKeys(ApiKey(api_keys.agent or "", BASE_URL)))
    stage = DrillStage(
        scenario,
        sim,
        clock,
        operator,
        {YOU: Actor(api_keys.agent_id or "", own)},
        sim.service.world.world_at,
    )
    for row in scenario.agents:
        await _register(stage, row)
    for actor in stage.actors.values():
        # An automatic stop would decide the drill.
        no_stop = UserSettingsPatch(auto_risk_monitor_enabled=False)
        await actor.client.call(PATCH_USER_SETTINGS, body=no_stop)
    if scenario.wallet == "own":
        await _link(stage)
    on_chain = {row.text("name") for row in scenario.markets if row.text("venue") != "sim"}
    for row in scenario.positions:
        await (_hold if row.text("market") in on_chain else _buy)(stage, row)
    start = {stage.market_id(row.text("name")): row.number("price") for row in scenario.markets}
    await sim.service.world_store.play(stage.times(0.0), start)
    for row in scenario.agents:
        await _put_on_leash(stage, row)
    if scenario.follows:
        await _follow(stage)
    return stage


async def _register(stage: DrillStage, row: Row) -> None:
    name = row.text("name")
    body = RegisterRequest(name=name, description=row.text("about"))
    stranger = client_of(stage.sim, stage.clock, ApiKeys())
    made = (await stranger.call(REGISTER, body=body)).answer
    client = client_of(stage.sim, stage.clock, ApiKeys(ApiKey(made.api_key, BASE_URL)))
    stage.actors[name] = Actor(made.agent_id, client)
    await stage.operator.call(DESK_CLAIM, path={"agent_id": made.agent_id})


async def _put_on_leash(stage: DrillStage, row: Row) -> None:
    if row.text("leash") == "none":
        return
    body = LeashRequest(
        mode=LeashMode(row.text("leash")),
        threshold=row.number("threshold"),
        daily_budget=row.number("budget") if row.has("budget") else None,
        wait_s=int(row.number("wait")),
    )
    agent_id = stage.actors[row.text("name")].agent_id
    await stage.operator.call(DESK_SET_LEASH, path={"agent_id": agent_id}, body=body)


async def _buy(stage: DrillStage, row: Row) -> None:
    """Buy a position of the start."""
    body = TradeRequest(
        market_id=stage.market_id(row.text("market")),
        side=Side(row.text("side")),
        action=Action.BUY,
        amount=round(row.number("money") * _CENT) / _CENT,
        reasoning="bought before the drill",
        stop_loss_pct=row.number("stop") if row.has("stop") else None,
    )
    answer = (await stage.actors[row.text("who")].client.call(PLACE_TRADE, body=body)).answer
    if not answer.success:
        why = f"line {row.line}: the position cannot be bought: {answer.error}"
        raise ScenarioError(stage.scenario.name, [why])


def signer_of(scenario: Scenario) -> LocalSigner | None:
    """The key of the person's own wallet on the simulated chain; None where the service has it."""
    if scenario.wallet != "own":
        return None
    # No secret: it opens nothing but an address of this scenario's own chain.
    return LocalSigner(hashlib.sha256(f"drill:{scenario.name}".encode()).hexdigest())


async def _link(stage: DrillStage) -> None:
    """Link the person's own wallet, without any gas."""
    signer = await asyncio.to_thread(signer_of, stage.scenario)
    world, at = stage.world, stage.clock.now()
    agent = world.agents[stage.actors[YOU].agent_id]
    events = world.note(WalletLinked(agent.agent_id, at, "" if signer is None else signer.address))
    settings = {"wallet": WalletKind.EXTERNAL, "auto_redeem_enabled": False}
    await stage.sim.service.world_store.commit([*events, *world.change(agent, {**settings}, at)])


async def _hold(stage: DrillStage, row: Row) -> None:
    """Give an actor a position on the chain, at the market's first price."""
    world, side = stage.world, Side(row.text("side"))
    market_id = stage.market_id(row.text("market"))
    listing = world.markets[market_id].listing
    price = listing.start_price if side is Side.YES else 1.0 - listing.start_price
    money = micros(row.number("money"))
    shares = shares_down(row.number("money") / price)
    at, world_at = stage.times(0.0)
    event = OrderPlaced(
        order_id=f"o{world.venues.order_count + 1}",
        agent_id=stage.actors[row.text("who")].agent_id,
        venue=listing.home,
        market_id=market_id,
        side=side,
        action=Action.BUY,
        order_type=OrderType.FAK,
        size=money,
        price=Micros(0),
        requested=shares,
        shares=shares,
        money=money,
        fee=Micros(0),
        rests=Micros(0),
        reserved=Micros(0),
        price_before=price,
        price_after=price,
        at=at,
        world_at=world_at,
        realized=Micros(0),
        expires_at=Timestamp(0.0),
        number=0,
        taken=(),
        note=NO_NOTE,
    )
    await stage.sim.service.world_store.commit(world.did([event]))


def wallet_address(scenario: Scenario, label: str, line: int) -> str:
    """The address of a named wallet; ScenarioError with the names where there is no such one."""
    found = [one for one in ROSTER if folded_name(one.label) == folded_name(label)]
    if not found:
        known = ", ".join(one.label for one in ROSTER)
        raise ScenarioError(scenario.name, [f"line {line}: no wallet {label}: one of {known}"])
    return address_of(scenario.seed, found[0])


async def _follow(stage: DrillStage) -> None:
    rows = stage.scenario.follows
    wallets = (wallet_address(stage.scenario, row.text("wallet"), row.line) for row in rows)
    body = ReactorConfigPatch(
        wallets=tuple(dict.fromkeys(wallets)),
        mirror_fraction=rows[0].number("mirror"),
        daily_cap=rows[0].number("cap"),
        max_size=100_000.0,
        price_buffer=rows[0].number("buffer"),
        enabled=True,
    )
    await stage.actors[YOU].client.call(PATCH_REACTOR, body=body)


def agents_measured(stage: DrillStage) -> Mapping[str, Actor]:
    """Whose figures the score counts."""
    if stage.scenario.score.text("of") == YOU:
        return {YOU: stage.actors[YOU]}
    return stage.actors
