"""Open orders of a console that is gone go on in the blotter of the next one."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from kit.service.memory import MemoryDatabase
from service_tui.app.data import Data, open_data
from service_tui.app.options import BESIDE, Options
from service_tui.app.orphaned_orders import _copy, take_over
from service_tui.clock import ManualClock
from service_tui.storage.blotter import TAKEN_OVER, Blotter, Intent, StoredState, StoredTicket

CLOCK = ManualClock()


@dataclass(frozen=True)
class Directory:
    """A data directory, and what the next console of it has open."""

    path: Path
    data: Data

    def options(self, *, read_only: bool = False) -> Options:
        return Options(self.path, self.path, self.path / "log", read_only=read_only)

    def own(self) -> dict[str, StoredTicket]:
        return {one.ticket_id: one for one in Blotter(self.data.database).recent(9)}


def intent(name: str, amount: int) -> Intent:
    return Intent(
        ticket_id=name,
        at=CLOCK.now() - amount,
        kind="trade",
        subject=f"m-{name}",
        body=f'{{"what": "{name}"}}',
        venue="evm_venue",
        amount_micros=amount,
        client_ref=f"ref-{name}",
    )


async def left(folder: Path, *intents: Intent, unknown: str = "", done: str = "") -> None:
    """Orders of a console that ended while they were under way."""
    async with open_data(folder, CLOCK) as data:
        blotter = Blotter(data.database)
        for one in intents:
            await blotter.open_ticket(one)
        if unknown:
            outcome = '{"outcome": "no answer"}'
            await blotter.settle(unknown, StoredState.UNKNOWN, outcome, now=CLOCK.now() - 1)
        if done:
            await blotter.settle(done, StoredState.DONE, "{}", now=CLOCK.now() - 1)


@asynccontextmanager
async def directory(path: Path) -> AsyncGenerator[Directory]:
    async with open_data(path / BESIDE / "own", CLOCK) as data:
        yield Directory(path, data)


async def states(folder: Path) -> dict[str, tuple[str, str | None]]:
    async with open_data(folder, CLOCK) as data:
        rows = await asyncio.to_thread(Blotter(data.database).recent, 9)
        return {one.ticket_id: (one.state.value, one.outcome) for one in rows}


@pytest.mark.parametrize("state", [StoredState.SENT, StoredState.UNKNOWN])
async def test_a_copy_has_all_that_its_order_was_made_of(state: StoredState) -> None:
    database: Any = MemoryDatabase()
    own, sent = Blotter(database), intent("sent", 5)
    fields = {name: getattr(sent, name) for name in Intent.__slots__}
    outcome = '{"outcome": "no answer"}' if state is StoredState.UNKNOWN else None
    ticket: Any = SimpleNamespace(**fields, state=state, outcome=outcome)
    for _ in range(2):
        # Once more, after a kill right behind it, changes nothing.
        await _copy(ticket, own, CLOCK)
    (found,) = own.recent(9)
    assert {name: getattr(found, name) for name in Intent.__slots__} == fields
    assert (found.state is StoredState.UNKNOWN) is (state is StoredState.UNKNOWN)
    assert found.outcome == outcome
    database.close()


@pytest.mark.slow
async def test_an_open_order_goes_on_here_and_ends_there(tmp_path: Path) -> None:
    gone = tmp_path / BESIDE / "gone"
    sent, lost, over = intent("sent", 5), intent("lost", 7), intent("over", 9)
    await left(gone, sent, lost, over, unknown="lost", done="over")
    async with directory(tmp_path) as at:
        await take_over(at.options(), at.data, CLOCK)
        own = at.own()
    assert set(own) == {"sent", "lost"}
    for one in (sent, lost):
        for name in Intent.__slots__:
            assert getattr(own[one.ticket_id], name) == getattr(one, name), name
    assert own["sent"].state is not StoredState.UNKNOWN
    assert (own["lost"].state, own["lost"].outcome) == (
        StoredState.UNKNOWN,
        '{"outcome": "no answer"}',
    )
    after = await states(gone)
    taken = (StoredState.FAILED.value, TAKEN_OVER)
    assert (after["sent"], after["lost"]) == (taken, taken)
    assert after["over"] == (StoredState.DONE.value, "{}")


@pytest.mark.slow
async def test_orders_of_several_consoles_go_on_and_the_own_ones_stay(tmp_path: Path) -> None:
    for place, name in enumerate(("a", "b")):
        await left(tmp_path / BESIDE / name, intent(name, 3 + place))
    async with directory(tmp_path) as at:
        mine = intent("mine", 2)
        await Blotter(at.data.database).open_ticket(mine)
        await take_over(at.options(), at.data, CLOCK)
        assert set(at.own()) == {"a", "b", "mine"}
        assert at.own()["mine"].outcome is None
        # Once more there is nothing left to take.
        await take_over(at.options(), at.data, CLOCK)
        assert set(at.own()) == {"a", "b", "mine"}


@pytest.mark.slow
async def test_an_order_that_was_taken_over_before_a_kill_ends_in_its_old_place(
    tmp_path: Path,
) -> None:
    gone = tmp_path / BESIDE / "gone"
    await left(gone, intent("sent", 5))
    async with directory(tmp_path) as at:
        await Blotter(at.data.database).open_ticket(intent("sent", 5))
        await take_over(at.options(), at.data, CLOCK)
        assert set(at.own()) == {"sent"}
    assert (await states(gone))["sent"][0] == StoredState.FAILED.value


@pytest.mark.slow
async def test_a_desk_that_only_reads_takes_nothing_over(tmp_path: Path) -> None:
    gone = tmp_path / BESIDE / "gone"
    await left(gone, intent("sent", 5))
    async with directory(tmp_path) as at:
        await take_over(at.options(read_only=True), at.data, CLOCK)
        assert at.own() == {}
    assert (await states(gone))["sent"][0] != StoredState.FAILED.value


@pytest.mark.slow
async def test_a_blotter_that_is_in_use_is_left_for_the_next_start(
    tmp_path: Path,
) -> None:
    await left(tmp_path / BESIDE / "a", intent("a", 3))
    await left(tmp_path / BESIDE / "b", intent("b", 4))
    async with directory(tmp_path) as at, open_data(tmp_path / BESIDE / "a", CLOCK):
        await take_over(at.options(), at.data, CLOCK)
        assert set(at.own()) == {"b"}
