"""The key by which the person decides for agents, from anywhere: the trades that wait.

Knows the views and the dialog of an approval. Must not know a screen's layout.
Used by the app, which stands on it.
"""

from dataclasses import replace

from textual import on

from service_tui.console.freshness import is_heard
from service_tui.console.halt_keys import HaltKeys
from service_tui.console.messages import ApprovalWanted, Said
from service_tui.desk.commands_fleet import ApproveHeld, ReadDay, RefuseHeld
from service_tui.desk.records import Topic
from service_tui.desk.records_fleet import HeldView


class HandKeys(HaltKeys):
    """Views that ask whether an agent may trade."""

    def action_approvals(self) -> None:
        """The waiting trade with the nearest deadline; decided, the key brings the next one."""
        held = self.desk_state.supervision.held
        if not held:
            none = "no trade waits for you"
            if self.desk_state.service.embedded and not is_heard(self.desk_state, Topic.FLEET):
                none = "which trades wait for you is not known yet: the service has not told"
            self.post_message(Said(none, "info"))
            return
        self._decide(held[0])

    def action_report(self) -> None:
        """The day of every agent, as a page; the one in focus on its screen comes first."""
        from service_tui.console.dialogs.report import Report  # noqa: PLC0415 - not at first

        if any(isinstance(screen, Report) for screen in self.screen_stack):
            return
        first = self.front.current_row() if self.front.name_in_keys == "agents" else None
        self.give(ReadDay())
        self.push_screen(Report(self.desk_state, self.now, first=first or ""))

    @on(ApprovalWanted)
    def _wanted(self, message: ApprovalWanted) -> None:
        """This one and no other: it may have been decided a moment ago."""
        for held in self.desk_state.supervision.held:
            if held.held_id == message.held_id:
                self._decide(held)
                return
        self.post_message(Said("that trade waits no longer", "info"))

    def _decide(self, held: HeldView) -> None:
        from service_tui.console.dialogs.approval import (  # noqa: PLC0415 - not at first
            ApprovalForm,
            is_real,
            real_question,
        )

        if any(isinstance(screen, ApprovalForm) for screen in self.screen_stack):
            return

        def decided(decision: ApproveHeld | RefuseHeld | None) -> None:
            if isinstance(decision, ApproveHeld) and is_real(held, self.desk_state):
                ask_for_real(decision)
            elif decision is not None:
                self.give(decision)

        def ask_for_real(order: ApproveHeld) -> None:
            def answered(confirmed: bool | None) -> None:  # noqa: FBT001 - a dialog's result
                if confirmed:
                    self.give(replace(order, confirmed=True))

            self.push_screen(real_question(held, order, self.desk_state), answered)

        self.push_screen(ApprovalForm(self.desk_state, self.now, held), decided)
