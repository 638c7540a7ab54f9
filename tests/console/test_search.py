"""Searches of the `/` line."""

import re
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kit.console.doors import running
from kit.samples.desk import NOW, sample_state
from service_tui.console.parts.table_screen import TableScreen
from service_tui.console.screens.agents.table import AGENTS
from service_tui.console.screens.markets.filter import (
    COMPARED,
    NAMED,
    NAMES,
    SIM_ALONE,
    FilterContext,
    MarketFilter,
    filter_from,
    filtered,
    search_of,
    venues_of,
)
from service_tui.console.screens.markets.table import MARKETS as TABLE
from service_tui.console.screens.monitors.table import MONITORS
from service_tui.console.screens.portfolio.table import OPEN
from service_tui.console.search import FRACTIONS, POINTS, names_of, read_search
from service_tui.console.view_context import ViewContext
from service_tui.console.widgets.columns import Column
from service_tui.terms import MarketStatus, Venue

STATE = sample_state(200)
KINDS = ((Venue.SIM, Venue.EVM), (Venue.SIM, Venue.SOL), (Venue.SIM,), ())
MARKETS = tuple(
    replace(market, venues=KINDS[place % len(KINDS)])
    for place, market in enumerate(STATE.markets.values())
)
AROUND = FilterContext(
    now=NOW,
    held=frozenset(held.market_id for held in STATE.positions),
    stars=STATE.stars,
)


def found(typed: str = "", **switched: object) -> set[str]:
    wanted = MarketFilter(**{"typed": typed, "status": "all", **switched})
    return {market.market_id for market in filtered(MARKETS, wanted, AROUND)}


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


@pytest.mark.parametrize("typed", ["24h:>5", "24hpt:>5", "change:>5", "change:>5%", "change:>0.05"])
def test_a_change_is_compared_as_it_is_shown_or_as_a_fraction(typed: str) -> None:
    wanted = {m.market_id for m in MARKETS if m.change is not None and m.change > 0.05}
    assert found(typed) == wanted & found() != set()


@pytest.mark.parametrize("column", sorted(FRACTIONS))
def test_a_column_of_fractions_takes_points_and_fractions(column: str) -> None:
    typed = ("-20", "-20%", "-0.2", "1", "1%", "0.01")
    values = [read_search(f"{column}:>{one}", (column,)).comparisons[0].value for one in typed]
    assert values == pytest.approx([-0.2, -0.2, -0.2, 0.01, 0.01, 0.01])


@pytest.mark.parametrize("column", sorted(POINTS))
def test_a_column_of_points_takes_them_with_or_without_a_mark(column: str) -> None:
    typed = ("5", "5%", "0.5")
    values = [read_search(f"{column}:>{one}", (column,)).comparisons[0].value for one in typed]
    assert values == [5.0, 5.0, 0.5]


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
    assert any(words in search.problem for words in ("wants a number", "wants > or <", "No column"))
    assert found(f"harbour {typed}") == found("harbour")


@pytest.mark.parametrize("typed", ["[/red]", "[@click=quit]x", "(", "18:00", "a:b", "\\", "*"])
def test_marks_of_other_languages_are_plain_words(typed: str) -> None:
    assert found(typed) <= found()


@given(st.text(max_size=30))
def test_no_text_ends_in_an_error(typed: str) -> None:
    wanted = MarketFilter(typed=typed, status="all")
    assert set(filtered(MARKETS[:3], wanted, AROUND)) <= set(MARKETS[:3])


@pytest.mark.parametrize(
    ("shown", "known"),
    [
        ("YES:>0.9", "price:>0.9"),
        ("yes>0.9", "price:>0.9"),
        ("vol:>5k", "volume:>5k"),
        ("ends:<1h", "left:<1h"),
        ("24h:>0", "change:>0"),
        ("pri:>0.9", "price:>0.9"),
        ("on:evm", "venue:evm"),
        ("cat:weather", "category:weather"),
    ],
)
def test_a_column_is_named_as_its_title_or_by_how_it_begins(shown: str, known: str) -> None:
    assert search_of(shown).problem == ""
    assert found(shown) == found(known) != found()


def test_a_column_of_text_is_asked_for_a_part_of_it() -> None:
    wanted = {m.market_id for m in MARKETS if m.category == "weather"}
    assert found("cat:weath") == found("category:weather") == wanted
    assert found("!cat:weather") == found() - wanted


def test_every_title_of_the_table_may_be_typed() -> None:
    columns = TABLE.columns
    names = names_of((one.id, one.title) for one in columns)
    aside = {"sign", "spark"}
    assert {name: column for name, column in names.items() if column not in aside}.items() <= (
        NAMES.items()
    )


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        ("valume:>2", "No column valume. Did you mean volume?"),
        ("catgory:weather", "No column catgory. Did you mean category?"),
        (
            "zzzzz:>2",
            "No column zzzzz. Columns: price, change, …",
        ),
        ("category:>2", "category: wants a word, as category:abc"),
        ("category:", "category: wants a word behind it"),
    ],
)
def test_an_unknown_name_is_said_and_the_rest_holds(typed: str, said: str) -> None:
    search = search_of(f"harbour {typed}")
    assert search.problem.startswith(said)
    assert found(f"harbour {typed}") == found("harbour")


@pytest.mark.parametrize(
    "columns",
    [
        OPEN.columns,
        AGENTS.columns,
        MONITORS.columns,
    ],
)
def test_every_table_knows_its_columns_by_their_titles(columns: tuple[Column, ...]) -> None:
    names = names_of((one.id, one.title) for one in columns)
    for one in columns:
        first = next(iter(re.findall(r"[a-z0-9&%]+", one.title.casefold())), one.id)
        assert first in names
        assert read_search(f"{first}:x", (), names=names).problem == ""


def on(*kinds: tuple[Venue, ...]) -> set[str]:
    return {market.market_id for market in MARKETS if market.venues in kinds}


@pytest.mark.parametrize("typed", ["venue:evm", "VENUE:EVM_VENUE", "!venue:so !venue:zz venue:e"])
def test_a_venue_is_asked_for_by_how_its_name_begins(typed: str) -> None:
    assert found(typed) == on(KINDS[0])


def test_where_it_trades_is_not_known_of_every_market() -> None:
    assert found("venue:s") == found("venue:sim") == on(*KINDS[:3])
    assert found("!venue:evm") == on(KINDS[1], KINDS[2])
    assert found("!venue:sim") == set()
    assert found("harbour venue:evm") == found("harbour") & on(KINDS[0]) < found("harbour")


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


@pytest.mark.parametrize("column", ["left", "age"])
@pytest.mark.parametrize("unit", ["m", "k", "%"])
def test_a_time_takes_units_of_time_alone(column: str, unit: str) -> None:
    search = read_search(f"{column}:>3{unit}", (column,))
    assert search.problem == f"{column}:> takes min, h, d or w, as {column}:>3min"
    assert not search
    for taken in ("3min", "3h", "3d", "3w", "180"):
        assert read_search(f"{column}:>{taken}", (column,)).comparisons


def test_the_end_of_a_market_takes_units_of_time_by_each_of_its_names() -> None:
    for name in ("ends", "endsin", "left"):
        assert "as left:>3min" in search_of(f"{name}:>3m").problem
        assert search_of(f"{name}:>3min").comparisons == search_of("left:>180").comparisons


@pytest.mark.slow
@pytest.mark.parametrize("screen", ["portfolio", "markets", "monitors", "reactor", "agents"])
async def test_an_unknown_column_is_named_in_full_on_80_columns(screen: str) -> None:
    async with running(first=screen, size=(80, 24)) as seen:
        front = seen.app.front
        assert isinstance(front, TableScreen)
        for typed in ("foo:>1", "qqqqqqqqqqqqqqqqqqqq:>1"):
            front.line.put(typed)
            problem = front.parsed(typed).problem
            assert problem.startswith("No column")
            await seen.until(lambda problem=problem: problem in seen.text)
            assert typed[:6] in seen.text


def test_a_filter_knows_what_is_held_and_starred() -> None:
    state = replace(sample_state(), stars=frozenset({"s"}))
    context = FilterContext.of(ViewContext.of(state, NOW))
    assert state.positions[0].market_id in context.held
    assert context.stars == {"s"}


ALIKE = tuple(
    replace(MARKETS[place], question=question, url=url)
    for place, (question, url) in enumerate((
        ("Will \u0130lkay score?", "https://evm-venue.example/event/will-ilkay-3-5"),
        ("Trump\u2019s tariff \u2013 in May?", "https://sol-venue.example/event/TAX-4-7"),
        ("Will it rain?", ""),
    ))
)


@pytest.mark.parametrize(
    ("typed", "place"),
    [
        ("ilkay", 0), ("\u0130lkay", 0), ("question:ilkay", 0), ("trump's", 1),
        ("trump\u2019s", 1), ("tariff -", 1), ("tariff \u2013", 1),
        ("https://evm-venue.example/event/will-ilkay-3-5", 0),
        ("<www.sol-venue.example/event/tax-4-7>.", 1),
    ],
)  # fmt: skip
def test_a_search_finds_what_looks_alike_and_a_pasted_address(typed: str, place: int) -> None:
    rows = filtered(ALIKE, MarketFilter(typed=typed, status="all"), AROUND)
    assert rows == [ALIKE[place]]
    assert search_of(typed).problem == ""
