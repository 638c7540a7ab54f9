"""Telling what passed: each notice once, in the ways that the person chose for its kind."""

from typing import Final, Protocol

from textual.notifications import Notification

from service_tui.console.deliveries import (
    KINDS,
    Channel,
    Toast,
    choices_of,
    deliveries,
    desktop_bytes,
    is_quiet,
)
from service_tui.console.freshness import is_private
from service_tui.console.keys import cap
from service_tui.console.needs_risk import last_alerts
from service_tui.console.reasons import fix_text, without_amounts
from service_tui.desk.slices.records import NoticeKind
from service_tui.desk.state import DeskState
from service_tui.units import Timestamp

TOASTS_MAX: Final = 3
"""Answers of one moment that are shown; of more only the number is said."""

BELL: Final = "\a"


class Teller(Protocol):
    """What the frame can do."""

    def say(
        self, text: str, tone: str = "info", instead_of: Notification | None = None
    ) -> Notification:
        """Show a toast, in the place of another one."""
        ...

    def signal(self, data: str) -> None:
        """Write to the terminal what is not text on the screen."""
        ...


class Telling:
    """Knows what was told already, which toasts still stand, and what nobody has seen.

    Args:
        frame: shows toasts and writes to the terminal.
        newest: number of the newest notice of an earlier run, which is not told again.
    """

    def __init__(self, frame: Teller, newest: int) -> None:
        self._frame = frame
        self._newest = newest
        self._standing: dict[NoticeKind, tuple[Toast, Notification]] = {}
        self._counted: frozenset[str] = frozenset()
        self._rung: frozenset[str] = frozenset()
        self.unseen = 0
        """Notices that are counted in the bar until somebody looks."""

    def tell(self, state: DeskState, now: Timestamp) -> None:
        """Tell of every notice that is newer than the last one told."""
        fresh = [notice for notice in state.notices if notice.notice_id > self._newest]
        if not fresh:
            return
        self._newest = fresh[-1].notice_id
        self._standing = {
            kind: one for kind, one in self._standing.items() if not one[1].has_expired
        }
        choices, masked = choices_of(state.preferences), is_private(state)
        shown = {kind: toast for kind, (toast, _) in self._standing.items()}
        found = deliveries(fresh, choices, now, shown=shown, counted=self._counted)
        self.unseen += found.unseen
        self._counted |= found.events
        self._show(found.toasts, masked=masked)
        if found.bell:
            self._frame.signal(BELL)
        if found.desktop:
            text = without_amounts(found.desktop, masked=masked)
            self._frame.signal(desktop_bytes(text, choices.protocol))

    def ring(self, state: DeskState, now: Timestamp) -> None:
        """Ring once for each alert that has come into its last ten minutes.

        In quiet hours nothing rings; what is still in its last minutes when they end rings then.
        Who took the bell away from alerts hears none.
        """
        last = last_alerts(state, now)
        if last <= self._rung:
            return
        choices = choices_of(state.preferences)
        if is_quiet(choices.quiet, now):
            return
        self._rung |= last
        ways = choices.ways.get(NoticeKind.ALERT)
        if ways is None or Channel.BELL in ways:
            self._frame.signal(BELL)

    def seen(self) -> None:
        """Somebody has looked: nothing is unseen."""
        self.unseen, self._counted = 0, frozenset()

    def _show(self, toasts: tuple[Toast, ...], *, masked: bool) -> None:
        answers = [toast for toast in toasts if toast.kind not in KINDS]
        for toast in toasts:
            if toast.kind in KINDS:
                self._replace(toast, masked=masked)
        for toast in answers[-TOASTS_MAX:]:
            self._frame.say(_toast_text(toast, masked=masked), toast.tone)
        if len(answers) > TOASTS_MAX:
            self._frame.say(
                f"and {len(answers) - TOASTS_MAX} more; {cap('app.blotter')} shows every command"
            )

    def _replace(self, toast: Toast, *, masked: bool) -> None:
        """One toast a kind: the newer takes the place of the one before."""
        before = self._standing.get(toast.kind)
        said = _toast_text(toast, masked=masked)
        standing = self._frame.say(said, toast.tone, None if before is None else before[1])
        self._standing[toast.kind] = toast, standing


def _toast_text(toast: Toast, *, masked: bool) -> str:
    """What a toast says, with the keys that do what it advises."""
    text = without_amounts(toast.words(), masked=masked)
    return f"{text} — {fix_text(toast.fix, masked=masked)}" if toast.fix else text
