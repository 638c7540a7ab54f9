"""Filters and lists of markets that a person keeps under a name."""

import json

import pytest

from service_tui.console.fields import FieldError
from service_tui.console.saved import (
    LABEL_MAX,
    MARKETS_MAX,
    NAMED_MAX,
    WATCHLISTS,
    NamedFilter,
    Watchlist,
    filters_of,
    keep_filters,
    keep_watchlists,
    named,
    read_name,
    watchlists_of,
    with_named,
)

RAIN = Watchlist("Rain", ("m-1", "m-2"))
SOON = NamedFilter("soon", 1, "left:<2h", {"held": "True"})


def test_what_is_kept_is_read_again() -> None:
    kept = keep_watchlists((RAIN, Watchlist("Empty")))
    assert watchlists_of({kept.name: kept.value}) == (RAIN, Watchlist("Empty"))
    saved = keep_filters("markets", (SOON,))
    assert filters_of({saved.name: saved.value}, "markets") == (SOON,)
    assert filters_of({saved.name: saved.value}, "monitors") == ()


@pytest.mark.parametrize(
    "text", ["", "{", "[]", "null", '[{"name": 1}]', '{"name": "x"}', '[{"name": " "}]']
)
def test_what_cannot_be_read_is_as_if_nothing_was_kept(text: str) -> None:
    assert watchlists_of({WATCHLISTS: text}) == ()


def test_a_name_is_there_once_whatever_its_capitals() -> None:
    text = json.dumps([{"name": "rain"}, {"name": "RAIN", "markets": ["m-9"]}])
    assert watchlists_of({WATCHLISTS: text}) == (Watchlist("RAIN", ("m-9",)),)
    assert with_named((RAIN,), Watchlist("rain")) == (Watchlist("rain"),)
    assert named((RAIN,), "rAIN") is RAIN


def test_controls_of_a_foreign_file_reach_no_screen() -> None:
    text = json.dumps([{"name": "a\x1b[2Jb"}])
    (kept,) = watchlists_of({WATCHLISTS: text})
    assert "\x1b" not in kept.name


def test_markets_come_in_once_and_go_again_within_the_bound() -> None:
    more = RAIN.with_markets(("m-2", "m-3"))
    assert more.markets == ("m-1", "m-2", "m-3")
    assert more.without_markets({"m-1", "m-3"}).markets == ("m-2",)
    assert len(RAIN.with_markets(map(str, range(MARKETS_MAX * 2))).markets) == MARKETS_MAX


@pytest.mark.parametrize(("typed", "name"), [("  Rain   now ", "Rain now"), ("x" * 99, "x" * 24)])
def test_a_name_is_one_short_line(typed: str, name: str) -> None:
    assert read_name(typed, ()) == name
    assert len(name) <= LABEL_MAX


def test_an_empty_name_and_one_too_many_are_refused() -> None:
    with pytest.raises(FieldError, match="name"):
        read_name("  ", ())
    full = tuple(Watchlist(f"list {number}") for number in range(NAMED_MAX))
    with pytest.raises(FieldError, match="remove one"):
        read_name("another", full)
    assert read_name("LIST 3", full) == "LIST 3"
