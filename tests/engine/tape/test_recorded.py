"""A world on recorded markets: it trades at their prices, ends as they did, sees no future."""

import json
import sqlite3
from dataclasses import replace
from pathlib import Path

import pytest

from kit.engine.recorded import BEGIN, DAY, HOUR, PARTS, WALL, write
from service_tui.app.histories import history_of, topics_for
from service_tui.app.options import Options
from service_tui.engine.books.book import Book
from service_tui.engine.codec import events as codec
from service_tui.engine.codec import snapshot
from service_tui.engine.tick import advance, step
from service_tui.engine.world import World
from service_tui.storage.history_file import HistoryWriter, MarketRow, QuoteColumns, history_path
from service_tui.terms import MarketStatus
from service_tui.units import ONE, Timestamp


def begun(options: Options, seed: int = 7) -> World:
    return World(seed, WALL, topics_for(options.data_dir), history=history_of(options))


def run_to(world: World, until: float, speed: int = 600) -> list[str]:
    """Every event until a time of the world, written down."""
    world.speed, at = speed, WALL
    written = list[str]()
    while world.world_at < until and not world.tape.is_over(world.world_at):
        at = Timestamp(at + 1.0)
        written += [codec.encode(event) for event in advance(world, at)]
    return written


SEEDS = (*range(3), *(pytest.param(seed, marks=pytest.mark.deep) for seed in range(3, 200)))


@pytest.mark.parametrize("seed", SEEDS)
def test_two_worlds_with_one_past_are_the_same_until_their_futures_part(
    tmp_path: Path, seed: int
) -> None:
    worlds = [
        begun(write(tmp_path / str(future), seed, 1_000 + 10 * seed + future)) for future in (1, 2)
    ]
    one, two = (run_to(world, PARTS - 2 * HOUR) for world in worlds)
    assert one == two
    bodies = [snapshot.fields_of(world) | {"history": None} for world in worlds]
    assert codec.dumps(bodies[0]) == codec.dumps(bodies[1])
    assert run_to(worlds[0], PARTS + 3 * DAY) != run_to(worlds[1], PARTS + 3 * DAY)


def test_the_volume_of_a_day_is_no_larger_after_the_desk_was_closed(tmp_path: Path) -> None:
    opened, closed = (begun(write(tmp_path / name, 3, 4)) for name in ("open", "closed"))
    for world in (opened, closed):
        run_to(world, BEGIN + 3 * DAY, speed=3_600)
    at = opened.at
    for second in range(1, 49):
        advance(opened, Timestamp(at + second))
    # A closed desk crosses the time that has passed in one move.
    advance(closed, Timestamp(at + 48 * HOUR))
    assert closed.world_at == opened.world_at
    volumes = [
        sum(market.volume_24h(world.world_at) for market in world.markets.values())
        for world in (opened, closed)
    ]
    assert 0 < volumes[1] <= volumes[0]


def test_the_crowd_keeps_the_price_where_it_was_recorded(tmp_path: Path) -> None:
    world = begun(write(tmp_path, 3, 4))
    run_to(world, PARTS, speed=3_600)
    gaps = [
        abs(market.price() - market.listing.origin.path.price_at(world.world_at))
        for market in world.markets.values()
        if market.status(world.world_at) is MarketStatus.ACTIVE and market.listing.origin
    ]
    assert gaps
    assert sorted(gaps)[len(gaps) // 2] < 0.005


def test_markets_end_as_they_did_and_the_world_stands_still_at_the_end(tmp_path: Path) -> None:
    options = write(tmp_path, 5, 6)
    world = begun(options)
    run_to(world, BEGIN + 30 * DAY, speed=3_600)
    assert world.tape.is_over(world.world_at)
    before = world.world_at
    assert not advance(world, Timestamp(world.at + 100))
    assert world.world_at == before
    assert step(world, HOUR, Timestamp(world.at + 1)) == []
    assert world.resolved_count == world.tape.resolved_count(Timestamp(0.0), before)
    assert sum(world.ledger.balances().values()) == 0


def test_a_world_that_is_read_back_goes_on_as_it_would_have(tmp_path: Path) -> None:
    options = write(tmp_path, 8, 9)
    world = begun(options)
    run_to(world, PARTS)
    body = codec.dumps(snapshot.fields_of(world))
    again = snapshot.world_of(json.loads(body), topics_for(options.data_dir))
    at = Timestamp(world.at + 1.0)
    for _ in range(30):
        at = Timestamp(at + 1.0)
        assert advance(world, at) == advance(again, at)


def test_an_outcome_stands_in_no_row_before_its_time(tmp_path: Path) -> None:
    options = replace(write(tmp_path, 8, 9), history_from="2023-11-16")
    world = begun(options)
    advance(world, WALL)
    assert world.markets
    assert {market.listing.outcome for market in world.markets.values()} == {None}


QUOTED = (
    # A time, the price and what stood then: bid, ask, shares at the bid and at the ask.
    (0.0, 0.64, (0.64, 0.65, 120.0, 7.0)),
    (HOUR, 0.70, None),
    (2 * HOUR, 0.50, (0.0, 0.55, 0.0, 0.0)),
    (3 * HOUR, 0.50, (0.20, 1.0, 0.0, 0.0)),
    (4 * HOUR, 0.50, (0.485, 0.512, 0.0, 0.0)),
    (5 * HOUR, 0.02, (0.017, 0.022, 0.0, 0.0)),
    (6 * HOUR, 0.40, (0.40, 0.40, 0.0, 0.0)),
    (7 * HOUR, 0.10, (0.0, 1.0, 0.0, 0.0)),
)
STANDS = (
    (-1.0, None, None),
    (0.0, 0.64, 0.65),
    (HOUR, 0.70, 0.71),
    (2 * HOUR, None, 0.55),
    (3 * HOUR, 0.20, None),
    (4 * HOUR, 0.48, 0.52),
    (5 * HOUR, 0.017, 0.022),
    (6 * HOUR, 0.40, 0.41),
    (7 * HOUR, None, None),
)


def book_of_recorded(folder: Path) -> Book:
    writer = HistoryWriter(history_path(folder, "two"))
    row = MarketRow(
        "kalshi", "RAIN", "", "Rain?", "", BEGIN, BEGIN + DAY, BEGIN + DAY, 1.0
    )  # fmt: skip
    times, prices = [BEGIN + at for at, _, _ in QUOTED], [price for _, price, _ in QUOTED]
    quotes = [(BEGIN + at, *quote) for at, _, quote in QUOTED if quote is not None]
    columns = QuoteColumns(*map(list, zip(*quotes, strict=True)))
    writer.add(row._replace(opens_at=BEGIN - DAY), [BEGIN - DAY, *times], [0.3, *prices], columns)
    writer.finish("two")
    world = begun(Options(folder, folder, folder / "log", history="two"))
    advance(world, WALL)
    (market,) = world.markets
    return world.venues.book(market)


@pytest.mark.parametrize(("at", "bid", "ask"), STANDS)
def test_a_book_stands_where_bid_and_ask_were_recorded_and_moves_with_the_price(
    tmp_path: Path, *, at: float, bid: float | None, ask: float | None
) -> None:
    book = book_of_recorded(tmp_path)
    # Quotes are put up every three seconds.
    tops = book.tops((WALL, Timestamp(BEGIN + at + 3.0 * (at >= 0))))
    found = [None if top is None else top.price / ONE for top in tops]
    if at < 0:
        # Nothing is recorded yet: the tier's spread, around the price of the day before.
        assert found == [pytest.approx(0.3, abs=0.07), pytest.approx(0.3, abs=0.07)]
        return
    assert found == [bid, ask]


def test_the_recorded_shares_stand_at_the_best_prices_and_drawn_ones_behind(tmp_path: Path) -> None:
    book = book_of_recorded(tmp_path)
    times = (WALL, Timestamp(BEGIN + 3.0))
    assert [top and top.shares / ONE for top in book.tops(times)] == [120.0, 7.0]
    for bids in (True, False):
        levels = list(book.levels(times[1], bids=bids))
        assert len(levels) >= 5
        assert all(level.shares > 0 for level in levels)


def test_a_history_of_the_first_version_opens_without_quotes_and_wallets(tmp_path: Path) -> None:
    options = write(tmp_path, 3, 4)
    with sqlite3.connect(history_path(tmp_path, "two")) as file:
        file.execute("DROP TABLE quotes")
        file.execute("DROP TABLE trades")
        file.execute("UPDATE about SET value = '1' WHERE key = 'version'")
    world = begun(options)
    run_to(world, PARTS, speed=3_600)
    paths = [
        market.listing.origin.path for market in world.markets.values() if market.listing.origin
    ]
    assert len(paths) > 3
    assert {path.quote_at(world.world_at) for path in paths} == {None}
