"""Ended markets rebuilt from the tape."""

from typing import Final

import pytest

from kit.engine.topics import TOPICS
from service_tui.engine.tape.belief import belief
from service_tui.engine.tape.ended_market import POINTS, market_from_tape
from service_tui.engine.tape.feed import Tape
from service_tui.outcome import NO, YES, Outcome
from service_tui.units import Timestamp

LISTING: Final = Tape(7, TOPICS).listing_of(3, 108)


@pytest.mark.parametrize("outcome", [YES, NO])
def test_an_ended_market_is_rebuilt_as_it_was_paid_out(outcome: Outcome) -> None:
    market = market_from_tape(LISTING, outcome=outcome)
    assert market.listing is LISTING
    assert market.outcome is outcome
    assert market.resolved_at == LISTING.resolved_at
    assert market.last_sample_at == LISTING.resolves_at
    assert LISTING.outcome
    assert market.price() == pytest.approx(0.9995, abs=1e-5)


def test_the_chart_of_an_ended_market_is_what_the_tape_held_to_be_true() -> None:
    samples = market_from_tape(LISTING, outcome=YES).samples
    life_s = LISTING.resolves_at - LISTING.opens_at
    times = [LISTING.opens_at + life_s * n / 48 for n in range(49)]
    assert POINTS == 48
    assert [at for at, _ in samples] == pytest.approx(times)
    assert [price for _, price in samples] == [
        round(belief(LISTING, Timestamp(at)), 4) for at, _ in samples
    ]
    assert samples[0][1] == round(LISTING.start_price, 4)
    assert samples[-1][1] == 0.9995
