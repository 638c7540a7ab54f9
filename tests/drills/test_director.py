"""When the rows of a scenario are played, in which order, and what the timeline says."""

from types import SimpleNamespace
from typing import Any, Final

import pytest

from kit.engine.bare import AT
from service_tui.desk.slices.drill import DrillLine
from service_tui.engine.events import Breached, Fill, Note
from service_tui.engine.exits import SOURCES
from service_tui.terms import Action, ExitReason, Side, Venue
from service_tui.units import ONE, Micros, Timestamp
from service_tui.wiring.drills import director
from service_tui.wiring.drills.director import OF_THE_WORLD, Director
from service_tui.wiring.drills.kinds import YOU
from service_tui.wiring.drills.scenario import Row
from service_tui.wiring.drills.stage import Ramp

Played = list[Any]


class Stage:
    """A stage that notes how its tape moves."""

    def __init__(self, played: Played, length_s: float = 25.0) -> None:
        self.ramps: dict[str, Ramp] = {}
        self.events: list[Any] = []
        self.scenario = SimpleNamespace(length_s=length_s)
        self.played = played
        question = "Q" * 40
        self.world = SimpleNamespace(question_of={"m1": question, "m2": f"{question}x"}.get)
        store = SimpleNamespace(play=self._play)
        self.sim = SimpleNamespace(service=SimpleNamespace(world_store=store))

    def times(self, at_s: float) -> str:
        return f"times of {at_s:g}"

    async def _play(self, times: str, prices: Any) -> list[Any]:
        self.played.append((times, prices))
        return self.events


@pytest.fixture
def played(monkeypatch: pytest.MonkeyPatch) -> Played:
    """What was done, in its order; a row with `why` comes to nothing."""
    found: Played = []

    async def act(acting: Any, row: Row) -> str:
        found.append((acting.at_s, row.kind))
        return str(row.values.get("why", ""))

    monkeypatch.setattr(director, "act", act)
    return found


def row(at: float, kind: str, **values: Any) -> Row:
    return Row(1, {"at": at, "note": f"{kind} at {at:g}", **values}, kind)


def directed(stage: Any, *rows: Row) -> Director:
    line: Any = None
    return Director(stage, line, rows)


async def test_rows_are_played_in_their_second_the_worlds_before_the_tape_moves(
    played: Played,
) -> None:
    one = directed(
        Stage(played), row(2, "buy"), row(2, "price", over=1), row(1, "halt"), row(2.5, "sell"),
        row(3, "news"),
    )  # fmt: skip
    await one.play_until(2)
    assert played == [
        ("times of 1", {}), (1, "halt"), (2, "price"), ("times of 2", {}), (2, "buy")
    ]  # fmt: skip
    await one.play_until(3.9)
    assert played[5:] == [(3, "news"), ("times of 3", {}), (3, "sell")]
    assert [line.at_s for line in one.lines] == [1, 2, 2, 3, 2.5]


async def test_of_seconds_that_were_missed_only_busy_ones_are_played(played: Played) -> None:
    stage: Any = Stage(played)
    one = directed(stage, row(3, "buy"))
    await one.play_until(6)
    assert [one for one, _ in played if isinstance(one, str)] == ["times of 3", "times of 6"]
    stage.ramps["m1"] = Ramp(0.2, 6.0, 0.6, 8.0)
    await one.play_until(9)
    assert played[-3:] == [
        ("times of 7", {"m1": 0.4}), ("times of 8", {"m1": 0.6}), ("times of 9", {})
    ]  # fmt: skip
    assert stage.ramps == {}
    await one.play_until(9.5)
    assert played[-1] == ("times of 9", {})


async def test_a_leap_plays_its_second_alone(played: Played) -> None:
    one = directed(Stage(played), row(3, "buy"))
    await one.leap_to(10)
    assert played == [("times of 10", {}), (10, "buy")]
    await one.play_until(10)
    assert len(played) == 2


def test_busy_seconds_are_those_of_rows_of_prices_on_their_way_and_every_tenth() -> None:
    stage: Any = Stage([], length_s=25.0)
    one = directed(stage, row(3.2, "buy"), row(11, "price", over=2), row(99, "sell"))
    assert list(one.busy_seconds()) == [0, 4, 5, 10, 11, 12, 13, 14, 20, 25]


async def test_what_came_to_nothing_is_told_and_kept(played: Played) -> None:
    bad = row(1, "buy", why="no room", who="ada")
    one = directed(Stage(played), bad, row(1, "sell", by="ann"), row(1, "halt"))
    await one.play_until(1)
    assert one.undone == [(bad, "no room")]
    assert one.lines == [
        DrillLine(1, "ada", "buy at 1 (no room)"), DrillLine(1, "ann", "sell at 1"),
        DrillLine(1, YOU, "halt at 1"),
    ]  # fmt: skip


async def test_rows_of_the_world_are_told_as_its_own(played: Played) -> None:
    assert {"fault", "price"} <= set(OF_THE_WORLD)
    one = directed(Stage(played), row(1, "fault", who="ada"), row(1, "price", over=0))
    await one.play_until(1)
    assert [line.who for line in one.lines] == ["service", "world"]


BREACH: Final = Breached(
    "r1", "ada", AT, AT, Venue.SIM, "m1", Side.NO, ExitReason.STOP_LOSS, 0.2, 0.4567, 0.5, 0.4321,
    Micros(30 * ONE),
)  # fmt: skip


def sale(source: str) -> Fill:
    return Fill(
        "t1", "ada", "m2", Side.NO, Action.SELL, Micros(1_234 * ONE), Micros(617 * ONE), 0.5, 0.5,
        Timestamp(AT), Timestamp(AT), Micros(0), Note(source=source),
    )  # fmt: skip


async def test_exits_of_the_service_are_told_with_their_prices(played: Played) -> None:
    stage: Any = Stage(played)
    stage.events = [BREACH, sale(SOURCES[ExitReason.STOP_LOSS]), sale("desk")]
    one = directed(stage)
    await one.play_until(0)
    assert one.lines == [
        DrillLine(0, "service", f"stop at 0.457 breached at 0.432: {'Q' * 40}"),
        DrillLine(0, "service", f"sold 1,234 NO for 617.00, 0.500 each: {'Q' * 39}…"),
    ]
