"""Replay in the console: a recorded state in place of the present one, and the way back."""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Final

from textual import on
from textual.dom import DOMNode

from service_tui.console.actions import rewound_reason
from service_tui.console.fields import FieldError
from service_tui.console.keys import KEYS, KeyBinding, cap
from service_tui.console.messages import DrillRequested, ReplayRequested
from service_tui.console.replay_text import (
    READINGS,
    is_of_view,
    read_time,
    replayed,
    time_text,
)
from service_tui.console.shell.drill_pages import DrillPages
from service_tui.desk.command import Command
from service_tui.desk.commands.halt import Halt
from service_tui.desk.recording.moment import RecordedMoment, RecordError
from service_tui.desk.state import DeskState
from service_tui.units import Timestamp

if TYPE_CHECKING:
    from service_tui.desk.recording.player import Player

STEP_S: Final = {"minute": 60.0, "hour": 3_600.0}
GAP_S: Final = 60.0
"""A moment that was asked for and lies further behind its record is named as a gap."""

READ_S: Final = 10.0
"""ours: a file that takes longer is held by another program, or none of ours."""

MOVES_MAX: Final = 20
"""ours: keys that wait for a moment; more were held down."""

NOTHING_YET: Final = "nothing recorded yet"
NOT_RECORDED: Final = "nothing is recorded here: the setting recording is off"
NOTHING_TO_HALT: Final = "replay only: no desk is open here; 'service-tui halt' halts"

_APP_KEYS: Final = {key.action: key for key in KEYS if key.group == "app"}


class ReplayPages(DrillPages):
    """Shows recorded moments in place of the present, and gives no command meanwhile."""

    replay: RecordedMoment | None = None
    """The moment in front; None for the present."""

    replay_at: Timestamp | None = None
    """Of a console without a desk: the time of the moment that is shown first."""

    replays_only = False
    """True for a console without a desk."""

    replay_problem = ""
    """Why a console without a desk shows no moment; empty while the first one is read."""

    _turn = 0
    """Counts what makes a moment unwanted that is still being read: a halt, a way back to now."""

    player: "Callable[[], Player | None]" = staticmethod(lambda: None)
    """The recording of the open desk; None without one."""

    _live: DeskState
    """The present state, also while another one is shown."""

    _left_out: dict[str, Command]
    """What screens asked of the desk meanwhile, by its kind."""

    _asked: deque[Callable[[], Awaitable[None]]]
    """Moves that wait for the one before, in the order of their keys."""

    _is_moving = False

    def wall_time(self) -> Timestamp:
        """The present time; implemented by the app."""
        raise NotImplementedError

    def show_live(self) -> None:
        """Show the present state; implemented by the app."""
        raise NotImplementedError

    # -- keys -----------------------------------------------------------------------------------

    def disabled_reason(self, key: KeyBinding) -> str:
        """Why a key is disabled here; empty if it works."""
        return rewound_reason(self.desk_state, key.ident) or super().disabled_reason(key)

    async def run_action(
        self,
        action: str | tuple[str, str, tuple[object, ...]],
        default_namespace: DOMNode | None = None,
        namespaces: Mapping[str, DOMNode] | None = None,
    ) -> bool:
        """Perform an action, unless it is one that a recorded state cannot take."""
        key = _APP_KEYS.get(action) if isinstance(action, str) else None
        why = "" if key is None else rewound_reason(self.desk_state, key.ident)
        if not why:
            return await super().run_action(action, default_namespace, namespaces)
        self.show_toast(why, "warn")
        return True

    def action_halt(self) -> None:
        """Halt, and show the halt; without a desk there is nothing to halt, whatever was then."""
        if not self.replays_only:
            super().action_halt()
        elif not self._has_halted:
            self.show_toast(NOTHING_TO_HALT, "warn")
        self._has_halted = False

    def action_replay(self) -> None:
        """Show the last recorded moment, or the present again."""
        if self.replay is not None and self.replays_only:
            self.show_toast(f"replay only: no desk is open here; {cap('app.out')} leaves", "warn")
        elif self.replay is not None:
            self.leave_replay()
        elif self._is_moving:
            self._turn += 1
            self.show_toast("the present stays")
        else:
            at = self.wall_time() if self.replay_at is None else self.replay_at
            self._move(partial(self.show_moment, at, is_asked=self.replays_only))

    def action_replay_step(self, kind: str, by: int) -> None:
        """Show the record before (-1) or after (1), that of an event, or a minute or hour away."""
        if self.replay is None and not self._is_moving:
            self.show_toast(f"{cap('app.replay')} opens the replay first", "warn")
        elif kind in STEP_S:
            self._move(partial(self._leap, STEP_S[kind] * by))
        else:
            self._move(partial(self._step, by, is_event=kind == "event"))

    def _move(self, move: Callable[[], Awaitable[None]]) -> None:
        """Make a move after those asked for before it; keys go on meanwhile."""
        if not self._is_moving:
            self._asked = deque()
        if len(self._asked) >= MOVES_MAX:
            self.show_toast("replay: still reading; key ignored", "warn")
            return
        self._asked.append(move)
        if not self._is_moving:
            self._is_moving = True
            self.run_worker(self._make_moves(), group="replay")

    async def _make_moves(self) -> None:
        turn = self._turn
        try:
            while self._asked and turn == self._turn:
                async with asyncio.timeout(READ_S):
                    await self._asked.popleft()()
        except RecordError as error:
            self._not_shown(str(error))
        except TimeoutError:
            self._not_shown(f"recording: not read within {READ_S:.0f} s")
        finally:
            self._is_moving = False

    def _not_shown(self, why: str) -> None:
        self.show_toast(why, "warn")
        if self.replays_only and self.replay is None:
            self.replay_problem = why
            self.show_state()

    async def _step(self, by: int, *, is_event: bool) -> None:
        """Show the next record that way."""
        player, here, turn = self.player(), self.replay, self._turn
        if player is None or here is None:
            return
        moment, problem = await asyncio.to_thread(player.step, here.at, by, is_event=is_event)
        if moment is None:
            what = "event" if is_event else "record"
            self.show_toast(problem or f"no {'earlier' if by < 0 else 'later'} {what}")
        else:
            self._put_in_front(moment, turn, problem)

    async def _leap(self, by_s: float) -> None:
        """Show the moment so far away; a shorter way leads to the next record at least."""
        player, here, turn = self.player(), self.replay, self._turn
        if player is None or here is None:
            return
        way = 1 if by_s > 0 else -1
        aim = Timestamp(here.at + by_s)
        moment, problem = await asyncio.to_thread(player.readable, aim)
        if moment is None or (moment.at - here.at) * way <= 0:
            await self._step(way, is_event=False)
        else:
            self._put_in_front(moment, turn, problem)

    def action_replay_time(self) -> None:
        """Type the time of a moment."""
        self.open_command_line("replay ")

    @on(ReplayRequested)
    def _replay_requested(self, message: ReplayRequested) -> None:
        if not message.typed:
            self.action_replay()
            return
        try:
            at = read_time(message.typed, self.wall_time())
        except FieldError as error:
            self.show_toast(str(error), "warn")
            return
        self._move(partial(self.show_moment, at, is_asked=True))

    @on(DrillRequested)
    def _no_drill_in_replay(self, message: DrillRequested) -> None:
        why = rewound_reason(self.desk_state, "")
        if why:
            message.prevent_default()
            self.show_toast(why, "warn")

    # -- moments --------------------------------------------------------------------------------

    async def show_moment(self, at: Timestamp, *, is_asked: bool = False) -> None:
        """Show the last moment recorded before a time; a toast where there is none.

        Args:
            at: the time.
            is_asked: whether it was typed: a gap in the recording is named then.

        Raises:
            RecordError: none can be read.
        """
        player, turn = self.player(), self._turn
        if player is None:
            self.show_toast(NOT_RECORDED, "warn")
            return
        moment, problem = await asyncio.to_thread(player.readable, at)
        if moment is None:
            self._not_shown(NOTHING_YET)
        elif self._put_in_front(moment, turn, problem) and is_asked:
            self._name_gap(moment.at, at)

    def _put_in_front(self, moment: RecordedMoment, turn: int, problem: str) -> bool:
        """Bring a moment to the front, unless something came between since it was asked for."""
        if turn != self._turn:
            return False
        if self.replay is None:
            if len(self.screen_stack) > 1:
                self.show_toast("replay not opened: a dialog is open", "warn")
                return False
            self._left_out = {}
        self.replay = moment
        self.show_replay()
        if problem:
            self.show_toast(f"{problem}; nearest readable one shown", "warn")
        return True

    def _name_gap(self, found: Timestamp, at: Timestamp) -> None:
        """Tell how far the record is from the time that was typed."""
        if at < found:
            self.show_toast(f"the recording begins at {time_text(found)}", "warn")
        elif at - found > GAP_S:
            between = f"{time_text(found)} and {time_text(at)}"
            self.show_toast(f"nothing recorded between {between}", "warn")

    def show_replay(self) -> None:
        """Show the moment in front with the looks of now."""
        if self.replay is not None:
            self.desk_state = replayed(self.replay, self._live)
            self.show_state()

    def leave_replay(self) -> None:
        """Show the present again, and ask the desk for what screens wanted meanwhile."""
        if self.replay is None:
            return
        self._turn += 1
        self.replay = None
        self.show_live()
        for command in self._left_out.values():
            self.give(command)

    def replay_refusal(self, command: Command) -> str | None:
        """Why a command is not given now; empty for one that needs no answer; None if it goes on.

        A halt goes on always: it returns to the present first.
        """
        if isinstance(command, Halt):
            if self.replays_only:
                return NOTHING_TO_HALT
            self._turn += 1
            self.leave_replay()
            return None
        if not (self.replay or self.replays_only) or is_of_view(command):
            return None
        if isinstance(command, READINGS):
            if self.replay is not None:
                self._left_out[command.kind] = command
            return ""
        return rewound_reason(self.desk_state, "")
