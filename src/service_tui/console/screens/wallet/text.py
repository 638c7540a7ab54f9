"""Texts on the wallet: address, balances, approvals, missing steps of real trades."""

from dataclasses import replace
from typing import Final

from rich.text import Text

from service_tui.console import formats
from service_tui.console.chain_text import fee_text, gas_text, key_text
from service_tui.console.figures import hanging, labelled, section
from service_tui.console.freshness import is_private
from service_tui.console.keys import cap, with_keys
from service_tui.console.reasons import fix_text
from service_tui.desk.slices.wallet import (
    CASH_CHECK,
    ChallengeView,
    CheckView,
    Ownership,
    WalletView,
)
from service_tui.desk.state import DeskState
from service_tui.units import decimal, sum_of

_NAME: Final = 24
"""Wider than the longest name of a check, "money the venue takes"."""

_FIX: Final = 3
"""Indent of a fix below its missing step."""

_NATIVE: Final = "The venue does not accept native USDC. Swap it to USDC.e (bridged)."
_RESTRICTED: Final = (
    "The venue rejects this wallet. Add another key ({wallet.keep}) and link it "
    "({wallet.link}): agent, API key and history carry over."
)


_LINK: Final = (
    "You sign this text with the key of this wallet. It moves no funds. Orders and redemptions "
    "of your agent are signed here from then on, and the managed wallet is no longer used. "
    "Agent, API key and history stay. Money and positions stay with the wallet that has them; its "
    "open orders are cancelled and its monitors end."
)

WITHDRAWALS: Final = "on the service's dashboard only"

NOT_LINKED: Final = "not linked yet: do not deposit here"
"""Note on a key's address that the service does not know as the wallet."""


def is_unlinked(wallet: WalletView) -> bool:
    """True if the shown address is that of an unlinked key: the balances are another wallet's."""
    return bool(wallet.key_address) and not wallet.address


def wallet_text(state: DeskState) -> Text:
    """The wallet's owner, and its balances."""
    wallet, masked = state.wallet, is_private(state)
    address = wallet.address or wallet.key_address or wallet.managed_address
    owner = "not loaded yet" if wallet.ownership is None else wallet.ownership.value
    if wallet.ownership is Ownership.MANAGED:
        owner += ": the service holds the key and signs"
    elif wallet.ownership is Ownership.EXTERNAL:
        owner += ": signed here; the key never leaves this machine"
    figures = [
        ("address", Text(formats.MASK if masked else address or formats.NOT_KNOWN)),
        ("ownership", Text(owner)),
        ("key", Text.assemble(key_text(wallet)[4:], _source(wallet))),
    ]
    figures += _balances(wallet, masked=masked)
    figures.append(("withdrawals", Text(WITHDRAWALS, "muted")))
    parts = [labelled(figures)]
    if wallet.usdc_native:
        parts.append(Text(_NATIVE, "warn"))
    if wallet.restricted:
        parts.append(Text(with_keys(_RESTRICTED), "warn"))
    if wallet.job is not None:
        parts.append(Text(f"◌ {wallet.job.value}: {wallet.job_text}", "accent"))
    if wallet.problem:
        parts.append(
            Text(
                f"{wallet.problem}"
                + (f": {fix_text(wallet.fix, within='wallet')}" if wallet.fix else ""),
                "loss",
            )
        )
    return Text("\n\n").join(parts)


def _balances(wallet: WalletView, *, masked: bool) -> list[tuple[str, Text]]:
    """Balances of the wallet; unknown for a key that is not linked."""
    if is_unlinked(wallet):
        return [("balances", Text(NOT_LINKED, "warn"))]
    native = [("native USDC", formats.money(wallet.usdc_native, masked=masked))]
    return [
        (
            "USDC.e",
            Text.assemble(
                formats.money(wallet.usdc, masked=masked),
                ("  simulated" if wallet.simulated else "", "muted"),
            ),
        ),
        *(native if wallet.usdc_native else ()),
        ("gas", gas_text(wallet, masked=masked)),
    ]


def _source(wallet: WalletView) -> Text:
    other = wallet.key_address and wallet.address and not wallet.can_sign
    same = wallet.key_address.lower() == wallet.address.lower()
    tail = f", from the {wallet.key_source}" if wallet.key_source else ""
    if other and not same:
        tail += f", but for another wallet ({formats.address(wallet.key_address).plain})"
    return Text(tail, "muted")


def checklist_text(wallet: WalletView, width: int, *, masked: bool = False) -> Text:
    """The steps before real trades, done or not, and the fix of missing ones."""
    has = f"{formats.money(wallet.usdc, masked=masked).plain} USDC.e"
    # Money in another token has the service's own words.
    told = {CASH_CHECK} if wallet.usdc else set[str]()
    lines = [
        _check(replace(one, detail=has) if one.is_done and one.name in told else one, width)
        for one in wallet.checks
    ]
    missing = len(wallet.lacks)
    head = "complete" if not missing else f"{missing} missing"
    if not wallet.is_read:
        # A part of the list would count up while the rest of it comes.
        return section("setup", Text("not loaded yet", "muted"))
    return section(f"setup: {head}", Text("\n").join(lines))


def _check(check: CheckView, width: int) -> Text:
    glyph, tone = ("✓ ", "profit") if check.is_done else ("✗ ", "warn")
    if check.is_done is None:
        glyph, tone = "? ", "muted"
    meaning = hanging(check.detail, width, _NAME + len(glyph))
    meaning.stylize("muted")
    line = Text.assemble((glyph, tone), f"{check.name.ljust(_NAME - 1)} ", meaning)
    if check.fix:
        fix = hanging(fix_text(check.fix, within="wallet"), width, _FIX)
        fix.stylize("warn")
        line.append_text(Text.assemble("\n" + " " * _FIX, fix))
    return line


def approvals_text(wallet: WalletView) -> Text:
    """Every approval, given or not."""
    if not wallet.approvals:
        return section(
            "approvals", Text(f"not loaded yet. {cap('wallet.approve')} loads them", "muted")
        )
    lines = [
        Text.assemble(
            ("✓ ", "profit") if approval.is_set else ("✗ ", "warn"),
            approval.token.ljust(20),
            ("for ", "muted"),
            approval.spender,
        )
        for approval in wallet.approvals
    ]
    unset = len(wallet.unset)
    head = "approvals: all given" if not unset else f"approvals: {unset} missing"
    return section(head, Text("\n").join(lines))


def approvals_question(wallet: WalletView) -> Text:
    """The content of the signature that gives missing approvals."""
    unset = wallet.unset
    lines = [
        Text.assemble(
            ("✗ ", "warn"), approval.token.ljust(20), ("spender ", "muted"),
            approval.spender,
            ("\n   ", ""), (approval.spender_address, "muted"),
        )
        for approval in unset
    ]  # fmt: skip
    cost = sum_of(approval.call.fee_max for approval in unset if approval.call is not None)
    body = Text.assemble(
        f"Signs {len(unset)} transactions, one after the other; approvals already given are "
        "skipped. Each lets a venue contract move a token of this wallet without limit until "
        "revoked.\n\n",
        Text("\n").join(lines),
    )
    first = next((approval.call for approval in unset if approval.call is not None), None)
    if first is not None:
        body.append_text(Text.assemble(("\n\neach costs max  ", "muted"), fee_text(first)))
        body.append_text(Text.assemble(("\ntogether  ", "muted"), f"{decimal(cost):,.4f} POL"))
    return body


def challenge_question(read: ChallengeView) -> Text:
    """The text that is signed to link a wallet, word for word, and its meaning."""
    return Text.assemble(
        (f"{read.address}\n\n", "bold"),
        _LINK,
        ("\n\nfull text\n", "muted"),
        read.message,
    )


def pay_text(state: DeskState) -> Text:
    """The budget for paid calls, the paid sum, and the present offer."""
    pay, masked = state.wallet.pay, is_private(state)
    if not pay.is_on:
        text = Text("off (waits when rate-limited)", "muted")
        return section("paid calls", text)
    figures = [
        ("daily cap", formats.money(pay.day_max, masked=masked)),
        ("paid today", Text(formats.MASK if masked else f"{decimal(pay.spent):,.3f}")),
    ]
    offer = pay.offer
    if offer is not None:
        figures += [
            ("offer", Text.assemble(f"{decimal(offer.price):,.3f} for ", offer.path)),
            ("from", Text(offer.host)),
            ("paid to", Text(offer.recipient or "no recipient")),
            ("on", Text(offer.network or "no chain")),
        ]
        if offer.why_not:
            figures.append(("not payable", Text(offer.why_not, "warn")))
    return section("paid calls", labelled(figures))


def live_question(wallet: WalletView) -> Text:
    """The meaning of switching live trading on."""
    body = Text.assemble(
        "Orders for evm_venue and sol_venue may then leave this desk, each after its own "
        f"confirmation. Valid for this session; {cap('wallet.live')} turns it off.",
    )
    lacks = [check for check in wallet.lacks if check.name != "real money"]
    if lacks:
        names = ", ".join(check.name for check in lacks)
        body.append(f"\n\nStill missing: {names}.", "warn")
    if wallet.simulated:
        body.append("\n\nThis service simulates its venues: no real money moves.", "muted")
    return body
