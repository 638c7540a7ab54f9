"""A drill at the console, in manual time: a person's keys, and the seconds between them."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

from textual.pilot import Pilot

from kit.clock import leap
from kit.console.idle import wait_for_idle
from kit.console.painted import strips_of
from service_tui.clock import ManualClock
from service_tui.commands.drill import console_of
from service_tui.console.app import ConsoleApp
from service_tui.console.key_queue import REST_S
from service_tui.console.widgets.dialog import ARMED_AFTER_S
from service_tui.desk.slices.drill import DrillPhase, DrillResult
from service_tui.desk.slices.redemption import ChainRunState
from service_tui.desk.slices.tickets import TicketState
from service_tui.desk.state import DeskState
from service_tui.drills.courses import START
from service_tui.drills.play import Game
from service_tui.drills.scenario import Scenario, scenario_of
from service_tui.drills.shipped import scenario_named

STRIDE_S = 60.0
"""A stretch in which nobody presses a key passes in such strides."""


READ_S = 3.0

SHOWN_S = 0.5
"""The console shows states that come fast together."""


class Drilling:
    """A drill that is played by keys."""

    def __init__(self, game: Game, app: ConsoleApp, pilot: Pilot[int], clock: ManualClock) -> None:
        self.game = game
        self.app = app
        self.pilot = pilot
        self.clock = clock

    @property
    def state(self) -> DeskState:
        return self.app.desk_state

    @property
    def at_s(self) -> float:
        drill = self.state.drill
        assert drill is not None
        return drill.elapsed_s(self.clock.now())

    @property
    def text(self) -> str:
        return "\n".join(strip.text for strip in strips_of(self.app.screen))

    async def until(
        self, is_so: Callable[[DeskState], object], *, tries: int = 200, step_s: float = 0.25
    ) -> None:
        """Let time pass in small steps until the state shown is as wanted."""
        for _ in range(tries):
            if is_so(self.state):
                await self.pilot.pause()
                return
            await self.clock.advance(step_s)
            # Nothing is painted before somebody looks.
            await wait_for_idle()
        raise AssertionError(f"the console never showed the wanted state:\n{self.text}")

    async def begin(self) -> None:
        """Read the brief, and start the clock."""
        await self.until(lambda state: state.positions_read and state.account is not None)
        await self.press("enter")
        await self.until(lambda state: state.drill.phase is DrillPhase.RUNNING)

    async def to(self, at: str) -> None:
        """Let the drill's clock come to a time."""
        minutes, seconds = at.split(":")
        goal = int(minutes) * 60 + int(seconds) - READ_S
        while self.at_s < goal:
            await leap(self.clock, goal - self.at_s, STRIDE_S)
        # What the last seconds brought has to be read before it is shown.
        await self.clock.advance(READ_S)
        await self.pilot.pause(SHOWN_S)

    async def press(self, *keys: str) -> None:
        """Press keys; each has its effect before the next, and half a second passes after them."""
        for key in keys:
            await self.pilot.press(key)
        await self.clock.advance(0.5)
        await self.pilot.pause()

    async def type(self, text: str) -> None:
        """A command on the command line."""
        await self.press("colon", *("space" if letter == " " else letter for letter in text))
        await self.press("enter")

    async def trade(self, command: str) -> None:
        """An order by the ticket; done when its end is known, or it is known to be unknown."""
        known = len(self.state.tickets)
        await self.type(command)
        await self.until(lambda state: state.quote is not None and state.quote.ok)
        for _ in range(10):
            if len(self.app.screen_stack) > 1:
                # The ticket of an order that moves the price wants a second look.
                await self.press("enter")
                await self.pilot.pause(2 * ARMED_AFTER_S)
        await self.until(
            lambda state: (
                len(state.tickets) > known
                and state.tickets[0].state not in {TicketState.QUEUED, TicketState.SENT}
            )
        )
        # Keys right behind a ticket that closed by itself are ignored.
        await self.pilot.pause(1.5 * REST_S)

    async def redeem(self) -> None:
        """Redeem the highlighted position: look at the transaction, and sign it."""
        await self.press("t")
        await self.until(lambda state: any(run.call for run in state.redemption.runs))
        await self.pilot.pause(2 * ARMED_AFTER_S)
        await self.press("y")
        await self.until(
            lambda state: all(run.state is ChainRunState.DONE for run in state.redemption.runs)
        )

    async def finish(self) -> DrillResult:
        """Let the rest of the time pass, until the result is shown."""
        drill = self.state.drill
        assert drill is not None
        await self.to(f"{drill.minutes}:00")
        await self.until(lambda state: state.drill.result is not None)
        await self.pilot.pause()
        result = self.state.drill.result
        assert result is not None
        return result


@asynccontextmanager
async def drilling(
    home: Path, scenario: Scenario | str, *, size: tuple[int, int] = (120, 40)
) -> AsyncIterator[Drilling]:
    """A console that shows the brief of a drill."""
    clock = ManualClock(START)
    one = scenario_named(scenario) if isinstance(scenario, str) else scenario
    game = Game(one, home, clock)
    app = console_of(game)
    app.animation_level = "none"
    async with app.run_test(size=size, notifications=True) as pilot:
        drill = Drilling(game, app, pilot, clock)
        await drill.until(lambda _: len(app.screen_stack) > 1)
        yield drill


def scenario_text(**replaced: str) -> str:
    """A small scenario; each part can be replaced, or taken out by an empty text."""
    parts = {
        "top": 'title = "Small"\nbrief = "Look."\nminutes = 2\n',
        "score": "",
        "market": '[[market]]\nname = "dam"\nquestion = "Dam?"\nprice = 0.5\n',
        "agent": "",
        "position": "",
        "follow": "",
        "event": '[[event]]\nat = "0:10"\nkind = "price"\nmarket = "dam"\nto = 0.6\n',
        "best": '[[best]]\nat = "0:05"\ndo = "buy"\nmarket = "dam"\nmoney = 100\n',
        "worst": "",
        "advice": "",
    }
    return "\n".join((parts | replaced).values())


def small(**replaced: str) -> Scenario:
    return scenario_of("small", scenario_text(**replaced))
