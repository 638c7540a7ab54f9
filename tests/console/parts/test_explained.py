"""Explanations of figures: which there are, and of which venues."""

from dataclasses import replace

from kit.samples.desk import NOW, sample_state
from service_tui.console.parts.explained import account_numbers, venue_numbers
from service_tui.desk.slices.venues import VenueSumView
from service_tui.terms import Venue
from service_tui.units import ONE, Micros

STATE = sample_state(8)
USED = VenueSumView(Venue.EVM, Micros(ONE), Micros(0), Micros(ONE), 1, Micros(ONE), NOW)
UNUSED = VenueSumView(Venue.SOL, Micros(ONE), Micros(0), Micros(0), 0, None, None)


def test_an_account_worth_nothing_is_explained_and_one_of_unknown_worth_is_not() -> None:
    worthless = replace(STATE.account, equity=Micros(0))
    names = [one.name for one in account_numbers(replace(STATE, account=worthless), NOW)]
    assert names[0] == "equity, $SIM"
    unknown = replace(STATE.account, equity=None)
    for account in (unknown, None):
        assert account_numbers(replace(STATE, account=account), NOW) == ()


def test_the_result_of_a_venue_is_explained_where_it_was_ever_used() -> None:
    found = venue_numbers(replace(STATE, venue_sums=(UNUSED, USED)), NOW)
    assert [one.name for one in found] == ["venue's P&L, USDC.e on evm_venue"]
