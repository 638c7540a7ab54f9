"""An agent's history, read from the journal."""

import json
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

import httpx
import pytest

from kit.clock import leap
from kit.engine.topics import TOPICS
from kit.service.stage import Stage, open_stage
from service_tui.engine.amm.market import Market
from service_tui.engine.codec.events import dumps, encode
from service_tui.engine.events import Fill, MarketResolved, Note, Payout
from service_tui.engine.world import World
from service_tui.outcome import NO, YES, Outcome
from service_tui.server.embedded import BASE_URL
from service_tui.server.past.history import KINDS, Paid, past_of, payout_fields, trade_row
from service_tui.storage.ended_markets import EndedHead
from service_tui.terms import Action, Side, TradeStatus, Venue
from service_tui.units import Micros, Timestamp
from service_tui.wire.endpoints.public import PLACE_TRADE, POSITIONS, TRADES

AT: Final = Timestamp(1_800_000_000.0)
FILL: Final = Fill(
    trade_id="t7",
    agent_id="a1",
    market_id="m1",
    side=Side.NO,
    action=Action.SELL,
    shares=Micros(40_000_000),
    money=Micros(10_000_000),
    price_before=0.3,
    price_after=0.2,
    at=AT,
    world_at=Timestamp(AT + 5),
    realized=Micros(-2_500_000),
    note=Note("because", "sdk:weather", "rain", {"edge": 0.1, "n": 2, "why": "radar"}),
)
PAYOUT: Final = Payout(
    "a1", Side.YES, Micros(9_000_001), Micros(4_000_000), Micros(9_000_001), Micros(70), AT
)
RESOLVED: Final = MarketResolved("m1", AT, AT, YES, (PAYOUT,), Micros(0))
NOWHERE: Final = World(7, AT, TOPICS)
"""A world that has forgotten every market."""


def test_a_fill_is_read_back_as_a_row_of_the_wire() -> None:
    row = trade_row(past_of("fill", encode(FILL)), NOWHERE)
    assert (row.id, row.trade_id) == ("t7", "t7")
    assert (row.side, row.action, row.status) == (Side.NO, "sell", TradeStatus.FILLED)
    assert (row.shares, row.cost, row.avg_price) == (40.0, 10.0, 0.25)
    assert (row.price_before, row.price_after) == (0.3, 0.2)
    assert (row.source, row.skill_slug, row.reasoning) == ("sdk:weather", "rain", "because")
    assert row.signal_data == {"edge": 0.1, "n": 2, "why": "radar"}
    assert row.created_at == datetime.fromtimestamp(AT, UTC)
    assert row.pnl == -2.5
    assert (row.venue, row.outcome, row.market_question) == (Venue.SIM, None, "")


def test_a_buy_has_no_pnl_and_empty_words_are_none() -> None:
    row = trade_row(FILL._replace(action=Action.BUY, note=Note()), NOWHERE)
    assert (row.pnl, row.source, row.skill_slug, row.reasoning) == (None, None, None, None)


@pytest.mark.parametrize(("payout", "price"), [(9_000_001, 1.0), (0, 0.0)])
def test_a_payout_is_a_row_of_its_own_with_an_exact_pnl(payout: int, price: float) -> None:
    paid = PAYOUT._replace(payout=Micros(payout))
    past = past_of("payout", dumps(payout_fields(RESOLVED, paid)))
    assert past == Paid("m1", AT, outcome=YES, payout=paid)
    row = trade_row(past, NOWHERE)
    assert row.id == row.trade_id == "m1-yes-payout"
    assert (row.action, row.shares, row.cost) == ("redeem", 9.000001, payout / 1e6)
    assert row.avg_price == price
    assert row.pnl == (payout - 4_000_000) / 1e6
    assert row.outcome is True


def test_a_fill_is_resolved_once_its_market_is_or_is_forgotten() -> None:
    (listing, *_) = NOWHERE.tape.listings_at(AT)
    world, market = World(7, AT, TOPICS), Market(replace(listing, market_id="m1"))
    assert trade_row(FILL, world).resolved
    world.markets["m1"] = market
    assert not trade_row(FILL, world).resolved
    assert trade_row(FILL, world).market_question == listing.question
    market.resolved_at = AT
    assert trade_row(FILL, world).resolved


@pytest.mark.parametrize("outcome", [YES, NO])
def test_a_fill_in_a_market_that_ended_has_its_question_and_outcome(outcome: Outcome) -> None:
    head = EndedHead("m1", "Rain?", "sim", outcome.stored, AT, AT)
    row = trade_row(FILL, NOWHERE, {"m1": head, "m2": head._replace(question="Snow?")})
    assert (row.market_question, row.outcome, row.resolved) == ("Rain?", outcome == YES, True)


def test_an_agents_history_is_fills_and_payouts() -> None:
    assert KINDS == ("fill", "payout", "order", "redeemed", "lost")


class Line:
    """Calls of the stage's agent."""

    def __init__(self, stage: Stage) -> None:
        self.stage = stage

    async def call(self, method: str, path: str, **asked: Any) -> dict[str, Any]:
        headers = {"Authorization": f"Bearer {self.stage.key}"}
        async with httpx.AsyncClient(
            transport=self.stage.sim.transport, base_url=BASE_URL, headers=headers
        ) as client:
            response = await client.request(method, path, **asked)
        assert response.status_code == 200, response.text[:200]
        return response.json()

    async def trade(self, **fields: object) -> dict[str, Any]:
        answer = await self.call("POST", PLACE_TRADE.path, json=fields)
        assert answer["success"] is True, answer["error"]
        return answer

    async def trades(self, **params: object) -> dict[str, Any]:
        return await self.call("GET", TRADES.path, params=params)

    async def wait(self, seconds: float) -> None:
        await leap(self.stage.clock, seconds, 3_600.0)
        await self.stage.sim.service.world_store.advance(self.stage.clock.now())


@pytest.mark.slow
async def test_what_resolved_stands_in_the_history_even_when_it_is_forgotten(
    tmp_path: Path,
) -> None:
    async with open_stage(tmp_path) as stage:
        # Held to the end.
        stage.world.change(stage.agent, {"auto_risk_monitor_enabled": False}, stage.clock.now())
        line = Line(stage)
        market = min(stage.open_markets(), key=lambda one: one.listing.resolved_at)
        market_id = market.market_id
        for side in ("yes", "no"):
            await line.trade(market_id=market_id, side=side, amount=20)
        await line.wait(market.listing.resolved_at - stage.world.world_at + 1)
        rows = (await line.trades())["trades"]
        assert [row["action"] for row in rows] == ["redeem", "redeem", "buy", "buy"]
        assert sum(row["pnl"] for row in rows[:2]) == pytest.approx(
            float(stage.agent.realized) / 1e6
        )
        assert {row["outcome"] for row in rows} == {market.listing.outcome}
        for _ in range(12):
            await line.wait(3_600)
        assert market_id not in stage.world.markets
        old = await line.trades(market_id=market_id)
        assert old["total_count"] == 4
        assert {row["market_question"] for row in old["trades"]} == {market.listing.question}
        closed = await line.call("GET", POSITIONS.path, params={"status": "resolved"})
        assert sorted(row["status"] for row in closed["positions"]) == ["lost", "won"]
        assert sum(row["pnl"] for row in closed["positions"]) == pytest.approx(
            closed["pnl_summary"]["sim"]["realized"]
        )


@pytest.mark.slow
async def test_pages_join_without_gap_or_repetition(tmp_path: Path) -> None:
    async with open_stage(tmp_path, speed=0) as stage:
        line = Line(stage)
        for market in stage.open_markets()[:7]:
            await line.trade(market_id=market.market_id, side="yes", amount=1)
        pages = [await line.trades(limit=3, offset=offset) for offset in (0, 3, 6, 9)]
        assert {page["total_count"] for page in pages} == {7}
        assert [len(page["trades"]) for page in pages] == [3, 3, 1, 0]
        ids = [row["id"] for page in pages for row in page["trades"]]
        assert ids == [f"t{count}" for count in range(7, 0, -1)]


@pytest.mark.slow
async def test_since_is_within_and_until_is_without(tmp_path: Path) -> None:
    async with open_stage(tmp_path, speed=0) as stage:
        line = Line(stage)
        moments: list[str] = []
        for market in stage.open_markets()[:3]:
            await line.trade(market_id=market.market_id, side="yes", amount=1)
            moments.append(datetime.fromtimestamp(stage.clock.now(), UTC).isoformat())
            await stage.clock.advance(60)

        async def ids(**params: str) -> list[str]:
            return [row["id"] for row in (await line.trades(**params))["trades"]]

        assert await ids(since=moments[1]) == ["t3", "t2"]
        assert await ids(until=moments[1]) == ["t1"]
        assert await ids(since=moments[1], until=moments[2]) == ["t2"]
        assert await ids(since=moments[2], until=moments[1]) == []


@pytest.mark.slow
async def test_signal_data_comes_back_as_it_was_sent(tmp_path: Path) -> None:
    # A number as long as the bound allows, the smallest and largest doubles, any letter.
    sent = {
        "edge": 0.1,
        "probability": 1e-300,
        "large": 1.7e308,
        "count": 10**4_000,
        "negative": -(2**70),
        "zero": -0.0,
        "signal_source": "Überraschung \U0001f327 \n\t\x1b[31m",
        "": "no name",
    }
    async with open_stage(tmp_path, speed=0) as stage:
        line = Line(stage)
        market_id = stage.open_markets()[0].market_id
        await line.trade(market_id=market_id, side="yes", amount=1, signal_data=sent)
        row = (await line.trades())["trades"][0]
        assert row["signal_data"] == sent
        assert json.dumps(row["signal_data"]["zero"]) == "-0.0"
