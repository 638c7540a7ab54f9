"""Replay in the console: a recorded state in place of the present one, and the way back."""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable
from functools import partial
from typing import TYPE_CHECKING, Final

from service_tui.console.actions import rewound_reason
from service_tui.console.fields import FieldError
from service_tui.console.keys import cap
from service_tui.console.messages import ReplayRequested
from service_tui.console.replay_text import (
    READINGS,
    is_of_view,
    read_time,
    replayed,
    time_text,
)
from service_tui.console.shell.views import Views
from service_tui.desk.command import Command
from service_tui.desk.commands.halt import Halt
from service_tui.desk.recording.moment import RecordedMoment, RecordError
from service_tui.desk.state import DeskState
from service_tui.units import Timestamp

if TYPE_CHECKING:
    from service_tui.desk.recording.player import Player

STEP_S: Final = {"minute": 60.0, "hour": 3_600.0}
GAP_S: Final = 60.0
"""A moment that was requested and lies further behind its record is named as a gap."""

READ_S: Final = 10.0
"""ours: a file that takes longer is held by another program, or none of ours."""

MOVES_MAX: Final = 20
"""ours: keys that wait for a moment; more were held down."""

NOTHING_YET: Final = "nothing recorded yet"
NOT_RECORDED: Final = "nothing is recorded here: the setting recording is off"
NOTHING_TO_HALT: Final = "replay only: no desk is open here; 'service-tui halt' halts"


class ReplayPages:
    """Shows recorded moments in place of the present, and refuses commands meanwhile.

    Args:
        app: the app that shows them.
        wall_time: the present time.
        live: the present state, also while another one is shown.
        show_live: shows it again.
        player: the recording of the open desk; None without one.
        replay_at: of a console without a desk: the time of the moment that is shown first.
    """

    def __init__(
        self,
        app: Views,
        *,
        wall_time: Callable[[], Timestamp],
        live: Callable[[], DeskState],
        show_live: Callable[[], None],
        player: "Callable[[], Player | None]",
        replay_at: Timestamp | None,
    ) -> None:
        self._app = app
        self._wall_time = wall_time
        self._live = live
        self._show_live = show_live
        self._player = player
        self._first_at = replay_at
        self.moment: RecordedMoment | None = None
        """The moment in front; None for the present."""
        self.is_alone = replay_at is not None
        """True for a console without a desk."""
        self.problem = ""
        """Why a console without a desk shows no moment; empty while the first one is read."""
        self._turn = 0
        """Counts halts and returns to the present: each discards a moment that is being read."""
        self._left_out: dict[str, Command] = {}
        """Requests of screens to the desk while a moment is shown, by kind; sent on the return."""
        self._moves: deque[Callable[[], Awaitable[None]]] = deque()
        """Moves that wait for the one before, in the order of their keys."""
        self._is_moving = False

    # -- keys -----------------------------------------------------------------------------------

    def toggle(self) -> None:
        """Show the last recorded moment, or the present again."""
        if self.moment is not None and self.is_alone:
            self._app.show_toast(
                f"replay only: no desk is open here; {cap('app.out')} leaves", "warn"
            )
        elif self.moment is not None:
            self.leave()
        elif self._is_moving:
            self._turn += 1
            self._app.show_toast("the present stays")
        else:
            at = self._wall_time() if self._first_at is None else self._first_at
            self._move(partial(self.show, at, is_typed=self.is_alone))

    def step(self, kind: str, by: int) -> None:
        """Show the record before (-1) or after (1), that of an event, or a minute or hour away."""
        if self.moment is None and not self._is_moving:
            self._app.show_toast(f"{cap('app.replay')} opens the replay first", "warn")
        elif kind in STEP_S:
            self._move(partial(self._leap, STEP_S[kind] * by))
        else:
            self._move(partial(self._step, by, is_event=kind == "event"))

    def _move(self, move: Callable[[], Awaitable[None]]) -> None:
        """Make a move after those requested before it; keys go on meanwhile."""
        if not self._is_moving:
            self._moves = deque()
        if len(self._moves) >= MOVES_MAX:
            self._app.show_toast("replay: still reading; key ignored", "warn")
            return
        self._moves.append(move)
        if not self._is_moving:
            self._is_moving = True
            self._app.run_worker(self._make_moves(self._turn), group="replay")

    async def _make_moves(self, turn: int) -> None:
        """Make the moves that wait, as of the turn in which the first of them was requested."""
        try:
            while self._moves and turn == self._turn:
                async with asyncio.timeout(READ_S):
                    await self._moves.popleft()()
        except RecordError as error:
            self._not_shown(str(error))
        except TimeoutError:
            self._not_shown(f"recording: not read within {READ_S:.0f} s")
        finally:
            self._is_moving = False

    def _not_shown(self, why: str) -> None:
        self._app.show_toast(why, "warn")
        if self.is_alone and self.moment is None:
            self.problem = why
            self._app.show_state()

    async def _step(self, by: int, *, is_event: bool) -> None:
        """Show the next record that way."""
        player, here, turn = self._player(), self.moment, self._turn
        if player is None or here is None:
            return
        moment, problem = await asyncio.to_thread(player.step, here.at, by, is_event=is_event)
        if moment is None:
            what = "event" if is_event else "record"
            self._app.show_toast(problem or f"no {'earlier' if by < 0 else 'later'} {what}")
        else:
            self._put_in_front(moment, turn, problem)

    async def _leap(self, by_s: float) -> None:
        """Show the moment so far away; a shorter way leads to the next record at least."""
        player, here, turn = self._player(), self.moment, self._turn
        if player is None or here is None:
            return
        way = 1 if by_s > 0 else -1
        aim = Timestamp(here.at + by_s)
        moment, problem = await asyncio.to_thread(player.readable, aim)
        if moment is None or (moment.at - here.at) * way <= 0:
            await self._step(way, is_event=False)
        else:
            self._put_in_front(moment, turn, problem)

    def type_time(self) -> None:
        """Type the time of a moment."""
        self._app.open_command_line("replay ")

    def take_request(self, message: ReplayRequested) -> None:
        """Show the moment of a typed time; without a time, toggle the replay."""
        if not message.typed:
            self.toggle()
            return
        try:
            at = read_time(message.typed, self._wall_time())
        except FieldError as error:
            self._app.show_toast(str(error), "warn")
            return
        self._move(partial(self.show, at, is_typed=True))

    # -- moments --------------------------------------------------------------------------------

    async def show(self, at: Timestamp, *, is_typed: bool = False) -> None:
        """Show the last moment recorded before a time; a toast where there is none.

        Args:
            at: the time.
            is_typed: whether it was typed: a gap in the recording is named then.

        Raises:
            RecordError: none can be read.
        """
        player, turn = self._player(), self._turn
        if player is None:
            self._app.show_toast(NOT_RECORDED, "warn")
            return
        moment, problem = await asyncio.to_thread(player.readable, at)
        if moment is None:
            self._not_shown(NOTHING_YET)
        elif self._put_in_front(moment, turn, problem) and is_typed:
            self._name_gap(moment.at, at)

    def _put_in_front(self, moment: RecordedMoment, turn: int, problem: str) -> bool:
        """Bring a moment to the front, unless something came between since it was requested."""
        if turn != self._turn:
            return False
        if self.moment is None:
            if len(self._app.screen_stack) > 1:
                self._app.show_toast("replay not opened: a dialog is open", "warn")
                return False
            self._left_out = {}
        self.moment = moment
        self.show_again()
        if problem:
            self._app.show_toast(f"{problem}; nearest readable one shown", "warn")
        return True

    def _name_gap(self, found: Timestamp, at: Timestamp) -> None:
        """Show a toast about a gap between the record and the typed time."""
        if at < found:
            self._app.show_toast(f"the recording begins at {time_text(found)}", "warn")
        elif at - found > GAP_S:
            between = f"{time_text(found)} and {time_text(at)}"
            self._app.show_toast(f"nothing recorded between {between}", "warn")

    def show_again(self) -> None:
        """Show the moment in front with the present preferences."""
        if self.moment is not None:
            self._app.desk_state = replayed(self.moment, self._live())
            self._app.show_state()

    def leave(self) -> None:
        """Show the present again, and send the requests that screens made meanwhile."""
        if self.moment is None:
            return
        self._turn += 1
        self.moment = None
        self._show_live()
        for command in self._left_out.values():
            self._app.give(command)

    def refusal(self, command: Command) -> str | None:
        """Why a command is refused now; empty to drop it silently; None to send it.

        A halt is always sent: it returns to the present first.
        """
        if isinstance(command, Halt):
            if self.is_alone:
                return NOTHING_TO_HALT
            self._turn += 1
            self.leave()
            return None
        if not (self.moment or self.is_alone) or is_of_view(command):
            return None
        if isinstance(command, READINGS):
            if self.moment is not None:
                self._left_out[command.kind] = command
            return ""
        return rewound_reason(self._app.desk_state, "")
