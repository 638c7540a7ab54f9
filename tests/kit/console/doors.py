"""Doors of a desk that shows the states it is given and keeps what is ordered; an app on them."""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace

from textual.pilot import Pilot

from kit.console.host import until
from kit.console.idle import wait_for_idle
from kit.console.painted import strips_of
from kit.samples.desk import NOW, sample_state
from service_tui.console import theme
from service_tui.console.app import ConsoleApp
from service_tui.console.closed_desk import DeskClosedError
from service_tui.console.key_file import OwnKeys
from service_tui.console.own_commands import OwnCommands
from service_tui.console.parts.view_memory import LAST_SCREEN
from service_tui.desk.command import Command
from service_tui.desk.commands.agents import NoteConfirmed
from service_tui.desk.commands.settings import SetPreference
from service_tui.desk.recording.player import Player
from service_tui.desk.state import DeskState
from service_tui.units import Timestamp

THEMES = theme.load_themes(theme.shipped_folder())
LOG_PATH = "/tmp/service-tui/log"  # noqa: S108 - only shown
DATA_PATH = "/tmp/service-tui/data"  # noqa: S108 - only shown


class RecordingDoors:
    """A desk that decides nothing."""

    def __init__(self, state: DeskState) -> None:
        self.state = state
        self.submitted: list[Command] = []
        self.confirmed: list[str] = []
        self.views: dict[str, str] = {}
        """Layouts kept for the next start, by the name of their preference."""
        self.is_open = False
        self.was_closed = False
        self.refuses: DeskClosedError | None = None
        self.fault: Exception | None = None
        self.may_open = asyncio.Event()
        self.may_open.set()
        self._changed = asyncio.Event()

    def bring(self, state: DeskState) -> None:
        self.state = state
        self._wake()

    def fail(self, fault: Exception) -> None:
        self.fault = fault
        self._wake()

    def _wake(self) -> None:
        self._changed.set()
        self._changed = asyncio.Event()

    @asynccontextmanager
    async def open(self) -> AsyncIterator["RecordingDoors"]:
        await self.may_open.wait()
        if self.refuses is not None:
            raise self.refuses
        self.is_open = True
        try:
            yield self
        finally:
            self.is_open = False
            self.was_closed = True

    async def changes(self) -> AsyncIterator[DeskState]:
        shown: DeskState | None = None
        while True:
            if self.fault is not None:
                raise self.fault
            if self.state is shown:
                await self._changed.wait()
                continue
            shown = self.state
            yield shown

    def submit(self, command: Command) -> None:
        if isinstance(command, NoteConfirmed):
            self.confirmed.append(command.what)
        elif isinstance(command, SetPreference) and command.name.startswith(LAST_SCREEN):
            self.views[command.name] = command.value
        else:
            self.submitted.append(command)


@dataclass
class Running:
    """A console on recording doors, seen from outside."""

    app: ConsoleApp
    pilot: Pilot[int]
    doors: RecordingDoors
    clock: list[float] = field(default_factory=lambda: [NOW])

    async def until(self, holds: Callable[[], bool]) -> None:
        await until(self.pilot, holds)

    async def bring(self, state: DeskState) -> None:
        self.doors.bring(state)
        # Not `desk_state`, which is another one at each tick while a preference is on its way.
        await self.until(lambda: self.app._raw_state is state)
        await self.pilot.pause()

    async def press(self, *keys: str) -> None:
        await self.pilot.press(*keys)
        await self.pilot.pause()

    async def click(self, words: str) -> None:
        """Click on the lowest place that shows these words, as soon as one does."""
        await self.until(lambda: words in self.text)
        y, line = [(y, line) for y, line in enumerate(self.lines) if words in line][-1]
        await self.pilot.click(offset=(line.index(words) + len(words) // 2, y))

    @property
    def toasts(self) -> list[str]:
        return [notice.message for notice in self.app._notifications]

    @property
    def lines(self) -> list[str]:
        return [strip.text for strip in strips_of(self.app.screen)]

    @property
    def text(self) -> str:
        return "\n".join(self.lines)


def seen_before(state: DeskState) -> DeskState:
    """The state of somebody who has read the first page."""
    return replace(state, preferences={"welcome": "seen", **state.preferences})


@asynccontextmanager
async def running(  # noqa: PLR0913 - what a start can be given
    state: DeskState | None = None,
    *,
    first: str = "attention",
    size: tuple[int, int] = (100, 30),
    prepare: Callable[[RecordingDoors], None] = lambda _: None,
    initial: DeskState | None = None,
    waits: bool = True,
    own_keys: OwnKeys | None = None,
    own_commands: OwnCommands | None = None,
    player: Callable[[], Player | None] = lambda: None,
    replay_at: Timestamp | None = None,
    drills: Callable[[], Sequence[tuple[str, str]]] = tuple,
) -> AsyncIterator[Running]:
    """A console whose desk is open, unless `waits` is off."""
    known = seen_before(sample_state()) if state is None else state
    doors = RecordingDoors(known)
    prepare(doors)
    clock: list[float] = [NOW]
    app = ConsoleApp(
        doors.open,
        known if initial is None else initial,
        now=lambda: Timestamp(clock[0]),
        themes=THEMES,
        log_path=LOG_PATH,
        data_path=DATA_PATH,
        first=first,
        own_keys=own_keys,
        own_commands=own_commands,
        player=player,
        replay_at=replay_at,
        drills=drills,
    )
    app.animation_level = "none"
    async with app.run_test(size=size, notifications=True) as pilot:
        seen = Running(app, pilot, doors, clock)
        # The desk opens and its first state comes before anybody looks.
        await wait_for_idle()
        if waits:
            await seen.until(lambda: doors.is_open)
        await pilot.pause()
        yield seen
