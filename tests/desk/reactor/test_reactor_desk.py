"""What the reactor's part of the desk hears, and which signals it writes down."""

import asyncio
from dataclasses import replace
from typing import Any

import pytest

from kit.desk.offline import Offline
from kit.samples.reactor import reactor_state, waiting
from service_tui.clock import ManualClock
from service_tui.desk.facts import AccountSeen, Noticed
from service_tui.desk.reactor.poll import ReactorWatch
from service_tui.desk.reactor.reactor_desk import WRITE_AFTER_S, ReactorDesk, SignalLog
from service_tui.desk.reactor.stored import row_of
from service_tui.desk.slices.reactor import SignalState, SignalView
from service_tui.desk.slices.topics import Topic
from service_tui.storage.errors import StorageError
from service_tui.terms import Plan
from service_tui.units import Micros

STATE = reactor_state(6)
ONE, TWO = waiting(1, STATE), waiting(2, STATE)


class Stored:
    """What was written, call by call; or a disk that fails."""

    def __init__(self) -> None:
        self.calls: list[list[Any]] = []
        self.problem: Exception | None = None

    async def put(self, rows: list[Any]) -> None:
        if self.problem is not None:
            raise self.problem
        self.calls.append(rows)


def signal_log(clock: ManualClock | None = None) -> tuple[SignalLog, Stored]:
    stored = Stored()
    return SignalLog(stored, clock or ManualClock()), stored  # type: ignore[arg-type]


async def written(before: list[SignalView], after: list[SignalView]) -> list[list[Any]]:
    log, stored = signal_log()
    log.look(before, after)
    await log.flush()
    return stored.calls


@pytest.mark.parametrize(
    "changes",
    [
        {"state": SignalState.SKIPPED},
        {"detail": "other words"},
        {"label": "another name"},
        {"amount": Micros(123)},
        {"ticket_id": "k-1"},
        {"shares": Micros(5)},
        {"cost": Micros(6)},
        {"sold": Micros(5)},
        {"proceeds": Micros(6)},
        {"price_now": 1.0},
        {"price_now": 0.0},
    ],
)
async def test_a_signal_is_written_when_something_about_it_changed(changes: dict[str, Any]) -> None:
    changed = replace(ONE, **changes)
    assert await written([ONE, TWO], [changed, TWO]) == [[row_of(changed)]]


@pytest.mark.parametrize(
    "changes", [{}, {"price_now": 0.5}, {"price_now": None}, {"question": "?"}]
)
async def test_a_price_that_moves_on_is_not_written(changes: dict[str, Any]) -> None:
    assert await written([ONE], [replace(ONE, **changes)]) == []


async def test_a_new_signal_is_written_and_one_that_has_gone_is_left() -> None:
    assert await written([ONE], [ONE, TWO]) == [[row_of(TWO)]]
    assert await written([ONE, TWO], [ONE]) == []
    assert await written([], []) == []


async def test_of_several_changes_the_last_is_written_once() -> None:
    log, stored = signal_log()
    first, last = replace(ONE, detail="a"), replace(ONE, detail="b")
    log.look([ONE], [first])
    log.look([first], [last])
    log.look([last], [last, TWO])
    await log.flush()
    await log.flush()
    assert stored.calls == [[row_of(last), row_of(TWO)]]


@pytest.mark.parametrize(
    "problem", [StorageError("disk full"), UnicodeEncodeError("utf-8", "x", 0, 1, "half a pair")]
)
async def test_a_disk_that_fails_loses_what_it_was_given_and_nothing_more(
    problem: Exception,
) -> None:
    log, stored = signal_log()
    stored.problem = problem
    log.look([], [ONE])
    await log.flush()
    stored.problem = None
    log.look([ONE], [ONE, TWO])
    await log.flush()
    assert stored.calls == [[row_of(TWO)]]


async def test_signals_are_written_a_moment_after_they_came() -> None:
    clock = ManualClock()
    log, stored = signal_log(clock)
    async with asyncio.TaskGroup() as tasks:
        running = tasks.create_task(log.run())
        await clock.advance(1.0)
        log.look([], [ONE])
        await clock.advance(0)
        await clock.advance(WRITE_AFTER_S - 0.01)
        assert stored.calls == []
        await clock.advance(0.01)
        assert stored.calls == [[row_of(ONE)]]
        log.look([ONE], [TWO])
        await clock.advance(0)
        await clock.advance(WRITE_AFTER_S)
        assert len(stored.calls) == 2
        running.cancel()


def desk() -> tuple[ReactorDesk, Offline]:
    on = Offline(STATE)
    made = ReactorDesk(
        on.ports,
        object(),
        ReactorWatch(),
        executes=True,
        held_back=lambda: "",  # type: ignore[arg-type]
    )
    return made, on


@pytest.mark.parametrize(
    ("before", "after", "woken"),
    [
        (Plan.FREE, Plan.PRO, [Topic.REACTOR]),
        (Plan.PRO, Plan.PRO, []),
        (None, Plan.PRO, []),
        (Plan.PRO, None, []),
    ],
)
def test_another_plan_has_the_reactor_read_at_once(
    before: Plan | None, after: Plan | None, woken: list[Topic]
) -> None:
    made, on = desk()
    account = STATE.account
    assert account is not None
    states = [
        replace(STATE, account=None if plan is None else replace(account, plan=plan))
        for plan in (before, after)
    ]
    made.on_fact(states[0], states[1], AccountSeen(account))
    assert on.woken == woken
    # Only the account says it.
    made.on_fact(states[0], states[1], Noticed("info", "x"))
    assert on.woken == woken


def test_without_mirrors_it_is_not_busy() -> None:
    made, _ = desk()
    assert not made.is_busy
    made.close()
    assert len(made.loops()) == 2
