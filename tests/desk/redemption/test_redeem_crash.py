"""Programs that were killed after each step of a redemption: one redemption, and and the money."""

import asyncio
import json
import os
import shutil
import signal
import sys
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from kit.desk.faults import breaking, until
from kit.desk.redeeming import WON, CountingSigner, balance, open_wallet_desk
from kit.programs.redeem_crash import PLACES
from kit.service.prepared import kept
from kit.service.stage import first_state, open_stage
from service_tui.clock import ManualClock
from service_tui.desk.redemption.handlers import ALLOWED
from service_tui.desk.slices.redemption import ChainRunState, Stage
from service_tui.engine.chain_events import TxStatus
from service_tui.storage.chain_runs import ChainRun, ChainRuns
from service_tui.terms import Venue
from service_tui.wire.endpoints.wallet import BROADCAST

pytestmark = pytest.mark.process


HERE = Path(__file__).resolve().parents[2] / "kit" / "programs"
BEFORE_SIGNING = {"asked", "checked"}


@dataclass(frozen=True)
class Left:
    """What the killed program said of itself."""

    key: str
    agent_id: str
    now: float
    row: str
    cash: int
    due: int


async def killed(directory: Path, where: str) -> Left:
    story = await kept(WON)
    shutil.copytree(story.folder, directory, dirs_exist_ok=True)
    facts = story.facts
    program = await asyncio.create_subprocess_exec(
        sys.executable, str(HERE / "redeem_crash.py"), str(directory), where,
        str(story.now), story.key, story.agent_id, facts.market_id, facts.side.value,
        stdout=asyncio.subprocess.PIPE, env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )  # fmt: skip
    said, _ = await program.communicate()
    assert program.returncode == -signal.SIGKILL
    return Left(**json.loads(said))


# One kill before anything was signed, one between signing and sending, one after the broadcast.
EACH_RUN = {"checked", "signed", "broadcast"}


@pytest.mark.slow
@pytest.mark.parametrize(
    "where",
    [
        pytest.param(place, marks=[] if place in EACH_RUN else [pytest.mark.deep])
        for place in PLACES
    ],
)
async def test_a_program_killed_for_good_redeems_once(tmp_path: Path, where: str) -> None:
    left = await killed(tmp_path, where)
    clock, signer = ManualClock(), CountingSigner()
    await clock.advance(left.now - clock.now() + 60.0)
    known = replace(first_state(), preferences={ALLOWED: "1"})
    async with open_stage(tmp_path, clock, key=left.key, agent_id=left.agent_id, speed=0) as whole:
        stage, line = breaking(whole)
        line.fault = lambda _: None
        sent: list[str] = []
        line.seen = lambda request: (
            sent.append(json.loads(request.content)["signed_tx"])
            if request.url.path == BROADCAST.path
            else None
        )
        kept = signed_in(ChainRuns(stage.database))
        assert len(kept) == (where not in BEFORE_SIGNING)
        async with open_wallet_desk(stage, signer, initial=known) as desk:
            state = await until(
                desk,
                lambda s: (run := s.redemption.run(left.row)) and run.state is ChainRunState.DONE,
                stage,
            )
            run = state.redemption.run(left.row)
            assert run is not None
            row = await until(
                desk, lambda s: s.redemption.row(left.row).stage is Stage.REDEEMED, stage
            )
            assert row.redemption.row(left.row).reported
            # Whoever looks for work again finds none.
            await stage.clock.advance(30.0)
        assert signer.count == (where in BEFORE_SIGNING)
        # Bytes that stood on disk are sent as they stand; none are sent once the chain has them.
        assert set(sent) <= {one.raw for one in kept or signed_in(ChainRuns(stage.database))}
        (tx,) = [tx for tx in stage.world.chain.txs.values() if not tx.sent.call.approval]
        assert tx.status is TxStatus.CONFIRMED
        assert [one.tx_hash for one in signed_in(ChainRuns(stage.database))] == [run.tx_hash]
        assert balance(stage) == left.cash + left.due
        assert stage.world.venues.account(stage.agent_id, Venue.EVM).redeemable_count() == 0
        assert stage.world.ledger.total() == 0


def signed_in(runs: ChainRuns) -> list[ChainRun]:
    """Redemptions of which a signature stands on disk."""
    return [one for one in runs.recent(100) if one.raw and one.subject.startswith("redeem:")]
