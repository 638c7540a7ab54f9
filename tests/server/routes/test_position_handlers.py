"""Positions, portfolio and what ends soon: which rows, in which order, and what they come to."""

import asyncio
from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any

import pytest

from kit.engine.bare import AT, HOUR, bare_world
from kit.service.bare import bare_service, request_to
from service_tui.server.results.by_source import SourceSums
from service_tui.server.routes import positions as room
from service_tui.server.routes.positions import READ_MAX, SETTLED, UNSETTLED
from service_tui.terms import Venue
from service_tui.units import ONE, Micros, Timestamp
from service_tui.wire.positions import (
    ExpiringQuery,
    PnlBody,
    PortfolioQuery,
    PositionBody,
    PositionsQuery,
    SourceBody,
)

SIM, EVM, SOL = Venue.SIM, Venue.EVM, Venue.SOL


def moment(seconds: float) -> datetime:
    return datetime.fromtimestamp(AT + seconds, UTC)


def row(name: str, value: float = 1.0, **other: Any) -> PositionBody:
    return PositionBody(market_id=name, current_value=value, **other)


def ended(name: str, ago_s: float, **other: Any) -> PositionBody:
    return row(name, 0.0, outcome=True, resolved_at=moment(-ago_s), **other)


class Book:
    """What an agent holds, has sold and held, by venue; `reads` counts those of the journal."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, **settings: Any) -> None:
        self.service = bare_service(bare_world("ada", **settings))
        self.held: dict[Venue, list[PositionBody]] = {}
        self.sold: dict[Venue, list[PositionBody]] = {}
        self.settled: dict[Venue, list[PositionBody]] = {}
        self.sold_settled: dict[Venue, list[PositionBody]] = {}
        self.past: dict[Venue, list[PositionBody]] = {}
        self.reads: list[tuple[Venue, int | None]] = []
        self.moves_on = 0
        self.agent = self.service.world.agents["ada"]
        monkeypatch.setattr(type(self.agent), "open_positions", lambda _: self.held.get(SIM, []))
        monkeypatch.setattr(room, "position_body", self.body)
        monkeypatch.setattr(room, "sold_bodies", self.sold_on_sim)
        monkeypatch.setattr(room, "venue_positions", self.positions)
        monkeypatch.setattr(room, "sold_on_venue", self.sold_there)
        monkeypatch.setattr(room, "ended_on", self.ended_on)
        monkeypatch.setattr(room, "ended_body", lambda one, _: one)

    def body(self, _: object, agent: object, market_id: str) -> PositionBody:
        assert agent is self.agent
        return next(one for one in self.held[SIM] if one.market_id == market_id)

    def sold_on_sim(self, _: object, agent: object) -> list[PositionBody]:
        assert agent is self.agent
        return self.sold.get(SIM, [])

    def positions(self, _: object, __: object, venue: Venue, states: object) -> list[PositionBody]:
        kept = {UNSETTLED: self.held, SETTLED: self.settled}[states]  # type: ignore[index]
        return list(kept.get(venue, []))

    def sold_there(self, _: object, __: object, venue: Venue, *, settled: bool) -> list[Any]:
        return list((self.sold_settled if settled else self.sold).get(venue, []))

    async def ended_on(
        self, _: object, __: object, venue: Venue, limit: int | None
    ) -> list[PositionBody]:
        self.reads.append((venue, limit))
        if venue is SOL and self.moves_on:
            self.moves_on -= 1
            self.service.world.resolved_count += 1
        found = self.past.get(venue, [])
        return found if limit is None else found[:limit]

    async def select(self, **query: Any) -> Any:
        return await room._select(request_to(self.service, "ada"), PositionsQuery(**query))

    async def names(self, **query: Any) -> list[str]:
        return [one.market_id for one in (await self.select(**query)).rows]


@pytest.fixture
def book(monkeypatch: pytest.MonkeyPatch) -> Book:
    it = Book(monkeypatch, claimed=True)
    it.held = {SIM: [row("s1", 2.0)], EVM: [row("e1", 3.0)], SOL: [row("o1", 5.0)]}
    it.sold = {SIM: [row("s2", 0.0)], EVM: [row("e2", 0.0)]}
    it.settled = {EVM: [row("e3", 7.0, redeemable=True, outcome=True), ended("e4", 25)]}
    it.sold_settled = {SOL: [ended("o4", 20)]}
    it.past = {SIM: [ended("s5", 10), ended("s6", 50)], EVM: [ended("e5", 30)]}
    return it


@pytest.mark.parametrize(
    ("query", "names"),
    [
        ({}, "s1 e1 o1"),
        ({"venue": "all"}, "s1 e1 o1"),
        ({"venue": EVM}, "e1"),
        ({"status": "closed"}, "s2 e2 e3 s5 o4 e4 e5 s6"),
        ({"status": "resolved"}, "e3 s5 o4 e4 e5 s6"),
        ({"status": "settled", "venue": SIM}, "s5 s6"),
        ({"status": "all"}, "s1 s2 e1 e2 e3 o1 s5 o4 e4 e5 s6"),
        ({"status": "all", "venue": SOL}, "o1 o4"),
        ({"status": "all", "limit": 3}, "s1 s2 e1"),
        ({"status": "all", "limit": 3, "offset": 5}, "o1 s5 o4"),
        ({"status": "all", "offset": 9}, "e5 s6"),
        ({"limit": 0}, ""),
    ],
)
async def test_what_can_still_change_comes_first_and_then_what_ended_newest_first(
    book: Book, query: dict[str, Any], names: str
) -> None:
    assert await book.names(**query) == names.split()


async def test_what_is_held_comes_to_the_value_of_what_has_no_outcome_on_every_page(
    book: Book,
) -> None:
    for query in ({}, {"limit": 1}, {"status": "all"}, {"status": "all", "limit": 0}):
        assert (await book.select(**query)).value == 10.0
    assert (await book.select(venue=SOL)).value == 5.0
    assert (await book.select(status="resolved")).value == 0


async def test_what_is_held_for_play_money_is_listed_the_largest_value_first(book: Book) -> None:
    book.held[SIM] = [row("s1", 2.0), row("s8", 8.0), row("s3", 3.0)]
    assert await book.names(venue=SIM) == ["s8", "s3", "s1"]


async def test_rows_of_one_source_are_those_with_its_name_in_a_tag(book: Book) -> None:
    book.held[EVM] = [row("e1", 3.0, sources=("sdk:dip",)), row("e9", 4.0, sources=("news",))]
    book.past[SIM] = [ended("s5", 10, sources=("a", "dip"))]
    assert await book.names(status="all", source="dip") == ["e1", "s5"]
    assert (await book.select(source="dip")).value == 3.0
    # How many rows of it are among the newest is not known: all are read.
    await book.names(status="all", source="dip", limit=1)
    assert {limit for _, limit in book.reads} == {None}


async def test_the_journal_is_read_no_further_than_the_page_and_only_for_what_ended(
    book: Book,
) -> None:
    await book.names()
    assert book.reads == []
    await book.names(status="closed", limit=2, offset=3)
    assert book.reads == [(SIM, 5), (EVM, 5), (SOL, 5)]
    book.reads.clear()
    await book.names(status="closed", venue=SOL)
    assert book.reads == [(SOL, None)]


@pytest.mark.parametrize(("moves", "reads"), [(0, 1), (2, 3), (99, READ_MAX)])
async def test_the_journal_is_read_again_where_markets_ended_meanwhile(
    book: Book, moves: int, reads: int
) -> None:
    book.moves_on = moves
    await book.names(status="all")
    assert len(book.reads) == 3 * reads


async def test_rows_of_what_ended_are_all_there_and_others_have_their_turn_meanwhile(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(room, "AT_ONCE", 2)
    monkeypatch.setattr(room, "ended_body", lambda one, venue: (one, venue))
    seen: list[str] = []
    asyncio.get_running_loop().call_soon(seen.append, "another")
    past: Any = [1, 2, 3, 4, 5]
    assert await room._closed_bodies(past, SOL) == [(number, SOL) for number in past]
    assert seen == ["another"]
    assert await room._closed_bodies((), SOL) == []


def test_what_a_venue_still_knows_of_ended_markets_is_sorted_by_their_end(book: Book) -> None:
    world, agent = book.service.world, book.service.world.agents["ada"]
    book.settled[EVM] = [ended("old", 90), ended("new", 5)]
    book.sold_settled[EVM] = [ended("middle", 50), row("never", 0.0)]
    found = [one.market_id for one in room._settled(world, agent, EVM)]
    assert found == ["new", "middle", "old", "never"]
    assert room._settled(world, agent, SIM) == []


# -- figures ------------------------------------------------------------------------------------


def reported(*figures: int) -> SimpleNamespace:
    realized, unrealized, total = (Micros(one * ONE) for one in figures)
    return SimpleNamespace(
        realized=realized, unrealized=unrealized, total=total, at=Timestamp(AT - 9)
    )


def with_reports(book: Book, asked: list[tuple[object, ...]] | None = None) -> None:
    figures = {EVM: reported(3, 4, 7), SOL: reported(10, -4, 6)}

    def of(_: object, agent_id: str, venue: Venue, at: object) -> SimpleNamespace:
        if asked is not None:
            asked.append((agent_id, venue, at))
        return figures[venue]

    book.service = bare_service(book.service.world, reported=SimpleNamespace(of=of))


async def test_positions_tell_the_result_of_each_venue_and_their_sum(
    book: Book, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[tuple[object, ...]] = []
    with_reports(book, asked)
    agent = book.service.world.agents["ada"]
    monkeypatch.setattr(room, "unrealized", lambda _, who: Micros(2 * ONE * (who is agent)))
    monkeypatch.setattr(type(agent), "realized", property(lambda _: Micros(-5 * ONE)))
    body = await room.positions(request_to(book.service, "ada", query=PositionsQuery()))
    assert asked == [("ada", EVM, AT), ("ada", SOL, AT)]
    summary = body.pnl_summary
    assert summary.sim == PnlBody(realized=-5.0, unrealized=2.0, total=-3.0)
    at = {"as_of": moment(-9)}
    assert summary.polymarket == PnlBody(realized=3.0, unrealized=4.0, total=7.0, **at)
    assert summary.kalshi == PnlBody(realized=10.0, unrealized=-4.0, total=6.0, **at)
    assert summary.combined == PnlBody(realized=8.0, unrealized=2.0, total=10.0)
    assert (body.total_pnl, body.sim_pnl, body.polymarket_pnl, body.kalshi_pnl) == (
        10.0, -3.0, 7.0, 6.0,
    )  # fmt: skip
    assert (body.agent_id, body.agent_name, body.sim_balance, body.total_value) == (
        "ada", "ada", 10_000.0, 10.0,
    )  # fmt: skip
    assert [one.market_id for one in body.positions] == ["s1", "e1", "o1"]


async def portfolio(book: Book, monkeypatch: pytest.MonkeyPatch, **query: Any) -> Any:
    with_reports(book)
    asked: list[object] = []

    async def by_source(*given: object) -> dict[str, SourceSums]:
        asked.append(given[2:])
        return {"news": SourceSums(2, *(Micros(one * ONE) for one in (3, 4, 5)), 6)}

    monkeypatch.setattr(room, "by_source", by_source)
    request = request_to(book.service, "ada", query=PortfolioQuery(**query))
    body = await room.portfolio(request)
    wanted = query.get("venue", "all")
    assert asked == [("ada", SIM if wanted == "all" else wanted)]
    return body


async def test_a_portfolio_tells_of_each_venue_in_its_own_money(
    book: Book, monkeypatch: pytest.MonkeyPatch
) -> None:
    world = book.service.world
    accounts = {
        venue: SimpleNamespace(trades_count=count, redeemable_count=lambda count=count: count)
        for venue, count in ((EVM, 2), (SOL, 3))
    }
    venues = SimpleNamespace(
        account=lambda _, venue: accounts[venue],
        cash=lambda _, venue: Micros((40 if venue is EVM else 50) * ONE),
        reserved=lambda _, venue: Micros((6 if venue is EVM else 7) * ONE),
    )
    monkeypatch.setattr(world, "venues", venues)
    world.agents["ada"].trades_count = 9
    monkeypatch.setattr(room, "agent_pnl", lambda *_: Micros(11 * ONE))
    body = await portfolio(book, monkeypatch)
    sim, evm, sol = body.sim, body.polymarket, body.kalshi
    assert (sim.balance, sim.pnl, sim.positions_count, sim.total_exposure, sim.trades_count) == (
        10_000.0, 11.0, 1, 2.0, 4,
    )  # fmt: skip
    assert (evm.balance, evm.pnl, evm.positions_count, evm.total_exposure, evm.trades_count) == (
        40.0, 7.0, 1, 3.0, 2,
    )  # fmt: skip
    assert (sol.balance, sol.pnl, sol.reserved, sol.total_exposure) == (50.0, 6.0, 7.0, 5.0)
    assert (evm.reserved, evm.pnl_as_of, evm.simulated) == (6.0, moment(-9), True)
    assert (body.balance_usdc, body.sim_balance, body.sim_pnl) == (40.0, 10_000.0, 11.0)
    assert (body.positions_count, body.redeemable_count) == (1, 5)
    assert body.pnl_total == 11.0
    assert (body.total.positions_count, body.total.total_exposure, body.total_exposure) == (
        3, 10.0, 10.0,
    )  # fmt: skip
    assert body.by_source == {
        "news": SourceBody(
            positions=2, exposure=3.0, realized_pnl=4.0, unrealized_pnl=5.0, trade_count=6
        )
    }


async def test_a_portfolio_of_one_venue_narrows_its_totals_and_no_block(
    book: Book, monkeypatch: pytest.MonkeyPatch
) -> None:
    body = await portfolio(book, monkeypatch, venue=SOL)
    assert (body.total.positions_count, body.total_exposure) == (1, 5.0)
    assert (body.sim.positions_count, body.polymarket.positions_count) == (1, 1)
    assert (body.concentration.top_market_pct, body.concentration.top_3_markets_pct) == (1.0, 1.0)


async def test_a_portfolio_tells_how_much_lies_in_its_largest_markets(
    book: Book, monkeypatch: pytest.MonkeyPatch
) -> None:
    book.held = {SIM: [row(f"s{one}", one) for one in (1.0, 4.0, 2.0, 3.0)]}
    found = (await portfolio(book, monkeypatch)).concentration
    assert (found.top_market_pct, found.top_3_markets_pct) == (0.4, pytest.approx(0.9))
    book.held = {}
    found = (await portfolio(book, monkeypatch)).concentration
    assert (found.top_market_pct, found.top_3_markets_pct) == (0.0, 0.0)


async def test_a_portfolio_warns_of_what_is_closed_and_has_no_outcome(
    book: Book, monkeypatch: pytest.MonkeyPatch
) -> None:
    book.held[EVM] = [row("e1", 3.0, question="Will it?", status="closed")]
    warnings = (await portfolio(book, monkeypatch)).warnings
    assert warnings == ("Will it? is closed and awaits its outcome",)


async def test_an_agent_that_nobody_has_claimed_has_no_real_venues(
    book: Book, monkeypatch: pytest.MonkeyPatch
) -> None:
    book.service.world.agents["ada"].change({"claimed": False})
    body = await portfolio(book, monkeypatch)
    assert (body.polymarket, body.kalshi, body.balance_usdc, body.positions_count) == (
        None, None, None, 0,
    )  # fmt: skip


async def test_what_ends_within_the_hours_is_listed_the_soonest_first(book: Book) -> None:
    book.held = {
        SIM: [
            row("late", resolves_at=moment(2 * HOUR + 1)),
            row("edge", resolves_at=moment(2 * HOUR)), row("soon", resolves_at=moment(90)),
            row("over", resolves_at=moment(-HOUR)), row("never"),
        ],
    }  # fmt: skip
    book.service.world.world_at = AT
    request = request_to(book.service, "ada", query=ExpiringQuery(hours=2))
    body = await room.expiring(request)
    assert [(one.market_id, one.hours_to_resolution) for one in body.positions] == [
        ("over", 0.0), ("soon", 0.025), ("edge", 2.0),
    ]  # fmt: skip
    assert (body.agent_id, body.count, body.hours) == ("ada", 3, 2)
    assert body.positions[1].time_to_resolution
    assert body.positions[1].current_value == 1.0
