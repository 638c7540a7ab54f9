"""Opens pending trades of agents for a decision, from any screen."""

from dataclasses import replace
from typing import Final

from service_tui.console.actions import rewound_reason
from service_tui.console.freshness import is_answered
from service_tui.console.messages import ApprovalRequested, GoTo, ToastMessage
from service_tui.console.shell.views import Views
from service_tui.desk.commands.agents import ApproveTrade, ReadDay, RefuseTrade
from service_tui.desk.slices.supervision import PendingTradeView
from service_tui.desk.slices.topics import Topic

TYPED_AHEAD: Final = "no more approvals: last keys ignored"
NOT_SENT: Final = "decision not sent: last keys ignored"
TOO_EARLY: Final = "keys typed ahead ignored: review the next trade first"


class ApprovalPages:
    """Opens waiting trades one after another, and gives the decisions to the desk.

    Args:
        app: whose pages these are.
    """

    def __init__(self, app: Views) -> None:
        self._app = app

    def open(self) -> None:
        """List the waiting trades; the only one is opened at once."""
        app = self._app
        pending = app.desk_state.supervision.pending_trades
        if not pending:
            none = "no approvals pending"
            if app.desk_state.service.embedded and not is_answered(app.desk_state, Topic.FLEET):
                none = "approvals not loaded yet"
            # A warning stays until it is seen: it explains a key without effect.
            app.post_message(ToastMessage(none, "warn"))
            return
        first, *others = pending
        if others:
            app.post_message(GoTo("approvals", first.pending_id))
        else:
            self._decide(first)

    def open_requested(self, message: ApprovalRequested) -> None:
        """Open this trade only: it may have been decided a moment ago."""
        for trade in self._app.desk_state.supervision.pending_trades:
            if trade.pending_id == message.pending_id:
                self._decide(trade, refuse=message.refuse)
                return
        self._app.post_message(ToastMessage("trade no longer pending", "info"))

    def report(self) -> None:
        """The day of every agent, as a page; the one in focus on its screen comes first."""
        from service_tui.console.forms.report import Report  # noqa: PLC0415 - not at first

        app = self._app
        if any(isinstance(screen, Report) for screen in app.screen_stack):
            return
        first = app.front.current_row() if app.front.name_in_keys == "agents" else None
        app.give(ReadDay())
        app.push_screen(Report(app.desk_state, app.now, first=first or ""))

    def _submit(self, decision: ApproveTrade | RefuseTrade) -> None:
        """Give a decision to the desk; only an accepted one leads to the next trade."""
        if self._app.give(decision):
            self._app.rest_keys(NOT_SENT)
        else:
            self._open_next()

    def _open_next(self) -> None:
        """Open the next waiting trade; keys typed ahead do not apply to it."""
        left = self._app.desk_state.supervision.pending_trades
        self._app.rest_keys(TOO_EARLY if left else TYPED_AHEAD)
        if left:
            self._decide(left[0], is_next=True)

    def _is_rewound(self) -> bool:
        """Whether a recorded state is in front, on which nothing can be decided; says so."""
        why = rewound_reason(self._app.desk_state, "")
        if why:
            self._app.post_message(ToastMessage(why, "warn"))
        return bool(why)

    def _decide(
        self, trade: PendingTradeView, *, is_next: bool = False, refuse: bool = False
    ) -> None:
        from service_tui.console.forms.approval import (  # noqa: PLC0415 - not at first
            ApprovalForm,
            is_real,
            real_question,
        )
        from service_tui.console.forms.confirm import Confirm  # noqa: PLC0415

        app = self._app
        if self._is_rewound() or any(
            isinstance(screen, ApprovalForm) for screen in app.screen_stack
        ):
            return

        def decided(decision: ApproveTrade | RefuseTrade | None) -> None:
            if isinstance(decision, ApproveTrade) and is_real(trade, app.desk_state):
                confirm_real(decision)
            elif decision is not None:
                self._submit(decision)

        def confirm_real(order: ApproveTrade) -> None:
            def answered(confirmed: bool | None) -> None:  # noqa: FBT001 - a dialog's result
                if confirmed:
                    self._submit(replace(order, confirmed=True))

            question = real_question(trade, order, app.desk_state)
            app.push_screen(Confirm(question), answered)

        form = ApprovalForm(app.desk_state, app.now, trade, is_next=is_next, refuse=refuse)
        app.push_screen(form, decided)
