"""The reactor as an operator sees it: signals, followed wallets, config and circuit breaker.

Knows terms and units. Must not know wire, network, time or Textual.
Used by desk.translate_reactor (which makes them), desk.reduce_reactor, and the reactor screen.
Sizes are micros of shares, money is micros of the venue's currency, prices are of the side.
"""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final

from service_tui.terms import Side, Venue, win_rate
from service_tui.units import Micros, Timestamp

MIRROR: Final = "mirror"
"""Kind of the tickets of mirrors, and the beginning of their names."""

WALLETS_MAX: Final = 100
"""How many wallets can be followed at one time."""

PRICE_BUFFER_MAX: Final = 0.2
"""Source: spec, "Limits"."""


class SignalState(StrEnum):
    """What became of a signal; the words are those of a row.

    `pending`: it waits for a person, or for its turn. `mirroring`: the order is on its way.
    `unknown`: it was sent and had no answer; it is looked up and never sent again. `skipped`:
    nothing was sent, because nobody wanted it, its time ran out or a limit held it back. `failed`:
    it was sent and refused, or could not be sent.
    """

    PENDING = "pending"
    MIRRORING = "mirroring"
    MIRRORED = "mirrored"
    SKIPPED = "skipped"
    FAILED = "failed"
    UNKNOWN = "unknown"

    @property
    def is_open(self) -> bool:
        """True while its end is not known."""
        return self in {SignalState.PENDING, SignalState.MIRRORING, SignalState.UNKNOWN}


class Policy(StrEnum):
    """What this desk does with a wallet's signals. `ask`: a person decides before they expire."""

    ASK = "ask"
    AUTO = "auto"
    OFF = "off"


@dataclass(frozen=True, slots=True)
class SignalView:
    """A source trade that can be mirrored, and what became of it. Newest first in every list.

    `wallet` is checksummed; `label` is the name under which it is known, empty for none. `size` and
    `price` are the source's, `amount` is what the mirror spends, `price_max` the most that it pays
    for a share. `price_now` is the price of the side now (1 or 0 once the outcome is final), None
    where the market is not known here. `words` say how it stands and what to do. `ticket_id` names
    the row of the blotter, empty before there is one. `shares` and `cost` are what was bought.
    `name` is the id in the service's own spelling.
    """

    signal_id: str
    tx_hash: str
    wallet: str
    label: str
    market_id: str
    question: str
    side: Side
    venue: Venue
    size: Micros
    price: float
    amount: Micros
    price_max: float
    at: Timestamp
    expires_at: Timestamp
    state: SignalState = SignalState.PENDING
    words: str = ""
    price_now: float | None = None
    ticket_id: str = ""
    shares: Micros = Micros(0)
    cost: Micros = Micros(0)
    name: str = ""

    @property
    def drift(self) -> float | None:
        """How far the price has moved since the source paid it; above 0 the mirror pays more."""
        return None if self.price_now is None else self.price_now - self.price

    @property
    def is_too_dear(self) -> bool:
        """True when the price now lies above what the mirror may pay."""
        return self.price_now is not None and self.price_now > self.price_max

    @property
    def fill_price(self) -> float | None:
        """What the mirror paid for a share on average; None before it was filled."""
        return self.cost / self.shares if self.shares > 0 else None

    @property
    def slippage(self) -> float | None:
        """What the mirror paid for a share above the source, probability points."""
        return None if self.fill_price is None else self.fill_price - self.price

    @property
    def pnl(self) -> Micros | None:
        """What the mirror has made if it was held until now; None where that is not known."""
        if self.price_now is None or self.shares <= 0:
            return None
        return Micros(round(self.shares * self.price_now) - self.cost)

    def age_s(self, now: Timestamp) -> float:
        """Seconds since the source traded, >= 0; `now` is wall time."""
        return max(0.0, now - self.at)

    def left_s(self, now: Timestamp) -> float:
        """Seconds until it expires, >= 0; `now` is wall time."""
        return max(0.0, self.expires_at - now)

    def left_part(self, now: Timestamp) -> float:
        """How much of its life is left, 1 to 0; `now` is wall time."""
        life_s = self.expires_at - self.at
        return min(1.0, self.left_s(now) / life_s) if life_s > 0 else 0.0

    def can_mirror(self, now: Timestamp) -> bool:
        """True while a person may mirror it: it was not tried yet and has not expired."""
        untried = self.state is SignalState.PENDING or (
            self.state is SignalState.SKIPPED and not self.ticket_id
        )
        return untried and now < self.expires_at


@dataclass(frozen=True, slots=True)
class Tally:
    """Counts and sums of the signals of one wallet.

    `spent` and `shares` are of what was mirrored, `source_cost` what those shares would have cost
    at the source's prices; `pnl` of those mirrors whose price is known.
    """

    signals_count: int = 0
    mirrored_count: int = 0
    skipped_count: int = 0
    failed_count: int = 0
    spent: Micros = Micros(0)
    shares: Micros = Micros(0)
    source_cost: Micros = Micros(0)
    pnl: Micros = Micros(0)
    last_at: Timestamp | None = None

    @property
    def slippage(self) -> float | None:
        """Points paid above the source a share, on average; None without a mirror."""
        return (self.spent - self.source_cost) / self.shares if self.shares > 0 else None

    @property
    def pnl_pct(self) -> float | None:
        """P&L as a fraction of what was spent; None without a mirror."""
        return self.pnl / self.spent if self.spent > 0 else None


@dataclass(frozen=True, slots=True)
class KnownWalletView:
    """A wallet that the service names, with its own record. Money in micros."""

    address: str
    label: str
    venue: Venue
    trades_count: int
    bought: Micros
    win_count: int
    loss_count: int
    realized: Micros
    last_trade_at: Timestamp | None

    @property
    def win_rate(self) -> float | None:
        """Part of its decided trades that won; None without one."""
        return win_rate(self.win_count, self.loss_count)


@dataclass(frozen=True, slots=True)
class WalletChoice:
    """What the person has chosen for one wallet; kept on this machine."""

    address: str
    label: str = ""
    policy: Policy = Policy.ASK


@dataclass(frozen=True, slots=True)
class WalletView:
    """One wallet: who it is, whether it is followed, what is done with its signals, and how it did.

    `address` is checksummed; `label` is the person's own, else the service's, else empty.
    `known` is the service's own record of it, None where it has none.
    """

    address: str
    label: str
    policy: Policy
    is_followed: bool
    tally: Tally
    known: KnownWalletView | None = None

    @property
    def short(self) -> str:
        """The label, else the two ends of the address."""
        return self.label or f"{self.address[:6]}…{self.address[-4:]}"


@dataclass(frozen=True, slots=True)
class ReactorConfigView:
    """The eight fields that the service keeps for the desk's agent, and how long signals live."""

    wallets: tuple[str, ...]
    min_size: Micros
    max_size: Micros
    mirror_fraction: float
    daily_cap: Micros
    venue: Venue
    enabled: bool
    price_buffer: float
    signal_ttl_s: float = 60.0


@dataclass(frozen=True, slots=True)
class BreakerView:
    """The circuit breaker: `failures` in a row; at `failures_max` it pauses until `resets_at`.

    `skipped` counts the signals that came while it was paused.
    """

    failures: int = 0
    failures_max: int = 5
    paused_at: Timestamp | None = None
    resets_at: Timestamp | None = None
    skipped: int = 0

    def is_paused(self, now: Timestamp) -> bool:
        """True while it holds signals back; `now` is wall time."""
        return self.paused_at is not None and (self.resets_at is None or now < self.resets_at)

    def left_s(self, now: Timestamp) -> float | None:
        """Seconds until it resets by itself, >= 0; None where the service does not say."""
        return None if self.resets_at is None else max(0.0, self.resets_at - now)


@dataclass(frozen=True, slots=True)
class ReactorView:
    """Everything of the reactor. How old it is stands in the state's `seen`.

    `config` is None until the service told it, and where it has no reactor for us: `barred` then
    says why and what to do. `day_spent` is what mirrors have cost since midnight UTC, None where
    that is not known. `signals` are newest first. `choices` are this machine's, by address; `known`
    the wallets that the service offers; `labels` what it calls others. `past` holds, by address,
    the tally of the signals that are not in `signals` any more. `mirrors_here`: this program
    mirrors by itself what `auto` says; else another one on the data directory does. `dropped` says
    of how many signals of the last listing this desk could make nothing, `broken` why of the first.
    """

    config: ReactorConfigView | None = None
    breaker: BreakerView = field(default_factory=BreakerView)
    day_spent: Micros | None = None
    signals: tuple[SignalView, ...] = ()
    choices: Mapping[str, WalletChoice] = field(default_factory=dict[str, WalletChoice])
    known: Mapping[str, KnownWalletView] = field(default_factory=dict[str, KnownWalletView])
    labels: Mapping[str, str] = field(default_factory=dict[str, str])
    past: Mapping[str, Tally] = field(default_factory=dict[str, Tally])
    barred: str = ""
    mirrors_here: bool = False
    dropped: int = 0
    broken: str = ""

    @property
    def is_enabled(self) -> bool:
        """True while the service makes signals for us."""
        return self.config is not None and self.config.enabled and not self.barred

    @property
    def day_left(self) -> Micros | None:
        """What is left of the day's cap, >= 0; None where that is not known."""
        if self.config is None or self.day_spent is None:
            return None
        return Micros(max(0, self.config.daily_cap - self.day_spent))

    @property
    def waiting(self) -> tuple[SignalView, ...]:
        """Signals that wait, newest first."""
        return tuple(one for one in self.signals if one.state is SignalState.PENDING)

    def signal(self, signal_id: str) -> SignalView | None:
        """The signal with this id."""
        return next((one for one in self.signals if one.signal_id == signal_id), None)

    def policy_of(self, wallet: str) -> Policy:
        """What is done with a wallet's signals."""
        chosen = self.choices.get(wallet)
        return Policy.ASK if chosen is None else chosen.policy

    def label_of(self, wallet: str) -> str:
        """What a wallet is called: the person's word, else the service's, else empty."""
        chosen, known = self.choices.get(wallet), self.known.get(wallet)
        own = "" if chosen is None else chosen.label
        return own or self.labels.get(wallet, "") or ("" if known is None else known.label)

    def wallet(self, address: str) -> WalletView:
        """One wallet, followed or not."""
        return self._view(address, tallies(self.signals, self.past))

    def wallets(self) -> tuple[WalletView, ...]:
        """Every wallet that is followed, named or known; adds the statistics up anew.

        Returns:
            Those of the watchlist in its order, then the others. Ask once a paint.
        """
        followed = () if self.config is None else self.config.wallets
        sums = tallies(self.signals, self.past)
        # A dict keeps the order and each address once.
        everybody = dict.fromkeys((*followed, *self.choices, *sums, *self.known))
        return tuple(self._view(address, sums) for address in everybody)

    def _view(self, address: str, sums: Mapping[str, Tally]) -> WalletView:
        return WalletView(
            address=address,
            label=self.label_of(address),
            policy=self.policy_of(address),
            is_followed=self.config is not None and address in self.config.wallets,
            tally=sums.get(address) or Tally(),
            known=self.known.get(address),
        )


def tallies(signals: tuple[SignalView, ...], past: Mapping[str, Tally]) -> dict[str, Tally]:
    """The tally of each wallet: of these signals on top of what was counted before."""
    by_wallet: dict[str, list[SignalView]] = {}
    for one in signals:
        by_wallet.setdefault(one.wallet, []).append(one)
    sums = dict(past)
    for wallet, mine in by_wallet.items():
        sums[wallet] = added(sums.get(wallet) or Tally(), *mine)
    return sums


def added(tally: Tally, *signals: SignalView) -> Tally:
    """The tally with more signals, at least one."""
    states = Counter(one.state for one in signals)
    bought = [one for one in signals if one.shares > 0]
    newest = max(one.at for one in signals)
    return Tally(
        signals_count=tally.signals_count + len(signals),
        mirrored_count=tally.mirrored_count + states[SignalState.MIRRORED],
        skipped_count=tally.skipped_count + states[SignalState.SKIPPED],
        failed_count=tally.failed_count + states[SignalState.FAILED],
        spent=Micros(tally.spent + sum(one.cost for one in bought)),
        shares=Micros(tally.shares + sum(one.shares for one in bought)),
        source_cost=Micros(
            tally.source_cost + round(sum(one.shares * one.price for one in bought))
        ),
        pnl=Micros(tally.pnl + sum(one.pnl or 0 for one in bought)),
        last_at=newest if tally.last_at is None else max(newest, tally.last_at),
    )
