"""Gas, key and transaction fee as text, for the redemption queue and the wallet."""

from rich.text import Text

from service_tui.console import formats
from service_tui.console.keys import cap
from service_tui.desk.slices.redemption import CallView
from service_tui.desk.slices.wallet import KeyState, Ownership, WalletView
from service_tui.units import decimal


def gas_text(wallet: WalletView, *, masked: bool) -> Text:
    """The wallet's balance for gas, with a mark if it is too low."""
    if wallet.gas is None:
        return Text(formats.NOT_KNOWN, "muted")
    if wallet.ownership is Ownership.MANAGED and not wallet.gas:
        return Text("none needed: the service pays it", "muted")
    short = wallet.gas_needed is not None and wallet.gas < wallet.gas_needed
    tone = "loss" if short or not wallet.gas else ""
    tail = " too little" if tone else ""
    gas = formats.MASK if masked else f"{decimal(wallet.gas):,.3f}"
    return Text(f"{gas} POL{tail}", tone)


def key_text(wallet: WalletView) -> Text:
    """Whether this machine can sign."""
    signs = {
        KeyState.UNLOCKED: ("unlocked", "profit"),
        KeyState.LOCKED: (f"locked  {cap('wallet.unlock')}", "warn"),
        KeyState.NONE: ("no key here", "warn"),
    }
    word, tone = signs[wallet.key_state]
    return Text.assemble(("key ", "muted"), (word, tone))


def fee_text(call: CallView) -> Text:
    """The highest fee of a call, in the chain's money and about in dollars."""
    pol = f"{decimal(call.fee_max):,.5f} POL"
    if call.fee_money is None:
        return Text(pol)
    return Text.assemble((pol, "bold"), (f", about {decimal(call.fee_money):,.4f} USD", "muted"))
