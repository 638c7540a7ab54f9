"""What a webhook is told of a trade, an outcome and a price."""

from typing import Any

import pytest

from kit.engine.bare import AT, HOUR, bare_world, listed
from service_tui.engine.events import (
    Fill,
    MarketListed,
    MarketResolved,
    Note,
    OrderFilled,
    OrderPlaced,
    Payout,
)
from service_tui.outcome import NO
from service_tui.server.webhooks.reports import movement, price_of, reports_of, text_of
from service_tui.terms import Action, OrderType, Side, Venue
from service_tui.units import ONE, Micros, Timestamp


def test_a_trade_is_told_to_its_agent() -> None:
    world = bare_world("ada", "bea")
    listed(world)
    fill = Fill(
        "t5", "bea", "m1", Side.NO, Action.SELL, Micros(4 * ONE), Micros(ONE), 0.3, 0.2, AT,
        Timestamp(AT + 1), Micros(0), Note(),
    )  # fmt: skip
    (report,) = reports_of(world, 17, fill)
    assert (report.agent_id, report.key, report.seq, report.at) == ("bea", "trade-17", 17, AT)
    assert report.data == {
        "trade_id": "t5",
        "market_id": "m1",
        "question": "Does m1 end well?",
        "side": "no",
        "action": "sell",
        "shares": 4.0,
        "price": 0.25,
        "cost_usdc": 1.0,
        "fill_status": "filled",
        "venue": "sim",
        "currency": "$SIM",
    }


@pytest.mark.parametrize(
    ("money", "shares", "price"), [(1, 3, 0.333333), (11, 10, 1.0), (10, 10, 1.0)]
)
def test_a_price_is_money_a_share_and_at_most_one(money: int, shares: int, price: float) -> None:
    assert price_of(Micros(money), Micros(shares)) == price


def paid(agent_id: str, shares: int) -> Payout:
    return Payout(agent_id, Side.YES, Micros(shares), Micros(1), Micros(1), Micros(0), AT)


def test_an_outcome_is_told_once_to_each_who_held_shares() -> None:
    world = bare_world("ada", "bea", "cyd", "dan")
    listed(world)
    event = MarketResolved(
        "m1", AT, Timestamp(AT + 9), NO, (paid("ada", 1), paid("bea", 0), paid("ada", 2)),
        Micros(0), ((Venue.EVM, paid("cyd", 3)), (Venue.EVM, paid("dan", 0))),
    )  # fmt: skip
    found = reports_of(world, 4, event)
    assert [one.agent_id for one in found] == ["ada", "cyd"]
    assert {one.key for one in found} == {"resolved-m1"}
    assert found[0].data == {
        "market_id": "m1",
        "question": "Does m1 end well?",
        "outcome": False,
        "payout_per_yes": 0.0,
        "voided": False,
        "resolved_at": text_of(AT),
    }


def test_a_window_that_opens_is_told_to_everybody() -> None:
    world = bare_world()
    market = listed(world, opens_at=AT, resolves_at=AT + HOUR, start_price=0.123_456_78)
    (report,) = reports_of(world, 4, MarketListed(AT, AT, market.listing))
    assert (report.agent_id, report.key, report.seq) == (None, "opened-m1", 0)
    assert report.data == {
        "market_id": "m1",
        "question": "Does m1 end well?",
        "opens_at": text_of(AT),
        "resolves_at": text_of(Timestamp(AT + HOUR)),
        "yes_price": 0.123457,
        "window": "1h",
        "tags": ["politics", "strike"],
    }


def test_a_market_that_lasts_longer_than_a_day_is_no_window() -> None:
    world = bare_world()
    market = listed(world, resolves_at=AT + 9 * 86_400)
    assert reports_of(world, 4, MarketListed(AT, AT, market.listing)) == []


def test_a_movement_is_told_from_the_first_price_to_the_second() -> None:
    world = bare_world()
    listed(world)
    assert movement(world, "m1", Side.NO, (0.4, 0.5)) == {
        "market_id": "m1",
        "question": "Does m1 end well?",
        "side": "no",
        "previous_price": 0.4,
        "current_price": 0.5,
        "change_pct": 25.0,
    }
    assert movement(world, "m1", Side.NO, (0.4, 0.3))["change_pct"] == -25.0


def placed(**fields: Any) -> OrderPlaced:
    known: dict[str, Any] = {
        "order_id": "o3", "agent_id": "ada", "venue": Venue.EVM, "market_id": "m1",
        "side": Side.YES, "action": Action.BUY, "order_type": OrderType.GTC, "size": Micros(1),
        "price": Micros(1), "requested": Micros(1), "shares": Micros(4 * ONE),
        "money": Micros(2 * ONE), "fee": Micros(0), "rests": Micros(0), "reserved": Micros(0),
        "price_before": 0.4, "price_after": 0.5, "at": AT, "world_at": AT, "realized": Micros(0),
        "expires_at": AT, "number": 1, "taken": (), "note": Note(),
    }  # fmt: skip
    return OrderPlaced(**(known | fields))


@pytest.mark.parametrize(("rests", "status"), [(0, "filled"), (1, "partially_filled")])
def test_an_order_is_told_as_far_as_it_was_filled(rests: int, status: str) -> None:
    world = bare_world()
    listed(world)
    (report,) = reports_of(world, 8, placed(rests=Micros(rests)))
    told = {name: report.data[name] for name in ("trade_id", "fill_status", "venue", "currency")}
    assert told == {
        "trade_id": "o3",
        "fill_status": status,
        "venue": "evm_venue",
        "currency": "USDC",
    }
    assert (report.data["price"], report.data["shares"]) == (0.5, 4.0)
    assert reports_of(world, 8, placed(shares=Micros(0))) == []


def test_a_part_that_was_met_is_told_where_its_venue_is_known() -> None:
    world = bare_world()
    listed(world)
    part = OrderFilled(
        "o3", "ada", "m1", Micros(4 * ONE), Micros(ONE), Micros(0), AT, AT, 1, (), Side.NO,
        Action.SELL, "", Venue.SOL,
    )  # fmt: skip
    (report,) = reports_of(world, 9, part)
    assert (report.data["trade_id"], report.data["venue"]) == ("o3", "sol_venue")
    assert (report.data["side"], report.data["action"]) == ("no", "sell")
    assert report.data["fill_status"] == "filled"
    assert reports_of(world, 9, part._replace(venue=None)) == []


def test_a_moment_is_told_in_the_time_of_greenwich() -> None:
    assert text_of(AT) == "2027-01-15T08:00:00Z"
