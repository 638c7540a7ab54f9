"""A desk that watches wallets: signals in every state, some of them hostile, and their wallets."""

import random
from dataclasses import replace

from kit.samples.desk import NOW
from kit.samples.guarded import guarded_state
from service_tui.addresses import checksummed
from service_tui.desk.slices.reactor import (
    BreakerView,
    KnownWalletView,
    Policy,
    ReactorConfigView,
    ReactorView,
    SignalState,
    SignalView,
    Tally,
    WalletChoice,
)
from service_tui.desk.slices.topics import Topic
from service_tui.desk.state import DeskState
from service_tui.terms import Side, Venue
from service_tui.units import ONE, Micros, Timestamp

NAMES = (
    "Quiet Abacus",
    "Windvane",
    "Second Glance",
    "Big Pendulum",
    "Backroom",
    "Coin Fountain",
    "Tin Whistle",
    "Ferris Row",
    "Rainy Sunday",
)
WALLETS = tuple(
    checksummed(f"0x{random.Random(place).getrandbits(160):040x}") for place in range(9)
)
HOSTILE = "[/red] [@click=app.quit]free money[/] \x1b]0;x\x07\u202eyenom"
TTL_S = 60.0

STATES = (
    (SignalState.PENDING, ""),
    (SignalState.PENDING, ""),
    (SignalState.MIRRORING, "its order is on its way"),
    (SignalState.MIRRORED, "bought 12.60 shares for 7.31"),
    (SignalState.SKIPPED, "dismissed"),
    (SignalState.FAILED, "refused: the price moved past the bound; nothing was bought"),
    (SignalState.MIRRORED, "bought 4.02 shares for 2.10"),
    (SignalState.UNKNOWN, "sent, no response; checking; never sent twice"),
    (SignalState.SKIPPED, "nobody answered within 60 s"),
    (SignalState.SKIPPED, "the day's cap is used up"),
)


def signal(place: int, state: DeskState, *, wallet: int | None = None) -> SignalView:
    """One signal, the newest at place 0; its states go round."""
    rng = random.Random(100 + place)
    markets = tuple(state.markets.values())
    market = markets[(place * 5) % len(markets)]
    side = Side.YES if rng.random() < 0.6 else Side.NO
    price_now = round(market.price_of(side), 4)
    price = round(min(0.97, max(0.03, price_now + rng.gauss(0, 0.02))), 4)
    size = Micros(int(rng.lognormvariate(4.5, 1.0) * ONE))
    amount = Micros(int(size * 0.1 * price) // 10_000 * 10_000)
    what, words = STATES[place % len(STATES)]
    at = Timestamp(NOW - 9 - place * 14 if place < 3 else NOW - 60 - place * 47)
    filled = what is SignalState.MIRRORED
    paid = min(0.99, price + 0.006)
    who = rng.randrange(5) if wallet is None else wallet
    return SignalView(
        signal_id=f"0x{place:064x}",
        tx_hash=f"0x{place:064x}",
        wallet=WALLETS[who],
        label=NAMES[who],
        market_id=market.market_id,
        question=market.question,
        side=side,
        venue=Venue.SIM,
        size=size,
        price=price,
        amount=amount,
        price_max=min(0.999, price * 1.02),
        at=at,
        expires_at=Timestamp(at + TTL_S),
        state=what,
        detail=words,
        price_now=price_now,
        ticket_id=f"mirror-{place}"
        if what not in {SignalState.PENDING, SignalState.SKIPPED}
        else "",
        shares=Micros(int(amount / paid)) if filled else Micros(0),
        cost=amount if filled else Micros(0),
    )


def waiting(place: int, state: DeskState, *, age_s: float = 5.0, wallet: int = 0) -> SignalView:
    """A signal that waits, so many seconds old at NOW."""
    one = signal(place * 10, state, wallet=wallet)
    at = Timestamp(NOW - age_s)
    return replace(one, signal_id=f"0xfeed{place:060x}", at=at, expires_at=Timestamp(at + TTL_S))


def known(place: int) -> KnownWalletView:
    return KnownWalletView(
        address=WALLETS[place],
        label=NAMES[place],
        venue=Venue.SIM if place % 3 else Venue.EVM,
        trades_count=40 + 31 * place,
        bought=Micros((900 + 350 * place) * ONE),
        win_count=30 - 3 * place,
        loss_count=9 + 4 * place,
        realized=Micros((420 - 160 * place) * ONE),
        last_trade_at=Timestamp(NOW - 33 * (place + 1)),
    )


def reactor(state: DeskState, count: int = 14) -> ReactorView:
    signals = tuple(signal(place, state) for place in range(count))
    strange = replace(
        signals[4], signal_id="0xbad", question=HOSTILE, label=HOSTILE, detail=HOSTILE, price=1e-9
    )
    past = {
        WALLETS[0]: Tally(
            signals_count=31,
            mirrored_count=12,
            skipped_count=17,
            failed_count=2,
            spent=Micros(82 * ONE),
            shares=Micros(150 * ONE),
            source_cost=Micros(80_400_000),
            pnl=Micros(11_300_000),
            last_at=Timestamp(NOW - 9_000),
        )
    }
    return ReactorView(
        config=ReactorConfigView(
            wallets=WALLETS[:5],
            min_size=Micros(20 * ONE),
            max_size=Micros(100 * ONE),
            mirror_fraction=0.1,
            daily_cap=Micros(100 * ONE),
            venue=Venue.SIM,
            enabled=True,
            price_buffer=0.02,
            signal_ttl_s=TTL_S,
        ),
        breaker=BreakerView(failures=1),
        day_spent=Micros(43_210_000),
        signals=(*signals[:5], strange, *signals[5:]),
        choices={
            WALLETS[1]: WalletChoice(WALLETS[1], "Vane [b]", Policy.AUTO),
            WALLETS[3]: WalletChoice(WALLETS[3], "", Policy.OFF),
        },
        known={WALLETS[place]: known(place) for place in range(len(NAMES))},
        past=past,
    )


def reactor_state(count: int = 14) -> DeskState:
    """The guarded desk with a reactor."""
    state = guarded_state()
    seen, polls = dict(state.seen), dict(state.polls)
    seen[Topic.REACTOR], polls[Topic.REACTOR] = NOW, 2.0
    return replace(state, reactor=reactor(state, count), seen=seen, polls=polls)
