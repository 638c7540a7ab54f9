"""What a service may say of signals, and what is made of it. No service, no desk."""

from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kit.samples.desk import NOW, sample_state
from service_tui.addresses import checksummed
from service_tui.clock import ManualClock
from service_tui.desk.reactor.reactor_desk import SignalLog
from service_tui.desk.reactor.translate import listing_of, mirror_max, signal_view
from service_tui.desk.reduce import reduce
from service_tui.desk.slices.reactor import (
    SIGNALS_MAX,
    Policy,
    ReactorConfigView,
    ReactorView,
    SignalsSeen,
    SignalState,
    WalletChoice,
)
from service_tui.desk.state import DeskState
from service_tui.storage.reactor import Row
from service_tui.terms import MarketStatus, Side, Venue
from service_tui.units import ONE, Micros, Timestamp
from service_tui.wire.reactor import SignalBody

WALLET = "0x" + "5a" * 20
CONFIG = ReactorConfigView(
    wallets=(checksummed(WALLET),),
    min_size=Micros(50 * ONE),
    max_size=Micros(200 * ONE),
    mirror_fraction=0.1,
    daily_cap=Micros(100 * ONE),
    venue=Venue.SIM,
    enabled=True,
    price_buffer=0.02,
)
STATE = replace(sample_state(40), reactor=ReactorView(config=CONFIG))
MARKET = next(iter(STATE.markets))
SIGNAL = SignalBody(
    tx_hash="0x" + "0a" * 32,
    taker_wallet=WALLET,
    taker_size=300.0,
    taker_price=0.4,
    market_id=MARKET,
    side=Side.YES,
    amount=12.0,
)


def changed(**fields: object) -> SignalBody:
    return SIGNAL.model_copy(update=fields)


@pytest.mark.slow
@given(
    st.floats(0.01, 1e9), st.floats(0.001, 0.999), st.floats(0.01, 1e9), st.floats(0, 1),
    st.integers(0, 10**15), st.integers(0, 10**15),
)  # fmt: skip
def test_no_mirror_spends_more_than_the_config_allows(  # noqa: PLR0917
    size: float, price: float, amount: float, fraction: float, most: int, cap: int
) -> None:
    config = replace(CONFIG, mirror_fraction=fraction, max_size=Micros(most), daily_cap=Micros(cap))
    body = changed(taker_size=size, taker_price=price, amount=amount)
    for one in listing_of([body], config, now=NOW).signals:
        assert 0 < one.amount <= min(amount * ONE + 1, cap, mirror_max(body, config))
        assert one.amount <= min(size * fraction * ONE, most) * price + 10_000
        assert one.price < one.price_max or one.price_max == 0.999


# -- a listing in the state --------------------------------------------------------------------


def listed(count: int, at: Timestamp = NOW) -> SignalsSeen:
    bodies = [changed(tx_hash=f"0x{at:.0f}{place:05d}") for place in range(count)]
    return SignalsSeen(at, tuple(listing_of(bodies, CONFIG, now=at).signals))


def empty() -> DeskState:
    choices = {checksummed(WALLET): WalletChoice(checksummed(WALLET), "Ann")}
    markets = {
        name: replace(one, status=MarketStatus.ACTIVE, outcome=None)
        for name, one in STATE.markets.items()
    }
    reactor = replace(STATE.reactor, signals=(), choices=choices, past={})
    return replace(STATE, notices=(), markets=markets, reactor=reactor)


def test_two_hundred_signals_keep_their_order_and_are_told_in_one_sentence() -> None:
    fact = listed(200)
    state = reduce(empty(), fact)
    assert [one.signal_id for one in state.reactor.signals] == [
        one.signal_id for one in reversed(fact.signals)
    ]
    assert {one.label for one in state.reactor.signals} == {"Ann"}
    assert all(one.price_now is not None for one in state.reactor.signals)
    (note,) = state.notices
    assert note.text.startswith("200 signals of one wallet")
    assert reduce(state, fact).notices == state.notices


class Written:
    """Keeps the rows that a log of signals writes."""

    def __init__(self) -> None:
        self.rows: list[Row] = []

    async def put(self, rows: Sequence[Row]) -> None:
        self.rows += rows


@pytest.mark.parametrize(
    ("before", "after", "is_written"),
    [
        ({"price_now": 0.4}, {"price_now": 0.5}, False),
        ({"price_now": None}, {"price_now": 0.5}, False),
        ({"price_now": 0.4}, {"price_now": 0.0}, True),
        ({"price_now": 0.4}, {"price_now": 1.0}, True),
        ({"price_now": 1.0}, {"price_now": 1.0}, False),
        ({}, {"state": SignalState.MIRRORED}, True),
        ({}, {"detail": "dismissed"}, True),
        ({}, {"label": "Ann"}, True),
        ({}, {"amount": Micros(7)}, True),
        ({}, {"ticket_id": "t-1"}, True),
        ({}, {"shares": Micros(7)}, True),
        ({}, {"cost": Micros(7)}, True),
    ],
)
async def test_a_signal_is_written_again_for_all_but_a_price_that_moves_on(
    before: dict[str, object], after: dict[str, object], *, is_written: bool
) -> None:
    one = signal_view(SIGNAL, CONFIG, now=NOW)
    written = Written()
    log = SignalLog(written, ManualClock())  # type: ignore[arg-type]  # all that it calls
    log.look((replace(one, **before),), (replace(one, **(before | after)),))
    await log.flush()
    assert bool(written.rows) is is_written
    other = replace(one, signal_id="another")
    log.look((one,), (other, one))
    await log.flush()
    assert [row["signal_id"] for row in written.rows[is_written:]] == ["another"]


@pytest.mark.slow
def test_what_is_listed_no_more_has_an_end_and_old_ones_count_in_the_statistics() -> None:
    state = reduce(empty(), listed(SIGNALS_MAX))
    later = Timestamp(NOW + 61)
    state = reduce(state, listed(300, later))
    assert len(state.reactor.signals) == SIGNALS_MAX
    gone = [one for one in state.reactor.signals if one.state is SignalState.SKIPPED]
    assert len(gone) == SIGNALS_MAX - 300
    assert all("expired" in one.detail for one in gone)
    wallet = state.reactor.wallet(checksummed(WALLET))
    assert wallet.tally.signals_count == SIGNALS_MAX + 300
    assert wallet.tally.skipped_count == SIGNALS_MAX
    assert wallet.policy is Policy.ASK
