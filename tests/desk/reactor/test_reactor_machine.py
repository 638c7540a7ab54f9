"""Any order of trades, failures, lost answers, restarts and resets: one mirror, one breaker."""

import asyncio
import itertools
import tempfile
from collections import Counter
from collections.abc import Sequence
from enum import Enum, auto
from pathlib import Path

import httpx
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from kit.desk.faults import Fault, Line, asleep, breaking, reading_seldom, ready, until
from kit.desk.reactor import ANN, bought, configure, decisions, is_read, is_trade, settle, signals
from kit.examples import examples
from kit.service.stage import Stage, open_stage, open_test_desk
from service_tui.desk.commands.reactor import MirrorSignal, ResetBreaker
from service_tui.desk.desk import Desk
from service_tui.desk.slices.reactor import SignalState
from service_tui.desk.state import DeskState
from service_tui.engine.reactor.reactor import RESET
from service_tui.storage.reactor import StoredReactor
from service_tui.terms import FAILURES_MAX


class Step(Enum):
    """What may happen to a desk that mirrors by itself."""

    TRADES = auto()
    DEAR_TRADES = auto()
    LOST = auto()
    AGAIN = auto()
    RESET = auto()
    HOUR = auto()
    RESTART = auto()


PLAYS = st.lists(st.sampled_from([*Step, Step.DEAR_TRADES, Step.TRADES]), min_size=3, max_size=9)


@pytest.mark.slow
@examples(8)
@example([Step.DEAR_TRADES, Step.DEAR_TRADES, Step.HOUR, Step.DEAR_TRADES])
@given(PLAYS)
def test_a_signal_is_mirrored_once_and_the_breaker_is_the_services(play: list[Step]) -> None:
    with tempfile.TemporaryDirectory() as path, reading_seldom():
        asyncio.run(played(Path(path), play))


async def played(path: Path, play: Sequence[Step]) -> None:
    async with open_stage(path, speed=0) as whole:
        stage, line = breaking(whole)
        await configure(stage)
        choice = {"address": ANN, "label": "", "policy": "auto"}
        await StoredReactor(stage.database).choose(choice)
        resumed: set[int] = set()
        for is_end, steps in itertools.groupby(play, lambda step: step is Step.RESTART):
            if not is_end:
                resumed |= await run(stage, line, list(steps))
        await check(stage, line, resumed)


async def run(stage: Stage, line: Line, steps: list[Step]) -> set[int]:
    """One life of a desk.

    Returns:
        After how many decisions a pause ended with its hour: the count begins again there.
    """
    resumed: set[int] = set()
    async with open_test_desk(stage) as desk:
        await until(desk, lambda s: ready(s) and is_read(s), stage)
        for step in steps:
            before = len(bought(line))
            was_paused = desk.state.reactor.breaker.paused_at is not None
            await take(step, desk, stage, line)
            await stage.clock.advance(5.0)
            await until(desk, is_calm, stage)
            if was_paused and step not in {Step.RESET, Step.HOUR}:
                assert len(bought(line)) == before
            if was_paused and step is Step.HOUR:
                resumed.add(len(await decisions(stage)))
        await until(desk, lambda s: agrees(s.reactor.breaker.failures, stage), stage)
    return resumed


def is_calm(state: DeskState) -> bool:
    return not signals(state, SignalState.MIRRORING, SignalState.UNKNOWN)


def agrees(failures: int, stage: Stage) -> bool:
    breaker = stage.world.reactor.breaker(stage.agent_id, stage.clock.now())
    return failures == breaker.failures


async def take(step: Step, desk: Desk, stage: Stage, line: Line) -> None:
    match step:
        case Step.TRADES:
            await settle(stage, 2)
        case Step.DEAR_TRADES:
            # So far below the market that no mirror finds that price.
            await settle(stage, 3, price=0.02)
        case Step.LOST:
            await lose_one(stage, line)
        case Step.HOUR:
            await asleep(stage.clock, 3_601.0)
        case _:
            orders = [MirrorSignal(one.signal_id) for one in desk.state.reactor.signals]
            for order in orders if step is Step.AGAIN else [ResetBreaker()]:
                desk.submit(order)


async def lose_one(stage: Stage, line: Line) -> None:
    """A trade whose mirror is carried out, and never answered."""
    lost: list[httpx.Request] = []

    def once(request: httpx.Request) -> Fault | None:
        if is_trade(request) and not lost:
            lost.append(request)
            return Fault.LOST
        return None

    line.fault = once
    await settle(stage)
    await stage.clock.advance(5.0)
    line.fault = lambda _: None


async def check(stage: Stage, line: Line, resumed: set[int]) -> None:
    """Every transaction had one order at most, and one end; the breaker follows from the ends."""
    orders = Counter(one["signal_data"]["tx_hash"] for one in bought(line))
    assert all(count == 1 for count in orders.values())
    reactor = stage.world.reactor.state(stage.agent_id)
    told = Counter(one.tx_hash for one in reactor.reactions if one.decision != RESET)
    assert all(count == 1 for count in told.values())
    assert len(stage.world.reactor.mirrors.done.get(stage.agent_id, {})) == sum(
        one == "mirrored" for one in await decisions(stage)
    )
    in_a_row = 0
    for at, decision in enumerate(await decisions(stage)):
        so_far = 0 if at in resumed else in_a_row
        in_a_row = so_far + 1 if decision == "failed" else 0
        # Those that were on their way when it opened do not count, and no more may leave.
        assert in_a_row < FAILURES_MAX + 4
    assert stage.world.ledger.total() == 0
