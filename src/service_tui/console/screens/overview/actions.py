"""Actions on needs: perform the row's action, dismiss it, restore it."""

from typing import Final, TypeAlias

from textual.message import Message

from service_tui.console.actions import ScreenAction, UnmetReason
from service_tui.console.keys import key_named
from service_tui.console.messages import ApprovalRequested, GoTo, KeyChosen
from service_tui.console.needs import DISMISSED, DISMISSED_ABSENCE, absence_mark, absence_of
from service_tui.console.needs_fleet import HELD
from service_tui.console.parts.shared_actions import undo
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
    """The highlighted row can be dismissed, or the note of what happened while nobody was here."""
    if _lost_order(screen) is None and _dismissal(screen) is None:
        return "nothing here can be dismissed"
    return ""


def has_dismissed(screen: Needs) -> UnmetReason:
    """A dismissed row can be restored."""
    return "" if screen.take_back else "nothing to restore"


def do_it(screen: Needs) -> None:
    """Perform the highlighted row's action, or open it: a verb that moves money confirms first."""
    need = screen.selected()
    if need is None:
        return
    if need.members:
        screen.post_message(Toggled(need.key))
        return
    if need.key.startswith(HELD):
        screen.post_message(ApprovalRequested(need.key.removeprefix(HELD)))
        return
    key = key_named(need.act) if need.act else None
    if key is not None and key.group == "app":
        screen.post_message(KeyChosen(key))
    else:
        screen.post_message(GoTo(need.screen, need.row, key))


def dismiss(screen: Needs) -> None:
    """Dismiss the highlighted row, or else the note of what happened while nobody was here."""
    lost, given = _lost_order(screen), _dismissal(screen)
    if lost is not None:
        screen.give(GiveUp(lost.ticket_id))
    elif given is not None:
        before = screen.state.preferences.get(given.name, "")
        screen.take_back = (SetPreference(given.name, before),)
        screen.give(given)


def _lost_order(screen: Needs) -> TicketView | None:
    """The highlighted order, if it was looked up without a trace."""
    need = screen.selected()
    row = None if need is None else need.row
    return next(
        (ticket for ticket in screen.state.tickets if ticket.ticket_id == row and ticket.is_lost),
        None,
    )


def _dismissal(screen: Needs) -> SetPreference | None:
    """The preference that dismisses the row or that note."""
    need, preferences = screen.selected(), screen.state.preferences
    if need is not None and need.is_dismissable:
        keys = [each.key for each in need.members or (need,)]
        kept = [*filter(None, preferences.get(DISMISSED, "").split("\n")), *keys]
        return SetPreference(DISMISSED, "\n".join(kept[-_DISMISSED_MAX:]))
    text = absence_of(screen.state)
    return None if text is None else SetPreference(DISMISSED_ABSENCE, absence_mark(text))


ACTIONS: Final[tuple[ScreenAction[Needs], ...]] = (
    ScreenAction("attention.open", do_it),
    ScreenAction("attention.dismiss", dismiss, requires=(can_dismiss,)),
    ScreenAction("attention.undo", undo, requires=(has_dismissed,)),
)
