"""What the record of a wallet is after each of its trades."""

from dataclasses import replace

import pytest

from service_tui.engine.events import MarketResolved, Settlement
from service_tui.engine.reactor.wallet_records import WalletPosition, WalletRecord, WalletRecords
from service_tui.outcome import NO, VOID, YES, Outcome
from service_tui.terms import Action, Side, Venue
from service_tui.units import ONE, Micros, Timestamp

AT = Timestamp(1_800_000_000.0)
ANN, BEN = "0xA", "0xB"


def traded(action: Action, shares: int, price: float, **changes: object) -> Settlement:
    one = Settlement(
        "0x1", ANN, "Ann", Venue.SIM, "m1", 4, 11, Side.YES, action,
        Micros(shares * ONE), price, Micros(0),
    )  # fmt: skip
    return one._replace(**changes)  # type: ignore[arg-type]


def counted(*settled: Settlement, is_listed: bool = True) -> WalletRecords:
    records = WalletRecords()
    for second, one in enumerate(settled):
        records.count(one, Timestamp(AT + second), is_listed=is_listed)
    return records


def resolved(market_id: str, *, outcome: Outcome) -> MarketResolved:
    return MarketResolved(market_id, AT, AT, outcome, (), Micros(0))


def position(**fields: int) -> WalletPosition:
    return WalletPosition(**{name: Micros(value * ONE) for name, value in fields.items()})


BUY = traded(Action.BUY, 40, 0.25)


def test_buys_of_both_sides_make_one_position_with_two_costs() -> None:
    records = counted(BUY, traded(Action.BUY, 30, 0.7, side=Side.NO), traded(Action.BUY, 8, 0.5))
    held = position(yes=48, yes_cost=14, no=30, no_cost=21)
    assert records.of(ANN) == WalletRecord(
        trades_count=3, bought=Micros(35 * ONE), last_at=Timestamp(AT + 2), held={"m1": held}
    )
    assert (held.shares(Side.YES), held.cost(Side.YES)) == (48 * ONE, 14 * ONE)
    assert (held.shares(Side.NO), held.cost(Side.NO)) == (30 * ONE, 21 * ONE)


@pytest.mark.parametrize(
    ("price", "realized", "wins", "losses"), [(0.45, 2, 1, 0), (0.05, -2, 0, 1), (0.25, 0, 0, 0)]
)
def test_a_sale_takes_its_share_of_the_cost_and_is_won_or_lost(
    price: float, realized: int, wins: int, losses: int
) -> None:
    records = counted(BUY, traded(Action.SELL, 10, price))
    assert records.of(ANN) == WalletRecord(
        trades_count=2, bought=Micros(10 * ONE), win_count=wins, loss_count=losses,
        realized=Micros(realized * ONE), last_at=Timestamp(AT + 1),
        held={"m1": WalletPosition(yes=Micros(30 * ONE), yes_cost=Micros(15 * ONE // 2))},
    )  # fmt: skip


@pytest.mark.parametrize("side", list(Side))
def test_a_sale_of_everything_ends_the_position_only_with_both_sides(side: Side) -> None:
    buys = [traded(Action.BUY, 10, 0.5, side=one) for one in Side]
    sale = traded(Action.SELL, 10, 0.6, side=side)
    records = counted(*buys, sale)
    left = {f"{side.other.value}": 10, f"{side.other.value}_cost": 5}
    assert records.of(ANN).held == {"m1": position(**left)}
    other = sale._replace(side=side.other)
    records.count(other, AT, is_listed=True)
    assert (records.held(ANN), records.of(ANN).realized) == ((), 2 * ONE)


@pytest.mark.parametrize(
    "sale",
    [
        traded(Action.SELL, 41, 0.5),
        traded(Action.SELL, 10, 0.5, side=Side.NO),
        traded(Action.SELL, 10, 0.5, market_id="m2"),
    ],
)
def test_a_sale_of_what_is_not_known_to_be_held_is_a_trade_without_a_result(
    sale: Settlement,
) -> None:
    bought = counted(BUY).of(ANN)
    assert counted(BUY, sale).of(ANN) == replace(bought, trades_count=2, last_at=Timestamp(AT + 1))


def test_a_buy_in_a_question_that_is_not_listed_opens_no_position() -> None:
    record = counted(BUY, is_listed=False).of(ANN)
    assert record == WalletRecord(trades_count=1, bought=Micros(10 * ONE), last_at=AT)


def test_each_wallet_has_a_record_of_its_own_and_who_never_traded_an_empty_one() -> None:
    records = counted(BUY, BUY._replace(wallet=BEN, market_id="m2"), BUY._replace(market_id="m0"))
    assert (records.held(ANN), records.held(BEN), records.held("0xC")) == (
        ("m1", "m0"),
        ("m2",),
        (),
    )
    assert records.holding(BEN, "m2") == position(yes=40, yes_cost=10)
    assert records.holding(BEN, "m1") == records.holding("0xC", "m1") == WalletPosition()
    assert records.of("0xC") == WalletRecord()
    assert list(records.by_address) == [ANN, BEN]


@pytest.mark.parametrize(
    ("outcome", "realized", "wins", "losses"),
    [(YES, 9, 1, 0), (NO, -1, 0, 1), (Outcome.at(0.5), 4, 1, 0), (VOID, 0, 0, 0)],
)
def test_an_outcome_pays_the_winning_side_and_takes_both_costs(
    *,
    outcome: Outcome,
    realized: int,
    wins: int,
    losses: int,
) -> None:
    records = counted(
        BUY,
        traded(Action.BUY, 30, 0.7, side=Side.NO),
        BUY._replace(wallet=BEN, market_id="m2"),
    )
    before = records.of(BEN)
    records.settle(resolved("m1", outcome=outcome))
    record = records.of(ANN)
    assert (record.realized, record.win_count, record.loss_count, record.held) == (
        realized * ONE, wins, losses, {},
    )  # fmt: skip
    assert (records.of(BEN), records.held(BEN)) == (before, ("m2",))


@pytest.mark.parametrize(("gained", "wins", "losses"), [(1, 1, 0), (-1, 0, 1), (0, 0, 0)])
def test_the_least_gain_is_a_win_and_the_least_loss_a_loss(
    gained: int, wins: int, losses: int
) -> None:
    record = WalletRecord()
    record.realize(Micros(gained))
    assert (record.win_count, record.loss_count) == (wins, losses)
