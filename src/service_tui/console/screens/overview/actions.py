"""Actions on needs: perform the row's action, dismiss, snooze or mute it, restore it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

from textual.message import Message

from service_tui.console.actions import NO_ROW, ScreenAction, UnmetReason
from service_tui.console.keys import cap, key_named
from service_tui.console.messages import ApprovalRequested, GoTo, KeyChosen
from service_tui.console.needs import (
    DISMISSED,
    DISMISSED_ABSENCE,
    absence_mark,
    absence_of,
    put_aside,
)
from service_tui.console.needs_aside import (
    MUTED,
    SNOOZED,
    snoozed_text,
    written_mutes,
    written_snoozes,
)
from service_tui.console.needs_fleet import PENDING
from service_tui.console.parts.shared_actions import has_row, mark, undo
from service_tui.console.parts.table_screen import TableScreen
from service_tui.console.ranking import Need
from service_tui.desk.commands.settings import SetPreference
from service_tui.desk.commands.trading import GiveUp
from service_tui.desk.slices.tickets import TicketView

Needs: TypeAlias = TableScreen[Need]

_DISMISSED_MAX: Final = 200
"""Rows expire after ten minutes or an hour: older dismissals need not be stored."""


class Toggled(Message):
    """The rows that one row stands for are to be shown, or folded again."""

    def __init__(self, key: str) -> None:
        super().__init__()
        self.key = key


def can_dismiss(screen: Needs) -> UnmetReason:
    """True if a row can be dismissed, or the summary of an absence."""
    if len(screen.table.order) and not screen.table.order.marked and screen.selected() is None:
        # The list has just changed: the row under the cursor is not the one that was meant.
        return NO_ROW
    if _lost_order(screen) is None and _dismissal(screen) is None:
        return "nothing here can be dismissed"
    return ""


def has_dismissed(screen: Needs) -> UnmetReason:
    """A hidden row can be restored."""
    return "" if screen.take_back else "nothing to restore"


def has_needs(screen: Needs) -> UnmetReason:
    """A row is highlighted, or some are marked."""
    return "" if screen.table.order.marked else has_row(screen)


# -- one row, or the marked ones ------------------------------------------------------------------


def do_it(screen: Needs) -> None:
    """Perform the row's action, or open it: a verb that moves money confirms first.

    Of marked rows, their kind's action for several.
    """
    if screen.table.order.marked:
        do_all(screen)
        return
    need = screen.selected()
    if need is None:
        return
    if need.members:
        screen.post_message(Toggled(need.key))
        return
    if need.key.startswith(PENDING):
        screen.post_message(ApprovalRequested(need.key.removeprefix(PENDING)))
        return
    key = key_named(need.act) if need.act else None
    if key is not None and key.group == "app":
        screen.post_message(KeyChosen(key))
    else:
        screen.post_message(GoTo(need.screen, need.row, key))


@dataclass(frozen=True, slots=True)
class BulkAction:
    """What is done with several rows of a kind: marked on their screen, then its key pressed."""

    screen: str
    mark: str
    act: str


_BULK: Final = {
    "app.approvals": BulkAction("approvals", "approvals.mark", "approvals.approve"),
    "reactor.mirror": BulkAction("reactor", "reactor.mark", "reactor.mirror"),
}
"""By the action of one row."""


def bulk_of(marked: Sequence[Need]) -> tuple[BulkAction, tuple[str, ...]] | str:
    """What enter does with marked rows, and the keys of the rows there; or why it does nothing."""
    alone = single(marked)
    kinds = {need.act for need in alone}
    if len(kinds) != 1:
        return "marked rows are of several kinds: mark one kind"
    action = _BULK.get(kinds.pop())
    if action is None:
        return f"no action for several of these: {cap('attention.dismiss')} dismisses them"
    return action, tuple(filter(None, map(_row_there, alone)))


def _row_there(need: Need) -> str:
    """The key of a row on the screen where several are acted on."""
    return need.key.removeprefix(PENDING) if need.key.startswith(PENDING) else need.row or ""


def single(needs: Sequence[Need]) -> tuple[Need, ...]:
    """The rows, and in place of a folded one the rows that it stands for; each once."""
    alone = [one for need in needs for one in (need.members or (need,))]
    return tuple({one.key: one for one in alone}.values())


def do_all(screen: Needs) -> None:
    """Mark the same rows on their screen and ask there once for all of them."""
    found = bulk_of(screen.table.selected_or_marked())
    if isinstance(found, str):
        screen.show_toast(found, "warn")
        return
    action, rows = found
    screen.table.clear_marks()
    # Exactly these: what was marked there before is not meant.
    for place, row in enumerate(rows):
        mark = key_named(action.mark)
        screen.post_message(GoTo(action.screen, row, mark, unmarks=not place))
    screen.post_message(GoTo(action.screen, rows[0], key_named(action.act)))


def run_skill(screen: Needs) -> None:
    """Open the form that runs a skill, on the screen of the agents."""
    screen.post_message(GoTo("agents", None, key_named("agents.start")))


def dismiss(screen: Needs) -> None:
    """Dismiss the rows, or else the summary of an absence."""
    lost, given = _lost_order(screen), _dismissal(screen)
    # Marked rows are meant, not the one under the cursor: nothing is given up with them.
    if lost is not None and not screen.table.order.marked:
        screen.give(GiveUp(lost.ticket_id))
    elif given is not None:
        _set(screen, given)
        screen.table.clear_marks()


def _set(screen: Needs, given: SetPreference) -> None:
    """Set a preference that hides rows; undo sets its former value."""
    before = screen.state.preferences.get(given.name, "")
    screen.take_back = (SetPreference(given.name, before),)
    screen.give(given)


# -- put aside ------------------------------------------------------------------------------------


def snooze(screen: Needs) -> None:
    """Ask until when the rows are hidden."""
    from service_tui.console.screens.overview.forms import (  # noqa: PLC0415 - not at first
        SnoozeForm,
        SnoozeUntil,
    )

    chosen = single(screen.table.selected_or_marked())
    if not chosen:
        screen.row_in_focus()
        return

    def hide(until: SnoozeUntil) -> None:
        known = put_aside(screen.state).snoozes
        text = snoozed_text(known, chosen, until.at, screen.now)
        _set(screen, SetPreference(SNOOZED, text))
        screen.table.clear_marks()

    screen.open_dialog(SnoozeForm(screen.state, screen.now, chosen), hide)


def mute(screen: Needs) -> None:
    """List what the row can be muted by, and everything that is hidden."""
    from service_tui.console.screens.overview.forms import (  # noqa: PLC0415 - not at first
        AsideChoice,
        AsideList,
        aside_choices,
    )

    need = screen.selected()
    if need is not None and not aside_choices(need, screen.state, screen.now):
        screen.show_toast("approvals, alerts and real money cannot be muted", "warn")
        return

    def choose(choice: AsideChoice) -> None:
        aside = put_aside(screen.state)
        if choice.snooze is not None:
            left = [one for one in aside.snoozes if one.key != choice.snooze.key]
            _set(screen, SetPreference(SNOOZED, written_snoozes(left)))
        elif choice.mute is not None:
            others = [one for one in aside.mutes if one != choice.mute]
            mutes = others if choice.is_hidden else [*others, choice.mute]
            _set(screen, SetPreference(MUTED, written_mutes(mutes)))

    screen.open_dialog(AsideList(screen.state, screen.now, need), choose)


def _lost_order(screen: Needs) -> TicketView | None:
    """The highlighted order, if it was looked up without a trace."""
    need = screen.selected()
    row = None if need is None else need.row
    return next(
        (ticket for ticket in screen.state.tickets if ticket.ticket_id == row and ticket.is_lost),
        None,
    )


def _dismissal(screen: Needs) -> SetPreference | None:
    """The preference that dismisses the rows or that note."""
    preferences = screen.state.preferences
    chosen = screen.table.selected_or_marked()
    keys = [one.key for need in chosen if need.is_dismissable for one in (need.members or (need,))]
    if keys:
        kept = [*filter(None, preferences.get(DISMISSED, "").split("\n")), *keys]
        return SetPreference(DISMISSED, "\n".join(kept[-_DISMISSED_MAX:]))
    text = absence_of(screen.state)
    return None if text is None else SetPreference(DISMISSED_ABSENCE, absence_mark(text))


ACTIONS: Final[tuple[ScreenAction[Needs], ...]] = (
    ScreenAction("attention.open", do_it),
    ScreenAction("attention.dismiss", dismiss, requires=(can_dismiss,)),
    ScreenAction("attention.mark", mark, requires=(has_row,)),
    ScreenAction("attention.snooze", snooze, requires=(has_needs,)),
    ScreenAction("attention.mute", mute),
    ScreenAction("attention.run", run_skill),
    ScreenAction("attention.undo", undo, requires=(has_dismissed,)),
)
