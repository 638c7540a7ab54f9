"""The console's app: shows the states that the desk sends, and sends the desk commands.

Three states of the desk are kept:

- `_raw_state`: the newest one that the desk has sent.
- `_live`: the same, with preferences, halts and decisions given here until the desk has them.
- `desk_state`: the one on the screen: `_live`, or in a replay that of the moment shown.
"""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from enum import Enum, auto
from typing import TYPE_CHECKING, ClassVar, Final

from rich.console import RenderableType
from rich.text import Text
from textual import events, on
from textual.binding import BindingType
from textual.dom import DOMNode
from textual.message import Message

from service_tui.console import formats
from service_tui.console.actions import barred_reason, rewound_reason
from service_tui.console.closed_desk import DeskClosedError, RecoveryOption
from service_tui.console.desk_api import DeskApi, OpenDesk
from service_tui.console.freshness import is_newer_answer, is_private
from service_tui.console.key_file import OwnKeys
from service_tui.console.keys import (
    KEYS,
    KeyBinding,
    action_name,
    bindings_of,
    cap,
    move_keys,
    with_keys,
)
from service_tui.console.messages import (
    ApprovalRequested,
    ChartsRequested,
    CommandGiven,
    ConfirmGiven,
    DrillRequested,
    OwnCommandChosen,
    ReplayRequested,
    ResumeRequested,
    TourRequested,
)
from service_tui.console.needs import absence_of, needs, unloaded_topics, waiting_counts
from service_tui.console.own_names import use_own_names
from service_tui.console.parts.view_memory import LAST_SCREEN
from service_tui.console.ranking import folded
from service_tui.console.reasons import without_amounts
from service_tui.console.replay_text import no_moment_condition, replay_condition
from service_tui.console.shell.approval_pages import ApprovalPages
from service_tui.console.shell.command_sender import CommandSender
from service_tui.console.shell.drill_pages import DrillPages
from service_tui.console.shell.halt_pages import HaltPages
from service_tui.console.shell.notifier import Notifier
from service_tui.console.shell.replay_pages import NOTHING_TO_HALT, ReplayPages
from service_tui.console.shell.tour_guide import TourGuide
from service_tui.console.shell.views import HOME, SCREENS, Views
from service_tui.console.theme import Themes
from service_tui.console.widgets.banner import Banner, LastingCondition, lasting_conditions
from service_tui.console.widgets.deck import Deck
from service_tui.console.widgets.key_bar import KeyBar
from service_tui.console.widgets.numbered_view import ProgramInfo, TakesState
from service_tui.console.widgets.top_bar import TopBar
from service_tui.desk.command import Command
from service_tui.desk.commands.agents import ApproveTrade, NoteConfirmed, RefuseTrade
from service_tui.desk.commands.halt import Halt
from service_tui.desk.commands.settings import Refresh, SetPreference, SetSpeed
from service_tui.desk.slices.halt import AckState
from service_tui.desk.slices.quote import QuoteView
from service_tui.desk.slices.supervision import SkillRunState
from service_tui.desk.slices.tickets import TicketState
from service_tui.desk.state import DeskState
from service_tui.terms import SPEEDS
from service_tui.units import Timestamp

if TYPE_CHECKING:
    from service_tui.console.own_commands import OwnCommand, OwnCommands
    from service_tui.desk.recording.player import Player

REPAINT_S: Final = 0.1
"""Shortest time between two repaints; of several states in between, the last is shown."""

TYPED_S: Final = 0.2
"""The same interval while the person types: keys are painted at once."""

BREATH_MAX_S: Final = 0.4
"""Longest pause between two repaints: with it, a trade is shown within a second under full load."""

TICK_S: Final = 1.0
CLOSE_S: Final = 2.5
"""How long the exit waits for the desk, which takes two seconds at most to close."""

MARKS_SEEN: Final = frozenset({"attention", "monitors", "reactor"})
"""Screens whose display marks notices as seen."""

_APP_KEYS: Final = {key.action: key for key in KEYS if key.group == "app"}

_KEEP_RUNNING: Final = "A detached one needs no console ({app.agents}, {agents.detach})."

_NEEDS_A_WORLD: Final = "only the offline world can be paused or sped up"
NO_TEAM: Final = "this desk is not shared"
_OF_THE_DRILL: Final = "a drill keeps its own pace"


def breath(late_s: float) -> float:
    """Seconds to wait after a repaint that took `late_s`, so that keys are handled in between.

    Returns:
        Three times as long as the repaint took, up to `BREATH_MAX_S`: repaints take at most a
        quarter of the time.
    """
    return min(BREATH_MAX_S, 3.0 * max(0.0, late_s))


def first_screen(state: DeskState, *, has_demo: bool = False) -> str:
    """The screen on which the console was last closed.

    At the first start the portfolio if there are positions, the agents if a new world has some.
    """
    kept = state.preferences.get(LAST_SCREEN, "")
    if kept in SCREENS:
        return kept
    return "portfolio" if state.positions else "agents" if has_demo else "markets"


class FirstPage(Enum):
    """The page over the first screen when the console starts."""

    REPLAY = auto()
    TOUR = auto()
    WELCOME = auto()
    NONE = auto()


def first_page(state: DeskState, *, has_desk: bool, has_tour: bool) -> FirstPage:
    """The replay without a desk, else the tour, else the welcome until it has been read."""
    if not has_desk:
        return FirstPage.REPLAY
    if has_tour:
        return FirstPage.TOUR
    return FirstPage.NONE if "welcome" in state.preferences else FirstPage.WELCOME


def key_problem_text(problems: Sequence[str]) -> str:
    """Why the person's own keys are not in use; empty if they are."""
    return problem_text("default keys in use", problems) if problems else ""


def problem_text(what: str, problems: Sequence[str]) -> str:
    """The first problem of a file after its effect, `what`, and how many more there are."""
    more = f" ({len(problems) - 1} more: 'service-tui doctor')" if problems[1:] else ""
    return f"{what}: {problems[0]}{more}"


def next_theme(worn: str, names: Sequence[str]) -> str:
    """The next theme in the list; the first after the last and after an unknown one; "" of none."""
    if not names:
        return ""
    place = names.index(worn) if worn in names else -1
    return names[(place + 1) % len(names)]


def speed_beside(speed: int, by: int, speeds: tuple[int, ...] = SPEEDS) -> int:
    """The next slower (-1) or faster (1) speed of a world; the same at either end of the list."""
    place = speeds.index(speed) if speed in speeds else 1
    return speeds[max(0, min(place + by, len(speeds) - 1))]


def why_no_pace(state: DeskState) -> str:
    """Why the world's speed cannot be changed; empty if it can."""
    if state.drill is not None:
        return _OF_THE_DRILL
    return "" if state.service.embedded else _NEEDS_A_WORLD


def unfinished(state: DeskState) -> tuple[list[str], list[str]]:
    """The pending orders, and the skills that would stop, if the console closed now.

    Unknown orders are left out: the next start looks them up.
    """
    # ours: an unknown order is no reason to ask before closing: the next start looks it up.
    orders = [
        ticket.what
        for ticket in state.tickets
        if ticket.state in {TicketState.QUEUED, TicketState.SENT}
    ]
    skills = [
        run.skill_slug
        for run in state.supervision.runs
        if run.state.is_alive and run.state is not SkillRunState.DETACHED
    ]
    return orders, skills


def unsaved_halt(state: DeskState) -> str:
    """Why the halt is not saved on disk; empty if it is, or nothing is halted."""
    acks = () if state.halt is None else state.halt.acks
    unsaved = (ack for ack in acks if ack.name == "kept" and ack.state is AckState.FAILED)
    return next((ack.detail or ack.what for ack in unsaved), "")


UNSAVED_HALT: Final = "The halt is not saved on disk: in force while this runs."
_SAVE_HALT: Final = (
    "Saving it is tried again now. If you leave before, the next start is not halted."
)


def leaving_text(
    orders: Sequence[str], skills: Sequence[str], unsaved: str = "", *, masked: bool
) -> str:
    """The question before closing; takes the results of `unfinished` and `unsaved_halt`."""
    parts: list[str] = []
    if unsaved:
        parts.append(f"{UNSAVED_HALT}\n  {formats.plain(unsaved, 200)}\n\n{_SAVE_HALT}")
    if orders:
        lines = "\n".join(f"  {what}" for what in orders)
        parts.append(
            f"Pending:\n{without_amounts(lines, masked=masked)}\n\n"
            "The desk waits two seconds for the results. Orders still pending are looked up at "
            "the next start; nothing is sent twice."
        )
    if skills:
        lines = "\n".join(f"  {formats.plain(slug, 60)}" for slug in skills)
        parts.append(f"These skills stop:\n{lines}\n\n{with_keys(_KEEP_RUNNING)}")
    return "\n\n".join(parts)


class ConsoleApp(Views):  # noqa: PLR0904 - one action a key
    """Paints the cached state, then opens the desk and follows it.

    Args:
        open_desk: opens and closes the desk.
        initial: the state of the first paint; `from_cache` while no service has answered.
        now: wall time.
        themes: from `theme.load_themes`.
        log_path: path of the log, to show.
        data_path: path of the data, to show.
        first: the first screen; empty: the portfolio if there are positions.
        own_keys: the person's own keys; problems of their file are reported at the start.
        own_commands: the person's own commands; likewise.
        drills: lists the drills that can be played, name and title of each.
        has_tour: begins with the tour.
        has_demo: a new world of this service begins with demo agents.
        player: the recording of the open desk; None without one.
        replay_at: without a desk: only the replay is shown, from the record of this time.
        mark_halt: keeps a halt while no desk is open; gives the reason if it cannot.
    """

    BINDINGS: ClassVar[list[BindingType]] = [*bindings_of("app")]

    def __init__(  # noqa: PLR0913 - a composition root's one call
        self,
        open_desk: OpenDesk,
        initial: DeskState,
        *,
        now: Callable[[], Timestamp],
        themes: Themes,
        log_path: str,
        data_path: str = "",
        first: str = "",
        own_keys: OwnKeys | None = None,
        own_commands: "OwnCommands | None" = None,
        drills: Callable[[], tuple[tuple[str, str], ...]] = tuple,
        has_tour: bool = False,
        has_demo: bool = False,
        player: "Callable[[], Player | None]" = lambda: None,
        replay_at: Timestamp | None = None,
        mark_halt: Callable[[Timestamp], str] | None = None,
    ) -> None:
        self._has_tour = has_tour
        self._own_keys = own_keys or OwnKeys()
        move_keys(self._own_keys.moved)
        self._own_commands = own_commands
        use_own_names(() if own_commands is None else own_commands.names)
        names = tuple(theme.name for theme in themes.themes)
        super().__init__(
            initial,
            now(),
            themes=themes,
            program=ProgramInfo(
                log_path,
                data_path,
                names,
                drills=drills,
                has_demo=has_demo,
                own_commands=self._listed_own,
            ),
            first=first or first_screen(initial, has_demo=has_demo),
        )
        self.halting = HaltPages(self)
        self.approving = ApprovalPages(self)
        self.guide = TourGuide(self, lambda: player() is not None)
        self.drill = DrillPages(self)
        self.replay = ReplayPages(
            self,
            wall_time=now,
            live=lambda: self._live,
            show_live=lambda: self.take(self._raw_state),
            player=player,
            replay_at=replay_at,
        )
        self._open_desk = open_desk
        self._wall_time = now
        self._sender = CommandSender(mark_halt)
        self._raw_state = self._live = initial
        self._started_at = self.now
        self._shut = ""
        self._desk_gone = asyncio.Event()
        self._desk_gone.set()
        newest = max((notice.notice_id for notice in initial.notices), default=0)
        self._notifier = Notifier(self, newest)
        self._absence_shown = False
        self._last_speed = 1
        self.housekeeping: Callable[..., None] | None = None

    # -- state down -------------------------------------------------------------------------

    @on(events.Mount)
    def _paint(self) -> None:
        """Paint the cached state, then open the desk."""
        self.set_keymap({ident: ",".join(keys) for ident, keys in self._own_keys.moved.items()})
        for key in () if self._own_commands is None else self._own_commands.keys:
            self.bind(key, f"own_key('{key}')", show=False)
        self.apply_theme(self.desk_state.preferences.get("theme", ""))
        self.show_state()
        self.focus_row(None)
        self.set_interval(TICK_S, self._tick)
        self.call_after_refresh(self._begin)

    @on(events.Unmount)
    async def _let_the_desk_close(self) -> None:
        """The terminal is restored already; the desk finishes its open work, within its bounds."""
        try:
            async with asyncio.timeout(CLOSE_S):
                await self._desk_gone.wait()
        except TimeoutError:
            self.log.warning("the desk did not close in time")

    def _begin(self) -> None:
        self.read_style("dialogs", "trade_form", "monitor_form")
        if problems := key_problem_text(self._own_keys.problems):
            self.show_toast(problems, "warn", "keys")
        if self._own_commands is not None and self._own_commands.problems:
            self.show_toast(problem_text("no own commands", self._own_commands.problems), "warn")
        page = first_page(
            self.desk_state, has_desk=not self.replay.is_alone, has_tour=self._has_tour
        )
        if page is FirstPage.REPLAY:
            self.replay.toggle()
        elif page is FirstPage.TOUR:
            self.guide.begin()
            self.action_welcome()
        elif page is FirstPage.WELCOME:
            self.action_welcome()
        self.drill.show()
        self.run_worker(self._follow(), name="desk", group="desk", exclusive=True)

    async def _follow(self) -> None:
        """Open the desk and show its latest state until it or the console ends."""
        self._desk_gone.clear()
        try:
            async with self._open_desk() as desk:
                self._sender.open(desk)
                quotes = self.run_worker(self._follow_quotes(desk), name="quotes", group="quotes")
                try:
                    await self._follow_states(desk)
                finally:
                    quotes.cancel()
            self._desk_closed("desk ended: restart the program")
        except DeskClosedError as closed:
            self._desk_closed(str(closed))
            if closed.choices:
                self._offer_recovery(closed)
        finally:
            self._sender.close(self._shut or "desk closing")
            self._desk_gone.set()

    async def _follow_states(self, desk: DeskApi) -> None:
        """Show the desk's latest state, and then nothing for a moment: keys come first."""
        loop = asyncio.get_running_loop()
        async for state in desk.changes():
            began, pace_s = loop.time(), REPAINT_S if self.is_idle else TYPED_S
            self.take(state)
            await asyncio.sleep(pace_s)
            # Lateness of this wake-up is time spent painting, or in other programs.
            await asyncio.sleep(breath(loop.time() - began - pace_s))

    async def _follow_quotes(self, desk: DeskApi) -> None:
        """Show a quote at once, whatever the pace of the states: a person waits for it."""
        # Why a desk has closed is shown by who follows its states.
        with suppress(DeskClosedError):
            async for state in desk.changes():
                if state.quote is not self._raw_state.quote:
                    self.take_quote(state.quote)

    def _desk_closed(self, why: str) -> None:
        self._shut = why
        self._sender.close(why)
        self.show_state()

    def _offer_recovery(self, closed: DeskClosedError) -> None:
        from service_tui.console.forms.recovery import RecoveryDialog  # noqa: PLC0415 - hardly ever

        def recover(option: RecoveryOption | None) -> None:
            if option is not None:
                self.run_worker(self._recover(option), name="desk", group="desk", exclusive=True)

        self.push_screen(RecoveryDialog(closed.sentence, closed.choices), recover)

    async def _recover(self, option: RecoveryOption) -> None:
        """Run the chosen recovery, and open the desk again."""
        self._desk_closed("desk opening")
        try:
            details = await asyncio.to_thread(option.act)
        except DeskClosedError as closed:
            self._desk_closed(str(closed))
            return
        self.show_toast("; ".join(details))
        self._desk_closed("")
        await self._follow()

    def take(self, state: DeskState) -> None:
        """Show a newer state of the desk."""
        self._raw_state = state
        self._live = self._sender.laid_over(state, self._wall_time())
        if self.replay.moment is not None:
            self._notify()
            self._show_conditions()
            return
        before, self.desk_state = self.desk_state, self._live
        if not is_newer_answer(before, self._live):
            self.show_state()
        self._apply_theme_since(before)
        self.drill.follow(state.drill)
        self._notify()

    def take_quote(self, quote: QuoteView | None) -> None:
        """Show the quote of an open ticket without waiting for the repaint of the whole state."""
        self._raw_state = replace(self._raw_state, quote=quote)
        self._live = replace(self._live, quote=quote)
        if self.replay.moment is None and self.is_running:
            self.desk_state = replace(self.desk_state, quote=quote)
            self._show_in_dialogs(self.desk_state, self._wall_time())

    def _apply_theme_since(self, before: DeskState) -> None:
        """Apply the theme of the state on the screen, if the one before had another."""
        theme = self.desk_state.preferences.get("theme", "")
        if theme != before.preferences.get("theme", ""):
            self.apply_theme(theme)

    def focus_front(self) -> None:
        """Focus the rows in front, where nothing has the focus and no dialog lies above."""
        if self.app_focus and len(self.screen_stack) == 1 and self.screen.focused is None:
            self.focus_row(None)

    def show_state(self) -> None:
        """Show the newest state in the bars, in the screen in front, and in open dialogs."""
        if not self.is_running:
            # A last tick, or a last state of the desk, while the screens are already taken down.
            return
        state, front, base = self.desk_state, self.front, self.screen_stack[0]
        self.now = now = self._shown_time()
        needing = len(folded(needs(state, now)))
        if self.replay.moment is None:
            self._follow_present(state, now, needing)
        # Unseen notices are of the present: a recorded moment has none.
        unseen = self._notifier.unseen if self.replay.moment is None else 0
        base.query_one(TopBar).take(state, now, unseen)
        self._show_conditions()
        if not self.has_failed(front):
            with self.contained():
                front.take(state, now)
                base.query_one(KeyBar).show(front, waiting_counts(state, needing))
        self.show_beside()
        self.guide.lead()
        self._show_in_dialogs(state, now)

    def _show_in_dialogs(self, state: DeskState, now: Timestamp) -> None:
        for dialog in self.screen_stack[1:]:
            if isinstance(dialog, TakesState) and not self.has_failed(dialog):
                with self.contained():
                    dialog.take(state, now)

    def _shown_time(self) -> Timestamp:
        """The time of what is shown: of a recorded moment its own."""
        return self._wall_time() if self.replay.moment is None else self.replay.moment.at

    def _follow_present(self, state: DeskState, now: Timestamp, needing: int) -> None:
        """Note what a newer present state means for notices, the idle time and the tour."""
        if self.front.name_in_keys in MARKS_SEEN and self.app_focus:
            self._notifier.mark_seen()
        self._program.idle_time.update(
            now, needed=needing > 0, is_loaded=not unloaded_topics(state)
        )
        self._notifier.ring(state, now)
        self.guide.follow(state)

    def _show_conditions(self) -> None:
        """Show the conditions in the line below the head."""
        if self.is_running:
            self.screen_stack[0].query_one(Banner).show(self._conditions())

    def _conditions(self) -> tuple[LastingCondition, ...]:
        """The lasting conditions; beside a replay the grave ones of the present as well."""
        present = lasting_conditions(
            self._live, self._wall_time(), started_at=self._started_at, closed=self._shut
        )
        moment, is_alone = self.replay.moment, self.replay.is_alone
        if moment is None:
            tour = self.guide.conditions(self.desk_state)
            return (no_moment_condition(self.replay.problem),) if is_alone else (*present, *tour)
        of_then = lasting_conditions(self.desk_state, moment.at, started_at=moment.at, closed="")
        grave = () if is_alone else (one for one in present if one.tone == "loss")
        marked = (replace(one, word=f"now {one.word}") for one in grave)
        return (replay_condition(moment, is_alone=is_alone), *marked, *of_then)

    def _tick(self) -> None:
        if not self.is_running:
            # A last tick, while the screens are already taken down.
            return
        # Overlays on the desk's state expire by the clock, too.
        self._live = self._sender.laid_over(self._raw_state, self._wall_time())
        if self.replay.moment is None:
            self.desk_state = self._live
            self.show_state()
        else:
            self._notifier.ring(self._live, self._wall_time())
        self.keep_place()
        if self.housekeeping is not None:
            self.housekeeping(idle=self.is_idle)

    def _notify(self) -> None:
        """Notify each notice once, through the chosen channels, and the length of the absence."""
        state = self._live
        self._notifier.prefix = "" if self.replay.moment is None else "now: "
        self._notifier.notify(state, self._wall_time())
        absence = absence_of(state)
        if absence is not None and not self._absence_shown and self.replay.moment is None:
            self._absence_shown = True
            if self.front.name_in_keys == "attention":
                return
            gone = formats.duration(absence.world_elapsed_s)
            self.show_toast(
                f"{gone} of world time passed while you were away; "
                f"{cap('app.attention')} shows a summary, {cap('app.timeline')} everything",
                kind="absence",
            )

    def exit(
        self, result: int | None = None, return_code: int = 0, message: RenderableType | None = None
    ) -> None:
        """End, and keep the layout of the screen in front for the next start."""
        if self.is_running and self.screen_stack and self.screen_stack[0].query(Deck):
            # A call by the loop itself, after a signal, has no active app.
            with self._context(), self.contained():
                self.keep_view()
                self.keep_place(is_orderly=True)
        super().exit(result, return_code, message)

    def _end_by_fault(self) -> None:
        """End, and let the next start open another screen than the one that was in front."""
        self._sender.give(SetPreference(LAST_SCREEN, HOME), self._live, self._wall_time())
        super()._end_by_fault()

    # -- commands up ------------------------------------------------------------------------

    @on(CommandGiven)
    def _command_given(self, message: CommandGiven) -> None:
        self.give(message.command)

    @on(ConfirmGiven)
    def _confirmed(self, message: ConfirmGiven) -> None:
        self.give(NoteConfirmed(message.what))

    def give(self, command: Command) -> str:
        """Hand a command to the desk, without waiting for its end.

        Returns:
            Why the command was refused; empty if it was accepted.
        """
        refusal = self.replay.refusal(command)
        if refusal is not None:
            if refusal:
                self.show_toast(refusal, "warn")
            return refusal
        why = self._sender.give(command, self._live, self._wall_time())
        if why:
            self.show_toast(why, "warn")
        if isinstance(command, SetPreference | Halt | ApproveTrade | RefuseTrade):
            # Shown at once, before the desk confirms it.
            before = self.desk_state
            self.take(self._raw_state)
            self.replay.show_again()
            self._apply_theme_since(before)
        return why

    # -- actions ----------------------------------------------------------------------------

    def disabled_reason(self, key: KeyBinding) -> str:
        """Why a key is disabled here; empty if it works."""
        why = barred_reason(self.desk_state, key.ident) or super().disabled_reason(key)
        sets_pace = key.group == "app" and action_name(key.action) in {"pause_world", "speed"}
        if key.ident == "app.team" and not self.desk_state.service.shared:
            return why or NO_TEAM
        return why or (why_no_pace(self.desk_state) if sets_pace else "")

    def post_message(self, message: Message) -> bool:
        """Queue a message; the halt key halts before it is queued."""
        self.halting.at_once(message)
        return super().post_message(message)

    async def run_action(
        self,
        action: str | tuple[str, str, tuple[object, ...]],
        default_namespace: DOMNode | None = None,
        namespaces: Mapping[str, DOMNode] | None = None,
    ) -> bool:
        """Perform an action, unless a recorded state or the person's role bars it."""
        key = _APP_KEYS.get(action) if isinstance(action, str) else None
        why = "" if key is None else barred_reason(self.desk_state, key.ident)
        if not why:
            return await super().run_action(action, default_namespace, namespaces)
        self.show_toast(why, "warn")
        return True

    def action_halt(self) -> None:
        """Halt, and show the halt; without a desk there is nothing to halt."""
        if not self.replay.is_alone:
            self.halting.halt()
        elif not self.halting.take_key_halt():
            self.show_toast(NOTHING_TO_HALT, "warn")

    def action_resume(self) -> None:
        """Open the dialog in which a typed word ends the halt."""
        self.halting.resume()

    def action_approvals(self) -> None:
        """List the waiting trades; the only one is opened at once."""
        self.approving.open()

    def action_team(self) -> None:
        """Show who is here and who changed what."""
        from service_tui.console.forms.team import TeamPage  # noqa: PLC0415 - not at first

        if not self.desk_state.service.shared:
            self.show_toast(NO_TEAM, "warn")
        elif not any(isinstance(screen, TeamPage) for screen in self.screen_stack):
            self.push_screen(TeamPage(self.desk_state, self.now))

    def action_report(self) -> None:
        """Show the day of every agent."""
        self.approving.report()

    def action_replay(self) -> None:
        """Show the last recorded moment, or the present again."""
        self.replay.toggle()

    def action_replay_step(self, kind: str, by: int) -> None:
        """Show another record: the one before (-1) or after (1), of an event, or so far away."""
        self.replay.step(kind, by)

    def action_replay_time(self) -> None:
        """Type the time of a moment."""
        self.replay.type_time()

    @on(ResumeRequested)
    def _resume_requested(self) -> None:
        self.halting.confirm_resume()

    @on(ApprovalRequested)
    def _approval_requested(self, message: ApprovalRequested) -> None:
        self.approving.open_requested(message)

    @on(ReplayRequested)
    def _replay_requested(self, message: ReplayRequested) -> None:
        self.replay.take_request(message)

    @on(DrillRequested)
    async def _drill_requested(self, message: DrillRequested) -> None:
        await self.drill.take_request(message)

    @on(TourRequested)
    def _tour_requested(self, message: TourRequested) -> None:
        self.guide.begin_or_end(message)

    def action_refresh_now(self) -> None:
        """Request fresh data of everything from the service."""
        self.give(Refresh())

    def action_next_theme(self) -> None:
        """Apply the next theme, and store the choice."""
        if chosen := next_theme(self.theme, self.theme_names):
            self.give(SetPreference("theme", chosen))

    def action_privacy(self) -> None:
        """Mask amounts, or show them again."""
        masked = is_private(self._live)
        self.give(SetPreference("privacy", "off" if masked else "on"))
        if masked and is_private(self.desk_state):
            self.show_toast("amounts were masked when this was recorded: they stay so here", "warn")
            return
        self.show_toast(
            "amounts shown" if masked else f"amounts masked; {cap('app.privacy')} shows them"
        )

    def action_pause_world(self) -> None:
        """Pause the offline world, or resume it at its former pace."""
        speed = self._pace()
        if speed is not None:
            self._last_speed = speed or self._last_speed
            self.give(SetSpeed(0 if speed else self._last_speed))

    def action_speed(self, by: int) -> None:
        """Slower (-1) or faster (1)."""
        speed = self._pace()
        if speed is not None:
            world = self.desk_state.world
            self.give(SetSpeed(speed_beside(speed, by, SPEEDS if world is None else world.speeds)))

    def _pace(self) -> int | None:
        """The world's speed or the one requested since; None, with a toast, without a world."""
        world = self.desk_state.world
        why = why_no_pace(self.desk_state)
        if world is not None and not why:
            return self._sender.pace(world.speed, self._wall_time())
        self.show_toast(why or _NEEDS_A_WORLD, "warn")
        return None

    def action_welcome(self) -> None:
        """Show the first page; it does not open automatically again."""
        from service_tui.console.forms.welcome import Welcome  # noqa: PLC0415 - not at first

        state = self.desk_state
        # Before the world has begun its demo agents are only to come.
        has_demo = self._program.has_demo if state.fleet is None else bool(state.living_demos)
        recorded = None if state.world is None else bool(state.world.history)
        page = Welcome(is_embedded=state.service.embedded, has_demo=has_demo, is_recorded=recorded)
        self.push_screen(page, self._welcomed)

    def _welcomed(self, _: None) -> None:
        if "welcome" not in self.desk_state.preferences:
            self.give(SetPreference("welcome", "seen"))

    def action_charts(self, name: str = "") -> None:
        """Show the charts: the one of this name, else the one that fits the screen in front."""
        from service_tui.console.charts.sources import (  # noqa: PLC0415 - not at first
            ChartName,
            fitting_chart,
        )
        from service_tui.console.forms.chart import ChartDialog  # noqa: PLC0415 - nor this

        if any(isinstance(screen, ChartDialog) for screen in self.screen_stack):
            return
        row = self.front.current_market()
        first = ChartName(name) if name else fitting_chart(self.front.name_in_keys, row)
        recent = tuple(one for one in self.rows_seen() if one in self.desk_state.markets)
        agents = self.front.rows_chosen() if self.front.name_in_keys == "agents" else ()
        self.push_screen(
            ChartDialog(self.desk_state, self.now, row, first, recent=recent, agent_ids=agents)
        )

    @on(ChartsRequested)
    def _charts_requested(self, message: ChartsRequested) -> None:
        self.action_charts(message.chart_name)

    def _listed_own(self) -> "tuple[tuple[str, str, str], ...]":
        """The own commands that work on the screen in front, for help and palette."""
        own = self._own_commands
        commands = () if own is None else own.on(self.front.name_in_keys)
        return tuple((one.name, one.cap, one.about or one.line) for one in commands)

    def action_own_key(self, key: str) -> None:
        """Run the person's own command of a key, on a screen where it works."""
        for command in () if self._own_commands is None else self._own_commands.commands:
            if key in command.keys and command.works_on(self.front.name_in_keys):
                self._run_own(command)

    @on(OwnCommandChosen)
    def _own_command_chosen(self, message: OwnCommandChosen) -> None:
        for command in () if self._own_commands is None else self._own_commands.commands:
            if command.name == message.name:
                self._run_own(command)

    def _run_own(self, command: "OwnCommand") -> None:
        """Run a command on the highlighted row; a recorded one is no row to act on."""
        from service_tui.console.own_commands import order_of  # noqa: PLC0415 - not at first

        # ours: off in a replay, where a line could act on a price of the past.
        why = rewound_reason(self.desk_state, "")
        if not command.works_on(self.front.name_in_keys):
            why = f"{command.name} does not work on this screen"
        if why:
            self.show_toast(why, "warn")
        else:
            self.give(order_of(command, self.front))

    def action_wallet(self) -> None:
        """Show the wallet over the screen in front."""
        from service_tui.console.screens.wallet.panel import (  # noqa: PLC0415 - not at first
            WalletPanel,
        )

        if not any(isinstance(screen, WalletPanel) for screen in self.screen_stack):
            self.push_screen(WalletPanel(self.desk_state, self.now))

    async def action_back_out(self) -> None:
        """One level out: of a search or a detail, else of the program."""
        if not self.front.step_out():
            await self.action_quit()

    async def action_quit(self) -> None:
        """Leave; confirms first if an order is under way, or a skill would stop."""
        waiting, running = unfinished(self._live)
        if waiting or running or unsaved_halt(self._live):
            self.retry_halt()
            self._confirm_leaving(waiting, running)
        else:
            self.exit(0)

    def _confirm_leaving(self, waiting: list[str], running: list[str]) -> None:
        from service_tui.console.forms.confirm import (  # noqa: PLC0415 - not in the first frame
            Confirm,
            Question,
        )

        if any(isinstance(screen, Confirm) for screen in self.screen_stack):
            return
        masked = is_private(self.desk_state)
        body = Text(leaving_text(waiting, running, unsaved_halt(self._live), masked=masked))
        self.push_screen(Confirm(Question("Leave now?", body, "leave")), self._leave_if)

    def retry_halt(self) -> None:
        """Try once more to save a halt that is not on disk."""
        if unsaved_halt(self._live):
            self.give(Halt())

    def _leave_if(self, confirmed: bool | None) -> None:  # noqa: FBT001 - a dialog's result
        if confirmed:
            self.exit(0)
        else:
            self.drill.next_name = ""
