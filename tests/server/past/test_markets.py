"""Markets that memory has and those that it has forgotten."""

import asyncio
import json
import tracemalloc
from collections.abc import Iterator, Sequence
from typing import Any, Final

import pytest

from kit.engine.bare import AT, bare_world, listed
from kit.service.memory import MemoryDatabase
from service_tui.engine.amm.market import Market
from service_tui.engine.codec import events as codec
from service_tui.engine.codec import snapshot
from service_tui.engine.errors import MarketNotFound
from service_tui.engine.events import Fill, Note, OrderFilled, OrderPlaced, Payout, kind_of
from service_tui.engine.world import World
from service_tui.outcome import NO, YES, Outcome
from service_tui.server.past.backfill import backfill
from service_tui.server.past.markets import PastMarkets, kept_of
from service_tui.storage.ended_markets import EndedHead, EndedMarket, EndedMarkets, keep
from service_tui.storage.journal import JournalRow, JournalStore
from service_tui.terms import Action, OrderType, Side, Venue
from service_tui.units import ONE, Micros, Timestamp

NONE: Final = Micros(0)


class Kept:
    """A journal, and the ended markets beside it."""

    def __init__(self) -> None:
        self.database: Any = MemoryDatabase()
        self.stored = EndedMarkets(self.database)
        self.journal = JournalStore(self.database)

    async def write(self, *rows: JournalRow, ended: Sequence[Market] = ()) -> None:
        await self.journal.append(rows, ended=[kept_of(one) for one in ended])

    async def keep(self, *gone: Market) -> None:
        """Markets that memory has forgotten, each with a trade of ada's."""
        first = self.journal.last_seq() + 1
        rows = [row(seq, fill(one.market_id, Action.BUY)) for seq, one in enumerate(gone, first)]
        await self.write(*rows, ended=gone)

    async def filled_in(self, world: World) -> tuple[list[JournalRow], dict[str, bool]]:
        """What is written for an older program: rows, and new markets with their outcomes."""
        known, last = self.stored.ids(), self.journal.last_seq()
        assert await backfill(self.database, world, last) == self.journal.last_seq()
        assert self.stored.is_filled_in()
        heads = self.stored.heads(self.stored.ids() - known)
        rows = list(self.journal.rows_after(last))
        return rows, {key: one.outcome for key, one in sorted(heads.items())}

    def past_of(self, world: World) -> PastMarkets:
        return PastMarkets(self.database, lambda: world)


@pytest.fixture
def kept() -> Iterator[Kept]:
    made = Kept()
    yield made
    made.database.close()


def ended_in(world: World, market_id: str, *, outcome: Outcome = YES) -> Any:
    market = listed(world, market_id)
    market.outcome, market.resolved_at = outcome, Timestamp(AT + 77)
    return market


def head(market_id: str, *, outcome: Outcome = YES, resolved_at: float = AT + 77) -> EndedHead:
    question = f"Does {market_id} end well?"
    return EndedHead(market_id, question, "sim", outcome.stored, AT + 3_600, resolved_at)


def test_what_is_kept_of_a_market_is_its_head_and_its_whole_text() -> None:
    market = ended_in(bare_world(), "m1", outcome=NO)
    found = kept_of(market)
    assert found.head == head("m1", outcome=NO)
    again = snapshot.market_of(json.loads(found.body()))
    assert snapshot.market_fields(again) == snapshot.market_fields(market)
    market.resolved_at = None
    assert kept_of(market).head.resolved_at == market.listing.resolved_at == AT + 7_200


def test_a_market_is_kept_once_and_all_that_ended_are_at_a_start_or_a_reading_back(
    kept: Kept,
) -> None:
    worlds = [bare_world(), bare_world()]
    for world in worlds:
        listed(world, "open")
        ended_in(world, "m1")
    past = PastMarkets(kept.database, lambda: worlds[0])
    assert [one.head.market_id for one in past.just_ended()] == ["m1"]
    assert past.just_ended() == []
    worlds[0].ended["m2"] = ended_in(worlds[0], "m2")
    assert [one.head for one in past.just_ended()] == [head("m2")]
    assert (past.just_ended(), worlds[0].ended) == ([], {})
    del worlds[0]
    assert [one.head.market_id for one in past.just_ended()] == ["m1"]
    assert past.just_ended() == []


async def test_a_market_comes_from_memory_or_else_from_the_disk(kept: Kept) -> None:
    world, other = bare_world(), bare_world()
    mine = listed(world, "m1")
    await kept.keep(ended_in(other, "m9"), ended_in(other, "m1"))
    past = kept.past_of(world)
    assert await past.market("m1") is mine
    found = await past.market("m9")
    assert (found.market_id, found.outcome) == ("m9", YES)
    with pytest.raises(MarketNotFound):
        await past.market("m7")
    assert set(await past.forgotten(("m1", "m9", "m7"))) == {"m9"}


async def test_heads_are_those_of_markets_that_ended_wherever_they_are_known(kept: Kept) -> None:
    world = bare_world()
    listed(world, "open")
    ended_in(world, "m1", outcome=NO)
    await kept.keep(ended_in(bare_world(), "m9"))
    found = await kept.past_of(world).heads(("open", "m1", "m9", "m7"))
    assert found == {"m1": head("m1", outcome=NO), "m9": head("m9")}


# -- the list of all ---------------------------------------------------------------------------

POINTS: Final = 1_500


def long_text(market_id: str) -> str:
    """The text of a market that ended, with a long past."""
    market = ended_in(bare_world(), market_id)
    market.samples = [(Timestamp(AT + place), 0.4) for place in range(POINTS)]
    return kept_of(market).body()


async def stored_on_disk(count: int) -> tuple[MemoryDatabase, int]:
    """A database with some ended markets, and how many letters their texts have."""
    database = MemoryDatabase()
    texts = {f"m{number:03}": long_text(f"m{number:03}") for number in range(count)}
    journal = (
        "INSERT INTO journal (seq, at, kind, agent_id, market_id, body) "
        "VALUES (?, 1, 'fill', 'ada', ?, '')"
    )

    def work(connection: Any) -> None:
        connection.executemany(journal, list(enumerate(texts)))
        keep(connection, [EndedMarket(head(key), texts[key].__str__) for key in texts])

    await database.write(work)
    return database, sum(map(len, texts.values()))


async def test_the_list_of_all_is_read_a_few_texts_at_a_time() -> None:
    database, letters = await stored_on_disk(150)
    world = bare_world()
    past = PastMarkets(database, lambda: world)  # pyright: ignore[reportArgumentType]
    (whole,) = (await past.forgotten(["m007"])).values()
    assert len(whole.samples) == POINTS
    tracemalloc.start()
    try:
        found = await past.listed()
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert [one.market_id for one in found] == [f"m{number:03}" for number in range(150)]
    assert not any(one.samples for one in found)
    assert most < letters / 2


async def test_two_lists_at_one_time_read_each_market_once() -> None:
    database, _ = await stored_on_disk(20)
    world = bare_world()
    past = PastMarkets(database, lambda: world)  # pyright: ignore[reportArgumentType]
    async with asyncio.TaskGroup() as tasks:
        first, second = (tasks.create_task(past.listed()) for _ in range(2))
    assert len(first.result()) == 20
    assert all(one is other for one, other in zip(first.result(), second.result(), strict=True))


# -- what older programs left out --------------------------------------------------------------


def row(seq: int, event: Any, **changes: Any) -> JournalRow:
    body = codec.encode(event)
    given = {"agent_id": event.agent_id, "market_id": event.market_id, **changes}
    return JournalRow(seq, AT + seq, kind_of(event), given["agent_id"], given["market_id"], body)


def fill(market_id: str, action: Action, **changes: Any) -> Fill:
    return Fill(
        "t1", "ada", market_id, Side.YES, action, ONE, ONE, 0.5, 0.5, AT, AT, NONE,
        Note(source="sdk:rain"),
    )._replace(**changes)  # fmt: skip


def placed(market_id: str, **changes: Any) -> OrderPlaced:
    return OrderPlaced(
        "o1", "ben", Venue.EVM, market_id, Side.NO, Action.BUY, OrderType.GTC, ONE, ONE, ONE,
        ONE, ONE, NONE, NONE, NONE, 0.4, 0.5, Timestamp(AT + 3), AT, NONE, Timestamp(0), 3, (),
        Note(source="desk"),
    )._replace(**changes)  # fmt: skip


def payouts(rows: list[JournalRow]) -> list[list[Any]]:
    """Of each row that was written: market, time, outcome, venue, payout."""
    assert {one.kind for one in rows} <= {"sold_out"}
    return [json.loads(one.body) for one in rows]


def plain(payout: Payout) -> Any:
    return json.loads(codec.dumps(payout))


MET: Final = OrderFilled(
    "o1", "ben", "m1", ONE, ONE, NONE, Timestamp(AT + 9), AT, 4, (), None, None, "", None
)


async def test_ended_markets_and_sides_that_were_sold_whole_are_filled_in(kept: Kept) -> None:
    world = bare_world("ada", "ben")
    ended_in(world, "m1", outcome=NO)
    listed(world, "open")
    await kept.keep(ended_in(bare_world(), "known"))
    await kept.write(
        row(2, fill("m1", Action.BUY, at=Timestamp(AT + 1))),
        row(3, fill("m1", Action.SELL, realized=Micros(-7))),
        row(4, fill("m1", Action.SELL, realized=Micros(9), at=Timestamp(AT + 20))),
        row(5, fill("m1", Action.BUY, note=Note(source="console"))),
        row(6, placed("m1", at=Timestamp(AT + 3))),
        row(7, fill("open", Action.BUY)),
    )
    rows, markets = await kept.filled_in(world)
    assert markets == {"m1": False}
    sold = [
        Payout("ada", Side.YES, NONE, NONE, NONE, Micros(2), Timestamp(AT + 1),
               ("sdk:rain", "console")),
        Payout("ben", Side.NO, NONE, NONE, NONE, NONE, Timestamp(AT + 3), ("desk",)),
    ]  # fmt: skip
    assert payouts(rows) == [
        ["m1", AT + 20, False, venue, plain(payout)]
        for venue, payout in zip(("sim", "evm_venue"), sold, strict=True)
    ]
    assert [(one.agent_id, one.market_id, one.at) for one in rows] == [
        (who, "m1", AT + 20) for who in ("ada", "ben")
    ]
    # Once is enough: a later start writes nothing more.
    await kept.write(row(10, fill("late", Action.BUY)))
    ended_in(world, "late")
    assert await kept.filled_in(world) == ([], {})


@pytest.mark.parametrize(
    ("end", "left"),
    [
        (("payout", ["m1", AT, True]), [("evm_venue", "no"), ("sim", "no")]),
        (("sold_out", ["m1", AT, True, Venue.EVM]), [("sim", "no"), ("sim", "yes")]),
    ],
)
async def test_an_end_that_is_recorded_counts_for_its_side_and_venue_alone(
    kept: Kept, end: tuple[str, list[Any]], left: list[tuple[str, str]]
) -> None:
    world = bare_world("ada")
    ended_in(world, "m1")
    kind, fields = end
    side = Side.YES if kind == "payout" else Side.NO
    body = codec.dumps([*fields, Payout("ada", side, NONE, NONE, NONE, NONE, AT)])
    await kept.write(
        row(1, fill("m1", Action.BUY)),
        row(2, fill("m1", Action.BUY, side=Side.NO)),
        row(3, placed("m1", agent_id="ada")),
        JournalRow(4, AT, kind, "ada", "m1", body),
    )
    rows, _ = await kept.filled_in(world)
    assert sorted((one[3], one[4][1]) for one in payouts(rows)) == left


async def test_a_resting_order_is_a_buy_from_its_first_part_on(kept: Kept) -> None:
    world = bare_world("ben")
    ended_in(world, "m1")
    other = MET._replace(order_id="o2")
    await kept.write(row(1, placed("m1", shares=NONE)), row(2, other), row(3, MET))
    rows, _ = await kept.filled_in(world)
    made = Payout("ben", Side.NO, NONE, NONE, NONE, NONE, Timestamp(AT + 9), ("desk",))
    assert payouts(rows) == [["m1", AT + 9, True, "evm_venue", plain(made)]]


async def test_the_part_of_a_resting_order_that_was_met_at_once_counts_with_the_later_ones(
    kept: Kept,
) -> None:
    world = bare_world("ben")
    ended_in(world, "m1")
    sale = placed("m1", action=Action.SELL, order_id="o2", realized=Micros(5), rests=ONE)
    met = MET._replace(order_id="o2", realized=Micros(2))
    await kept.write(row(1, placed("m1", rests=ONE)), row(2, sale), row(3, met))
    rows, _ = await kept.filled_in(world)
    made = Payout("ben", Side.NO, NONE, NONE, NONE, Micros(7), Timestamp(AT + 3), ("desk",))
    assert [one[4] for one in payouts(rows)] == [plain(made)]


async def test_a_market_that_memory_forgot_is_told_by_the_tape_as_it_was_paid(kept: Kept) -> None:
    world = bare_world("ada")
    listing = world.tape.listing_of(3, 108)
    bought = fill(listing.market_id, Action.BUY, world_at=listing.opens_at)
    paid = Payout("ada", Side.YES, ONE, ONE, NONE, NONE, AT)
    ends = codec.dumps([listing.market_id, AT, not listing.outcome, paid])
    end = JournalRow(2, AT, "payout", "ada", listing.market_id, ends)
    # Of a market that nobody knows nothing is made up.
    await kept.write(row(1, bought), end, row(3, fill("nobodys", Action.BUY)))
    assert await kept.filled_in(world) == ([], {listing.market_id: not listing.outcome})
