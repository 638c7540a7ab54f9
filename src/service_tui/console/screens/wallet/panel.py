"""The wallet panel: address with its code, balances, missing steps."""

from collections.abc import Callable
from typing import ClassVar, Final, TypeVar

from rich.text import Text
from textual import events, on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.screen import ModalScreen

from service_tui.console.freshness import is_private
from service_tui.console.keys import bindings_of, cap, keys_of, shown_key
from service_tui.console.messages import CommandGiven, Copied, ToastMessage
from service_tui.console.qr import qr_text
from service_tui.console.screens.wallet.actions import ACTIONS, confirm_approvals, confirm_link
from service_tui.console.screens.wallet.text import (
    approvals_text,
    checklist_text,
    pay_text,
    wallet_text,
)
from service_tui.console.theme import content
from service_tui.console.widgets.dialog import Dialog, open_above
from service_tui.console.widgets.text_block import TextBlock
from service_tui.desk.command import Command
from service_tui.desk.slices.wallet import ChallengeView, WalletView
from service_tui.desk.state import DeskState
from service_tui.units import Timestamp

Result = TypeVar("Result")

BESIDE_FROM: Final = 100
"""Width from which the code stands beside the text."""

NARROW: Final = 60
"""Width of the text before it is laid out."""


def approvals_have_come(before: Timestamp | None, wallet: WalletView) -> bool:
    """Whether requested approvals were read since, and nothing else is under way."""
    return wallet.job is None and wallet.approvals_at != before


def challenge_has_come(before: ChallengeView | None, wallet: WalletView) -> bool:
    """Whether the text to link with is there and a new one, and nothing else is under way."""
    return wallet.job is None and wallet.challenge not in {None, before}


class WalletPanel(Dialog[None]):
    """Stays until it is left; `take` brings it each newer state."""

    BINDINGS: ClassVar[list[BindingType]] = [
        *bindings_of("dialog"),
        *bindings_of("wallet"),
        Binding("j", "lines(1)", show=False),
        Binding("k", "lines(-1)", show=False),
        Binding("ctrl+d", "lines(10)", show=False),
        Binding("ctrl+u", "lines(-10)", show=False),
    ]
    AUTO_FOCUS = "#wallet-body"

    def __init__(self, state: DeskState, now: Timestamp) -> None:
        super().__init__()
        self.state = state
        self.now = now
        self._code = ""
        self.confirms_approvals = False
        self.confirms_link = False

    def compose(self) -> ComposeResult:
        """The text, the code, the keys."""
        with Vertical(id="frame", classes="dialog") as frame:
            frame.border_title = content(Text(" Wallet "))
            frame.border_subtitle = content(Text(f" {cap('dialog.close')} closes "))
            with VerticalScroll(id="wallet-body"), Horizontal(id="wallet-columns"):
                with Vertical(id="wallet-words"):
                    yield TextBlock(id="wallet-text")
                    yield TextBlock(id="wallet-checks")
                with Vertical(id="wallet-beside"):
                    yield TextBlock(id="wallet-code")
                    yield TextBlock(id="wallet-approvals")
                    yield TextBlock(id="wallet-pay")
            yield TextBlock(id="wallet-keys")

    def on_mount(self) -> None:
        """Show the wallet."""
        self._show()

    def take(self, state: DeskState, now: Timestamp) -> None:
        """Receive a newer state; requested approvals are then confirmed."""
        before, read = self.state.wallet.approvals_at, self.state.wallet.challenge
        self.state, self.now = state, now
        self._show()
        wallet = self.state.wallet
        if self.confirms_approvals and approvals_have_come(before, wallet):
            self.confirms_approvals = False
            confirm_approvals(self)
        if self.confirms_link and challenge_has_come(read, wallet):
            self.confirms_link = False
            confirm_link(self)

    @on(events.Resize)
    def _resized(self) -> None:
        self.set_class(self.size.width >= BESIDE_FROM, "-beside")
        self.call_after_refresh(self._show)
        self.call_after_refresh(self._show_keys)

    def _show_keys(self) -> None:
        """Show the keys, as many a line as fit; none is broken in two."""
        for body in self.query("#wallet-body").results(VerticalScroll):
            for text in self.query("#wallet-keys").results(TextBlock):
                text.show_text(Text(keys_in_lines(body.outer_size.width), "muted"))

    # -- actions of the keys ---------------------------------------------------------------------

    def action_perform(self, ident: str) -> None:
        """Run a declared action, or show why it is disabled."""
        action = next(action for action in ACTIONS if action.id == ident)
        if why := action.disabled_reason(self):
            self.show_toast(why, "warn")
        else:
            action.run(self)

    @property
    def is_dark(self) -> bool:
        """Whether the theme has a dark ground."""
        return self.app.current_theme.dark  # pyright: ignore[reportUnknownMemberType] - untyped

    def give(self, command: Command) -> None:
        """Give a command."""
        self.post_message(CommandGiven(command))

    def show_toast(self, text: str, tone: str = "info") -> None:
        """Show a toast."""
        self.post_message(ToastMessage(text, tone))

    def copy(self, text: str, what: str) -> None:
        """Copy a text; `what` names it in the toast."""
        self.post_message(Copied(text, what))

    def open_dialog(
        self,
        dialog: ModalScreen[Result] | ModalScreen[Result | None],
        then: Callable[[Result], None] | None = None,
    ) -> None:
        """Open a dialog, and pass its result on unless it was left."""
        open_above(self, dialog, then)

    def action_lines(self, by: int) -> None:
        """Scroll by lines."""
        self.query_one("#wallet-body").scroll_relative(y=by, animate=False)

    def action_close(self) -> None:
        """Leave."""
        self.dismiss(None)

    # -- what is shown ---------------------------------------------------------------------------

    def _show(self) -> None:
        wallet, state = self.state.wallet, self.state
        shown = {
            "text": wallet_text(state),
            "checks": checklist_text(wallet, self._room("checks"), masked=is_private(self.state)),
            "approvals": approvals_text(wallet) if wallet.is_linked else Text(),
            "pay": pay_text(state),
        }
        for name, text in shown.items():
            for sentence in self.query(f"#wallet-{name}").results(TextBlock):
                sentence.show_text(text)
        # An address that is not linked yet has no code: no money should be sent there.
        address = "" if is_private(state) else wallet.address
        on_dark = self.is_dark
        is_beside = bool(address) and self.size.width >= BESIDE_FROM
        code = f"{address} {on_dark} {is_beside}"
        if code != self._code:
            # Parts of parts may not be mounted yet when the page itself is.
            for sentence in self.query("#wallet-code").results(TextBlock):
                self._code = code
                sentence.display = is_beside
                sentence.show_text(qr_text(address, on_dark=on_dark) if is_beside else Text())

    def _room(self, name: str) -> int:
        """Width of a block; that of a page of 80 columns until it is laid out."""
        result = self.query(f"#wallet-{name}").results(TextBlock)
        return next((text.content_size.width for text in result), 0) or NARROW


def keys_in_lines(width: int) -> str:
    """The keys of this page, in lines of at most so many cells."""
    lines = [""]
    for key in keys_of("wallet"):
        pair = f"{shown_key(key)} {key.label}"
        joined = f"{lines[-1]}   {pair}" if lines[-1] else pair
        if len(joined) <= width or not lines[-1]:
            lines[-1] = joined
        else:
            lines.append(pair)
    return "\n".join(lines)
