"""Two consoles on one data directory, each a process of its own: one redemption on the chain."""

import asyncio
import os
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from kit.desk.redeeming import balance, hold, settle
from kit.service.stage import OPERATOR, open_stage
from kit.service.wallets import ready
from service_tui.clock import ManualClock, SystemClock
from service_tui.credentials.api_keys import DeskKeys, keep_desk_keys
from service_tui.engine.chain_events import TxStatus
from service_tui.storage.chain_runs import ChainRuns
from service_tui.terms import Venue

pytestmark = [pytest.mark.process, pytest.mark.slow]


HERE = Path(__file__).resolve().parents[1] / "kit" / "programs"
PATIENCE_S = 300.0
"""Nothing is measured: only a console that never gets there fails, however slow the machine is."""


@dataclass(frozen=True)
class Won:
    """What lies in the directory: an agent, and a position of its wallet that has won."""

    key: str
    agent_id: str
    row: str
    cash: int
    due: int
    ahead_s: float


async def won(path: Path) -> Won:
    async with open_stage(path, speed=60) as stage:
        held = await hold(stage, await ready(stage))
        await settle(stage, held)
        account = stage.world.venues.account(stage.agent_id, Venue.EVM)
        due = account.holdings[held.market.market_id].position.shares(held.side)
        keep_desk_keys(path, DeskKeys(OPERATOR, stage.key, stage.agent_id))
        # The world's time began elsewhere than the system's; from here on both run alike.
        ahead_s = stage.clock.now() - SystemClock().now() + 1.0
        return Won(stage.key, stage.agent_id, held.key, balance(stage), due, ahead_s)


@asynccontextmanager
async def console(path: Path, found: Won) -> AsyncGenerator[Process]:
    process = await asyncio.create_subprocess_exec(
        sys.executable, str(HERE / "redeem_console.py"),
        str(path), found.row, str(found.ahead_s),
        stdin=PIPE, stdout=PIPE, env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )  # fmt: skip
    try:
        yield process
    finally:
        if process.returncode is None:
            process.kill()
        # Reads what is left, and closes the pipes.
        await process.communicate()


async def says(process: Process, word: str) -> None:
    assert process.stdout is not None
    async with asyncio.timeout(PATIENCE_S):
        while line := await process.stdout.readline():
            if line.decode().strip() == word:
                return
    raise AssertionError(f"the console ended before it said {word}")


def order(process: Process) -> None:
    assert process.stdin is not None
    process.stdin.write(b"redeem\n")


async def end(process: Process) -> None:
    assert process.stdin is not None
    process.stdin.close()
    async with asyncio.timeout(PATIENCE_S):
        await process.wait()
    assert process.returncode == 0


async def assert_redeemed_once(path: Path, found: Won) -> None:
    clock = ManualClock(SystemClock().now() + found.ahead_s)
    async with open_stage(path, clock, key=found.key, agent_id=found.agent_id, speed=0) as stage:
        txs = [tx for tx in stage.world.chain.txs.values() if not tx.sent.call.approval]
        assert [tx.status for tx in txs] == [TxStatus.CONFIRMED]
        assert balance(stage) == found.cash + found.due
        assert stage.world.venues.account(stage.agent_id, Venue.EVM).redeemable_count() == 0
        signed = [
            run for run in ChainRuns(stage.database).recent(100)
            if run.raw and run.subject.startswith("redeem:")
        ]  # fmt: skip
        assert len(signed) == 1
        assert signed[0].settled_at is not None


async def test_two_programs_that_are_told_at_once_redeem_once(tmp_path: Path) -> None:
    found = await won(tmp_path)
    async with console(tmp_path, found) as first:
        await says(first, "holds")
        async with console(tmp_path, found) as second:
            await says(second, "attached")
            for _ in range(3):
                order(first)
                order(second)
            await says(second, "refused")
            await says(first, "redeemed")
            await says(second, "redeemed")
            await end(second)
        await end(first)
    await assert_redeemed_once(tmp_path, found)


async def test_what_a_killed_program_has_sent_is_ended_by_the_other(tmp_path: Path) -> None:
    found = await won(tmp_path)
    async with console(tmp_path, found) as first:
        await says(first, "holds")
        async with console(tmp_path, found) as second:
            await says(second, "attached")
            order(first)
            await says(first, "broadcast")
            first.kill()
            order(second)
            await says(second, "redeemed")
            order(second)
            await end(second)
    await assert_redeemed_once(tmp_path, found)
