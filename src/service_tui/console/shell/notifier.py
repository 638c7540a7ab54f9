"""Notifies each notice once, through the channels that the person chose for its kind."""

from typing import Final, Protocol

from textual.notifications import Notification

from service_tui.console.freshness import is_private
from service_tui.console.keys import cap
from service_tui.console.needs import alerts_of, inbox, put_aside, ringing_alerts
from service_tui.console.notifications import (
    KINDS,
    Channel,
    Toast,
    choices_of,
    desktop_bytes,
    is_listed,
    is_quiet,
    muted_kinds,
    notifications,
)
from service_tui.console.reasons import fix_text, without_amounts
from service_tui.desk.slices.notices import NoticeKind
from service_tui.desk.state import DeskState
from service_tui.units import Timestamp

BELL: Final = "\a"


class NoticeOutput(Protocol):
    """The part of the frame that shows notices."""

    def show_toast(self, text: str, tone: str = "info", kind: str = "") -> Notification:
        """Show a toast, in place of the one of its kind."""
        ...

    def signal(self, data: str) -> None:
        """Write a control sequence to the terminal."""
        ...


class Notifier:
    """Keeps track of notices sent, toasts on screen, and unseen events.

    Args:
        frame: shows toasts and writes to the terminal.
        newest: number of the newest notice of an earlier run, which is not sent again.
    """

    def __init__(self, frame: NoticeOutput, newest: int) -> None:
        self._frame = frame
        self._newest = newest
        self._toasts: dict[NoticeKind, tuple[Toast, Notification]] = {}
        self._counted: frozenset[str] = frozenset()
        self._rung: frozenset[str] = frozenset()
        self.prefix = ""
        """Begins each toast: a replay marks what happens now."""
        self.unseen = 0
        """Unseen events, as counted in the bar."""

    def notify(self, state: DeskState, now: Timestamp) -> None:
        """Notify of every notice newer than the last one sent."""
        fresh = [notice for notice in state.notices if notice.notice_id > self._newest]
        if not fresh:
            return
        self._newest = fresh[-1].notice_id
        self._toasts = {kind: one for kind, one in self._toasts.items() if not one[1].has_expired}
        choices, masked = choices_of(state.preferences), is_private(state)
        shown = {kind: toast for kind, (toast, _) in self._toasts.items()}
        found = inbox(state, now)
        rows = [need.key for need in (*found.rows, *found.snoozed, *found.muted)]
        result = notifications(
            fresh,
            choices,
            now,
            shown=shown,
            counted=self._counted,
            listed=frozenset(one.notice_id for one in fresh if is_listed(one, state, rows)),
            muted=muted_kinds(put_aside(state).topics()),
        )
        self.unseen += result.unseen
        # An event whose notice is gone cannot be notified twice: forget it.
        self._counted = (self._counted | result.events) & {one.about for one in state.notices}
        self._show(result.toasts, masked=masked)
        if result.bell:
            self._frame.signal(BELL)
        if result.desktop:
            text = without_amounts(result.desktop, masked=masked)
            self._frame.signal(desktop_bytes(text, choices.protocol))

    def ring(self, state: DeskState, now: Timestamp) -> None:
        """Ring once for each alert that has come into its last ten minutes.

        Quiet hours delay the bell; an alert still in its last minutes when they end rings then.
        Without the channel bell, alerts never ring; nor does a snoozed one.
        """
        last = ringing_alerts(state, now)
        if self._rung and (known := alerts_of(state)):
            # Of a service that does not answer, no alert is known: none is over.
            self._rung &= known
        if last <= self._rung:
            return
        choices = choices_of(state.preferences)
        if is_quiet(choices.quiet, now):
            return
        self._rung |= last
        channels = choices.channels.get(NoticeKind.ALERT)
        if channels is None or Channel.BELL in channels:
            self._frame.signal(BELL)

    def mark_seen(self) -> None:
        """Mark all events as seen."""
        self.unseen, self._counted = 0, frozenset()

    def _show(self, toasts: tuple[Toast, ...], *, masked: bool) -> None:
        """Show one toast a kind: a newer one replaces the former."""
        for toast in toasts:
            text = self.prefix + _toast_text(toast, masked=masked)
            shown = self._frame.show_toast(text, toast.tone, toast.kind.value)
            self._toasts[toast.kind] = toast, shown


def _toast_text(toast: Toast, *, masked: bool) -> str:
    """The text of a toast, with the keys of its fix."""
    text = without_amounts(toast.summary(), masked=masked)
    fix = f" — {fix_text(toast.fix, masked=masked)}" if toast.fix else ""
    others = toast.count - 1 if toast.kind not in KINDS else 0
    more = f" (and {others} more: {cap('app.blotter')} shows all commands)" if others else ""
    return f"{text}{fix}{more}"
