"""The market endpoints: lists, searches and ids."""

from datetime import datetime
from pathlib import Path
from typing import Any, Final

import pytest

from kit.engine.bare import AT, HOUR, bare_world
from kit.engine.bare import listed as listed_market
from kit.service.line import Line, line_to
from kit.service.stage import Stage, open_stage
from service_tui.engine.amm.market import Market
from service_tui.engine.books.catalogue import HOSTS, url_of
from service_tui.server.routes.markets import found_in, unknown_warning
from service_tui.terms import MarketStatus, Venue
from service_tui.units import ONE, Micros, Probability, Timestamp
from service_tui.wire.base import WireModel
from service_tui.wire.endpoint import Endpoint
from service_tui.wire.endpoints.browse import BROWSE
from service_tui.wire.endpoints.public import MARKET, MARKET_HISTORY, MARKETS
from service_tui.wire.markets import MarketsQuery


async def listed(line: Line, **params: object) -> list[dict[str, Any]]:
    return (await line.said(MARKETS, **({"limit": 500} | params)))["markets"]


async def until_one_waits(stage: Stage) -> None:
    """Let the tape run until a market is closed and its outcome not confirmed."""
    first = min(stage.open_markets(), key=lambda one: one.listing.resolves_at)
    await line_to(stage).wait(first.listing.resolves_at - stage.world.world_at + 0.1)
    assert first.status(stage.world.world_at) is MarketStatus.CLOSED


@pytest.mark.slow
async def test_a_real_venue_lists_its_own_questions_and_sim_lists_all(tmp_path: Path) -> None:
    async with open_stage(tmp_path, speed=0) as stage:
        line = line_to(stage)
        every = {one["id"]: one["import_source"] for one in await listed(line)}
        assert set(every.values()) == {"sim", "evm_venue", "sol_venue"}
        assert {one["id"] for one in await listed(line, venue="sim")} == set(every)
        for name in ("evm_venue", "polymarket", "sol_venue", "kalshi"):
            home = {"polymarket": "evm_venue", "kalshi": "sol_venue"}.get(name, name)
            wanted = {one for one, source in every.items() if source == home}
            assert {one["id"] for one in await listed(line, venue=name)} == wanted
            both = await listed(line, venue="sim", import_source=name)
            assert {one["id"] for one in both} == wanted


@pytest.mark.slow
async def test_every_token_is_in_the_question_or_the_tags(tmp_path: Path) -> None:
    async with open_stage(tmp_path, speed=0) as stage:
        line = line_to(stage)
        everything = await listed(line)
        for text in ("will by", "WEATHER days", "ai ti", "crypto will", "ther"):
            tokens = text.lower().split()
            wanted = {
                one["id"]
                for one in everything
                if all(
                    token in f"{one['question']} {' '.join(one['tags'])}".lower()
                    for token in tokens
                )
            }
            assert wanted, text
            assert {one["id"] for one in await listed(line, q=text)} == wanted


@pytest.mark.slow
async def test_a_search_puts_the_question_before_the_tags_whatever_the_order(
    tmp_path: Path,
) -> None:
    async with open_stage(tmp_path, speed=0) as stage:
        line = line_to(stage)
        describe = [
            "days" in one["question"].lower()
            for sort in ("volume", "created", "opportunity")
            for one in await listed(line, q="days", sort=sort)
        ]
        assert describe
        orders = [
            [one["id"] for one in await listed(line, q="will", sort=sort)]
            for sort in ("volume", "created", "recent", "opportunity")
        ]
        assert all(order == orders[0] for order in orders)


@pytest.mark.slow
async def test_all_tags_must_match_and_blanks_do_not_matter(tmp_path: Path) -> None:
    async with open_stage(tmp_path, speed=0) as stage:
        line = line_to(stage)
        plain = await listed(line, tags="weather,days")
        assert plain
        assert await listed(line, tags=" Weather , days ,") == plain
        assert await listed(line, tags="weather,crypto") == []


@pytest.mark.slow
async def test_ids_find_markets_of_every_status(tmp_path: Path) -> None:
    async with open_stage(tmp_path, speed=1) as stage:
        line = line_to(stage)
        await until_one_waits(stage)
        world = stage.world
        by_status = {one.status(world.world_at): one.market_id for one in world.markets.values()}
        ids = sorted(by_status.values())
        assert MarketStatus.CLOSED in by_status
        found = await listed(line, ids=" , ".join([*ids, "nowhere"]))
        assert sorted(one["id"] for one in found) == ids
        assert (await line.ask(MARKETS, ids=",".join(["a"] * 50))).status_code == 200
        assert (await line.ask(MARKETS, ids=",".join(["a"] * 51))).status_code == 422


@pytest.mark.slow
async def test_what_takes_no_orders_is_left_out_unless_asked_for(tmp_path: Path) -> None:
    async with open_stage(tmp_path, speed=1) as stage:
        line = line_to(stage)
        await until_one_waits(stage)
        waiting = await listed(line, status="closed")
        assert waiting
        assert not any(one["sim_tradeable"] for one in waiting)
        every = await line.said(MARKETS, status="all", limit=500)
        assert all(one["sim_tradeable"] for one in every["markets"])
        assert every["matched_before_tradeable_filter"] > every["total_count"]
        question = waiting[0]["question"]
        hidden = await line.said(MARKETS, status="all", q=question)
        assert (hidden["markets"], hidden["empty_reason"]) == ([], "filtered_untradeable")
        assert hidden["matched_before_tradeable_filter"] == 1
        assert "tradeable_only=false" in hidden["hint"]
        for no in ("false", "False"):
            shown = await line.said(MARKETS, status="all", q=question, tradeable_only=no)
            assert [one["question"] for one in shown["markets"]] == [question]
            assert shown["empty_reason"] is None


@pytest.mark.slow
async def test_an_empty_page_says_why(tmp_path: Path) -> None:
    async with open_stage(tmp_path, speed=0) as stage:
        line = line_to(stage)
        none = await line.said(MARKETS, q="no such words")
        assert none["empty_reason"] == "no_matches"
        assert none["hint"]
        beyond = await line.said(MARKETS, offset=10_000)
        assert (beyond["markets"], beyond["empty_reason"]) == ([], None)
        assert str(beyond["total_count"]) in beyond["hint"]


WARNINGS: Final = {
    "limt": "limt (did you mean limit?)",
    "max_hours": "max_hours",
    "tradable_only": "tradable_only (did you mean tradeable_only?)",
    "query": "query",
    "zzz": "zzz",
    "statuss": "statuss (did you mean status?)",
}


@pytest.mark.slow
@pytest.mark.parametrize("name", WARNINGS)
async def test_an_unknown_parameter_is_named(tmp_path: Path, name: str) -> None:
    async with open_stage(tmp_path, speed=0) as stage:
        line = line_to(stage)
        warned = await line.said(MARKETS, limit=1, **{name: "1"})
        assert warned["warning"].startswith(f"ignored unknown parameters: {WARNINGS[name]}")
        assert len(warned["markets"]) == 1
        assert (await line.said(MARKETS, limit=1))["warning"] is None


@pytest.mark.slow
async def test_the_figures_of_a_market_agree_with_each_other(tmp_path: Path) -> None:
    async with open_stage(tmp_path, speed=0) as stage:
        line = line_to(stage)
        for short in await listed(line, include="resolution_criteria", sort="opportunity"):
            one = (await line.said(MARKET, path={"market_id": short["id"]}))["market"]
            assert one["resolution_criteria"] == short["resolution_criteria"]
            assert 0 <= one["opportunity_score"] <= 1
            if one["import_source"] == Venue.SIM.value:
                assert one["url"] is None
            else:
                assert one["url"].startswith(f"https://{HOSTS[Venue(one['import_source'])]}/")
            assert one["outcome_name"] in one["question"]
        (await line.said(MARKET, 404, path={"market_id": "nowhere"}))["fix"]


@pytest.mark.parametrize("endpoint", [MARKETS, BROWSE])
async def test_a_search_finds_a_market_by_its_pasted_address_and_in_any_kind_of_letters(
    tmp_path: Path, endpoint: Endpoint[WireModel]
) -> None:
    async with open_stage(tmp_path, speed=0) as stage:
        line = line_to(stage)
        for home in (Venue.EVM, Venue.SOL):
            market = next(one for one in stage.open_markets() if one.listing.home is home)
            address = (url_of(market.listing) or "").removeprefix("https://")
            for typed in (address, f"<https://m.{address}>.", f"https://{address}%20".upper()):
                rows = (await line.said(endpoint, q=typed))["markets"]
                assert [row["id"] for row in rows] == [market.market_id]
        word = max(market.listing.question.split(), key=len).strip("?")
        accented = f"{word[0]}\u0301{word[1:]}"
        rows = (await line.said(endpoint, q=accented, limit=200))["markets"]
        assert market.market_id in {row["id"] for row in rows}


def at(hours: float) -> Timestamp:
    return Timestamp(AT + hours * HOUR)


def shelf() -> list[Market]:
    """Markets by name, of which one is closed and two are resolved; volume is of the last hour."""
    world, found = bare_world(), list[Market]()
    for name, volume, changes in (
        ("rain", 5, {"question": "Will it rain in Dee?", "tags": ("weather", "days"),
                     "start_price": Probability(0.45), "opens_at": at(-4)}),
        ("snow", 9, {"question": "Snow: will Dee see it?", "tags": ("weather",),
                     "start_price": Probability(0.9), "resolves_at": at(3), "home": Venue.EVM}),
        ("vote", 7, {"question": "Will anyone vote?", "tags": ("politics", "dee"),
                     "resolves_at": at(2), "start_price": Probability(0.7), "opens_at": at(-3)}),
        ("late", 1, {"question": "Late?", "tags": (), "resolves_at": at(-0.1)}),
        ("over", 2, {"question": "Over?", "tags": ()}),
        ("gone", 0, {"question": "Gone?", "tags": ()}),
    ):  # fmt: skip
        market = listed_market(world, name, **changes)
        market.count_volume(AT, Micros(volume * ONE))
        if name in {"over", "gone"}:
            market.resolved_at, market.outcome = AT, True
        found.append(market)
    return found


NAMES = "late, gone,rain,none"


@pytest.mark.parametrize(
    ("query", "found", "before"),
    [
        ({}, "snow vote rain", None),
        ({"status": "all"}, "snow vote rain", 6),
        ({"status": "all", "tradeable_only": False}, "snow vote rain over late gone", None),
        ({"status": "closed"}, "late", None),
        ({"status": "resolved"}, "over gone", None),
        ({"venue": Venue.EVM}, "snow", None),
        ({"venue": Venue.SIM}, "snow vote rain", None),
        ({"import_source": Venue.EVM, "venue": Venue.SOL}, "snow", None),
        ({"import_source": Venue.SOL}, "", None),
        ({"ids": NAMES, "sort": "created"}, "late gone rain", None),
        ({"ids": NAMES, "status": "resolved", "sort": "created"}, "late gone rain", None),
        ({"tags": "Weather"}, "snow rain", None),
        ({"tags": " days , weather,"}, "rain", None),
        ({"q": "DEE will"}, "rain snow vote", None),
        ({"q": "will rain"}, "rain", None),
        ({"max_hours_to_resolution": 2}, "vote rain", None),
        ({"sort": "created"}, "snow vote rain", None),
        ({"sort": "recent"}, "snow vote rain", None),
        ({"sort": "opportunity"}, "rain vote snow", None),
        ({"q": "dee", "sort": "created"}, "snow rain vote", None),
    ],
)
def test_markets_are_found_by_each_condition_in_the_order_they_are_wanted(
    query: dict[str, Any], found: str, before: int | None
) -> None:
    markets, left_out = found_in(MarketsQuery(**query), shelf(), AT)
    assert [one.market_id for one in markets] == found.split()
    assert left_out == before


@pytest.mark.slow
async def test_a_row_has_what_was_asked_to_be_included_and_one_market_all(tmp_path: Path) -> None:
    async with open_stage(tmp_path, speed=0) as stage:
        line = line_to(stage)
        for include, has_line, has_criteria in (
            ("", False, False), ("sparkline", True, False), ("resolution_criteria", False, True),
            (" sparkline , resolution_criteria", True, True), ("spark", False, False),
        ):  # fmt: skip
            (row,) = await listed(line, limit=1, include=include)
            assert bool(row.get("sparkline")) is has_line, include
            assert bool(row.get("resolution_criteria")) is has_criteria, include
        one = (await line.said(MARKET, path={"market_id": row["id"]}))["market"]
        assert one["id"] == row["id"]
        assert one["sparkline"]
        assert one["resolution_criteria"]


@pytest.mark.slow
async def test_prices_over_time_lie_within_the_life_of_the_market(tmp_path: Path) -> None:
    async with open_stage(tmp_path, speed=0) as stage:
        line, now = line_to(stage), stage.world.world_at
        market = max(stage.open_markets(), key=lambda one: now - one.listing.opens_at)
        age_h = (now - market.listing.opens_at) / HOUR
        for hours, interval in ((1, 15), (2, 30), (168, 60), (1, 1440)):
            path = {"market_id": market.market_id}
            said = await line.said(MARKET_HISTORY, path=path, hours=hours, interval=interval)
            points = said["points"]
            times = [datetime.fromisoformat(one["timestamp"]).timestamp() for one in points]
            first = now - min(hours, age_h) * HOUR
            assert times == sorted(times)
            assert times[0] >= first - 0.001
            assert times[-1] <= now + 0.001
            assert 1 <= len(points) <= (now - first) / (interval * 60) + 2
            assert all(one["price_yes"] + one["price_no"] == pytest.approx(1) for one in points)
            assert said["interval_minutes"] == interval


def test_at_most_five_unknown_parameters_are_named_each_cut_to_its_beginning() -> None:
    assert unknown_warning((), ()) is None
    many = unknown_warning([f"zz{one}" for one in range(9)], ())
    assert many == "ignored unknown parameters: zz0, zz1, zz2, zz3, zz4"
    named = unknown_warning(("statuss", "x" * 60), ("status",))
    assert named == f"ignored unknown parameters: statuss (did you mean status?), {'x' * 50}"
