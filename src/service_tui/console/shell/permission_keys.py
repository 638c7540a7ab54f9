"""Keys for decisions about agents, from anywhere: halt, and waiting trades."""

from dataclasses import replace
from typing import Final

from textual import events, on
from textual.message import Message

from service_tui.console.actions import not_halted_reason, rewound_reason
from service_tui.console.freshness import is_answered
from service_tui.console.keys import key_named
from service_tui.console.messages import (
    ApprovalRequested,
    GoTo,
    ResumeRequested,
    ToastMessage,
)
from service_tui.console.shell.views import Views
from service_tui.desk.commands.agents import ApproveHeld, ReadDay, RefuseHeld
from service_tui.desk.commands.halt import Halt
from service_tui.desk.slices.fleet import HeldView
from service_tui.desk.slices.records import Topic

HALT: Final = "app.halt"
"""Keys of this group halt from everywhere, also from inside an input."""


class HaltKeys(Views):
    """Views that halt at once, and then show the halt."""

    _has_halted: bool = False

    def post_message(self, message: Message) -> bool:
        """Halt when the key arrives, whatever the focus and the queue."""
        if isinstance(message, events.Key) and message.key in key_named(HALT).keys:
            self._has_halted = True
            self.give(Halt())
            # Keys typed before that wait for their turn belong to the halted work.
            self.forget_typed()
        return super().post_message(message)

    def action_halt(self) -> None:
        """Halt, unless the key has done so, and show the acknowledgements."""
        from service_tui.console.forms.halt import HaltPanel  # noqa: PLC0415 - not at first

        if not self._has_halted:
            self.give(Halt())
        self._has_halted = False
        shown = any(isinstance(screen, HaltPanel) for screen in self.screen_stack)
        if not shown and self.desk_state.halted_since is not None:
            self.push_screen(HaltPanel(self.desk_state, self.now))

    def action_resume(self) -> None:
        """Ask for the typed word that ends the halt; without a halt, say so."""
        why = not_halted_reason(self.desk_state)
        if why:
            self.post_message(ToastMessage(why, "warn"))
        else:
            self.post_message(ResumeRequested())

    @on(ResumeRequested)
    def _resume_requested(self) -> None:
        from service_tui.console.forms.halt import confirm_resume  # noqa: PLC0415 - not at first

        confirm_resume(self.front, self.desk_state)


TYPED_AHEAD: Final = "no more approvals: last keys ignored"
NOT_SENT: Final = "decision not sent: last keys ignored"
TOO_EARLY: Final = "keys typed ahead ignored: review the next trade first"


class PermissionKeys(HaltKeys):
    """Views with the approvals of agents' trades."""

    def action_approvals(self) -> None:
        """List the waiting trades; the only one is opened at once."""
        held = self.desk_state.supervision.held
        if not held:
            none = "no approvals pending"
            if self.desk_state.service.embedded and not is_answered(self.desk_state, Topic.FLEET):
                none = "approvals not loaded yet"
            # A warning stays until it is seen: it explains a key without effect.
            self.post_message(ToastMessage(none, "warn"))
            return
        first, *others = held
        if others:
            self.post_message(GoTo("approvals", first.held_id))
        else:
            self._decide(first)

    def _submit_decision(self, decision: ApproveHeld | RefuseHeld) -> None:
        """Give a decision to the desk; only an accepted one leads to the next trade."""
        if self.give(decision):
            self.rest_keys(NOT_SENT)
        else:
            self._next_trade()

    def _next_trade(self) -> None:
        """Open the next waiting trade; keys typed ahead do not apply to it."""
        left = self.desk_state.supervision.held
        self.rest_keys(TOO_EARLY if left else TYPED_AHEAD)
        if left:
            self._decide(left[0], is_next=True)

    def action_report(self) -> None:
        """The day of every agent, as a page; the one in focus on its screen comes first."""
        from service_tui.console.forms.report import Report  # noqa: PLC0415 - not at first

        if any(isinstance(screen, Report) for screen in self.screen_stack):
            return
        first = self.front.current_row() if self.front.name_in_keys == "agents" else None
        self.give(ReadDay())
        self.push_screen(Report(self.desk_state, self.now, first=first or ""))

    @on(ApprovalRequested)
    def _approval_requested(self, message: ApprovalRequested) -> None:
        """Open this trade only: it may have been decided a moment ago."""
        for trade in self.desk_state.supervision.held:
            if trade.held_id == message.held_id:
                self._decide(trade, refuse=message.refuse)
                return
        self.post_message(ToastMessage("trade no longer pending", "info"))

    def _is_rewound(self) -> bool:
        """Whether a recorded state is in front, on which nothing can be decided; says so."""
        why = rewound_reason(self.desk_state, "")
        if why:
            self.post_message(ToastMessage(why, "warn"))
        return bool(why)

    def _decide(self, trade: HeldView, *, is_next: bool = False, refuse: bool = False) -> None:
        from service_tui.console.forms.approval import (  # noqa: PLC0415 - not at first
            ApprovalForm,
            is_real,
            real_question,
        )

        if self._is_rewound() or any(
            isinstance(screen, ApprovalForm) for screen in self.screen_stack
        ):
            return

        def decided(decision: ApproveHeld | RefuseHeld | None) -> None:
            if isinstance(decision, ApproveHeld) and is_real(trade, self.desk_state):
                confirm_real(decision)
            elif decision is not None:
                self._submit_decision(decision)

        def confirm_real(order: ApproveHeld) -> None:
            def answered(confirmed: bool | None) -> None:  # noqa: FBT001 - a dialog's result
                if confirmed:
                    self._submit_decision(replace(order, confirmed=True))

            self.push_screen(real_question(trade, order, self.desk_state), answered)

        form = ApprovalForm(self.desk_state, self.now, trade, is_next=is_next, refuse=refuse)
        self.push_screen(form, decided)
