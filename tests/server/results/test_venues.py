"""The history on a real venue: a row an order with its fate, and what was redeemed or lost."""

import asyncio
from datetime import UTC, datetime
from typing import Any, cast

import pytest

from kit.engine.bare import AT, HOUR, bare_world, listed
from service_tui.engine.books.book import Resting
from service_tui.engine.books.venues import VenueAccount, VenuePosition
from service_tui.engine.events import Note, OrderEnded, OrderPlaced, Payout, PositionRedeemed
from service_tui.engine.position import Position
from service_tui.engine.world import World
from service_tui.outcome import NO as ENDED_NO
from service_tui.outcome import YES as ENDED_YES
from service_tui.server.past.history import Past, SettledSide
from service_tui.server.results.reported import Reported, ReportedPnl
from service_tui.server.results.venues import question_of, rows_of, venue_past
from service_tui.server.world_store import WorldStore
from service_tui.storage.ended_markets import EndedHead
from service_tui.storage.journal import History
from service_tui.terms import Action, OrderEnd, OrderType, Side, TradeStatus, Venue
from service_tui.units import ONE, Micros, Timestamp
from service_tui.wire.trades import TradeRow

MARKET = "10000000-0000-4000-8000-000000000001"
GONE = "10000000-0000-4000-8000-000000000009"
YES, NO, BUY, SELL = Side.YES, Side.NO, Action.BUY, Action.SELL


def at(seconds: float) -> datetime:
    return datetime.fromtimestamp(AT + seconds, UTC)


class Store:
    """A store of a world whose journal is as told; it keeps what was asked."""

    def __init__(self, world: World, *ends: OrderEnded, past: tuple[Past, ...] = ()) -> None:
        self.world = world
        self.past = self
        self._ends = {one.order_id: one for one in ends}
        self._past = past
        self.asked: list[tuple[Any, ...]] = []

    async def ends(self, *asked: Any) -> dict[str, OrderEnded]:
        self.asked.append(asked)
        return self._ends

    async def heads(self, markets: set[str]) -> dict[str, EndedHead]:
        head = EndedHead(GONE, "Did it end?", "evm_venue", ENDED_YES.stored, AT, AT)
        return {GONE: head} if GONE in markets else {}

    async def history(
        self, criteria: History, *, limit: int, offset: int
    ) -> tuple[tuple[Past, ...], int]:
        self.asked.append((criteria, limit, offset))
        return self._past[offset : offset + limit], len(self._past)


def rows(store: Store, *past: Past) -> tuple[TradeRow, ...]:
    agent = store.world.agents["ada"]
    return asyncio.run(rows_of(cast("WorldStore", store), agent, past))


def placed(**fields: Any) -> OrderPlaced:
    known: dict[str, Any] = {
        "order_id": "o1", "agent_id": "ada", "venue": Venue.EVM, "market_id": MARKET,
        "side": NO, "action": SELL, "order_type": OrderType.GTC, "size": Micros(1),
        "price": Micros(400_000), "requested": Micros(9), "shares": Micros(20 * ONE),
        "money": Micros(8 * ONE), "fee": Micros(120_000), "rests": Micros(0),
        "reserved": Micros(0), "price_before": 0.38, "price_after": 0.42,
        "at": Timestamp(AT - 5), "world_at": AT, "realized": Micros(-3 * ONE),
        "expires_at": Timestamp(0.0), "number": 1, "taken": (),
        "note": Note("cheap", "sdk:p", "dips", {"edge": 0.1}),
    }  # fmt: skip
    return OrderPlaced(**(known | fields))


def ended(reason: OrderEnd, shares: int = 7 * ONE) -> OrderEnded:
    money = Micros(shares // 2)
    return OrderEnded(
        "o1", "ada", MARKET, reason, AT, AT, Micros(shares), money, Micros(-ONE), Micros(5)
    )


def world_of_one() -> World:
    world = bare_world("ada", "bea")
    listed(world, MARKET, home=Venue.EVM)
    return world


def test_an_order_is_told_with_all_that_it_got() -> None:
    (row,) = rows(Store(world_of_one()), placed())
    assert row.model_dump() == {
        "id": "o1",
        "trade_id": "o1",
        "market_id": MARKET,
        "market_question": f"Does {MARKET} end well?",
        "side": NO,
        "action": "sell",
        "shares": 20.0,
        "cost": 8.0,
        "price_before": 0.38,
        "price_after": 0.42,
        "avg_price": 0.4,
        "venue": Venue.EVM,
        "status": TradeStatus.FILLED,
        "source": "sdk:p",
        "skill_slug": "dips",
        "reasoning": "cheap",
        "signal_data": {"edge": 0.1},
        "created_at": at(-5),
        "pnl": -3.0,
        "outcome": None,
        "resolved": False,
        "market_source": Venue.EVM,
        "fee": 0.12,
        "simulated": True,
        "payout_per_yes": None,
        "voided": False,
    }


def test_a_buy_has_no_result_yet_and_a_bare_note_is_none() -> None:
    (row,) = rows(Store(world_of_one()), placed(action=BUY, note=Note()))
    assert (row.pnl, row.source, row.skill_slug, row.reasoning) == (None, None, None, None)


@pytest.mark.parametrize(
    ("reason", "shares", "status"),
    [
        (OrderEnd.FILLED, 7 * ONE, TradeStatus.FILLED),
        (OrderEnd.CANCELLED, 7 * ONE, TradeStatus.PARTIALLY_FILLED),
        (OrderEnd.CANCELLED, 0, TradeStatus.CANCELLED),
        (OrderEnd.EXPIRED, 0, TradeStatus.CANCELLED),
    ],
)
def test_an_order_that_rested_is_told_by_its_end(
    *, reason: OrderEnd, shares: int, status: TradeStatus
) -> None:
    store = Store(world_of_one(), ended(reason, shares))
    later = placed(order_id="o2", rests=Micros(1), at=Timestamp(AT - 1))
    row, other = rows(store, placed(rests=Micros(9)), later)
    assert (row.status, row.shares, row.cost) == (status, shares / ONE, shares // 2 / ONE)
    assert row.pnl == (-1.0 if shares else None)
    assert (row.avg_price, other.status) == (0.5 if shares else None, TradeStatus.FILLED)
    assert store.asked == [("ada", {"o1", "o2"}, AT - 5)]


@pytest.mark.parametrize(
    ("shares", "status"), [(0, TradeStatus.SUBMITTED), (5, TradeStatus.PARTIALLY_FILLED)]
)
def test_an_order_that_still_rests_is_told_as_far_as_it_is(
    *, shares: int, status: TradeStatus
) -> None:
    world = world_of_one()
    world.venues.book(MARKET).orders["o1"] = Resting(
        "o1", "ada", Venue.EVM, MARKET, NO, SELL, OrderType.GTC, Micros(400_000), Micros(9),
        Micros(9), Micros(0), AT, AT, shares=Micros(shares * ONE), money=Micros(2 * ONE),
        realized=Micros(ONE),
    )  # fmt: skip
    store = Store(world)
    (row,) = rows(store, placed(rests=Micros(9), shares=Micros(0), money=Micros(0)))
    assert (row.status, row.shares, row.cost) == (status, float(shares), 2.0)
    assert row.pnl == (1.0 if shares else None)
    assert store.asked == []


def redeemed(payout: int, market_id: str = MARKET) -> PositionRedeemed:
    return PositionRedeemed(
        "ada", Venue.EVM, market_id, NO, Micros(9 * ONE), Micros(4 * ONE), Micros(payout),
        Timestamp(AT - 3), AT,
    )  # fmt: skip


@pytest.mark.parametrize(("payout", "pnl"), [(9 * ONE, 5.0), (0, 0.0)])
def test_a_redemption_is_told_with_its_payout(payout: int, pnl: float) -> None:
    (row,) = rows(Store(world_of_one()), redeemed(payout))
    assert row.model_dump(exclude_defaults=True) == {
        "id": f"{MARKET}-no-redeemed",
        "trade_id": f"{MARKET}-no-redeemed",
        "market_id": MARKET,
        "market_question": f"Does {MARKET} end well?",
        "side": NO,
        "action": "redeem",
        "shares": 9.0,
        "avg_price": 1.0,
        "venue": Venue.EVM,
        "created_at": at(-3),
        "pnl": pnl,
        "resolved": True,
        "market_source": Venue.EVM,
        "simulated": True,
    } | ({"cost": payout / ONE} if payout else {})


def lost(market_id: str = MARKET) -> SettledSide:
    payout = Payout(NO.value, NO, Micros(9 * ONE), Micros(4 * ONE), Micros(0), Micros(7), AT)
    return SettledSide(market_id, Timestamp(AT - 2), ENDED_YES, Venue.SOL, payout)


def test_a_lost_side_is_told_with_its_cost() -> None:
    (row,) = rows(Store(world_of_one()), lost())
    assert row.model_dump(exclude_defaults=True) == {
        "id": f"{MARKET}-no-sol_venue-lost",
        "trade_id": f"{MARKET}-no-sol_venue-lost",
        "market_id": MARKET,
        "market_question": f"Does {MARKET} end well?",
        "side": NO,
        "action": "redeem",
        "shares": 9.0,
        "avg_price": 0.0,
        "venue": Venue.SOL,
        "created_at": at(-2),
        "pnl": -4.0,
        "outcome": True,
        "payout_per_yes": 1.0,
        "resolved": True,
        "market_source": Venue.SOL,
        "simulated": True,
    }


def test_a_market_that_memory_has_forgotten_is_told_by_its_head() -> None:
    found = rows(Store(world_of_one()), placed(market_id=GONE), redeemed(1, GONE), lost(GONE))
    assert [one.market_question for one in found] == ["Did it end?"] * 3
    assert [one.outcome for one in found] == [True] * 3
    assert [one.resolved for one in found] == [True] * 3


def test_a_question_and_an_outcome_may_be_known_by_a_position_alone() -> None:
    world = world_of_one()
    position = VenuePosition(
        Position("bea", "m7"), "Is it m7?", "politics", Timestamp(AT + HOUR), outcome=ENDED_NO
    )
    world.venues.accounts["bea", Venue.EVM] = VenueAccount(
        "bea", Venue.EVM, holdings={"m7": position}
    )
    assert question_of(world, "m7") == "Is it m7?"
    assert question_of(world, MARKET) == f"Does {MARKET} end well?"
    assert question_of(world, "m8") == ""
    seventh, eighth = rows(Store(world), placed(market_id="m7"), placed(market_id="m8"))
    assert (seventh.outcome, eighth.outcome) == (False, None)
    world.markets[MARKET].outcome = ENDED_YES
    assert rows(Store(world), placed())[0].outcome is True
    assert rows(Store(world), redeemed(1))[0].outcome is True


def test_the_past_of_a_venue_is_its_own_rows_of_all_pages() -> None:
    many = [placed(order_id=f"o{number}") for number in range(700)]
    other = placed(venue=Venue.SOL)
    past = (*many[:300], other, *many[300:], redeemed(1), lost())
    store = Store(world_of_one(), past=past)
    criteria = History("ada", ("order",))
    found = asyncio.run(venue_past(cast("WorldStore", store), criteria, Venue.EVM))
    assert found == [*many, redeemed(1)]
    assert store.asked == [(criteria, 500, 0), (criteria, 500, 500)]


def test_a_figure_of_a_venue_is_kept_for_a_quarter_of_an_hour() -> None:
    world, reported = world_of_one(), ReportedPnl()
    account = VenueAccount("ada", Venue.EVM, realized=Micros(5))
    world.venues.accounts["ada", Venue.EVM] = account
    assert reported.of(world, "ada", Venue.EVM, AT) == Reported(AT, Micros(5), Micros(0))
    account.realized = Micros(7)
    assert reported.of(world, "ada", Venue.EVM, AT).total == 5
    later = Timestamp(AT + 899.9)
    assert reported.of(world, "ada", Venue.EVM, later).total == 5
    assert reported.of(world, "bea", Venue.EVM, later).total == 0
    assert reported.of(world, "ada", Venue.SOL, later).total == 0
    assert reported.of(world, "ada", Venue.EVM, Timestamp(AT + 900)).total == 7
    account.realized = Micros(9)
    # A clock that was set back keeps no figure of the future.
    assert reported.of(world, "ada", Venue.EVM, Timestamp(AT + 899)).total == 9


def test_a_redemption_asks_for_the_figure_anew() -> None:
    world, reported = world_of_one(), ReportedPnl()
    position = VenuePosition(Position("ada", MARKET), "Q?", "politics", Timestamp(AT + HOUR))
    account = VenueAccount("ada", Venue.EVM, realized=Micros(5), holdings={MARKET: position})
    world.venues.accounts["ada", Venue.EVM] = account
    reported.of(world, "ada", Venue.EVM, AT)
    account.realized, position.paid = Micros(8), Micros(3)
    found = reported.of(world, "ada", Venue.EVM, Timestamp(AT + 1))
    assert found == Reported(Timestamp(AT + 1), Micros(8), Micros(0), Micros(3))


def test_what_is_open_is_priced_by_both_clocks(monkeypatch: pytest.MonkeyPatch) -> None:
    world = world_of_one()
    world.world_at = Timestamp(AT + 50)
    asked: list[Any] = []
    monkeypatch.setattr(
        type(world.venues), "unrealized", lambda _, __, times: asked.append(times) or Micros(3)
    )
    ReportedPnl().of(world, "ada", Venue.EVM, Timestamp(AT + 7))
    assert asked == [(AT + 7, AT + 50)]


def test_rows_are_made_of_the_world_as_it_is_after_the_reading() -> None:
    after = world_of_one()
    after.markets[MARKET].outcome = ENDED_YES

    class Moving(Store):
        """A store whose world is read back meanwhile."""

        async def heads(self, markets: set[str]) -> dict[str, EndedHead]:
            self.world = after
            return await super().heads(markets)

    (row,) = rows(Moving(world_of_one()), placed())
    assert row.outcome is True
