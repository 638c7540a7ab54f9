"""A one-line button without Textual's two hundred rules of style."""

from typing import ClassVar

from textual import events
from textual.binding import Binding, BindingType
from textual.message import Message

from service_tui.console.widgets.text_block import TextBlock


class LightButton(TextBlock, can_focus=True):
    """A label pressed with enter, space or the mouse, unless it is disabled."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("enter,space", "open", "press", show=False)]
    DEFAULT_CSS: ClassVar[str] = "LightButton { width: auto; height: 1; padding: 0 1; }"

    class Pressed(Message):
        """The operator pressed it."""

        def __init__(self, button: "LightButton") -> None:
            super().__init__()
            self.button = button

        @property
        def control(self) -> "LightButton":
            """The pressed button."""
            return self.button

    def __init__(self, label: str = "", *, id: str) -> None:  # noqa: A002 - Textual's own word
        super().__init__(label, id=id)

    def action_open(self) -> None:
        """Post that it was pressed."""
        self.post_message(self.Pressed(self))

    def on_click(self, event: events.Click) -> None:
        """Handle a click like a key."""
        event.stop()
        self.action_open()
