"""What a burst of signals costs the person: 200 in one poll, and the wait of each key meanwhile.

    python tests/bench/bench_signals.py [seconds]

Every second another poll brings 200 signals more, which push older ones out as in the desk, while
keys are pressed on the screen of the reactor. Prints the longest wait and the median, by the clock
on the wall and by the CPU that the console itself used, what of the signals is shown, and in which
order. Target: no key waits more than 50 ms, nothing is lost, the order is kept.
"""

import asyncio
import random
import statistics
import sys
from dataclasses import replace
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests"))

from kit.console.bench_host import run_keys  # noqa: E402
from kit.samples.desk import NOW  # noqa: E402
from kit.samples.reactor import TTL_S, reactor_state, signal  # noqa: E402
from service_tui.console.screens.reactor.table import ReactorRow, key_of  # noqa: E402
from service_tui.console.widgets.record_table import RecordTable  # noqa: E402
from service_tui.desk.slices.reactor import (  # noqa: E402
    SignalsSeen,
    SignalState,
    SignalView,
    reduce_reactor,
)
from service_tui.desk.state import DeskState  # noqa: E402
from service_tui.units import Timestamp  # noqa: E402

BURST = 200


def burst(state: DeskState, number: int) -> tuple[SignalView, ...]:
    """A poll's signals, oldest first, all of the same second."""
    at = Timestamp(NOW - 1.0)
    return tuple(
        replace(
            signal(place % 37, state),
            signal_id=f"0x{number:08x}{place:056x}",
            tx_hash=f"0x{number:08x}{place:056x}",
            state=SignalState.PENDING,
            detail="",
            ticket_id="",
            at=at,
            expires_at=Timestamp(at + TTL_S),
        )
        for place in range(BURST)
    )


def after(state: DeskState, number: int) -> DeskState:
    """The state once a poll has brought its signals."""
    fact = SignalsSeen(NOW, burst(state, number))
    return replace(state, reactor=reduce_reactor(state.reactor, fact))


async def run_signals(
    seconds: int, rng: random.Random
) -> tuple[list[float], list[float], list[str], list[str]]:
    """Seconds that each key waited, by the wall and by our own CPU; rows shown, rows meant."""
    states = [replace(reactor_state(), preferences={"welcome": "seen"})]
    for number in range(seconds + 2):
        states.append(after(states[-1], number))
    shown: list[str] = []
    meant: list[str] = []

    def compare(table: RecordTable[ReactorRow], state: DeskState) -> None:
        shown.extend(key_of(table.order[place]) for place in range(len(table.order)))
        meant.extend(one.signal_id for one in state.reactor.signals)

    waits, used = await run_keys("reactor", states, seconds, rng, at_end=compare)
    return waits, used, shown, meant


async def main() -> None:
    seconds = int(sys.argv[1]) if len(sys.argv) > 1 else 20
    waits, used, shown, meant = await run_signals(seconds, random.Random(1))
    for name, found in (("on the wall", waits), ("of our own CPU", used)):
        middle, longest = statistics.median(found) * 1e3, max(found) * 1e3
        print(
            f"{len(found)} keys, {name}: median {middle:.1f} ms, longest {longest:.1f} ms (<= 50)"
        )
    print(f"{len(shown):,} of {len(meant):,} signals shown, order kept: {shown == meant}")


if __name__ == "__main__":
    asyncio.run(main())
