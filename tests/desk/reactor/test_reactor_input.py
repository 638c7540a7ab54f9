"""What a service may say of signals, and what is made of it. No service, no desk."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kit.samples.desk import NOW, sample_state
from service_tui.addresses import checksummed
from service_tui.client.reply import decode
from service_tui.clock import ManualClock
from service_tui.desk.reactor.mirror_order import (
    once_of,
    reaction_of,
    request_of_mirror,
    ticket_id_of,
    why_not_now,
)
from service_tui.desk.reactor.reactor_desk import SignalLog
from service_tui.desk.reactor.translate import (
    BrokenSignalError,
    breaker_of_reactions,
    breaker_view,
    config_view,
    identity,
    listing_of,
    mirror_max,
    signal_view,
)
from service_tui.desk.reduce import reduce
from service_tui.desk.slices.buy_limits import SkillDaySpend
from service_tui.desk.slices.reactor import (
    SIGNALS_MAX,
    BreakerView,
    Policy,
    ReactorConfigView,
    ReactorView,
    SignalsSeen,
    SignalState,
    WalletChoice,
)
from service_tui.desk.state import DeskState
from service_tui.storage.reactor import Row
from service_tui.terms import BREAKER_S, MarketStatus, Side, Venue
from service_tui.units import ONE, Micros, Timestamp
from service_tui.wire.base import moment
from service_tui.wire.reactor import (
    BreakerBody,
    PendingBody,
    ReactionBody,
    ReactorConfigBody,
    SignalBody,
)

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


BROKEN = {
    "invalid id": {"tx_hash": ""},
    "0x1/../../: invalid id": {"tx_hash": "0x1/../../agents"},
    "0x0a0a0a0a: invalid id": {"signal_id": "0x1 [red]"},
    "invalid wallet address": {"taker_wallet": "0x5a"},
    "invalid market id": {"market_id": "../m"},
    "only buys": {"taker_side": "SELL"},
    "between 0 and 1": {"taker_price": 1.0},
    "not between": {"taker_price": 0.0},
    "above the mirror's limit": {"taker_price": 0.9999},
    "size not above 0": {"taker_size": 0.0},
    "spends nothing": {"amount": 0.0},
    "amount rounds to 0": {"amount": 0.004},
    "differs from the config": {"venue": Venue.EVM},
}


@pytest.mark.parametrize(("why", "fields"), BROKEN.items())
def test_a_broken_signal_is_said_and_named(why: str, fields: dict[str, object]) -> None:
    with pytest.raises(BrokenSignalError, match=why):
        signal_view(changed(**fields), CONFIG, now=NOW)
    found = listing_of([changed(**fields), SIGNAL], CONFIG, now=NOW)
    assert (len(found.signals), found.dropped) == (1, 1)
    assert why in found.broken


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


def test_times_that_have_no_sense_count_as_none() -> None:
    for at in (datetime(1, 1, 1, tzinfo=UTC), datetime(9999, 12, 31, tzinfo=UTC)):
        one = signal_view(changed(created_at=at, expires_at=at), CONFIG, now=NOW)
        assert (one.at, one.expires_at) == (NOW, NOW + 60)
    ahead = signal_view(
        changed(created_at=moment(Timestamp(NOW - 130)), expires_at=moment(Timestamp(NOW - 70))),
        CONFIG,
        now=NOW,
        ahead_s=120.0,
    )
    assert (ahead.at, ahead.expires_at) == (NOW - 10, NOW + 50)


def test_one_transaction_is_one_signal_however_it_is_spelled() -> None:
    tx = "0x" + "0a" * 32
    assert identity(tx.upper(), None) == identity(f" {tx}", tx.upper()) == tx
    assert identity(tx, "0xffff") == tx
    assert identity(tx, f"{tx}:maker:1:{WALLET}:7") == f"{tx}:maker:1:{WALLET}:7"
    one = signal_view(SIGNAL, CONFIG, now=NOW)
    other = signal_view(changed(tx_hash=tx.upper().replace("X", "x")), CONFIG, now=NOW)
    assert (once_of(one), ticket_id_of(one)) == (once_of(other), ticket_id_of(other))
    assert len(listing_of([SIGNAL, SIGNAL], CONFIG, now=NOW).signals) == 1


def test_rows_that_are_not_of_the_protocol_are_left_out_alone() -> None:
    row = SIGNAL.model_dump_json(exclude_none=True)
    raw = f'{{"reactor_signals": [{{"tx_hash": 7}}, {row}, {{"amount": 1e999}}]}}'.encode()
    body, dropped = decode(PendingBody, raw)
    found = listing_of(body.reactor_signals, CONFIG, now=NOW, dropped=dropped)
    assert (len(found.signals), found.dropped) == (1, 2)


def test_a_mirror_says_whom_it_mirrors_within_its_bound() -> None:
    one = signal_view(changed(signal_id=f"{SIGNAL.tx_hash}:maker:2"), CONFIG, now=NOW)
    sent = request_of_mirror(one)
    assert sent.price == pytest.approx(0.4 * 1.02)
    assert sent.signal_data is not None
    assert sent.signal_data["signal_source"] == "reactor"
    assert sent.signal_data["signal_id"] == one.name
    assert sent.signal_data["whale_wallet"] == checksummed(WALLET)
    told = reaction_of(replace(one, detail="no"), "failed")
    assert (told.event_tx_hash, told.signal_id, told.reason) == (SIGNAL.tx_hash, one.name, "no")


def test_a_config_out_of_range_is_cut_and_a_breaker_needs_no_times() -> None:
    wild = config_view(
        ReactorConfigBody(wallets=(WALLET, "x", WALLET), mirror_fraction=9.0, price_buffer=5.0)
    )
    assert wild.wallets == (checksummed(WALLET),)
    assert (wild.mirror_fraction, wild.price_buffer) == (1.0, 0.2)
    stuck = breaker_view(BreakerBody(state="paused", failures=5))
    assert stuck is not None
    assert stuck.is_paused(NOW)
    assert breaker_view(None) is None


def test_a_breaker_that_nobody_shows_is_counted_from_the_reactions() -> None:
    failed = [
        ReactionBody(decision="failed", created_at=moment(Timestamp(NOW - n))) for n in range(6)
    ]
    assert not breaker_of_reactions(failed[:4], since=Timestamp(0)).is_paused(NOW)
    open_one = breaker_of_reactions(failed, since=Timestamp(0))
    assert open_one.is_paused(NOW)
    assert not open_one.is_paused(Timestamp(NOW + BREAKER_S))
    assert breaker_of_reactions(failed, since=Timestamp(NOW - 2)).failures == 2
    done = ReactionBody(decision="mirrored", created_at=moment(NOW))
    assert breaker_of_reactions([done, *failed], since=Timestamp(0)).failures == 0


def test_a_skills_budget_holds_mirrors_back() -> None:
    assert STATE.buy_limits is not None
    signal = replace(
        signal_view(SIGNAL, CONFIG, now=NOW), amount=Micros(4 * ONE), venue=CONFIG.venue
    )
    spent = replace(
        STATE.buy_limits,
        skill_day_max=Micros(20 * ONE),
        skills=(SkillDaySpend("reactor", Micros(17 * ONE)),),
    )
    why = why_not_now(replace(STATE, buy_limits=spent), signal, NOW)
    assert why is not None
    assert "of its daily budget left" in why[0]
    assert why_not_now(STATE, replace(signal, amount=Micros(ONE)), NOW) is None
    paused = replace(STATE.reactor, breaker=BreakerView(5, 5, NOW, Timestamp(NOW + 9)))
    assert why_not_now(replace(STATE, reactor=paused), signal, NOW) is not None


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
