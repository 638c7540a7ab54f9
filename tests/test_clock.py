"""The clock that tests move by hand."""

import asyncio
import threading

import pytest

from kit.loop import LATE_S
from service_tui.clock import ManualClock, SystemClock


async def waiter(clock: ManualClock, delay_s: float, told: list[float]) -> None:
    await clock.sleep(delay_s)
    told.append(delay_s)


async def test_sleepers_wake_in_the_order_of_their_time() -> None:
    clock, told = ManualClock(), []
    async with asyncio.TaskGroup() as tasks:
        for delay_s in (3.0, 1.0, 2.0, 1.0):
            tasks.create_task(waiter(clock, delay_s, told))
        await asyncio.sleep(0)
        await clock.advance(0.9)
        assert told == []
        await clock.advance(1.2)
        assert told == [1.0, 1.0, 2.0]
        await clock.advance(1.0)
    assert told == [1.0, 1.0, 2.0, 3.0]


async def test_time_moves_only_when_a_test_says_so() -> None:
    clock = ManualClock(1_000.0)
    await asyncio.sleep(0)
    assert (clock.now(), clock.monotonic()) == (1_000.0, 0.0)
    await clock.advance(2.5)
    assert (clock.now(), clock.monotonic()) == (1_002.5, 2.5)


@pytest.mark.parametrize("delay_s", [0.0, -1.0])
async def test_who_need_not_wait_goes_on_before_the_time_moves(delay_s: float) -> None:
    clock, told = ManualClock(), []
    async with asyncio.TaskGroup() as tasks:
        sleeping = tasks.create_task(waiter(clock, delay_s, told))
        for _ in range(3):
            await asyncio.sleep(0)
        assert told == [delay_s]
        sleeping.cancel()


async def test_who_sleeps_again_on_waking_is_woken_again_within_one_advance() -> None:
    clock, at = ManualClock(0.0), []

    async def ticker() -> None:
        while True:
            at.append(clock.now())
            await clock.sleep(1.0)

    async with asyncio.TaskGroup() as tasks:
        ticking = tasks.create_task(ticker())
        await asyncio.sleep(0)
        await clock.advance(3.0)
        ticking.cancel()
    assert at == [0.0, 1.0, 2.0, 3.0]


async def test_a_sleeper_that_was_cancelled_is_passed_over() -> None:
    clock, told = ManualClock(), []
    async with asyncio.TaskGroup() as tasks:
        gone = tasks.create_task(waiter(clock, 1.0, told))
        tasks.create_task(waiter(clock, 1.0, told))
        await asyncio.sleep(0)
        gone.cancel()
        await clock.advance(1.0)
    assert told == [1.0]


async def test_time_goes_on_when_threads_have_done_what_they_were_asked() -> None:
    clock, done = ManualClock(), []

    async def worker() -> None:
        await clock.sleep(1.0)
        for _ in range(100):
            await asyncio.to_thread(int)
        done.append(clock.now())

    async with asyncio.TaskGroup() as tasks:
        tasks.create_task(worker())
        await asyncio.sleep(0)
        began = clock.now()
        await clock.advance(5.0)
        assert done == [began + 1.0]


async def test_a_thread_that_the_test_itself_holds_back_is_waited_for_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    waits: list[float] = []

    async def nobody_comes(_: object, **how: float) -> tuple[set[object], None]:
        waits.append(how["timeout"])
        return set(), None

    clock, gate = ManualClock(), threading.Event()
    async with asyncio.TaskGroup() as tasks:
        tasks.create_task(asyncio.to_thread(gate.wait))
        await asyncio.sleep(0)
        with monkeypatch.context() as patched:
            patched.setattr(asyncio, "wait", nobody_comes)
            await clock.advance(1.0)
            await clock.advance(1.0)
        gate.set()
    assert waits == [LATE_S]


@pytest.mark.parametrize("delay_s", [0.0, -1.0])
async def test_no_time_at_all_is_one_turn_of_the_loop(delay_s: float) -> None:
    await ManualClock().sleep(delay_s)
    await SystemClock().sleep(delay_s)


def test_the_machines_time_never_runs_backwards() -> None:
    clock = SystemClock()
    assert clock.monotonic() <= clock.monotonic()
    assert clock.now() > 1_700_000_000
