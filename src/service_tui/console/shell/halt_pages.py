"""The halt: sent as soon as its key arrives, then shown as a page; and the dialog that ends it.

The key is handled twice: `at_once` halts when the key enters the queue of messages, ahead of all
keys before it, and `halt` shows the page when the key is processed.
"""

from typing import Final

from textual import events
from textual.message import Message

from service_tui.console.actions import not_halted_reason
from service_tui.console.keys import key_named
from service_tui.console.messages import ResumeRequested, ToastMessage
from service_tui.console.roles import role_reason
from service_tui.console.shell.views import Views
from service_tui.desk.commands.halt import Halt

HALT: Final = "app.halt"
"""The action whose keys halt from everywhere, also from inside an input."""


class HaltPages:
    """Halts when the key arrives, and shows the page of the halt.

    Args:
        app: the console.
    """

    def __init__(self, app: Views) -> None:
        self._app = app
        self._halted_by_key = False

    def at_once(self, message: Message) -> None:
        """Halt now if this message is the halt key, whatever has the focus."""
        is_halt = isinstance(message, events.Key) and message.key in key_named(HALT).keys
        # If the role forbids it, the action of the key gives the reason later.
        if is_halt and not role_reason(self._app.desk_state, HALT):
            self._halted_by_key = True
            self._app.give(Halt())
            # Keys that are still queued were typed before the halt: drop them.
            self._app.forget_typed()

    def halt(self) -> None:
        """Halt, unless `at_once` has done so, and show the acknowledgements."""
        from service_tui.console.forms.halt import HaltPanel  # noqa: PLC0415 - not at first

        app = self._app
        if not self.take_key_halt():
            app.give(Halt())
        shown = any(isinstance(screen, HaltPanel) for screen in app.screen_stack)
        if not shown and app.desk_state.halted_since is not None:
            app.push_screen(HaltPanel(app.desk_state, app.now))

    def take_key_halt(self) -> bool:
        """True if `at_once` has halted for the key being processed; clears that note."""
        is_done, self._halted_by_key = self._halted_by_key, False
        return is_done

    def resume(self) -> None:
        """Open the dialog that ends the halt; without a halt, show a toast."""
        why = not_halted_reason(self._app.desk_state)
        self._app.post_message(ToastMessage(why, "warn") if why else ResumeRequested())

    def confirm_resume(self) -> None:
        """Open the dialog in which a typed word ends the halt."""
        from service_tui.console.forms.halt import confirm_resume  # noqa: PLC0415 - not at first

        confirm_resume(self._app.front, self._app.desk_state)
