import pytest
from hypothesis import given
from hypothesis import strategies as st

from samples import NOW, sample_state
from service_tui.console.screens.market_filter import (
    COMPARED,
    Around,
    MarketFilter,
    chosen,
    filter_from,
)
from service_tui.console.search import read_search
from service_tui.terms import MarketStatus

STATE = sample_state(200)
MARKETS = tuple(STATE.markets.values())
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


def test_switches_narrow() -> None:
    assert found(held=True) == AROUND.held
    assert found(starred=True) == AROUND.stars
    assert found(status="closed") == {
        m.market_id for m in MARKETS if m.status is MarketStatus.CLOSED
    }
    assert found(category="crypto") == {m.market_id for m in MARKETS if m.category == "crypto"}


def test_a_filter_is_kept_as_text() -> None:
    wanted = MarketFilter(typed='say "hi"', category="crypto", until="< 1 d", held=True)
    assert filter_from(wanted.to_text()) == wanted


@pytest.mark.parametrize("kept", ["", "{", "&", "=", "status=x", "until=3", "held=1", "\x00"])
def test_a_filter_that_cannot_be_read_is_a_fresh_one(kept: str) -> None:
    assert filter_from(kept) == MarketFilter()
