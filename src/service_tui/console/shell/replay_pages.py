"""Replay in the console: a recorded state in place of the present one, and the way back."""

import asyncio
from collections.abc import Callable, Mapping
from contextlib import suppress
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

NOTHING_YET: Final = "nothing recorded yet"
NOT_RECORDED: Final = "nothing is recorded here: the setting recording is off"
NOTHING_TO_HALT: Final = "replay only: no desk is open here; 'service-tui halt' halts"

_APP_KEYS: Final = {key.action: key for key in KEYS if key.group == "app"}


class ReplayPages(DrillPages):
    """Shows recorded moments in place of the present, and gives no command meanwhile."""

    replay: RecordedMoment | None = None
    """The moment in front; None for the present."""

    replays_only = False
    """True for a console without a desk."""

    _halts = 0
    """How often a halt was given: a moment that is still being read then is not shown."""

    player: "Callable[[], Player | None]" = staticmethod(lambda: None)
    """The recording of the open desk; None without one."""

    _live: DeskState
    """The present state, also while another one is shown."""

    _left_out: dict[str, Command]
    """What screens asked of the desk meanwhile, by its kind."""

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
        if self.replay is None or not self.replays_only:
            super().action_halt()
        elif not self._has_halted:
            self.show_toast(NOTHING_TO_HALT, "warn")
        self._has_halted = False

    async def action_replay(self) -> None:
        """Show the last recorded moment, or the present again."""
        if self.replay is None:
            await self.show_moment(self.wall_time())
        elif self.replays_only:
            self.show_toast(f"replay only: no desk is open here; {cap('app.out')} leaves", "warn")
        else:
            self.leave_replay()

    async def action_replay_step(self, kind: str, by: int) -> None:
        """Show the record before (-1) or after (1), that of an event, or a minute or hour away."""
        if self.replay is None:
            self.show_toast(f"{cap('app.replay')} opens the replay first", "warn")
            return
        if kind in STEP_S:
            await self._leap(STEP_S[kind] * by)
            return
        player = self.player()
        if player is None:
            return
        try:
            at = await asyncio.to_thread(
                player.neighbour, self.replay.at, by, is_event=kind == "event"
            )
        except RecordError as error:
            self.show_toast(str(error), "warn")
            return
        if at is not None:
            await self.show_moment(at)
        else:
            what = "event" if kind == "event" else "record"
            self.show_toast(f"no {'earlier' if by < 0 else 'later'} {what}")

    async def _leap(self, by_s: float) -> None:
        """Show the moment so far away; a shorter way leads to the next record at least."""
        player, here = self.player(), self.replay
        if player is None or here is None:
            return
        with suppress(RecordError):
            beside = await asyncio.to_thread(player.neighbour, here.at, 1 if by_s > 0 else -1)
            if beside is None:
                self.show_toast(f"no {'later' if by_s > 0 else 'earlier'} record")
                return
            aim = here.at + by_s
            await self.show_moment(Timestamp(max(aim, beside) if by_s > 0 else min(aim, beside)))

    def action_replay_time(self) -> None:
        """Type the time of a moment."""
        self.open_command_line("replay ")

    @on(ReplayRequested)
    async def _replay_requested(self, message: ReplayRequested) -> None:
        if not message.typed:
            await self.action_replay()
            return
        try:
            at = read_time(message.typed, self.wall_time())
        except FieldError as error:
            self.show_toast(str(error), "warn")
            return
        await self.show_moment(at, is_asked=True)

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
        """
        player = self.player()
        if player is None:
            self.show_toast(NOT_RECORDED, "warn")
            return
        halts = self._halts
        try:
            moment = await asyncio.to_thread(player.moment, at)
        except RecordError as error:
            self.show_toast(str(error), "warn")
            return
        if halts != self._halts:
            # A halt came while it was read: the present stays in front.
            return
        if moment is None:
            self.show_toast(NOTHING_YET, "warn")
            return
        if self.replay is None:
            self._left_out = {}
        self.replay = moment
        self.show_replay()
        if is_asked and at < moment.at:
            self.show_toast(f"the recording begins at {time_text(moment.at)}", "warn")
        elif is_asked and at - moment.at > GAP_S:
            self.show_toast(
                f"nothing recorded between {time_text(moment.at)} and {time_text(at)}", "warn"
            )

    def show_replay(self) -> None:
        """Show the moment in front with the looks of now."""
        if self.replay is not None:
            self.desk_state = replayed(self.replay, self._live)
            self.show_state()

    def leave_replay(self) -> None:
        """Show the present again, and ask the desk for what screens wanted meanwhile."""
        if self.replay is None:
            return
        self.replay = None
        self.show_live()
        for command in self._left_out.values():
            self.give(command)

    def replay_refusal(self, command: Command) -> str | None:
        """Why a command is not given now; empty for one that needs no answer; None if it goes on.

        A halt goes on always: it returns to the present first.
        """
        if isinstance(command, Halt) and not self.replays_only:
            self._halts += 1
            self.leave_replay()
            return None
        if self.replay is None or is_of_view(command):
            return None
        if isinstance(command, Halt):
            return NOTHING_TO_HALT
        if isinstance(command, READINGS):
            self._left_out[command.kind] = command
            return ""
        return rewound_reason(self.desk_state, "")
