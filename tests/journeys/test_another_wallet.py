"""Another wallet: agent, key and history carry over; what is held is the linked wallet's alone."""

from pathlib import Path
from typing import Any

import pytest

from kit.desk.faults import until
from kit.service.line import Line, change
from kit.service.stage import OPERATOR, Stage, open_stage, open_test_desk
from kit.service.wallets import KEYS, External, market_on_chain, operate, ready, winner_of
from service_tui.addresses import keccak256
from service_tui.clock import ManualClock
from service_tui.engine.amm.market import Market
from service_tui.engine.books.catalogue import token_of
from service_tui.engine.chain.chain import managed_address
from service_tui.engine.chain_events import WalletLinked
from service_tui.signing.book import POLYGON
from service_tui.signing.calls import UINT_MAX
from service_tui.signing.signer import LocalSigner
from service_tui.terms import Side
from service_tui.wire.endpoints.desk import DESK_AGENTS, DESK_PATCH_AGENT, SET_SPEED
from service_tui.wire.endpoints.public import (
    BRIEFING,
    MONITORS,
    OPEN_ORDERS,
    OUTCOMES,
    PLACE_TRADE,
    PORTFOLIO,
    POSITIONS,
    TRADES,
)
from service_tui.wire.endpoints.wallet import (
    DERIVE_CREDENTIALS,
    REDEMPTIONS,
    UNLINK_WALLET,
    WALLET,
)

pytestmark = pytest.mark.slow

EVM = "evm_venue"


def second(first: External) -> External:
    return External(first.line, LocalSigner(KEYS[1]))


async def held(line: Line, **query: str) -> list[dict[str, Any]]:
    asked = {"venue": EVM, "status": "active"} | query
    return (await line.said(POSITIONS, **asked))["positions"]


async def cash(line: Line) -> float:
    return (await line.said(PORTFOLIO))[EVM]["balance"]


async def shown(own: External, contract: str, signature: str, *words: str) -> int:
    """What a contract of the chain answers."""
    data = "0x" + keccak256(signature.encode())[:4].hex() + "".join(words)
    return int(await own.rpc("eth_call", {"to": contract, "data": data}, "latest"), 16)


def word(value: str | int) -> str:
    number = int(value, 16) if isinstance(value, str) else value
    return f"{number:064x}"


async def on_chain(own: External, address: str, market: Market, side: str) -> tuple[int, int]:
    """USDC.e of an address, and its shares of a side."""
    token = int(token_of(market.market_id, Side(side), neg_risk=False))
    return (
        await shown(own, POLYGON.usdc_bridged, "balanceOf(address)", word(address)),
        await shown(
            own,
            POLYGON.conditional_tokens,
            "balanceOf(address,uint256)",
            word(address),
            word(token),
        ),
    )


async def ended(stage: Stage, line: Line, market: Market) -> None:
    """Let a market come to its outcome."""
    await operate(stage, SET_SPEED, json={"speed": 60})
    while market.resolved_at is None:
        await line.wait(20)
    await operate(stage, SET_SPEED, json={"speed": 0})


async def test_another_wallet_has_its_own_money_and_positions(tmp_path: Path) -> None:
    async with open_stage(tmp_path, speed=0) as stage:
        first = await ready(stage, auto_risk_monitor_enabled=True)
        line, other, market = first.line, second(first), market_on_chain(stage)
        assert await cash(line) == 1_000
        assert (await first.buy(market, 20))["success"]
        resting = await first.buy(market, 10, price=0.05, order_type="GTC")
        assert resting["success"], resting
        left = await cash(line)
        (before,) = await held(line)
        (desk_before,) = (await operate(stage, DESK_AGENTS))["agents"]
        assert len((await line.said(MONITORS))["monitors"]) == 1
        said = await other.link()
        assert said["success"]
        assert said["message"].endswith(
            "1 open order was cancelled and 1 monitor was removed with the wallet before"
        )
        assert await cash(line) == 1_000
        assert await held(line) == []
        assert (await line.said(OPEN_ORDERS))["orders"] == []
        assert (await line.said(MONITORS))["monitors"] == []
        assert (await line.said(WALLET))["usdc"] == 1_000
        block = (await line.said(BRIEFING))["venues"][EVM]
        assert (block["cash_balance"], block["positions_count"]) == (1_000, 0)
        (desk,) = (await operate(stage, DESK_AGENTS))["agents"]
        (row,) = desk["venues"]
        assert (row["cash"], row["positions_count"], row["orders_count"]) == (1_000, 0, 0)
        # The agent, what it spent today and its history are the same.
        for name in ("agent_id", "trades_count", "wins", "losses"):
            assert desk[name] == desk_before[name]
        assert len((await line.said(TRADES, venue=EVM))["trades"]) == 2
        await line.said(DERIVE_CREDENTIALS, json=other.headers())
        await other.approve()
        assert (await other.buy(market, 7))["success"]
        (mine,) = await held(line)
        assert mine["cost_basis"] == pytest.approx(7, abs=0.2)
        assert (await first.link())["success"]
        # The money of the cancelled order is back as well.
        assert await cash(line) == pytest.approx(left + 10, abs=0.01)
        (again,) = await held(line)
        for name in ("shares_yes", "cost_basis", "sources", "realized_pnl"):
            assert again[name] == before[name]


async def test_the_managed_wallet_keeps_what_it_has(tmp_path: Path) -> None:
    async with open_stage(tmp_path, speed=0) as stage:
        await change(stage, claimed=True, real_trading_enabled=True)
        own = External(Line(stage, stage.key))
        line, market = own.line, market_on_chain(stage)
        order = {"market_id": market.market_id, "side": "yes", "venue": EVM, "amount": 30}
        assert (await line.said(PLACE_TRADE, json=order))["success"]
        left, (before,) = await cash(line), await held(line)
        assert before["wallet"] is None
        # Once there are several, each row names its own.
        before["wallet"] = managed_address(stage.agent_id)
        assert (await own.link())["success"]
        assert (await cash(line), await held(line)) == (1_000, [])
        path = {"agent_id": stage.agent_id}
        await operate(stage, DESK_PATCH_AGENT, path=path, json={"wallet": "managed"})
        assert (await cash(line), await held(line)) == (left, [before])
        assert (await own.link())["success"]
        back = await line.said(UNLINK_WALLET)
        assert back["message"] == "the wallet is managed by the service"
        assert (await cash(line), await held(line)) == (left, [before])


async def test_the_chain_shows_what_each_wallet_has_whichever_is_linked(tmp_path: Path) -> None:
    async with open_stage(tmp_path, speed=0) as stage:
        await change(stage, claimed=True, real_trading_enabled=True)
        own = External(Line(stage, stage.key))
        line, market = own.line, market_on_chain(stage)
        order = {"market_id": market.market_id, "side": "yes", "venue": EVM, "amount": 30}
        assert (await line.said(PLACE_TRADE, json=order))["success"]
        managed = managed_address(stage.agent_id)
        there = await on_chain(own, managed, market, "yes")
        assert there[1] > 0
        await own.activate()
        assert (await own.buy(market, 15))["success"]
        mine = await on_chain(own, own.address, market, "yes")
        assert mine != there
        assert await on_chain(own, managed, market, "yes") == there
        await line.said(UNLINK_WALLET)
        assert await on_chain(own, own.address, market, "yes") == mine
        assert await on_chain(own, managed, market, "yes") == there


@pytest.mark.parametrize("with_snapshot", [False, True])
async def test_a_market_that_ends_meanwhile_is_redeemed_once_its_wallet_is_back(
    tmp_path: Path,
    with_snapshot: bool,  # noqa: FBT001 - pytest passes it by name
) -> None:
    clock = ManualClock()
    async with open_stage(tmp_path, clock, speed=0, ends_with_snapshot=with_snapshot) as stage:
        first = await ready(stage)
        line, other = first.line, second(first)
        market = market_on_chain(stage, soon=True)
        side = winner_of(market).value
        assert (await first.buy(market, 20, side=side))["success"]
        await other.activate()
        assert (await other.buy(market, 9, side=side))["success"]
        key, agent_id, market_id = stage.key, stage.agent_id, market.market_id
    async with open_stage(
        tmp_path, clock, key=key, agent_id=agent_id, speed=0, ends_with_snapshot=with_snapshot
    ) as stage:
        line, market = Line(stage, key), stage.world.markets[market_id]
        first, other = External(line), External(line, LocalSigner(KEYS[1]))
        await ended(stage, line, market)
        rows = (await line.said(REDEMPTIONS))["redemptions"]
        assert [row["cost"] for row in rows] == [pytest.approx(9, abs=0.2)]
        outcomes = (await line.said(OUTCOMES, venue=EVM))["by_venue"][EVM]
        closed = await held(line, status="all")
        assert sum(row["realized_pnl"] for row in closed) == pytest.approx(outcomes["pnl"])
        assert [row["redeemable"] for row in closed] == [True, False]
        assert (await other.redeem(market, side))["success"]
        assert (await first.link())["success"]
        key, agent_id = stage.key, stage.agent_id
    async with open_stage(tmp_path, clock, key=key, agent_id=agent_id, speed=0) as stage:
        line = Line(stage, key)
        first, market = External(line), stage.world.markets[market_id]
        before = await cash(line)
        (row,) = [row for row in (await line.said(REDEMPTIONS))["redemptions"] if row["redeemable"]]
        assert row["cost"] == pytest.approx(20, abs=0.5)
        # The transaction of the other wallet about the same market is none of this one's.
        assert row["tx_hash"] is None
        assert (await first.redeem(market, side))["success"]
        assert await cash(line) == pytest.approx(before + row["payout"])
        assert (await line.said(OUTCOMES, venue=EVM))["by_venue"][EVM]["pnl"] == outcomes["pnl"]
        trades = (await line.said(TRADES, venue=EVM))["trades"]
        assert len({one["id"] for one in trades}) == len(trades) == 4


async def test_a_service_redeems_for_its_wallet_only_while_that_is_linked(tmp_path: Path) -> None:
    async with open_stage(tmp_path, speed=0) as stage:
        rights = {"claimed": True, "real_trading_enabled": True, "auto_risk_monitor_enabled": False}
        await change(stage, **rights)
        own = External(Line(stage, stage.key))
        line, market = own.line, market_on_chain(stage, soon=True)
        side = winner_of(market).value
        order = {"market_id": market.market_id, "side": side, "venue": EVM, "amount": 30}
        bought = await line.said(PLACE_TRADE, json=order)
        left = await cash(line)
        assert (await own.link())["success"]
        await ended(stage, line, market)
        assert await cash(line) == 1_000
        await line.said(UNLINK_WALLET)
        await line.wait(5)
        assert await cash(line) == pytest.approx(left + bought["shares_bought"])


async def test_a_wallet_with_a_transaction_on_its_way_stays_linked(tmp_path: Path) -> None:
    async with open_stage(tmp_path, speed=0) as stage:
        own = await ready(stage)
        signed = await own.sign(
            POLYGON.usdc_bridged,
            "0x095ea7b3" + word(POLYGON.v1_exchange) + word(UINT_MAX),
            gas=100_000,
        )
        assert (await own.send(signed))["success"]
        operator, path = Line(stage, OPERATOR), {"agent_id": stage.agent_id}
        refused = await operator.said(DESK_PATCH_AGENT, 409, path=path, json={"wallet": "managed"})
        assert "on its way" in refused["error"]
        await own.line.wait(5)
        await operator.said(DESK_PATCH_AGENT, path=path, json={"wallet": "managed"})


async def test_from_the_first_change_on_no_money_follows(tmp_path: Path) -> None:
    clock = ManualClock()
    async with open_stage(tmp_path, clock, speed=0) as stage:
        own = await ready(stage)
        line, market = own.line, market_on_chain(stage)
        assert (await own.buy(market, 20))["success"]
        had = await cash(line), await held(line)
        older = WalletLinked(stage.agent_id, clock.now(), second(own).address)
        await stage.sim.service.world_store.commit(stage.world.note(older))
        key, agent_id = stage.key, stage.agent_id
    async with open_stage(tmp_path, clock, key=key, agent_id=agent_id, speed=0) as stage:
        line = Line(stage, key)
        first = External(line)
        other = second(first)
        assert (await line.said(WALLET))["wallet_address"] == other.address
        # The one of before had been linked by this program: since then nothing follows.
        assert (await cash(line), await held(line)) == (1_000, [])
        assert (await first.link())["success"]
        assert (await cash(line), await held(line)) == had


async def test_the_desk_shows_what_the_new_wallet_has_at_once(tmp_path: Path) -> None:
    async with open_stage(tmp_path, speed=0) as stage:
        first = await ready(stage, auto_risk_monitor_enabled=True)
        other, market = second(first), market_on_chain(stage)
        assert (await first.buy(market, 20))["success"]
        assert (await first.buy(market, 10, price=0.05, order_type="GTC"))["success"]
        async with open_test_desk(stage) as desk:
            state = await until(
                desk, lambda one: one.on_venues and one.risk.monitors and one.orders, stage
            )
            assert [one.market_id for one in state.redemption.rows] == [market.market_id]
            assert (await other.link())["success"]
            state = await until(desk, lambda one: not one.on_venues, stage)
            await until(desk, lambda one: not one.redemption.rows, stage)
            state = await until(desk, lambda one: not one.risk.monitors, stage)
            assert state.orders == ()
            assert state.wallet.address == other.address
