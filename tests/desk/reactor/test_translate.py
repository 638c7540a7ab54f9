"""A reactor's answers as views: each field, and each bound of what a service proposes."""

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from service_tui.addresses import checksummed
from service_tui.desk.reactor.translate import (
    SIGNALS_READ_MAX,
    BrokenSignalError,
    breaker_of_reactions,
    breaker_view,
    config_view,
    identity,
    known_wallets,
    listing_of,
    mirror_max,
    signal_view,
    spent_of,
)
from service_tui.desk.slices.reactor import (
    BreakerView,
    KnownWalletView,
    ReactorConfigView,
    SignalView,
)
from service_tui.terms import (
    BREAKER_S,
    FAILURES_MAX,
    MIRROR_PRICE_MAX,
    SIGNAL_TTL_MAX_S,
    SIGNAL_TTL_S,
    Action,
    Side,
    Venue,
)
from service_tui.units import ONE, Micros, Timestamp
from service_tui.wire.reactor import (
    BreakerBody,
    KnownWalletBody,
    ReactionBody,
    ReactorConfigBody,
    SignalBody,
    WhaleBody,
)

NOW = Timestamp(1_800_000_000.0)
WALLET = "0x" + "1a" * 20
CONFIG = ReactorConfigView(
    wallets=(checksummed(WALLET),), min_size=Micros(ONE), max_size=Micros(50 * ONE),
    mirror_fraction=0.25, daily_cap=Micros(30 * ONE), venue=Venue.SIM, enabled=True,
    price_buffer=0.05, signal_ttl_s=90.0,
)  # fmt: skip


def at(offset_s: float) -> datetime:
    return datetime.fromtimestamp(NOW + offset_s, UTC)


def body(**other: Any) -> SignalBody:
    given: dict[str, Any] = {
        "tx_hash": "0xAB", "signal_id": "0xab:2", "venue": Venue.SIM, "taker_wallet": WALLET,
        "taker_size": 120.0, "taker_price": 0.4, "market_id": "m-4", "market_title": "Will it?",
        "side": Side.NO, "amount": 7.239, "created_at": at(-20), "expires_at": at(40),
        "taker_label": "ada",
    }  # fmt: skip
    return SignalBody(**(given | other))


def view(**other: Any) -> SignalView:
    return signal_view(body(**other), CONFIG, now=NOW, ahead_s=5.0)


def test_a_signal_is_shown_with_all_that_it_says_by_this_desks_clock() -> None:
    assert view() == SignalView(
        signal_id="0xab:2", tx_hash="0xAB", wallet=checksummed(WALLET), label="ada",
        market_id="m-4", question="Will it?", side=Side.NO, venue=Venue.SIM,
        size=Micros(120 * ONE), price=0.4, amount=Micros(7_230_000), price_max=0.42,
        at=Timestamp(NOW - 15), expires_at=Timestamp(NOW + 45), name="0xab:2",
    )  # fmt: skip


def test_what_a_signal_leaves_out_comes_from_the_config_or_stays_empty() -> None:
    whale = WhaleBody(wallet=WALLET, market_title="By the whale?")
    left = view(
        signal_id=None, venue=None, taker_label=None, market_title="", whale=whale,
        created_at=None, expires_at=None,
    )  # fmt: skip
    assert (left.signal_id, left.name, left.label) == ("0xab", "0xAB", "")
    assert (left.venue, left.question) == (CONFIG.venue, "By the whale?")
    assert (left.at, left.expires_at) == (NOW, NOW + CONFIG.signal_ttl_s)
    assert view(market_title="", whale=None).question == ""
    assert view(whale=whale).question == "Will it?"


@pytest.mark.parametrize(
    ("created_s", "expires_s", "begun_s", "ends_s"),
    [
        (-5, 40, 0, 45),
        (-4, 40, 0, 45),
        (-SIGNAL_TTL_MAX_S - 5, 40, -SIGNAL_TTL_MAX_S, 45),
        (-SIGNAL_TTL_MAX_S - 6, 40, 0, 45),
        (-20, SIGNAL_TTL_MAX_S - 5, -15, SIGNAL_TTL_MAX_S),
        (-20, SIGNAL_TTL_MAX_S - 4, -15, 75),
        (-20, -20, -15, -15),
        (-20, -21, -15, 75),
    ],
)
def test_a_signals_life_counts_only_where_it_has_sense(
    created_s: float, expires_s: float, begun_s: float, ends_s: float
) -> None:
    one = view(created_at=at(created_s), expires_at=at(expires_s))
    assert (one.at - NOW, one.expires_at - NOW) == (begun_s, ends_s)


@pytest.mark.parametrize(
    ("other", "why"),
    [
        ({"tx_hash": "a b"}, "invalid id"),
        ({"signal_id": "a/b"}, "invalid id"),
        ({"taker_wallet": "0x12"}, "invalid wallet address"),
        ({"market_id": "../m"}, "invalid market id"),
        ({"action": Action.SELL}, "only buys are mirrored"),
        ({"taker_side": "SELL"}, "only buys are mirrored"),
        ({"taker_price": 0.0}, "price not between 0 and 1"),
        ({"taker_price": 1.0}, "price not between 0 and 1"),
        ({"taker_price": (MIRROR_PRICE_MAX + 1) / 2}, "price above the mirror's limit"),
        ({"taker_size": 0.0}, "size not above 0"),
        ({"amount": 0.0}, "spends nothing"),
        ({"venue": Venue.SOL}, "venue sol_venue differs from the config"),
        ({"amount": 0.009}, "amount rounds to 0"),
    ],
)
def test_a_signal_that_contradicts_itself_or_the_config_is_named_and_dropped(
    other: dict[str, Any], why: str
) -> None:
    name = other.get("tx_hash", "0xAB")
    with pytest.raises(BrokenSignalError, match=f"^signal {name}: {why}$"):
        view(**other)


def test_a_signal_at_each_bound_is_mirrored() -> None:
    assert view(taker_price=MIRROR_PRICE_MAX).price_max == MIRROR_PRICE_MAX
    assert view(taker_side="buy").side is Side.NO
    assert view(amount=0.01).amount == 10_000
    with pytest.raises(BrokenSignalError, match="signal 0123456789: "):
        view(tx_hash="0123456789abc", amount=0.0)


@pytest.mark.parametrize(
    ("size", "price", "changes", "most"),
    [
        (120.0, 0.4, {}, 12.0),
        (400.0, 0.4, {}, 20.0),
        (400.0, 0.4, {"daily_cap": Micros(19 * ONE)}, 19.0),
        (10.01, 0.333, {}, 0.84),
        (0.00001, 0.1, {}, 0.0),
    ],
)
def test_a_mirror_spends_its_part_of_the_trade_within_size_and_cap(
    size: float, price: float, changes: dict[str, Any], most: float
) -> None:
    config = replace(CONFIG, **changes)
    one = body(taker_size=size, taker_price=price)
    assert mirror_max(one, config) == round(most * ONE)


def test_a_service_that_asks_for_more_is_cut_to_the_most() -> None:
    assert view(amount=900.0).amount == 12 * ONE


@pytest.mark.parametrize(
    ("tx_hash", "signal_id", "own"),
    [
        (" 0xAB ", None, "0xab"), ("0xAB", " 0xab:3 ", "0xab:3"), ("0xAB", "other:3", "0xab"),
        ("0xAB", "0xab", "0xab"), ("0xAB", "0xabc:1", "0xab"),
    ],
)  # fmt: skip
def test_a_signal_is_its_transaction_or_a_leg_of_it(
    tx_hash: str, signal_id: str | None, own: str
) -> None:
    assert identity(tx_hash, signal_id) == own


def test_a_listing_keeps_the_order_drops_doubles_and_counts_what_is_broken() -> None:
    rows = (
        body(type="alert", tx_hash="0x0"),
        body(tx_hash="0x2", signal_id=None, taker_label=None),
        body(tx_hash="0x9", signal_id=None, amount=0.0),
        body(tx_hash="0x1", signal_id=None),
        body(tx_hash="0X2", signal_id=None, taker_label="another"),
        body(tx_hash="0x8", signal_id=None, taker_size=0.0),
    )
    listing = listing_of(rows, CONFIG, now=NOW, ahead_s=5.0)
    assert [one.signal_id for one in listing.signals] == ["0x2", "0x1"]
    assert listing.labels == {checksummed(WALLET): "ada"}
    assert (listing.dropped, listing.broken) == (2, "signal 0x9: spends nothing")
    assert listing.signals[0].at == NOW - 15
    malformed = listing_of(rows, CONFIG, now=NOW, dropped=3)
    assert (malformed.dropped, malformed.broken) == (5, "malformed signal")


def test_a_listing_of_too_many_signals_is_cut() -> None:
    rows = tuple(
        body(tx_hash=f"0x{place:x}", signal_id=None) for place in range(SIGNALS_READ_MAX + 2)
    )
    listing = listing_of(rows, CONFIG, now=NOW)
    assert len(listing.signals) == SIGNALS_READ_MAX
    assert (listing.dropped, listing.broken) == (2, "more than 1,000 signals at once")


def config_body(**other: Any) -> ReactorConfigBody:
    given: dict[str, Any] = {
        "wallets": (WALLET, "no address", WALLET.upper().replace("0X", "0x")), "min_size": 2.0,
        "max_size": 3.0, "mirror_fraction": 0.4, "daily_cap": 5.0, "venue": Venue.SOL,
        "enabled": True, "price_buffer": 0.06, "signal_ttl_s": 70.0,
    }  # fmt: skip
    return ReactorConfigBody(**(given | other))


def test_a_config_is_shown_as_it_is_within_its_ranges() -> None:
    assert config_view(config_body()) == ReactorConfigView(
        wallets=(checksummed(WALLET),), min_size=Micros(2 * ONE), max_size=Micros(3 * ONE),
        mirror_fraction=0.4, daily_cap=Micros(5 * ONE), venue=Venue.SOL, enabled=True,
        price_buffer=0.06, signal_ttl_s=70.0,
    )  # fmt: skip
    wide = config_view(
        config_body(mirror_fraction=1.5, price_buffer=0.3, signal_ttl_s=SIGNAL_TTL_MAX_S + 1)
    )
    assert (wide.mirror_fraction, wide.price_buffer, wide.signal_ttl_s) == (
        1.0, 0.2, SIGNAL_TTL_MAX_S,
    )  # fmt: skip
    assert config_view(config_body(signal_ttl_s=None)).signal_ttl_s == SIGNAL_TTL_S


def test_money_that_is_not_reported_is_not_zero() -> None:
    assert (spent_of(None), spent_of(0.0), spent_of(1.5)) == (None, 0, 1_500_000)


@pytest.mark.parametrize(
    ("state", "paused_s", "resets_s", "paused_at", "resets_at"),
    [
        ("running", -30, 60, None, None),
        ("paused", -30, 60, NOW - 25, NOW + 65),
        ("paused", None, 60, NOW + 65 - BREAKER_S, NOW + 65),
        ("paused", -30, None, NOW - 25, None),
        ("paused", None, None, 0.0, None),
    ],
)
def test_a_breaker_is_shown_by_this_desks_clock(
    *,
    state: str,
    paused_s: float | None,
    resets_s: float | None,
    paused_at: float | None,
    resets_at: float | None,
) -> None:
    one = BreakerBody(
        state=state, failures=4, failures_max=6, skipped=2,
        paused_at=None if paused_s is None else at(paused_s),
        resets_at=None if resets_s is None else at(resets_s),
    )  # fmt: skip
    assert breaker_view(one, 5.0) == BreakerView(4, 6, paused_at, resets_at, 2)
    assert breaker_view(None) is None


def reactions(*ages_s: float | None, decision: str = "failed") -> list[ReactionBody]:
    return [
        ReactionBody.model_construct(
            decision=decision, created_at=None if age is None else at(-age), event_tx_hash="0x1"
        )
        for age in ages_s
    ]


def test_failures_in_a_row_open_a_breaker_that_nobody_shows() -> None:
    five = reactions(10, 20, 30, 40, 50)
    assert len(five) == FAILURES_MAX
    since = Timestamp(NOW - 1_000)
    assert breaker_of_reactions(five, since=since, ahead_s=5.0) == BreakerView(
        5, FAILURES_MAX, Timestamp(NOW - 5), Timestamp(NOW - 5 + BREAKER_S)
    )
    assert breaker_of_reactions(five[:4], since=since) == BreakerView(failures=4)
    mixed = [*five[:3], *reactions(35, decision="mirrored"), *five[3:]]
    assert breaker_of_reactions(mixed, since=since) == BreakerView(failures=3)
    # What was reset by hand counts no more.
    assert breaker_of_reactions(five, since=Timestamp(NOW - 40)) == BreakerView(failures=3)
    undated = reactions(None, None, None, None, None)
    assert breaker_of_reactions(undated, since=since) == BreakerView(5, paused_at=since)


def test_a_known_wallet_is_shown_with_its_figures_and_one_without_an_address_is_none() -> None:
    rows = [
        KnownWalletBody(
            address=address, label="ada", venue=Venue.SOL, trades_count=9, bought=8.5,
            win_count=7, loss_count=2, realized_pnl=-1.25, last_trade_at=last_at,
        )
        for address, last_at in ((WALLET, at(-9)), ("nobody", None), ("0x" + "2b" * 20, None))
    ]  # fmt: skip
    first, second = known_wallets(rows)
    assert first == KnownWalletView(
        address=checksummed(WALLET), label="ada", venue=Venue.SOL, trades_count=9,
        bought=Micros(8_500_000), win_count=7, loss_count=2, realized=Micros(-1_250_000),
        last_trade_at=Timestamp(NOW - 9),
    )  # fmt: skip
    assert (second.address, second.last_trade_at) == (checksummed("0x" + "2b" * 20), None)
