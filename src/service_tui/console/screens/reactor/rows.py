"""The two lists of the reactor screen as rows of one kind, and what narrows the feed."""

from dataclasses import dataclass
from typing import Final

from service_tui.desk.slices.reactor import ReactorView, SignalState, SignalView, WalletView
from service_tui.units import Timestamp, decimal

ReactorRow = SignalView | WalletView
"""Whatever the screen lists."""

FEED: Final = 0
WALLETS: Final = 1
"""Places of the lists."""

COMPARED: Final = (
    ("age", "size", "price", "amount", "now", "drift", "left"),
    ("signals", "mirrored", "pnl", "slip"),
)
"""Columns that a comparison may name: seconds, shares, prices, money; drift and slip in points."""

STATES: Final[tuple[tuple[str, frozenset[SignalState]], ...]] = (
    ("all", frozenset(SignalState)),
    ("waiting", frozenset({SignalState.PENDING, SignalState.MIRRORING})),
    ("mirrored", frozenset({SignalState.MIRRORED})),
    ("skipped", frozenset({SignalState.SKIPPED})),
    ("failed", frozenset({SignalState.FAILED, SignalState.UNKNOWN})),
)
"""What the feed can be narrowed to, in the order of the key."""


@dataclass(frozen=True, slots=True)
class Narrowed:
    """What of the feed is shown: a place of `STATES`, and one wallet or every one."""

    state: int = 0
    wallet: str = ""

    def __bool__(self) -> bool:
        """True if anything is left out."""
        return bool(self.state or self.wallet)

    def wants(self, one: SignalView) -> bool:
        """Whether a signal is shown."""
        return one.state in STATES[self.state][1] and self.wallet in {"", one.wallet}


def key_of(row: ReactorRow) -> str:
    """What names a row while it lives; no two of one list share it."""
    return row.signal_id if isinstance(row, SignalView) else row.address


def words_of(row: ReactorRow) -> str:
    """Everything that a search finds a row by, casefolded."""
    match row:
        case SignalView():
            parts = (
                row.question, row.market_id, row.side.value, row.venue.value, row.label, row.wallet,
                row.state.value, row.words, row.tx_hash,
            )  # fmt: skip
        case WalletView():
            follows = "followed" if row.is_followed else "not followed"
            parts = (row.label, row.address, row.policy.value, follows)
    return "\n".join(parts).casefold()


def number_of(row: ReactorRow, column: str, now: Timestamp) -> float | None:
    """A row's value in a column of `COMPARED`."""
    if isinstance(row, WalletView):
        return _of_wallet(row, column)
    points = None if row.drift is None else 100.0 * row.drift
    return {
        "age": row.age_s(now),
        "size": decimal(row.size),
        "price": row.price,
        "amount": decimal(row.amount),
        "now": row.price_now,
        "drift": points,
        "left": row.left_s(now) if row.can_mirror(now) else None,
    }[column]


def _of_wallet(row: WalletView, column: str) -> float | None:
    tally = row.tally
    slip = None if tally.slippage is None else 100.0 * tally.slippage
    return {
        "signals": float(tally.signals_count),
        "mirrored": float(tally.mirrored_count),
        "pnl": decimal(tally.pnl) if tally.mirrored_count else None,
        "slip": slip,
    }[column]


def by_follow(reactor: ReactorView) -> tuple[WalletView, ...]:
    """Every wallet: those followed first, each group in the desk's own order."""
    return tuple(sorted(reactor.wallets(), key=lambda one: not one.is_followed))


def held_still(frozen: tuple[SignalView, ...], reactor: ReactorView) -> tuple[SignalView, ...]:
    """The rows of a frozen feed as they are now: none comes, none goes, none moves."""
    newest = {one.signal_id: one for one in reactor.signals}
    return tuple(newest.get(one.signal_id, one) for one in frozen)
