"""Stop and target of many positions at once; the changes are listed, then confirmed."""

from collections.abc import Mapping
from typing import ClassVar, Final

from rich.text import Text

from service_tui.console import formats
from service_tui.console.fields import Field, FieldError, percent_text
from service_tui.console.forms.confirm import Question
from service_tui.console.forms.confirm_many import ConfirmMany
from service_tui.console.forms.form import Form, Shown
from service_tui.console.forms.monitor_draft import (
    Change,
    exit_terms,
    monitor_block_reason,
    read_changes,
)
from service_tui.console.keys import cap
from service_tui.console.questions import short_question
from service_tui.desk.slices.risk import MonitorView
from service_tui.desk.state import DeskState
from service_tui.terms import counted
from service_tui.units import Timestamp

STOP: Final = Field("stop-percent", "stop", str.strip, "% down", "unchanged")
TARGET: Final = Field("target-percent", "target", str.strip, "% up", "unchanged")


class MonitorMany(Form[tuple[Change, ...]]):
    """Returns the changes that were confirmed."""

    heading: ClassVar[str] = "Monitors"
    hint: ClassVar[str] = "enter reviews, {form.cancel} cancels"
    body = ("form-question", STOP, TARGET, "form-preview", "form-hint")

    def __init__(self, state: DeskState, now: Timestamp, monitors: tuple[MonitorView, ...]) -> None:
        super().__init__(state, now)
        self._monitors = monitors
        self._missing_count = 0

    def renew(self) -> None:
        """The same monitors as they are now, without those that are gone."""
        present = tuple(
            monitor
            for each in self._monitors
            if (monitor := self.state.risk.monitor(each.key)) is not None
        )
        self._missing_count += len(self._monitors) - len(present)
        self._monitors = present

    def validate(self) -> tuple[Change, ...]:
        """The changes to set."""
        if not self._monitors:
            raise FieldError(f"No monitors left. {cap('form.cancel')} cancels")
        return read_changes(self._monitors, self.read(STOP), self.read(TARGET))

    def describe(self, result: tuple[Change, ...] | None) -> Mapping[str, Shown]:
        """The number of changed and of unchanged monitors."""
        missing = f", {self._missing_count} removed meanwhile" if self._missing_count else ""
        hint = "Empty: unchanged. Off: no threshold."
        return {
            "form-question": f"{counted(len(self._monitors), 'monitor')}{missing}",
            "form-preview": self._outcome(result),
            "form-hint": Text(hint, "muted"),
        }

    def finish(self, result: tuple[Change, ...]) -> None:
        """Open the confirmation, with a line for each change."""
        past = sum(bool(change.exits_at_once) for change in result)
        of_all = counted(len(self._monitors), "monitor")
        verb = "changes" if len(result) == 1 else "change"
        body = Text(f"{len(result)} of {of_all} {verb} and become manual.")
        if past:
            body.append(f"\n{past} already past the new threshold: sold at once.", "bold loss")
        question = Question("Set these monitors?", body.append("\n"), "set")
        lines = tuple(change_line(change) for change in result)

        def answered(confirmed: bool | None) -> None:  # noqa: FBT001 - a dialog's result
            if confirmed:
                self.leave(result)

        self._app().push_screen(ConfirmMany(question, lines), answered)

    def _outcome(self, result: tuple[Change, ...] | None) -> Text:
        closed = sum(bool(monitor_block_reason(monitor)) for monitor in self._monitors)
        left = f", {closed} closed or being sold left out" if closed else ""
        if result is None:
            return Text(f"no change yet{left}", "muted")
        stay = len(self._monitors) - len(result) - closed
        past = sum(bool(change.exits_at_once) for change in result)
        text = Text.assemble((f"{len(result)} change", "bold"), f", {stay} unchanged{left}")
        if past:
            text.append(f"\n{past} sold at once", "bold loss")
        return text


def change_line(change: Change) -> Text:
    """One monitor: its position, and each threshold before and after."""
    about = change.monitor
    line = Text.assemble(
        (f"{about.side.value.upper():<4}", about.side.value),
        (formats.plain(short_question(about.question), 66).plain, "bold"),
        "\n    ",
        _turn("stop", about.stop_loss_pct, change.thresholds.stop_loss_pct),
        (", ", "muted"),
        _turn("target", about.take_profit_pct, change.thresholds.take_profit_pct),
    )
    for term in exit_terms(change.thresholds):
        line.append(f", {term}", "muted")
    if change.exits_at_once:
        line.append(f", past its {change.exits_at_once}: sold at once", "loss")
    return line


def _turn(name: str, before: float | None, after: float | None) -> Text:
    if before == after:
        return Text(f"{name} {_written(before)}", "muted")
    return Text.assemble(
        (f"{name} ", "muted"), _written(before), (" → ", "muted"), (_written(after), "bold accent")
    )


def _written(fraction: float | None) -> str:
    return "off" if fraction is None else f"{percent_text(fraction)} %"
