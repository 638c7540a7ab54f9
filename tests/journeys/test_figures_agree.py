"""Two answers that speak of one figure say the same, to the micro, on every venue.

A random life of an agent: buys, sales, exits, wins, losses, redemptions, markets that it imports,
wallets that it links, and kills. At each pause the world stands still, and every answer, list and
state is compared with the positions.
"""

import random
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest

from kit.desk.faults import until
from kit.service.line import Line, change, line_to
from kit.service.stage import OPERATOR, Stage, open_stage, open_test_desk
from kit.service.wallets import KEYS, External
from service_tui.clock import ManualClock
from service_tui.desk.audit.listings import LISTINGS
from service_tui.desk.slices.topics import Topic
from service_tui.engine.books.venues import aside_account
from service_tui.signing.errors import PolicyRefusedError
from service_tui.signing.signer import LocalSigner
from service_tui.terms import Venue
from service_tui.units import ONE, Micros
from service_tui.wire.endpoints.desk import DESK_AGENTS, SET_SPEED
from service_tui.wire.endpoints.fleet import (
    DESK_AGENT_OUTCOMES,
    DESK_AGENT_RESULTS,
    DESK_HOLDINGS,
)
from service_tui.wire.endpoints.public import (
    BRIEFING,
    IMPORT_MARKET,
    IMPORTABLE,
    MARKET,
    OUTCOMES,
    PLACE_TRADE,
    PORTFOLIO,
    POSITIONS,
)
from service_tui.wire.endpoints.wallet import DERIVE_CREDENTIALS, REDEEM, UNLINK_WALLET

REAL = (Venue.EVM, Venue.SOL)
MONEY = {Venue.SIM: 10_000.0, Venue.EVM: 1_000.0, Venue.SOL: 1_000.0}
REFRESHED_S = 901.0
"""Wall time after which a real venue reports its P&L anew. Source: spec, "Other behaviour"."""


def micros(amount: float) -> int:
    return round(amount * ONE)


def own_wallet(line: Line) -> External | None:
    """The key of the wallet that is linked; None where the service holds it."""
    wallet = line.stage.world.chain.wallet_of(line.stage.agent_id)
    if wallet is None:
        return None
    signers = (LocalSigner(key) for key in KEYS[:2])
    (signer,) = (one for one in signers if one.address == wallet.address)
    return External(line, signer, salt=line.stage.world.venues.order_count * 10)


async def place(line: Line, body: dict[str, Any]) -> None:
    """Send an order; on the chain it is signed by the key of the wallet that is linked."""
    own = own_wallet(line)
    if own is not None and body["venue"] == Venue.EVM.value:
        market = line.stage.world.markets[body["market_id"]]
        amount = body["amount"] if "amount" in body else body["shares"]
        more = {name: one for name, one in body.items() if name not in {"amount", "shares"}}
        kind = {"order_type": "FAK"}
        quoted = (await line.said(MARKET, path={"market_id": market.market_id}))["market"]
        if None in {quoted["best_ask"], quoted["best_bid"]}:
            return
        # Of a sale whose price is far off nothing is left to rest.
        low = {"price": 0.01} if more.get("action") == "sell" else {}
        try:
            body = await own.order(market, amount, **(more | kind | low))
        except PolicyRefusedError:
            # Below the least order: no key signs it.
            return
    await line.said(PLACE_TRADE, json=body)


async def trade_at_random(line: Line, rng: random.Random) -> None:
    """A buy or a sale, on any venue; what is refused changes nothing."""
    held = (await line.said(POSITIONS, venue="all"))["positions"]
    if held and rng.random() < 0.4:
        row = rng.choice(held)
        side = rng.choice([name for name in ("yes", "no") if row[f"shares_{name}"] > 0])
        shares = row[f"shares_{side}"]
        part = shares if rng.random() < 0.5 else round(shares * rng.random(), 2)
        order = {"action": "sell", "shares": part, "market_id": row["market_id"], "side": side}
        await place(line, {**order, "venue": row["venue"]})
        return
    market = rng.choice(
        sorted(line.stage.open_markets(), key=lambda one: one.listing.resolves_at)[:30]
    )
    venue = rng.choice([Venue.SIM, market.listing.home])
    order = {"market_id": market.market_id, "side": rng.choice(["yes", "no"])}
    amount = round(rng.uniform(3, 60), 2)
    source = rng.choice(["sdk:a", "sdk:b", None])
    more = {"skill_slug": rng.choice(["x", "y"])} if rng.random() < 0.7 else {}
    body = {**order, "venue": venue.value, "amount": amount, "source": source, **more}
    await place(line, body)


async def redeem_at_random(line: Line, rng: random.Random) -> None:
    rows = (await line.said(POSITIONS, venue="evm_venue", status="resolved"))["positions"]
    for row in rows:
        if row["redeemable"] and rng.random() < 0.5:
            own, side = own_wallet(line), row["redeemable_side"]
            if own is not None:
                past = line.stage.sim.service.world_store.past
                market = await past.market(row["market_id"])
                assert (await own.redeem(market, side))["success"]
                continue
            body = {"market_id": row["market_id"], "side": side}
            assert (await line.said(REDEEM, json=body))["success"]


async def link_at_random(line: Line, rng: random.Random) -> None:
    """Another wallet: one that the agent has had, a new one, or that of the service."""
    key = rng.choice([None, *KEYS[:2]])
    if key is None:
        assert (await line.said(UNLINK_WALLET))["success"]
        return
    own = External(line, LocalSigner(key))
    known = line.stage.world.chain.wallet(own.address)
    assert (await own.link())["success"]
    if known is None:
        await line.said(DERIVE_CREDENTIALS, json=own.headers())
        await own.approve()


async def import_at_random(line: Line, rng: random.Random) -> None:
    """A market that a venue knows and this service does not list yet."""
    found = (await line.said(IMPORTABLE, limit=50, min_volume=0))["markets"]
    if found:
        body = {"polymarket_url": rng.choice(found)["url"]}
        assert (await line.said(IMPORT_MARKET, json=body))["success"]


Rows = list[dict[str, Any]]


def summed(rows: Rows, name: str) -> int:
    return sum(micros(row[name]) for row in rows)


def check_rows(rows: Rows) -> None:
    """A row is the sum of its sides; from the outcome on nothing of it can change."""
    for row in rows:
        for name in ("realized_pnl", "unrealized_pnl", "current_value"):
            assert micros(row[name]) == summed(row["sides"], name)
        assert micros(row["pnl"]) == micros(row["realized_pnl"]) + micros(row["unrealized_pnl"])
        assert row["outcome"] is None or row["unrealized_pnl"] == 0


async def answers_of(line: Line) -> dict[str, Any]:
    """Everything that speaks of an agent's money."""
    operator, path = Line(line.stage, OPERATOR), {"agent_id": line.stage.agent_id}
    (agent,) = (await operator.said(DESK_AGENTS))["agents"]
    of_skills: dict[str, int] = defaultdict(int)
    for one in (await operator.said(DESK_AGENT_RESULTS, path=path))["skills"]:
        of_skills[one["venue"]] += micros(one["pnl"])
    return {
        "positions": await line.said(POSITIONS, venue="all", status="all"),
        "portfolio": await line.said(PORTFOLIO),
        "briefing": (await line.said(BRIEFING))["venues"],
        "outcomes": (await line.said(OUTCOMES))["by_venue"],
        "fleet outcomes": (await operator.said(DESK_AGENT_OUTCOMES, path=path))["by_venue"],
        "agent": agent,
        "skills": of_skills,
        "holdings": [
            one
            for one in (await operator.said(DESK_HOLDINGS))["holdings"]
            if one["agent_id"] == line.stage.agent_id
        ],
    }


async def compare(line: Line) -> dict[Venue, tuple[int, int]]:
    """Compare everything with the rows of the positions; their realized and unrealized P&L."""
    told = await answers_of(line)
    rows = told["positions"]["positions"]
    check_rows(rows)
    found: dict[Venue, tuple[int, int]] = {}
    for venue in Venue:
        own = [row for row in rows if row["venue"] == venue.value]
        realized, unrealized = summed(own, "realized_pnl"), summed(own, "unrealized_pnl")
        found[venue] = realized, unrealized
        summary = told["positions"]["pnl_summary"][venue.value]
        block = told["briefing"][venue.value]
        assert (micros(summary["realized"]), micros(summary["unrealized"])) == found[venue]
        assert (micros(block["realized_pnl"]), micros(block["unrealized_pnl"])) == found[venue]
        assert micros(summary["total"]) == micros(block["pnl"]) == realized + unrealized
        check_holdings([one for one in told["holdings"] if one["venue"] == venue.value], own)
        for name in ("outcomes", "fleet outcomes"):
            assert micros(told[name][venue.value]["pnl"]) == realized
        assert told["skills"][venue.value] == realized
        check = check_sim if venue is Venue.SIM else check_real
        cash = check(told, own, venue)
        value = summed(own, "current_value")
        assert micros(block["portfolio_value"]) == cash + value
        # Money is neither made nor lost: what is there is what was given, and the P&L.
        there = cash + value + elsewhere(line, venue)
        given = micros(MONEY[venue]) * wallets_of(line, venue)
        assert there == given + realized + unrealized
    return found


def check_holdings(holdings: Rows, own: Rows) -> None:
    """What all agents hold has a row for each side with shares, with the figures of that side."""
    sides = [
        (row["market_id"], row["resolves_at"], side)
        for row in own
        if row["outcome"] is None
        for side in row["sides"]
        if side["shares"]
    ]
    assert {(one["market_id"], one["side"]): one for one in holdings} == {
        (market_id, side["side"]): {
            **one,
            "shares": side["shares"],
            "cost_basis": side["cost_basis"],
            "mark_price": side["mark_price"],
            "mark_value": side["current_value"],
            "exit_value": side["exit_value"]
            if side["exit_together"] is None
            else side["exit_together"],
            "resolves_at": resolves_at,
        }
        for market_id, resolves_at, side in sides
        for one in holdings
        if (one["market_id"], one["side"]) == (market_id, side["side"])
    }
    assert len(holdings) == len(sides)


def wallets_of(line: Line, venue: Venue) -> int:
    """How many wallets the agent has had: each came with money of its own."""
    return 1 + len(line.stage.world.venues.aside) if venue is Venue.EVM else 1


def elsewhere(line: Line, venue: Venue) -> int:
    """Money of the wallets that are not linked now, and what their positions have cost."""
    world, total = line.stage.world, Micros(0)
    for (agent_id, address), holdings in world.venues.aside.items() if venue is Venue.EVM else ():
        total += world.ledger.balance(aside_account(agent_id, address))
        for one in holdings.values():
            total += one.position.total_cost() if one.outcome is None else one.payout()
    return int(total)


def check_sim(told: dict[str, Any], own: Rows, _: Venue) -> int:
    """What stands in $SIM alone; returns the cash."""
    portfolio, agent = told["portfolio"], told["agent"]
    cash = micros(portfolio["sim_balance"])
    exits = sum(micros(one["exit_together"] or 0) for row in own for one in row["sides"])
    total = summed(own, "pnl")
    assert micros(portfolio["pnl_total"]) == micros(agent["pnl_total"]) == total
    assert micros(portfolio["exit_equity"]) == micros(agent["exit_equity"]) == cash + exits
    assert micros(agent["equity"]) == cash + summed(own, "current_value")
    return cash


def check_real(told: dict[str, Any], own: Rows, venue: Venue) -> int:
    """What stands in the money of a real venue; returns the cash, with that of open buys."""
    bucket = told["portfolio"][venue.value]
    cash = micros(bucket["balance"]) + micros(bucket["reserved"])
    assert micros(bucket["pnl"]) == summed(own, "pnl")
    for row in (one for one in told["agent"]["venues"] if one["venue"] == venue.value):
        assert micros(row["pnl"]) == summed(own, "pnl")
        assert micros(row["equity"]) == cash + summed(own, "current_value")
        waits = [one for one in own if one["redeemable"]]
        assert micros(row["to_redeem"]) == summed(waits, "current_value")
    return cash


async def compare_desk(stage: Stage, found: dict[Venue, tuple[int, int]]) -> None:
    """The desk's state and the lists of the shell, beside the same figures."""
    needed = {Topic.POSITIONS, Topic.ACCOUNT, Topic.AGENTS, Topic.FLEET}
    async with open_test_desk(stage) as desk:
        state = await until(desk, lambda one: needed <= set(one.seen), stage)
    every = (*state.positions, *state.closed, *state.on_venues)
    for venue, (realized, unrealized) in found.items():
        own = [one for one in every if one.venue is venue]
        assert sum(one.realized for one in own) == realized
        assert sum(one.unrealized for one in own) == unrealized
    account = state.account
    assert account is not None
    assert (account.realized, account.unrealized) == found[Venue.SIM]
    listed = LISTINGS["positions"].rows(state, {}, stage.clock.now())
    open_ones = [one for one in every if not one.is_closed or one.to_redeem]
    for name in ("unrealized", "realized", "to_redeem", "mark_value"):
        shown = sum(micros(float(str(row[name] or 0))) for row in listed)
        assert shown == sum(getattr(one, name) for one in open_ones)
    (row,) = LISTINGS["status"].rows(state, {}, stage.clock.now())
    assert micros(float(str(row["equity"]))) == account.equity
    assert micros(float(str(row["total_pnl"]))) == account.total_pnl


async def live(line: Line, rng: random.Random) -> dict[Venue, tuple[int, int]]:
    """Some trades, some time in which markets end, and some redemptions."""
    operator = Line(line.stage, OPERATOR)
    await import_at_random(line, rng)
    for count in range(8):
        if count == 4:
            await link_at_random(line, rng)
        await trade_at_random(line, rng)
        await line.wait(13)
    await operator.said(SET_SPEED, json={"speed": 60})
    await line.wait(rng.choice([20, 60, 120]))
    await operator.said(SET_SPEED, json={"speed": 0})
    await line.wait(REFRESHED_S, 60)
    await compare(line)
    await redeem_at_random(line, rng)
    await line.wait(REFRESHED_S, 60)
    return await compare(line)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
async def test_every_answer_about_one_figure_says_the_same(tmp_path: Path, seed: int) -> None:
    rng, clock = random.Random(seed), ManualClock()
    key, agent_id = None, ""
    statuses: set[tuple[str, str]] = set()
    for _ in range(3):
        # Each life begins after a kill of the one before.
        async with open_stage(tmp_path, clock, key=key, agent_id=agent_id, speed=0) as stage:
            line = line_to(stage)
            if key is None:
                rights = {"claimed": True, "real_trading_enabled": True}
                await change(stage, auto_redeem_enabled=False, **rights)
            key, agent_id = stage.key, stage.agent_id
            await live(line, rng)
            await compare_desk(stage, await live(line, rng))
            rows = (await line.said(POSITIONS, venue="all", status="all"))["positions"]
            statuses |= {(row["venue"], row["status"]) for row in rows}
    assert {venue for venue, _ in statuses} == {venue.value for venue in Venue}
    assert {"won", "lost", "sold"} <= {status for _, status in statuses}
