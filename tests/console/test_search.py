from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kit.samples.desk import NOW, sample_state
from service_tui.console.screens.market_filter import (
    COMPARED,
    NAMED,
    SIM_ALONE,
    Around,
    MarketFilter,
    chosen,
    filter_from,
    venues_of,
)
from service_tui.console.search import read_search
from service_tui.terms import MarketStatus, Venue

STATE = sample_state(200)
KINDS = ((Venue.SIM, Venue.EVM), (Venue.SIM, Venue.SOL), (Venue.SIM,), ())
MARKETS = tuple(
    replace(market, venues=KINDS[place % len(KINDS)])
    for place, market in enumerate(STATE.markets.values())
)
AROUND = Around(
    now=NOW,
    held=frozenset(held.market_id for held in STATE.positions),
    stars=STATE.stars,
)


def found(typed: str = "", **switched: object) -> set[str]:
    wanted = MarketFilter(**{"typed": typed, "status": "all", **switched})
    return {market.market_id for market in chosen(MARKETS, wanted, AROUND)}


def test_words_are_anded_over_question_category_and_tags_in_any_case() -> None:
    assert found("HARBOUR politics") == {
        m.market_id for m in MARKETS if "harbour" in m.question and m.category == "politics"
    }


def test_a_bang_inverts() -> None:
    assert found("!harbour") == found() - found("harbour")
    assert found("!price:>0.5") == found("price:<=0.5")


@pytest.mark.parametrize("typed", ["price:>0.6", "price>0.6", "PRICE:>60%", "price:>.6"])
def test_a_column_is_compared(typed: str) -> None:
    assert found(typed) == {m.market_id for m in MARKETS if m.price > 0.6}


def test_suffixes_scale() -> None:
    assert found("volume:>2k") == found("volume:>2000")
    assert found("left:<1d") == found(until="< 1 d")


@pytest.mark.parametrize(
    "typed",
    [
        "price:>",
        "price:>abc",
        "nope:>1",
        ":>1",
        ">1",
        "price:>nan",
        "price:>1e9",
        "->",
        "left:<2y",
        "price:",
        "price:0.6",
    ],
)
def test_what_cannot_be_read_is_said_and_the_rest_holds(typed: str) -> None:
    search = read_search(f"harbour {typed}", COMPARED)
    assert any(words in search.problem for words in ("wants a number", "wants > or <", "no column"))
    assert found(f"harbour {typed}") == found("harbour")


@pytest.mark.parametrize("typed", ["[/red]", "[@click=quit]x", "(", "18:00", "a:b", "\\", "*"])
def test_marks_of_other_languages_are_plain_words(typed: str) -> None:
    assert found(typed) <= found()


@given(st.text(max_size=30))
def test_no_text_ends_in_an_error(typed: str) -> None:
    wanted = MarketFilter(typed=typed, status="all")
    assert set(chosen(MARKETS[:3], wanted, AROUND)) <= set(MARKETS[:3])


def on(*kinds: tuple[Venue, ...]) -> set[str]:
    return {market.market_id for market in MARKETS if market.venues in kinds}


@pytest.mark.parametrize("typed", ["venue:evm", "VENUE:EVM_VENUE", "!venue:so !venue:zz venue:e"])
def test_a_venue_is_asked_for_by_how_its_name_begins(typed: str) -> None:
    assert found(typed) == on(KINDS[0])


def test_where_it_trades_is_not_known_of_every_market() -> None:
    assert found("venue:s") == found("venue:sim") == on(*KINDS[:3])
    assert found("!venue:evm") == on(KINDS[1], KINDS[2])
    assert found("!venue:sim") == set()


@pytest.mark.parametrize("typed", ["venue:", "venue:zz", "!venue:zz"])
def test_a_venue_that_there_is_not_is_said_and_the_rest_holds(typed: str) -> None:
    search = read_search(f"harbour {typed}", COMPARED, NAMED)
    assert search.problem == "venue: is one of sim, evm_venue, sol_venue"
    assert found(f"harbour {typed}") == found("harbour")


def test_a_word_never_meets_the_name_of_a_venue() -> None:
    assert found("evm") == found("evm_venue") == set()
    assert found("venue") == set()


def test_switches_narrow() -> None:
    assert found(venue="evm_venue") == on(KINDS[0])
    assert found(venue="sol_venue") == on(KINDS[1])
    assert found(venue=SIM_ALONE) == on(KINDS[2])
    assert found(held=True) == AROUND.held
    assert found(starred=True) == AROUND.stars
    assert found(status="closed") == {
        m.market_id for m in MARKETS if m.status is MarketStatus.CLOSED
    }
    assert found(category="crypto") == {m.market_id for m in MARKETS if m.category == "crypto"}


def test_a_filter_is_kept_as_text() -> None:
    wanted = MarketFilter(
        typed='say "hi"', category="crypto", until="< 1 d", held=True, venue=SIM_ALONE
    )
    assert filter_from(wanted.to_text()) == wanted


@pytest.mark.parametrize(
    "kept", ["", "{", "&", "=", "status=x", "until=3", "held=1", "\x00", "venue=x"]
)
def test_a_filter_that_cannot_be_read_is_a_fresh_one(kept: str) -> None:
    assert filter_from(kept) == MarketFilter()


def test_venues_are_offered_that_leave_a_market() -> None:
    assert venues_of(MARKETS) == ("", "evm_venue", "sol_venue", SIM_ALONE)
    assert venues_of(market for market in MARKETS if market.venues == KINDS[1]) == ("", "sol_venue")
    assert venues_of(STATE.markets.values()) == ("",)
