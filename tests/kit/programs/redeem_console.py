"""One console of several on a data directory, without a screen.

`redeem_console.py directory row ahead`: its time runs as the system's does, `ahead` seconds before
it. It says how far it is, a word a line, and redeems whenever a line comes in. It ends with its
input.
"""

import asyncio
import random
import sys
from pathlib import Path

from kit.service.wallets import KEYS
from service_tui.app.first_state import first_state
from service_tui.app.live import local_parts
from service_tui.app.options import Options
from service_tui.clock import SystemClock
from service_tui.desk.commands.wallet import RedeemAll
from service_tui.desk.desk import Desk
from service_tui.desk.slices.redemption import Stage, Step
from service_tui.desk.slices.topics import Topic
from service_tui.units import Timestamp


class ShiftedClock(SystemClock):
    """The system's time, so many seconds ahead: that of the world which lies in the directory."""

    def __init__(self, ahead_s: float) -> None:
        super().__init__()
        self._ahead_s = ahead_s

    def now(self) -> Timestamp:
        return Timestamp(super().now() + self._ahead_s)


READY = {Topic.REDEMPTIONS, Topic.WALLET, Topic.ACCOUNT}


async def tell(desk: Desk, row: str) -> None:
    """Say each thing once, as it becomes so."""
    told: set[str] = set()
    async for state in desk.changes():
        redemption = state.redemption
        found, run = redemption.row(row), redemption.run(row)
        is_ready = set(state.seen) >= READY and found is not None and state.wallet.can_sign
        words = {
            "attached" if state.service.attached else "holds": is_ready,
            "refused": any("redeem there" in one.text for one in state.notices),
            "broadcast": run is not None and run.at(Step.BROADCAST) is not None,
            "redeemed": found is not None and found.stage is Stage.REDEEMED and found.reported,
        }
        for word, is_so in words.items():
            if is_so and word not in told:
                told.add(word)
                sys.stdout.write(word + "\n")
                sys.stdout.flush()


async def main(directory: Path, row: str, ahead_s: float) -> None:
    options = Options(
        directory, directory / "config", directory / "log", speed=0, listen=0, wallet_key=KEYS[0]
    )
    means = ShiftedClock(ahead_s), random.SystemRandom()
    async with (
        local_parts(options, first_state(options), *means) as desk,
        asyncio.TaskGroup() as tasks,
    ):
        telling = tasks.create_task(tell(desk, row))
        while await asyncio.to_thread(sys.stdin.readline):
            desk.submit(RedeemAll((row,)))
        telling.cancel()


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1]), sys.argv[2], float(sys.argv[3])))
