"""The wallet panel: address with its code, what is in it, what is still missing."""

from typing import ClassVar, Final

from rich.text import Text
from textual import events, on
from textual.app import App, ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical, VerticalScroll

from service_tui.console.forms.typed_word import TypedWord
from service_tui.console.freshness import is_private
from service_tui.console.keys import bindings_of, cap, keys_of, shown_key, with_keys
from service_tui.console.messages import CommandGiven, Copied, Said
from service_tui.console.qr import qr_text
from service_tui.console.screens.wallet.pay_form import PayForm
from service_tui.console.screens.wallet.text import (
    NOT_LINKED,
    approvals_question,
    approvals_text,
    challenge_question,
    checklist_text,
    is_unlinked,
    live_question,
    pay_text,
    wallet_text,
)
from service_tui.console.theme import content
from service_tui.console.widgets.dialog import Dialog
from service_tui.console.widgets.words import Words
from service_tui.desk.command import Command
from service_tui.desk.commands.wallet import (
    APPROVE_WORD,
    LIVE_WORD,
    TAIL,
    AllowReal,
    AskApprovals,
    AskLink,
    KeepKey,
    LinkWallet,
    LockWallet,
    MakeCredentials,
    PayOffer,
    RemoveKey,
    SetApprovals,
    SetLive,
    SetPay,
    UnlockWallet,
)
from service_tui.desk.slices.wallet import KeyState, WalletView
from service_tui.desk.state import DeskState
from service_tui.units import Timestamp

BESIDE_FROM: Final = 100
"""Width from which the code stands beside the words."""

NARROW: Final = 60
"""Width of the words before they are laid out."""

_READ_ONLY: Final = "this desk is read-only: it changes nothing"
_ALLOW: Final = (
    "The service then takes orders of this agent for real venues, from this desk and from "
    "whoever else holds its API key. This desk sends none before {wallet.live} and the word LIVE."
)


class WalletPanel(Dialog[None]):  # noqa: PLR0904 - one action a key
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
        self._state = state
        self._now = now
        self._code = ""
        self._asks_approvals = False
        self._asks_link = False

    def compose(self) -> ComposeResult:
        """The words, the code, the keys."""
        with Vertical(id="frame", classes="dialog") as frame:
            frame.border_title = content(Text(" Wallet "))
            frame.border_subtitle = content(Text(f" {cap('dialog.close')} closes "))
            with VerticalScroll(id="wallet-body"), Horizontal(id="wallet-columns"):
                with Vertical(id="wallet-words"):
                    yield Words(id="wallet-text")
                    yield Words(id="wallet-checks")
                with Vertical(id="wallet-beside"):
                    yield Words(id="wallet-code")
                    yield Words(id="wallet-approvals")
                    yield Words(id="wallet-pay")
            yield Words(id="wallet-keys")

    def on_mount(self) -> None:
        """Show what is known."""
        self._show()

    def take(self, state: DeskState, now: Timestamp) -> None:
        """Receive a newer state; approvals that were asked for are then confirmed."""
        before, read = self._wallet.approvals_at, self._wallet.challenge
        self._state, self._now = state, now
        self._show()
        wallet = self._wallet
        if self._asks_approvals and wallet.job is None and wallet.approvals_at != before:
            self._asks_approvals = False
            self._confirm_approvals()
        if self._asks_link and wallet.job is None and wallet.challenge not in {None, read}:
            self._asks_link = False
            self._confirm_link()

    @on(events.Resize)
    def _resized(self) -> None:
        self.set_class(self.size.width >= BESIDE_FROM, "-beside")
        self.call_after_refresh(self._show)
        self.call_after_refresh(self._tell_keys)

    def _tell_keys(self) -> None:
        """The keys, as many to a line as there is room for; none is broken in two."""
        for body in self.query("#wallet-body").results(VerticalScroll):
            for words in self.query("#wallet-keys").results(Words):
                words.tell(Text(_in_lines(body.outer_size.width), "muted"))

    @property
    def _wallet(self) -> WalletView:
        return self._state.wallet

    # -- what the keys do ------------------------------------------------------------------------

    def action_unlock(self) -> None:
        """Open the key, or forget the open one at once."""
        wallet = self._wallet
        if wallet.key_state is KeyState.UNLOCKED:
            self._give(LockWallet())
            return
        if wallet.key_state is KeyState.NONE:
            over = (
                f"; {cap('wallet.keys')} names files that are no key" if wallet.passed_over else ""
            )
            self.post_message(
                Said(f"no key is kept here: {cap('wallet.keep')} keeps one{over}", "warn")
            )
            return
        self._unlock(wallet.key_address)

    def _unlock(self, address: str) -> None:
        from service_tui.console.screens.wallet.passphrase import (  # noqa: PLC0415 - not at first
            Secrets,
            unlock_dialog,
        )

        def answered(secrets: Secrets | None) -> None:
            if secrets is not None:
                self._give(UnlockWallet(secrets.passphrase, address))

        self._app().push_screen(unlock_dialog(address), answered)

    def action_keep(self) -> None:
        """Import a key, or make one."""
        from service_tui.console.screens.wallet.passphrase import (  # noqa: PLC0415 - not at first
            NewKeyDialog,
            Secrets,
        )

        if self._is_read_only():
            return

        def answered(secrets: Secrets | None) -> None:
            if secrets is not None:
                self._give(KeepKey(secrets.passphrase, secrets.secret))

        self._app().push_screen(NewKeyDialog(), answered)

    def action_stored(self) -> None:
        """The keys that lie here: open another one, or delete one."""
        from service_tui.console.screens.wallet.stored_keys import (  # noqa: PLC0415 - not at first
            Chosen,
            StoredKeys,
        )

        def answered(chosen: Chosen | None) -> None:
            if chosen is None:
                return
            if chosen.removes:
                self._remove(chosen.address)
            else:
                self._unlock(chosen.address)

        self._app().push_screen(StoredKeys(self._state, self._now), answered)

    def _remove(self, address: str) -> None:
        """Delete a key, once the end of its address is typed."""
        from service_tui.console.screens.wallet.stored_keys import (  # noqa: PLC0415 - not at first
            removal_question,
        )

        if self._is_read_only():
            return

        def answered(word: str | None) -> None:
            if word is not None:
                self._give(RemoveKey(address, word))

        body = removal_question(address, self._wallet)
        question = TypedWord("Delete this key for good?", body, address[-TAIL:], "delete")
        self._app().push_screen(question, answered)

    def action_link(self) -> None:
        """Read the challenge for the open key's wallet; its text is then shown and confirmed."""
        wallet = self._wallet
        if self._is_read_only():
            return
        if wallet.key_state is not KeyState.UNLOCKED:
            self.post_message(
                Said(
                    f"unlock a key first ({cap('wallet.unlock')}), or keep one here "
                    f"({cap('wallet.keep')})",
                    "warn",
                )
            )
            return
        if wallet.is_linked and wallet.can_sign:
            self.post_message(Said("this wallet is linked already"))
            return
        self._asks_link = True
        self._give(AskLink(wallet.key_address))

    def _confirm_link(self) -> None:
        from service_tui.console.forms.confirm import (  # noqa: PLC0415 - not at first
            Confirm,
            Question,
        )

        read = self._wallet.challenge
        if read is None:
            return

        def answered(confirmed: bool | None) -> None:  # noqa: FBT001 - a dialog's result
            if confirmed:
                self._give(LinkWallet(read.address, read.nonce))

        question = Question("Link this wallet?", challenge_question(read), "link")
        self._app().push_screen(Confirm(question), answered)

    def action_approve(self) -> None:
        """Read the approvals; what is missing is then shown and confirmed."""
        if self._is_read_only():
            return
        if not self._wallet.is_linked:
            self.post_message(
                Said(f"a managed wallet needs none; for an own one link it ({cap('wallet.link')})")
            )
            return
        self._asks_approvals = True
        self._give(AskApprovals())

    def _confirm_approvals(self) -> None:
        wallet = self._wallet
        if not wallet.unset:
            self.post_message(Said("every approval is given"))
            return
        if not wallet.can_sign:
            self.post_message(
                Said(
                    f"unlock the wallet first ({cap('wallet.unlock')}): the approvals are signed",
                    "warn",
                )
            )
            return
        keys = tuple(one.key for one in wallet.unset)

        def answered(word: str | None) -> None:
            if word is not None:
                self._give(SetApprovals(keys, word))

        question = TypedWord("Give these approvals?", approvals_question(wallet), APPROVE_WORD)
        self._app().push_screen(question, answered)

    def action_credentials(self) -> None:
        """Have the venue's credentials derived: one signature that moves nothing."""
        if self._is_read_only():
            return
        if not self._wallet.can_sign or not self._wallet.is_linked:
            self.post_message(
                Said(
                    f"link the wallet ({cap('wallet.link')}) and unlock its key "
                    f"({cap('wallet.unlock')}) first",
                    "warn",
                )
            )
            return
        self._give(MakeCredentials())

    def action_allow(self) -> None:
        """Have the service take real trades of this agent, once that is confirmed."""
        from service_tui.console.forms.confirm import (  # noqa: PLC0415 - not at first
            Confirm,
            Question,
        )

        if self._is_read_only():
            return
        if self._wallet.real_trading:
            self.post_message(Said("real trades are allowed already"))
            return

        def answered(confirmed: bool | None) -> None:  # noqa: FBT001 - a dialog's result
            if confirmed:
                self._give(AllowReal())

        question = Question("Allow this agent real trades?", Text(with_keys(_ALLOW)), "allow")
        self._app().push_screen(Confirm(question), answered)

    def action_live(self) -> None:
        """Real money off at once; on once the word is typed."""
        if self._wallet.live:
            self._give(SetLive(on=False))
            return
        if self._is_read_only():
            return

        def answered(word: str | None) -> None:
            if word is not None:
                self._give(SetLive(on=True, word=word))

        question = TypedWord("Switch real money on?", live_question(self._wallet), LIVE_WORD)
        self._app().push_screen(question, answered)

    def action_pay(self) -> None:
        """Pay the offer that stands there, once confirmed; else set the cap of a day."""
        from service_tui.console.forms.confirm import (  # noqa: PLC0415 - not at first
            Confirm,
            Question,
        )

        if self._is_read_only():
            return
        offer = self._wallet.pay.offer
        if offer is None or offer.why_not or not self._wallet.pay.is_on:

            def filled(order: SetPay | None) -> None:
                if order is not None:
                    self._give(order)

            self._app().push_screen(PayForm(self._state, self._now), filled)
            return

        def answered(confirmed: bool | None) -> None:  # noqa: FBT001 - a dialog's result
            if confirmed:
                self._give(PayOffer(offer.offer_id))

        question = Question("Pay for this call?", pay_text(self._state), "pay")
        self._app().push_screen(Confirm(question), answered)

    def action_copy_address(self) -> None:
        """Copy the address, to send gas or money to."""
        address = self._wallet.address or self._wallet.key_address
        if address and is_unlinked(self._wallet):
            self.post_message(Copied(address, f"the key's address, {NOT_LINKED}"))
        elif address:
            self.post_message(Copied(address, "the wallet's address"))
        else:
            self.post_message(Said("there is no address yet", "warn"))

    def action_code(self) -> None:
        """Show the address as a code for a camera, on a page of its own."""
        from service_tui.console.screens.wallet.code import (  # noqa: PLC0415 - not at first
            WalletCode,
        )

        address = self._wallet.address or self._wallet.key_address
        if is_private(self._state):
            self.post_message(
                Said(
                    f"addresses are masked: leave this, and {cap('app.privacy')} shows them", "warn"
                )
            )
        elif not address:
            self.post_message(Said("there is no address yet", "warn"))
        elif is_unlinked(self._wallet):
            self.post_message(Said(NOT_LINKED, "warn"))
        else:
            app = self._app()
            app.push_screen(WalletCode(address, on_dark=app.current_theme.dark))

    def action_lines(self, by: int) -> None:
        """Scroll by lines."""
        self.query_one("#wallet-body").scroll_relative(y=by, animate=False)

    def action_close(self) -> None:
        """Leave."""
        self.dismiss(None)

    # -- what is shown ---------------------------------------------------------------------------

    def _show(self) -> None:
        wallet, state = self._wallet, self._state
        told = {
            "text": wallet_text(state),
            "checks": checklist_text(wallet, self._room("checks")),
            "approvals": approvals_text(wallet) if wallet.is_linked else Text(),
            "pay": pay_text(state),
        }
        for name, text in told.items():
            for words in self.query(f"#wallet-{name}").results(Words):
                words.tell(text)
        # An address that is not linked yet has no code: nobody is to send anything there.
        address = "" if is_private(state) else wallet.address
        on_dark = self._app().current_theme.dark
        is_beside = bool(address) and self.size.width >= BESIDE_FROM
        code = f"{address} {on_dark} {is_beside}"
        if code != self._code:
            # Parts of parts may not stand yet when the page itself does.
            for words in self.query("#wallet-code").results(Words):
                self._code = code
                words.display = is_beside
                words.tell(qr_text(address, on_dark=on_dark) if is_beside else Text())

    def _room(self, name: str) -> int:
        """Width of a block; that of a page of 80 columns until it is laid out."""
        found = self.query(f"#wallet-{name}").results(Words)
        return next((words.content_size.width for words in found), 0) or NARROW

    def _is_read_only(self) -> bool:
        if self._state.service.read_only:
            self.post_message(Said(_READ_ONLY, "warn"))
        return self._state.service.read_only

    def _give(self, command: Command) -> None:
        self.post_message(CommandGiven(command))

    def _app(self) -> App[object]:
        app: App[object] = self.app  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType] - untyped
        return app


def _in_lines(width: int) -> str:
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
