"""The summary of an absence, and the volume that it adds."""

from dataclasses import replace
from typing import Final

from kit.engine.topics import TOPICS
from service_tui.engine.amm.market import Market
from service_tui.engine.events import MarketListed, MarketResolved
from service_tui.engine.listing import Listing
from service_tui.engine.tape.absence import Absence, absence_of, count_unseen
from service_tui.engine.tape.crowd import turnover
from service_tui.engine.tape.feed import Tape
from service_tui.outcome import YES
from service_tui.units import ONE, Micros, Timestamp

TAPE: Final = Tape(7, TOPICS)
HOUR_S: Final = 3_600.0
START: Final = Timestamp(500_000 * HOUR_S)


def listing(opens_h: float, ends_h: float) -> Listing:
    """A market of these hours after START."""
    return replace(
        TAPE.listing_of(0, 0),
        opens_at=Timestamp(START + opens_h * HOUR_S),
        resolves_at=Timestamp(START + ends_h * HOUR_S),
    )


def resolution(market_id: str) -> MarketResolved:
    return MarketResolved(market_id, START, START, outcome=YES, payouts=(), crowd_payout=Micros(0))


def counted(market: Market, at_h: float) -> dict[int, float]:
    """Hours after START with volume, and for how many seconds of average trade."""
    count_unseen([market], Timestamp(START + at_h * HOUR_S))
    a_second = turnover(market.listing) * ONE
    return {hour - 500_000: round(sum_ / a_second) for hour, sum_ in market.volumes.items()}


def test_unseen_volume_is_spread_over_the_hours_of_the_gap() -> None:
    market = Market(listing(-50, 50))
    market.last_sample_at = Timestamp(START + 0.25 * HOUR_S)
    assert counted(market, 2.5) == {0: 2_700, 1: 3_600, 2: 1_800}


def test_no_volume_is_counted_before_the_opening_or_after_the_end() -> None:
    assert counted(Market(listing(0.5, 1.75)), 9.0) == {0: 1_800, 1: 2_700}


def test_no_more_than_the_last_day_is_counted() -> None:
    hours = counted(Market(listing(-90, 90)), 0.5)
    # The oldest half hour is forgotten with the first full hour of today.
    assert hours[-23] == 3_600
    assert hours[0] == 1_800
    assert min(hours) >= -24
    assert sum(hours.values()) in {23 * 3_600 + 1_800, 24 * 3_600}


def test_a_market_that_saw_it_all_has_nothing_to_add() -> None:
    market = Market(listing(-5, 5))
    market.last_sample_at = START
    assert counted(market, 0.0) == {}


def test_an_absence_names_its_span_and_what_ended_and_began_in_it() -> None:
    one = TAPE.listing_of(0, 0)
    resolved = [resolution(f"m{n}") for n in range(2)]
    listed = [MarketListed(START, START, one) for _ in range(3)]
    equity = {"ann": Micros(7)}
    span = (START, Timestamp(START + HOUR_S))
    told = absence_of(TAPE, span, [listed[0], *resolved, *listed[1:]], equity)
    assert told == Absence(
        closed_at=START,
        opened_at=Timestamp(START + HOUR_S),
        resolved=tuple(resolved),
        resolved_count=TAPE.resolved_count(*span),
        listed_count=3,
        equity_before=equity,
    )
    assert told.resolved_count > 2


def test_what_really_ended_counts_where_the_tape_knows_of_less() -> None:
    resolved = [resolution(f"m{n}") for n in range(2)]
    assert absence_of(TAPE, (START, START), resolved, {}).resolved_count == 2
