"""Wallets of a recording: their trades come at their time, and nothing before."""

from pathlib import Path

from kit.engine.recorded import BEGIN, DAY, HOUR, PARTS, WALL, WALLETS, write
from service_tui.addresses import checksummed
from service_tui.app.histories import history_of, topics_for
from service_tui.app.options import Options
from service_tui.engine.events import ReactorChanged, Settlement, Ticked
from service_tui.engine.reactor.recorded_wallets import MOVE_MAX, SHOWN_MAX, known_wallets
from service_tui.engine.reactor.wallet_records import WALLETS_KEPT
from service_tui.engine.reactor.wallets import ROSTER
from service_tui.engine.tick import advance, step
from service_tui.engine.world import World
from service_tui.storage.history_file import (
    HistoryFile,
    HistoryWriter,
    MarketRow,
    WalletTradeRow,
    history_path,
)
from service_tui.terms import Action, Side, Venue
from service_tui.units import ONE, Timestamp

RAIN = MarketRow("polymarket", "0xab", "", "Rain?", "", BEGIN, None, None, None)


def begun(options: Options) -> World:
    world = World(7, WALL, topics_for(options.data_dir), history=history_of(options))
    advance(world, WALL)
    return world


def settled_in(world: World, seconds: float) -> list[Settlement]:
    """What wallets trade until a time of the world, each step an hour at most."""
    found, until = list[Settlement](), world.world_at + seconds
    while world.world_at < until:
        at = Timestamp(world.at + 0.01)
        for event in step(world, min(HOUR, until - world.world_at), at):
            found += event.settled if isinstance(event, Ticked) else ()
    return found


def of_rain(folder: Path, trades: list[WalletTradeRow]) -> Options:
    """A market of a day with these trades; none of them at its first price."""
    writer = HistoryWriter(history_path(folder, "two"))
    writer.add(RAIN, [BEGIN, BEGIN + DAY], [0.5, 0.5])
    writer.add_trades(trades)
    writer.finish("two")
    return Options(folder, folder, folder / "log", history="two")


def trade(number: int, at: float, **changes: object) -> WalletTradeRow:
    row = WalletTradeRow(BEGIN + at, number, 0, WALLETS[0], is_no=False, sells=False, waited=False,
                   shares=100.0, price=0.5)  # fmt: skip
    return row._replace(**changes)


def test_each_trade_of_the_recording_comes_once_and_at_its_time(tmp_path: Path) -> None:
    world = begun(write(tmp_path, 3, 4))
    with HistoryFile(history_path(tmp_path, "two")) as file:
        first = file.first_trade_at()
        assert first is not None
        settled_in(world, first - 1.0 - world.world_at)
        found = settled_in(world, BEGIN + 3.9 * DAY - world.world_at)
        expected = file.trades(first - 1.0, world.world_at)
        assert file.trades(world.world_at, PARTS)
    assert len(expected) > 10
    assert [
        (one.number, one.wallet, one.side, one.action, one.leg, one.shares, one.price)
        for one in found
    ] == [
        (
            one.market,
            checksummed(f"0x{one.wallet.hex()}"),
            Side.NO if one.is_no else Side.YES,
            Action.SELL if one.sells else Action.BUY,
            0 if one.waited else -1,
            round(one.shares * ONE),
            one.price,
        )
        for one in expected
    ]
    assert len({one.tx_hash for one in found}) == len(found)
    assert {one.venue for one in found} == {Venue.EVM}


def test_a_trade_moves_no_price_and_no_money_here(tmp_path: Path) -> None:
    world = begun(of_rain(tmp_path, [trade(0, 60.0, shares=1e6)]))
    (market,) = world.markets.values()
    price, balances = market.price(), world.ledger.balances()
    (one,) = settled_in(world, HOUR)
    assert (market.price(), world.ledger.balances()) == (price, balances)
    record = world.reactor.records.of(one.wallet)
    assert (record.trades_count, record.bought) == (1, round(0.5 * 1e6 * ONE))


def test_named_wallets_trade_until_the_first_recorded_trade_and_nobody_knows_it_comes(
    tmp_path: Path,
) -> None:
    both = [
        begun(of_rain(tmp_path / name, trades))
        for name, trades in (("none", []), ("late", [trade(0, 2 * HOUR + 1)]))
    ]
    none, late = (settled_in(world, 2 * HOUR) for world in both)
    assert none == late
    assert none
    names = [known_wallets(world.wallet_context, world.world_at) for world in both]
    assert names[0] == names[1]
    assert len(names[0]) == len(ROSTER)
    none, late = (settled_in(world, HOUR) for world in both)
    assert [one.label for one in late] == [""]
    world = both[1]
    address = checksummed(f"0x{WALLETS[0].hex()}")
    shown = known_wallets(world.wallet_context, world.world_at)
    assert address in {one.address for one in shown}


def address_of(wallet: int) -> str:
    return checksummed(f"0x{wallet.to_bytes(20, 'big').hex()}")


def test_of_very_many_trades_the_largest_come_and_those_of_a_followed_wallet(
    tmp_path: Path,
) -> None:
    crowd = [
        trade(at, 60.0 + at, wallet=(at + 1).to_bytes(20, "big"), shares=float(at + 1))
        for at in range(MOVE_MAX + 20)
    ]
    world = begun(of_rain(tmp_path, crowd))
    world.note(ReactorChanged("somebody", WALL, {"wallets": (address_of(1),)}))
    found = settled_in(world, HOUR)
    assert [one.shares / ONE for one in found] == [
        one.shares for one in (crowd[0], *crowd[-MOVE_MAX:])
    ]


def test_records_are_bounded_and_that_of_a_followed_wallet_stays(tmp_path: Path) -> None:
    hours = 1 + WALLETS_KEPT // MOVE_MAX
    crowd = [
        trade(at, 60.0 + 3_600.0 * at / MOVE_MAX, wallet=(at + 1).to_bytes(20, "big"))
        for at in range(hours * MOVE_MAX)
    ]
    world = begun(of_rain(tmp_path, crowd))
    world.note(ReactorChanged("somebody", WALL, {"wallets": (address_of(1),)}))
    settled_in(world, (hours + 1) * HOUR)
    records = world.reactor.records.by_address
    assert len(records) == WALLETS_KEPT
    assert address_of(1) in records
    assert address_of(2) not in records
    assert address_of(len(crowd)) in records
    assert len(known_wallets(world.wallet_context, world.world_at)) == SHOWN_MAX
