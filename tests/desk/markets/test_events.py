"""Events as the desk knows them: outcomes of one question together, and related markets."""

from dataclasses import replace

from kit.samples.guarded import guarded_state
from service_tui.desk.audit.listings import LISTINGS, event_rows
from service_tui.desk.markets.events import RELATED_MAX, event_of, events_of, related_to
from service_tui.terms import MarketStatus
from service_tui.units import Probability

STATE = guarded_state()
A, B, C, *OTHERS = (one for one in STATE.markets.values() if one.is_open)
WON = [
    replace(one, event_id="e-1", event_name="Who wins", price=Probability(price))
    for one, price in ((A, 0.2), (B, 0.5), (C, 0.4))
]
MARKETS = {**STATE.markets, **{one.market_id: one for one in WON}}


def test_outcomes_of_one_question_stand_together_the_most_likely_first() -> None:
    (event,) = events_of(MARKETS.values())
    assert (event.event_id, event.name) == ("e-1", "Who wins")
    assert [one.price for one in event.outcomes] == [0.5, 0.4, 0.2]
    assert abs(event.sums().sum_yes - 1.1) < 1e-12
    assert event_of(WON[0], MARKETS.values()) == event


def test_an_event_with_one_open_outcome_is_listed_by_nobody_but_its_market() -> None:
    left = [WON[0], *(replace(one, status=MarketStatus.RESOLVED) for one in WON[1:])]
    assert events_of(left) == ()
    event = event_of(WON[0], left)
    assert event is not None
    assert event.outcomes == (WON[0],)
    assert event_of(OTHERS[0], MARKETS.values()) is None


def test_related_markets_share_the_topic_and_are_no_outcome_of_it() -> None:
    topic = [replace(one, tags=("any", "rain")) for one in (*WON, *OTHERS)]
    related = related_to(topic[0], topic)
    assert len(related) == min(RELATED_MAX, len(OTHERS))
    assert not {one.market_id for one in related} & {one.market_id for one in WON}
    ends = [one.resolves_at or float("inf") for one in related]
    assert ends == sorted(ends)
    assert related_to(replace(topic[0], tags=("any",)), topic) == ()
    # The tag behind the topic is how long it lasts: that alone relates no two questions.
    others = [replace(one, tags=("any", one.market_id, "days")) for one in OTHERS]
    assert related_to(replace(topic[0], tags=("any", "rain", "days")), others) == ()


def test_a_script_gets_an_event_as_a_row_with_every_key_of_the_table() -> None:
    (row,) = event_rows(replace(STATE, markets=MARKETS))
    assert row["outcomes"] == 3
    assert row["sum_yes"] == 1.1
    assert (row["yes_set_pays"], row["no_set_pays"]) == (100.0, 200.0)
    assert set(LISTINGS["events"].columns) <= set(row)
    assert event_rows(STATE) == []
