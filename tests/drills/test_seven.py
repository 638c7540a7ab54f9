"""The seven drills by a person's keys, each once well and once badly, with their scores."""

from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path

import pytest

from kit.console.drilling import Drilling, drilling
from service_tui.console.widgets.dialog import ARMED_AFTER_S
from service_tui.desk.slices.drill import DrillResult
from service_tui.drills import play
from service_tui.drills.courses import Course
from service_tui.drills.scenario import Row, Scenario

Play = Callable[[Drilling], Awaitable[None]]


async def order_once(drill: Drilling) -> None:
    await drill.to("0:30")
    await drill.trade("buy reservoir yes 300")


async def order_again(drill: Drilling) -> None:
    await order_once(drill)
    await drill.to("2:00")
    await drill.trade("buy reservoir yes 300")


async def without_stops(drill: Drilling) -> None:
    await drill.to("1:30")
    await drill.press("3")
    for left in (2, 1, 0):
        await drill.press("d")
        await drill.until(lambda state, left=left: len(state.risk.monitors) == left)
        # After a row has gone, a key has to be meant for the next one.
        await drill.press("k")


async def buy_the_hole(drill: Drilling) -> None:
    await without_stops(drill)
    await drill.to("3:20")
    await drill.trade("buy dam yes 200")


async def panic(drill: Drilling) -> None:
    await without_stops(drill)
    await drill.to("3:20")
    for name in ("dam", "ferry", "rover"):
        await drill.trade(f"sell {name} yes all")


async def pause_hare(drill: Drilling) -> None:
    await drill.to("1:20")
    await drill.type("agent hare")
    await drill.press("H")


async def pause_tortoise(drill: Drilling) -> None:
    await drill.to("1:20")
    await drill.type("agent tortoise")
    await drill.press("H")


async def mirror(drill: Drilling, *times: str) -> None:
    for count, at in enumerate(times, 1):
        await drill.to(at)
        # The newest signal stands at the top.
        await drill.press("4", "home")
        await drill.press("f")
        await drill.clock.advance(1.0)
        await drill.pilot.pause(2 * ARMED_AFTER_S)
        await drill.press("enter")
        await drill.until(
            lambda state, count=count: (
                sum(ticket.kind == "mirror" for ticket in state.tickets) == count
                and not state.in_flight
            )
        )


async def mirror_the_truth(drill: Drilling) -> None:
    await mirror(drill, "0:40", "2:40")


async def mirror_the_lies(drill: Drilling) -> None:
    await mirror(drill, "4:50", "5:40", "6:20")


async def sell_the_proposal(drill: Drilling) -> None:
    await drill.to("2:00")
    await drill.trade("sell census yes all")


async def buy_the_proposal(drill: Drilling) -> None:
    await drill.to("2:00")
    await drill.trade("buy census yes 200")


async def largest_first(drill: Drilling) -> None:
    await drill.to("2:20")
    await drill.press("5", "j")
    await drill.redeem()


async def smallest_first(drill: Drilling) -> None:
    await drill.to("2:20")
    await drill.press("5")
    await drill.redeem()


async def pause_magpie(drill: Drilling) -> None:
    await drill.to("0:55")
    await drill.type("agent magpie")
    await drill.press("H")


async def resume_nothing(drill: Drilling) -> None:
    """A halt, which the colleague takes back."""
    await drill.to("0:55")
    await drill.press("f9", "escape")


SEVEN: dict[str, tuple[Play, int, Play, int]] = {
    "silent-service": (order_once, 100, order_again, 63),
    "flash-crash": (buy_the_hole, 100, panic, 0),
    "runaway-agent": (pause_hare, 100, pause_tortoise, 0),
    "lying-feed": (mirror_the_truth, 100, mirror_the_lies, 19),
    "oracle-reversal": (sell_the_proposal, 100, buy_the_proposal, 10),
    "empty-wallet": (largest_first, 100, smallest_first, 0),
    "two-supervisors": (pause_magpie, 100, resume_nothing, 19),
}


@pytest.fixture(autouse=True)
def _measured_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Play the best and the worst course of a drill once, and not for each score again."""
    known: dict[tuple[str, tuple[int, ...]], Course] = {}
    measured = play.measured

    async def once(scenario: Scenario, rows: Sequence[Row], folder: Path) -> Course:
        key = scenario.name, tuple(row.line for row in rows)
        if key not in known:
            known[key] = await measured(scenario, rows, folder)
        return known[key]

    monkeypatch.setattr(play, "measured", once)


async def played(home: Path, name: str, plays: Play) -> DrillResult:
    async with drilling(home, name) as drill:
        await drill.begin()
        await plays(drill)
        result = await drill.finish()
        assert f"Score {result.score} of 100" in drill.text
        return result


@pytest.mark.slow
@pytest.mark.parametrize("name", SEVEN)
async def test_played_well_and_badly(tmp_path: Path, name: str) -> None:
    well, high, badly, low = SEVEN[name]
    good = await played(tmp_path / "well", name, well)
    bad = await played(tmp_path / "badly", name, badly)
    assert (good.score, bad.score) == (high, low)
