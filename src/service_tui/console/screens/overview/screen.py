"""What needs the person now, and what happened while nobody looked."""

from typing import ClassVar, Final, NamedTuple

from rich.text import Text
from textual import events, on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.widgets import Static

from service_tui.console import formats
from service_tui.console.freshness import is_private, of_wall
from service_tui.console.keys import bindings_of, cap, key_named
from service_tui.console.messages import ApprovalWanted, GoTo, KeyChosen, Said
from service_tui.console.needs import AWAY, DISMISSED, away_mark, meanwhile, needs, untold
from service_tui.console.needs_fleet import HELD
from service_tui.console.parts.base import DeskScreen
from service_tui.console.ranking import Need
from service_tui.console.screens.overview.away import away_text
from service_tui.console.screens.overview.briefing import briefing_text, is_alarming
from service_tui.console.theme import content
from service_tui.console.widgets.columns import Column
from service_tui.console.widgets.record_table import RecordTable
from service_tui.desk.commands.settings import SetPreference
from service_tui.desk.commands.trading import GiveUp
from service_tui.desk.slices.briefing import BriefingView
from service_tui.desk.slices.records import MeanwhileView, TicketView
from service_tui.desk.state import DeskState
from service_tui.units import Timestamp

CALM: Final = (
    "No alert waits for its exit, no trade for your approval, no signal.\n"
    "No order waits for its end, none was refused in the last ten minutes.\n"
    "No position resolves within 15 minutes, none moved by more than 15 %.\n"
    "No agent is broke, no experiment stands still, no skill has crashed.\n"
    "Less than 80 % of every limit of the day is used."
)
WAITING: Final = "Not known yet: the service has not answered since the start."

_TABLE_LINES: Final = 7
"""What the absence leaves to the rows that need somebody."""

_BRIEFING_LINES: Final = 9
"""The most lines that the heartbeat takes; a third of what the rows leave."""

_EDGE: Final = 3
"""Cells that the block's edge and padding take."""

VERB_FROM: Final = 120
ADVICE_FROM: Final = 160
"""Widths from which verb and advice are columns; below the latter, a line tells both of one row."""

_DISMISSED_MAX: Final = 20
"""Rows go by themselves after ten minutes: older ones need not be remembered."""


def _what(need: Need) -> Text:
    """The thing; one that cannot wait is red and bold in every theme."""
    text = formats.plain(need.what)
    return Text(text.plain, "bold breach") if need.is_last else text


_COLUMNS: Final = (
    Column[Need]("kind", "", 11, lambda need: Text(f"{need.glyph} {need.word}", need.tone)),
    Column[Need]("what", "what needs you", 24, _what, flex=True),
    Column[Need]("figure", "", 11, lambda need: need.figure, align="right", glows=False),
    Column[Need](
        "verb", "enter", 19, lambda need: Text(need.verb, "accent"), tier=VERB_FROM, glows=False,
    ),
    Column[Need](
        "advice", "what is to be known", 38,
        lambda need: Text(formats.plain(need.advice).plain, "muted"), tier=ADVICE_FROM,
    ),
)  # fmt: skip


class AttentionPart(NamedTuple):
    """What this screen shows."""

    needs: tuple[Need, ...]
    away: MeanwhileView | None
    calm_since: Timestamp | None
    untold: tuple[str, ...]
    masked: bool
    briefing: BriefingView | None


class AttentionScreen(DeskScreen[AttentionPart]):
    """A short list; Enter leads to each thing."""

    BINDINGS: ClassVar[list[BindingType]] = [*bindings_of("attention")]

    name_in_keys: ClassVar[str] = "attention"
    title: ClassVar[str] = "What needs me"

    def __init__(self, state: DeskState, now: Timestamp) -> None:
        super().__init__(state, now)
        self.table = RecordTable[Need](
            _COLUMNS, key=lambda need: need.key, empty="", id="attention-table"
        )
        self._away = Static(markup=False, id="attention-away")
        self._advice = Static(markup=False, id="attention-advice")
        self._briefing = Static(markup=False, id="attention-briefing")
        self._undone: SetPreference | None = None

    def compose(self) -> ComposeResult:
        """The absence, then the rows."""
        yield self._away
        yield self.table
        yield self._advice
        yield self._briefing

    def part_of(self, state: DeskState) -> AttentionPart:
        """Rows, the absence, and whether anything was ever heard."""
        found = needs(state, self.now)
        away, heard = meanwhile(state), state.briefing
        calm = self.surroundings.calm.since
        return AttentionPart(found, away, calm, untold(state), is_private(state), heard)

    def show(self, part: AttentionPart) -> None:
        """Show the rows and the absence."""
        self.table.empty = self._waiting_words() if part.untold else self._calm_words()
        self.table.show(part.needs)
        self._show_away()
        # At a first visit the layout may come after this; then there is room for more lines.
        self.call_after_refresh(self._show_away)
        self._show_advice()
        self._show_briefing()

    def tick(self) -> None:
        """Let the age of the briefing go on, and the length of the calm."""
        if not (len(self.table.order) or untold(self.state)):
            self.table.empty = self._calm_words()
            self.table.redraw()
        self._show_briefing()

    def focus_row(self, row: str | None) -> None:
        """Put the cursor on a row, and the focus on the list."""
        if row is not None:
            self.table.put_cursor(row)
        self.table.focus()

    def why_not(self, action: str) -> str:
        """Why a key is disabled here."""
        if action == "dismiss" and self._lost() is None and self._dismissal() is None:
            return "nothing here can be dismissed"
        if action == "undo" and self._undone is None:
            return "nothing was dismissed"
        return super().why_not(action)

    def action_open(self) -> None:
        """Do what the highlighted row asks for, or open it: a verb that moves money asks first."""
        need = self.table.selected()
        if need is None:
            return
        if need.key.startswith(HELD):
            self.post_message(ApprovalWanted(need.key.removeprefix(HELD)))
            return
        act = key_named(need.act) if need.act else None
        if act is not None and act.group == "app":
            self.post_message(KeyChosen(act))
        else:
            self.post_message(GoTo(need.screen, need.row, act))

    def action_dismiss(self) -> None:
        """Put the highlighted row aside, or else the absence."""
        lost = self._lost()
        if lost is not None:
            self.give(GiveUp(lost.ticket_id))
            return
        given = self._dismissal()
        if given is None:
            self.post_message(Said("this stays until it is over: it cannot be dismissed", "warn"))
            return
        before = self.state.preferences.get(given.name, "")
        self._undone = SetPreference(given.name, before)
        self.give(given)

    def action_undo(self) -> None:
        """Bring back what was dismissed last."""
        if self._undone is not None:
            self.give(self._undone)
            self._undone = None

    @on(RecordTable.Moved)
    @on(events.Resize)
    def _show_advice(self) -> None:
        need = self.table.selected()
        self._advice.display = need is not None and self.size.width < ADVICE_FROM
        if need is not None:
            advice = formats.plain(need.advice)
            verb = ("enter ", "muted"), (need.verb, "accent"), ("; ", "muted")
            self._advice.update(content(Text.assemble(*verb, advice)))

    @on(RecordTable.Opened)
    def _opened(self, event: RecordTable.Opened) -> None:
        event.stop()
        self.action_open()

    @on(events.Resize)
    def _show_away(self) -> None:
        told = meanwhile(self.state)
        self._away.display = told is not None
        if told is None or not self.size:
            return
        lines = max(2, self.size.height - _TABLE_LINES)
        masked = is_private(self.state)
        text = away_text(told, width=self.size.width - _EDGE, lines=lines, masked=masked)
        self._away.update(content(text))

    @on(events.Resize)
    def _show_briefing(self) -> None:
        if not self.size:
            return
        height = self.size.height
        lines = max(1, min(_BRIEFING_LINES, (height - _TABLE_LINES) // 3))
        text = briefing_text(self.state, self.now, width=self.size.width - _EDGE, lines=lines)
        self._briefing.update(content(text))
        self._briefing.set_class(is_alarming(self.state, self.now), "-alarm")

    def _waiting_words(self) -> str:
        """What has to be told of before all can be said to be well."""
        if self.state.from_cache or not self.state.seen:
            return WAITING
        words = ", ".join(untold(self.state))
        return (
            f"Not known yet: the service has not told of {words}.\n\n{cap('app.refresh')} asks now."
        )

    def _calm_words(self) -> str:
        """That all is well, since when, and what was looked at to say so."""
        calm = self.surroundings.calm
        if calm.since is None:
            return f"All is well.\n\n{CALM}"
        since = formats.moment_of(calm.since, self.now).plain
        length = formats.duration(max(0.0, self.now - calm.since))
        start = ", as long as this console looks" if calm.is_from_start else ""
        return f"All is well since {since}{of_wall(self.state)}, for {length}{start}.\n\n{CALM}"

    def _lost(self) -> TicketView | None:
        """The highlighted order, if it is one of which no trace was found."""
        need = self.table.selected()
        row = None if need is None else need.row
        return next(
            (one for one in self.state.tickets if one.ticket_id == row and one.is_lost), None
        )

    def _dismissal(self) -> SetPreference | None:
        """What `d` would put aside now."""
        need = self.table.selected()
        if need is not None and need.is_dismissable:
            kept = self.state.preferences.get(DISMISSED, "").split("\n")[-_DISMISSED_MAX:]
            return SetPreference(DISMISSED, "\n".join([*filter(None, kept), need.key]))
        told = meanwhile(self.state)
        return None if told is None else SetPreference(AWAY, away_mark(told))
