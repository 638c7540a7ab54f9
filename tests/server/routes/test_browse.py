"""Other ways to look for markets: opportunities, fast markets, the public list, candles."""

from datetime import datetime, timedelta
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from kit.engine.bare import AT, HOUR, bare_world, listed
from kit.service.line import Line
from kit.service.stage import open_stage
from service_tui.engine.amm.market import Market
from service_tui.server.routes.browse import STEPS_S, browsed, span_of
from service_tui.terms import MarketWindow, Plan
from service_tui.units import ONE, Micros, Timestamp
from service_tui.wire.base import moment
from service_tui.wire.browse import CANDLES_MAX, BrowseQuery, CandlesQuery
from service_tui.wire.endpoints.browse import BROWSE, CANDLES, FAST_MARKETS, OPPORTUNITIES
from service_tui.wire.endpoints.public import (
    FLEET_SUMMARY,
    LEADERS,
    MARKETS,
    PLACE_TRADE,
    REGISTER,
    VENUE_LEADERS,
)

pytestmark = pytest.mark.slow

LENGTHS = {"5m": 300, "15m": 900, "1h": 3_600, "4h": 14_400, "daily": 86_400}


async def test_opportunities_are_where_the_outside_price_differs(tmp_path: Path) -> None:
    async with open_stage(tmp_path) as stage:
        line = Line(stage, stage.key)
        every = (await line.ask(OPPORTUNITIES, min_divergence=0, limit=50)).json()["markets"]
        gaps = [abs(row["divergence"]) for row in every]
        assert gaps == sorted(gaps, reverse=True)
        assert every
        for row in every:
            assert row["recommended_side"] == ("yes" if row["divergence"] > 0 else "no")
            outside = row["external_price_yes"] - row["current_probability"]
            assert row["divergence"] == pytest.approx(outside, abs=1e-6)
        wide = (await line.ask(OPPORTUNITIES, min_divergence=gaps[0])).json()["markets"]
        assert [row["id"] for row in wide] == [every[0]["id"]]
        of_sol = (await line.ask(OPPORTUNITIES, venue="sol_venue", min_divergence=0)).json()
        assert {row["import_source"] for row in of_sol["markets"]} <= {"sol_venue"}


async def test_a_fast_market_lasts_no_longer_than_its_window(tmp_path: Path) -> None:
    async with open_stage(tmp_path) as stage:
        line = Line(stage, stage.key)
        seen: set[str] = set()
        for window in MarketWindow:
            answer = (await line.ask(FAST_MARKETS, window=window.value, limit=200)).json()
            for row in answer["markets"]:
                assert row["window"] == window.value
                life = datetime.fromisoformat(row["resolves_at"]) - datetime.fromisoformat(
                    row["opens_at"]
                )
                assert life.total_seconds() <= LENGTHS[window.value] * 1.5
                assert row["is_live_now"] is True
                seen.add(row["id"])
        every = (await line.ask(FAST_MARKETS, limit=200)).json()["markets"]
        assert {row["id"] for row in every} == seen
        ends = [row["resolves_at"] for row in every]
        assert ends == sorted(ends)
        name = every[0]["asset"]
        named = (await line.ask(FAST_MARKETS, asset=name, limit=200)).json()["markets"]
        assert every[0]["id"] in {row["id"] for row in named}


async def test_an_upcoming_market_takes_no_orders_and_is_then_listed(tmp_path: Path) -> None:
    async with open_stage(tmp_path) as stage:
        line = Line(stage, stage.key)
        rows = (await line.ask(FAST_MARKETS, market_status="upcoming", limit=200)).json()["markets"]
        first = min(rows, key=lambda row: row["opens_at"])
        assert (first["is_live_now"], first["sim_tradeable"]) == (False, False)
        body = {"market_id": first["id"], "side": "yes", "amount": 5}
        assert (await line.ask(PLACE_TRADE, json=body)).status_code == 404
        opens_at = datetime.fromisoformat(first["opens_at"]).timestamp()
        while stage.world.world_at < opens_at + 1:
            await stage.clock.advance(4)
        assert first["id"] in stage.world.markets


async def test_anybody_may_browse_without_a_key(tmp_path: Path) -> None:
    async with open_stage(tmp_path) as stage:
        line = Line(stage, "no key at all")
        trending = (await line.ask(BROWSE, status="trending", limit=5)).json()
        volumes = [row["volume_24h"] for row in trending["markets"]]
        assert volumes == sorted(volumes, reverse=True)
        assert len(volumes) == 5
        ending = (await line.ask(BROWSE, status="ending")).json()["markets"]
        assert [row["resolves_at"] for row in ending] == sorted(
            row["resolves_at"] for row in ending
        )
        new = (await line.ask(BROWSE, status="new")).json()["markets"]
        assert [row["opens_at"] for row in new] == sorted(
            (row["opens_at"] for row in new), reverse=True
        )
        word = trending["markets"][0]["question"].split()[1]
        found = (await line.ask(BROWSE, q=word, limit=200)).json()
        assert trending["markets"][0]["id"] in {row["id"] for row in found["markets"]}
        assert (await line.ask(BROWSE, q="no such words here")).json() == {
            "markets": [], "total": 0
        }  # fmt: skip


async def test_candles_hang_together_and_end_at_the_price_of_now(tmp_path: Path) -> None:
    async with open_stage(tmp_path) as stage:
        for _ in range(100):
            await stage.clock.advance(4)
        line = Line(stage, stage.key)
        market = max(stage.open_markets(), key=lambda one: one.listing.resolves_at)
        answer = (await line.ask(CANDLES, symbol=market.market_id, interval="1h")).json()
        rows = answer["candles"]
        assert answer["complete"] is True
        assert answer["served_through"] == rows[-1]["close_time"]
        hour, instant = timedelta(hours=1), timedelta(milliseconds=1)
        for row in rows:
            assert row["low"] <= min(row["open"], row["close"])
            assert row["high"] >= max(row["open"], row["close"])
            opens, closes = (
                datetime.fromisoformat(row[f"{one}_time"]) for one in ("open", "close")
            )
            assert closes == opens + hour - instant
            assert opens == opens.replace(minute=0, second=0, microsecond=0)
        for early, late in pairwise(rows):
            opens, closed = (
                datetime.fromisoformat(text) for text in (late["open_time"], early["close_time"])
            )
            assert opens == closed + instant
            assert late["open"] == early["close"]
        assert rows[-1]["close"] == pytest.approx(market.price(), abs=1e-3)
        minutes = (await line.ask(CANDLES, symbol=market.market_id)).json()
        assert {row["volume"] for row in minutes["candles"]} == {None}


@pytest.mark.parametrize("counts_ms", [False, True])
async def test_many_candles_come_in_pages(tmp_path: Path, *, counts_ms: bool) -> None:
    async with open_stage(tmp_path) as stage:
        line = Line(stage, stage.key)
        market = min(stage.open_markets(), key=lambda one: one.listing.opens_at)
        got: list[datetime] = []
        start = moment(market.listing.opens_at).isoformat()
        for _ in range(100):
            asked = datetime.fromisoformat(start)
            sent = str(round(asked.timestamp() * 1_000)) if counts_ms else start
            params = {"symbol": market.market_id, "interval": "5m", "start": sent}
            page = (await line.ask(CANDLES, **params)).json()
            assert len(page["candles"]) <= CANDLES_MAX
            got += [datetime.fromisoformat(row["open_time"]) for row in page["candles"]]
            if page["complete"]:
                break
            start = page["served_through"]
        assert got == sorted(set(got))
        assert len(got) > CANDLES_MAX
        assert got[-1] <= moment(stage.world.world_at) <= got[-1] + timedelta(minutes=5)


async def test_a_span_that_ends_before_it_begins_is_refused(tmp_path: Path) -> None:
    async with open_stage(tmp_path) as stage:
        line = Line(stage, stage.key)
        market = stage.open_markets()[0]
        answer = await line.ask(CANDLES, symbol=market.market_id, start=2_000, end=1_000)
        assert answer.status_code == 422


@pytest.mark.parametrize("edge", ["start", "end"])
async def test_a_span_beyond_the_calendar_is_refused(tmp_path: Path, edge: str) -> None:
    async with open_stage(tmp_path) as stage:
        line = Line(stage, stage.key)
        market_id = stage.open_markets()[0].market_id
        for text in (
            "9999-12-31T23:59:59.9999Z",
            "9999-12-31T23:59:59-12:00",
            "0001-01-01T00:00:00+14:00",
        ):
            answer = await line.ask(CANDLES, symbol=market_id, **{edge: text})
            assert answer.status_code == 422, text
            assert "the years 1 to 9999" in answer.json()["fix"]
        for text in ("9999-12-31T23:59:59Z", "0001-01-01T00:00:00Z"):
            assert (await line.ask(CANDLES, symbol=market_id, **{edge: text})).status_code == 200


async def test_a_venue_ranks_its_traders_in_its_own_money(tmp_path: Path) -> None:
    async with open_stage(tmp_path) as stage:
        for _ in range(120):
            await stage.clock.advance(4)
        line = Line(stage, stage.key)
        for name, currency in (("sim", "$SIM"), ("polymarket", "USDC"), ("sol_venue", "USDC")):
            answer = (await line.ask(VENUE_LEADERS, path={"venue": name}, limit=50)).json()
            gains = [row["total_pnl"] for row in answer["traders"]]
            assert gains == sorted(gains, reverse=True)
            assert answer["currency"] == currency
        people = (await line.ask(VENUE_LEADERS, path={"venue": "sim"}, trader_type="human")).json()
        assert {row["trader_type"] for row in people["traders"]} == {"human"}
        agents = (await line.ask(VENUE_LEADERS, path={"venue": "sim"}, trader_type="agent")).json()
        assert [row["trader_id"] for row in agents["traders"]] == [stage.agent_id]
        assert (await line.ask(VENUE_LEADERS, path={"venue": "moon"})).status_code == 404


async def test_an_agent_sees_no_balance_of_another_in_the_fleet(tmp_path: Path) -> None:
    async with open_stage(tmp_path, plan=Plan.ELITE) as stage:
        line = Line(stage, stage.key)
        other = (await line.ask(REGISTER, json={"name": "other"})).json()
        mine = Line(stage, other["api_key"])
        fleet = (await mine.ask(FLEET_SUMMARY)).json()
        assert fleet["agent"]["id"] == other["agent_id"]
        assert fleet["totals"]["agents"] == 2
        assert fleet["totals"]["balance"] == 20_000
        shown = {row["id"] for row in fleet["agents"]}
        assert stage.agent_id not in shown
        assert stage.key not in str(fleet)
        assert fleet["agents"] == (await mine.ask(LEADERS)).json()["sdk_agents"]


async def test_no_word_after_markets_is_taken_for_an_id(tmp_path: Path) -> None:
    async with open_stage(tmp_path) as stage:
        line = Line(stage, stage.key)
        listed = (await line.ask(MARKETS, limit=500)).json()["markets"]
        found = (await line.ask(OPPORTUNITIES, min_divergence=0, limit=50)).json()["markets"]
        assert {row["id"] for row in found} <= {row["id"] for row in listed}


def at(hours: float) -> Timestamp:
    return Timestamp(AT + hours * HOUR)


def shelf() -> list[Market]:
    world, found = bare_world(), list[Market]()
    for name, volume, changes in (
        ("rain", 5, {"question": "Will it rain in Dee?", "tags": ("weather", "days")}),
        ("snow", 9, {"question": "Will it SNOW?", "tags": ("weather",), "opens_at": at(-1),
                     "resolves_at": at(3)}),
        ("vote", 7, {"question": "Will Dee vote?", "tags": ("politics",), "opens_at": at(-3),
                     "resolves_at": at(2)}),
        ("late", 1, {"question": "Late?", "tags": (), "resolves_at": at(-0.1)}),
        ("over", 2, {"question": "Over?", "tags": ()}),
    ):  # fmt: skip
        market = listed(world, name, **changes)
        market.count_volume(AT, Micros(volume * ONE))
        if name == "over":
            market.resolved_at, market.outcome = AT, True
        found.append(market)
    return found


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ({"status": "trending"}, "snow vote rain late"),
        ({}, "snow vote rain"),
        ({"status": "all"}, "snow vote rain over late"),
        ({"status": "active"}, "snow vote rain"),
        ({"status": "closed"}, "late"),
        ({"status": "resolved"}, "over"),
        ({"status": "new"}, "snow rain late vote"),
        ({"status": "ending"}, "late rain vote snow"),
        ({"tags": " Weather "}, "snow rain"),
        ({"tags": "weather, days"}, "rain"),
        ({"q": "dee will"}, "vote rain"),
        ({"q": "snow WEATHER"}, "snow"),
        ({"min_volume": 7.0}, "snow vote"),
        ({"min_volume": 7.01}, "snow"),
    ],
)
def test_markets_are_found_by_status_tags_words_and_volume(
    query: dict[str, Any], found: str
) -> None:
    markets = browsed(BrowseQuery(**query), shelf(), AT)
    assert [one.market_id for one in markets] == found.split()


@pytest.mark.parametrize(
    ("query", "first_s", "cut_s"),
    [
        ({}, -7_200, 0),
        ({"start": AT - 1_000}, -1_200, 0),
        ({"start": AT - 9_000}, -7_200, 0),
        ({"end": AT - 1_000}, -7_200, -1_000),
        ({"end": AT + 1_000}, -7_200, 0),
        # The last moment of a candle is where the next page begins.
        ({"start": AT - 900 - 0.001}, -900, 0),
        ({"interval": "1m", "end": AT}, -7_200, min(0, CANDLES_MAX * 60 - 7_200)),
    ],
)
def test_a_span_lies_within_the_markets_life_and_begins_at_a_whole_step(
    query: dict[str, Any], first_s: float, cut_s: float
) -> None:
    listing = listed(bare_world()).listing
    given = {key: round(one * 1_000) if key != "interval" else one for key, one in query.items()}
    asked = CandlesQuery(**{"symbol": "m1", "interval": "5m", **given})
    first, cut, end = span_of(asked, listing, AT)
    assert (first, cut) == (AT + first_s, AT + cut_s)
    assert end == min(AT, query.get("end", AT))


def test_the_steps_of_candles_are_those_of_their_names() -> None:
    assert STEPS_S == {
        "1m": 60, "5m": 300, "15m": 900, "1h": 3_600, "4h": 14_400, "1d": 86_400,
    }  # fmt: skip


async def test_fast_markets_are_found_by_venue_and_in_each_order(tmp_path: Path) -> None:
    async with open_stage(tmp_path, speed=0) as stage:
        line = Line(stage, stage.key)

        async def fast(**query: object) -> list[dict[str, Any]]:
            body = (await line.ask(FAST_MARKETS, **({"limit": 200} | query))).json()
            assert body["count"] == len(body["markets"])
            return body["markets"]

        every = await fast()
        ids = [one["id"] for one in every]
        assert [one["id"] for one in await fast(venue="sim")] == ids
        for venue in ("evm_venue", "sol_venue"):
            mine = [one["id"] for one in every if one["import_source"] == venue]
            assert [one["id"] for one in await fast(venue=venue)] == mine
        volumes = [one["volume_24h"] for one in await fast(sort="volume")]
        assert volumes == sorted(volumes, reverse=True)
        gaps = [abs(one["divergence"] or 0) for one in await fast(sort="opportunity")]
        assert gaps == sorted(gaps, reverse=True)
        assert [one["id"] for one in await fast(limit=1)] == ids[:1]
        assert await fast(asset=" no such thing ") == []
