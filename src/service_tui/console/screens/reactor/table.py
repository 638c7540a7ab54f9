"""The tables of the reactor: signals with their time left, wallets with their record."""

from collections.abc import Callable, Mapping
from textwrap import wrap
from typing import Final

from rich.text import Text

from service_tui.console import formats
from service_tui.console.freshness import counted, is_answered, not_loaded_text
from service_tui.console.keys import cap, with_keys
from service_tui.console.table_spec import (
    TableSpec,
    amount_column,
    figure_column,
    market_column,
    price_column,
    side_column,
)
from service_tui.console.view_context import ViewContext
from service_tui.console.widgets.columns import Column
from service_tui.desk.slices.reactor import (
    Policy,
    ReactorView,
    SignalState,
    SignalView,
    SourceWalletView,
    to_spend,
)
from service_tui.desk.slices.service import Phase
from service_tui.desk.slices.topics import Topic
from service_tui.desk.state import DeskState
from service_tui.folding import folded
from service_tui.units import Micros, Timestamp, decimal

ReactorRow = SignalView | SourceWalletView
"""Any row of the screen."""

BAR_CELLS: Final = 7
"""Cells of the bar of a signal's time left."""

_SOON_S: Final = 15.0
"""A signal with this time left is shown in colour."""

_FAR: Final = 0.03
"""A price that moved this far against the mirror is shown in colour."""

_LINE: Final = 72
"""Cells of a line in the text of an empty table."""

_STATES: Final = {
    SignalState.PENDING: ("○", "warn"),
    SignalState.MIRRORING: ("→", "accent"),
    SignalState.MIRRORED: ("✓", "profit"),
    SignalState.SKIPPED: ("·", "muted"),
    SignalState.FAILED: ("✗", "loss"),
    SignalState.UNKNOWN: ("?", "breach"),
}

_POLICIES: Final = {
    Policy.ASK: ("○", ""),
    Policy.AUTO: ("●", "accent"),
    Policy.OFF: ("·", "muted"),
}

_NOT_ONLINE: Final = {
    Phase.CONNECTING: "Connecting to the service.\n\nSignals appear once it responds.",
    Phase.OFFLINE: "The service cannot be reached: {problem}.\n\n{app.refresh} retries now.",
    Phase.UNAUTHORIZED: "The service refuses this key: {problem}.\n\nCheck it in "
    "Settings ({app.settings}).",
}

_QUIET: Final = (
    "No signals.\n\nBuys of followed wallets appear here as signals, with their time left.\n"
    "{reactor.mirror} mirrors one, {reactor.dismiss} dismisses it."
)
_OFF: Final = (
    "Reactor off: no signals come.\n\n{reactor.list} shows the wallets, {reactor.follow} "
    "follows one, {reactor.config} sets sizes and the day's cap,\n{reactor.run} turns the "
    "reactor on."
)
_NONE_FOLLOWED: Final = (
    "No wallet followed, so there are no signals.\n\n{reactor.follow} follows one: choose a "
    "wallet that the service lists, or type an address."
)
_NO_WALLETS: Final = (
    "No wallets.\n\n{reactor.follow} follows one: type or paste its address, 0x and 40 hex digits."
)


# -- cells --------------------------------------------------------------------------------------


def wallet_name(label: str, address: str, *, masked: bool) -> Text:
    """A wallet by its name, else by the ends of its address."""
    return formats.plain(label, 40) if label else formats.address(address, masked=masked)


def progress_text(signal: SignalView, now: Timestamp) -> Text:
    """A signal's time left while it waits, else its result."""
    waits = signal.state is SignalState.PENDING and signal.left_s(now) > 0
    return _time_left_bar(signal, now) if waits else _state_text(signal, now)


def _state_text(signal: SignalView, now: Timestamp) -> Text:
    glyph, tone = _STATES[signal.state]
    if signal.state is SignalState.PENDING and signal.left_s(now) <= 0:
        return Text("· expired", "muted")
    return Text(f"{glyph} {signal.state.value}", tone)


def _time_left_bar(signal: SignalView, now: Timestamp) -> Text:
    left = signal.left_s(now)
    filled = min(BAR_CELLS, max(int(left > 0), round(signal.left_part(now) * BAR_CELLS)))
    tone = "loss" if left <= _SOON_S else "accent"
    seconds = formats.duration(left).split()[0]
    return Text.assemble(
        ("━" * filled, tone), ("─" * (BAR_CELLS - filled), "faint"), (f" {seconds:>4}", tone)
    )


def dearer_text(points: float | None) -> Text:
    """The mirror's price above the source's, in points: above 0 is a loss."""
    text = formats.points(points)
    if points is None or text.style == "flat":
        return text
    return Text(text.plain, "loss" if points > 0 else "profit", no_wrap=True)


def drift_text(signal: SignalView) -> Text:
    """The price move since the source traded, points; a higher price is the mirror's loss."""
    drift = signal.drift
    if drift is None:
        return formats.points(None)
    text = formats.points(drift)
    if signal.is_too_dear:
        return Text(text.plain, "loss")
    return Text(text.plain, "warn" if drift >= _FAR else "" if drift > 0 else "muted")


def policy_text(wallet: SourceWalletView) -> Text:
    """The policy for its signals, as a sign and a word."""
    if not wallet.is_followed:
        return Text(formats.NOT_KNOWN, "muted")
    glyph, tone = _POLICIES[wallet.policy]
    return Text(f"{glyph} {wallet.policy.value}", tone)


def won_text(wallet: SourceWalletView) -> Text:
    """The share of its own decided trades that it won, as the service counts them."""
    record = wallet.known
    if record is None or record.win_rate is None:
        return Text(formats.NOT_KNOWN, "muted")
    decided = record.win_count + record.loss_count
    return Text.assemble(formats.percent(record.win_rate, 0), (f" of {decided:,}", "muted"))


def _if_mirrored(row: SourceWalletView, text: Text) -> Text:
    return text if row.tally.mirrored_count else Text(formats.NOT_KNOWN, "muted")


# -- rows, and what a search finds --------------------------------------------------------------


def key_of(row: ReactorRow) -> str:
    """The identity of a row while it lives; unique within a table."""
    return row.signal_id if isinstance(row, SignalView) else row.address


def rows_of_paused(
    paused_rows: tuple[SignalView, ...], reactor: ReactorView
) -> tuple[SignalView, ...]:
    """The rows of a paused feed as they are now: none comes, none goes, none moves."""
    newest = {signal.signal_id: signal for signal in reactor.signals}
    return tuple(newest.get(row.signal_id, row) for row in paused_rows)


def _wallets(state: DeskState) -> tuple[SourceWalletView, ...]:
    """Every wallet: those followed first, each group in the desk's own order."""
    return tuple(sorted(state.reactor.wallets(), key=lambda one: not one.is_followed))


def _signal_text(row: SignalView, _: ViewContext) -> str:
    parts = (
        row.question, row.market_id, row.side.value, row.venue.value, row.label, row.wallet,
        row.state.value, row.detail, row.tx_hash,
    )  # fmt: skip
    return folded("\n".join(parts))


def _wallet_text(row: SourceWalletView, _: ViewContext) -> str:
    follows = "followed" if row.is_followed else "not followed"
    return folded(f"{row.label}\n{row.address}\n{row.policy.value}\n{follows}")


def _points(fraction: float | None) -> float | None:
    return None if fraction is None else 100.0 * fraction


def spent_by(row: SignalView, view: ViewContext) -> Micros:
    """What a mirror of the signal has spent, or would spend at the price of now."""
    if row.shares:
        return row.cost
    if not row.can_mirror(view.now):
        return row.amount
    return to_spend(view.state.reactor.config, row, row.price_now)


_COMPARED_SIGNALS: Final[Mapping[str, Callable[[SignalView, ViewContext], float | None]]] = {
    "age": lambda row, view: row.age_s(view.now),
    "size": lambda row, _: decimal(row.size),
    "price": lambda row, _: row.price,
    "amount": lambda row, view: decimal(spent_by(row, view)),
    "now": lambda row, _: row.price_now,
    "drift": lambda row, _: _points(row.drift),
    "left": lambda row, view: row.left_s(view.now) if row.can_mirror(view.now) else None,
}
"""Seconds, shares, prices, money; drift in points."""

_COMPARED_WALLETS: Final[Mapping[str, Callable[[SourceWalletView, ViewContext], float | None]]] = {
    "signals": lambda row, _: float(row.tally.signals_count),
    "mirrored": lambda row, _: float(row.tally.mirrored_count),
    "pnl": lambda row, _: decimal(row.tally.pnl) if row.tally.mirrored_count else None,
    "slip": lambda row, _: _points(row.tally.slippage),
}
"""Numbers, money; slip in points."""


# -- why there are no rows ----------------------------------------------------------------------


def _no_signals(state: DeskState) -> str:
    reactor = state.reactor
    if why := _nothing_loaded(state):
        return why
    if reactor.config is not None and not reactor.config.wallets:
        return with_keys(_NONE_FOLLOWED)
    return with_keys(_QUIET if reactor.is_enabled else _OFF)


def _no_wallets(state: DeskState) -> str:
    return _nothing_loaded(state) or with_keys(_NO_WALLETS)


def _nothing_loaded(state: DeskState) -> str:
    service = state.service
    if service.phase in _NOT_ONLINE:
        text = with_keys(_NOT_ONLINE[service.phase])
        return text.replace("{problem}", service.problem or "no response")
    if state.reactor.barred:
        return barred_text(state)
    return "" if Topic.REACTOR in state.seen else not_loaded_text("reactor")


def barred_text(state: DeskState) -> str:
    """Why the service has no reactor for this agent, and what to do."""
    text = "\n".join(wrap(formats.plain(state.reactor.barred).plain, _LINE))
    todo = (
        f"Change the plan in Agents ({cap('app.agents')}): select this desk's agent, then "
        f"{cap('agents.plan')}."
        if state.service.embedded
        else f"Change the plan on the service's dashboard, then {cap('app.refresh')}."
    )
    return f"{text}\n\nPro and Elite include the reactor.\n{todo}"


def _is_loaded(state: DeskState) -> bool:
    return is_answered(state, Topic.REACTOR) or bool(state.reactor.barred)


# -- the tables ---------------------------------------------------------------------------------

FEED: Final = TableSpec[SignalView](
    "feed",
    rows=lambda state: state.reactor.signals,
    key=key_of,
    columns=(
        Column(
            "age",
            "age",
            4,
            lambda row, view: formats.age(row.at, view.now),
            sort_key=lambda row, _: -row.at,
            align="right",
            glows=False,
        ),
        Column(
            "wallet",
            "wallet",
            14,
            lambda row, view: wallet_name(row.label, row.wallet, masked=view.masked),
            sort_key=lambda row, _: (row.label or row.wallet).casefold(),
            fits=True,
        ),
        market_column(),
        side_column(),
        amount_column("size", "theirs", 8, lambda row: row.size, formats.money_short, tier=96),
        price_column("price", "their price", 11, lambda row: row.price, tier=90),
        price_column("now", "now", 6, lambda row: row.price_now, tier=104),
        Column(
            "drift",
            "moved pt",
            8,
            lambda row, _: drift_text(row),
            sort_key=lambda row, _: row.drift,
            numeric=True,
        ),
        Column(
            "amount",
            "you spend $",
            11,
            lambda row, view: view.money(spent_by(row, view)),
            sort_key=spent_by,
            numeric=True,
        ),
        Column(
            "state",
            "state",
            BAR_CELLS + 5,
            lambda row, view: progress_text(row, view.now),
            sort_key=lambda row, _: row.state.value,
            glows=False,
        ),
        amount_column("pnl", "P&L", 8, lambda row: row.pnl, formats.pnl, tier=128),
        Column(
            "words",
            "why",
            26,
            lambda row, view: Text(view.sentence(row.detail), "muted"),
            tier=146,
        ),
    ),
    search_text=_signal_text,
    newest_on_top=True,
    keeps_row=True,
    empty_text=_no_signals,
    first_step="reactor.follow",
    compared=_COMPARED_SIGNALS,
    is_loaded=_is_loaded,
)
"""In the order of arrival, the newest on top; sorted only by choice."""

WALLETS: Final = TableSpec[SourceWalletView](
    "wallets",
    rows=_wallets,
    key=key_of,
    columns=(
        Column(
            "wallet",
            "wallet",
            14,
            lambda row, _: formats.plain(row.label, 40) if row.label else Text("no name", "muted"),
            sort_key=lambda row, _: row.short.casefold(),
            flex=True,
        ),
        Column(
            "address",
            "address",
            11,
            lambda row, view: formats.address(row.address, masked=view.masked),
            sort_key=lambda row, _: row.address,
        ),
        Column(
            "policy",
            "policy",
            6,
            lambda row, _: policy_text(row),
            sort_key=lambda row, _: row.policy.value if row.is_followed else "~",
        ),
        figure_column("signals", "signals", 7, lambda row: row.tally.signals_count, formats.count),
        figure_column(
            "mirrored", "mirrored", 8, lambda row: row.tally.mirrored_count, formats.count
        ),
        Column(
            "spent",
            "spent",
            9,
            lambda row, view: _if_mirrored(row, view.money(row.tally.spent)),
            sort_key=lambda row, _: row.tally.spent,
            numeric=True,
            tier=104,
        ),
        Column(
            "pnl",
            "P&L",
            8,
            lambda row, view: _if_mirrored(row, view.pnl(row.tally.pnl)),
            sort_key=lambda row, _: row.tally.pnl if row.tally.mirrored_count else None,
            numeric=True,
        ),
        Column(
            "slip",
            "slip pt",
            7,
            lambda row, _: dearer_text(row.tally.slippage),
            sort_key=lambda row, _: row.tally.slippage,
            numeric=True,
            tier=78,
        ),
        Column(
            "last",
            "last",
            4,
            lambda row, view: formats.age(row.tally.last_at, view.now),
            sort_key=lambda row, _: row.tally.last_at,
            align="right",
            glows=False,
            tier=88,
        ),
        Column(
            "won",
            "wallet won",
            12,
            lambda row, _: won_text(row),
            sort_key=lambda row, _: None if row.known is None else row.known.win_rate,
            numeric=True,
            tier=118,
        ),
        amount_column(
            "made",
            "P&L",
            10,
            lambda row: None if row.known is None else row.known.realized,
            formats.pnl,
            tier=132,
        ),
        Column(
            "venue",
            "venue",
            9,
            lambda row, _: formats.NOT_KNOWN if row.known is None else row.known.venue.value,
            sort_key=lambda row, _: None if row.known is None else row.known.venue.value,
            tier=146,
        ),
    ),
    search_text=_wallet_text,
    empty_text=_no_wallets,
    first_step="reactor.follow",
    compared=_COMPARED_WALLETS,
    is_loaded=_is_loaded,
)

TABLES: Final = (FEED, WALLETS)


def tab_labels(state: DeskState) -> tuple[str, str]:
    """Labels of the tabs: the number of signals, and of the followed wallets."""
    config = state.reactor.config
    followed = 0 if config is None else len(config.wallets)
    return (
        FEED.label(state),
        f"{WALLETS.name} {counted(followed, is_loaded=WALLETS.is_loaded(state))}",
    )
