"""Markets that memory has and those that it has forgotten."""

import asyncio
import json
import tracemalloc
from typing import Any, Final

import pytest

from kit.engine.bare import AT, bare_world, listed
from kit.service.memory import MemoryDatabase
from service_tui.engine.codec import events as codec
from service_tui.engine.codec import snapshot
from service_tui.engine.errors import MarketNotFound
from service_tui.engine.events import Fill, Note, OrderFilled, OrderPlaced, Payout, kind_of
from service_tui.engine.world import World
from service_tui.server.past import backfill as filling
from service_tui.server.past import markets
from service_tui.server.past.markets import PastMarkets, kept_of
from service_tui.storage.db import tables
from service_tui.storage.ended_markets import EndedHead, EndedMarket, keep
from service_tui.storage.journal import JournalRow
from service_tui.terms import Action, OrderType, Side, Venue
from service_tui.units import ONE, Micros, Timestamp

NONE: Final = Micros(0)


class Kept:
    """Ended markets on disk, the rows of the journal, and what is written."""

    def __init__(self) -> None:
        self.texts: dict[str, str] = {}
        self.heads_: dict[str, EndedHead] = {}
        self.asked: list[tuple[str, list[str]]] = []
        self.rows: list[JournalRow] = []
        self.written: list[tuple[list[JournalRow], list[EndedMarket]]] = []
        self.filled: list[int] = []

    def bodies(self, ids: Any) -> dict[str, str]:
        self.asked.append(("bodies", list(ids)))
        return {key: self.texts[key] for key in ids if key in self.texts}

    def heads(self, ids: Any) -> dict[str, EndedHead]:
        self.asked.append(("heads", list(ids)))
        return {key: self.heads_[key] for key in ids if key in self.heads_}

    def is_filled_in(self) -> bool:
        return bool(self.filled)

    async def mark_filled_in(self, seq: int) -> None:
        self.filled.append(seq)

    def rows_of_agents(self, after: int, kinds: Any, *, limit: int) -> list[JournalRow]:
        return [row for row in self.rows if row.seq > after and row.kind in kinds][:limit]

    def of_market(self, market_id: str, kinds: Any) -> list[JournalRow]:
        return [row for row in self.rows if row.market_id == market_id and row.kind in kinds]

    async def append(self, rows: Any, *, ended: Any) -> None:
        self.written.append((list(rows), list(ended)))


@pytest.fixture
def kept(monkeypatch: pytest.MonkeyPatch) -> Kept:
    made = Kept()
    monkeypatch.setattr(markets, "EndedMarkets", lambda _: made)
    for name in ("EndedMarkets", "JournalStore", "AgentRows"):
        monkeypatch.setattr(filling, name, lambda _: made)
    return made


def past_of(world: World) -> PastMarkets:
    return PastMarkets(None, lambda: world)  # pyright: ignore[reportArgumentType]


def ended_in(world: World, market_id: str, *, outcome: bool = True) -> Any:
    market = listed(world, market_id)
    market.outcome, market.resolved_at = outcome, Timestamp(AT + 77)
    return market


def head(market_id: str, *, outcome: bool = True, resolved_at: float = AT + 77) -> EndedHead:
    question = f"Does {market_id} end well?"
    return EndedHead(market_id, question, "sim", outcome, AT + 3_600, resolved_at)


def test_what_is_kept_of_a_market_is_its_head_and_its_whole_text() -> None:
    market = ended_in(bare_world(), "m1", outcome=False)
    found = kept_of(market)
    assert found.head == head("m1", outcome=False)
    again = snapshot.market_of(json.loads(found.body()))
    assert snapshot.market_fields(again) == snapshot.market_fields(market)
    market.resolved_at = None
    assert kept_of(market).head.resolved_at == market.listing.resolved_at == AT + 7_200


def test_a_market_is_kept_once_and_at_a_start_all_that_ended_are(kept: Kept) -> None:
    del kept
    world = bare_world()
    listed(world, "open")
    ended_in(world, "m1")
    past = past_of(world)
    assert [one.head.market_id for one in past.just_ended()] == ["m1"]
    assert past.just_ended() == []
    world.ended["m2"] = ended_in(world, "m2")
    assert [one.head for one in past.just_ended()] == [head("m2")]
    assert past.just_ended() == []
    assert world.ended == {}


def test_after_a_reading_back_all_that_ended_are_kept_again(kept: Kept) -> None:
    del kept
    worlds = [bare_world(), bare_world()]
    for world in worlds:
        ended_in(world, "m1")
    past = PastMarkets(None, lambda: worlds[0])  # pyright: ignore[reportArgumentType]
    assert len(past.just_ended()) == 1
    del worlds[0]
    assert len(past.just_ended()) == 1
    assert past.just_ended() == []


async def test_a_market_comes_from_memory_or_else_from_the_disk(kept: Kept) -> None:
    world, other = bare_world(), bare_world()
    mine = listed(world, "m1")
    gone = ended_in(other, "m9")
    kept.texts = {"m9": kept_of(gone).body(), "m1": kept_of(gone).body()}
    past = past_of(world)
    assert await past.market("m1") is mine
    assert kept.asked == []
    found = await past.market("m9")
    assert (found.market_id, found.outcome) == ("m9", True)
    with pytest.raises(MarketNotFound):
        await past.market("m7")
    assert set(await past.forgotten(("m1", "m9", "m7"))) == {"m9"}
    assert kept.asked[-1] == ("bodies", ["m9", "m7"])


async def test_heads_are_those_of_markets_that_ended_wherever_they_are_known(kept: Kept) -> None:
    world = bare_world()
    listed(world, "open")
    ended_in(world, "m1", outcome=False)
    kept.heads_ = {"m9": head("m9")}
    past = past_of(world)
    assert await past.heads(("open", "m1")) == {"m1": head("m1", outcome=False)}
    assert kept.asked == []
    found = await past.heads(("open", "m1", "m9", "m7"))
    assert found == {"m1": head("m1", outcome=False), "m9": head("m9")}
    assert kept.asked == [("heads", ["m9", "m7"])]


# -- the list of all ---------------------------------------------------------------------------

POINTS: Final = 1_500


def long_text(market_id: str) -> str:
    """The text of a market that ended, with a long past."""
    market = ended_in(bare_world(), market_id)
    market.samples = [(Timestamp(AT + place), 0.4) for place in range(POINTS)]
    return kept_of(market).body()


async def stored_on_disk(count: int) -> tuple[MemoryDatabase, int]:
    """A database with some ended markets, and how many letters their texts have."""
    database = MemoryDatabase(tables.Journal, tables.Endedmarkets, tables.Endedfilled)
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


async def filled_in(world: World, seq: int = 40) -> int:
    return await filling.backfill(None, world, seq)  # pyright: ignore[reportArgumentType]


async def test_ended_markets_and_sides_that_were_sold_whole_are_filled_in(kept: Kept) -> None:
    world = bare_world("ada", "ben")
    ended_in(world, "m1", outcome=False)
    listed(world, "open")
    kept.heads_ = {"known": head("known")}
    kept.rows = [
        row(1, fill("m1", Action.BUY, at=Timestamp(AT + 1))),
        row(2, fill("m1", Action.SELL, realized=Micros(-7))),
        row(3, fill("m1", Action.SELL, realized=Micros(9), at=Timestamp(AT + 20))),
        row(4, fill("m1", Action.BUY, note=Note(source="console"))),
        row(5, placed("m1", at=Timestamp(AT + 3))),
        row(6, fill("open", Action.BUY)),
        row(7, fill("known", Action.BUY)),
    ]
    assert await filled_in(world) == 42
    ((rows, ended),) = kept.written
    assert [one.head for one in ended] == [head("m1", outcome=False)]
    sold = [
        Payout("ada", Side.YES, NONE, NONE, NONE, Micros(2), Timestamp(AT + 1),
               ("sdk:rain", "console")),
        Payout("ben", Side.NO, NONE, NONE, NONE, NONE, Timestamp(AT + 3), ("desk",)),
    ]  # fmt: skip
    assert rows == [
        JournalRow(
            number, AT + 20, "sold_out", payout.agent_id, "m1",
            codec.dumps(["m1", AT + 20, False, venue, payout]), venue,
        )
        for number, venue, payout in zip((41, 42), ("sim", "evm_venue"), sold, strict=True)
    ]  # fmt: skip
    assert [one.venue for one in rows] == ["sim", "evm_venue"]
    assert kept.filled == [42]


async def test_a_side_whose_end_is_recorded_is_not_recorded_again(kept: Kept) -> None:
    world = bare_world("ada")
    ended_in(world, "m1")
    paid = Payout("ada", Side.YES, ONE, ONE, ONE, NONE, AT)
    ends = codec.dumps(["m1", AT, True, paid])
    kept.rows = [
        row(1, fill("m1", Action.BUY)),
        row(2, fill("m1", Action.BUY, side=Side.NO)),
        JournalRow(3, AT, "payout", "ada", "m1", ends),
    ]
    assert await filled_in(world) == 41
    ((rows, _),) = kept.written
    assert [json.loads(one.body)[4][1] for one in rows] == ["no"]


async def test_a_resting_order_is_a_buy_from_its_first_part_on(kept: Kept) -> None:
    world = bare_world("ben")
    ended_in(world, "m1")
    met = OrderFilled(
        "o1", "ben", "m1", ONE, ONE, NONE, Timestamp(AT + 9), AT, 4, (), None, None, "", None
    )
    other = met._replace(order_id="o2")
    kept.rows = [row(1, placed("m1", shares=NONE)), row(2, other), row(3, met)]
    assert await filled_in(world) == 41
    ((rows, _),) = kept.written
    (fields,) = [json.loads(one.body) for one in rows]
    made = Payout("ben", Side.NO, NONE, NONE, NONE, NONE, Timestamp(AT + 9), ("desk",))
    assert fields == json.loads(codec.dumps(["m1", AT + 9, True, "evm_venue", made]))


async def test_the_part_of_a_resting_order_that_was_met_at_once_counts_with_the_later_ones(
    kept: Kept,
) -> None:
    world = bare_world("ben")
    ended_in(world, "m1")
    sale = placed("m1", action=Action.SELL, order_id="o2", realized=Micros(5), rests=ONE)
    met = OrderFilled(
        "o2", "ben", "m1", ONE, ONE, Micros(2), Timestamp(AT + 9), AT, 4, (), None, None, "", None
    )
    kept.rows = [row(1, placed("m1", rests=ONE)), row(2, sale), row(3, met)]
    assert await filled_in(world) == 41
    ((rows, _),) = kept.written
    made = Payout("ben", Side.NO, NONE, NONE, NONE, Micros(7), Timestamp(AT + 3), ("desk",))
    assert [json.loads(one.body)[4] for one in rows] == [json.loads(codec.dumps(made))]


async def test_an_end_on_one_venue_is_none_on_another(kept: Kept) -> None:
    world = bare_world("ben")
    ended_in(world, "m1")
    gone = Payout("ben", Side.NO, NONE, NONE, NONE, NONE, AT)
    ends = codec.dumps(["m1", AT, True, Venue.EVM, gone])
    mine = fill("m1", Action.BUY, agent_id="ben", side=Side.NO)
    kept.rows = [
        row(1, placed("m1")), row(2, mine), JournalRow(3, AT, "sold_out", "ben", "m1", ends)
    ]  # fmt: skip
    assert await filled_in(world) == 41
    ((rows, _),) = kept.written
    assert [one.venue for one in rows] == ["sim"]


async def test_a_market_that_memory_forgot_is_told_by_the_tape_as_it_was_paid(kept: Kept) -> None:
    world = bare_world("ada")
    listing = world.tape.listing_of(3, 108)
    bought = fill(listing.market_id, Action.BUY, world_at=listing.opens_at)
    paid = Payout("ada", Side.YES, ONE, ONE, NONE, NONE, AT)
    ends = codec.dumps([listing.market_id, AT, not listing.outcome, paid])
    kept.rows = [row(1, bought), JournalRow(2, AT, "payout", "ada", listing.market_id, ends)]
    assert await filled_in(world) == 40
    ((rows, ended),) = kept.written
    assert rows == []
    assert [(one.head.market_id, one.head.outcome) for one in ended] == [
        (listing.market_id, not listing.outcome)
    ]


async def test_a_market_that_nobody_knows_stays_without_its_end(kept: Kept) -> None:
    world = bare_world("ada")
    kept.rows = [row(1, fill("nobodys", Action.BUY))]
    assert await filled_in(world) == 40
    assert kept.written == []
    assert kept.filled == [40]


async def test_what_was_filled_in_once_is_not_looked_at_again(kept: Kept) -> None:
    kept.filled = [30]
    kept.rows = [row(1, fill("nobodys", Action.BUY))]
    assert await filled_in(bare_world("ada"), 50) == 50
    assert kept.asked == []
    assert kept.filled == [30]


async def test_trades_are_read_page_by_page(kept: Kept, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(filling, "PAGE", 2)
    world = bare_world("ada")
    for number in range(1, 6):
        ended_in(world, f"m{number}")
    kept.rows = [row(number, fill(f"m{number}", Action.SELL)) for number in range(1, 6)]
    assert await filled_in(world) == 40
    assert [[one.head.market_id for one in ended] for _, ended in kept.written] == [
        ["m1", "m2"], ["m3", "m4"], ["m5"]
    ]  # fmt: skip
