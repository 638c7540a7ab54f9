"""Trading behind a line that breaks and on a disk that fills, for many seeds.

At its end nothing is doubled, lost or unsettled, and the money is exact to the micro.
"""

import random
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import httpx
import pytest

from kit.desk.faults import (
    Fault,
    Line,
    asleep,
    breaking,
    buy,
    is_order,
    no_page_more,
    ready,
    room_again,
    sell,
    until,
)
from kit.examples import DEPTH, seeds
from kit.service.line import line_to
from kit.service.stage import Stage, open_stage, open_test_desk
from service_tui.desk.desk import Desk
from service_tui.desk.trading.lookup import NO_TRACE
from service_tui.desk.trading.sending import CLIENT_REF, SOURCE
from service_tui.storage.blotter import FINAL_STATES, Blotter, StoredState, StoredTicket
from service_tui.terms import Side
from service_tui.units import ONE, micros
from service_tui.wire.endpoints.public import TRADES

LASTS_S: Final = 12 if DEPTH == 1 else 300
"""An hour costs minutes of the machine: a deep run lives five minutes for each seed."""

SPELL_S: Final = 5
"""So long the weather lasts."""

ORDERS: Final = 0.5
"""A second, on average."""

SETTLES_S: Final = 600.0
"""After that what was never found is the person's to decide."""

LOOKS_UP_S: Final = 20.0

PAGE: Final = 200

BREAKS: Final = tuple(one for one in Fault if one not in {Fault.STUCK, Fault.SILENT})
WEATHER: Final = (0.0, 0.05, 0.3, 1.0)


@dataclass
class Weather:
    """How often calls go wrong now, and whether the disk has room."""

    rng: random.Random
    chance: float = 0.0
    is_full: bool = False
    seen: Counter[str] = field(default_factory=Counter)

    def __call__(self, request: httpx.Request) -> Fault | None:
        # Orders fare worse than readings: they are what this is about.
        chance = min(1.0, self.chance * (3 if is_order(request) else 1))
        if self.rng.random() >= chance:
            return None
        fault = self.rng.choice(BREAKS)
        self.seen[f"{fault.name} {'order' if is_order(request) else 'reading'}"] += 1
        return fault

    def turn(self, stage: Stage) -> None:
        self.chance = self.rng.choice(WEATHER)
        self.is_full = self.rng.random() < 0.15
        stage.database.submit(no_page_more if self.is_full else room_again)
        self.seen["full disk"] += self.is_full


def order(desk: Desk, stage: Stage, rng: random.Random) -> None:
    """Buy something, or sell a part of what is held."""
    held = desk.state.positions
    if held and rng.random() < 0.4:
        position = rng.choice(held)
        desk.submit(sell(position, position.shares // rng.choice((1, 2, 3))))
    else:
        desk.submit(buy(rng.choice(stage.open_markets()), rng.randrange(1, 40) * ONE))


async def live(stage: Stage, weather: Weather, rng: random.Random) -> None:
    """One console after the other on the same directory, until the time is over."""
    end = stage.clock.now() + LASTS_S
    while stage.clock.now() < end:
        # No two of them number their orders alike.
        async with open_test_desk(stage, named=f"at{stage.clock.now():.0f}-") as desk:
            await trade(desk, stage, weather, rng)
        # A console that begins on a full disk is another test.
        stage.database.submit(room_again)
    weather.chance = 0.0


async def trade(desk: Desk, stage: Stage, weather: Weather, rng: random.Random) -> None:
    for second in range(rng.randrange(5, 15)):
        if second % SPELL_S == 0:
            weather.turn(stage)
        if rng.random() < ORDERS:
            order(desk, stage, rng)
        await stage.clock.advance(1.0)


async def settled(stage: Stage) -> list[StoredTicket]:
    """Every order, once the last console of a quiet day has dealt with all of them."""
    async with open_test_desk(stage) as desk:
        await until(desk, ready, stage)
        # Ten minutes in which the machine sleeps, and one in which all is looked up.
        await asleep(stage.clock, SETTLES_S)
        await stage.clock.advance(LOOKS_UP_S)
        told = {one.ticket_id: one for one in desk.state.tickets}
    await stage.database.write(lambda _: None)
    found = Blotter(stage.database).recent(10_000)
    for ticket in found:
        if ticket.state not in FINAL_STATES:
            # Nobody knows better, and the person is asked.
            assert told[ticket.ticket_id].outcome == NO_TRACE
    return found


async def traded(stage: Stage) -> list[dict[str, Any]]:
    """Everything that the service carried out, as it tells it."""
    rows: list[dict[str, Any]] = []
    while True:
        body = await line_to(stage).said(TRADES, limit=PAGE, offset=len(rows))
        rows += body["trades"]
        if len(body["trades"]) < PAGE:
            return rows


@pytest.mark.slow
@pytest.mark.parametrize("seed", seeds(500, few=8))
async def test_faults_double_lose_and_leave_open_nothing(tmp_path: Path, seed: int) -> None:
    rng = random.Random(seed)
    weather = Weather(random.Random(seed + 1))
    async with open_stage(tmp_path, speed=0) as whole:
        stage, line = breaking(whole)
        line.fault = weather
        await live(stage, weather, rng)
        check_orders(line, await settled(stage), await traded(stage))
        check_money(stage, await traded(stage))


def check_orders(line: Line, found: list[StoredTicket], rows: list[dict[str, Any]]) -> None:
    sent = Counter(body["signal_data"][CLIENT_REF] for body in line.orders())
    # What the service sells by itself, a stop-loss, is nobody's order.
    ours = [row for row in rows if row["source"] == SOURCE]
    done = Counter(row["signal_data"][CLIENT_REF] for row in ours)
    assert max(sent.values(), default=1) == 1
    assert max(done.values(), default=1) == 1
    for ticket in found:
        assert (done[ticket.client_ref] == 1) is (ticket.state is StoredState.DONE), ticket
    assert set(done) <= {one.client_ref for one in found}


def check_money(stage: Stage, rows: list[dict[str, Any]]) -> None:
    cash, held = 10_000 * ONE, Counter[tuple[str, str]]()
    for row in rows:
        way = 1 if row["action"] == "buy" else -1
        cash -= way * micros(row["cost"])
        held[row["market_id"], row["side"]] += way * micros(row["shares"])
    assert stage.world.ledger.total() == 0
    assert stage.world.cash(stage.agent) == cash
    owned = {
        (market_id, side.value): position.shares(side)
        for market_id, position in stage.agent.positions.items()
        for side in Side
    }
    assert +Counter(owned) == +held
