"""Plays the rows of a scenario, second by second: the world first, then agents and persons."""

import math
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from service_tui.desk.slices.drill import DrillLine
from service_tui.drills.acts import Acting, act
from service_tui.drills.kinds import YOU
from service_tui.drills.line import BrokenLine
from service_tui.drills.scenario import Row
from service_tui.drills.stage import DrillStage
from service_tui.engine.events import Breached, Event, Fill
from service_tui.engine.exits import SOURCES
from service_tui.units import ONE, decimal

OF_THE_WORLD: Final = frozenset({"price", "news", "settle", "signal", "gas", "chain", "fault"})
"""Kinds that come before the others of the same second."""

SERVICE: Final = "service"
WORLD: Final = "world"
QUESTION_MAX: Final = 40
_CHECK_S: Final = 10


class Director:
    """The rows that are still to come, and the lines of the timeline so far.

    Args:
        stage: the world.
        line: the person's connection.
        rows: what happens, in any order.
    """

    def __init__(self, stage: DrillStage, line: BrokenLine, rows: Iterable[Row]) -> None:
        self.lines: list[DrillLine] = []
        self.undone: list[tuple[Row, str]] = []
        self._stage = stage
        self._line = line
        self._rows = sorted(rows, key=lambda row: (row.at, row.kind not in OF_THE_WORLD))
        self._next = 0
        self._second = -1

    async def play_until(self, at_s: float) -> None:
        """Play the seconds up to this one; of those that were missed, the ones that bring much."""
        last = math.floor(at_s)
        for second in range(self._second + 1, last + 1):
            if second == last or self._is_busy(second):
                self._second = second
                await self._play(second)

    def _is_busy(self, second: int) -> bool:
        """Whether a row is due, or a price on its way."""
        is_due = self._next < len(self._rows) and self._rows[self._next].at <= second
        return is_due or bool(self._stage.ramps)

    async def leap_to(self, second: int) -> None:
        """Play this second and none between, in which nothing was to happen."""
        self._second = second
        await self._play(second)

    def busy_seconds(self) -> Iterator[int]:
        """The seconds in which something happens, in their order, the last one included."""
        length = int(self._stage.scenario.length_s)
        busy = {*range(0, length + 1, _CHECK_S), length}
        for row in self._rows:
            at = math.ceil(row.at)
            over = math.ceil(row.number("over")) if row.kind == "price" else 0
            busy.update(range(at, at + over + 2))
        yield from sorted(second for second in busy if second <= length)

    async def _play(self, second: int) -> None:
        due = self._due(second)
        await self._act(second, [row for row in due if row.kind in OF_THE_WORLD])
        await self._move(second)
        await self._act(second, [row for row in due if row.kind not in OF_THE_WORLD])

    def _due(self, second: int) -> Sequence[Row]:
        begin = self._next
        while self._next < len(self._rows) and self._rows[self._next].at <= second:
            self._next += 1
        return self._rows[begin : self._next]

    async def _act(self, second: int, rows: Iterable[Row]) -> None:
        for row in rows:
            why = await act(Acting(self._stage, self._line, second), row)
            if why:
                self.undone.append((row, why))
            text = f"{row.describe()} ({why})" if why else row.describe()
            self.lines.append(DrillLine(row.at, _who(row), text))

    async def _move(self, second: int) -> None:
        """Move the tape, and the prices that are on their way."""
        ramps = self._stage.ramps
        prices = {market_id: ramp.price_at(second) for market_id, ramp in ramps.items()}
        for market_id in [key for key, ramp in ramps.items() if second >= ramp.until]:
            del ramps[market_id]
        times = self._stage.times(second)
        events = await self._stage.sim.service.world_store.play(times, prices)
        self.lines += (DrillLine(second, SERVICE, text) for text in self._exits(events))

    def _exits(self, events: Sequence[Event]) -> Iterator[str]:
        """The service's own actions: breaches and the sales after them."""
        for event in events:
            if isinstance(event, Breached):
                name = self._question(event.market_id)
                yield f"stop at {event.level:.3f} breached at {event.price:.3f}: {name}"
            elif isinstance(event, Fill) and event.note.source in SOURCES.values():
                price = event.money / event.shares
                name = self._question(event.market_id)
                yield (
                    f"sold {event.shares / ONE:,.0f} {event.side.value.upper()} "
                    f"for {decimal(event.money):,.2f}, {price:.3f} each: {name}"
                )

    def _question(self, market_id: str) -> str:
        question = self._stage.world.question_of(market_id)
        return question if len(question) <= QUESTION_MAX else f"{question[: QUESTION_MAX - 1]}…"


def _who(row: Row) -> str:
    """The actor of a row, for the timeline."""
    if row.kind in OF_THE_WORLD:
        return SERVICE if row.kind == "fault" else WORLD
    if row.has("by"):
        return row.text("by")
    return row.text("who") if row.has("who") else YOU
