"""What holdings can come to, against figures taken by hand."""

from fractions import Fraction
from itertools import product

from hypothesis import given
from hypothesis import strategies as st

from service_tui.evaluation.exposure import (
    AgentHolding,
    Grouping,
    at_risk,
    exposures,
    oppositions,
    totals,
)
from service_tui.terms import MONEY_OF, Side, Venue
from service_tui.units import ONE, Micros, Probability, Timestamp

NOW = Timestamp(1_800_000_000.0)


def holding(
    market: str = "rain", side: Side = Side.YES, shares: float = 10, **more: object
) -> AgentHolding:
    known: dict[str, object] = {
        "agent_id": "a-1", "agent_name": "momentum", "market_id": market, "question": f"{market}?",
        "category": "weather", "event": "", "venue": Venue.SIM, "side": side,
        "shares": Micros(round(shares * ONE)), "cost": Micros(4 * ONE), "value": Micros(5 * ONE),
        "price": Probability(0.5), "resolves_at": Timestamp(NOW + 3_600), **more,
    }  # fmt: skip
    return AgentHolding(**known)  # type: ignore[arg-type]


def test_both_sides_of_a_market_pay_the_lesser_at_worst_and_the_greater_at_best() -> None:
    held = [holding(shares=10), holding(side=Side.NO, shares=4, agent_id="me", agent_name="you")]
    (one,) = totals(held)
    assert (one.worst, one.best) == (4 * ONE, 10 * ONE)
    assert (one.if_yes, one.if_no) == (10 * ONE, 4 * ONE)
    assert (one.cost, one.value, one.loss) == (8 * ONE, 10 * ONE, 6 * ONE)


def test_a_group_has_a_row_for_each_kind_of_money() -> None:
    held = [holding(), holding("snow", venue=Venue.EVM), holding("fog", venue=Venue.SOL)]
    rows = exposures(held, Grouping.CATEGORY)
    assert {row.money for row in rows} == set(MONEY_OF.values())
    assert {row.name for row in rows} == {"weather"}


def test_a_value_that_nobody_knows_makes_the_sum_unknown() -> None:
    (one,) = totals([holding(), holding("snow", value=None, price=None)])
    assert one.value is one.loss is one.after_rise is one.after_fall is None
    assert at_risk(one) == one.cost == 8 * ONE


def test_a_move_of_ten_points_stays_within_nought_and_one() -> None:
    held = [
        holding(shares=10, price=Probability(0.95)),
        holding("snow", Side.NO, shares=10, price=Probability(0.5)),
    ]
    (one,) = totals(held)
    assert one.after_rise == round(10 * 0.05 * ONE) - 10 * ONE // 10
    assert one.after_fall == 0


def test_whoever_holds_both_sides_is_named() -> None:
    held = [
        holding(side=Side.NO, shares=3),
        holding(shares=8, agent_id="me", agent_name="you"),
        holding(shares=1, venue=Venue.EVM),
        holding("snow", shares=2),
    ]
    (one,) = oppositions(held)
    assert (one.market_id, one.venue, one.paired) == ("rain", Venue.SIM, 3 * ONE)
    assert one.yes == (("you", 8 * ONE),)
    assert one.no == (("momentum", 3 * ONE),)


def test_an_event_is_one_row_of_all_its_outcomes() -> None:
    held = [holding("a", event="race"), holding("b", event="race"), holding("c")]
    assert {row.key: row.count for row in exposures(held, Grouping.EVENT)} == {"race": 2, "c": 1}


def test_of_an_event_at_most_one_outcome_pays_at_best() -> None:
    """A set of its outcomes pays once, however many of them are held."""
    held = [holding(name, shares=100, event="race") for name in "abcd"]
    (one,) = exposures(held, Grouping.EVENT)
    assert (one.worst, one.best) == (0, 100 * ONE)
    (other,) = totals([*held, holding("a", Side.NO, shares=30, event="race")])
    # One of the others: YES of it, and NO of the first.
    assert other.best == 130 * ONE


def in_race(market: str, **more: object) -> AgentHolding:
    """A holding; two of the markets are outcomes of one event."""
    return holding(market, event="race" if market in "ab" else "", **more)  # type: ignore[arg-type]


SHARES = st.integers(0, 50 * ONE).map(Micros)
HELD = st.builds(
    in_race,
    market=st.sampled_from("abcd"),
    side=st.sampled_from(Side),
    agent_id=st.sampled_from(["x", "y"]),
    venue=st.sampled_from(Venue),
    category=st.sampled_from(["weather", "sports"]),
    cost=SHARES,
    value=SHARES,
)


@given(st.lists(HELD, max_size=8), st.sampled_from(Grouping))
def test_worst_and_best_are_those_of_every_way_the_markets_can_end(
    held: list[AgentHolding], grouping: Grouping
) -> None:
    rows = exposures(held, grouping)
    for venue in Venue:
        own = [one for one in held if one.venue is venue]
        in_it = [row for row in rows if row.money == MONEY_OF[venue]]
        assert sum(row.cost for row in in_it) == sum(one.cost for one in own)
        assert sum(row.value or 0 for row in in_it) == sum(one.value or 0 for one in own)
        paid = {
            ends: sum(one.shares for one in own if ends["abcd".index(one.market_id)] is one.side)
            for ends in product(Side, repeat=4)
        }
        (whole,) = totals(own) or (None,)
        if whole is not None:
            assert whole.worst == min(paid.values())
            possible = (ends for ends in paid if ends[:2] != (Side.YES, Side.YES))
            assert whole.best == max(paid[ends] for ends in possible)
            assert Fraction(whole.if_yes + whole.if_no) == sum(one.shares for one in own)
