"""Copies of wallets on request: within the limits, each position once, and exits where wished."""

from pathlib import Path
from typing import Any

import pytest

from kit.service.line import Line
from kit.service.stage import Stage, open_stage
from service_tui.engine.reactor.wallets import ROSTER, address_of
from service_tui.terms import Plan, Venue
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
