"""How the slice of the reactor changes: (slice, fact) -> slice. Pure.

Knows the slice, its facts and the records that it is marked by. Must not know wire, network, time.
Used by desk.reduce.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Final, assert_never

from service_tui.desk.facts_reactor import (
    BreakerSeen,
    KnownWalletsSeen,
    ReactorBarred,
    ReactorFact,
    ReactorSeen,
    SignalChanged,
    SignalsSeen,
    WalletChosen,
)
from service_tui.desk.records import (
    MarketView,
    NoticeKind,
    PositionView,
    TicketState,
    TicketView,
    TradeView,
)
from service_tui.desk.records_reactor import (
    Policy,
    ReactorView,
    SignalState,
    SignalView,
    Tally,
    added,
)
from service_tui.desk.rows import in_place
from service_tui.units import Timestamp, decimal

SIGNALS_MAX: Final = 500
"""What the state keeps of an endless feed; what is older counts in the statistics alone."""

TOLD_ONE_BY_ONE: Final = 3
"""ours: more new signals of one listing are told in one notice."""

EXPIRED: Final = "it expired before anybody mirrored it"
SWITCHED_OFF: Final = "signals of this wallet are switched off here"
_ELSEWHERE: Final = "the service lists it no more: it was taken out, or the config passes it over"
_PAUSED: Final = "the circuit breaker is open: signals are skipped until it is reset"
_DISABLED: Final = "the reactor was paused"

_SIGNAL: Final = NoticeKind.SIGNAL

News = tuple[str, str, NoticeKind]
"""A tone, a sentence, and what it is about."""


def reduce_reactor(reactor: ReactorView, fact: ReactorFact) -> ReactorView:
    """The slice after a fact; whoever calls marks it anew."""
    match fact:
        case ReactorSeen():
            changed = _with_config(reactor, fact)
        case ReactorBarred():
            changed = replace(reactor, barred=fact.words)
        case SignalsSeen():
            changed = _with_listing(reactor, fact)
        case SignalChanged():
            changed = _with_signal(reactor, fact.signal)
        case BreakerSeen():
            changed = replace(reactor, breaker=fact.breaker)
        case KnownWalletsSeen():
            known = {one.address: one for one in fact.wallets}
            changed = _relabelled(replace(reactor, known=known))
        case WalletChosen():
            choices = {**reactor.choices, fact.choice.address: fact.choice}
            changed = _relabelled(replace(reactor, choices=choices))
        case _:
            assert_never(fact)
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
        replace(one, state=SignalState.SKIPPED, words=_DISABLED)
        if one.state is SignalState.PENDING
        else one
        for one in after.signals
    )
    return replace(after, signals=ended)


def _relabelled(reactor: ReactorView) -> ReactorView:
    """The slice with every signal under the name that its wallet has now."""
    signals = tuple(_named(one, reactor.label_of(one.wallet)) for one in reactor.signals)
    return replace(reactor, signals=signals)


def _named(one: SignalView, label: str) -> SignalView:
    return one if one.label == label else replace(one, label=label)


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
    fresh = [_taken(named, one) for key, one in reversed(listed.items()) if key not in known]
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


def _taken(reactor: ReactorView, one: SignalView) -> SignalView:
    if one.state is SignalState.PENDING and reactor.policy_of(one.wallet) is Policy.OFF:
        return replace(one, state=SignalState.SKIPPED, words=SWITCHED_OFF)
    return one


def _still_listed(known: SignalView, told: SignalView) -> SignalView:
    """A signal told again: while it waits its amount may change, its times do not."""
    if known.state is not SignalState.PENDING:
        return known
    return replace(told, at=known.at, expires_at=known.expires_at, price_now=known.price_now)


def _left(known: SignalView, now: Timestamp, *, is_paused: bool) -> SignalView:
    """A signal of which the service says nothing any more."""
    if known.state is not SignalState.PENDING:
        return known
    words = EXPIRED if known.expires_at <= now else _PAUSED if is_paused else _ELSEWHERE
    return replace(known, state=SignalState.SKIPPED, words=words)


def _with_signal(reactor: ReactorView, signal: SignalView) -> ReactorView:
    signals = in_place(reactor.signals, signal, lambda one: one.signal_id)
    if signals is not None:
        return replace(reactor, signals=signals)
    return _capped(replace(reactor, signals=(signal, *reactor.signals)))


def _capped(reactor: ReactorView) -> ReactorView:
    """The newest `SIGNALS_MAX`; what is open stays, what goes is counted in `past`."""
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


def _marked(
    one: SignalView, markets: Mapping[str, MarketView], outcomes: Mapping[str, bool]
) -> SignalView:
    market = markets.get(one.market_id)
    outcome = outcomes.get(one.market_id) if market is None else market.outcome
    if outcome is not None:
        price: float | None = 1.0 if outcome is (one.side.value == "yes") else 0.0
    else:
        # A market that is listed no more leaves its last price.
        price = one.price_now if market is None else market.price_of(one.side)
    question = one.question or ("" if market is None else market.question)
    if price == one.price_now and question == one.question:
        return one
    return replace(one, price_now=price, question=question)


# -- tickets and trades ------------------------------------------------------------------------

_STATES: Final = {
    TicketState.DONE: SignalState.MIRRORED,
    TicketState.REFUSED: SignalState.FAILED,
    TicketState.FAILED: SignalState.FAILED,
    TicketState.UNKNOWN: SignalState.UNKNOWN,
}
NEVER_AGAIN: Final = "it is looked up, and never sent again"


def with_ticket(reactor: ReactorView, ticket: TicketView) -> ReactorView:
    """The slice once a mirror's ticket has come further."""
    signal = next((one for one in reactor.signals if one.ticket_id == ticket.ticket_id), None)
    if not ticket.ticket_id or signal is None or ticket.state not in _STATES:
        return reactor
    told = replace(signal, state=state_of(ticket), words=words_of(ticket))
    return reactor if told == signal else _with_signal(reactor, told)


def state_of(ticket: TicketView) -> SignalState:
    """How a signal stands by the ticket of its mirror."""
    if ticket.has_no_trace:
        return SignalState.FAILED
    return _STATES.get(ticket.state, SignalState.MIRRORING)


def words_of(ticket: TicketView) -> str:
    """What the ticket of its mirror says of a signal."""
    if ticket.has_no_trace:
        return f"{ticket.outcome}: it was not mirrored, and will not be"
    if ticket.state is TicketState.UNKNOWN:
        return f"{ticket.outcome}; {NEVER_AGAIN}"
    return f"{ticket.outcome} — {ticket.fix}" if ticket.fix else ticket.outcome


def with_trades(reactor: ReactorView, trades: tuple[TradeView, ...]) -> ReactorView:
    """The slice with what mirrors bought and cost, by the agent's own trades."""
    wanted = {one.ticket_id: one for one in reactor.signals if _lacks_fill(one)}
    if not wanted:
        return reactor
    filled = {
        wanted[trade.client_ref].signal_id: trade
        for trade in trades
        if trade.client_ref in wanted and trade.shares > 0
    }
    if not filled:
        return reactor
    signals = tuple(
        _filled(one, filled[one.signal_id]) if one.signal_id in filled else one
        for one in reactor.signals
    )
    return replace(reactor, signals=signals)


def _lacks_fill(one: SignalView) -> bool:
    return one.state is SignalState.MIRRORED and one.shares <= 0


def _filled(one: SignalView, trade: TradeView) -> SignalView:
    return replace(one, shares=trade.shares, cost=trade.cost)


# -- news --------------------------------------------------------------------------------------


def news_of(before: ReactorView, after: ReactorView, fact: ReactorFact) -> Iterator[News]:
    """What a fact brings that a person wants to be told.

    Yields:
        A tone, a sentence and what it is about each.
    """
    if isinstance(fact, SignalsSeen):
        yield from _new_signals(before, after)
        if after.dropped and after.broken and after.broken != before.broken:
            yield "warn", f"a signal was passed over: {after.broken}", NoticeKind.SIGNAL
    if before.breaker.paused_at is None and after.breaker.paused_at is not None:
        failures = after.breaker.failures
        said = f"the reactor's circuit breaker is open after {failures} failures in a row"
        yield "bad", f"{said}: signals are skipped; 4 shows it", NoticeKind.SIGNAL
    elif before.breaker.paused_at is not None and after.breaker.paused_at is None:
        yield "good", "the reactor's circuit breaker is closed: signals come again", _SIGNAL
    if after.barred and after.barred != before.barred and before.config is not None:
        yield "bad", f"the reactor: {after.barred}", NoticeKind.SIGNAL


def _new_signals(before: ReactorView, after: ReactorView) -> Iterator[News]:
    """What waits for the person; what this desk mirrors by itself is told when it is done."""
    known = {one.signal_id for one in before.signals}
    fresh = [
        one
        for one in reversed(after.waiting)
        if one.signal_id not in known and after.policy_of(one.wallet) is Policy.ASK
    ]
    if len(fresh) > TOLD_ONE_BY_ONE:
        wallets = len({one.wallet for one in fresh})
        whose = "one wallet" if wallets == 1 else f"{wallets} wallets"
        yield "info", f"{len(fresh)} signals of {whose}: 4 shows them", NoticeKind.SIGNAL
        return
    for one in fresh:
        size = f"{decimal(one.size):,.2f} {one.side.value.upper()} at {one.price:.3f}"
        about = one.question or one.market_id
        yield "info", f"{one.label or one.wallet} bought {size}, {about}", _SIGNAL
