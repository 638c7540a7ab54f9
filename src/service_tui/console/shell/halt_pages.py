"""The halt: at once when its key arrives, then as a page; and the word that ends it."""

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
"""Keys of this group halt from everywhere, also from inside an input."""


class HaltPages:
    """Halts at once, and then shows the halt.

    Args:
        app: whose keys and pages these are.
    """

    def __init__(self, app: Views) -> None:
        self._app = app
        self._has_halted = False

    def at_once(self, message: Message) -> None:
        """Halt if this message is its key, whatever the focus and the queue."""
        is_halt = isinstance(message, events.Key) and message.key in key_named(HALT).keys
        # Barred by a role, the action behind the key gives the reason.
        if is_halt and not role_reason(self._app.desk_state, HALT):
            self._has_halted = True
            self._app.give(Halt())
            # Keys typed before that wait for their turn belong to the halted work.
            self._app.forget_typed()

    def halt(self) -> None:
        """Halt, unless the key has done so, and show the acknowledgements."""
        from service_tui.console.forms.halt import HaltPanel  # noqa: PLC0415 - not at first

        app = self._app
        if not self.is_done_by_key():
            app.give(Halt())
        shown = any(isinstance(screen, HaltPanel) for screen in app.screen_stack)
        if not shown and app.desk_state.halted_since is not None:
            app.push_screen(HaltPanel(app.desk_state, app.now))

    def is_done_by_key(self) -> bool:
        """Whether the key has halted already, or was refused; asked once a key."""
        is_done, self._has_halted = self._has_halted, False
        return is_done

    def resume(self) -> None:
        """Ask for the typed word that ends the halt; without a halt, say so."""
        why = not_halted_reason(self._app.desk_state)
        self._app.post_message(ToastMessage(why, "warn") if why else ResumeRequested())

    def confirm_resume(self) -> None:
        """Open the dialog that takes the word."""
        from service_tui.console.forms.halt import confirm_resume  # noqa: PLC0415 - not at first

        confirm_resume(self._app.front, self._app.desk_state)
