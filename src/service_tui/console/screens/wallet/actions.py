"""Actions on the wallet: keys, link, approvals, real money, paid calls.

Stopping needs no confirmation; signing, paying and deleting do. `ACTIONS`, at the end, is the list.
"""

from collections.abc import Callable
from typing import Final, Protocol, TypeVar

from rich.text import Text
from textual.screen import ModalScreen

from service_tui.console.actions import ScreenAction, UnmetReason, read_only_reason
from service_tui.console.forms.confirm import Confirm, Question
from service_tui.console.forms.typed_word import TypedWord
from service_tui.console.freshness import is_private
from service_tui.console.keys import cap, with_keys
from service_tui.console.screens.wallet.forms import (
    NewKeyDialog,
    PayForm,
    Secrets,
    StoredKeyRequest,
    StoredKeys,
    WalletCode,
    removal_question,
    unlock_dialog,
)
from service_tui.console.screens.wallet.text import (
    NOT_LINKED,
    approvals_question,
    challenge_question,
    is_unlinked,
    live_question,
    pay_text,
)
from service_tui.desk.command import Command
from service_tui.desk.commands.wallet import (
    APPROVE_WORD,
    LIVE_WORD,
    TAIL,
    AllowReal,
    KeepKey,
    LinkWallet,
    LockWallet,
    MakeCredentials,
    PayOffer,
    ReadApprovals,
    RemoveKey,
    RequestLink,
    SetApprovals,
    SetLive,
    UnlockWallet,
)
from service_tui.desk.slices.wallet import KeyState, WalletView
from service_tui.desk.state import DeskState
from service_tui.units import Timestamp

Result = TypeVar("Result")

_ALLOW: Final = (
    "The service then accepts orders of this agent on real venues, from anyone who has its API "
    "key. This desk sends none until live trading is on ({wallet.live}, word LIVE)."
)


class Panel(Protocol):
    """The panel's interface for the actions."""

    state: DeskState
    now: Timestamp
    confirms_approvals: bool
    """Whether approvals that are read next are to be confirmed."""
    confirms_link: bool
    """Whether the challenge that is read next is to be confirmed."""

    @property
    def is_dark(self) -> bool:
        """Whether the theme has a dark ground."""
        ...

    def give(self, command: Command) -> None:
        """Give a command."""
        ...

    def show_toast(self, text: str, tone: str = "info") -> None:
        """Show a toast."""
        ...

    def copy(self, text: str, what: str) -> None:
        """Copy a text."""
        ...

    def open_dialog(
        self,
        dialog: ModalScreen[Result] | ModalScreen[Result | None],
        then: Callable[[Result], None] | None = None,
    ) -> None:
        """Open a dialog, and pass its result on unless it was left."""
        ...


def _address(wallet: WalletView) -> str:
    """The wallet's address, else that of the key; empty without either."""
    return wallet.address or wallet.key_address


# -- requirements -------------------------------------------------------------------------------


def can_change(panel: Panel) -> UnmetReason:
    """This desk may change things."""
    return read_only_reason(panel.state)


def has_key(panel: Panel) -> UnmetReason:
    """A key is stored here."""
    wallet = panel.state.wallet
    if wallet.key_state is not KeyState.NONE:
        return ""
    over = f"; {cap('wallet.keys')} lists invalid files" if wallet.passed_over else ""
    return f"no key stored. {cap('wallet.keep')} adds one{over}"


def is_unlocked(panel: Panel) -> UnmetReason:
    """The key is unlocked."""
    if panel.state.wallet.key_state is KeyState.UNLOCKED:
        return ""
    return f"unlock a key ({cap('wallet.unlock')}) or add one ({cap('wallet.keep')}) first"


def is_linked_and_open(panel: Panel) -> UnmetReason:
    """The wallet is linked, and its key is unlocked."""
    wallet = panel.state.wallet
    if wallet.can_sign and wallet.is_linked:
        return ""
    link, unlock = cap("wallet.link"), cap("wallet.unlock")
    return f"link the wallet ({link}) and unlock its key ({unlock}) first"


def can_turn_live(panel: Panel) -> UnmetReason:
    """Live trading is on, so that it can be switched off, or this desk may change things."""
    return "" if panel.state.wallet.live else can_change(panel)


def has_address(panel: Panel) -> UnmetReason:
    """There is an address."""
    return "" if _address(panel.state.wallet) else "no address yet"


def is_address_shown(panel: Panel) -> UnmetReason:
    """Addresses are not masked."""
    if not is_private(panel.state):
        return ""
    return f"addresses masked. Close this, then {cap('app.privacy')} shows them"


def is_address_linked(panel: Panel) -> UnmetReason:
    """The address is linked, not that of a key alone: money may be sent there."""
    return NOT_LINKED if is_unlinked(panel.state.wallet) else ""


# -- keys ---------------------------------------------------------------------------------------


def unlock_or_lock(panel: Panel) -> None:
    """Unlock the key, or lock it at once."""
    wallet = panel.state.wallet
    if wallet.key_state is KeyState.UNLOCKED:
        panel.give(LockWallet())
    else:
        _unlock(panel, wallet.key_address)


def _unlock(panel: Panel, address: str) -> None:
    def answered(secrets: Secrets) -> None:
        panel.give(UnlockWallet(secrets.passphrase, address))

    panel.open_dialog(unlock_dialog(address), answered)


def keep_key(panel: Panel) -> None:
    """Import a key, or create one."""

    def answered(secrets: Secrets) -> None:
        panel.give(KeepKey(secrets.passphrase, secrets.secret))

    panel.open_dialog(NewKeyDialog(), answered)


def list_keys(panel: Panel) -> None:
    """List the stored keys, to unlock or delete one."""

    def answered(key_request: StoredKeyRequest) -> None:
        if key_request.removes:
            _remove(panel, key_request.address)
        else:
            _unlock(panel, key_request.address)

    panel.open_dialog(StoredKeys(panel.state, panel.now), answered)


def _remove(panel: Panel, address: str) -> None:
    """Delete a key, after the end of its address is typed."""
    if why := can_change(panel):
        panel.show_toast(why, "warn")
        return
    body = removal_question(address, panel.state.wallet)
    question = TypedWord("Delete this key?", body, address[-TAIL:], "delete")
    panel.open_dialog(question, lambda word: panel.give(RemoveKey(address, word)))


# -- link and approvals -------------------------------------------------------------------------


def link(panel: Panel) -> None:
    """Read the challenge for the unlocked key's wallet; its text is then shown and confirmed."""
    wallet = panel.state.wallet
    if wallet.is_linked and wallet.can_sign:
        panel.show_toast("wallet already linked")
    else:
        panel.confirms_link = True
        panel.give(RequestLink(wallet.key_address))


def confirm_link(panel: Panel) -> None:
    """Show the challenge, and link after a confirmation."""
    read = panel.state.wallet.challenge
    if read is None:
        return

    def answered(confirmed: bool) -> None:  # noqa: FBT001 - a dialog's result
        if confirmed:
            panel.give(LinkWallet(read.address, read.nonce))

    question = Question("Link this wallet?", challenge_question(read), "link")
    panel.open_dialog(Confirm(question), answered)


def approve(panel: Panel) -> None:
    """Read the approvals; missing ones are then shown and confirmed."""
    if panel.state.wallet.is_linked:
        panel.confirms_approvals = True
        panel.give(ReadApprovals())
    else:
        panel.show_toast(
            f"a managed wallet needs none. To use your own, link it ({cap('wallet.link')})"
        )


def confirm_approvals(panel: Panel) -> None:
    """Show the missing approvals, and give them after the typed word."""
    wallet = panel.state.wallet
    if not wallet.unset:
        panel.show_toast("all approvals given")
        return
    if not wallet.can_sign:
        unlock = cap("wallet.unlock")
        panel.show_toast(f"unlock the wallet first ({unlock})", "warn")
        return
    keys = tuple(approval.key for approval in wallet.unset)
    question = TypedWord("Give these approvals?", approvals_question(wallet), APPROVE_WORD)
    panel.open_dialog(question, lambda word: panel.give(SetApprovals(keys, word)))


def make_credentials(panel: Panel) -> None:
    """Derive the venue's credentials: one signature that moves no funds."""
    panel.give(MakeCredentials())


# -- real money and paid calls ------------------------------------------------------------------


def allow_real(panel: Panel) -> None:
    """Allow real trades of this agent at the service, after a confirmation."""
    if panel.state.wallet.real_trading:
        panel.show_toast("real trades already allowed")
        return

    def answered(confirmed: bool) -> None:  # noqa: FBT001 - a dialog's result
        if confirmed:
            panel.give(AllowReal())

    question = Question("Allow real trades for this agent?", Text(with_keys(_ALLOW)), "allow")
    panel.open_dialog(Confirm(question), answered)


def turn_live(panel: Panel) -> None:
    """Switch live trading off at once; on after the typed word."""
    wallet = panel.state.wallet
    if wallet.live:
        panel.give(SetLive(on=False))
        return
    question = TypedWord("Turn live trading on?", live_question(wallet), LIVE_WORD)
    panel.open_dialog(question, lambda word: panel.give(SetLive(on=True, word=word)))


def pay(panel: Panel) -> None:
    """Pay the present offer, after a confirmation; else set the daily cap."""
    paying = panel.state.wallet.pay
    offer = paying.offer
    if offer is None or offer.why_not or not paying.is_on:
        panel.open_dialog(PayForm(panel.state, panel.now), panel.give)
        return

    def answered(confirmed: bool) -> None:  # noqa: FBT001 - a dialog's result
        if confirmed:
            panel.give(PayOffer(offer.offer_id))

    question = Question("Pay for this call?", pay_text(panel.state), "pay")
    panel.open_dialog(Confirm(question), answered)


# -- the address --------------------------------------------------------------------------------


def copy_address(panel: Panel) -> None:
    """Copy the address, to send gas or money to."""
    wallet = panel.state.wallet
    is_key_only = is_unlinked(wallet)
    panel.copy(
        _address(wallet),
        f"key address, {NOT_LINKED}" if is_key_only else "wallet address",
    )


def show_code(panel: Panel) -> None:
    """Show the address as a code for a camera, on a page of its own."""
    address = _address(panel.state.wallet)
    panel.open_dialog(WalletCode(address, on_dark=panel.is_dark))


ACTIONS: Final[tuple[ScreenAction[Panel], ...]] = (
    ScreenAction("wallet.unlock", unlock_or_lock, requires=(has_key,)),
    ScreenAction("wallet.keep", keep_key, requires=(can_change,)),
    ScreenAction("wallet.keys", list_keys),
    ScreenAction("wallet.link", link, requires=(can_change, is_unlocked)),
    ScreenAction("wallet.approve", approve, requires=(can_change,)),
    ScreenAction("wallet.credentials", make_credentials, requires=(can_change, is_linked_and_open)),
    ScreenAction("wallet.allow", allow_real, requires=(can_change,)),
    ScreenAction("wallet.live", turn_live, requires=(can_turn_live,)),
    ScreenAction("wallet.pay", pay, requires=(can_change,)),
    ScreenAction(
        "wallet.code", show_code, requires=(is_address_shown, has_address, is_address_linked)
    ),
    ScreenAction("wallet.copy", copy_address, requires=(has_address,)),
)
