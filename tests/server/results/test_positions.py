"""Ended positions of the journal: which are found, how they read, and who bought them."""

from dataclasses import replace
from typing import Any, cast

import pytest

from kit.engine.bare import AT, bare_world
from service_tui.engine.agents.agents import ClosedPosition
from service_tui.engine.books.venues import VenueAccount
from service_tui.engine.events import Fill, Note, OrderFilled, OrderPlaced, Payout, PositionRedeemed
from service_tui.outcome import NO as ENDED_NO
from service_tui.outcome import YES as ENDED_YES
from service_tui.server.past.history import LOST, PAYOUT, SETTLED, SOLD_OUT, Paid, SettledSide
from service_tui.server.results import positions
from service_tui.server.results.positions import PAGE, ended_of, ended_on, sources_of
from service_tui.storage.ended_markets import EndedHead
from service_tui.storage.journal import History
from service_tui.terms import Action, Side, Venue
from service_tui.units import ONE, Micros, Timestamp

SIM, EVM, SOL = Venue.SIM, Venue.EVM, Venue.SOL
YES, NO = Side.YES, Side.NO
END = Timestamp(AT - 60)


def payout(side: Side = YES, shares: int = 4, **other: Any) -> Payout:
    given: dict[str, Any] = {
        "agent_id": "ada", "side": side, "shares": Micros(shares * ONE), "cost": Micros(ONE),
        "payout": Micros(shares * ONE), "realized_before": Micros(ONE // 2),
        "opened_at": Timestamp(AT - 900), "sources": ("news",),
    }  # fmt: skip
    return Payout(**(given | other))


def paid(market: str = "m1", side: Side = YES, **other: Any) -> Paid:
    return Paid(market, Timestamp(AT - 70), outcome=ENDED_YES, payout=payout(side, **other))


def settled(market: str = "m1", side: Side = YES, venue: Venue = EVM, **other: Any) -> SettledSide:
    at, brought = Timestamp(AT - 70), payout(side, **other)
    return SettledSide(market, at, outcome=ENDED_NO, venue=venue, payout=brought)


class Journal:
    """A store whose rows a test gives, newest first, and which notes what it was asked."""

    def __init__(self, *rows: object) -> None:
        self.world = bare_world("ada")
        self.agent = self.world.agents["ada"]
        self.rows = [(1_000_000 - number, one) for number, one in enumerate(rows)]
        self.asked: list[tuple[object, ...]] = []
        self.buys: list[object] = []
        self.named: list[set[str]] = []
        self.past = self

    async def ends_before(
        self, who: object, kinds: object, before: int | None, *, limit: int
    ) -> list[tuple[int, object]]:
        self.asked.append((who, kinds, before, limit))
        left = [row for row in self.rows if before is None or row[0] < before]
        return left[:limit]

    async def history(self, criteria: History, *, limit: int, offset: int) -> tuple[Any, int]:
        self.asked.append((criteria, limit, offset))
        return list(reversed(self.buys)), len(self.buys)

    async def heads(self, market_ids: set[str]) -> dict[str, EndedHead]:
        self.named.append(set(market_ids))
        return {
            key: EndedHead(key, f"Does {key}?", "sim", outcome=True, resolves_at=9, resolved_at=END)
            for key in market_ids
            if key != "lost"
        }

    async def ended(self, venue: Venue = SIM, limit: int | None = None) -> list[ClosedPosition]:
        return await ended_on(cast("Any", self), self.agent, venue, limit)

    async def names(self, venue: Venue = SIM, limit: int | None = None) -> list[str]:
        return [f"{one.market_id}:{one.side.value}" for one in await self.ended(venue, limit)]


def closed(market: str, side: Side = YES) -> ClosedPosition:
    found = ended_of(paid(market, side))
    assert found is not None
    return replace(found[1], question="kept")


# -- one row ------------------------------------------------------------------------------------


def test_a_payout_reads_as_a_position_that_ended() -> None:
    assert ended_of(paid()) == (
        SIM,
        ClosedPosition(
            market_id="m1", question="", category="", side=YES, shares=Micros(4 * ONE),
            cost=Micros(ONE), payout=Micros(4 * ONE), realized=Micros(3 * ONE + ONE // 2),
            outcome=ENDED_YES, opened_at=Timestamp(AT - 900), resolved_at=Timestamp(AT - 70),
            sources=("news",),
        ),
    )  # fmt: skip


def test_a_side_of_a_real_venue_ended_there_and_no_other_row_is_one() -> None:
    found = ended_of(settled(venue=SOL, payout=Micros(0)))
    assert found is not None
    where, one = found
    assert (where, one.outcome, one.payout, one.realized) == (SOL, ENDED_NO, 0, -ONE // 2)
    redeemed = PositionRedeemed(*([None] * len(PositionRedeemed._fields)))  # type: ignore[arg-type]
    assert ended_of(redeemed) is None


# -- the list -----------------------------------------------------------------------------------


async def test_what_memory_knows_comes_first_and_is_not_listed_twice() -> None:
    it = Journal(paid("m3"), paid("m2"), paid("m2", NO), settled("m5"), settled("m4", venue=SIM))
    it.agent.closed += [closed("m1"), closed("m2")]
    assert await it.names() == ["m2:yes", "m1:yes", "m3:yes", "m2:no", "m4:yes"]
    assert it.asked == [(("ada", SIM), (SOLD_OUT, PAYOUT), None, PAGE)]
    # What memory knows has its question; that of the others is looked up.
    assert it.named == [{"m2", "m3", "m4"}]


async def test_a_market_that_a_real_venue_still_knows_is_a_position_there() -> None:
    it = Journal(settled("m1"), settled("m1", NO), settled("m2"), settled("m3", venue=SOL))
    it.agent.closed.append(closed("m9"))
    it.world.venues.accounts["ada", EVM] = VenueAccount("ada", EVM)
    it.world.venues.accounts["ada", EVM].holdings["m1"] = cast("Any", None)
    assert await it.names(EVM) == ["m2:yes"]
    assert await it.names(SOL) == ["m3:yes"]
    kinds = (SOLD_OUT, SETTLED, LOST)
    assert it.asked == [(("ada", EVM), kinds, None, PAGE), (("ada", SOL), kinds, None, PAGE)]


@pytest.mark.parametrize(
    ("limit", "names", "reads"),
    [
        (0, [], 0), (1, ["m2:yes"], 0), (2, ["m2:yes", "m1:yes"], 0),
        (3, ["m2:yes", "m1:yes", "m3:yes"], 1), (9, ["m2:yes", "m1:yes", "m3:yes", "m4:yes"], 1),
    ],
)  # fmt: skip
async def test_no_more_are_read_than_are_wanted(limit: int, names: list[str], reads: int) -> None:
    it = Journal(paid("m3"), paid("m4"))
    it.agent.closed += [closed("m1"), closed("m2")]
    assert await it.names(limit=limit) == names
    assert len(it.asked) == reads


async def test_a_long_past_is_read_page_by_page_from_the_last_row(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(positions, "PAGE", 2)
    it = Journal(*(paid(f"m{one}") for one in range(5)))
    assert len(await it.names()) == 5
    assert [one[2] for one in it.asked] == [None, 999_999, 999_997]
    it = Journal(*(paid(f"m{one}") for one in range(4)))
    assert len(await it.names()) == 4
    assert [one[2] for one in it.asked] == [None, 999_999, 999_997], "an empty page is the end"


async def test_a_position_has_its_question_and_one_sold_keeps_its_own_end() -> None:
    it = Journal(paid("m1"), paid("m2", shares=0), paid("lost"))
    first, sold, unknown = await it.ended()
    assert (first.question, first.resolved_at) == ("Does m1?", END)
    assert (sold.question, sold.resolved_at) == ("Does m2?", AT - 70)
    assert (unknown.question, unknown.resolved_at) == ("", AT - 70)


# -- who bought ---------------------------------------------------------------------------------


def fill(source: str, action: Action = Action.BUY) -> Fill:
    return Fill(
        "t1", "ada", "m1", YES, action, Micros(1), Micros(1), 0.4, 0.5, AT, AT, Micros(0),
        Note(source=source),
    )  # fmt: skip


def order(source: str, shares: int = 1, venue: Venue = EVM) -> OrderPlaced:
    known = dict.fromkeys(OrderPlaced._fields)
    given = {
        "venue": venue, "action": Action.BUY, "shares": Micros(shares), "note": Note(source=source)
    }  # fmt: skip
    return OrderPlaced(**(known | given))  # type: ignore[arg-type]


def met(source: str, **other: Any) -> OrderFilled:
    known = dict.fromkeys(OrderFilled._fields)
    given = {"venue": EVM, "action": Action.BUY, "shares": Micros(1), "source": source}
    return OrderFilled(**(known | given | other))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("venue", "buys", "sources"),
    [
        (SIM, [fill("b"), fill("a"), fill("b"), fill("")], ("b", "a")),
        (SIM, [fill("a", Action.SELL), order("b"), met("c")], ()),
        (EVM, [fill("a"), order("b"), met("c"), order("d", shares=0)], ("b", "c")),
        (EVM, [order("b", venue=SOL), met("c", shares=0), met("d", action=Action.SELL)], ()),
    ],
)
async def test_who_bought_is_named_once_by_buys_of_the_venue_that_got_shares(
    venue: Venue, buys: list[object], sources: tuple[str, ...]
) -> None:
    it = Journal()
    it.buys = buys
    assert await sources_of(cast("Any", it), ("ada", venue), "m1") == sources
    ((criteria, limit, offset),) = it.asked
    assert (criteria.agent_id, criteria.market_id, limit, offset) == ("ada", "m1", PAGE, 0)


async def test_sources_that_an_older_program_left_out_are_looked_up_once_a_market() -> None:
    it = Journal(
        paid("m1", sources=None), paid("m1", NO, sources=None), paid("m2", sources=()),
        paid("m3", sources=("own",)),
    )  # fmt: skip
    it.buys = [fill("bought")]
    assert [one.sources for one in await it.ended()] == [("bought",), ("bought",), (), ("own",)]
    assert len(it.asked) == 2
