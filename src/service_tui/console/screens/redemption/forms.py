"""Confirmation of a redemption: the transaction, decoded, and its cost.

It opens at once, shows the progress of request and checks, and accepts a confirmation only
once there is a transaction to sign.
"""

from typing import ClassVar, Final

from rich.text import Text
from textual import events, on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical, VerticalScroll

from service_tui.console import formats
from service_tui.console.chain_text import fee_text
from service_tui.console.figures import hanging, labelled, section
from service_tui.console.forms.confirm import record_confirmation
from service_tui.console.forms.typed_word import TypedWord
from service_tui.console.keys import bindings_of, cap
from service_tui.console.screens.redemption.detail import call_text, paid, steps_text
from service_tui.console.theme import content
from service_tui.console.view_context import ViewContext
from service_tui.console.widgets.dialog import Dialog
from service_tui.console.widgets.light_button import LightButton
from service_tui.console.widgets.text_block import TextBlock
from service_tui.desk.commands.wallet import GAP_WORD
from service_tui.desk.slices.redemption import ChainRunState, RedemptionRow, RunView
from service_tui.desk.slices.wallet import KeyState, WalletView
from service_tui.desk.state import DeskState
from service_tui.units import Timestamp

_WIDTH: Final = 70
"""Cells of a line before the first layout."""

_MANAGED: Final = "The service holds the key of this wallet. It signs, sends and pays the gas."


def why_not_signed(run: RunView | None, wallet: WalletView) -> str:
    """Why there is nothing to confirm yet; empty for a transaction that this desk can sign."""
    if run is None:
        return "loading the transaction"
    if run.state is not ChainRunState.PREPARED:
        return run.words or run.state.value
    if not run.managed and wallet.key_state is not KeyState.UNLOCKED:
        return (
            f"key locked. {cap('dialog.close')}, then {cap('app.wallet')} and "
            f"{cap('wallet.unlock')} unlock it"
        )
    return ""


class RedeemDialog(Dialog[str | None]):
    """Returns the digest of the confirmed transaction, empty if managed; None when left."""

    BINDINGS: ClassVar[list[BindingType]] = [
        *bindings_of("dialog"),
        Binding("y", "confirm", show=False),
        Binding("j", "lines(1)", show=False),
        Binding("k", "lines(-1)", show=False),
    ]
    # Not a button: an enter that was meant for something else must not confirm this.
    AUTO_FOCUS = "#redeem-body"

    def __init__(self, state: DeskState, now: Timestamp, row: RedemptionRow) -> None:
        super().__init__()
        self._state = state
        self._now = now
        self._row = row
        # A run that ended before this was opened is not the requested one.
        self._before = state.redemption.run(row.key)
        self._shown_call: str = ""
        self._is_done = False

    def compose(self) -> ComposeResult:
        """The text, and two buttons."""
        with Vertical(id="frame", classes="dialog") as frame:
            frame.border_title = content(Text(" Redeem this position? "))
            frame.border_subtitle = content(Text(f" {cap('dialog.close')} signs nothing "))
            with VerticalScroll(id="redeem-body"):
                yield TextBlock(id="redeem-text")
            with Horizontal(id="redeem-doors"):
                yield LightButton("sign and send  y", id="redeem-yes")
                yield LightButton(f"cancel  {cap('dialog.close')}", id="redeem-no")

    def on_mount(self) -> None:
        """Show the present state."""
        self.query_one("#redeem-yes").can_focus = False
        self._show()

    def take(self, state: DeskState, now: Timestamp) -> None:
        """Receive a newer state."""
        self._state, self._now = state, now
        self._show()

    @property
    def run(self) -> RunView | None:
        """The run of this dialog; None before there is one."""
        run = self._state.redemption.run(self._row.key)
        return None if run is self._before or run == self._before else run

    @property
    def _why_not(self) -> str:
        return why_not_signed(self.run, self._state.wallet)

    def action_confirm(self) -> None:
        """Confirm exactly the displayed transaction."""
        run = self.run
        if self._is_done or run is None or self._why_not or not self.is_seen():
            return
        if run.call is None or not run.call.gap:
            self._confirm(run)
            return
        digest, gap = run.call.digest, run.call.gap
        text = f"{gap} earlier nonces of this wallet are unaccounted for (before {run.call.nonce})."
        body = Text(
            f"{text} Another program may use the key. A transaction sent now waits "
            "for those nonces."
        )

        def typed(word: str | None) -> None:
            now = self.run
            is_same = now is not None and now.call is not None and now.call.digest == digest
            if word == GAP_WORD and now is not None and is_same and not self._why_not:
                self._confirm(now)

        self.app.push_screen(  # pyright: ignore[reportUnknownMemberType]
            TypedWord("Does another program use this key?", body, GAP_WORD), typed
        )

    def _confirm(self, run: RunView) -> None:
        self._is_done = True
        record_confirmation(self, "redeem this position")
        self.dismiss("" if run.call is None else run.call.digest)

    def action_close(self) -> None:
        """Sign nothing."""
        if not self._is_done:
            self._is_done = True
            self.dismiss(None)

    def action_lines(self, by: int) -> None:
        """Scroll by lines."""
        self.query_one("#redeem-body").scroll_relative(y=by, animate=False)

    @on(LightButton.Pressed)
    def _opened(self, event: LightButton.Pressed) -> None:
        event.stop()
        if event.button.id == "redeem-yes":
            self.action_confirm()
        else:
            self.action_close()

    @on(events.Resize)
    def _resized(self) -> None:
        # Once the new width is known, lines are broken anew.
        self.call_after_refresh(self._show)

    def _width(self) -> int:
        """Cells of a line; the usual ones before there are any."""
        bodies = self.query("#redeem-body").results(VerticalScroll)
        return next((body.scrollable_content_region.width for body in bodies), 0) or _WIDTH

    def _show(self) -> None:
        run = self.run
        for text in self.query("#redeem-text").results(TextBlock):
            text.show_text(self._text(run))
        for button in self.query("#redeem-yes").results(LightButton):
            button.disabled = bool(self._why_not)
        shown = "" if run is None or run.state is not ChainRunState.PREPARED else repr(run.call)
        if shown != self._shown_call:
            # Another transaction than a moment ago: keys typed ahead confirm nothing.
            self._shown_call, self.is_armed = shown, False
            if shown:
                self.arm_soon()

    def _text(self, run: RunView | None) -> Text:
        row, view = self._row, ViewContext.of(self._state, self._now)
        wallet = self._state.wallet
        pays = row.amount if run is None or not run.amount else run.amount
        width = self._width()
        side = formats.side(row.side)
        question = hanging(formats.plain(row.question, 120).plain, width - len(side) - 2)
        call = None if run is None or run.state is not ChainRunState.PREPARED else run.call
        figures = [
            ("position", Text.assemble(side, "  ", question)),
            (
                "pays",
                Text.assemble(
                    paid(pays, row.money, view),
                    (" to ", "muted"),
                    formats.address(wallet.address or None, masked=view.masked),
                ),
            ),
            ("venue", Text(row.venue.value + (", simulated" if row.simulated else ", real"))),
        ]
        if call is not None:
            figures.insert(2, ("costs", Text.assemble("max ", fee_text(call))))
        parts = [labelled(figures)]
        if run is None:
            parts.append(Text(self._why_not, "muted"))
        elif run.managed and run.state is ChainRunState.PREPARED:
            parts.append(Text(_MANAGED))
        elif call is not None:
            title = "you sign this only"
            parts.append(section(title, call_text(call, width=width)))
        else:
            parts.append(steps_text(run, self._now, masked=view.masked))
        why = "" if run is None or run.state is not ChainRunState.PREPARED else self._why_not
        if why:
            parts.append(Text(view.sentence(why), "warn"))
        return Text("\n\n").join(parts)
