"""Markets that end YES, NO, at a part of 1 or with the money back, over HTTP, on each venue."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Final, NamedTuple

import pytest

from kit.clock import ManualClock
from kit.engine.ended_ways import BEGIN, ENDS, NAME, SOURCES, question_of, write_ends
from kit.service.line import Line, change, line_to
from kit.service.stage import Stage, open_stage
from kit.service.wallets import External, Json, ready
from service_tui.app.options import Options
from service_tui.engine.amm.market import Market
from service_tui.engine.tick import change_speed
from service_tui.outcome import Outcome
from service_tui.signing.book import POLYGON
from service_tui.signing.calls import ZERO_32, RedeemPositions, encode_call
from service_tui.terms import Plan, Side, Venue
from service_tui.units import Micros, Timestamp, micros
from service_tui.wire.endpoints.public import MARKET, PLACE_TRADE, PORTFOLIO, POSITIONS, TRADES
from service_tui.wire.endpoints.wallet import REDEMPTIONS

pytestmark = pytest.mark.slow

HOURS: Final = 3_600.0
REAL: Final[dict[str, object]] = {
    "claimed": True,
    "real_trading_enabled": True,
    "auto_risk_monitor_enabled": False,
}
Place = tuple[str, Venue, Side]


class Held(NamedTuple):
    """A side before the end, and what was made with it."""

    shares: Micros
    cost: Micros
    realized: Micros


@asynccontextmanager
async def staged(path: Path, before: Stage | None = None, **more: Any) -> AsyncGenerator[Stage]:
    known = {} if before is None else {"key": before.key, "agent_id": before.agent_id}
    clock = ManualClock() if before is None else before.clock
    recorded = Options(path, path, path / "log", history=NAME)
    async with open_stage(
        path, clock, plan=Plan.ELITE, recorded=recorded, **known, **more
    ) as stage:
        await stage.clock.advance(1.5)
        yield stage


async def pass_to(stage: Stage, world_at: float) -> None:
    """Move the world to a time of its own, and stop its tape there."""
    world, store = stage.world, stage.sim.service.world_store
    await store.commit(change_speed(world, 1, stage.clock.now()))
    until = Timestamp(world.at + max(0.0, world_at - world.world_at))
    stage.clock.set(max(stage.clock.now(), until))
    await store.advance(until)
    await store.commit(change_speed(world, 0, stage.clock.now()))


def market_of(stage: Stage, end: str, venue: Venue) -> Market:
    question = question_of(end, venue)
    return next(one for one in stage.world.markets.values() if one.listing.question == question)


async def bought(stage: Stage, venues: tuple[Venue, ...] = tuple(SOURCES)) -> dict[Place, Held]:
    """Both sides of every market, and a part of YES sold again: what is held then."""
    line, held = line_to(stage), dict[Place, Held]()
    for end in ENDS:
        for venue in venues:
            order = {"market_id": market_of(stage, end, venue).market_id, "venue": venue.value}
            for side, amount in (("yes", 20), ("no", 11)):
                said = await line.said(PLACE_TRADE, json=order | {"side": side, "amount": amount})
                assert said["success"], said
            sale = order | {"side": "yes", "action": "sell", "shares": 6}
            assert (await line.said(PLACE_TRADE, json=sale))["success"]
    for venue in venues:
        for end, row in (await rows_of(line, venue)).items():
            for one in row["sides"]:
                figures = (one["shares"], one["cost_basis"], one["realized_pnl"])
                held[end, venue, Side(one["side"])] = Held(*map(micros, figures))
    assert len(held) == 2 * len(ENDS) * len(venues)
    return held


async def rows_of(line: Line, venue: Venue) -> dict[str, Json]:
    """The rows of positions on a venue, by end; on sim an ended side has its own."""
    said = await line.said(POSITIONS, venue=venue.value, status="all")
    found: dict[str, Json] = {}
    for row in said["positions"]:
        end = row["question"].split()[3]
        if end in found:
            row["sides"] = [*found[end]["sides"], *row["sides"]]
        found[end] = row
    return found


def brought(held: dict[Place, Held], venue: Venue) -> Micros:
    return Micros(
        sum(
            ENDS[end].paid(side, one.shares, one.cost)
            for (end, where, side), one in held.items()
            if where is venue
        )
    )


def cash_of(stage: Stage, venue: Venue) -> Micros:
    world = stage.world
    return (
        world.cash(stage.agent) if venue is Venue.SIM else world.venues.cash(stage.agent_id, venue)
    )


def said_of(outcome: Outcome) -> Json:
    winner = outcome.winner
    return {
        "outcome": None if winner is None else winner is Side.YES,
        "payout_per_yes": outcome.part,
        "voided": outcome.is_void,
    }


def check_sides(row: Json, where: tuple[str, Venue], held: dict[Place, Held]) -> None:
    end, venue = where
    for one in row["sides"]:
        side, outcome = Side(one["side"]), ENDS[end]
        before = held[end, venue, side]
        made = outcome.paid(side, before.shares, before.cost) - before.cost
        assert micros(one["realized_pnl"]) == before.realized + made
        assert one["unrealized_pnl"] == 0
        price = before.cost / before.shares if outcome.is_void else outcome.price(side)
        assert one["mark_price"] == pytest.approx(price)


async def check_ended(stage: Stage, held: dict[Place, Held], venues: tuple[Venue, ...]) -> None:
    """Markets, positions and trades of what has ended, to the micro."""
    line = line_to(stage)
    assert stage.world.ledger.total() == 0
    for venue in venues:
        rows = await rows_of(line, venue)
        trades = (await line.said(TRADES, venue=venue.value, limit=200))["trades"]
        for end, outcome in ENDS.items():
            row, market = rows[end], market_of(stage, end, venue)
            shown = (await line.said(MARKET, path={"market_id": market.market_id}))["market"]
            wanted = said_of(outcome)
            assert {name: shown[name] for name in wanted} == wanted
            assert {name: row[name] for name in wanted} == wanted
            check_sides(row, (end, venue), held)
            own = [one for one in trades if one["market_id"] == market.market_id]
            assert all({name: one[name] for name in wanted} == wanted for one in own)


@pytest.mark.parametrize("ends_with_snapshot", [False, True], ids=["killed", "closed"])
async def test_every_end_pays_what_it_says_on_each_venue_over_a_restart(
    tmp_path: Path, *, ends_with_snapshot: bool
) -> None:
    write_ends(tmp_path)
    venues = (Venue.SIM, Venue.EVM, Venue.SOL)
    more = {"ends_with_snapshot": ends_with_snapshot}
    async with staged(tmp_path, **more) as stage:
        await change(stage, **REAL)
        held = await bought(stage)
        before = {venue: cash_of(stage, venue) for venue in venues}
    async with staged(tmp_path, stage, **more) as stage:
        assert {venue: cash_of(stage, venue) for venue in venues} == before
        await pass_to(stage, BEGIN + 26 * HOURS)
        # sim pays at once, a managed wallet is redeemed by the service.
        for venue in (Venue.SIM, Venue.EVM):
            assert cash_of(stage, venue) - before[venue] == brought(held, venue), venue
        assert cash_of(stage, Venue.SOL) == before[Venue.SOL]
        await check_ended(stage, held, venues)
        waits = (await line_to(stage).said(REDEMPTIONS))["by_venue"]["sol_venue"]
        assert micros(waits["redeemable_amount"]) == brought(held, Venue.SOL)
        shown = await line_to(stage).said(PORTFOLIO)
    async with staged(tmp_path, stage, **more) as stage:
        await check_ended(stage, held, venues)
        again = await line_to(stage).said(PORTFOLIO)
        assert {key: one for key, one in again.items() if "pnl" in key} == {
            key: one for key, one in shown.items() if "pnl" in key
        }


@pytest.mark.parametrize("end", ENDS)
async def test_an_external_wallet_redeems_each_side_that_pays(tmp_path: Path, end: str) -> None:
    write_ends(tmp_path)
    async with staged(tmp_path) as stage:
        own, outcome = await ready(stage), ENDS[end]
        market = market_of(stage, end, Venue.EVM)
        for side, amount in (("yes", 20), ("no", 12)):
            assert (await own.buy(market, amount, side=side))["success"]
        held: dict[Place, Held] = {}
        for one in (await rows_of(own.line, Venue.EVM))[end]["sides"]:
            figures = (one["shares"], one["cost_basis"], one["realized_pnl"])
            held[end, Venue.EVM, Side(one["side"])] = Held(*map(micros, figures))
        await pass_to(stage, BEGIN + 26 * HOURS)
        for side in Side:
            one, cash = held[end, Venue.EVM, side], cash_of(stage, Venue.EVM)
            paid = outcome.paid(side, one.shares, one.cost)
            if not outcome.pays(side):
                asked = await own.ask_redeem(market, side.value)
                assert asked["error_code"] == "POSITION_LOST"
                continue
            row = await redemption_row(own.line, market, side)
            assert (row["redeemable"], micros(row["payout"])) == (True, paid)
            said = await redeemed(own, market, side)
            assert (said["status"], micros(said["payout"])) == ("redeemed", paid)
            assert cash_of(stage, Venue.EVM) - cash == paid
            assert not (await redemption_row(own.line, market, side))["redeemable"]
        states = [(await redemption_row(own.line, market, side))["state"] for side in Side]
        assert states == ["Redeemed", "Redeemed"]
        assert stage.world.ledger.total() == 0
        assert (await own.line.said(REDEMPTIONS))["redeemable_count"] == 0
        check_sides((await rows_of(own.line, Venue.EVM))[end], (end, Venue.EVM), held)


async def redemption_row(line: Line, market: Market, side: Side) -> Json:
    rows = (await line.said(REDEMPTIONS))["redemptions"]
    wanted = (market.market_id, side.value)
    return next(one for one in rows if (one["market_id"], one["side"]) == wanted)


async def redeemed(own: External, market: Market, side: Side) -> Json:
    """Burn one side alone, as a client does that signs what it was asked for; the report."""
    row = await redemption_row(own.line, market, side)
    condition = bytes.fromhex(row["condition_id"][2:])
    sets = (1,) if side is Side.YES else (2,)
    call = RedeemPositions(POLYGON.usdc_bridged, ZERO_32, condition, sets)
    data = "0x" + encode_call(call).hex()
    taken = await own.send(await own.sign(POLYGON.conditional_tokens, data))
    assert taken["success"], taken
    await own.line.wait(5)
    return await own.report(market, side.value, taken["tx_hash"])
