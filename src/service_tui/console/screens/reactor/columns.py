"""The columns of the reactor: signals with their time left, wallets with their record."""

from collections.abc import Callable
from typing import Final

from rich.text import Text

from service_tui.console import formats
from service_tui.console.amounts import told
from service_tui.console.parts.standard_columns import (
    amount_column,
    figure_column,
    market_column,
    price_column,
    side_column,
)
from service_tui.console.signal_text import BAR, Look, dearer_text, end_text, name_text
from service_tui.console.widgets.columns import Column
from service_tui.desk.slices.reactor import Policy, SignalView, WalletView

FAR: Final = 0.03
"""A price that moved so far against the mirror is worth a colour."""

_POLICIES: Final = {
    Policy.ASK: ("○", ""),
    Policy.AUTO: ("●", "accent"),
    Policy.OFF: ("·", "muted"),
}


def drift_text(signal: SignalView) -> Text:
    """How far the price moved since the source traded, points; dearer is the mirror's loss."""
    drift = signal.drift
    if drift is None:
        return formats.points(None)
    text = formats.points(drift)
    if signal.is_too_dear:
        return Text(text.plain, "loss")
    return Text(text.plain, "warn" if drift >= FAR else "" if drift > 0 else "muted")


def policy_text(wallet: WalletView) -> Text:
    """What is done with its signals, in a sign and a word."""
    if not wallet.is_followed:
        return Text(formats.NOT_KNOWN, "muted")
    glyph, tone = _POLICIES[wallet.policy]
    return Text(f"{glyph} {wallet.policy.value}", tone)


def signal_columns(look: Callable[[], Look]) -> tuple[Column[SignalView], ...]:
    """The columns of the feed, from left to right."""

    def masked() -> bool:
        return look().masked

    return (
        Column[SignalView](
            "age",
            "age",
            4,
            lambda row: formats.age(row.at, look().now),
            sort_key=lambda row: -row.at,
            align="right",
            glows=False,
        ),
        Column[SignalView](
            "wallet",
            "wallet",
            13,
            lambda row: name_text(row.label, row.wallet, look()),
            sort_key=lambda row: (row.label or row.wallet).casefold(),
        ),
        market_column(),
        side_column(),
        amount_column(
            "size", "source", 8, lambda row: row.size, formats.money_short, masked, tier=96
        ),
        price_column("price", "at", 6, lambda row: row.price, tier=90),
        price_column("now", "now", 6, lambda row: row.price_now, tier=104),
        Column[SignalView](
            "drift",
            "drift",
            5,
            drift_text,
            sort_key=lambda row: row.drift,
            numeric=True,
        ),
        amount_column("amount", "mirror $", 8, lambda row: row.amount, formats.money, masked),
        Column[SignalView](
            "state",
            "state",
            BAR + 5,
            lambda row: end_text(row, look().now),
            sort_key=lambda row: row.state.value,
            glows=False,
        ),
        amount_column("pnl", "P&L $", 8, lambda row: row.pnl, formats.pnl, masked, tier=128),
        Column[SignalView](
            "words",
            "why",
            26,
            lambda row: Text(told(formats.plain(row.words).plain, masked=look().masked), "muted"),
            tier=146,
        ),
    )


def wallet_columns(look: Callable[[], Look]) -> tuple[Column[WalletView], ...]:
    """The columns of the wallets, from left to right."""
    return (
        Column[WalletView](
            "wallet",
            "wallet",
            13,
            lambda row: formats.plain(row.label, 40) if row.label else Text("no name", "muted"),
            sort_key=lambda row: row.short.casefold(),
            flex=True,
        ),
        Column[WalletView](
            "address",
            "address",
            11,
            lambda row: formats.address(row.address, masked=look().masked),
            sort_key=lambda row: row.address,
        ),
        Column[WalletView](
            "policy",
            "policy",
            6,
            policy_text,
            sort_key=lambda row: row.policy.value if row.is_followed else "~",
        ),
        figure_column("signals", "signals", 7, lambda row: row.tally.signals_count, formats.count),
        figure_column(
            "mirrored", "mirrored", 8, lambda row: row.tally.mirrored_count, formats.count
        ),
        Column[WalletView](
            "spent",
            "spent $",
            9,
            lambda row: _if_mirrored(row, formats.money(row.tally.spent, masked=look().masked)),
            sort_key=lambda row: row.tally.spent,
            numeric=True,
            tier=104,
        ),
        Column[WalletView](
            "pnl",
            "P&L $",
            8,
            lambda row: _if_mirrored(row, formats.pnl(row.tally.pnl, masked=look().masked)),
            sort_key=lambda row: row.tally.pnl if row.tally.mirrored_count else None,
            numeric=True,
        ),
        Column[WalletView](
            "slip",
            "slip pt",
            7,
            lambda row: dearer_text(row.tally.slippage),
            sort_key=lambda row: row.tally.slippage,
            numeric=True,
            tier=78,
        ),
        Column[WalletView](
            "last",
            "last",
            4,
            lambda row: formats.age(row.tally.last_at, look().now),
            sort_key=lambda row: row.tally.last_at,
            align="right",
            glows=False,
            tier=88,
        ),
        Column[WalletView](
            "won",
            "its own: won",
            12,
            won_text,
            sort_key=lambda row: None if row.known is None else row.known.win_rate,
            numeric=True,
            tier=118,
        ),
        Column[WalletView](
            "made",
            "made $",
            10,
            lambda row: formats.pnl(
                None if row.known is None else row.known.realized, masked=look().masked
            ),
            sort_key=lambda row: None if row.known is None else row.known.realized,
            numeric=True,
            tier=132,
        ),
        Column[WalletView](
            "venue",
            "venue",
            9,
            lambda row: formats.NOT_KNOWN if row.known is None else row.known.venue.value,
            sort_key=lambda row: None if row.known is None else row.known.venue.value,
            tier=146,
        ),
    )


def won_text(wallet: WalletView) -> Text:
    """How many of its own decided trades it won, as the service counts them."""
    known = wallet.known
    if known is None or known.win_rate is None:
        return Text(formats.NOT_KNOWN, "muted")
    decided = known.win_count + known.loss_count
    return Text.assemble(formats.percent(known.win_rate, 0), (f" of {decided:,}", "muted"))


def _if_mirrored(row: WalletView, text: Text) -> Text:
    return text if row.tally.mirrored_count else Text(formats.NOT_KNOWN, "muted")
