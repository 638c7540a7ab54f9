"""Copies of wallets on request: within the limits, each position once, and exits where wished."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from kit.service.line import Line
from kit.service.stage import Stage, open_stage
from service_tui.engine.reactor.wallet_records import WalletPosition
from service_tui.engine.reactor.wallets import ROSTER, address_of
from service_tui.server.routes import copytrading
from service_tui.terms import Plan, Side, Venue
from service_tui.units import ONE, Micros
from service_tui.wire.endpoints.public import POSITIONS
from service_tui.wire.endpoints.trading import COPY_WALLETS

pytestmark = pytest.mark.slow

Json = dict[str, Any]


async def traded_wallets(stage: Stage) -> list[str]:
    """Wallets of the crowd that hold something by now."""
    seed, records = stage.world.seed, stage.world.reactor.records
    crowd = [address_of(seed, one) for one in ROSTER if one.venue is Venue.SIM]
    while not any(records.held(wallet) for wallet in crowd):
        await stage.clock.advance(4)
    return [wallet for wallet in crowd if records.held(wallet)]


async def copied(stage: Stage, **body: object) -> Json:
    answer = await Line(stage, stage.key).ask(COPY_WALLETS, json=body)
    assert answer.status_code == 200, answer.text
    made: Json = answer.json()
    return made


async def test_a_copy_buys_what_a_wallet_holds_and_a_second_one_buys_nothing_more(
    tmp_path: Path,
) -> None:
    async with open_stage(tmp_path, plan=Plan.ELITE) as stage:
        wallets = await traded_wallets(stage)
        dry = await copied(stage, wallets=wallets, dry_run=True, max_usd_per_position=7)
        assert dry["trades_executed"] == 0
        assert dry["trades_needed"] > 0
        assert stage.agent.positions == {}
        cash = stage.world.cash(stage.agent)
        done = await copied(stage, wallets=wallets, max_usd_per_position=7)
        assert done["trades_executed"] == dry["trades_needed"]
        assert all(row["cost"] <= 7 for row in done["trades"])
        spent = sum(row["cost"] for row in done["trades"])
        assert (cash - stage.world.cash(stage.agent)) / 1_000_000 == spent
        held = (await Line(stage, stage.key).ask(POSITIONS)).json()["positions"]
        assert {row["market_id"] for row in held} == {row["market_id"] for row in done["trades"]}
        copied_from = {source for row in held for source in row["sources"]}
        assert copied_from <= {f"copytrading:{wallet}" for wallet in wallets}
        again = await copied(stage, wallets=wallets, max_usd_per_position=7)
        assert again["trades_executed"] == 0
        assert stage.world.ledger.total() == 0


async def test_copies_are_bounded_and_a_stranger_is_named(tmp_path: Path) -> None:
    async with open_stage(tmp_path, plan=Plan.ELITE) as stage:
        wallets = await traded_wallets(stage)
        stranger = "0x" + "ab" * 20
        one = await copied(stage, wallets=[*wallets, stranger], max_trades=1, dry_run=True)
        assert len(one["trades"]) == 1
        assert any(stranger in error for error in one["errors"])


async def test_the_dearest_positions_are_copied_for_what_they_cost_within_one_and_the_most(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with open_stage(tmp_path, plan=Plan.ELITE) as stage:
        (wallet, *_) = await traded_wallets(stage)
        markets = sorted(one.market_id for one in stage.open_markets())[:4]
        costs = dict(zip(markets, (3.0, 80.0, 0.2, 0.5), strict=True))
        stage.world.reactor.records.by_address[wallet].held = {
            market_id: WalletPosition(yes=Micros(ONE), yes_cost=Micros(round(cost * ONE)))
            for market_id, cost in costs.items()
        }
        body = {"wallets": [wallet], "dry_run": True, "max_usd_per_position": 7}
        rows = (await copied(stage, **body, top_n=3))["trades"]
        assert [row["market_id"] for row in rows] == [markets[1], markets[0], markets[3]]
        # A position of cents is bought for one unit: less is no trade.
        assert [row["cost"] for row in rows] == pytest.approx([7.0, 3.0, 1.0], abs=0.01)
        assert len((await copied(stage, **body))["trades"]) == 4
        monkeypatch.setattr(copytrading, "COPIES_MAX", 2)
        for most in ({}, {"max_trades": 3}):
            bounded = await copied(stage, **body, **most)
            assert (len(bounded["trades"]), bounded["trades_needed"]) == (2, 4)


async def test_what_a_wallet_has_left_is_named_and_never_sold(tmp_path: Path) -> None:
    async with open_stage(tmp_path, plan=Plan.ELITE) as stage:
        wallets = await traded_wallets(stage)
        made = await copied(stage, wallets=wallets, max_trades=1)
        (bought,) = made["trades"]
        assert bought["success"], bought
        shares = stage.agent.positions[bought["market_id"]].shares(Side(bought["side"]))
        stage.world.reactor.records.by_address[bought["wallet"]].held.clear()
        asked = {"detect_whale_exits": True, "buy_only": False, "max_trades": 1}
        # A mistyped wallet has left nothing.
        typo = await copied(stage, wallets=["0x" + "ab" * 20], **asked)
        assert [one for one in typo["errors"] if "has left" in one] == []
        left = await copied(stage, wallets=[bought["wallet"]], **asked)
        (named,) = [one for one in left["errors"] if "has left" in one]
        assert bought["market_id"] in named
        held = stage.agent.positions[bought["market_id"]].shares(Side(bought["side"]))
        assert held == shares


async def test_calls_at_one_time_buy_each_position_once(tmp_path: Path) -> None:
    async with open_stage(tmp_path, plan=Plan.ELITE) as stage:
        wallets = await traded_wallets(stage)
        line = Line(stage, stage.key)
        async with asyncio.TaskGroup() as tasks:
            calls = [
                tasks.create_task(line.ask(COPY_WALLETS, json={"wallets": wallets}))
                for _ in range(2)
            ]
        assert {call.result().status_code for call in calls} <= {200, 409}
        assert len(stage.agent.positions) == stage.agent.trades_count
