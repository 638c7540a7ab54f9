"""Which market, side and amount a line means, and what completes it."""

from dataclasses import replace
from typing import Any

import pytest

from kit.samples.desk import NOW
from kit.samples.guarded import guarded_state
from service_tui.console.command_line.trading import (
    CANDIDATES_MAX,
    OrderWords,
    complete_buy,
    complete_market,
    complete_sell,
    completing,
    exact,
    market_of,
    matching,
    read_words,
)
from service_tui.console.command_line.verb import CommandContext, CommandError
from service_tui.console.screens.markets.screen import MarketsScreen
from service_tui.desk.state import DeskState
from service_tui.terms import MarketStatus, Side

SAMPLE = guarded_state()
HELD = SAMPLE.positions[0]
QUESTIONS = {
    HELD.market_id: "Will it rain  in Oslo?",
    "m-b": "Will trains inland stop?",
    "m-c": "Rain in Bergen, at noon?",
    "m-d": "Snow in Oslo, yes or no",
}
ONE = SAMPLE.markets[HELD.market_id]
STATE = replace(
    SAMPLE,
    positions=(HELD,),
    markets={
        name: replace(ONE, market_id=name, question=question, status=MarketStatus.ACTIVE)
        for name, question in QUESTIONS.items()
    },
)


def closed(state: DeskState, *names: str) -> DeskState:
    over = {one: replace(state.markets[one], status=MarketStatus.RESOLVED) for one in names}
    return replace(state, markets={**state.markets, **over})


def context(state: DeskState = STATE) -> CommandContext:
    return CommandContext(MarketsScreen(state, NOW), lambda _: "", None)


def names(found: list[Any]) -> list[str]:
    return [one.market_id for one in found]


@pytest.mark.parametrize(
    ("typed", "words"),
    [
        ("", OrderWords("")),
        ("rain", OrderWords("rain")),
        ("rain in  Oslo yes 25", OrderWords("rain in Oslo", Side.YES, "25")),
        ("rain NO", OrderWords("rain", Side.NO)),
        ("rain 25", OrderWords("rain", None, "25")),
        ("no MAX", OrderWords("", Side.NO, "max")),
        ("50%", OrderWords("", None, "50%")),
        ("rain 12sh", OrderWords("rain", None, "12sh")),
        ("rain 12.5", OrderWords("rain", None, "12.5")),
        ("rain .5", OrderWords("rain", None, ".5")),
        ("rain 5.", OrderWords("rain 5.")),
        ("rain -5", OrderWords("rain -5")),
        ("rain 25 yes", OrderWords("rain 25", Side.YES)),
        ("rain all", OrderWords("rain", None, "all")),
        ("Snow in Oslo, yes or no", OrderWords("Snow in Oslo, yes or no")),
        ("snow in oslo, YES or no no 5", OrderWords("snow in oslo, YES or no", Side.NO, "5")),
        ("m-d", OrderWords("m-d")),
    ],
)
def test_a_line_is_a_market_a_side_and_an_amount(typed: str, words: OrderWords) -> None:
    assert read_words(STATE, typed) == words


@pytest.mark.parametrize(
    ("typed", "found"),
    [
        ("m-b", ["m-b"]),
        ("M-B", []),
        ("snow in oslo, yes or no", ["m-d"]),
        ("snow", []),
    ],
)
def test_an_id_or_a_whole_question_is_exact(typed: str, found: list[str]) -> None:
    assert names(exact(STATE, typed)) == found


def test_a_question_with_another_figure_is_another_question() -> None:
    squared = replace(ONE, market_id="m-e", question="Over 10\u00b2 in Oslo?")
    plain = replace(ONE, market_id="m-f", question="Over 102 in Oslo?")
    state = replace(STATE, markets={one.market_id: one for one in (squared, plain)})
    assert names(exact(state, "over 102 in oslo?")) == ["m-f"]
    assert names(exact(state, "over 10\u00b2 in oslo?")) == ["m-e"]


@pytest.mark.parametrize(
    ("typed", "found"),
    [
        ("rain in", [HELD.market_id, "m-c"]),
        ("RAIN  IN oslo", [HELD.market_id]),
        ("oslo rain", [HELD.market_id]),
        ("noon bergen", ["m-c"]),
        ("trains", ["m-b"]),
        ("ains", []),
        ("in.", []),
        ("zebra", []),
    ],
)
def test_a_market_is_found_by_its_phrase_else_by_its_words(typed: str, found: list[str]) -> None:
    assert names(matching(STATE, typed)) == found


def test_of_those_found_the_open_ones_are_meant() -> None:
    assert names(matching(closed(STATE, "m-c"), "rain in")) == [HELD.market_id]
    both = closed(STATE, "m-c", HELD.market_id)
    assert names(matching(both, "rain in")) == [HELD.market_id, "m-c"]
    assert names(completing(closed(STATE, "m-c"), "rain in")) == [HELD.market_id, "m-b"]


@pytest.mark.parametrize(
    ("typed", "found"),
    [
        ("ain in", [HELD.market_id, "m-b", "m-c"]),
        ("OSLO", [HELD.market_id, "m-d"]),
        ("oslo rain", [HELD.market_id]),
        ("", list(QUESTIONS)),
        ("zebra", []),
    ],
)
def test_a_completion_has_every_word_anywhere(typed: str, found: list[str]) -> None:
    assert names(completing(STATE, typed)) == found


def test_one_market_alone_is_meant() -> None:
    assert market_of(context(), "oslo rain").market_id == HELD.market_id
    assert market_of(context(), "m-b").market_id == "m-b"
    with pytest.raises(CommandError, match=r"^no market matches 'zebra'$"):
        market_of(context(), "zebra")
    several = r"^2 markets match 'rain in': add words, or press tab to choose$"
    with pytest.raises(CommandError, match=several):
        market_of(context(), "rain in")


def test_a_market_completes_to_its_question_in_single_blanks() -> None:
    assert list(complete_market(context(), "rain")) == [
        "Will it rain in Oslo?",
        "Will trains inland stop?",
        "Rain in Bergen, at noon?",
    ]


def test_completions_have_an_end() -> None:
    many = replace(
        STATE,
        markets={f"m-{n}": replace(ONE, market_id=f"m-{n}") for n in range(CANDIDATES_MAX + 5)},
    )
    assert len(list(complete_market(context(many), ""))) == CANDIDATES_MAX
    assert len(list(complete_buy(context(many), ""))) == CANDIDATES_MAX


@pytest.mark.parametrize(
    ("typed", "found"),
    [
        ("snow", ["Snow in Oslo, yes or no"]),
        ("m-b ", ["m-b yes", "m-b no"]),
        ("m-b Y", ["m-b yes"]),
        ("m-b n", ["m-b no"]),
        ("m-b x", []),
        ("rain in osl", ["Will it rain in Oslo?"]),
    ],
)
def test_a_buy_completes_to_any_market_and_then_its_side(typed: str, found: list[str]) -> None:
    assert list(complete_buy(context(), typed)) == found


def test_a_sale_completes_to_what_is_held() -> None:
    assert list(complete_sell(context(), "")) == ["Will it rain in Oslo?"]
    assert list(complete_sell(context(), "snow")) == []
    assert list(complete_sell(context(replace(STATE, positions=())), "")) == []
    assert list(complete_sell(context(), f"{HELD.market_id} ")) == [
        f"{HELD.market_id} yes",
        f"{HELD.market_id} no",
    ]


ALIKE = replace(
    STATE,
    markets={
        name: replace(ONE, market_id=name, question=question, url=url)
        for name, question, url in (
            ("m-1", "Will \u0130lkay score?", "https://evm-venue.example/event/will-ilkay-3-5"),
            (
                "m-2",
                "Trump\u2019s tariff in 2026\u201327?",
                "https://sol-venue.example/event/TAX-4-7",
            ),
            ("m-3", "Will it rain?", ""),
        )
    },
)


@pytest.mark.parametrize(
    ("typed", "found"),
    [
        ("ilkay", "m-1"),
        ("\u0130LKAY", "m-1"),
        ("trump's", "m-2"),
        ("trump\u2019s tariff", "m-2"),
        ("2026-27", "m-2"),
        ("will ilkay score?", "m-1"),
        ("https://evm-venue.example/event/will-ilkay-3-5", "m-1"),
        ("evm-venue.example/event/will-ilkay-3-5", "m-1"),
        ("<https://m.EVM-venue.example/event/Will-Ilkay-3-5>).", "m-1"),
        ("https://evm-venue.example/event/will-ilkay-3-5?tid=1%20", "m-1"),
        ("TAX-4-7", "m-2"),
        ("tax-4-7.", "m-2"),
        ("https://sol-venue.example/event/tax-4-7\u200b", "m-2"),
    ],
)
def test_a_market_is_meant_by_what_looks_like_it_and_by_its_address(typed: str, found: str) -> None:
    assert market_of(context(ALIKE), typed).market_id == found
    words = read_words(ALIKE, f"{typed} yes 25")
    assert (words.side, words.amount) == (Side.YES, "25")
    assert market_of(context(ALIKE), words.market).market_id == found
    assert names(completing(ALIKE, typed)) == [found]


@pytest.mark.parametrize(
    "typed",
    ["https://evm-venue.example/event/scorers-e3-5", "https://sol-venue.example/event/tax-4-8"],
)
def test_an_address_that_names_no_market_alone_is_refused_with_what_to_take(typed: str) -> None:
    with pytest.raises(CommandError, match="an event names several: take that of one outcome"):
        market_of(context(ALIKE), typed)
