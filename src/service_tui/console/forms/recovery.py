"""Recovery of a desk that cannot be opened as it is: its options, and a button for each."""

from typing import ClassVar, Final

from rich.text import Text
from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.widgets import Button, Static

from service_tui.console.closed_desk import RecoveryOption
from service_tui.console.keys import bindings_of, cap
from service_tui.console.theme import content
from service_tui.console.widgets.dialog import Dialog
from service_tui.console.widgets.room import make_room

OPTIONS_MAX: Final = 9


class RecoveryDialog(Dialog[RecoveryOption | None]):
    """A digit, or a click, chooses; leaving keeps the desk closed.

    Args:
        why: what happened.
        options: the recovery options, best first.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        *bindings_of("dialog"),
        Binding("left", "app.focus_previous", show=False),
        Binding("right", "app.focus_next", show=False),
        *(
            Binding(f"{place}", f"take({place - 1})", show=False)
            for place in range(1, OPTIONS_MAX + 1)
        ),
    ]
    AUTO_FOCUS = ""

    def __init__(self, why: str, options: tuple[RecoveryOption, ...]) -> None:
        super().__init__()
        self._why = why
        self._options = options[:OPTIONS_MAX]

    def compose(self) -> ComposeResult:
        """The reason, each option in plain English, and its button."""
        with Vertical(id="frame", classes="dialog") as frame:
            frame.border_title = content(Text(" Desk cannot be opened "))
            frame.border_subtitle = content(Text(f" {cap('dialog.close')} keeps it closed "))
            details = Text(self._why)
            for place, option in enumerate(self._options, start=1):
                details.append(f"\n\n{place} {option.label}", "accent")
                details.append(f"\n{option.details}", "muted")
            with VerticalScroll(id="confirm-reading", can_focus=False):
                yield Static(content(details), markup=False, id="confirm-body")
            with Horizontal(id="confirm-doors"):
                for place, option in enumerate(self._options, start=1):
                    door = Text(f"{place} {option.label}")
                    yield Button(content(door), compact=True, id=f"way-{place}")

    def on_mount(self) -> None:
        """Accept the digits in a moment: those typed ahead lead to screens."""
        self.arm_soon()

    def on_resize(self) -> None:
        """Keep the buttons on the screen, however long the text."""
        self.call_after_refresh(self._make_room)

    def action_take(self, place: int) -> None:
        """Choose an option by its place, once the dialog has been seen."""
        if place < len(self._options) and self.is_seen():
            self.dismiss(self._options[place])

    def action_close(self) -> None:
        """Leave the desk closed."""
        self.dismiss(None)

    @on(Button.Pressed)
    def _pressed(self, event: Button.Pressed) -> None:
        event.stop()
        self.action_take(int((event.button.id or "way-0").removeprefix("way-")) - 1)

    def _make_room(self) -> None:
        for reading in self.query("#confirm-reading"):
            make_room(self.query_one("#frame"), reading)
