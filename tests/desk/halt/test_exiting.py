"""How everything is exited: what each sale is, how many at once, and what is told at the end."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

from kit.desk.offline import Offline
from kit.samples.desk import NOW, sample_state
from service_tui.client.errors import Called, UnreachableError
from service_tui.desk.commands.halt import ExitAll
from service_tui.desk.commands.trading import PlaceTrade
from service_tui.desk.halt import exit_all as room
from service_tui.desk.halt.exit_all import AT_ONCE, exit_all, sale_of
from service_tui.desk.reasons import Fix
from service_tui.desk.slices.halt import ExitAllView, HaltView
from service_tui.desk.slices.tickets import TicketState, TicketView
from service_tui.desk.tickets import Ticket
from service_tui.terms import Action, Venue
from service_tui.units import ONE, Micros
from service_tui.wire.endpoints.public import POSITIONS


class Exits:
    """A halted desk that holds positions, and the sales that it was given."""

    def __init__(self, held: int = 6, **halt: Any) -> None:
        state = sample_state(8)
        first = state.positions[0]
        positions = tuple(replace(first, market_id=f"m-{one}") for one in range(held))
        self.keys = tuple(one.key for one in positions)
        self.on = Offline(replace(state, positions=positions, halt=HaltView(NOW, **halt)))
        self.given: list[Ticket] = []

    def submit(self, order: PlaceTrade) -> Ticket:
        name = f"t{len(self.given)}"
        view = TicketView(
            name, "trade", order.market_id, "sell", TicketState.QUEUED, NOW, NOW, venue=order.venue
        )
        self.given.append(Ticket(order, view))
        return self.given[-1]

    @property
    def orders(self) -> list[Any]:
        return [one.command for one in self.given]

    @property
    def view(self) -> ExitAllView | None:
        return None if self.on.state.halt is None else self.on.state.halt.exits

    def end(self, number: int, state: TicketState = TicketState.DONE) -> None:
        ticket = self.given[number]
        ticket.update(replace(ticket.view, state=state))

    @asynccontextmanager
    async def under_way(self, *keys: str) -> AsyncIterator[asyncio.Task[None]]:
        """Exits of these positions, until nothing more can be given; ended with the test."""
        async with asyncio.TaskGroup() as tasks:
            work = exit_all(ExitAll(keys or self.keys), self.on.ports, self.submit)
            running = tasks.create_task(work)
            await turns()
            yield running
            running.cancel()


async def turns() -> None:
    for _ in range(20):
        await asyncio.sleep(0)


@pytest.mark.parametrize(("venue", "is_confirmed"), [(Venue.SIM, False), (Venue.EVM, True)])
def test_the_exit_of_a_position_is_a_sale_of_all_of_it(venue: Venue, *, is_confirmed: bool) -> None:
    position = replace(sample_state(8).positions[0], venue=venue)
    order = sale_of(position)
    assert (order.market_id, order.side, order.action) == (
        position.market_id, position.side, Action.SELL,
    )  # fmt: skip
    assert (order.venue, order.shares, order.everything) == (venue, position.shares, True)
    assert (order.confirmed, order.question) == (is_confirmed, position.question)
    assert "exit of everything" in order.reasoning


async def test_a_few_are_sold_at_one_time_and_the_next_as_one_ends() -> None:
    it = Exits()
    async with it.under_way() as running:
        assert len(it.given) == AT_ONCE
        assert it.view == ExitAllView(it.keys, tuple(f"t{one}" for one in range(AT_ONCE)))
        assert [one.market_id for one in it.orders] == [f"m-{one}" for one in range(AT_ONCE)]
        it.end(2)
        await turns()
        assert len(it.given) == AT_ONCE + 1
        for number in (0, 1, 3, 4):
            it.end(number)
        await turns()
        assert not running.done()
        it.end(5)
        await turns()
        assert running.done()
    names = tuple(f"t{one}" for one in range(6))
    assert it.view == ExitAllView(it.keys, names, is_over=True)
    assert it.on.words == [("good", "sell all: 6 of 6 sold")]


@pytest.mark.parametrize(
    ("ends", "word", "fix"),
    [
        (["DONE", "DONE"], ("good", "sell all: 2 of 2 sold"), ""),
        (["DONE", "UNKNOWN"], ("warn", "sell all: 1 of 2 sold, 1 unknown, being looked up"), ""),
        (["FAILED", "DONE"], ("warn", "sell all: 1 of 2 sold, 1 not sold"), Fix.SEE_HALT),
        (["REFUSED", "FAILED"], ("warn", "sell all: 0 of 2 sold, 2 not sold"), Fix.SEE_HALT),
        (
            ["UNKNOWN", "REFUSED"],
            ("warn", "sell all: 0 of 2 sold, 1 unknown, being looked up, 1 not sold"),
            Fix.SEE_HALT,
        ),
    ],
)
async def test_what_is_told_at_the_end_counts_each_outcome(
    ends: list[str], word: tuple[str, str], fix: str
) -> None:
    it = Exits(held=2)
    async with it.under_way():
        for number, state in enumerate(ends):
            it.end(number, TicketState[state])
        await turns()
    assert (it.on.words, it.on.told[-1].fix) == ([word], fix)


async def test_each_position_is_sold_once_and_one_that_is_gone_is_counted() -> None:
    it = Exits(held=2)
    async with it.under_way(it.keys[0], "m-9:yes", it.keys[0], it.keys[1]):
        assert [one.market_id for one in it.orders] == ["m-0", "m-1"]
        it.end(0)
        it.end(1)
        await turns()
    view = it.view
    assert view is not None
    assert (view.holdings, view.skipped) == ((it.keys[0], "m-9:yes", it.keys[1]), 1)


async def test_where_nothing_confirmed_is_left_that_is_told() -> None:
    it = Exits(held=1)
    async with it.under_way("m-9:yes"):
        pass
    assert (it.given, it.on.words) == ([], [("warn", "no confirmed position left to sell")])


def without_halt(it: Exits) -> None:
    it.on.state = replace(it.on.state, halt=None)


@pytest.mark.parametrize(
    ("halt", "keys", "why"),
    [
        ({"is_resuming": True}, ("m",), "trading is resuming"),
        ({"exits": ExitAllView(("m",))}, ("m",), "sales already running"),
        ({}, (), "no open positions"),
    ],
)
async def test_nothing_is_sold_where_something_stands_against_it(
    halt: dict[str, Any], keys: tuple[str, ...], why: str
) -> None:
    it = Exits(held=1, **halt)
    order = ExitAll(keys)
    await exit_all(order, it.on.ports, it.submit)
    assert (it.given, it.on.words) == ([], [("warn", f"{order.describe()}: {why}")])
    assert it.view == halt.get("exits")


async def test_without_a_halt_nothing_is_sold_and_none_begins() -> None:
    it = Exits(held=1)
    without_halt(it)
    await exit_all(ExitAll(it.keys), it.on.ports, it.submit)
    assert (it.given, it.on.state.halt) == ([], None)
    assert it.on.words == [("warn", f"sell 1 position: {Fix.HALT_FIRST}")]


async def test_exits_that_are_over_can_be_ordered_again() -> None:
    it = Exits(held=1, exits=ExitAllView(("m",), ("old",), 3, is_over=True))
    async with it.under_way():
        assert it.view == ExitAllView(it.keys, ("t0",))
        it.end(0)
        await turns()


async def test_a_halt_that_ends_meanwhile_ends_the_exits_that_wait() -> None:
    it = Exits()
    async with it.under_way():
        without_halt(it)
        it.end(0)
        await turns()
        assert len(it.given) == AT_ONCE
        for number in range(1, AT_ONCE):
            it.end(number)
        await turns()
    assert it.on.state.halt is None
    assert it.on.words == [("good", "sell all: 4 of 4 sold")]


async def test_exits_that_are_broken_off_are_over() -> None:
    it = Exits(held=1)
    async with it.under_way():
        pass
    assert it.view == ExitAllView(it.keys, ("t0",), is_over=True)
    assert it.on.told == []


# -- what an open order keeps --------------------------------------------------------------------


SILENT = UnreachableError("no connection", Called("GET", "/positions"))


@pytest.mark.parametrize(
    ("held", "sold"),
    [(3 * ONE, 3 * ONE), (9 * ONE, 5 * ONE), (0, None), (None, 5 * ONE), (SILENT, 5 * ONE)],
)
async def test_a_position_with_open_sales_is_sold_as_it_is_held_then(
    monkeypatch: pytest.MonkeyPatch, held: object, sold: int | None
) -> None:
    """A part of the sale that is cancelled may have been met; more than confirmed is never sold."""
    asked: list[tuple[object, ...]] = []
    it = exiting(monkeypatch, asked, frees=True)

    async def held_now(*given: object) -> object:
        asked.append(given[:3])
        if isinstance(held, Exception):
            raise held
        return held

    monkeypatch.setattr(room, "held_now", held_now)
    position = it.on.state.positions[0]
    async with it.under_way():
        assert [one.shares for one in it.orders] == ([] if sold is None else [sold])
        if sold is not None:
            it.end(0)
        await turns()
    assert asked == [
        (position.key, position.venue), (position.market_id, position.side, position.venue),
    ]  # fmt: skip
    unread = ("warn", f"positions unreadable before a sale of all: {SILENT}")
    assert (unread in it.on.words) is (held is SILENT)
    assert it.view is not None
    assert it.view.skipped == (sold is None)


def exiting(
    monkeypatch: pytest.MonkeyPatch, asked: list[tuple[object, ...]], *, frees: bool
) -> Exits:
    """Exits of one position of five shares; what is freed for it is noted."""
    it = Exits(held=1)
    (position,) = it.on.state.positions
    position = replace(position, shares=Micros(5 * ONE))
    it.on.state = replace(it.on.state, positions=(position,))
    it.on.answers[POSITIONS] = SimpleNamespace(positions=())

    async def free_shares(holding: str, venue: Venue, _: object) -> bool:
        asked.append((holding, venue))
        return frees

    monkeypatch.setattr(room, "free_shares", free_shares)
    monkeypatch.setattr(room, "preflight", lambda *_: None)
    return it


async def test_without_an_open_sale_nothing_is_read_again(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[object, ...]] = []
    it = exiting(monkeypatch, asked, frees=False)
    async with it.under_way():
        assert (len(asked), it.on.asked, len(it.given)) == (1, [], 1)


@pytest.mark.parametrize("broken", ["preflight", "sellable"])
async def test_nothing_is_cancelled_for_a_sale_that_cannot_be_sent(
    monkeypatch: pytest.MonkeyPatch, broken: str
) -> None:
    asked: list[tuple[object, ...]] = []
    it = exiting(monkeypatch, asked, frees=True)
    answer: dict[str, Callable[..., object]] = {
        "preflight": lambda *_: "too old", "sellable": lambda *_: 0,
    }  # fmt: skip
    monkeypatch.setattr(room, broken, answer[broken])
    async with it.under_way():
        assert (asked, [one.shares for one in it.orders]) == ([], [5 * ONE])
