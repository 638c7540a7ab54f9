"""Rows of the journal about a resolution, and trades of the history on sim."""

from datetime import UTC, datetime
from typing import Any

import pytest

from kit.engine.bare import AT, bare_world, listed
from service_tui.engine.codec import events as codec
from service_tui.engine.events import Fill, MarketResolved, Note, Payout
from service_tui.outcome import NO
from service_tui.server.past.history import (
    LOST,
    PAYOUT,
    SETTLED,
    SOLD_OUT,
    Paid,
    SettledSide,
    owned_rows,
    past_of,
    trade_row,
)
from service_tui.storage.ended_markets import EndedHead
from service_tui.terms import Action, Side, Venue
from service_tui.units import ONE, Micros, Timestamp

HEAD = EndedHead("m1", "Did it end?", "sim", True, AT, AT)  # noqa: FBT003


def payout(agent_id: str, shares: int, paid: int) -> Payout:
    return Payout(
        agent_id, Side.NO, Micros(shares * ONE), Micros(2 * ONE), Micros(paid * ONE), Micros(7),
        Timestamp(AT - 5), ("news",),
    )  # fmt: skip


def test_a_resolution_has_a_row_for_each_side_by_what_became_of_it() -> None:
    on_sim = (payout("ada", 3, 3), payout("bea", 3, 0), payout("cyd", 0, 0))
    on_venue = (
        (Venue.EVM, payout("ada", 3, 3)),
        (Venue.EVM, payout("bea", 3, 0)),
        (Venue.SOL, payout("cyd", 0, 0)),
    )
    event = MarketResolved("m1", AT, AT, NO, on_sim, Micros(0), on_venue)
    found = owned_rows(event)
    assert [(kind, venue, one.agent_id) for kind, venue, one, _ in found] == [
        (PAYOUT, Venue.SIM, "ada"),
        (PAYOUT, Venue.SIM, "bea"),
        (SOLD_OUT, Venue.SIM, "cyd"),
        (SETTLED, Venue.EVM, "ada"),
        (LOST, Venue.EVM, "bea"),
        (SOLD_OUT, Venue.SOL, "cyd"),
    ]
    for kind, venue, one, fields in found:
        again = past_of(kind, codec.dumps(fields))
        if kind == PAYOUT:
            assert again == Paid("m1", AT, NO, one)
        else:
            assert again == SettledSide("m1", AT, NO, venue, one)


def fill(**fields: Any) -> Fill:
    known: dict[str, Any] = {
        "trade_id": "t5", "agent_id": "ada", "market_id": "m1", "side": Side.NO,
        "action": Action.SELL, "shares": Micros(4 * ONE), "money": Micros(ONE),
        "price_before": 0.31, "price_after": 0.29, "at": AT, "world_at": Timestamp(AT + 1),
        "realized": Micros(-ONE), "note": Note("why", "sdk:p", "dips", {"edge": 0.1}),
    }  # fmt: skip
    return Fill(**(known | fields))


def test_a_fill_is_told_with_all_its_figures() -> None:
    world = bare_world()
    market = listed(world)
    told = trade_row(fill(), world)
    assert told.model_dump(exclude_defaults=True) == {
        "id": "t5",
        "trade_id": "t5",
        "market_id": "m1",
        "market_question": "Does m1 end well?",
        "side": Side.NO,
        "action": "sell",
        "shares": 4.0,
        "cost": 1.0,
        "price_before": 0.31,
        "price_after": 0.29,
        "avg_price": 0.25,
        "source": "sdk:p",
        "skill_slug": "dips",
        "reasoning": "why",
        "signal_data": {"edge": 0.1},
        "created_at": datetime.fromtimestamp(AT, UTC),
        "pnl": -1.0,
    }
    bought = trade_row(fill(action=Action.BUY, note=Note()), world)
    assert (bought.pnl, bought.source, bought.reasoning) == (None, None, None)
    market.resolved_at = AT
    assert trade_row(fill(), world).resolved
    # Of dust a share may cost a hair more than it can pay.
    dust = trade_row(fill(shares=Micros(2), money=Micros(3)), world)
    assert dust.avg_price == 1.0


def test_a_fill_of_a_market_that_is_forgotten_is_told_by_its_head() -> None:
    told = trade_row(fill(), bare_world(), {"m1": HEAD})
    assert (told.market_question, told.outcome, told.resolved) == ("Did it end?", True, True)
    bare = trade_row(fill(), bare_world())
    assert (bare.market_question, bare.outcome, bare.resolved) == ("", None, True)


@pytest.mark.parametrize(("paid", "price", "pnl"), [(3, 1.0, 1.0), (0, 0.0, -2.0)])
def test_a_payout_is_told_as_a_redemption(paid: int, price: float, pnl: float) -> None:
    world = bare_world()
    listed(world)
    told = trade_row(Paid("m1", AT, NO, payout("ada", 3, paid)), world)
    assert (told.id, told.trade_id, told.action) == (*["m1-no-payout"] * 2, "redeem")
    assert (told.shares, told.cost, told.pnl) == (3.0, float(paid), pnl)
    assert (told.price_before, told.price_after, told.avg_price) == (price, price, price)
    assert (told.side, told.outcome, told.resolved) == (Side.NO, False, True)
    assert told.market_question == "Does m1 end well?"
    headed = trade_row(Paid("m1", AT, NO, payout("ada", 3, 3)), world, {"m1": HEAD})
    assert headed.market_question == "Did it end?"
