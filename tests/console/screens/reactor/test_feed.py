"""The filters of the reactor's feed."""

import pytest

from kit.samples.desk import NOW
from kit.samples.reactor import WALLETS, reactor_state
from service_tui.console.screens.reactor.feed import STATES, FeedFilter, filter_text
from service_tui.console.view_context import ViewContext

STATE = reactor_state()
WAITING = next(place for place, (name, _) in enumerate(STATES) if name == "waiting")


@pytest.mark.parametrize(
    ("choices", "expected"),
    [
        ({}, FeedFilter()),
        ({"state": "unknown", "wallet": "w"}, FeedFilter(0, "w")),
        ({"state": "waiting"}, FeedFilter(WAITING)),
    ],
)
def test_an_unknown_state_of_a_former_start_is_every_one(
    choices: dict[str, str], expected: FeedFilter
) -> None:
    assert FeedFilter.from_choices(choices) == expected
    assert bool(expected) is (expected != FeedFilter())


def test_only_signals_are_hidden_by_the_filter_of_the_feed() -> None:
    wallet = STATE.reactor.wallet(WALLETS[3])
    assert FeedFilter(WAITING, WALLETS[0]).wants(wallet)


@pytest.mark.parametrize(
    ("feed_filter", "newer", "parts"),
    [
        (FeedFilter(), None, ["filters:"]),
        (FeedFilter(WAITING), None, ["only waiting"]),
        (FeedFilter(wallet=WALLETS[0]), None, ["only Quiet Abacus"]),
        (FeedFilter(WAITING, WALLETS[0]), 0, ["frozen;", "only waiting", "only Quiet Abacus"]),
        (FeedFilter(), 3, ["frozen, 3 newer;"]),
    ],
)
def test_the_filters_in_force_are_named(
    feed_filter: FeedFilter, newer: int | None, parts: list[str]
) -> None:
    text = filter_text(feed_filter, ViewContext.of(STATE, NOW), newer).plain
    places = [text.index(part) for part in parts]
    assert places == sorted(places)
    assert places[0] == 0
    assert ("only" in text) is bool(feed_filter)
    assert ("frozen" in text) is (newer is not None)
