"""The reactor as an operator sees it: signals, followed wallets, config and circuit breaker.

Sizes are micros of shares, money is micros of the venue's currency, prices are of the side.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Final

from service_tui.desk.changes import Changed, Loaded, Removed
from service_tui.desk.reasons import Reason
from service_tui.desk.slices.markets import MarketView
from service_tui.desk.slices.notices import NoticeKind
from service_tui.desk.slices.orders import price_text
from service_tui.desk.slices.positions import PositionView
from service_tui.desk.slices.rows import in_place
from service_tui.desk.slices.tickets import TicketState, TicketView
from service_tui.desk.slices.trades import Deal, TradeView
from service_tui.outcome import Outcome
from service_tui.terms import FAILURES_MAX, MarketStatus, Side, Venue, win_rate
from service_tui.units import Micros, Timestamp, decimal, sum_of

_CENT: Final = 10_000
MIRROR: Final = "mirror"
"""Kind of the tickets of mirrors, and the beginning of their names."""

MIRROR_SKILL: Final = "reactor"
"""Under this slug a service counts what mirrors spend."""


class SignalState(StrEnum):
    """State of a signal; the values are the labels of its row.

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
    """Policy for a wallet's signals. `ask`: the operator decides before they expire."""

    ASK = "ask"
    AUTO = "auto"
    OFF = "off"


@dataclass(frozen=True, slots=True)
class SignalView:
    """A source trade that can be mirrored, and its end. Newest first in every list.

    `wallet` is checksummed; `label` is the name under which it is known, empty for none. `size` and
    `price` are the source's, `amount` is what the mirror spends, `price_max` the most that it pays
    for a share. `price_now` is the price of the side now (1 or 0 once the outcome is final), None
    where the market is not known here. `detail` describes its state and the fix. `ticket_id` names
    the row of the blotter, empty before there is one. `shares` and `cost` are what was bought,
    `sold` and `proceeds` what of it was sold since. `name` is the id in the service's own spelling.
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
    detail: str = ""
    price_now: float | None = None
    ticket_id: str = ""
    shares: Micros = Micros(0)
    cost: Micros = Micros(0)
    name: str = ""
    sold: Micros = Micros(0)
    proceeds: Micros = Micros(0)

    @property
    def drift(self) -> float | None:
        """Price move since the source traded; above 0 the mirror pays more."""
        return None if self.price_now is None else self.price_now - self.price

    @property
    def is_too_dear(self) -> bool:
        """True if the price now is above the mirror's maximum."""
        return self.price_now is not None and self.price_now > self.price_max

    @property
    def fill_price(self) -> float | None:
        """Average price of the mirror's shares; None before it filled."""
        return self.cost / self.shares if self.shares > 0 else None

    @property
    def slippage(self) -> float | None:
        """Mirror's price above the source's, probability points."""
        return None if self.fill_price is None else self.fill_price - self.price

    @property
    def pnl(self) -> Micros | None:
        """P&L of the mirror's shares: what the sold ones brought, the others at the price now.

        Returns:
            Money; None if unknown, or nothing was bought.
        """
        left = self.shares - self.sold
        if self.shares <= 0 or (left > 0 and self.price_now is None):
            return None
        return Micros(self.proceeds + round(left * (self.price_now or 0.0)) - self.cost)

    def age_s(self, now: Timestamp) -> float:
        """Seconds since the source traded, >= 0; `now` is wall time."""
        return max(0.0, now - self.at)

    def left_s(self, now: Timestamp) -> float:
        """Seconds until it expires, >= 0; `now` is wall time."""
        return max(0.0, self.expires_at - now)

    def left_part(self, now: Timestamp) -> float:
        """Remaining lifetime, 1 to 0; `now` is wall time."""
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
    """The operator's choice for one wallet; stored on this machine."""

    address: str
    label: str = ""
    policy: Policy = Policy.ASK


@dataclass(frozen=True, slots=True)
class SourceWalletView:
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
    failures_max: int = FAILURES_MAX
    paused_at: Timestamp | None = None
    resets_at: Timestamp | None = None
    skipped: int = 0

    def is_paused(self, now: Timestamp) -> bool:
        """True while it holds signals back; `now` is wall time."""
        return self.paused_at is not None and (self.resets_at is None or now < self.resets_at)

    def left_s(self, now: Timestamp) -> float | None:
        """Seconds until it resets automatically, >= 0; None if not reported."""
        return None if self.resets_at is None else max(0.0, self.resets_at - now)


@dataclass(frozen=True, slots=True)
class ReactorView:
    """Slice of the reactor. Its age is in the state's `seen`.

    `config` is None until the service reported it, and if it has no reactor for this agent: then
    `barred` is the reason and what to do. `day_spent` is what mirrors have cost since midnight UTC,
    None where that is not known. `signals` are newest first. `choices` are this machine's, by
    address; `known` the wallets that the service offers; `labels` what it calls others. `past`
    holds, by address, the tally of the signals that are not in `signals` any more. `dropped`
    is the number of invalid signals in the last listing, `broken` the reason of the first.
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
    dropped: int = 0
    broken: str = ""

    @property
    def is_enabled(self) -> bool:
        """True while the service makes signals for us."""
        return self.config is not None and self.config.enabled and not self.barred

    @property
    def day_left(self) -> Micros | None:
        """Remainder of the day's cap, >= 0; None if unknown."""
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
        """Policy for a wallet's signals."""
        choice = self.choices.get(wallet)
        return Policy.ASK if choice is None else choice.policy

    def label_of(self, wallet: str) -> str:
        """Label of a wallet: the operator's, else the service's, else empty."""
        choice, known = self.choices.get(wallet), self.known.get(wallet)
        own = "" if choice is None else choice.label
        return own or self.labels.get(wallet, "") or ("" if known is None else known.label)

    def wallet(self, address: str) -> SourceWalletView:
        """One wallet, followed or not."""
        return self._view(address, tallies(self.signals, self.past))

    def wallets(self) -> tuple[SourceWalletView, ...]:
        """Every followed, labelled or known wallet, with statistics computed now.

        Returns:
            Those of the watchlist in its order, then the others. Ask once a paint.
        """
        followed = () if self.config is None else self.config.wallets
        sums = tallies(self.signals, self.past)
        # A dict keeps the order and each address once.
        addresses = dict.fromkeys((*followed, *self.choices, *sums, *self.known))
        return tuple(self._view(address, sums) for address in addresses)

    def _view(self, address: str, sums: Mapping[str, Tally]) -> SourceWalletView:
        return SourceWalletView(
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
        spent=Micros(tally.spent + sum_of(one.cost for one in bought)),
        shares=Micros(tally.shares + sum_of(one.shares for one in bought)),
        source_cost=Micros(
            tally.source_cost + round(sum(one.shares * one.price for one in bought))
        ),
        pnl=Micros(tally.pnl + sum_of(one.pnl or Micros(0) for one in bought)),
        last_at=newest if tally.last_at is None else max(newest, tally.last_at),
    )


@dataclass(frozen=True, slots=True)
class ReactorSeen:
    """The reactor's config and circuit breaker were read."""

    config: ReactorConfigView
    breaker: BreakerView | None = None
    day_spent: Micros | None = None


@dataclass(frozen=True, slots=True)
class ReactorBarred:
    """The reactor is not available; `problem` is the reason with its fix."""

    problem: str


@dataclass(frozen=True, slots=True)
class SignalsSeen:
    """The signals that wait, oldest first, as the service lists them. `at` is wall time.

    `labels` are the names that came with them, by address. `dropped` signals could not be used;
    `broken` is the reason for the first.
    """

    at: Timestamp
    signals: tuple[SignalView, ...]
    breaker: BreakerView | None = None
    day_spent: Micros | None = None
    labels: Mapping[str, str] | None = None
    dropped: int = 0
    broken: str = ""


@dataclass(frozen=True, slots=True)
class WalletChosen:
    """The person gave a wallet a name or a policy."""

    choice: WalletChoice


ReactorFact = ReactorSeen | ReactorBarred | SignalsSeen | WalletChosen | Loaded | Changed | Removed
"""Every fact about the reactor."""


SIGNALS_MAX: Final = 500
"""What the state keeps of an endless feed; what is older counts in the statistics alone."""

NOTICES_MAX: Final = 3
"""ours: more new signals of one listing share one notice."""

EXPIRED: Final = "expired"
SWITCHED_OFF: Final = "signals of this wallet are off"
_ELSEWHERE: Final = "withdrawn, or excluded by your filters"
_PAUSED: Final = "circuit breaker open: signals skipped until reset"
_DISABLED: Final = "reactor paused"

_SIGNAL: Final = NoticeKind.SIGNAL

News = tuple[str, str, NoticeKind]
"""A tone, a sentence, and what it is about."""


REACTOR_KINDS: Final = frozenset({SignalView, BreakerView, KnownWalletView})


def reduce_reactor(reactor: ReactorView, fact: ReactorFact) -> ReactorView:
    """The slice after a fact; the caller updates it to current prices."""
    match fact:
        case ReactorSeen():
            changed = _with_config(reactor, fact)
        case ReactorBarred():
            changed = replace(reactor, barred=fact.problem)
        case SignalsSeen():
            changed = _with_listing(reactor, fact)
        case Changed(row=SignalView() as signal):
            changed = _with_signal(reactor, signal)
        case Changed(row=BreakerView() as breaker):
            changed = replace(reactor, breaker=breaker)
        case Loaded():
            known = {one.address: one for one in fact.of(KnownWalletView)}
            changed = _relabelled(replace(reactor, known=known))
        case WalletChosen():
            choices = {**reactor.choices, fact.choice.address: fact.choice}
            changed = _relabelled(replace(reactor, choices=choices))
        case _:
            raise TypeError(f"no fact of the reactor: {fact}")
    return changed


def _with_config(reactor: ReactorView, fact: ReactorSeen) -> ReactorView:
    after = replace(
        reactor,
        config=fact.config,
        barred="",
        breaker=fact.breaker or reactor.breaker,
        day_spent=reactor.day_spent if fact.day_spent is None else fact.day_spent,
    )
    if fact.config.enabled:
        return after
    # Nothing is listed any more, so that nothing waits.
    ended = tuple(
        replace(one, state=SignalState.SKIPPED, detail=_DISABLED)
        if one.state is SignalState.PENDING
        else one
        for one in after.signals
    )
    return replace(after, signals=ended)


def _relabelled(reactor: ReactorView) -> ReactorView:
    """The slice with every signal under the name that its wallet has now."""
    signals = tuple(_named(one, reactor.label_of(one.wallet)) for one in reactor.signals)
    return replace(reactor, signals=signals)


def _named(signal: SignalView, label: str) -> SignalView:
    return signal if signal.label == label else replace(signal, label=label)


# -- signals -----------------------------------------------------------------------------------


def _with_listing(reactor: ReactorView, fact: SignalsSeen) -> ReactorView:
    """The slice after a listing: what this desk did with a signal is known better here."""
    breaker = fact.breaker or reactor.breaker
    labels = {**reactor.labels, **(fact.labels or {})}
    named = replace(reactor, labels=labels, breaker=breaker)
    listed = {one.signal_id: one for one in fact.signals}
    known = {one.signal_id for one in reactor.signals}
    old = (
        _still_listed(one, listed[one.signal_id])
        if one.signal_id in listed
        else _left(one, fact.at, is_paused=breaker.is_paused(fact.at))
        for one in reactor.signals
    )
    # Oldest first on the wire, newest first here.
    fresh = [_with_choice(named, one) for key, one in reversed(listed.items()) if key not in known]
    signals = (_named(one, named.label_of(one.wallet)) for one in (*fresh, *old))
    return _capped(
        replace(
            named,
            signals=tuple(signals),
            day_spent=named.day_spent if fact.day_spent is None else fact.day_spent,
            dropped=fact.dropped,
            broken=fact.broken,
        )
    )


def _with_choice(reactor: ReactorView, signal: SignalView) -> SignalView:
    if signal.state is SignalState.PENDING and reactor.policy_of(signal.wallet) is Policy.OFF:
        return replace(signal, state=SignalState.SKIPPED, detail=SWITCHED_OFF)
    return signal


def _still_listed(known: SignalView, listed: SignalView) -> SignalView:
    """A signal that is listed again: its amount may change, its times do not."""
    if known.state is not SignalState.PENDING:
        return known
    return replace(listed, at=known.at, expires_at=known.expires_at, price_now=known.price_now)


def _left(known: SignalView, now: Timestamp, *, is_paused: bool) -> SignalView:
    """A signal that the service no longer lists."""
    if known.state is not SignalState.PENDING:
        return known
    detail = EXPIRED if known.expires_at <= now else _PAUSED if is_paused else _ELSEWHERE
    return replace(known, state=SignalState.SKIPPED, detail=detail)


def _with_signal(reactor: ReactorView, signal: SignalView) -> ReactorView:
    signals = in_place(reactor.signals, signal, lambda one: one.signal_id)
    if signals is not None:
        return replace(reactor, signals=signals)
    return _capped(replace(reactor, signals=(signal, *reactor.signals)))


def _capped(reactor: ReactorView) -> ReactorView:
    """The newest `SIGNALS_MAX`; open ones stay, dropped ones are counted in `past`."""
    if len(reactor.signals) <= SIGNALS_MAX:
        return reactor
    room = SIGNALS_MAX - sum(one.state.is_open for one in reactor.signals)
    ended = [one for one in reactor.signals if not one.state.is_open][max(0, room) :]
    forgotten = {one.signal_id for one in ended}
    past = dict(reactor.past)
    for one in ended:
        past[one.wallet] = added(past.get(one.wallet) or Tally(), one)
    kept = tuple(one for one in reactor.signals if one.signal_id not in forgotten)
    return replace(reactor, signals=kept, past=past)


# -- marks -------------------------------------------------------------------------------------


def marked(
    reactor: ReactorView,
    markets: Mapping[str, MarketView],
    closed: tuple[PositionView, ...],
) -> ReactorView:
    """The slice with every signal at the price of now; unchanged, it is the same object."""
    if not reactor.signals:
        return reactor
    outcomes = {held.market_id: held.outcome for held in closed if held.outcome is not None}
    signals = tuple(_marked(one, markets, outcomes) for one in reactor.signals)
    if all(new is old for new, old in zip(signals, reactor.signals, strict=True)):
        return reactor
    return replace(reactor, signals=signals)


_OVER: Final = frozenset({MarketStatus.CLOSED, MarketStatus.RESOLVED})
_MARKET_OVER: Final = "the market has ended"


def _marked(
    signal: SignalView, markets: Mapping[str, MarketView], outcomes: Mapping[str, Outcome]
) -> SignalView:
    market = markets.get(signal.market_id)
    outcome = outcomes.get(signal.market_id) if market is None else market.outcome
    if outcome is not None and not outcome.is_void:
        price: float | None = outcome.price(signal.side)
    else:
        # A market that is listed no more leaves its last price.
        price = signal.price_now if market is None else market.price_of(signal.side)
    question = signal.question or ("" if market is None else market.question)
    is_over = outcome is not None or (market is not None and market.status in _OVER)
    if is_over and signal.state is SignalState.PENDING:
        signal = replace(signal, state=SignalState.SKIPPED, detail=_MARKET_OVER)
    if price == signal.price_now and question == signal.question:
        return signal
    return replace(signal, price_now=price, question=question)


# -- the size of a mirror ----------------------------------------------------------------------


def mirror_shares(size: Micros, config: ReactorConfigView) -> Micros:
    """The most shares that a mirror of a source trade of that size buys by the config."""
    return min(Micros(int(size * config.mirror_fraction)), config.max_size)


def to_spend(config: ReactorConfigView | None, signal: SignalView, price: float | None) -> Micros:
    """Money that a mirror spends at a price a share: the config bounds its shares as well.

    Returns:
        Whole cents, at most the signal's amount; that amount where config or price is unknown.
    """
    if config is None or price is None:
        return signal.amount
    cost = int(mirror_shares(signal.size, config) * price) // _CENT * _CENT
    return Micros(min(signal.amount, cost))


# -- tickets and trades ------------------------------------------------------------------------

_STATES: Final = {
    TicketState.DONE: SignalState.MIRRORED,
    TicketState.REFUSED: SignalState.FAILED,
    TicketState.FAILED: SignalState.FAILED,
    TicketState.UNKNOWN: SignalState.UNKNOWN,
}
NEVER_AGAIN: Final = "checking; never sent twice"


def with_ticket(reactor: ReactorView, ticket: TicketView) -> ReactorView:
    """The slice after a change of a mirror's ticket."""
    signal = next((one for one in reactor.signals if one.ticket_id == ticket.ticket_id), None)
    if not ticket.ticket_id or signal is None or ticket.state not in _STATES:
        return reactor
    updated = replace(signal, state=state_of(ticket), detail=ticket_text(ticket))
    return reactor if updated == signal else _with_signal(reactor, updated)


def state_of(ticket: TicketView) -> SignalState:
    """State of a signal by its mirror's ticket."""
    if ticket.has_no_trace:
        return SignalState.FAILED
    return _STATES.get(ticket.state, SignalState.MIRRORING)


def ticket_text(ticket: TicketView) -> str:
    """Text about a signal by its mirror's ticket."""
    if ticket.has_no_trace:
        return f"{ticket.outcome}: not mirrored"
    if ticket.state is TicketState.UNKNOWN:
        return f"{ticket.outcome}; {NEVER_AGAIN}"
    return Reason(ticket.outcome, ticket.fix).plain()


def with_trades(reactor: ReactorView, trades: tuple[TradeView, ...]) -> ReactorView:
    """The slice with what mirrors bought and cost, by the agent's own trades."""
    fills = {trade.client_ref: trade for trade in trades if trade.client_ref and trade.shares > 0}
    filled = [
        _filled(one, fills[one.ticket_id]) if _lacks_fill(one) and one.ticket_id in fills else one
        for one in reactor.signals
    ]
    signals = _with_sales(filled, trades)
    if all(new is old for new, old in zip(signals, reactor.signals, strict=True)):
        return reactor
    return replace(reactor, signals=signals)


def _with_sales(
    signals: Sequence[SignalView], trades: Sequence[TradeView]
) -> tuple[SignalView, ...]:
    """The signals with what was sold of their shares since.

    ours: a sale takes from everything held of its side alike, as the cost of a position does.
    """
    held: dict[_Holding, dict[str, Micros]] = {}
    listed = {trade.client_ref for trade in trades}
    mirrors = {one.ticket_id: one for one in signals if one.ticket_id and one.shares > 0}
    for one in mirrors.values():
        # A buy that is no longer among the newest trades is older than each of them.
        held.setdefault(_holding_of(one), {})[one.ticket_id] = (
            Micros(0) if one.ticket_id in listed else one.shares
        )
    sold: dict[str, _Sold] = {}
    for trade in reversed(trades):
        lots = held.get(_holding_of(trade))
        if lots is None or not trade.is_fill:
            continue
        if trade.deal is Deal.BUY:
            name = trade.client_ref if trade.client_ref in mirrors else ""
            lots[name] = Micros(lots.get(name, 0) + trade.shares)
        else:
            _sell(lots, trade, sold)
    return tuple(_sold(one, sold.get(one.ticket_id)) for one in signals)


_Holding = tuple[str, Side, Venue]


def _holding_of(one: SignalView | TradeView) -> _Holding:
    return one.market_id, one.side, one.venue


_Sold = tuple[Micros, Micros]
"""Shares, and the money that they brought."""


def _sell(lots: dict[str, Micros], sale: TradeView, sold: dict[str, _Sold]) -> None:
    """Take a sale from the lots of its side; each name in `sold` gets its part."""
    # Where more was sold than is known to be held, the rest was bought before the newest trades.
    whole = max(int(sale.shares), sum_of(lots.values()))
    brought = sale.cost - (sale.fee or 0)
    for name, left in lots.items():
        part = left * sale.shares // whole
        lots[name] = Micros(left - part)
        shares, money = sold.get(name, (0, 0))
        sold[name] = Micros(shares + part), Micros(money + brought * part // sale.shares)


def _sold(signal: SignalView, sold: _Sold | None) -> SignalView:
    """A signal with its sales; those that are not among the newest trades any more stay known."""
    if sold is None or not sold[0] > signal.sold:
        return signal
    return replace(signal, sold=min(sold[0], signal.shares), proceeds=sold[1])


def _lacks_fill(signal: SignalView) -> bool:
    return signal.state is SignalState.MIRRORED and signal.shares <= 0


def _filled(signal: SignalView, trade: TradeView) -> SignalView:
    return replace(signal, shares=trade.shares, cost=trade.cost)


# -- news --------------------------------------------------------------------------------------


def news_of(before: ReactorView, after: ReactorView, fact: ReactorFact) -> Iterator[News]:
    """Notices that a fact causes.

    Yields:
        A tone, a sentence and what it is about each.
    """
    if isinstance(fact, SignalsSeen):
        yield from _new_signals(before, after)
        if after.dropped and after.broken and after.broken != before.broken:
            yield "warn", f"signal skipped: {after.broken}", NoticeKind.SIGNAL
    if before.breaker.paused_at is None and after.breaker.paused_at is not None:
        failures = after.breaker.failures
        text = f"reactor circuit breaker open after {failures} failures in a row"
        yield "bad", f"{text}: signals skipped; see Reactor", NoticeKind.SIGNAL
    elif before.breaker.paused_at is not None and after.breaker.paused_at is None:
        yield "good", "reactor circuit breaker closed", _SIGNAL
    if after.barred and after.barred != before.barred and before.config is not None:
        yield "bad", f"reactor: {after.barred}", NoticeKind.SIGNAL


def _new_signals(before: ReactorView, after: ReactorView) -> Iterator[News]:
    """New signals that wait for the operator; automatic mirrors are reported when done."""
    known = {one.signal_id for one in before.signals}
    fresh = [
        one
        for one in reversed(after.waiting)
        if one.signal_id not in known and after.policy_of(one.wallet) is Policy.ASK
    ]
    if len(fresh) > NOTICES_MAX:
        wallets = len({one.wallet for one in fresh})
        whose = "one wallet" if wallets == 1 else f"{wallets} wallets"
        yield "info", f"{len(fresh)} signals of {whose}; see Reactor", NoticeKind.SIGNAL
        return
    for one in fresh:
        size = f"{decimal(one.size):,.2f} {one.side.value.upper()} at {price_text(one.price)}"
        about = one.question or one.market_id
        yield "info", f"{one.label or one.wallet} bought {size}, {about}", _SIGNAL
