"""The order book of a real venue: its ladder, its best prices, and none on sim."""

from dataclasses import replace
from pathlib import Path

import pytest

from kit.samples.desk import sample_state
from kit.service.stage import open_stage
from kit.service.wallets import market_on_chain
from service_tui.console.book import LEVELS, ladder, quote_line
from service_tui.console.formats import NOT_KNOWN
from service_tui.desk.markets.translate import detail_of_tape
from service_tui.desk.slices.markets import BookLevelView, DetailView
from service_tui.terms import Side, Venue
from service_tui.units import ONE, Micros
from service_tui.wire.endpoints.desk import TAPE
from service_tui.wire.world import TapeQuery

MARKET = replace(
    next(iter(sample_state().markets.values())), venues=(Venue.SIM, Venue.EVM), bid=0.44, ask=0.46
)


def level(price: float, shares: int) -> BookLevelView:
    return BookLevelView(price, Micros(shares * ONE))


DETAIL = DetailView(
    MARKET.market_id,
    3600,
    "",
    (),
    (),
    (),
    bids=tuple(level(0.44 - 0.01 * place, 100 * (place + 1)) for place in range(7)),
    asks=tuple(level(0.46 + 0.01 * place, 50) for place in range(3)),
)


def test_asks_stand_above_bids_with_shares_sums_and_depth() -> None:
    lines = ladder(MARKET, DETAIL, 50).plain.splitlines()
    assert lines[0] == "bid 0.44  ask 0.46  spread 0.02"
    rows = [line.split() for line in lines[2:]]
    assert [row[:4] for row in rows] == [
        ["ask", "0.48", "50.0", "150"],
        ["ask", "0.47", "50.0", "100"],
        ["ask", "0.46", "50.0", "50.0"],
        ["bid", "0.44", "100", "100"],
        ["bid", "0.43", "200", "300"],
        ["bid", "0.42", "300", "600"],
        ["bid", "0.41", "400", "1.00k"],
        ["bid", "0.40", "500", "1.50k"],
    ]
    assert len(rows) == LEVELS + 3
    # The bar is as long as the depth of its row: the deepest is the longest.
    assert len(rows[-1][4]) == max(len(row[4]) for row in rows)
    assert max(len(line) for line in ladder(MARKET, DETAIL, 36).plain.splitlines()) <= 36


def test_the_prices_of_a_book_have_as_many_decimals_as_the_finest() -> None:
    fine = replace(DETAIL, bids=(level(0.03, 5), level(0.029, 5)), asks=(level(0.032, 5),))
    rows = [line.split() for line in ladder(MARKET, fine, 50).plain.splitlines()[2:]]
    assert [row[1] for row in rows] == ["0.032", "0.030", "0.029"]


def test_a_book_that_is_not_read_shows_its_best_prices_and_sim_has_none() -> None:
    assert ladder(MARKET, None, 50).plain == "bid 0.44  ask 0.46  spread 0.02"
    assert ladder(replace(MARKET, bid=None, ask=None), None, 50).plain == "no orders on the book"
    assert ladder(replace(MARKET, venues=(Venue.SIM,)), DETAIL, 50).plain == ""


def test_prices_of_no_are_those_of_yes_turned() -> None:
    assert quote_line(MARKET, Side.NO).plain == "bid 0.54  ask 0.56  spread 0.02"
    assert quote_line(replace(MARKET, bid=None), Side.NO).plain == f"bid 0.54  ask {NOT_KNOWN}"


@pytest.mark.slow
async def test_the_depth_is_that_of_the_service_s_book(tmp_path: Path) -> None:
    async with open_stage(tmp_path, speed=0) as stage:
        market = market_on_chain(stage)
        path = {"market_id": market.market_id}
        reply = await stage.client.call(TAPE, path=path, query=TapeQuery())
        detail = detail_of_tape(reply.answer, 0)
        book, times = (
            stage.world.venues.book(market.market_id),
            (stage.world.at, stage.world.world_at),
        )
        for bids, shown in ((True, detail.bids), (False, detail.asks)):
            best = book.best(times, bids=bids)
            assert best is not None
            assert (shown[0].price, shown[0].shares) == (best.price / ONE, best.shares)
            prices = [level.price for level in shown]
            assert prices == sorted(set(prices), reverse=bids)
