"""Candles of a market: recorded prices where there are any, and nothing of what is to come."""

from dataclasses import replace
from typing import Final

import pytest

from kit.engine.topics import TOPICS
from service_tui.engine.amm.market import HOUR_S, VOLUME_HOURS, Market
from service_tui.engine.tape.belief import belief
from service_tui.engine.tape.candles import PriceCandle, candles
from service_tui.engine.tape.feed import Tape
from service_tui.units import Micros, Timestamp

AT: Final = Timestamp(1_800_000_000.0)
LISTING: Final = replace(
    max(Tape(7, TOPICS).listings_at(AT), key=lambda one: one.resolves_at - one.opens_at),
    opens_at=Timestamp(AT - 10_000),
    resolves_at=Timestamp(AT + 10_000),
)


def read(market: Market, since: float, until: float, step_s: float = 60.0) -> list[PriceCandle]:
    return list(candles(market, Timestamp(since), Timestamp(until), step_s))


def test_a_step_that_is_not_over_closes_at_the_belief_of_now() -> None:
    (candle,) = read(Market(LISTING), AT, AT + 20)
    assert candle.close == belief(LISTING, Timestamp(AT + 20))
    assert candle.open == belief(LISTING, Timestamp(AT + 5))


def test_the_step_of_the_end_closes_at_the_belief_of_the_end() -> None:
    rows = read(Market(LISTING), LISTING.resolves_at - 80, LISTING.resolves_at + 500)
    assert [row.opens_at for row in rows] == [
        LISTING.resolves_at - 80, LISTING.resolves_at - 20
    ]  # fmt: skip
    assert rows[-1].close == belief(LISTING, LISTING.resolves_at)


def test_the_step_of_the_listing_begins_at_the_listing() -> None:
    rows = read(Market(LISTING), LISTING.opens_at - 100, LISTING.opens_at + 20)
    assert [row.opens_at for row in rows] == [LISTING.opens_at - 40]
    assert rows[0].open == belief(LISTING, Timestamp(LISTING.opens_at + 5))


def test_recorded_prices_stand_and_a_step_opens_at_the_close_before() -> None:
    market = Market(LISTING)
    market.samples = [(Timestamp(AT + 1), 0.4), (Timestamp(AT + 2), 0.6), (Timestamp(AT + 3), 0.5)]
    market.recent.append((Timestamp(AT + 61), 0.7))
    first, second = read(market, AT, AT + 120)
    assert first[1:] == (0.4, 0.6, 0.4, 0.5, None)
    assert second[1:] == (0.5, 0.7, 0.5, 0.7, None)


@pytest.mark.parametrize(("until", "count"), [(AT, 0), (AT - 1, 0), (AT + 60, 1), (AT + 61, 2)])
def test_a_span_has_a_candle_for_each_step_that_has_begun(until: float, count: int) -> None:
    assert len(read(Market(LISTING), AT, until)) == count


def test_the_volume_of_a_step_is_that_of_all_its_hours_until_it_is_forgotten() -> None:
    market = Market(replace(LISTING, opens_at=Timestamp(0.0), resolves_at=Timestamp(9e9)))
    hour = int(AT // HOUR_S)
    market.volumes = {hour: 3, hour + 1: 4, hour + 2: 5}
    assert [row.volume for row in read(market, hour * HOUR_S, (hour + 4) * HOUR_S, 2 * HOUR_S)] == [
        Micros(7), Micros(5)
    ]  # fmt: skip
    oldest = hour + 2 - VOLUME_HOURS
    assert [row.volume for row in read(market, oldest * HOUR_S, (oldest + 2) * HOUR_S, HOUR_S)] == [
        None,
        Micros(0),
    ]
