"""The price of a trade in statements of the database: counted on the connection that writes."""

import asyncio
from collections import Counter
from pathlib import Path

import pytest

from kit.service.stage import Stage, open_stage
from service_tui.engine.amm.exchange import Order
from service_tui.terms import Action, Plan, Side
from service_tui.units import ONE

pytestmark = pytest.mark.slow

AT_ONCE = 16


async def traced(stage: Stage) -> list[str]:
    """First words of the statements of the writer from now on."""
    statements: list[str] = []
    database = stage.database

    def note(statement: str) -> None:
        statements.append(statement.partition(" ")[0])

    await database.write(lambda connection: connection.set_trace_callback(note))
    await database.write(lambda _: None)
    statements.clear()
    return statements


def buy(stage: Stage) -> Order:
    return Order(stage.agent, stage.open_markets()[0].market_id, Side.YES, Action.BUY, ONE)


async def test_a_trade_is_one_row_in_one_commit(tmp_path: Path) -> None:
    async with open_stage(tmp_path, plan=Plan.ELITE) as stage:
        statements = await traced(stage)
        await stage.sim.service.world_store.place(buy(stage), stage.clock.now())
        assert statements == ["BEGIN", "SELECT", "INSERT", "COMMIT"]


async def test_trades_at_once_share_their_commit(tmp_path: Path) -> None:
    async with open_stage(tmp_path, plan=Plan.ELITE) as stage:
        statements = await traced(stage)
        async with asyncio.TaskGroup() as tasks:
            for _ in range(AT_ONCE):
                tasks.create_task(
                    stage.sim.service.world_store.place(buy(stage), stage.clock.now())
                )
        did = Counter(statements)
        assert (did["INSERT"], did["SELECT"]) == (AT_ONCE, AT_ONCE)
        # The first may have been on its way when the others came.
        assert did["COMMIT"] <= 2
