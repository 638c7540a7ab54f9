"""Commands of the operator on their way to the desk, or the reason why one is refused."""

from collections.abc import Callable
from dataclasses import replace
from typing import Final, NamedTuple

from service_tui.console.desk_api import DeskApi
from service_tui.console.freshness import is_private
from service_tui.console.keys import with_keys
from service_tui.console.reasons import reason_text, without_amounts
from service_tui.console.replay_text import READINGS
from service_tui.desk.command import Command
from service_tui.desk.commands.agents import (
    ApproveTrade,
    NoteConfirmed,
    ReadDay,
    ReadLog,
    RefuseTrade,
    WatchAgent,
    WatchHoldings,
)
from service_tui.desk.commands.drill import BeginDrill, EndDrill
from service_tui.desk.commands.halt import Halt
from service_tui.desk.commands.research import ReadEvaluations
from service_tui.desk.commands.settings import SetPreference, SetSpeed, WatchMarket
from service_tui.desk.commands.trading import PlaceTrade, RequestQuote
from service_tui.desk.freshness import TRADED_ON, untradable
from service_tui.desk.slices.drill import DrillPhase
from service_tui.desk.slices.halt import HaltView
from service_tui.desk.state import DeskState
from service_tui.units import Timestamp

BEFORE_BEGIN: Final = (*READINGS, SetPreference, NoteConfirmed, BeginDrill, EndDrill)
"""Commands that are taken before the clock of a drill runs."""

OPENING: Final = "desk still opening: press again in a moment"
PACE_S: Final = 3.0
"""A requested pace that has not arrived within this time is not coming."""

DECIDED_S: Final = 10.0
"""A decided trade is hidden; if it still waits after this time, the decision failed."""


NOT_MARKED: Final = "there is no directory to mark"


class _Decided(NamedTuple):
    """When a trade was decided, by which order, and after which notice."""

    at: Timestamp
    text: str
    after: int

    def may_take_effect(self, state: DeskState, now: Timestamp) -> bool:
        """True while the decision may still take effect: the desk has reported no failure."""
        return 0 <= now - self.at < DECIDED_S and not any(
            notice.notice_id > self.after
            and notice.tone != "good"
            and notice.text.startswith(self.text)
            for notice in state.notices
        )


class CommandSender:
    """Hands commands to the desk once it is open, and refuses those that must not go."""

    def __init__(self, mark_halt: Callable[[Timestamp], str] | None = None) -> None:
        """Keep what is given until a desk is open.

        Args:
            mark_halt: keeps a halt where no desk is open, and gives the reason if it cannot.
        """
        self._mark_halt = mark_halt
        self._submit: Callable[[Command], object] | None = None
        self._closed = ""
        self._kept: dict[str, Command] = {}
        self._preferences: dict[str, str] = {}
        self._halted_at: Timestamp | None = None
        self._paces: list[int] = []
        self._pace_at = Timestamp(0.0)
        self._speed: int | None = None
        self._decided: dict[str, _Decided] = {}

    def open(self, desk: DeskApi) -> None:
        """Attach the open desk: queued commands go first, and of these a halt."""
        self._submit, self._closed = desk.submit, ""
        for command in sorted(self._kept.values(), key=lambda one: not isinstance(one, Halt)):
            desk.submit(command)
        self._kept.clear()

    def close(self, why: str) -> None:
        """Refuse commands from now on; `why` is the reason."""
        self._submit, self._closed = None, why

    def give(self, command: Command, state: DeskState, now: Timestamp) -> str:
        """Hand a command over.

        Returns:
            Why the command was refused, in one sentence; empty if it was accepted, is kept until
            the desk is open, or can be dropped.
        """
        if isinstance(command, Halt):
            return self._halt(command, now)
        if isinstance(command, SetPreference):
            self._preferences[command.name] = command.value
        if _awaits_begin(state) and not isinstance(command, BEFORE_BEGIN):
            brief = with_keys("{app.command} drill shows the brief")
            return f"not sent: the drill has not begun; {brief}"
        if self._submit is None:
            return self._keep(command)
        why = _refusal(command, state, now)
        if why:
            return why
        if isinstance(command, SetSpeed):
            self._paces, self._pace_at = [*self._requested_paces(now), command.speed], now
        if isinstance(command, ApproveTrade | RefuseTrade):
            after = max((notice.notice_id for notice in state.notices), default=0)
            self._decided[command.pending_id] = _Decided(now, command.describe(), after)
        self._submit(command)
        return ""

    def pace(self, speed: int, now: Timestamp) -> int:
        """The last requested pace, while it is on its way; else `speed`, the world's."""
        return next(reversed(self._requested_paces(now)), speed)

    def laid_over(self, state: DeskState, now: Timestamp) -> DeskState:
        """The state with preferences, halt and decisions given here, until the desk has them."""
        if state.halt is not None:
            self._halted_at = None
        elif self._halted_at is not None:
            state = replace(state, halt=HaltView(self._halted_at))
        self._settle_paces(None if state.world is None else state.world.speed)
        state = self._without_decided(state, now)
        preferences = state.preferences
        self._preferences = {k: v for k, v in self._preferences.items() if preferences.get(k) != v}
        if not self._preferences:
            return state
        return replace(state, preferences={**preferences, **self._preferences})

    def _without_decided(self, state: DeskState, now: Timestamp) -> DeskState:
        """The state without the trades decided here a moment ago."""
        pending = state.supervision.pending_trades
        listed = {trade.pending_id for trade in pending}
        self._decided = {
            pending_id: decided
            for pending_id, decided in self._decided.items()
            if pending_id in listed and decided.may_take_effect(state, now)
        }
        if not self._decided:
            return state
        left = tuple(trade for trade in pending if trade.pending_id not in self._decided)
        return replace(state, supervision=replace(state.supervision, pending_trades=left))

    def _requested_paces(self, now: Timestamp) -> list[int]:
        return self._paces if now - self._pace_at < PACE_S else []

    def _settle_paces(self, speed: int | None) -> None:
        """A pace that arrived settles all requested before it; an unrequested one settles all."""
        if speed != self._speed:
            answered = self._paces.index(speed) + 1 if speed in self._paces else len(self._paces)
            self._speed, self._paces = speed, self._paces[answered:]

    def _halt(self, command: Halt, now: Timestamp) -> str:
        """A halt is never late: a desk that is still opening is halted before anything else.

        Without a desk it is marked on disk: whoever owns the directory halts, and the next start.
        """
        if self._submit is not None:
            self._submit(command)
            self._halted_at = now
            return ""
        unmarked = NOT_MARKED if self._mark_halt is None else self._mark_halt(now)
        if self._closed and unmarked:
            return f"{command.describe()}: not sent. {self._closed}"
        if not self._closed:
            self._kept[command.kind] = command
        self._halted_at = now
        return ""

    def _keep(self, command: Command) -> str:
        match command:
            case SetPreference():
                self._kept[f"{command.kind} {command.name}"] = command
            case WatchMarket() | WatchAgent() | WatchHoldings() | ReadLog() | ReadEvaluations():
                self._kept[command.kind] = command
            case RequestQuote() | NoteConfirmed() | ReadDay():
                # An open ticket shows itself that nothing can be traded yet.
                pass
            case _:
                return f"{command.describe()}: {self._closed or OPENING}"
        return ""


def _refusal(command: Command, state: DeskState, now: Timestamp) -> str:
    """Why a command is not sent at these prices; empty if it may be."""
    if isinstance(command, PlaceTrade):
        why = untradable(state, TRADED_ON[command.action], now)
        if why is not None:
            order = without_amounts(command.describe(), masked=is_private(state))
            return f"{order}: not sent. {reason_text(why)}"
    return ""


def _awaits_begin(state: DeskState) -> bool:
    """True before a drill's clock runs: what is done then would count, and cost no time."""
    return state.drill is not None and state.drill.phase is DrillPhase.BRIEFING
