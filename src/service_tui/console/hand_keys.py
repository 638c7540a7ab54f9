"""The key by which the person decides for agents, from anywhere: the trades that wait.

Knows the views and the dialog of an approval. Must not know a screen's layout.
Used by the app, which stands on it.
"""

from service_tui.console.halt_keys import HaltKeys
from service_tui.console.messages import Said
from service_tui.desk.commands_fleet import ApproveHeld, RefuseHeld


class HandKeys(HaltKeys):
    """Views that ask whether an agent may trade."""

    def action_approvals(self) -> None:
        """The waiting trade with the nearest deadline; decided, the key brings the next one."""
        from service_tui.console.dialogs.approval import ApprovalForm  # noqa: PLC0415 - not at first

        held = self.desk_state.supervision.held
        if not held:
            self.post_message(Said("no trade waits for you", "info"))
            return
        if any(isinstance(screen, ApprovalForm) for screen in self.screen_stack):
            return

        def decided(decision: ApproveHeld | RefuseHeld | None) -> None:
            if decision is not None:
                self.give(decision)

        self.push_screen(ApprovalForm(self.desk_state, self.now, held[0]), decided)
