"""What each source of trades came to: trades, positions and results, by agent and venue."""

import asyncio
from collections.abc import Sequence
from typing import Any, cast

import pytest

from kit.engine.bare import AT, HOUR, bare_world, listed
from service_tui.engine.books.venues import VenueAccount, VenuePosition
from service_tui.engine.codec import events as codec
from service_tui.engine.events import (
    Fill,
    Note,
    OrderEnded,
    OrderFilled,
    OrderPlaced,
    Payout,
    PositionRedeemed,
)
from service_tui.engine.position import Position, SidePosition
from service_tui.outcome import YES
from service_tui.server.past.history import Paid, SettledSide
from service_tui.server.results.by_source import (
    PastSums,
    SourceSums,
    _add_open,
    _add_past,
    by_source,
    redeemed_of,
)
from service_tui.server.world_store import WorldStore
from service_tui.storage.journal import JournalRow
from service_tui.terms import Action, OrderEnd, OrderType, Side, Venue
from service_tui.units import ONE, Micros, Timestamp

SIM, EVM, SOL = Venue.SIM, Venue.EVM, Venue.SOL
BUY, SELL = Action.BUY, Action.SELL
MARKET = "10000000-0000-4000-8000-000000000001"


def fill(action: Action, source: str) -> Fill:
    return Fill(
        "t1", "ada", "m1", Side.YES, action, Micros(1), Micros(1), 0.4, 0.5, AT, AT, Micros(0),
        Note(source=source),
    )  # fmt: skip


def placed(order_id: str = "o1", shares: int = 0, rests: int = 9, **fields: Any) -> OrderPlaced:
    known: dict[str, Any] = {
        "agent_id": "ada", "venue": EVM, "market_id": "m1", "side": Side.YES, "action": BUY,
        "order_type": OrderType.GTC, "size": Micros(1), "price": Micros(1),
        "requested": Micros(1), "money": Micros(1), "fee": Micros(0), "reserved": Micros(0),
        "price_before": 0.4, "price_after": 0.5, "at": AT, "world_at": AT, "realized": Micros(0),
        "expires_at": AT, "number": 1, "taken": (), "note": Note(source="news"),
    }  # fmt: skip
    return OrderPlaced(
        order_id=order_id, shares=Micros(shares), rests=Micros(rests), **(known | fields)
    )


def filled(order_id: str = "o1") -> OrderFilled:
    return OrderFilled(order_id, "ada", "m1", Micros(1), Micros(1), Micros(0), AT, AT, 1, ())


def paid(realized: int, sources: tuple[str, ...] | None = ("news",)) -> Payout:
    return Payout("ada", Side.YES, Micros(1), Micros(5), Micros(9), Micros(realized), AT, sources)


def sums_of(*events: Any) -> PastSums:
    sums = PastSums()
    for one in events:
        sums.add("ada", "m1", one)
    return sums


def test_a_source_that_ever_bought_counts_all_of_its_trades() -> None:
    sums = sums_of(
        fill(SELL, "stop"), fill(SELL, "news"), fill(BUY, "news"), fill(SELL, "news"),
        fill(BUY, ""), fill(BUY, "dips"),
    )  # fmt: skip
    told: dict[str, SourceSums] = {}
    _add_past(sums, ("ada", SIM), told)
    assert {tag: one.trades for tag, one in told.items()} == {"news": 3, "dips": 1}
    assert sums.open_tags == {("ada", SIM, "m1"): ("news", "dips")}


def test_an_order_counts_with_its_first_shares_and_once() -> None:
    whose = ("ada", EVM, "news")
    assert sums_of(placed(shares=3)).trades == {whose: 1}
    resting = sums_of(placed())
    assert (resting.trades, list(resting.resting)) == ({}, ["o1"])
    done = sums_of(placed(), filled(), filled())
    assert (done.trades, done.resting) == ({whose: 1}, {})
    # Nothing of it rests and nothing was filled: there is nothing to count.
    assert sums_of(placed(rests=0)).resting == {}
    assert sums_of(placed(shares=3), filled()).trades == {whose: 1}


def test_a_redemption_counts_where_it_paid() -> None:
    def redeemed(payout: int) -> PositionRedeemed:
        return PositionRedeemed(
            "ada", EVM, "m1", Side.YES, Micros(1), Micros(1), Micros(payout), AT, AT
        )

    sums = sums_of(redeemed(8), redeemed(0), redeemed(5))
    assert sums.redeemed == {("ada", EVM): (2, 13)}


def test_a_result_goes_to_each_source_that_bought() -> None:
    both = Paid("m1", AT, True, paid(100, ("news", "dips")))  # noqa: FBT003 - a row
    sold = SettledSide("m1", AT, True, EVM, paid(7))  # noqa: FBT003 - a row
    sums = sums_of(both, both, sold)
    assert sums.realized == {
        ("ada", SIM, "news"): 208,
        ("ada", SIM, "dips"): 208,
        ("ada", EVM, "news"): 11,
    }


def test_a_result_of_an_older_program_goes_to_who_is_known_to_have_bought() -> None:
    older = Paid("m1", AT, True, paid(0, None))  # noqa: FBT003 - a row
    sums = sums_of(fill(BUY, "news"), older, older)
    assert sums.realized == {("ada", SIM, "news"): 8}
    # A newer row names the sources itself, and the market is over for them.
    newer = Paid("m1", AT, True, paid(0))  # noqa: FBT003 - a row
    assert sums_of(fill(BUY, "news"), newer).open_tags == {}


def test_sums_of_the_past_are_those_of_the_agent_on_the_venue() -> None:
    past = PastSums(
        realized={("ada", EVM, "news"): Micros(5), ("bea", EVM, "news"): Micros(6),
                  ("ada", SIM, "news"): Micros(7)},
        trades={("ada", EVM, "news"): 2, ("ada", EVM, "dips"): 3, ("bea", EVM, "news"): 4},
        bought={("ada", EVM, "news"), ("ada", EVM, "dips"), ("bea", EVM, "news")},
    )  # fmt: skip
    sums = {"news": SourceSums(realized=Micros(100))}
    _add_past(past, ("ada", EVM), sums)
    assert sums == {
        "news": SourceSums(realized=Micros(105), trades=2),
        "dips": SourceSums(trades=3),
    }


def position(yes: int, realized: int = 0) -> Position:
    found = Position("ada", MARKET)
    found.yes = SidePosition(Micros(yes * ONE), Micros(yes * ONE // 4), Micros(realized))
    return found


@pytest.mark.parametrize("venue", [SIM, EVM])
def test_open_positions_count_for_each_of_their_sources(venue: Venue) -> None:
    world = bare_world()
    market = listed(world, MARKET, home=EVM)
    agent, sources = world.agents["ada"], ("news", "dips")
    if venue is SIM:
        agent.positions[MARKET] = position(8, 70)
        agent.sources[MARKET] = sources
        price = market.price()
    else:
        known: dict[str, Any] = {"sources": sources}
        held = VenuePosition(position(8, 70), "Q?", "c", Timestamp(AT + HOUR), **known)
        done = VenuePosition(position(5), "Q?", "c", AT, outcome=YES, **known)
        account = VenueAccount("ada", EVM, holdings={MARKET: held, "m2": done})
        world.venues.accounts["ada", EVM] = account
        price = world.venues.book(MARKET).mid((AT, AT))
    sums: dict[str, SourceSums] = {}
    _add_open(world, agent, venue, sums)
    value = int(8 * ONE * price)
    expected = SourceSums(1, Micros(value), Micros(70), Micros(value - 2 * ONE), 0)
    assert sums == {"news": expected, "dips": expected}


def test_a_position_that_was_sold_whole_is_no_position_and_keeps_its_result() -> None:
    world = bare_world()
    listed(world, MARKET)
    agent = world.agents["ada"]
    agent.positions[MARKET], agent.sources[MARKET] = position(0, 70), ("news",)
    sums: dict[str, SourceSums] = {}
    _add_open(world, agent, SIM, sums)
    assert sums == {"news": SourceSums(realized=Micros(70))}


class Store:
    """A store whose journal is these rows."""

    def __init__(self, *rows: JournalRow) -> None:
        self.world = bare_world("ada")
        self.rows = rows
        self.seq = rows[-1].seq if rows else 0
        self.waits = 0
        self.written_seq = 0

    async def written(self) -> None:
        self.waits += 1

    async def rows_of_agents(
        self, after: int, kinds: Sequence[str], *, limit: int
    ) -> list[JournalRow]:
        return [one for one in self.rows if one.seq > after and one.kind in kinds][:limit]


def row(seq: int, kind: str, event: Any) -> JournalRow:
    return JournalRow(seq, AT, kind, "ada", "m1", codec.encode(event))


def test_rows_are_added_up_once_and_go_on_from_the_last_one() -> None:
    ended = OrderEnded(
        "o2", "ada", "m1", OrderEnd.CANCELLED, AT, AT, Micros(0), Micros(0), Micros(0), Micros(0)
    )
    redeemed = PositionRedeemed("ada", EVM, "m1", Side.YES, Micros(1), Micros(1), Micros(8), AT, AT)
    store = Store(
        row(1, "fill", fill(BUY, "news")),
        row(2, "order", placed("o2")),
        row(3, "order_end", ended),
        row(5, "redeemed", redeemed),
    )
    past = PastSums()

    async def asked() -> tuple[dict[str, SourceSums], dict[Venue, tuple[int, Micros]]]:
        known = cast("WorldStore", store)
        return await by_source(known, past, "ada"), await redeemed_of(known, past, "ada")

    for _ in range(2):
        sums, paid_out = asyncio.run(asked())
        assert sums == {"news": SourceSums(trades=1)}
        assert paid_out == {EVM: (1, 8), SOL: (0, 0)}
    assert (past.seq, past.resting, store.waits) == (5, {}, 1)
    store.rows = (*store.rows, row(6, "fill", fill(SELL, "news")))
    store.seq = 6
    # What is held counts beside the past.
    market = listed(store.world, MARKET)
    agent = store.world.agents["ada"]
    agent.positions[MARKET], agent.sources[MARKET] = position(8), ("dips",)
    assert asyncio.run(asked())[0]["dips"].positions == 1
    assert market.outcome is None
    del agent.positions[MARKET]
    assert asyncio.run(asked())[0] == {"news": SourceSums(trades=2)}
