"""Entries and what came back of them, read row by row."""

import json
from collections.abc import Iterator
from typing import Any, Final

import pytest

from kit.service.memory import MemoryDatabase
from service_tui.engine.chain_events import WalletLinked
from service_tui.engine.codec import events as codec
from service_tui.engine.events import Fill, Note, OrderFilled, OrderPlaced, Payout, kind_of
from service_tui.outcome import NO, VOID, YES, Outcome
from service_tui.server.past.digest import Digest
from service_tui.storage.entries import StoredEntry
from service_tui.terms import Action, OrderType, Side, Venue
from service_tui.units import ONE, Micros, Timestamp

AT: Final = Timestamp(1_800_000_000.0)
NONE: Final = Micros(0)


def dollars(amount: float) -> Micros:
    return Micros(round(amount * ONE))


class Kept:
    """A journal and the entries that are read of it."""

    def __init__(self) -> None:
        self.database = MemoryDatabase()
        self.seq = 0

    @property
    def stored(self) -> dict[int, StoredEntry]:
        rows = self.database.rows("SELECT * FROM entries ORDER BY seq", {})
        return {row[0]: StoredEntry(*row) for row in rows}

    async def write(self, kind: str, body: str, agent_id: str | None, market_id: str) -> None:
        self.seq += 1
        row = self.seq, AT, kind, agent_id, market_id, body
        await self.database.write(lambda connection: connection.execute(INSERT, row))

    async def catch_up(self) -> int:
        return await Digest(self.database).catch_up()  # pyright: ignore[reportArgumentType]


INSERT: Final = "INSERT INTO journal VALUES (?, ?, ?, ?, ?, ?, NULL)"


@pytest.fixture
def kept() -> Iterator[Kept]:
    made = Kept()
    yield made
    made.database.close()


def note(skill: str = "rain", **signals: Any) -> Note:
    return Note(skill_slug=skill, signal_data=signals or None)


def fill(number: int, action: Action, shares: float, money: float, **changes: Any) -> Fill:
    return Fill(
        f"t{number}", "ada", "m1", Side.YES, action, dollars(shares), dollars(money), 0.5, 0.5,
        AT, AT, NONE, note(),
    )._replace(**changes)  # fmt: skip


def placed(shares: float, money: float, **changes: Any) -> OrderPlaced:
    return OrderPlaced(
        "o1", "ada", Venue.SOL, "m1", Side.YES, Action.BUY, OrderType.GTC, dollars(50),
        Micros(470_000), dollars(49), dollars(shares), dollars(money), dollars(0.5), dollars(29),
        dollars(11), 0.44, 0.47, AT, AT, NONE, Timestamp(0), 3, (), note("snow"),
    )._replace(**changes)  # fmt: skip


def met(shares: float, money: float) -> OrderFilled:
    return OrderFilled(
        "o1", "ada", "m1", dollars(shares), dollars(money), NONE, AT, AT, 4, (), Side.YES,
        Action.BUY, "", Venue.SOL, "snow",
    )  # fmt: skip


async def digested(kept: Kept, *events: Any) -> dict[str, tuple[float, ...]]:
    """Of each entry: shares, money, open shares and what came back, in dollars."""
    for event in events:
        if isinstance(event, tuple) and not hasattr(event, "_fields"):
            kind, ends = event
            await kept.write(kind, codec.dumps(ends), "ada", "m1")
        else:
            market_id = getattr(event, "market_id", None)
            await kept.write(kind_of(event), codec.encode(event), event.agent_id, market_id)
    assert await kept.catch_up() == sum(not isinstance(one, WalletLinked) for one in events)
    return {
        one.trade_id: tuple(
            amount / ONE for amount in (one.shares, one.money, one.open_shares, one.back)
        )
        for one in kept.stored.values()
    }


def paid(*, outcome: Outcome) -> tuple[str, list[object]]:
    return "payout", ["m1", AT, outcome, Payout("ada", Side.YES, ONE, ONE, ONE, NONE, AT)]


async def test_a_buy_is_an_entry_with_all_that_a_backtest_asks_for(kept: Kept) -> None:
    signal = note("rain", edge=0.25, word="no", sure=True, n=3)
    await digested(kept, fill(1, Action.BUY, 20, 12, side=Side.NO, note=signal))
    assert kept.stored == {
        1: StoredEntry(
            seq=1, trade_id="t1", agent_id="ada", venue="sim", skill="rain", market_id="m1",
            side="no", at=AT, shares=20 * ONE, money=12 * ONE, open_shares=20 * ONE, back=0,
            signal='{"edge":0.25,"n":3}',
        )
    }  # fmt: skip


async def test_a_wallet_sells_of_its_own_entries_alone(kept: Kept) -> None:
    evm = {"venue": Venue.EVM, "fee": NONE}
    sale = placed(5, 4, **evm, order_id="o3", action=Action.SELL)
    found = await digested(
        kept,
        placed(10, 6, **evm),
        WalletLinked("ada", AT, "0xAB", left=""),
        placed(10, 7, **evm, order_id="o2"),
        sale,
    )
    assert found == {"o1": (10, 6, 10, 0), "o2": (10, 7, 5, 4)}
    back = WalletLinked("ada", AT, "", left="0xab")
    assert (await digested(kept, back, sale))["o1"] == (10, 6, 5, 4)


async def test_an_entry_was_made_when_its_row_was_written(kept: Kept) -> None:
    await digested(kept, fill(1, Action.BUY, 1, 1, at=Timestamp(AT - 9), world_at=Timestamp(5)))
    assert [one.at for one in kept.stored.values()] == [AT]


async def test_an_entry_without_a_signal_has_none(kept: Kept) -> None:
    await digested(kept, fill(1, Action.BUY, 20, 12))
    assert kept.stored[1].signal is None
    assert json.loads("{}") == {}


async def test_a_sale_takes_of_the_own_skills_entries_first_and_of_the_oldest(kept: Kept) -> None:
    other = note("snow")
    assert await digested(
        kept,
        fill(1, Action.BUY, 10, 4, note=other),
        fill(2, Action.BUY, 10, 5),
        fill(3, Action.BUY, 10, 6),
        fill(4, Action.SELL, 25, 20),
    ) == {"t1": (10, 4, 5, 4), "t2": (10, 5, 0, 8), "t3": (10, 6, 0, 8)}


async def test_a_sale_in_a_later_chunk_finds_the_entries_of_the_earlier_ones(kept: Kept) -> None:
    buys = [fill(n, Action.BUY, 10, n) for n in range(1, 6)]
    await digested(kept, *buys[:4])
    found = await digested(kept, buys[4], fill(6, Action.SELL, 45, 45))
    assert found == {
        "t1": (10, 1, 0, 10), "t2": (10, 2, 0, 10), "t3": (10, 3, 0, 10), "t4": (10, 4, 0, 10),
        "t5": (10, 5, 5, 5),
    }  # fmt: skip


async def test_only_entries_of_the_same_side_and_venue_are_sold_or_paid(kept: Kept) -> None:
    found = await digested(
        kept,
        fill(1, Action.BUY, 10, 4),
        fill(2, Action.BUY, 10, 5, side=Side.NO),
        placed(10, 3.5),
        fill(4, Action.SELL, 4, 2),
        paid(outcome=YES),
    )
    assert found == {"t1": (10, 4, 0, 8), "t2": (10, 5, 10, 0), "o1": (10, 4, 10, 0)}


@pytest.mark.parametrize(
    ("outcome", "back"), [(YES, 10.0), (NO, 0.0), (Outcome.at(0.3), 3.0), (VOID, 4.0)]
)
async def test_a_payout_brings_a_dollar_a_share_or_nothing(
    kept: Kept, *, outcome: Outcome, back: float
) -> None:
    found = await digested(kept, fill(1, Action.BUY, 10, 4), paid(outcome=outcome))
    assert found == {"t1": (10, 4, 0, back)}


async def test_a_resting_order_is_an_entry_that_grows_with_each_part_it_meets(kept: Kept) -> None:
    found = await digested(kept, placed(0, 0), met(8, 3), met(2, 1))
    assert found == {"o1": (10, 4, 10, 0)}
    assert (kept.stored[1].venue, kept.stored[1].skill) == ("sol_venue", "snow")
    assert await digested(kept, met(5, 2)) == {"o1": (15, 6, 15, 0)}


async def test_an_order_of_which_all_was_sold_is_found_again_when_it_meets_more(kept: Kept) -> None:
    sale = placed(10, 5, action=Action.SELL, order_id="o2", note=note("snow"))
    await digested(kept, placed(10, 3.5), sale)
    assert await digested(kept, met(5, 2), fill(9, Action.BUY, 1, 1)) == {
        "o1": (15, 6, 5, 4.5), "t9": (1, 1, 1, 0)
    }  # fmt: skip


async def test_a_sale_order_is_no_entry_and_a_row_of_nobody_counts_for_nothing(kept: Kept) -> None:
    assert await digested(kept, placed(5, 2, action=Action.SELL)) == {}
    body = codec.encode(fill(2, Action.BUY, 1, 1))
    await kept.write("fill", body, None, "m1")
    assert await kept.catch_up() == 0
    assert kept.stored == {}
