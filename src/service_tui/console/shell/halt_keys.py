"""F9: the gate closes before anything else is done with the key, and the halt stands on the screen.

A key is dealt with in its turn, after those that came before and whatever they opened; this one is
not: it acts when the terminal hands it over.
"""

from typing import Final

from textual import events
from textual.message import Message

from service_tui.console.keys import key_named
from service_tui.console.shell.views import Views
from service_tui.desk.command import Command
from service_tui.desk.commands.halt import Halt

HALT: Final = "app.halt"
"""Its keys halt from everywhere, also from inside an input."""


class HaltKeys(Views):
    """Views that halt at once, and then show the halt."""

    _was_given: bool = False

    def give(self, command: Command) -> str:
        """Hand a command to the desk; the app says how.

        Returns:
            Why it was not taken; empty when it was.
        """
        raise NotImplementedError

    def post_message(self, message: Message) -> bool:
        """Halt when the key arrives, wherever the focus is and however long the queue."""
        if isinstance(message, events.Key) and message.key in key_named(HALT).keys:
            self._was_given = True
            self.give(Halt())
            # What was typed before and has not had its turn belongs to what was stopped.
            self.forget_typed()
        return super().post_message(message)

    def action_halt(self) -> None:
        """Halt, unless the key has done so, and show who has acknowledged it."""
        from service_tui.console.forms.halt import HaltPanel  # noqa: PLC0415 - not at first

        if not self._was_given:
            self.give(Halt())
        self._was_given = False
        shown = any(isinstance(screen, HaltPanel) for screen in self.screen_stack)
        if not shown and self.desk_state.halted_since is not None:
            self.push_screen(HaltPanel(self.desk_state, self.now))
